"""The fields of SEM: the state that steps, and what follows from it at nodes and receivers.

Not here: their values at receivers (csrc/sem/points.c), errors (norms.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..problem.medium import Medium
from . import norms
from .channels import Channels

_AXES = "xyz"
_PAIRS = ("xx", "yy", "zz", "yz", "xz", "xy")
_VECTORS = {"u": "m", "v": "m/s", "a": "m/s2"}  # displacement and its derivatives
_CHI = {"chi": "Pa s2", "chi_t": "Pa s", "chi_tt": "Pa"}
_STRESS, _PRESSURE, _FIRST_CHI, _DIVERGENCE = 9, 15, 16, 19  # csrc/sem/method.h


def _vector(name: str) -> tuple[str, ...]:
    return tuple(name + axis for axis in _AXES)


class SemFields:
    """Names, units and numbers of fields.

    Parameters
    ----------
    medium : Acoustic or Elastic
    has_fluid : bool
        Whether a cell is a fluid.

    Attributes
    ----------
    state : tuple of str
        What steps: ux .. az in solids; chi, chi_t, chi_tt in fluids.
    initial : tuple of str
        Of these, what `set` takes.
    units : dict of str to str
        Of all that can be recorded.
    numbers : dict of str to int
        The same as the library numbers it: unda_receivers.
    groups : dict of str to tuple of str
        Components of one vector or tensor, and the others alone.
    usual : tuple of str
        What receivers record if no fields are named: those of the medium.
    """

    def __init__(self, medium: Medium, has_fluid: bool) -> None:
        solid = medium.physics == "elastic"
        vectors = [name for kind in _VECTORS for name in _vector(kind)]
        self.state = tuple(vectors if solid else ()) + tuple(_CHI if has_fluid else ())
        self.initial = tuple(name for name in self.state if name[0] != "a" and name != "chi_tt")
        self.usual = tuple(medium.fields)
        self.units = {name: _VECTORS[name[0]] for name in vectors}
        self.numbers = {name: i for i, name in enumerate(vectors)}
        self.groups: dict[str, tuple[str, ...]] = {kind: _vector(kind) for kind in _VECTORS}
        if solid:
            self._add(tuple("s" + pair for pair in _PAIRS), "Pa", _STRESS, "s")
        self._add(("pressure" if solid else "p",), "Pa", _PRESSURE)
        if has_fluid:
            for i, (name, unit) in enumerate(_CHI.items()):
                self._add((name,), unit, _FIRST_CHI + i)
        else:
            self._add(("divergence", *(f"curl_{axis}" for axis in _AXES)), "1/s", _DIVERGENCE)

    def _add(self, names: tuple[str, ...], unit: str, first: int, group: str | None = None) -> None:
        self.units |= dict.fromkeys(names, unit)
        self.numbers |= {name: first + i for i, name in enumerate(names)}
        self.groups |= {group: names} if group else {name: (name,) for name in names}


class SemChannels(Channels):
    """What receivers record: the library samples every field as it is, but for strains."""

    def __init__(
        self, fields: SemFields, medium: Medium, names: Iterable[str] | None = None,
        material: Callable[[], np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        strains = {name: one for name, one in medium.motions.items() if not one.integrated}
        usual = fields.usual if names is None else names
        self._settle(usual, strains, (*fields.units, *strains), material)
        self._number([fields.numbers[field] for field, _ in self._column])


class Nodal:
    """Fields at the nodes of cells, from a state.

    Parameters
    ----------
    sim : SEM
    state : ndarray, shape (num_elem, num_node, num_field)
    """

    def __init__(self, sim: Any, state: np.ndarray) -> None:
        self._state = {name: state[..., i].astype(np.float64) for i, name in enumerate(sim.fields)}
        self._material, self._fluid = sim._material, sim._fluid
        self._slopes, self._sim = norms.derivatives(sim.mesh._info.shape, sim.degree), sim

    @cached_property
    def _inverse(self) -> np.ndarray:
        """Derivatives of the reference coordinates dr_j/dx_i (num_elem, num_node, j, i)."""
        x = self._sim.coordinates
        return np.asarray(np.linalg.inv(np.einsum("jnm,emi->enij", self._slopes, x)))

    def _gradient(self, values: np.ndarray) -> np.ndarray:
        """Return the gradient (num_elem, num_node, 3)."""
        along = np.einsum("jnm,em->enj", self._slopes, values)
        return np.asarray(np.einsum("enj,enji->eni", along, self._inverse))

    def _strain(self, kind: str) -> np.ndarray:
        """Return du_i/dx_k of solids (num_elem, num_node, i, k)."""
        return np.stack([self._gradient(self._state[name]) for name in _vector(kind)], axis=2)

    def _in_fluids(self, name: str) -> Any:
        if name[0] in _VECTORS and name[1:] in tuple(_AXES):
            chi = self._state[tuple(_CHI)["uva".index(name[0])]]
            return self._gradient(chi)[..., _AXES.index(name[1])] / self._material[..., 0]
        if name in ("p", "pressure"):
            return -self._state["chi_tt"]
        return self._state["chi_tt"] if name in ("sxx", "syy", "szz") else 0.0

    def _in_solids(self, name: str) -> Any:
        if name in self._state:
            return self._state[name]
        rho, vp, vs = (self._material[..., i] for i in range(3))
        mu = rho * vs**2
        lame = rho * vp**2 - 2.0 * mu
        slope = self._strain("u" if name[0] in "sp" else "v")
        divergence = np.trace(slope, axis1=2, axis2=3)
        if name == "pressure":
            return -(lame + 2.0 / 3.0 * mu) * divergence
        if name == "divergence":
            return divergence
        if name.startswith("curl"):
            i = _AXES.index(name[-1])
            j, k = (i + 1) % 3, (i + 2) % 3
            return slope[..., k, j] - slope[..., j, k]
        i, k = (_AXES.index(axis) for axis in name[1:])
        return lame * divergence * (i == k) + mu * (slope[..., i, k] + slope[..., k, i])

    def __call__(self, name: str) -> np.ndarray:
        """Return a field (num_elem, num_node)."""
        shape = next(iter(self._state.values())).shape
        if name in _CHI:
            return self._state[name]
        if self._fluid.all():
            return np.array(np.broadcast_to(self._in_fluids(name), shape))
        solid = np.broadcast_to(self._in_solids(name), shape)
        if not self._fluid.any():
            return np.array(solid)
        return np.where(self._fluid[:, None], self._in_fluids(name), solid)
