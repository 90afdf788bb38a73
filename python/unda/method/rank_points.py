"""Points in a mesh that processes share: process 0, which has the whole mesh, finds them for all.

Each process then has every source and receiver, with their cells' numbers in the whole mesh; the library
picks those of its own (csrc/dg/team_points.c). Exact outer data and incident waves are those of own faces
alone. Next: mesh_points.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError
from ..problem.boundary import Boundaries
from ..problem.incident import PlaneWave
from ..problem.medium import Medium
from ..problem.rank_mesh import RankMesh
from ..problem.source import Source
from .mesh_points import MeshPoints
from .points import each_point


class _Rows:
    """Materials of some cells of the whole mesh, as an array of all would give them."""

    def __init__(self, cells: np.ndarray, rows: np.ndarray) -> None:
        self._cells, self._rows, self.shape = cells, rows, rows.shape

    def __getitem__(self, cells: np.ndarray) -> np.ndarray:
        return self._rows[np.searchsorted(self._cells, cells)]


class RankPoints(MeshPoints):
    """As `MeshPoints`, of the part of a process; every call is one of all processes."""

    _mesh: RankMesh
    _kind: type[MeshPoints] = MeshPoints  # of the whole mesh

    def __init__(
        self, mesh: RankMesh, medium: Medium, material: np.ndarray, boundaries: Boundaries, degree: int
    ) -> None:
        super().__init__(mesh, medium, material, boundaries, degree)
        self._ranks = mesh.ranks
        self._whole = (
            None if mesh.whole is None else self._kind(mesh.whole, medium, material, boundaries, degree)
        )

    def _rows(self, cells: np.ndarray) -> np.ndarray:
        """Return the materials of cells of the whole mesh, which their processes have."""
        rows = np.zeros((len(cells), *self._material.shape[1:]))
        mine, at = self._mesh.local(cells)
        rows[mine] = self._material[at]
        return self._ranks.united(rows)

    def _first(self, what: str, points: Any, work: Callable[[MeshPoints], Any]) -> Any:
        """Return what process 0 finds out, which knows the materials where these points are."""

        def cells() -> np.ndarray:
            assert self._whole is not None
            return np.unique(self._whole._inside(points, what)[1].elem)

        return self._of_cells(what, self._ranks.first(what, cells), work)

    def _of_cells(self, what: str, cells: np.ndarray, work: Callable[[MeshPoints], Any]) -> Any:
        """Return what process 0 finds out, which knows the materials of some cells, ascending."""
        rows = self._rows(cells)

        def asked() -> Any:
            assert self._whole is not None
            self._whole._material = _Rows(cells, rows)  # type: ignore[assignment]
            self._whole.layered = self.layered
            return work(self._whole)

        return self._ranks.first(what, asked)

    def material_at(self, elem: np.ndarray, places: np.ndarray) -> np.ndarray:
        """See `MeshPoints`; cells are those of the whole mesh."""
        return self._of_cells(  # type: ignore[no-any-return]
            "materials", np.unique(elem), lambda whole: whole.material_at(elem, places)
        )

    def place(self, points: ArrayLike, what: str, side: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """See `Points`."""
        return self._first(what, points, lambda whole: whole.place(points, what, side))  # type: ignore[no-any-return]

    def terms(self, sources: Sequence[Source]) -> tuple[dict[str, Any], Sequence[Source]]:
        """See `Points`."""
        points, owners, _ = each_point(sources)
        return self._first("source", points, lambda whole: MeshPoints.terms(whole, sources)[0]), owners

    def wave(self, source: PlaneWave) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """See `Points`."""
        self._outer = None
        mesh = self._mesh
        own = self._material[: mesh.num_owned]
        material = self._ranks.gathered(own, mesh.own_cells, mesh.num_whole)

        def driven() -> Any:
            assert mesh.whole is not None and material is not None
            elem, face, sign, wave = source.driven(mesh.whole, self.medium, material, self._boundaries)
            return elem, face, sign, wave.medium

        elem, face, sign, background = self._ranks.first("incident wave", driven)
        mine, at = mesh.local(elem)
        return at, face[mine], sign[mine], source.incident(background)


def same_medium(mesh: RankMesh, medium: Any, degree: int) -> tuple[Medium, dict[str, Any]]:
    """Return the medium of a process, and what its whole is in files.

    Every process gives it, or process 0 alone: then each gets the values of its cells.
    """
    ranks = mesh.ranks
    given = ranks.comm.allgather(medium is not None)
    config: dict[str, Any] = ranks.first("medium", lambda: _checked(medium).to_config())
    if all(given):
        return ranks.together("medium", lambda: _checked(medium)), config
    if any(given[1:]):
        raise ArgumentError(
            f"processes {[i for i, one in enumerate(given) if one]} have a medium, expected it in all or in "
            "process 0 alone"
        )
    kind, per = ranks.first("medium", lambda: (type(medium), medium.per))
    cells: Any = ranks.comm.gather(mesh.global_cells, root=0)
    table: Any = ranks.together(
        "medium", lambda: medium._in_cells(mesh.whole, degree) if ranks.rank == 0 else None
    )
    rows = ranks.scattered((lambda rank: table[cells[rank]]) if ranks.rank == 0 else None)
    columns = np.moveaxis(rows if per == "node" else rows[:, 0], -1, 0)
    values = dict(zip(kind.parameters, map(np.ascontiguousarray, columns), strict=True))
    own = ranks.together("medium", lambda: kind(per=per, **values))
    for value in own._values.values():
        value.of_part = True
    return own, config


def _checked(medium: Any) -> Medium:
    if not isinstance(medium, Medium):
        raise ArgumentError(f"medium is {medium!r}, expected a medium such as unda.Acoustic")
    return medium
