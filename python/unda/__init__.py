"""unda: waves in the time domain, on CPUs and GPUs: acoustic, elastic and Maxwell.

>>> import unda
>>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
>>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2)
>>> sim.run(until=0.01)

The path says what is inside: `problem` (meshes, media, boundaries, sources), `method` (simulations,
receivers), `io` (files and pictures), `exact` (solutions to compare with).
"""

from . import datasets, exact
from ._core import version as _version
from .errors import (
    AccuracyWarning,
    ArgumentError,
    BusyError,
    CompileError,
    DeviceError,
    DeviceLostError,
    Error,
    FileError,
    ForkError,
    MeshError,
    OutOfMemoryError,
    UndaWarning,
    UnstableError,
)
from .io.checkpoint import load
from .io.mesh_file import read_mesh
from .io.model_file import read_model
from .io.traces import load_receivers
from .limits import device_limits, devices
from .method.dg import DG
from .method.far_field import FarField
from .method.fd import FD
from .method.monitor import Monitor
from .method.receiver import Receivers
from .method.sem import SEM
from .problem.array import Array
from .problem.grid import Grid
from .problem.incident import PlaneWave
from .problem.layer import CPML, Damping
from .problem.mapped_mesh import mapped_mesh
from .problem.medium import EPS0, MU0, Acoustic, Elastic, Maxwell
from .problem.mesh import Mesh, box_mesh
from .problem.partition import Partition
from .problem.rank_mesh import scatter
from .problem.source import CurrentDipole, MomentTensor, PointForce, VolumeInjection
from .problem.timefunction import chirp, gaussian, ricker, sampled, smooth_bump, step, tone_burst
from .study.convergence import Convergence, convergence
from .study.plan import Plan, Proposal, plan
from .sweep import iter_sweep, sweep

__version__ = _version()

__all__ = [
    "CPML",
    "DG",
    "EPS0",
    "FD",
    "MU0",
    "SEM",
    "AccuracyWarning",
    "Acoustic",
    "ArgumentError",
    "Array",
    "BusyError",
    "CompileError",
    "Convergence",
    "CurrentDipole",
    "Damping",
    "DeviceError",
    "DeviceLostError",
    "Elastic",
    "Error",
    "FarField",
    "FileError",
    "ForkError",
    "Grid",
    "Maxwell",
    "Mesh",
    "MeshError",
    "MomentTensor",
    "Monitor",
    "OutOfMemoryError",
    "Partition",
    "Plan",
    "PlaneWave",
    "PointForce",
    "Proposal",
    "Receivers",
    "UndaWarning",
    "UnstableError",
    "VolumeInjection",
    "box_mesh",
    "chirp",
    "convergence",
    "datasets",
    "device_limits",
    "devices",
    "exact",
    "gaussian",
    "iter_sweep",
    "load",
    "load_receivers",
    "mapped_mesh",
    "plan",
    "read_mesh",
    "read_model",
    "ricker",
    "sampled",
    "scatter",
    "smooth_bump",
    "step",
    "sweep",
    "tone_burst",
]


def __dir__() -> list[str]:
    return __all__
