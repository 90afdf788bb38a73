"""MeshSimulation: the state of a wave on a mesh, cell by cell; the base of DG.

Not here: running (simulation.py), sources, receivers (solver.py), how a method is set up (dg.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._check import call_at, check_state, field_names, flag, integer, node_values, number
from .._core import lib
from ..errors import ArgumentError, UnstableError
from ..io.plotting import Plane
from ..problem.boundary import Boundaries, own_side
from ..problem.mesh import Mesh
from . import norms
from ._run_control import alone
from .check import Report, check
from .mesh_points import MeshPoints
from .simulation import Simulation

__all__ = ["MeshSimulation"]


class MeshSimulation(Simulation):
    """A wave on a mesh, in time; made by `unda.DG`.

    Attributes
    ----------
    mesh, medium
        As given.
    degree : int
        Of the polynomials.
    num_node : int
        Nodes of a cell.
    """

    mesh: Mesh
    degree: int
    num_node: int
    _boundaries: Boundaries
    _material: np.ndarray
    _points: MeshPoints

    @property
    def coordinates(self) -> np.ndarray:
        """Node coordinates (num_elem, num_node, 3) [m]."""
        x = np.empty((self.mesh.num_elem, self.num_node, 3))
        _core.check(lib.unda_solver_coordinates(self._live(), _core.pointer(x, writable=True)))
        return x

    @property
    def element_dt(self) -> np.ndarray:
        """Stable time step of each cell (num_elem,) [s]."""
        dt = np.empty(self.mesh.num_elem)
        _core.check(lib.unda_solver_element_dt(self._live(), _core.pointer(dt, writable=True)))
        return dt

    def rate(self, seconds: float, limits: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the rate of a stage of a given duration, and compare it with the machine's limits.

        Parameters
        ----------
        seconds : float
            Time of a stage (ab3: a step) [s].
        limits : dict, optional
            Of `device_limits`; measured now if omitted.

        Returns
        -------
        dict of str to float
            ``gdof_per_second``; ``gflops`` of the method's operations; ``gbytes_per_second`` of the
            compulsory traffic; ``percent_of_limit``: the time that the tighter of copy bandwidth and
            FMA rate allows, in percent of the time taken.
        """
        return self._rate_of(self.mesh.num_elem, seconds, limits)

    @alone
    def _read(self, array: int) -> np.ndarray:
        q = np.empty((self.mesh.num_elem, self.num_node, len(self.fields)), self.dtype)
        to = _core.pointer(q, writable=True)
        _core.check(lib.unda_solver_read(self._live(), array, 0, len(q), to))
        return q

    @alone
    def set(self, exact: Callable[..., Any] | None = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set fields and the clock.

        Parameters
        ----------
        exact : exact solution, optional
            Gives all fields.
        t : float
            The new time [s].
        **fields : array_like, float or callable
            A field by name: values (num_elem, num_node), a number, or f(x, y, z). Fields that are
            not given become 0.

        Raises
        ------
        ArgumentError
            Unknown fields, wrong shapes, values that are not finite, shear or unequal normal stresses in
            a fluid (elastic, vs = 0).
        """
        check_state(exact, fields, self.fields)
        t = number("t", t, "s")
        x = own_side(exact, self.coordinates)
        place = (x[..., 0], x[..., 1], x[..., 2])
        if exact is not None:
            fields = call_at("exact", self._points.bound(exact), place, t)
            if not isinstance(fields, Mapping):
                raise ArgumentError(
                    f"the exact solution gave {type(fields).__name__}, expected a dict of fields"
                )
        q = np.zeros((self.mesh.num_elem, self.num_node, len(self.fields)), self.dtype)
        for i, name in enumerate(self.fields):
            q[..., i] = node_values(name, fields.get(name, 0.0), place, self.dtype)
        self.medium._check_state(self._material, q, x)
        handle = self._live()
        self._half_set = True
        _core.check(lib.unda_solver_write(handle, lib.UNDA_STATE, 0, len(q), _core.pointer(q)))
        self._begin_at(t, self.fields if exact is not None else fields)

    def get(self, name: str) -> np.ndarray:
        """Return a field (num_elem, num_node), in the user's numbering of cells."""
        (name,) = field_names((name,), self.fields)
        return np.ascontiguousarray(self._read(lib.UNDA_STATE)[..., self.fields.index(name)])

    @alone
    def rhs(self) -> dict[str, np.ndarray]:
        """Return dq/dt at the present state and time, sources included, {field: (num_elem, num_node)}."""
        handle = self._live()
        _core.check(lib.unda_solver_rhs(handle, self._drive(np.array([self.t]))))
        q = self._read(lib.UNDA_RHS)
        return {name: np.ascontiguousarray(q[..., i]) for i, name in enumerate(self.fields)}

    def error(self, exact: Any, *, relative: bool = False) -> dict[str, float]:
        """Return the L2 error of each field against an exact solution at the present time.

        Parameters
        ----------
        exact : exact solution
        relative : bool
            Divide by the exact norm of the field's group (p, v; v, stress; E, H).

        Returns
        -------
        dict of str to float
            sqrt(integral (q - q_exact)^2 dV), by a cubature exact to degree 2 degree + 2.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then.
        """
        return norms.error(self, exact, relative=flag("relative", relative))

    def check(self) -> Report:
        """Look for common mistakes before the first step.

        Returns
        -------
        Report
            Nodes per shortest wavelength by tag, the ten cells with the smallest time step, and
            warnings, which `run` raises as `AccuracyWarning`: too few nodes, units that look wrong, sources
            on faces, receivers beside sources, receivers that record zero and sources without effect by
            construction, exact outer data of another medium. Notes: slivers, good conductors, sources of
            unknown frequency. Prints as text; true where there is no warning.

        Examples
        --------
        >>> print(sim.check())  # doctest: +SKIP
        """
        return check(self)

    def _blown_up(self, message: str) -> UnstableError:
        blowup, common = self._blowup()
        elem = common["element"]
        place = tuple(float(x) for x in self.mesh.centroids[elem])
        material = dict(zip(self.medium.parameters, map(float, self._material[elem]), strict=True))
        local_cfl = self.dt / float(self.element_dt[elem])
        return UnstableError(
            f"{message} at {place} m, {material}, t = {common['time']:.6g} s, "
            f"local CFL number {local_cfl:.3g}",
            **common, node=int(blowup.node), coordinates=place, material=material, local_cfl=local_cfl,
        )  # fmt: skip

    @alone
    def write_vtu(
        self, path: Any, fields: Sequence[str] | None = None, *, subdivide: int | None = None,
        series: Any = None,
    ) -> None:  # fmt: skip
        """Write fields for ParaView (VTU).

        Parameters
        ----------
        path : str or Path
        fields : sequence of str, optional
            All if omitted.
        subdivide : int, optional
            Intervals an edge of each cell is cut into; the degree if omitted, 1 for corners only.
        series : str or Path, optional
            A .pvd file, which ParaView opens as a series in time: the file is entered there once it is
            whole, instead of what had its name. One run at a time writes to a series.

        Raises
        ------
        ArgumentError, FileError

        Notes
        -----
        Point data: p; vectors v, E, H; the stress s, a symmetric tensor with components in VTK's order XX,
        YY, ZZ, XY, YZ, XZ; of a vector that is not wanted whole the fields, by their names. Cell data:
        element number, tag, materials. Field data: TimeValue [s], and ``sim.config`` as the bytes of a JSON
        text.

        Examples
        --------
        >>> def keep(sim):
        ...     sim.write_vtu(f"wave_{1e3 * sim.t:06.1f}_ms.vtu", series="wave.pvd")
        >>> sim.run(until=0.5, callback=keep, every=20)  # doctest: +SKIP
        """
        from ..io.vtu import write_vtu

        write_vtu(self, path, fields, subdivide, series)

    def _size(self) -> tuple[int, str]:
        return self.mesh.num_elem * self.num_node * len(self.fields), "DOF"

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        num = integer("num", num, 1, 10_000)
        across, up = (i for i in range(3) if i != axis)
        lower, size = np.array(self.mesh.lower), np.array(self.mesh.upper) - self.mesh.lower
        middle = (np.arange(num) + 0.5) / num
        points = np.empty((num, num, 3))
        points[..., axis] = value
        points[..., across] = lower[across] + size[across] * middle[None, :]
        points[..., up] = lower[up] + size[up] * middle[:, None]
        elem = self.mesh.locate(points.reshape(-1, 3))[0]
        inside = np.flatnonzero(elem >= 0)
        if inside.size == 0:
            low, high = lower[axis], lower[axis] + size[axis]
            raise ArgumentError(
                f"{'xyz'[axis]} is {value} m and meets no cell; the mesh goes from {low} to {high} m"
            )
        elem = elem[inside]
        channels = self._points.channels((field,))
        seen = {"points": points.reshape(-1, 3)[inside], "elem": elem}

        def filled(some: np.ndarray) -> np.ndarray:
            values = np.full(num * num, np.nan)
            values[inside] = some
            return values.reshape(num, num)

        def read() -> np.ndarray:
            with self._guard.visit():
                return filled(self._sample_at(channels, seen)[:, 0])

        def material(name: str) -> np.ndarray:
            return filled(self._material[elem, list(self.medium.parameters).index(name)])

        a, b = lower[across], lower[up]
        extent = float(a), float(a + size[across]), float(b), float(b + size[up])
        return Plane("xyz"[axis], value, extent, read, material, None)

    def _about(self) -> str:
        return (
            f"degree {self.degree}, {self.mesh.num_elem} tetrahedra, {self._size()[0]} DOF, "
            f"{self.config['flux']} flux, {self.config['integrator']}"
        )
