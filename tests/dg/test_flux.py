"""The flux of each cuda/physics/*.h, compiled alone, is the exact solution of the Riemann problem.

The reference (physics_cases.py) solves for the star state from the invariants that leave each side instead
of the closed form; both sides must find the same state, which orders of convergence cannot see
(docs/verification.md).
Not here: lifting and runs (test_dg_rhs.py, test_dg_exact.py).
"""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from physics_cases import CASES, star_state, without_shear

ROOT = Path(__file__).resolve().parents[2]
NUM_CASE = 30
BETWEEN = -1
CONDITIONS = {
    "absorbing": 0, "rigid": 1, "free": 2, "fixed": 3, "symmetry": 4, "pec": 5, "pmc": 6,
}  # fmt: skip

# As csrc/dg/cpu_fluxes.inc.h includes it, with one element a lane.
HEAD = """
#include "common/index.h"
#include <math.h>
#define DEVICE static inline __attribute__((unused))
#define VAL REAL
"""

# What a stage does with one face: rhs = the face's part of dq/dt, not lifted.
BODY = """
#undef BOTH_JUMPS
#undef FN
#define BOTH_JUMPS IS_CENTRAL
#define FN(name) NAME_##name
#include "physics/PHYSICS.h"
#include "space/tet_affine.h"
void NAME(const double *in, const double *out, const REAL *q_in, const REAL *q_out, const double *edge,
          const double *gradient, int face, int condition, REAL *rhs)
{
    double record64[9], coef64[NUM_COEF], face64[NUM_FACE_COEF], scale = 0, det;
    REAL record[9], coef[NUM_COEF], face_coef[NUM_FACE_COEF], m[NUM_FRAME], u[NUM_REF], a[NUM_TRACE];
    REAL b[NUM_TRACE], seen[NUM_TRACE], mirror[NUM_MIRROR], lift_coef[NUM_LIFT_COEF], s[NUM_JUMP];
    REAL acc[NUM_ACC] = {0};
    for (int i = 0; i < 3; i++) {
        double sum = gradient[i] + gradient[3 + i] + gradient[6 + i];
        scale += face == 0 ? sum * sum : gradient[3 * (face - 1) + i] * gradient[3 * (face - 1) + i];
    }
    scale = sqrt(scale);
    det = edge[0] * (edge[4] * edge[8] - edge[5] * edge[7]);
    det += edge[1] * (edge[5] * edge[6] - edge[3] * edge[8]);
    det += edge[2] * (edge[3] * edge[7] - edge[4] * edge[6]);
    for (int i = 0; i < 9; i++)
        record64[i] = GRAD_DIV ? gradient[i] : edge[i];
    const int powers[][2] = COEF_POWERS, face_powers[][2] = FACE_COEF_POWERS;
    double length = GRAD_DIV ? scale : det * scale;
    FN(coefficients)(in, coef64);
    FN(face_coefficients)(in, condition < 0 ? out : in, face64);
    for (int i = 0; i < NUM_COEF; i++)
        coef64[i] = pow(coef64[i], powers[i][0]) * pow(det, powers[i][1]);
    for (int i = 0; i < NUM_FACE_COEF; i++)
        face64[i] = pow(face64[i], face_powers[i][0]) * pow(length, face_powers[i][1]);
    for (int i = 0; i < 9; i++)
        record[i] = (REAL)record64[i];
    for (int i = 0; i < NUM_COEF; i++)
        coef[i] = (REAL)coef64[i];
    for (int i = 0; i < NUM_FACE_COEF; i++)
        face_coef[i] = (REAL)face64[i];
    FN(frame)(record, face, m);
    FN(to_reference)(q_in, record, u);
    FN(trace_reference)(u, face, a);
    FN(trace)(condition < 0 ? q_out : q_in, m, seen);
    FN(mirror)(condition, mirror);
    FN(reflect)(seen, m, face_coef, mirror, b);
    FN(jump)(a, b, m, face_coef, condition == BOUNDARY_ABSORBING, s);
    FN(lift_coefficients)(m, face_coef, lift_coef);
    FN(apply_lift)(s, face, lift_coef, acc);
    FN(from_reference)(acc, record, coef, rhs);
}
"""


def source():
    bodies = [
        BODY.replace("NAME", f"{physics}_{flux}").replace("PHYSICS", physics).replace("IS_CENTRAL", value)
        for physics in CASES for flux, value in (("upwind", "0"), ("central", "1"))
    ]  # fmt: skip
    return HEAD + "".join(bodies)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Functions by (physics, flux, dtype)."""
    folder = tmp_path_factory.mktemp("flux")
    (folder / "flux.c").write_text(source())
    functions = {}
    for real, dtype in (("double", np.float64), ("float", np.float32)):
        library = folder / f"{real}.so"
        flags = ["-std=gnu11", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", f"-DREAL={real}"]
        command = ["gcc", *flags, f"-I{ROOT}/cuda", folder / "flux.c", "-lm", "-o", library]
        subprocess.run(command, check=True)
        loaded = ctypes.CDLL(str(library))
        for physics in CASES:
            for flux in ("upwind", "central"):
                functions[physics, flux, dtype] = loaded[f"{physics}_{flux}"]
    return functions


def elements(rng):
    """Edges of a random element, no sliver: what its sides cancel costs at most two digits."""
    while True:
        edges = rng.standard_normal((3, 3))
        if np.linalg.cond(edges) < 10:
            return edges


def cases(physics, seed=0, kind=None):
    """Two materials over three decades, two states that they bear, edges and a face."""
    rng = np.random.default_rng(seed)
    case = CASES[physics]
    for i in range(NUM_CASE):
        materials = case.materials(2, seed=[seed, i], kind=kind, low=10**-1.5, high=10**1.5)
        q = without_shear(physics, materials, rng.standard_normal((2, len(case.fields))))
        yield materials, q, elements(rng), int(rng.integers(4))


def outward(edges, face):
    """n |grad lambda_f|."""
    gradients = np.linalg.inv(edges).T
    return gradients.sum(axis=0) if face == 0 else -gradients[face - 1]


def call(function, dtype, materials, states, edges, face, condition=BETWEEN):
    """The face's part of dq/dt, not lifted, over abs(m); and n."""
    gradients = np.linalg.inv(edges).T
    inputs = [np.ascontiguousarray(materials[i], np.float64) for i in (0, 1)]
    inputs += [np.ascontiguousarray(q, dtype) for q in states]
    inputs += [np.ascontiguousarray(x, np.float64) for x in (edges, gradients)]
    rhs = np.zeros(len(states[0]), dtype)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in inputs]
    function(*pointers, face, condition, ctypes.c_void_p(rhs.ctypes.data))
    m = outward(edges, face)
    return rhs.astype(float) / np.linalg.norm(m), m / np.linalg.norm(m)


def word(case, condition):
    """What a condition makes 0, by channel; None between elements."""
    if condition == "absorbing":
        return "a" * len(next(iter(case.walls.values())))
    return case.walls.get(condition)


def size_of(z, traces, edges):
    """Of T, and of v times the inner impedance: what enters them before it cancels."""
    t, v = (np.abs([pair[i] for pair in traces]).max() for i in (0, 1))
    together = np.add(*z)
    return (t + z[0].max() * (v + t / together[together > 0].min())) * np.linalg.cond(edges) ** 2


def errors(compiled, physics, flux, dtype, condition=None, kind=None, disturb=lambda materials: materials):
    """Largest error of T* and v* - each in units of T - and of dq/dt, relative to the sizes that enter."""
    worst, case = np.zeros(2), CASES[physics]
    for materials, q, edges, face in cases(physics, kind=kind):
        code = CONDITIONS.get(condition, BETWEEN)
        rate, n = call(compiled[physics, flux, dtype], dtype, materials, q, edges, face, code)
        sides = [case.channels(m, one, n) for m, one in zip(disturb(materials), q, strict=True)]
        z, traces = [side[0] for side in sides], [side[1:] for side in sides]
        if code != BETWEEN:
            z[1] = z[0]
        dt, dv = star_state(flux, z, traces, word(case, condition)) - traces[0]
        size = size_of(z, traces, edges)
        seen_t, seen_v = case.seen(materials[0], rate, n)
        wrong = np.abs(seen_t - dt), np.abs(seen_v - dv) * z[0]

        def density(change, material=materials[0], n=n):
            """Energy of dq/dt."""
            rates = case.rates(material, n[:, None] * change)
            return rates @ case.weight(*material) @ rates

        change = case.change(materials[0], n, dt, dv)
        ones = np.full(len(z[0]), size)
        difference = rate - case.rates(materials[0], n[:, None] * change)
        energy = difference @ case.weight(*materials[0]) @ difference
        energy /= density(case.change(materials[0], n, ones, ones / z[0].max()))
        worst = np.maximum(worst, [np.max(wrong) / size, np.sqrt(energy)])
    return worst


FLUXES = pytest.mark.parametrize("flux", ["upwind", "central"])
DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
PHYSICS = pytest.mark.parametrize("physics", CASES)
EVERY = pytest.mark.parametrize(
    ("physics", "condition"),
    [(name, one) for name, case in CASES.items() for one in (None, "absorbing", *case.walls)],
)


@pytest.mark.each_value("physics", "condition")
@FLUXES
@DTYPES
@EVERY
def test_star_state_and_flux_difference_are_those_of_the_riemann_problem(
    compiled, physics, flux, dtype, condition
):
    """Some twenty operations, each rounds numbers of the given size by eps/2; fluids among solids."""
    for kind in CASES[physics].kinds:
        assert (errors(compiled, physics, flux, dtype, condition, kind) < 10 * np.finfo(dtype).eps).all()


def test_the_reference_is_the_closed_form_for_sound():
    """vn* - vn- = (Z+ dvn - dp) / (Z- + Z+), p* - p- = Z- (dp - Z+ dvn) / (Z- + Z+)."""
    for materials, states, _, _ in cases("acoustic", 1):
        z_in, z_out = materials.prod(axis=1)
        traces = states[:, [1, 0]]
        dv, dp = traces[1] - traces[0]
        expected = np.array([z_out * dv - dp, z_in * (dp - z_out * dv)]) / (z_in + z_out)
        scale = (np.abs(dp) + z_out * np.abs(dv)) * np.array([1, z_in]) / (z_in + z_out)
        pairs = [(np.array([-p]), np.array([v])) for v, p in traces]
        star = star_state("upwind", [np.array([z_in]), np.array([z_out])], pairs)
        found = np.array([star[1, 0], -star[0, 0]]) - traces[0]
        # Pivoting loses the ratio of the rows, at most 10^3 over the impedances' three decades each way.
        assert (np.abs(found - expected) < 1e-11 * (scale + np.abs(traces[0]))).all()


def exchanged(materials):
    return materials[::-1]


def denser(materials):
    """One per cent more rho or eps on both sides."""
    return materials * np.where(np.arange(materials.shape[1]) == 0, 1.01, 1)


@pytest.mark.each_value("physics", "condition")
@DTYPES
@pytest.mark.parametrize("disturb", [exchanged, denser])
@EVERY
def test_impedances_exchanged_or_one_percent_off_are_seen(compiled, physics, dtype, disturb, condition):
    assert (errors(compiled, physics, "upwind", dtype, condition, disturb=disturb) > 1e-4).all()


def star_seen(case, function, materials, states, edges, face, condition=BETWEEN):
    """A state with the traces T* and v* that the header finds, and its n."""
    rate, n = call(function, np.float64, materials, states, edges, face, condition)
    _, t, v = case.channels(materials[0], states[0], n)
    dt, dv = case.seen(materials[0], rate, n)
    return case.change(materials[0], n, t + dt, v + dv), n


def disagreement(case, materials, states, edges, one, two, n):
    """Largest difference of T*, and where both sides have the wave that of v*, relative to what enters."""
    sides = [case.channels(material, q, n) for material, q in zip(materials, states, strict=True)]
    z, traces = [side[0] for side in sides], [side[1:] for side in sides]
    size = max(size_of(z, traces, edges), size_of(z[::-1], traces, edges))
    dt, dv = np.abs(np.subtract(*(case.channels(materials[0], q, n)[1:] for q in (one, two))))
    return max(dt.max(), (dv * np.minimum(*z)).max()) / size


@pytest.mark.each_value
@FLUXES
@PHYSICS
def test_both_sides_find_the_same_star_state(compiled, physics, flux):
    """T* and v*, but for the slip at a fluid, where T* = 0."""
    case, function = CASES[physics], compiled[physics, flux, np.float64]
    for kind in case.kinds:
        worst, twin = 0.0, 0.0
        for materials, states, edges, face in cases(physics, 2, kind):
            one, n = star_seen(case, function, materials, states, edges, face)
            two, _ = star_seen(case, function, materials[::-1], states[::-1], -edges, face)
            worst = max(worst, disagreement(case, materials, states, edges, one, two, n))
            other, factor = (materials, 1) if flux == "upwind" else (materials[::-1], 1.01)  # Z+ for Z-
            two, _ = star_seen(case, function, other, [states[1], factor * states[0]], -edges, face)
            twin = max(twin, disagreement(case, materials, states, edges, one, two, n))
        assert worst < 10 * np.finfo(float).eps
        assert twin > 1e-4


@FLUXES
def test_no_shear_traction_crosses_to_a_fluid_and_all_of_it_a_weld(compiled, flux):
    """T_t* = 0 on either side of a fluid's face; between solids it is not."""
    case = CASES["elastic"]
    for kind, slips in (("mixed", True), ("fluid", True), ("solid", False)):
        found = []
        for materials, states, edges, face in cases("elastic", 4, kind):
            if kind == "mixed" and (materials[:, 2] > 0).all():
                continue
            star, n = star_seen(case, compiled["elastic", flux, np.float64], materials, states, edges, face)
            z, t, _ = case.channels(materials[0], star, n)
            size = np.abs(states).max() * (1 + z.max()) * np.linalg.cond(edges) ** 2
            found.append(np.abs(t[1:]).max() / size)
        assert len(found) > 15
        assert max(found) < 1e-13 if slips else min(found) > 1e-8


#: What a wall is the limit of: a neighbour with the element's materials times these factors.
LIMITS = {
    ("acoustic", "free"): (1e-24, 1), ("acoustic", "rigid"): (1e24, 1),
    ("elastic", "free"): (1e-24, 1, 1), ("elastic", "fixed"): (1e24, 1, 1),
    ("maxwell", "pec"): (1e12, 1e-12, 1), ("maxwell", "pmc"): (1e-12, 1e12, 1),
}  # fmt: skip


@pytest.mark.parametrize(("physics", "wall"), LIMITS)
def test_walls_are_neighbours_at_rest_without_impedance_or_with_an_infinite_one(compiled, physics, wall):
    """The limit of a vacuum; the other one is far away."""
    case, function = CASES[physics], compiled[physics, "upwind", np.float64]
    code, factors = CONDITIONS[wall], np.array(LIMITS[physics, wall])
    twin = np.inf
    for materials, states, edges, face in cases(physics, 5, "solid" if physics == "elastic" else None):
        wanted, n = star_seen(case, function, materials, states, edges, face, code)
        rest = [states[0], 0 * states[0]]
        for power in (1, -1):
            beyond = [materials[0], materials[0] * factors**power]
            found, _ = star_seen(case, function, beyond, rest, edges, face)
            wrong = disagreement(case, [materials[0]] * 2, rest, edges, found, wanted, n)
            assert wrong < 1e-11 or power < 0
        twin = min(twin, wrong)
    assert twin > 1e-6


@pytest.mark.each_value("physics", "condition")
@FLUXES
@pytest.mark.parametrize(("physics", "condition"), [(p, c) for p, c in EVERY.args[1] if c])
def test_walls_do_no_work_and_absorbing_faces_take_the_outgoing_half(compiled, physics, condition, flux):
    """Power -T.v that enters the face in the energy's rate, T*.v + T.v* - T.v, area omitted."""
    case, function, twin = CASES[physics], compiled[physics, flux, np.float64], 0.0
    for materials, states, edges, face in cases(physics, 3):
        star, n = star_seen(case, function, materials, states, edges, face, CONDITIONS[condition])
        z, t, v = case.channels(materials[0], states[0], n)
        _, t_star, v_star = case.channels(materials[0], star, n)
        bears = z > 0
        z, t, v, t_star, v_star = (one[bears] for one in (z, t, v, t_star, v_star))
        power, size = -(t_star * v + t * v_star - t * v), t * t / z + z * v * v
        if condition == "absorbing":  # the outgoing wave -T = Z v alone carries power away, all of it
            loss = size / 2
        else:  # upwind, the mismatch at the wall
            walls = np.array(list(case.walls[condition]))[bears]
            loss = np.where(walls == "T", t * t / z, z * v * v) * (flux == "upwind")
        assert np.abs(power - loss).max() < 1e-13 * np.linalg.cond(edges) ** 2 * size.max()
        twin = max(twin, np.abs(power - 1.001 * loss - 0.001 * t * v).max() / size.max())
    assert twin > 1e-4
