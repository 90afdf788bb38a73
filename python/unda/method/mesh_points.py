"""Points in a mesh as a simulation needs them: sources, receivers, incident waves and outer data.

Not here: which cells share a point (_sites.py), recording (receiver.py, csrc/dg/points.c).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._core import lib
from ..errors import ArgumentError
from ..problem.boundary import Boundaries, OuterData
from ..problem.incident import PlaneWave
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ..problem.source import Source
from . import _sites
from .norms import interpolation, reference_coordinates
from .points import Points, each_point
from .solver import Solver

_SAME = 1e-9  # of the largest in a cell: a material interpolated from both sides of a face


class MeshPoints(Points):
    """Where sources, receivers and exact data of a simulation on a mesh stand, and what they are there.

    Parameters
    ----------
    mesh : Mesh
    medium : Medium
    material : ndarray, shape (num_elem, 1 or num_node, num_parameter)
        As the solver has it: functions of the user may give other values by now.
    boundaries : Boundaries
    degree : int
    """

    no_waves = ""
    integrates = True
    #: Says which of some cells are in matched layers, whose waves are not those of the medium.
    layered: Callable[[Any, np.ndarray], np.ndarray] | None = None

    def __init__(
        self, mesh: Mesh, medium: Medium, material: np.ndarray, boundaries: Boundaries, degree: int
    ) -> None:
        self.medium, self._mesh, self._material = medium, mesh, material
        self._boundaries, self._degree = boundaries, degree
        self.has_outer = bool(boundaries.exact)
        self._outer: OuterData | None = None  # made on demand, with the waves that exist then

    # ---- sources and receivers ----

    def _inside(self, points: ArrayLike, what: str) -> tuple[np.ndarray, _sites.Sites]:
        if isinstance(points, Sequence) and len(points) == 0:
            points = np.empty((0, 3))
        array = _core.as_array(points, np.float64, (None, 3), f"{what}s", finite=True, unit="m")
        sites = _sites.find(self._mesh, array, self._degree)
        for i in np.flatnonzero(np.diff(sites.first) == 0)[:1]:
            place = ", ".join(f"{x:g}" for x in array[i])
            far, name = _sites.distance(self._mesh, array[i])
            raise ArgumentError(
                f"{what} {i} at ({place}) m lies outside the mesh, {far:.4g} m from its boundary {name!r}; "
                f"expected points in the mesh, which goes from {self._mesh.lower} to {self._mesh.upper} m"
            )
        return array, sites

    def material_at(self, elem: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the material (num_place, num_parameter) at places in cells, interpolated between nodes."""
        there = self._material[elem]
        if there.shape[1] == 1:
            return there[:, 0]
        reference = reference_coordinates(self._mesh, elem, places)
        basis = interpolation(self._mesh._info.shape, self._degree, reference)
        # a polynomial through values that jump within the cell is not beyond twice or half of them
        return np.clip(np.einsum("sn,snp->sp", basis, there), there.min(axis=1) / 2, 2 * there.max(axis=1))

    def place(self, points: ArrayLike, what: str, side: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """See `Points`."""
        array, sites = self._inside(points, what)
        before = self._before_layers(sites, np.ones(len(sites.elem), bool))
        if side is None and not before.all():
            sites = sites.keep(before)
        there = self._material[sites.elem]
        near = (_SAME if there.shape[1] > 1 else 0.0) * there.max(axis=1)
        material = self.material_at(sites.elem, sites.places)
        return array, _members(_sites.on_one_side(sites, self._mesh, material, near, side, what))

    def _before_layers(self, sites: _sites.Sites, able: np.ndarray) -> np.ndarray:
        """Return of sites that are able those outside of layers, where the point has some."""
        if self.layered is None or len(sites.elem) == len(sites.first) - 1:
            return able
        before = able & ~self.layered(self._mesh, sites.elem)
        some = np.logical_or.reduceat(before, sites.first[:-1])[sites.of_points()]
        return np.where(some, before, able)

    def at_points(self, placed: dict[str, Any]) -> np.ndarray:
        """See `Points`; of points that several cells share, that of the first one."""
        one = placed["first"][:-1] if "first" in placed else slice(None)
        return self.material_at(placed["elem"][one], placed["points"][one])

    def terms(self, sources: Sequence[Source]) -> tuple[dict[str, Any], Sequence[Source]]:
        """See `Points`."""
        for source in sources:
            source.check_physics(self.medium)
        points, owners, shares = each_point(sources)
        sites = self._inside(points, "source")[1]
        # The material that the solver has: a function of the user may give other values by now.
        materials, of = self.material_at(sites.elem, sites.places), sites.of_points()
        alike = _Alike(owners, of, materials)
        able = alike.each(lambda source, material: [self._carried(source, material)], self.medium)[:, 0]
        able |= ~np.logical_or.reduceat(able, sites.first[:-1])[of]  # a source in no cell says why
        able = self._before_layers(sites, able)
        sites, alike = sites.keep(able), alike.keep(able)
        rates = alike.each(self._rates, self.medium) * shares[sites.of_points(), None]
        return {
            "num_source": len(owners), "first": sites.first, "num_cell": len(rates), "elem": sites.elem,
            "places": sites.places, "rates": rates * sites.weights[:, None],
        }, owners  # fmt: skip

    def _carried(self, source: Source, material: dict[str, float]) -> bool:
        """Return whether a material can carry a source."""
        return source.carried(**material)

    def _rates(self, source: Source, material: dict[str, float]) -> list[float]:
        """Return the rates of a source in a material, as unda_source has them."""
        rates = source.rates_in(self.medium.physics, **material)
        return [rates.get(name, 0.0) for name in self.medium.fields]

    def binder(self) -> Callable[[Any], Any]:
        """See `Points`."""
        mesh = self._mesh
        return lambda solution: solution.bind(mesh)

    # ---- incident waves and exact outer data ----

    def wave(self, source: PlaneWave) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """See `Points`."""
        self._outer = None
        return source.driven(self._mesh, self.medium, self._material, self._boundaries)

    def forget_waves(self) -> None:
        """See `Points`."""
        self._outer = None

    def num_exact(self, solver: Solver) -> int:
        """See `Points`."""
        if not (self.has_outer or solver.waves):
            return 0
        return int(solver.info().num_exact) if self._outer is None else self._outer.num_point

    def exact(self, solver: Solver, times: np.ndarray) -> np.ndarray | None:
        """See `Points`."""
        if not (self.has_outer or solver.waves):
            return None
        if self._outer is None:
            num = int(solver.info().num_exact)
            shape = (-1, lib.unda_element_num_face_node(self._mesh._info.shape, self._degree))
            points, numbers = np.empty((num, 3)), np.empty(num, np.int32)
            to = _core.pointer(points, writable=True), _core.pointer(numbers, writable=True)
            solver.call(lib.unda_solver_exact_points, *to)
            self._outer = OuterData(
                self._boundaries, points.reshape(*shape, 3), numbers.reshape(shape),
                tuple(self.medium.fields), [(wave, count) for _, wave, count in solver.waves],
            )  # fmt: skip
        return self._outer(times)


class _Alike:
    """Sources at sites, those together that are one source in one material: of an array there are many."""

    def __init__(self, owners: Sequence[Source], of: np.ndarray, materials: np.ndarray) -> None:
        number = {key: i for i, key in enumerate(dict.fromkeys(map(id, owners)))}
        owner = np.fromiter((number[id(one)] for one in owners), np.int64, len(owners))[of]
        self._owners, self._of, self._materials = owners, of, materials
        if len(number) == len(owners):  # no array
            self._first = self._inverse = np.arange(len(of))
        else:
            rows = np.column_stack([owner, materials])
            _, self._first, self._inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)

    def keep(self, mask: np.ndarray) -> _Alike:
        """Return the same of some sites."""
        return self if mask.all() else _Alike(self._owners, self._of[mask], self._materials[mask])

    def each(self, work: Callable[[Source, dict[str, float]], Any], medium: Medium) -> np.ndarray:
        """Return rows that a function gives for the source and the material of each site."""
        names = tuple(medium.parameters)
        rows = [
            work(
                self._owners[self._of[i]].at_point(medium.physics),
                dict(zip(names, self._materials[i].tolist(), strict=True)),
            )
            for i in self._first.tolist()
        ]
        return np.array(rows)[self._inverse.reshape(-1)]


def _members(sites: _sites.Sites) -> dict[str, Any]:
    """Return sites as members of unda_receivers; where each point has one cell the weights are 1."""
    cells = {"num_point": len(sites.first) - 1, "points": sites.places, "elem": sites.elem}
    if len(sites.elem) == cells["num_point"]:
        return cells
    return {**cells, "first": sites.first, "weights": sites.weights}
