"""Maxwell's staggered scheme at an oblique interface, half a cell beyond the last node: Fresnel's R and T.

The scheme at one frequency is a linear system along the normal. What runs is it, to rounding; its R and T are
those of the impedances to second order, for both polarisations. Not here: normal incidence, pulses, other
physics (test_fd_interface.py); energy (test_staggered_energy.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import discrete, staggered, weights

HALF = 40  # nodes from the interface to where there are but plane waves
EPS, MU = np.array([1.0, 4.0]), np.array([1.0, 1.2])
ANGLE, STEP = 0.7, 0.25  # of the incident wave; of time, in h/c of medium 1
POLARISED = pytest.mark.parametrize("tm", [False, True], ids=["TE", "TM"])


#: 1/eps between two nodes, of eps + i s, s = sigma/omega: "found" is the scheme's, "series" that of both.
MEANS = {
    "found": lambda eps, s: 1 / complex(1 / np.mean(1 / eps), np.mean(s / eps**2) / np.mean(1 / eps) ** 2),
    "arithmetic": lambda eps, s: 1 / complex(np.mean(eps), np.mean(s)),
    "harmonic": lambda eps, s: 1 / complex(1 / np.mean(1 / eps), 2 * np.prod(s) / (np.sum(s) or 1)),
    "series": lambda eps, s: np.mean(1 / (eps + 1j * s)),
}


def wave_number(order, rate):
    """k h of a difference i rate, by Newton's method."""
    d, x, k = 2 * weights(order), np.arange(1, order // 2 + 1) - 0.5, complex(rate)
    for _ in range(60):
        k -= (d @ np.sin(x * k) - rate) / (d @ (x * np.cos(x * k)))
    return k


class Scheme:
    """The scheme for waves exp(i (kx x - w t)), h = 1: dx is d/dx of them, rate d/dt, both without i.

    One field u along y: E (TE) at nodes, H (TM) between. With G the gradient, from nodes to between them, and
    -G^T the other one, W^2 eps E = G^T (G E/mu) + dx^2 E/mu, W^2 mu H = G (G^T H/eps) + dx^2 H/eps', where
    eps + i sigma cos(w dt/2)/W stands for eps, and mu at the interface is the mean.
    """

    def __init__(self, order, tm, dx, rate, loss, *, mean="found"):
        self.tm, self.dx, self.rate = tm, dx, rate
        reach = HALF + order
        nodes, faces = np.arange(-reach, reach) + 0.5, np.arange(1.0 - reach, reach)
        self.gradient = np.zeros((len(faces), len(nodes)))
        for m, weight in enumerate(weights(order), 1):
            for face in range(len(faces)):
                for node, sign in ((face + m, 1), (face + 1 - m, -1)):
                    if 0 <= node < len(nodes):
                        self.gradient[face, node] += sign * weight
        eps = EPS + 1j * loss
        self.eps, self.mu = eps[(nodes > 0).astype(int)], MU[(nodes > 0).astype(int)]
        beside = (faces > 0).astype(int)
        self.mu_between = np.where(faces == 0, MU.mean(), MU[beside])
        self.soft = np.where(faces == 0, MEANS[mean](EPS, loss), 1 / eps[beside])
        self.k = [wave_number(order, d) for d in np.sqrt(eps * MU * rate**2 - dx**2)]
        self.x = faces if tm else nodes
        self.u = self.solved()

    def operator(self):
        g = self.gradient
        if self.tm:
            return g @ (g.T / self.eps[:, None]) + np.diag(
                self.dx**2 * self.soft - self.rate**2 * self.mu_between
            )
        return g.T @ (g / self.mu_between[:, None]) + np.diag(self.dx**2 / self.mu - self.rate**2 * self.eps)

    def solved(self):
        """Field u at x; r and t are of u at the interface."""
        x, inner = self.x, np.abs(self.x) < HALF
        left, right = (x < 0) & ~inner, (x > 0) & ~inner
        waves = [np.exp(1j * self.k[0] * x), np.exp(-1j * self.k[0] * x), np.exp(1j * self.k[1] * x)]
        to, back, on = (np.where(side, w, 0) for side, w in zip((left, left, right), waves, strict=True))
        operator = self.operator()[np.abs(x) < HALF + 0.75]  # two more rows than places: for r and t
        unknown = np.column_stack([operator[:, inner], operator @ back, operator @ on])
        found = np.linalg.lstsq(unknown, -operator @ to, rcond=None)[0]
        self.r, self.t = found[-2:]
        u = to + self.r * back + self.t * on
        u[inner] = found[:-2]
        return u

    def fields(self):
        """The three fields of the polarisation: {(e or h, axis): (places along the normal, amplitudes)}."""
        g, turn = self.gradient, 1j * self.rate
        nodes, faces = (np.arange(-n / 2, n / 2) + 0.5 for n in (len(self.eps), len(self.soft)))
        if self.tm:
            return {("h", 1): (faces, self.u), ("e", 0): (nodes, -g.T @ self.u / (turn * self.eps)),
                    ("e", 2): (faces, -1j * self.dx * self.u * self.soft / turn)}  # fmt: skip
        return {("e", 1): (nodes, self.u), ("h", 0): (faces, -g @ self.u / (turn * self.mu_between)),
                ("h", 2): (nodes, 1j * self.dx * self.u / (turn * self.mu))}  # fmt: skip


def ran_error(order, tm, axis, mean="found"):
    """Largest error within 12 nodes of the interface after 5 steps, in which that of the ends comes 5 order
    nodes near: HALF - 4 order >= 12.

    The normal is `axis`, the wave goes along the one after it, too: 12 nodes of it are a period.
    """
    names = [*np.roll(["x", "y", "z"], -1 - axis)]  # tangential, across, normal
    deep, sigma = 2 * HALF + 2 * order, np.array([0.05, 3.0])
    shape = [0, 0, 0]
    for name, n in zip(names, (12, 1, deep), strict=True):
        shape["xyz".index(name)] = n
    grid = unda.Grid(shape, 1.0)
    behind = (np.arange(deep) >= deep // 2).reshape([-1 if n == deep else 1 for n in shape])
    medium = {name: np.where(behind, pair[1], pair[0]) * np.ones(shape) for name, pair in
              (("eps", EPS), ("mu", MU), ("sigma", sigma))}  # fmt: skip
    sim = staggered(grid, unda.Maxwell(**medium), order=order, boundary={"*": "periodic"}, cfl=0.7)
    kx, rate = 2 * np.pi / 12, 0.8
    w = 2 / sim.dt * np.arcsin(rate * sim.dt / 2)
    loss = sigma * np.cos(w * sim.dt / 2) / rate
    scheme = Scheme(order, tm, discrete(order, kx, 1.0), rate, loss, mean=mean)

    def values(kind, number, t):
        places, amplitude = scheme.fields()[kind, number]
        name = kind + names[number]
        x = np.moveaxis(sim.coordinates_of(name), -1, 0)
        along, normal = x["xyz".index(names[0])], x["xyz".index(names[2])] - (deep - 1) / 2
        at = np.rint(normal - places[0]).astype(int)  # beyond the last face: anything
        lag = -sim.dt / 2 if kind == "h" else 0.0
        wave = amplitude[np.minimum(at, len(places) - 1)] * np.exp(1j * (kx * along - w * (t + lag)))
        return name, wave.real, np.abs(normal) < 12

    sim.set(**{name: wave for name, wave, _ in (values(*one, 0.0) for one in scheme.fields())})
    sim.step(5)
    wrong = 0.0
    for one in scheme.fields():
        name, wave, near = values(*one, sim.t)
        wrong = max(wrong, np.abs(sim.get(name) - wave)[near].max() / np.abs(wave[near]).max())
    return wrong


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("axis", [0, 1, 2])
@POLARISED
def test_what_runs_is_the_scheme_at_one_frequency(tm, axis, order):
    """Rounding of 5 steps, and of a solved system of 80 unknowns: 1e-13. Any other eps or sigma between
    conductors, which matters to TM only, is seen."""
    assert ran_error(order, tm, axis) < 1e-12
    for mean in ("arithmetic", "harmonic", "series"):
        assert not tm or ran_error(order, tm, axis, mean) > 1e-3


def reflected(order, tm, kh, tangent=0.0, mean="found"):
    """R and T of the scheme and of Fresnel, k h in medium 1; sigma/(omega eps) of medium 2."""
    k = kh / np.sqrt(EPS[0] * MU[0]) * np.array([np.sin(ANGLE), 0.0, np.cos(ANGLE)])
    w = np.linalg.norm(k) / np.sqrt(EPS[0] * MU[0])
    rate = 2 / STEP * np.sin(w * STEP / 2)
    sigma = np.array([0.0, tangent * EPS[1] * w])
    made = Scheme(order, tm, discrete(order, k[0], 1.0), rate, sigma * np.cos(w * STEP / 2) / rate, mean=mean)
    one, two = (unda.Maxwell(eps=e, mu=m, sigma=s) for e, m, s in zip(EPS, MU, sigma, strict=True))
    exact = unda.exact.interface_plane_wave(one, two, k=k, normal=(0, 0, 1), polarization=(0, 1, 0))
    kind = "tm" if tm else "te"
    wanted = getattr(exact, f"reflection_{kind}"), getattr(exact, f"transmission_{kind}")
    return np.array([made.r, made.t]), np.array(wanted), made.k


GRIDS = (0.2, 0.1, 0.05)  # k h in medium 1


def errors(order, tm, **options):
    pairs = (reflected(order, tm, kh, **options)[:2] for kh in GRIDS)
    return np.array([np.abs(found - wanted).max() for found, wanted in pairs])


@POLARISED
def test_order_2_has_its_solution(tm):
    """At faces TM: (1 - R) sin(k1 h)/eps1 = (1 + R) sin(k2 h)/eps2, T = 1 + R; beside them TE: (1 - R)
    sin(k1 h/2)/mu1 = T sin(k2 h/2)/mu2 and (1 + R) cos(k1 h/2) = T cos(k2 h/2)."""
    for kh in GRIDS:
        (r, t), _, k = reflected(2, tm, kh)
        k = np.array(k)
        y = np.sin(k) / EPS if tm else np.tan(k / 2) / MU
        on = (1, 1) if tm else np.cos(k / 2)
        assert abs(r - (y[0] - y[1]) / (y[0] + y[1])) < 1e-12
        assert abs(t * on[1] - (1 + r) * on[0]) < 1e-12


@pytest.mark.parametrize("tangent", [0.0, 0.05])
@pytest.mark.parametrize("order", [2, 4])
@POLARISED
def test_waves_are_shared_out_to_second_order(tm, order, tangent):
    """By order 2's solution dR = dT = (1 - R^2)/2 (d1 - d2) with Y_i (1 + d_i), |d| <= (kz h)^2/6 of the sine
    and (k h)^2/24 (k/kz)^2 of the wave number, together (k h)^2/4: a bar of (k h)^2/8, k in medium 2."""
    found = errors(order, tm, tangent=tangent)
    bar = np.array(GRIDS) ** 2 * EPS[1] * MU[1] / 8
    assert (found < bar).all()
    assert (np.abs(np.log2(found[:-1] / found[1:]) - 2) < 0.1).all()


@pytest.mark.parametrize("order", [2, 4])
def test_the_arithmetic_mean_is_of_first_order(order):
    found = errors(order, True, mean="arithmetic")
    assert (np.log2(found[:-1] / found[1:]) < 1.3).all()
    assert found[-1] > 2 * GRIDS[-1] ** 2 * EPS[1] * MU[1] / 8


def test_one_conductivity_is_right_to_first_order_in_it():
    """Two conductors in series are another one at each frequency: what the scheme's lacks, beside that, is of
    second order in sigma/(omega eps) and of first in h; what a harmonic mean lacks is of first in both."""

    def lacks(kh, tangent, mean):
        (found, *_), (wanted, *_) = (reflected(2, True, kh, tangent, one) for one in (mean, "series"))
        return np.abs(found - wanted).max()

    for mean, power in (("found", 2), ("harmonic", 1)):
        whole, half = (lacks(0.05, tangent, mean) for tangent in (0.1, 0.05))
        assert np.log2(whole / half) == pytest.approx(power, abs=0.05)
        assert np.log2(whole / lacks(0.025, 0.1, mean)) == pytest.approx(1, abs=0.05)
