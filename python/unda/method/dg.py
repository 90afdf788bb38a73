"""DG: nodal discontinuous Galerkin on tetrahedra, scripted.

Sets up a problem. Not here: running it (simulation.py), numerics (csrc/dg, cuda/dg).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .. import _core
from .._check import choice, flag, integer
from ..errors import ArgumentError
from ..limits import choose_device
from ..problem.boundary import Boundaries
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ._options import PRECISIONS, Given, Precision, common_options, kernel_choice
from .mesh_points import MeshPoints
from .mesh_simulation import MeshSimulation
from .solver import forecast

__all__ = ["DG"]


class DG(MeshSimulation):
    """Nodal discontinuous Galerkin on a mesh of tetrahedra (Hesthaven & Warburton 2008).

    Parameters
    ----------
    mesh : Mesh
    medium : Acoustic, Elastic or Maxwell
        Equations and materials, constant in each cell.
    degree : int
        Degree of the polynomials, 1 to 9.
    boundary : dict of str to str or exact solution, optional
        Condition of each named boundary; "*" is the rest; absorbing everywhere if omitted. All media:
        "absorbing", or an exact solution that gives the outer values (each name may have its own).
        Acoustic: "rigid" (normal velocity 0), "free" (pressure 0). Elastic: "free" (traction 0), "fixed"
        (velocity 0), "symmetry" (normal velocity and shear traction 0). Maxwell: "pec" (tangential E
        0), "pmc" (tangential H 0). Sides that the mesh joins are "periodic".
    flux : {"upwind", "central"}
    integrator : {"lsrk4", "ab3"}
        Five-stage Runge-Kutta of order 4, or Adams-Bashforth of order 3.
    dt : float, optional
        Time step [s]; by default `cfl` times the stable limit.
    cfl : float
        Fraction of the stable limit to use.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str
        "auto" (what the environment variable UNDA_DEVICE says, else the first CUDA device that can be
        used, else the CPU; the log says why), "cpu", "cuda" or "cuda:1".
    threads : int, optional
        CPU threads; if omitted, all that the process may use, or fewer for small problems, whose steps are
        too short to start more.
    allow_unstable : bool
        Accept a dt above the stable limit.
    kernel : {"auto", "fused", "node", "element"}
        CUDA: all in one; volume, surface and update apart; one element per thread.
    kernel_options : dict of str to int, optional
        Options of the kernel (docs/kernel_options.md); the others come from the degree's table.
        CUDA only.
    tune : bool
        Measure the candidates for kernel and tile on this device, unless that has been done before; the
        fastest is printed, and stored with the compiled kernels. CUDA only; no effect on the CPU.

    Raises
    ------
    ArgumentError
        Unknown words, uncovered boundaries, bad materials, a dt above the limit.

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
        mesh: Mesh,
        medium: Medium,
        *,
        degree: int = 4,
        boundary: Mapping[str, Any] | None = None,
        flux: Literal["upwind", "central"] = "upwind",
        integrator: Literal["lsrk4", "ab3"] = "lsrk4",
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Precision = "float32",
        device: str = "auto",
        threads: int | None = None,
        allow_unstable: bool = False,
        kernel: Literal["auto", "fused", "node", "element"] = "auto",
        kernel_options: Mapping[str, int] | None = None,
        tune: bool = False,
    ) -> None:
        given = Given(locals())
        if flag("tune", tune):
            if kernel != "auto" or kernel_options:
                raise ArgumentError("tune=True chooses kernel and kernel_options; leave both out")
            from .tune import tuned

            given.device = choose_device(device)
            same = given.some("degree", "flux", "integrator", "dtype", "boundary", "cfl")
            given.kernel, given.kernel_options = tuned(type(self), mesh, medium, given.device, same)
        options, self._material, boundaries, chosen = self._options(given)
        self.degree, self.dtype = int(options.degree), np.dtype(PRECISIONS[options.precision])
        self.mesh, self._boundaries = mesh, boundaries
        self._points = MeshPoints(mesh, medium, self._material, boundaries, self.degree)
        self._start_solver(medium, options, flag("allow_unstable", allow_unstable), mesh._handle)
        self.num_node = int(self._info().num_node)
        self.config = {
            "method": "DG",
            "degree": self.degree,
            "flux": flux,
            "integrator": integrator,
            "dtype": self.dtype.name,
            "cfl": float(options.cfl),
            "sample_dt": None if sample_dt is None else float(sample_dt),
            "allow_unstable": allow_unstable,
            "mesh": mesh.hash,
            "mesh_origin": mesh.origin,
            "boundary": boundaries.words,
            **self._resolved(chosen),
        }

    @staticmethod
    def _options(given: Given) -> tuple[Any, np.ndarray, Boundaries, str]:
        """Return the library's options, the materials (num_elem, num_material), boundaries and device."""
        mesh, medium = given.mesh, given.medium
        if not isinstance(mesh, Mesh):
            raise ArgumentError(f"mesh is {mesh!r}, expected a Mesh")
        if not isinstance(medium, Medium):
            raise ArgumentError(f"medium is {medium!r}, expected a medium such as unda.Acoustic")
        physics = getattr(_core.lib, f"UNDA_{medium.physics.upper()}", None)
        if physics is None:
            raise ArgumentError(
                f"DG solves acoustic, elastic and maxwell media; the medium is {medium.physics}"
            )
        material = medium.on(mesh)
        material.setflags(write=False)
        boundaries = Boundaries.of(mesh, medium, given.boundary)
        common, chosen = common_options(given)
        options = _core.new_struct(
            "unda_solver_options",
            **common,
            physics=physics,
            degree=integer("degree", given.degree, 1, 9),
            flux=choice("flux", given.flux, ("upwind", "central")),
            integrator=choice("integrator", given.integrator, ("lsrk4", "ab3")),
            material=material,
            boundary=boundaries.codes,
            **kernel_choice(given.kernel, given.kernel_options),
        )
        return options, material, boundaries, chosen

    @classmethod
    def forecast(cls, mesh: Mesh, medium: Medium, **keywords: Any) -> dict[str, int]:
        """Return the memory that a simulation would take, without making it.

        Parameters
        ----------
        mesh, medium, **keywords
            As for `DG`.

        Returns
        -------
        dict of str to int
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4))
        >>> medium = unda.Acoustic(rho=1.0, c=1.0)
        >>> unda.DG.forecast(mesh, medium, degree=3, device="cpu")["device"]
        0
        """
        return forecast(mesh._handle, cls._options(Given.of(cls, mesh, medium, **keywords))[0])
