"""DG: nodal discontinuous Galerkin on meshes, scripted.

Not here: running it, its sources and receivers (simulation_*.py), numerics (csrc/dg, cuda/dg).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .. import _core
from .._check import call_at, check_state, field_names, flag, node_values, number
from .._core import lib
from .._units import plain
from ..errors import ArgumentError
from ..limits import choose_device
from ..problem._gridded import labelled
from ..problem._shapes import SHAPES
from ..problem.boundary import own_side
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ..problem.partition import Partition
from ..problem.rank_mesh import take_part
from . import norms, rank_layers, speed
from ._options import PRECISIONS, Given, Precision
from ._run_control import alone
from .check import Report, check
from .dg_options import dg_options
from .mesh_layer import LAYERS, MeshLayers, add_layers, look
from .mesh_points import MeshPoints
from .mesh_simulation import MeshSimulation
from .monitor_memory import add_monitors, cells_of, names_on_mesh
from .rank_points import RankPoints, same_medium
from .solver import forecast
from .team import team_of


class DG(MeshSimulation):
    """Nodal discontinuous Galerkin on a mesh of tetrahedra or hexahedra.

    Tetrahedra: Hesthaven & Warburton (2008). Hexahedra, which may be warped: products of Gauss-Lobatto
    points, also those of the quadrature (docs/dg.md).

    Parameters
    ----------
    mesh : Mesh
    medium : Acoustic, Elastic or Maxwell
        Equations and materials, constant in each cell or given by node (`Medium`, `per`).
    degree : int
        Degree of the polynomials, 1 to 9; on hexahedra 1 to 10, of each coordinate.
    boundary : dict of str to str or exact solution, optional
        Condition of each named boundary; "*" is the rest; absorbing everywhere if omitted. All media:
        "absorbing", a `CPML`, or an exact solution that gives the outer values.
        Acoustic: "rigid" (normal velocity 0), "free" (pressure 0). Elastic: "free" (traction 0), "fixed"
        (velocity 0), "symmetry" (normal velocity and shear traction 0). Maxwell: "pec" (tangential E
        0), "pmc" (tangential H 0). Sides that the mesh joins are "periodic".
    flux : {"upwind", "central"}
    integrator : {"lsrk4", "ab3"}
        Five-stage Runge-Kutta of order 4, or Adams-Bashforth of order 3.
    dt : float, optional
        Time step [s]; by default `cfl` times the stable limit.
    cfl : float
        Fraction of the stable limit.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str or list of str
        "auto" (UNDA_DEVICE, else the first usable CUDA device, else the CPU; the log says why), "cpu",
        "cuda", "cuda:1"; several CUDA devices: "cuda:all" or a list (docs/scaling.md).
    partition : {"curve", "metis"} or Partition
        Which cell belongs to which device or process (`Mesh.partition`).
    transport : {"auto", "peer", "host", "nccl", "mpi"}
        How values at faces travel (docs/scaling.md). "auto": "peer", but "host" where inner cells hide it.
    threads : int, optional
        CPU threads; by default all, fewer for small problems.
    allow_unstable : bool
        Accept dt above the limit.
    kernel : {"auto", "fused", "blocks", "tensor", "node", "element", "gemm", "microblock", "columns", ...}
        CUDA only (docs/kernel_options.md).
    kernel_options : dict of str to int or str, optional
        Options of the kernel, CUDA; and ``"metric"`` of hexahedra: "affine", "trilinear" or "stored".
    tune : bool
        Measure candidates for kernel and tile, unless done before; the fastest is printed and kept. Of a
        `kernel` that is named its options alone. CUDA only.
    comm : mpi4py.MPI.Intracomm, optional
        Processes that share the problem; all make the same calls.

    Attributes
    ----------
    mesh, medium
        As given, with layers.
    degree : int
    num_node : int
        Nodes of a cell.
    team : Team or None
        What each of several devices has.

    Raises
    ------
    ArgumentError
        Unknown words, uncovered boundaries, bad materials, dt above the limit.

    See Also
    --------
    SEM, FD, read_mesh

    Examples
    --------
    >>> import unda
    >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4))
    >>> medium = unda.Acoustic(rho=1.0, c=1.0)
    >>> mode = unda.exact.rigid_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 0))
    >>> sim = unda.DG(mesh, medium, degree=4, boundary={"*": "rigid"}, dtype="float64")
    >>> sim.set(mode)
    >>> sim.run(until=0.3)
    >>> sim.error(mode, relative=True)["p"] < 1e-3
    True
    """

    def __init__(
        self,
        mesh: Mesh | Callable[[], Mesh] | None,
        medium: Medium | None,
        *,
        degree: int = 4,
        boundary: Mapping[str, Any] | None = None,
        flux: Literal["upwind", "central"] = "upwind",
        integrator: Literal["lsrk4", "ab3"] = "lsrk4",
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Precision = "float32",
        device: str | Sequence[str] = "auto",
        partition: Literal["curve", "metis"] | Partition = "curve",
        transport: Literal["auto", "peer", "host", "nccl", "mpi"] = "auto",
        threads: int | None = None,
        allow_unstable: bool = False,
        kernel: Literal[
            "auto",
            "fused",
            "blocks",
            "tensor",
            "node",
            "element",
            "gemm",
            "microblock",
            "columns",
            "lines",
            "base",
            "f1",
            "f1s",
        ] = "auto",
        kernel_options: Mapping[str, int | str] | None = None,
        tune: bool = False,
        comm: Any = None,
    ) -> None:
        self._begin(Given(locals()), None)

    def _begin(self, given: Given, layers: MeshLayers | None) -> None:
        """Make the simulation, of layers that the mesh has or of those among its boundary conditions."""
        if layers or not rank_layers.add(given, lambda whole: add_layers(whole, None), LAYERS):
            add_layers(given, layers)
        ranks = take_part(given)
        if ranks is None:
            self._make(given)
        else:
            self.ranks = ranks
            ranks.together("DG", lambda: self._make(given))

    def _make(self, given: Given) -> None:
        """Make the simulation of these arguments of the constructor."""
        team = team_of(given) if self.ranks is None else None
        if flag("tune", given.tune):
            if given.kernel_options:
                raise ArgumentError(
                    f"kernel_options is {dict(given.kernel_options)}, expected none: tune=True chooses them"
                )
            from .rank_tune import tuned_part
            from .tune import tuned

            choose: Any = tuned if self.ranks is None else tuned_part
            given.device = choose_device(given.device)
            same = given.some("degree", "flux", "integrator", "dtype", "boundary", "cfl")
            given.kernel, given.kernel_options = choose(
                type(self), given.mesh, given.medium, given.device, same, given.kernel
            )
        if self.ranks is not None:
            given.medium, self._medium_config = same_medium(given.mesh, given.medium, given.degree)
        options, material, boundaries, chosen = dg_options(given)
        mesh, medium = given.mesh, given.medium
        self.degree, self.dtype = int(options.degree), np.dtype(PRECISIONS[options.precision])
        self.mesh, self._boundaries, self._layers = mesh, boundaries, given.layers
        self.medium, self.fields = medium, tuple(medium.fields)
        self._material = material[: self._num_elem]
        points = MeshPoints if self.ranks is None else RankPoints
        self._points = points(mesh, medium, self._material, boundaries, self.degree)
        self._points.layered = self._layers.cells if self._layers.sides else None
        self._new_solver(
            given, options, mesh._handle, team._given() if team else _core.NULL,
            None if self.ranks is None else mesh,
        )  # fmt: skip
        self.num_node = int(self._solver.info().num_node)
        if team is not None:
            nodes = int(lib.unda_element_num_face_node(SHAPES[mesh.shape], self.degree))
            team._take(self._solver, (nodes, len(self.fields), self.dtype.itemsize))
            self.team = team
        own = {
            "method": "DG",
            "degree": self.degree,
            "flux": given.flux,
            "integrator": given.integrator,
            "mesh": mesh.hash,
            "mesh_origin": mesh.origin,
            "boundary": boundaries.words,
        }
        if self._layers.sides:
            own["layers"] = self._layers.to_config()
        if team is not None:
            own["team"] = {"devices": list(team.devices), "transport": team.transport}
        self._complete(given, own, chosen)

    @classmethod
    def _with_layers(cls, config: Mapping[str, Any] | None, *places: Any, **keywords: Any) -> DG:
        """Make a simulation on a mesh that has layers already, as a configuration describes them."""
        sim = cls.__new__(cls)
        sim._begin(Given.of(cls, *places, **keywords), MeshLayers.from_config(config) if config else None)
        return sim

    @classmethod
    def forecast(
        cls, mesh: Mesh, medium: Medium, *, monitors: Sequence[Any] = (), **keywords: Any
    ) -> dict[str, int]:
        """Return the memory that a simulation would take, without making it.

        Parameters
        ----------
        mesh, medium, **keywords
            As for `DG`.
        monitors : sequence, optional
            Monitors that are to be added: "max", "min", "rms", or a dict of kind, frequencies and region as
            `add_monitor` takes them.

        Returns
        -------
        dict of str to int
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be. Of
            several devices also those of each: "part 0", "part 1", ...

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4))
        >>> medium = unda.Acoustic(rho=1.0, c=1.0)
        >>> unda.DG.forecast(mesh, medium, degree=3, device="cpu")["device"]
        0
        """
        given = Given.of(cls, mesh, medium, **keywords)
        add_layers(given, None)
        team = team_of(given)
        options = dg_options(given)[0]
        mesh = given.mesh
        found = forecast(mesh._handle, options, team._given() if team else _core.NULL)
        nodes = lib.unda_element_num_node(SHAPES[mesh.shape], options.degree)
        names = names_on_mesh(given.medium)
        return add_monitors(
            found, monitors, options, names, lambda region: len(cells_of(mesh, region)) * nodes
        )

    # ---- description ----

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
        return speed.rate(self, self._num_elem, seconds, limits)

    @alone
    def _read(self, array: int) -> np.ndarray:
        shape = (self._num_elem, self.num_node, len(self.fields))
        return self._solver.read(array, 0, np.empty(shape, self.dtype))

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
            not given become 0, and so do all in layers, unless an array has their cells as well.

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
        layered = self._layers.cells(self.mesh)[: self._num_elem]
        if exact is not None:
            fields = call_at("exact", self._points.bound(exact), place, t)
            if not isinstance(fields, Mapping):
                raise ArgumentError(
                    f"the exact solution gave {type(fields).__name__}, expected a dict of fields"
                )
        q = np.zeros((self._num_elem, self.num_node, len(self.fields)), self.dtype)
        for i, name in enumerate(self.fields):
            unit = self.medium.units[name]
            given = labelled(name, plain(name, fields.get(name, 0.0), unit), unit)
            given = given if exact is not None else self._beside_layers(name, given)
            q[..., i] = node_values(name, self._own_rows(given), place, self.dtype, unit)
            if np.ndim(given) < 2:
                q[layered, :, i] = 0.0
        self.medium._check_state(self._material, q, x)
        self._solver.live()
        self._half_set = True
        self._solver.write(lib.UNDA_STATE, 0, q)
        self._begin_at(t, self.fields if exact is not None else fields)

    def _beside_layers(self, name: str, value: Any) -> Any:
        """Return an array of the cells of the mesh as it was given with zeros in those added to it."""
        num, added = self._layers.num_given, self._num_whole - self._layers.num_given
        if not self._layers.sides or np.ndim(value) != 2 or len(value) != num or added == 0:
            return value
        if self.ranks is not None and num == self._num_elem:
            raise ArgumentError(
                f"{name} has rows for {num} cells, as many as the mesh had without layers and as this "
                f"process has; expected one for each of {self._num_whole} cells, or f(x, y, z)"
            )
        return np.concatenate([value, np.zeros((added, np.shape(value)[1]))])

    def get(self, name: str, *, gather: bool = False) -> Any:
        """Return a field (num_elem, num_node), in the user's numbering of cells.

        Parameters
        ----------
        name : str
        gather : bool
            Where processes share the problem: return the field of the whole mesh in process 0 and None in the
            others, instead of that of own cells (``mesh.own_cells``) in each.

        Returns
        -------
        ndarray, shape (num_elem, num_node), or None
            In the field's unit, ``medium.units``.

        Raises
        ------
        ArgumentError
            If there is no such field.
        """
        (name,) = field_names((name,), self.fields)
        own = np.ascontiguousarray(self._read(lib.UNDA_STATE)[..., self.fields.index(name)])
        return self._whole_rows(own, gather)

    def _stored(self, name: str) -> tuple[int, tuple[int, ...]]:
        (name,) = field_names((name,), self.fields)
        return self.fields.index(name), (self._num_elem, self.num_node)

    @alone
    def rhs(self) -> dict[str, np.ndarray]:
        """Return dq/dt at the present state and time, sources included, {field: (num_elem, num_node)}."""
        self._solver.call(lib.unda_solver_rhs, self._stepping.drive(np.array([self.t])))
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
            sqrt(integral (q - q_exact)^2 dV) outside layers, by a cubature exact to degree 2 degree + 2.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then.
        """
        without = self._layers.cells(self.mesh)[: self._num_elem] if self._layers.sides else None
        return norms.mesh_error(self, exact, relative=flag("relative", relative), without=without)

    def check(self) -> Report:
        """Look for common mistakes before the first step.

        Returns
        -------
        Report
            Nodes per shortest wavelength by tag, the ten cells with the smallest time step, and
            warnings, which `run` raises as `AccuracyWarning`: too few nodes, units that look wrong, sources
            on faces, receivers beside sources, receivers that record zero and sources without effect by
            construction, exact outer data of another medium, degree 1 on warped hexahedra, sources in
            layers, receivers in layers, layers across which the medium varies. Notes: slivers,
            good conductors, sources of unknown frequency. Prints as text; true where there is no warning.

        Examples
        --------
        >>> print(sim.check())  # doctest: +SKIP
        """

        def found() -> Report:
            report = check(self)
            look(self, report)
            return report

        return self._together("check", found)

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
        return self._num_whole * self.num_node * len(self.fields), "DOF"

    def _about(self) -> str:
        return (
            f"degree {self.degree}, {self._num_whole} {self.mesh._kind}, {self._size()[0]} DOF, "
            f"{self.config['flux']} flux, {self.config['integrator']}"
            + (f", {self._layers}" if self._layers.sides else "")
        )
