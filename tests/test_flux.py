"""The flux of cuda/physics/acoustic.h, compiled alone, is the exact solution of the Riemann problem.

The reference solves for the star state from the two outgoing invariants, p* + Z- vn* = p- + Z- vn- and
p* - Z+ vn* = p+ - Z+ vn+, instead of the closed form; both sides must find the same state, which orders of
convergence cannot see (verification.md V52). Not here: lifting and runs (test_dg_rhs.py, test_dg_exact.py).
"""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
NUM_CASE = 200
CONDITIONS = {"absorbing": 0, "rigid": 1, "free": 2}

# As csrc/cpu/cpu_variants.inc.h includes it, with one element a lane.
HEAD = """
#include "common/index.h"
#define DEVICE static inline __attribute__((unused))
#define VAL REAL
"""

# What a stage does with one face: star = (|m| (vn* - vn-), p* - p-),
# rhs = the face's part of dq/dt, not lifted.
BODY = """
#undef FLUX_CENTRAL
#undef FN
#define FLUX_CENTRAL IS_CENTRAL
#define FN(name) FLUX_##name
#include "physics/acoustic.h"
void FLUX(const double *in, const double *out, const REAL *q_in, const REAL *q_out, const REAL *g, int face,
          int condition, REAL *star, REAL *rhs)
{
    double coef64[NUM_COEF], face64[NUM_FACE_COEF], scale = 0;
    REAL coef[NUM_COEF], face_coef[NUM_FACE_COEF], m[3], u[NUM_REF], a[NUM_TRACE], b[NUM_TRACE];
    REAL sign[NUM_TRACE], s[2] = {0, 0}, acc[NUM_REF] = {0};
    for (int i = 0; i < 3; i++) {
        m[i] = face == 0 ? g[i] + g[3 + i] + g[6 + i] : -g[3 * (face - 1) + i];
        scale += (double)m[i] * m[i];
    }
    scale = __builtin_sqrt(scale);
    FN(coefficients)(in, coef64);
    FN(face_coefficients)(in, condition < 0 ? out : in, scale, face64);
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = (REAL)coef64[i];
    for (int i = 0; i < NUM_FACE_COEF; i++)
        face_coef[i] = (REAL)face64[i];
    FN(to_reference)(q_in, g, u);
    FN(trace_reference)(u, face, a);
    FN(trace)(condition < 0 ? q_out : q_in, m, b);
    FN(mirror)(condition, sign);
    for (int i = 0; i < NUM_TRACE && condition >= 0; i++)
        b[i] *= sign[i];
    FN(jump)(a, b, face_coef, condition == BOUNDARY_ABSORBING, s);
    FN(spread)(s, face, face_coef[NUM_FACE_COEF - 1], acc);
    FN(from_reference)(acc, g, coef, rhs);
    star[0] = s[0];
    star[1] = NUM_JUMP == 2 ? s[1] : face_coef[2] * s[0];
}
"""


def source():
    bodies = [BODY.replace("FLUX(", f"{flux}(").replace("FLUX_##", f"{flux}_##").replace("IS_CENTRAL", value)
              for flux, value in (("upwind", "0"), ("central", "1"))]  # fmt: skip
    return HEAD + "".join(bodies)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Functions by (flux, dtype)."""
    folder = tmp_path_factory.mktemp("flux")
    (folder / "flux.c").write_text(source())
    functions = {}
    for real, dtype in (("double", np.float64), ("float", np.float32)):
        library = folder / f"{real}.so"
        flags = [
            "-std=gnu11",
            "-O1",
            "-shared",
            "-fPIC",
            "-Wall",
            "-Werror",
            f"-DREAL={real}",
            f"-I{ROOT}/cuda",
        ]
        subprocess.run(["gcc", *flags, folder / "flux.c", "-o", library], check=True)
        for flux in ("upwind", "central"):
            functions[flux, dtype] = ctypes.CDLL(str(library))[flux]
    return functions


def cases(seed=0):
    """Random states, materials over three decades and gradients of a random element."""
    rng = np.random.default_rng(seed)
    for _ in range(NUM_CASE):
        materials = 10.0 ** rng.uniform(-1.5, 1.5, (2, 2))
        yield materials, rng.standard_normal((2, 4)), rng.standard_normal((3, 3)), int(rng.integers(4))


def call(function, dtype, materials, states, gradients, face, condition=-1):
    """(vn* - vn-, p* - p-), dq/dt without lifting, the face's m; everything as float64."""
    inputs = [np.ascontiguousarray(materials[i], np.float64) for i in (0, 1)]
    inputs += [np.ascontiguousarray(x, dtype) for x in (*states, gradients)]
    star, rhs = np.zeros(2, dtype), np.zeros(4, dtype)
    pointer = [ctypes.c_void_p(x.ctypes.data) for x in inputs]
    function(*pointer, face, condition, ctypes.c_void_p(star.ctypes.data), ctypes.c_void_p(rhs.ctypes.data))
    m = gradients.sum(axis=0) if face == 0 else -gradients[face - 1]
    star = star.astype(float) / [np.linalg.norm(m), 1]
    return star, rhs.astype(float), m


def impedance(material):
    return material[0] * material[1]


def riemann(materials, traces):
    """(vn*, p*) from the invariants that leave each side; traces are (vn, p)."""
    z_in, z_out = map(impedance, materials)
    (v_in, p_in), (v_out, p_out) = traces
    return np.linalg.solve([[z_in, 1], [-z_out, 1]], [p_in + z_in * v_in, p_out - z_out * v_out])


def star_state(flux, materials, states, n, condition=None):
    """(vn*, p*) by the definition of the flux or of the wall."""
    traces = [np.array([state[1:] @ n, state[0]]) for state in states]
    z, (v, p) = impedance(materials[0]), traces[0]
    if condition == "absorbing":
        return riemann([materials[0]] * 2, [traces[0], np.zeros(2)])
    if condition == "rigid":
        return np.array([0, p + z * v if flux == "upwind" else p])
    if condition == "free":
        return np.array([v + p / z if flux == "upwind" else v, 0])
    return riemann(materials, traces) if flux == "upwind" else (traces[0] + traces[1]) / 2


def errors(compiled, flux, dtype, condition=None, disturb=lambda materials: materials):
    """Largest error of the star state and of dq/dt, each relative to the sizes that enter it."""
    worst = np.zeros(2)
    for materials, states, gradients, face in cases():
        code = -1 if condition is None else CONDITIONS[condition]
        star, rhs, m = call(compiled[flux, dtype], dtype, materials, states, gradients, face, code)
        scale, (rho, c) = np.linalg.norm(m), materials[0]
        n, z = m / scale, impedance(materials[0])
        inner = np.array([states[0, 1:] @ n, states[0, 0]])
        outer = star_state(flux, disturb(materials), states, n, condition)
        size = np.array([1 / z, 1]) * (np.abs(states[:, 0]).max() + z * np.abs(states[:, 1:]).max() * 3)
        size *= max(1, z / impedance(materials[1]), impedance(materials[1]) / z)
        difference = outer - inner
        worst[0] = max(worst[0], (np.abs(star - difference) / size).max())
        # n.(F - F*) |m|, F.n = (rho c^2 vn, p n / rho)
        expected = -scale * np.array([rho * c**2 * difference[0], *(difference[1] * n / rho)])
        sizes = scale * np.array([rho * c**2 * size[0], *[size[1] / rho] * 3])
        # Solving for the components of v costs what the gradients' sum and products cancel.
        sizes *= (np.linalg.norm(gradients, axis=1).sum() / scale) ** 2
        worst[1] = max(worst[1], (np.abs(rhs - expected) / sizes).max())
    return worst


FLUXES = pytest.mark.parametrize("flux", ["upwind", "central"])
DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
EVERY = pytest.mark.parametrize("condition", [None, *CONDITIONS])


@FLUXES
@DTYPES
@EVERY
def test_star_state_and_flux_difference_are_those_of_the_riemann_problem(compiled, flux, dtype, condition):
    """Some twenty operations, each rounds numbers of the given size by eps/2."""
    assert (errors(compiled, flux, dtype, condition) < 10 * np.finfo(dtype).eps).all()


def test_the_closed_form_is_that_of_the_invariants():
    """vn* - vn- = (Z+ dvn - dp) / (Z- + Z+), p* - p- = Z- (dp - Z+ dvn) / (Z- + Z+)."""
    for materials, states, _, _ in cases(1):
        z_in, z_out = map(impedance, materials)
        traces = states[:, [1, 0]]
        dv, dp = traces[1] - traces[0]
        expected = np.array([z_out * dv - dp, z_in * (dp - z_out * dv)]) / (z_in + z_out)
        scale = (np.abs(dp) + z_out * np.abs(dv)) * np.array([1, z_in]) / (z_in + z_out)
        found = riemann(materials, traces) - traces[0]
        # Pivoting loses the ratio of the rows, at most 10^3 over the impedances' three decades each way.
        assert (np.abs(found - expected) < 1e-11 * (scale + np.abs(traces[0]))).all()


def exchanged(materials):
    return materials[::-1]


def denser(materials):
    return materials * [1.01, 1]


@DTYPES
@pytest.mark.parametrize("disturb", [exchanged, denser])
@EVERY
def test_impedances_exchanged_or_one_percent_off_are_seen(compiled, dtype, disturb, condition):
    assert (errors(compiled, "upwind", dtype, condition, disturb) > 5e-4).all()


def two_sides(function, materials, states, gradients, face, other):
    """(vn*, p*) seen from both sides along the inner normal; `other` are the materials of the second call."""
    inner, _, m = call(function, np.float64, materials, states, gradients, face)
    outer, _, _ = call(function, np.float64, other, states[::-1], -gradients, face)
    n = m / np.linalg.norm(m)
    seen = (states[0, 1:] @ n, states[0, 0]), (states[1, 1:] @ -n, states[1, 0])
    return inner + seen[0], (outer + seen[1]) * [-1, 1]


@FLUXES
def test_both_sides_find_the_same_star_state(compiled, flux):
    worst, twin = 0.0, np.inf
    for materials, states, gradients, face in cases(2):
        z = np.array([impedance(material) for material in materials])
        size = np.abs(states[:, 0]).max() + z.max() * np.abs(states[:, 1:]).max() * 3
        size = size * np.array([1 / z.min(), 1])
        a, b = two_sides(compiled[flux, np.float64], materials, states, gradients, face, materials[::-1])
        worst = max(worst, (np.abs(a - b) / size).max())
        a, b = two_sides(compiled[flux, np.float64], materials, states, gradients, face, materials)
        twin = min(twin, 1.0 if flux == "central" else (np.abs(a - b) / size).max())
    assert worst < 1e-14
    assert twin > 1e-8  # the second side takes Z+ for Z-


@FLUXES
@pytest.mark.parametrize("condition", CONDITIONS)
def test_walls_do_no_work_and_absorbing_faces_take_the_outgoing_half(compiled, flux, condition):
    """Power through the face, |m| omitted: p- (vn* - vn-) + vn- (p* - p-) + p- vn-."""
    for materials, states, gradients, face in cases(3):
        code, z = CONDITIONS[condition], impedance(materials[0])
        star, _, m = call(compiled[flux, np.float64], np.float64, materials, states, gradients, face, code)
        v, p = states[0, 1:] @ m / np.linalg.norm(m), states[0, 0]
        power, size = p * star[0] + v * star[1] + p * v, p * p / z + z * v * v
        if condition == "absorbing":  # vn* = p*/Z = (vn + p/Z)/2
            assert power == pytest.approx(size / 2, rel=1e-12)
        else:  # upwind takes the mismatch of the wall, p^2/Z or Z vn^2
            loss = 0 if flux == "central" else z * v * v if condition == "rigid" else p * p / z
            assert abs(power - loss) < 1e-14 * size
