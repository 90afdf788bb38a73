"""Problems for the staggered schemes: random media, any sides, states that these bear, discrete wave numbers.

Not here: the promises (test_staggered_*.py), the scalar scheme (fd_cases.py).
"""

import numpy as np
import unda

SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
WALLS = {"acoustic": ("free", "rigid"), "elastic": ("free", "fixed", "symmetry"), "maxwell": ("pec", "pmc")}
ORDERS = (2, 4, 6, 8, 12)
HALF_STEP = {"acoustic": ("vx", "vy", "vz"), "elastic": ("vx", "vy", "vz"), "maxwell": ("hx", "hy", "hz")}


def weights(order):
    """D_1 .. D_M of h f' = sum D_m (f(m - 1/2) - f(1/2 - m)): exact for odd powers up to 2M - 1."""
    m = np.arange(1, order // 2 + 1)
    x = m - 0.5
    powers = np.array([x ** (2 * k + 1) for k in range(len(m))])
    wanted = np.zeros(len(m))
    wanted[0] = 1
    return np.linalg.solve(2 * powers, wanted)


def discrete(order, k, h):
    """Return what d/dx makes of exp(i k x), without i: 2/h sum D_m sin((m - 1/2) k h)."""
    x = np.arange(1, order // 2 + 1) - 0.5
    return 2 / h * weights(order) @ np.sin(x * k * h)


def stable_step(order, spacing, c):
    return 1 / (c * np.abs(weights(order)).sum() * np.sqrt(sum(1 / h**2 for h in spacing)))


def boundary(*pairs):
    """Return the dict of three pairs of sides."""
    return dict(zip(SIDES, [side for pair in pairs for side in pair], strict=True))


def random_medium(physics, shape, rng, fluid=True, lossless=True):
    """Another material at every node; of elastic ones the lowest third a fluid."""
    if physics == "acoustic":
        return unda.Acoustic(rho=rng.uniform(1, 3, shape), c=rng.uniform(1, 2, shape))
    if physics == "maxwell":
        sigma = 0.0 if lossless else rng.uniform(0, 0.5, shape)
        return unda.Maxwell(eps=rng.uniform(1, 3, shape), mu=rng.uniform(1, 3, shape), sigma=sigma)
    vs = rng.uniform(0.3, 1, shape)
    if fluid:
        vs[:, :, : shape[2] // 3] = 0
    return unda.Elastic(rho=rng.uniform(1, 3, shape), vp=rng.uniform(1.5, 2, shape), vs=vs)


def random_state(physics, shape, rng, fluid=True):
    """Random fields; stresses only where no node beside them is a fluid."""
    kind = {"acoustic": unda.Acoustic, "elastic": unda.Elastic, "maxwell": unda.Maxwell}[physics]
    state = {name: rng.standard_normal(shape) for name in kind.fields}
    if physics == "elastic" and fluid:
        for name in kind.fields[3:]:
            state[name][:, :, : shape[2] // 3 + 1] = 0
            state[name][:, :, -1] = 0  # periodic along z: beside the fluid
    return state


def borne(state):
    """Return a state whose lowest third of z, a fluid, bears its stresses."""
    fluid = next(iter(state.values())).shape[2] // 3
    for name in (one for one in state if one[0] == "s"):
        if name in ("sxx", "syy", "szz"):
            state[name][:, :, :fluid] = state["sxx"][:, :, :fluid]
        else:
            state[name][:, :, :fluid] = 0
            state[name][:, :, -1] = 0  # periodic along z: beside the fluid
    return state


def staggered(grid, medium, **options):
    given = {"dtype": "float64", "device": "cpu", "scheme": "staggered"} | options
    return unda.FD(grid, medium, **given)


def whole_state(sim):
    """Return all arrays of the state with their layers, by name, then the layers' memory."""
    lib, made = unda._core.lib, {}
    for name, (number, shape) in sim._whole().items():
        made[name] = np.empty(shape, sim.dtype)
        to = unda._core.pointer(made[name], writable=True)
        unda._core.check(lib.unda_solver_read(sim._solver.live(), number, 0, shape[0], to))
    return made


def source_of(physics, place, f, direction):
    """A volume, a force or a current."""
    if physics == "acoustic":
        return unda.VolumeInjection(place, f)
    kind = unda.PointForce if physics == "elastic" else unda.CurrentDipole
    return kind(place, f, direction)
