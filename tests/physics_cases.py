"""The physics, as the tests of the flux and of the right-hand side see them: a table, and NumPy versions.

Everything here is written from the equations (docs/dg.md), not from cuda/physics: dq/dt = sum_j A_j d_j q,
energies, and the Riemann problem from the invariants that leave each side. A face knows pairs (T, v) that
have T = -Z v in a wave along its normal n and T = Z v against it: (-p, v_n), (sigma n, v), (E_t, n x H).
Not here: meshes and runs (wave_problems.py, wave_runs.py).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import unda

VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


def tensor(stress):
    """(6, ..) to (3, 3, ..)."""
    sigma = np.empty((3, 3, *np.shape(stress)[1:]))
    for one, (i, j) in zip(stress, VOIGT, strict=True):
        sigma[i, j] = sigma[j, i] = one
    return sigma


def voigt(sigma):
    return np.stack([sigma[pair] for pair in VOIGT])


# ---- the equations: dq/dt from slopes (3, field, ..) and materials (parameter, ..) ----


def acoustic_rates(material, slopes, q=None):
    rho, c = material
    div = slopes[0, 1] + slopes[1, 2] + slopes[2, 3]
    return np.stack([-rho * c**2 * div, *(-slopes[:, 0] / rho)])


def elastic_rates(material, slopes, q=None):
    rho, vp, vs = material
    mu = rho * vs**2
    lam = rho * vp**2 - 2 * mu
    grad = np.stack([slopes[:, i] for i in range(3)])  # [i, j] = d_j v_i
    strain = (grad + grad.swapaxes(0, 1)) / 2
    sigma = np.stack([tensor(slopes[j, 3:]) for j in range(3)])  # [j] = d_j sigma
    force = np.einsum("jij...->i...", sigma) / rho
    unit = np.eye(3).reshape(3, 3, *(1,) * (strain.ndim - 2))
    return np.concatenate([force, voigt(lam * np.einsum("ii...->...", strain) * unit + 2 * mu * strain)])


def curl(slopes):
    """Slopes (3, 3, ..) of a vector, [j, i] = d_j a_i."""
    return np.stack([slopes[(i + 1) % 3, (i + 2) % 3] - slopes[(i + 2) % 3, (i + 1) % 3] for i in range(3)])


def maxwell_rates(material, slopes, q=None):
    """The loss needs the state; without it, that of an insulator."""
    eps, mu, sigma = material
    loss = 0 if q is None else sigma * q[:3]
    return np.concatenate([(curl(slopes[:, 3:]) - loss) / eps, -curl(slopes[:, :3]) / mu])


# ---- energy: density = q.W q / 2, W (field, field) of one material ----


def acoustic_weight(rho, c):
    return np.diag([1 / (rho * c**2), rho, rho, rho])


def elastic_weight(rho, vp, vs):
    """rho and the compliance; a fluid stores compression alone."""
    mu, bulk = rho * vs**2, rho * (vp**2 - 4 / 3 * vs**2)
    mean, double = np.array([1, 1, 1, 0, 0, 0]) / 3, np.array([1, 1, 1, 2, 2, 2])
    weight = np.zeros((9, 9))
    weight[:3, :3] = rho * np.eye(3)
    weight[3:, 3:] = np.outer(mean, mean) / bulk
    if mu > 0:
        weight[3:, 3:] += (np.diag(double) - 3 * np.outer(mean, mean)) / (2 * mu)
    return weight


def maxwell_weight(eps, mu, sigma):
    return np.diag([eps] * 3 + [mu] * 3)


# ---- faces: impedances and pairs (T, v) of a state, changes of a state from changes of (T, v), and back ----


def acoustic_channels(material, q, n):
    return np.array([material[0] * material[1]]), np.array([-q[0]]), np.array([q[1:] @ n])


def acoustic_change(material, n, dt, dv):
    return np.array([-dt[0], *(dv[0] * n)])


def acoustic_seen(material, rate, n):
    rho, c = material
    return np.array([rate[1:] @ n * rho]), np.array([-rate[0] / (rho * c**2)])


def frame(n):
    """n and two directions across it, rows."""
    across = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    across /= np.linalg.norm(across)
    return np.stack([n, across, np.cross(n, across)])


def elastic_channels(material, q, n):
    axes, (rho, vp, vs) = frame(n), material
    return rho * np.array([vp, vs, vs]), axes @ tensor(q[3:]) @ n, axes @ q[:3]


def elastic_change(material, n, dt, dv):
    traction, motion = (frame(n).T @ one for one in (dt, dv))
    sigma = np.outer(traction, n) + np.outer(n, traction) - (traction @ n) * np.outer(n, n)
    return np.concatenate([motion, voigt(sigma)])


def elastic_seen(material, rate, n):
    """Slip of a fluid leaves no trace in it: 0."""
    axes, (rho, vp, vs) = frame(n), material
    moduli = rho * np.array([vp, vs, vs]) ** 2
    strain = axes @ tensor(rate[3:]) @ n
    return axes @ rate[:3] * rho, np.where(moduli > 0, strain / np.where(moduli > 0, moduli, 1), 0)


def maxwell_channels(material, q, n):
    axes, (eps, mu, _) = frame(n)[1:], material
    return np.full(2, np.sqrt(mu / eps)), axes @ q[:3], axes @ np.cross(n, q[3:])


def maxwell_change(material, n, dt, dv):
    e, n_cross_h = (frame(n)[1:].T @ one for one in (dt, dv))
    return np.concatenate([e, -np.cross(n, n_cross_h)])


def maxwell_seen(material, rate, n):
    axes, (eps, mu, _) = frame(n)[1:], material
    return axes @ np.cross(n, rate[3:]) * mu, axes @ rate[:3] * eps


def star_state(flux, z, traces, condition=None):
    """(T*, v*) of one face, each (channel,).

    z: impedances on both sides; traces: (T, v) on both sides; condition: a letter a channel, "T" or "v" for
    what a wall makes 0, "a" for nothing that comes back.
    """
    star = np.empty((2, len(z[0])))
    for i in range(len(z[0])):
        (t_in, v_in), (t_out, v_out) = ((pair[0][i], pair[1][i]) for pair in traces)
        z_in, z_out, wall = z[0][i], z[1][i], condition[i] if condition else ""
        if wall == "a":
            t_out, v_out, z_out, wall = 0.0, 0.0, z_in, ""
        loss = flux == "upwind" or condition == "a" * len(z[0])
        if z_in == 0 or (wall == "" and z_out == 0):  # no shear traction at a fluid
            star[:, i] = 0, v_in - t_in / z_in if loss and z_in > 0 else v_in
        elif wall:
            star[:, i] = (0, v_in - loss * t_in / z_in) if wall == "T" else (t_in - loss * z_in * v_in, 0)
        elif loss:  # T - Z v leaves the inner side, T + Z v the outer one
            star[:, i] = np.linalg.solve(
                [[1, -z_in], [1, z_out]], [t_in - z_in * v_in, t_out + z_out * v_out]
            )
        else:
            star[:, i] = (t_in + t_out) / 2, (v_in + v_out) / 2
    return star


# ---- materials and states ----


def random_materials(physics, kind, num, rng, low=0.5, high=3.0):
    """(num, parameter): another one for each; `kind` is "mixed", "solid" or "fluid" for elastic ones."""
    first, second = np.exp(rng.uniform(np.log(low), np.log(high), (2, num)))
    some = rng.integers(0, 3, num)
    if physics == "acoustic":
        return np.column_stack([first, second])
    if physics == "elastic":
        ratio = rng.uniform(0.2, 0.8, num)
        solid = {"mixed": some > 0, "solid": some >= 0, "fluid": some < 0}[kind]
        return np.column_stack([first, second, second * ratio * solid])
    return np.column_stack([first, second, {"mixed": first, "insulator": 0 * first}[kind] * (some > 0)])


def without_shear(physics, materials, q):
    """States (cell, .., field) with the pressure alone left of the stress in fluids."""
    if physics == "elastic":
        fluid = materials[:, 2] == 0
        q[fluid, ..., 6:] = 0
        q[fluid, ..., 3:6] = q[fluid, ..., 3:6].mean(axis=-1, keepdims=True)
    return q


class Case(NamedTuple):
    """One physics."""

    name: str
    medium: type
    kinds: tuple[str, ...]  # of random materials
    odd: tuple[str, ...]  # fields that change sign when time runs back
    walls: dict[str, str]  # what each condition makes 0, see star_state
    rates: Callable
    weight: Callable
    channels: Callable
    change: Callable
    seen: Callable

    @property
    def fields(self):
        return self.medium.fields

    def materials(self, num, seed=5, kind=None, **limits):
        return random_materials(self.name, kind or self.kinds[0], num, np.random.default_rng(seed), **limits)

    def made_of(self, materials):
        """The medium of materials (cell, parameter)."""
        return self.medium(**dict(zip(self.medium.parameters, np.transpose(materials), strict=True)))

    def states(self, materials, num, seed):
        """Random states (cell, num, field) that fluids bear."""
        shape = len(materials), num, len(self.fields)
        q = np.random.default_rng(seed).standard_normal(shape)
        return without_shear(self.name, materials, q)


def by_node(case, num_elem, num_node, seed=5, kind=None):
    """Random materials (num_elem, num_node, parameter); a cell is a fluid at all its nodes or at none."""
    materials = case.materials(num_elem * num_node, seed, kind).reshape(num_elem, num_node, -1)
    if (kind or case.kinds[0]) == "mixed" and case.name == "elastic":
        solid = case.materials(num_elem * num_node, seed, "solid").reshape(materials.shape)
        materials = np.where(materials[:, :1, 2:] > 0, solid, solid * [1, 1, 0])
    return materials


def states(case, materials, seed=1):
    """Random states (cell, node, field) that fluid nodes bear."""
    flat = materials.reshape(-1, materials.shape[-1])
    q = np.random.default_rng(seed).standard_normal((len(flat), len(case.fields)))
    return without_shear(case.name, flat, q).reshape(*materials.shape[:2], -1)


CASES = {
    "acoustic": Case(
        "acoustic", unda.Acoustic, ("mixed",), ("vx", "vy", "vz"), {"rigid": "v", "free": "T"},
        acoustic_rates, acoustic_weight, acoustic_channels, acoustic_change, acoustic_seen,
    ),
    "elastic": Case(
        "elastic", unda.Elastic, ("mixed", "solid", "fluid"), ("vx", "vy", "vz"),
        {"free": "TTT", "fixed": "vvv", "symmetry": "vTT"},
        elastic_rates, elastic_weight, elastic_channels, elastic_change, elastic_seen,
    ),
    "maxwell": Case(
        "maxwell", unda.Maxwell, ("mixed", "insulator"), ("hx", "hy", "hz"), {"pec": "TT", "pmc": "vv"},
        maxwell_rates, maxwell_weight, maxwell_channels, maxwell_change, maxwell_seen,
    ),
}  # fmt: skip
