"""SEM: spectral elements on hexahedra, scripted.

Not here: running it, its sources and receivers (simulation_*.py), what its fields are (sem_fields.py),
numerics (csrc/sem).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from .. import _core
from .._check import check_state, field_names, flag, node_values, number
from .._core import lib
from .._units import plain
from ..errors import ArgumentError
from ..problem import mesh_damping
from ..problem._gridded import labelled
from ..problem.boundary import own_side
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ..problem.partition import Partition
from ..problem.rank_mesh import take_part
from . import norms, rank_layers, sem_check, speed
from ._options import PRECISIONS, Given, Precision
from ._run_control import alone
from .check import Report
from .mesh_simulation import MeshSimulation
from .monitor_memory import add_monitors, names_on_elements, shared_nodes_of
from .rank_points import same_medium
from .sem_fields import Nodal, SemFields
from .sem_motion import Motion
from .sem_options import sem_options
from .sem_points import SemPoints, SemRankPoints
from .solver import forecast
from .team import team_of


class SEM(MeshSimulation):
    """Spectral elements on a mesh of hexahedra, for elastic and acoustic waves, also coupled.

    Continuous polynomials on Gauss-Lobatto nodes, also those of the quadrature, with a diagonal mass matrix
    (Komatitsch & Tromp 1999); in time Newmark's explicit scheme, of order 2. Unknowns are the
    displacement in solids and, in fluids (of an elastic medium: cells with vs = 0), a potential chi:
    p = -chi'', rho u = grad chi. Without sources and absorbing sides a discrete energy is constant to
    rounding.

    Parameters
    ----------
    mesh : Mesh
        Of hexahedra.
    medium : Acoustic or Elastic
        Materials by cell or node (`Medium`, `per`).
    degree : int
        In each coordinate, 2 to 10.
    boundary : dict of str to str or Damping, optional
        Condition of each named boundary; "*" is the rest; absorbing everywhere if omitted. "absorbing":
        dashpots (Lysmer & Kuhlemeyer 1969). Acoustic: "rigid", "free" (pressure 0). Elastic: "free" (traction
        0), "fixed" (displacement 0; fluids slide), "symmetry" (normal displacement and shear traction 0).
        Sides that the mesh joins are "periodic". Or a `Damping` (thickness=).
    dt : float, optional
        Time step [s]; by default `cfl` times the stable limit, in which CPU and GPU may differ by 1e-4: give
        dt to runs that are compared.
    cfl : float
        Fraction of the stable limit.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str or list of str
        As for `DG`; results of several devices differ by rounding.
    partition, transport, comm
        As for `DG`.
    threads : int, optional
        CPU threads, by default as many as pay. Results do not depend on it.
    assembly : {"auto", "ordered", "colors", "atomic"}
        How a CUDA device sums forces that tiles of cells share: in a fixed order ("auto"); colour by colour;
        atomically, and then two runs differ by rounding.
    kernel_options : dict of str to int or str, optional
        "metric"; of CUDA devices "cells", "axes", "blocks", "ahead": docs/kernel_options.md.
    allow_unstable : bool
        Accept dt above it.

    Attributes
    ----------
    mesh, medium
        As given.
    degree : int
    num_node : int
        Nodes of a cell.
    fields : tuple of str
        The state: ux uy uz vx vy vz ax ay az of solids, chi chi_t chi_tt of fluids. Receivers, `get` and
        `write_vtu` also know "p", or stresses and "pressure", u, v, a of fluids, and without fluids
        "divergence" and "curl_x", "curl_y", "curl_z" of v.
    team : Team or None
        Several devices.

    Raises
    ------
    ArgumentError
        Unknown words, uncovered boundaries, bad materials, dt above the limit, Maxwell's equations.

    See Also
    --------
    DG, FD, read_mesh

    Notes
    -----
    Stresses jump between cells. A state that is set is an interpolant, whose accelerations have errors of a
    lower order. More in docs/sem.md.

    Examples
    --------
    >>> import unda
    >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
    >>> medium = unda.Acoustic(rho=1.0, c=1.0)
    >>> mode = unda.exact.rigid_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 0))
    >>> sim = unda.SEM(mesh, medium, degree=4, boundary={"*": "rigid"}, dtype="float64")
    >>> sim.set(mode)
    >>> sim.run(until=0.3)
    >>> sim.error(mode, relative=True)["vx"] < 1e-3
    True
    """

    def __init__(
        self,
        mesh: Mesh | Callable[[], Mesh] | None,
        medium: Medium | None,
        *,
        degree: int = 4,
        boundary: Mapping[str, Any] | None = None,
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Precision = "float32",
        device: str | Sequence[str] = "auto",
        partition: Literal["curve", "metis"] | Partition = "curve",
        transport: Literal["auto", "peer", "host", "nccl", "mpi"] = "auto",
        threads: int | None = None,
        assembly: Literal["auto", "ordered", "colors", "atomic"] = "auto",
        kernel_options: Mapping[str, int | str] | None = None,
        allow_unstable: bool = False,
        comm: Any = None,
    ) -> None:
        given = Given(locals())
        rank_layers.add(given, mesh_damping.settle, mesh_damping.LAYERS)
        ranks = take_part(given)
        if ranks is None:
            self._make(given)
        else:
            self.ranks = ranks
            ranks.together("SEM", lambda: self._make(given))

    def _make(self, given: Given) -> None:
        """Make the simulation of these arguments of the constructor."""
        if self.ranks is None:
            mesh_damping.settle(given)
        team, whole = team_of(given) if self.ranks is None else None, None
        if self.ranks is not None:
            whole = Given({**vars(given), "mesh": given.mesh.whole}) if given.mesh.whole else None
            given.medium, self._medium_config = same_medium(given.mesh, given.medium, given.degree)
        options, material, self._boundaries, chosen = sem_options(given)
        mesh, medium = given.mesh, given.medium
        self.degree, self.dtype = int(options.degree), np.dtype(PRECISIONS[options.precision])
        self.mesh, self.medium = mesh, medium
        self._material = material[: self._num_elem]
        columns = self._material[:, 0]
        fluid = columns[:, 2] == 0.0 if medium.physics == "elastic" else np.ones(len(columns), bool)
        has_fluid, self._fluid = bool(fluid.any()), fluid
        if self.ranks is not None:
            has_fluid = self.ranks.most(has_fluid) > 0
        self._known = SemFields(medium, has_fluid)
        self.fields = self._known.state
        points = SemPoints if self.ranks is None else SemRankPoints
        self._points = points(mesh, medium, self._material, self._boundaries, self.degree)
        self._points.fields = self._known
        self._new_solver(
            given,
            sem_options(whole)[0] if whole is not None else options,  # process 0 makes the tables for all
            mesh._handle,
            team._given() if team else _core.NULL,
            None if self.ranks is None else mesh,
        )
        self.num_node = int(self._solver.info().num_node)
        if team is not None:
            team._take(self._solver)
            self.team = team
        own = {
            "method": "SEM",
            "degree": self.degree,
            "mesh": mesh.hash,
            "mesh_origin": mesh.origin,
            "boundary": self._boundaries.to_config(),
        }
        if team is not None:
            own["team"] = {"devices": list(team.devices), "transport": team.transport}
        self._complete(given, own, chosen)

    @classmethod
    def forecast(
        cls, mesh: Mesh, medium: Medium, *, monitors: Sequence[Any] = (), **keywords: Any
    ) -> dict[str, int]:
        """Return the memory that a simulation would take, without making it.

        Parameters
        ----------
        mesh, medium, **keywords
            As for `SEM`.
        monitors : sequence, optional
            Monitors that are to be added: "max", "min", "rms", or a dict of kind, frequencies and region as
            `add_monitor` takes them; nodes are kept in rows of 64, of which a region may have parts.

        Returns
        -------
        dict of str to int
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be. Of
            several devices also those of each: "part 0", "part 1", ...

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
        >>> unda.SEM.forecast(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3)["device"]
        0
        """
        given = Given.of(cls, mesh, medium, **keywords)
        mesh_damping.settle(given)
        team = team_of(given)
        options, material, *_ = sem_options(given)
        found = forecast(given.mesh._handle, options, team._given() if team else _core.NULL)
        mesh, degree = given.mesh, int(options.degree)
        kind = "cpu" if options.device == lib.UNDA_DEVICE_CPU else "cuda"
        has_fluid = given.medium.physics == "acoustic" or bool((material[:, 0, 2] == 0.0).any())
        names = names_on_elements(given.medium, has_fluid)
        return add_monitors(
            found, monitors, options, names, lambda region: shared_nodes_of(mesh, degree, region, kind)
        )

    # ---- description ----

    def rate(self, seconds: float, limits: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the rate of a step of a given duration, and compare it with the machine's limits.

        Parameters
        ----------
        seconds : float
            Time of a step [s].
        limits : dict, optional
            Of `device_limits`; measured now if omitted.

        Returns
        -------
        dict of str to float
            ``gdof_per_second``, unknowns of shared nodes counted once; ``gflops`` of the method's operations;
            ``gbytes_per_second`` of the compulsory traffic; ``percent_of_limit``: the time that the
            tighter of copy bandwidth and FMA rate allows, in percent of the time taken.
        """
        return speed.rate(self, self._num_elem, seconds, limits)

    # ---- state ----

    @alone
    def _read(self) -> np.ndarray:
        shape = (self._num_elem, self.num_node, len(self.fields))
        return self._solver.read(lib.UNDA_STATE, 0, np.empty(shape, self.dtype))

    @alone
    def set(self, exact: Callable[..., Any] | None = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set displacement, velocity and potential, and the clock.

        Parameters
        ----------
        exact : exact solution, optional
            Gives all fields: one that is sinusoidal in time, or a plane wave of a time function that has an
            integral; of others displacement and potential are not known. Or f(x, y, z, t) that returns
            them by name.
        t : float
            The new time [s].
        **fields : array_like, float or callable
            ux uy uz vx vy vz in solids, chi and chi_t in fluids: values (num_elem, num_node), a number, or
            f(x, y, z). Fields that are not given become 0. Walls remove what they do not allow.

        Raises
        ------
        ArgumentError
            Unknown fields, wrong shapes, values that are not finite, fields with several values at a node.
        """
        known = self._known.initial
        for name in fields:
            if name in self._known.units and name not in known:
                raise ArgumentError(
                    f"{name} follows from other fields: set {', '.join(known)} (p = -chi_tt, rho u = "
                    "grad chi), or an exact solution"
                )
        check_state(exact, fields, known)
        t = number("t", t, "s")
        motion = None if exact is None else self._points.bound(exact)
        x = own_side(motion, self.coordinates)
        place = (x[..., 0], x[..., 1], x[..., 2])
        if motion is not None:
            fields = self._moving(motion, place, t)
        q = np.zeros((self._num_elem, self.num_node, len(self.fields)), self.dtype)
        for name in known:
            there = self._fluid if name.startswith("chi") else ~self._fluid
            unit = self._known.units[name]
            given = self._own_rows(labelled(name, plain(name, fields.get(name, 0.0), unit), unit))
            q[there, :, self.fields.index(name)] = node_values(name, given, place, self.dtype, unit)[there]
        self._solver.live()
        self._half_set = True
        self._solver.write(lib.UNDA_STATE, 0, q)
        self._begin_at(t, known if exact is not None else fields)

    def _moving(self, motion: Any, place: tuple[np.ndarray, ...], t: float) -> dict[str, Any]:
        """Return the fields of an exact solution at nodes."""
        if not motion.is_known:
            raise ArgumentError(
                f"{motion.exact!r} gives velocity and stress or pressure; expected a solution whose "
                "displacement or potential is known too: sinusoidal in time, a plane wave of a time function "
                "with an integral, or f(x, y, z, t) that returns fields such as ux or chi"
            )
        return self._fields_of(motion, place, t)

    @staticmethod
    def _fields_of(motion: Any, place: tuple[np.ndarray, ...], t: float) -> dict[str, Any]:
        fields = motion(*place, t)
        if not isinstance(fields, Mapping):
            raise ArgumentError(f"the exact solution gave {type(fields).__name__}, expected a dict of fields")
        return dict(fields)

    def get(self, name: str, *, gather: bool = False) -> Any:
        """Return a field (num_elem, num_node), in the user's numbering of cells.

        Parameters
        ----------
        name : str
            One of `fields`, or another that receivers can record: stresses and velocities of fluids are those
            of each cell's polynomial.
        gather : bool
            As for `DG.get`, which says what is returned and raised.
        """
        (name,) = field_names((name,), tuple(self._known.units))
        own = np.ascontiguousarray(Nodal(self, self._read())(name).astype(self.dtype))
        return self._whole_rows(own, gather)

    def _stored(self, name: str) -> tuple[int, tuple[int, ...]] | None:
        (name,) = field_names((name,), tuple(self._known.units))
        if name not in self.fields or ("chi" in self.fields and not name.startswith("chi")):
            return None  # derived, of some cells at least
        return self.fields.index(name), (self._num_elem, self.num_node)

    @alone
    def energy(self) -> float:
        """Return the energy of the step from the present time on [J].

        It is what steps conserve to rounding, without sources and absorbing sides: with v+ at the middle of
        the step and u+ at its end, (v+ M v+ + u K u+) / 2, in fluids (chi_t+ K chi_t+ + chi_tt M chi_tt+) /
        2. It differs from the energy of the present state by O(dt^2).
        """
        return super().energy()

    def error(self, exact: Any, *, relative: bool = False) -> dict[str, float]:
        """Return the L2 error of each field against an exact solution at the present time.

        Parameters
        ----------
        exact : exact solution
        relative : bool
            Divide by the exact norm of the field's group (p, v, u; v, u, stress).

        Returns
        -------
        dict of str to float
            sqrt(integral (q - q_exact)^2 dV), by a cubature exact to degree 2 degree + 2, of the fields that
            the solution gives; the displacement too where it is known.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then. If it gives no field that
            is known here.
        """
        relative = flag("relative", relative)
        motion = self._points.bound(exact)
        if not isinstance(motion, Motion) or motion.singular:
            return norms.mesh_error(self, exact, relative=relative)  # says why not
        x, y, z = self.mesh.centroids[:1].T
        given = self._fields_of(motion, (x, y, z), self.t)
        is_fluid = self._is_fluid()
        names = [
            name for name in given if name in self._known.units and (is_fluid or not name.startswith("chi"))
        ]
        if not names:
            raise ArgumentError(
                f"the exact solution gives {', '.join(map(str, given)) or 'no fields'}; expected some of "
                f"{', '.join(self._known.units)}"
            )
        shown, state = self._shown(names), self._read()
        nodal = Nodal(self, state)
        q = np.stack([nodal(name) for name in names], axis=-1)
        shown._read = lambda _: q
        shown._points = SimpleNamespace(bound=lambda solution: solution)
        return norms.mesh_error(shown, motion, relative=relative)

    def _shown(self, names: Sequence[str]) -> Any:
        """Return this simulation as one whose fields are these names."""
        groups = {
            group: tuple(name for name in members if name in names)
            for group, members in self._known.groups.items()
            if any(name in names for name in members)
        }
        medium = SimpleNamespace(
            field_groups=groups, parameters=self.medium.parameters, physics=self.medium.physics
        )
        return SimpleNamespace(
            mesh=self.mesh, degree=self.degree, dtype=self.dtype, t=self.t, fields=tuple(names),
            medium=medium, coordinates=self.coordinates, config=self.config, _material=self._material,
            get=self.get, ranks=self.ranks,
        )  # fmt: skip

    def _is_fluid(self) -> bool:
        """Return whether all cells are fluids, those of other processes too."""
        own = bool(self._fluid.all())
        return own if self.ranks is None else self.ranks.least(own) > 0

    def check(self) -> Report:
        """Look for common mistakes before the first step.

        Returns
        -------
        Report
            Nodes per shortest wavelength by tag, the ten cells with the smallest time step, and warnings,
            which `run` raises as `AccuracyWarning`: as for `DG.check`, and by how much waves run ahead at the
            farthest receiver. Prints as text; true where there is no warning.
        """
        return self._together("check", lambda: sem_check.check(self))

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
            What `get` knows; displacement and what the medium has if omitted.
        subdivide, series
            As for `DG.write_vtu`.

        Raises
        ------
        ArgumentError, FileError
        """
        from ..io.vtu import write_vtu

        usual = ("ux", "uy", "uz", *self._known.usual)
        names = field_names(usual if fields is None else fields, tuple(self._known.units))
        write_vtu(self._shown(names), path, names, subdivide, series)

    def to_pyvista(self, fields: str | Sequence[str] | None = None, *, subdivide: int | None = None) -> Any:
        """Return fields as an unstructured grid of PyVista; needs pyvista.

        Parameters
        ----------
        fields : str or sequence of str, optional
            As for `write_vtu`.
        subdivide : int, optional
            As for `DG.to_pyvista`.

        Returns
        -------
        pyvista.UnstructuredGrid
            With the data of `write_vtu`; where processes share the problem, own cells.

        Examples
        --------
        >>> sim.to_pyvista("vz").slice(normal="y").plot(cmap="RdBu_r")  # doctest: +SKIP
        """
        from ..io.volume import mesh_data

        usual = ("ux", "uy", "uz", *self._known.usual)
        names = field_names(usual if fields is None else fields, tuple(self._known.units))
        return self._together("to_pyvista", lambda: mesh_data(self._shown(names), names, subdivide))

    def _size(self) -> tuple[int, str]:
        info = self._solver.info()
        return int(info.num_dof), "DOF"

    def _about(self) -> str:
        layers = ", ".join(f"{one.thickness:g} m at {name}" for name, one in self._boundaries.layers.items())
        return (
            f"degree {self.degree}, {self._num_whole} {self.mesh._kind}, {self._size()[0]} DOF"
            f"{f', damped within {layers}' if layers else ''}"
        )
