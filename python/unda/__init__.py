"""unda: waves in the time domain, on CPUs and GPUs: acoustic, elastic and Maxwell.

>>> import unda
>>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
>>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2)
>>> sim.run(until=0.01)

The path says what is inside: mesh, grid, medium, model_file, boundary, source, timefunction, exact, dg,
simulation, receiver, far_field.
"""

from . import exact
from ._core import version as _version
from .checkpoint import load, load_receivers
from .dg import DG
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
from .far_field import FarField
from .fd import FD
from .grid import Grid
from .incident import PlaneWave
from .layer import CPML, Damping
from .limits import device_limits, devices
from .medium import EPS0, MU0, Acoustic, Elastic, Maxwell
from .mesh import Mesh, box_mesh, read_mesh
from .model_file import read_model
from .receiver import Receivers
from .source import CurrentDipole, MomentTensor, PointForce, VolumeInjection
from .sweep import sweep
from .timefunction import gaussian, ricker, sampled, smooth_bump

__version__ = _version()

__all__ = [
    "CPML",
    "DG",
    "EPS0",
    "FD",
    "MU0",
    "AccuracyWarning",
    "Acoustic",
    "ArgumentError",
    "BusyError",
    "CompileError",
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
    "OutOfMemoryError",
    "PlaneWave",
    "PointForce",
    "Receivers",
    "UndaWarning",
    "UnstableError",
    "VolumeInjection",
    "box_mesh",
    "device_limits",
    "devices",
    "exact",
    "gaussian",
    "load",
    "load_receivers",
    "read_mesh",
    "read_model",
    "ricker",
    "sampled",
    "smooth_bump",
    "sweep",
]
