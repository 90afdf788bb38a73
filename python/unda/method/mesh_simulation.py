"""What simulations on a mesh have alike: own cells where processes share the mesh, all of them elsewhere.

Next: dg.py, sem.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .. import _core
from .._check import flag
from .._core import lib
from ..errors import UnstableError
from ..io.plotting import Plane
from ..problem import surface
from ..problem.grid import Grid
from ..problem.rank_mesh import RankMesh
from . import mesh_blowup, mesh_plane
from .simulation import Simulation

_Found = TypeVar("_Found")


class MeshSimulation(Simulation):
    """A simulation on a mesh, or on a process's part of one."""

    mesh: Any
    degree: int
    num_node: int

    @property
    def _num_elem(self) -> int:
        """Cells whose values this process has."""
        return int(self.mesh.num_elem if self.ranks is None else self.mesh.num_owned)

    @property
    def _num_whole(self) -> int:
        """Cells of the whole mesh."""
        return self.mesh.num_whole if isinstance(self.mesh, RankMesh) else int(self.mesh.num_elem)

    @property
    def coordinates(self) -> np.ndarray:
        """Node coordinates (num_elem, num_node, 3) [m]; cells list the nodes of a common face each."""
        return np.asarray(self.mesh.coordinates(self.degree)[: self._num_elem])

    @property
    def element_dt(self) -> np.ndarray:
        """Stable time step of each cell (num_elem,) [s]; of SEM an estimate, of the cell alone."""
        dt = np.empty(self._num_elem)
        self._solver.call(lib.unda_solver_element_dt, _core.pointer(dt, writable=True))
        return dt

    def _own_rows(self, value: Any) -> Any:
        """Return the rows of own cells of an array of the whole mesh; anything else as it is."""
        if self.ranks is None or np.ndim(value) != 2 or np.shape(value)[0] != self.mesh.num_whole:
            return value
        return np.asarray(value)[self.mesh.own_cells]

    def _whole_rows(self, own: np.ndarray, gather: bool) -> Any:
        """Return what `get` gives of own cells' values: these, or all cells' in process 0 alone."""
        if not flag("gather", gather) or self.ranks is None:
            return own
        return self.ranks.gathered(own, self.mesh.own_cells, self.mesh.num_whole)

    def _in_all_cells(self, own: np.ndarray) -> Any:
        """Return the rows of all cells in the process that has the whole mesh, and None in the others."""
        return self._whole_rows(own, True)

    def _of_whole(self, what: str, work: Callable[[Any], _Found]) -> _Found:
        """Return in every process what a function of the whole mesh finds, in the process that has it."""
        if self.ranks is None:
            return work(self.mesh)
        return self.ranks.first(what, lambda: work(self.mesh.whole))

    def _heights(self, boundary: Any, xy: np.ndarray) -> np.ndarray:
        name = surface.boundary_named(boundary, self.mesh.boundary_names)
        return self._of_whole("heights", lambda mesh: surface.heights(mesh, name, xy))

    def _blown_up(self, message: str) -> UnstableError:
        return mesh_blowup.unstable(self, message)

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        return mesh_plane.plane(self, field, axis, value, num)

    def to_pyvista(self, fields: str | Sequence[str] | None = None, *, subdivide: int | None = None) -> Any:
        """Return fields as an unstructured grid of PyVista; needs pyvista.

        Parameters
        ----------
        fields : str or sequence of str, optional
            All if omitted.
        subdivide : int, optional
            Intervals an edge of each cell is cut into; the degree if omitted, 1 for corners only.

        Returns
        -------
        pyvista.UnstructuredGrid
            With the data of `DG.write_vtu`; where processes share the problem, own cells.

        Examples
        --------
        >>> sim.to_pyvista("p").slice(normal="y").plot(cmap="RdBu_r")  # doctest: +SKIP
        """
        from ..io.volume import mesh_data

        return self._together("to_pyvista", lambda: mesh_data(self, fields, subdivide))

    def to_xarray(self, fields: str | Sequence[str] | None = None, *, grid: Grid | None = None) -> Any:
        """Return fields as a dataset of xarray; needs xarray.

        Parameters
        ----------
        fields : str or sequence of str, optional
            Fields, and parameters of the medium such as "c"; all fields if omitted. With `grid` also derived
            quantities, as for `add_receivers`.
        grid : Grid, optional
            Sample the polynomials at the nodes of a grid.

        Returns
        -------
        xarray.Dataset
            Variables (cell, node), as `get` has them, with coordinates x, y, z (cell, node) [m] and tag
            (cell). With `grid` variables (x, y, z), NaN where there is no cell. ``attrs["units"]`` of each
            is its unit; ``attrs`` of the dataset: time [s], and config as JSON. Where processes share the
            problem: in process 0; None in the others, but with `grid`, which gives all to each.

        Examples
        --------
        >>> fine = unda.Grid((101, 1, 101), 1.0, origin=(0, 50, 0))  # doctest: +SKIP
        >>> sim.to_xarray("p", grid=fine).p.isel(y=0).plot()  # doctest: +SKIP
        """
        from ..io.labelled import mesh_fields

        return self._together("to_xarray", lambda: mesh_fields(self, fields, grid))
