"""Exact solutions, against which amplitudes and orders of accuracy are verified.

Not here: comparing a run with them (`sim.error`, `rec.misfit`).
Next: base.py (their base), then plane.py (the shortest).
"""

# Modules that add a physics to a solution register their class in base.py when they are imported.
from . import dipole as dipole
from . import elastic_interface as elastic_interface
from . import elastic_line as elastic_line
from . import elastic_plane as elastic_plane
from . import elastic_point as elastic_point
from . import interface_maxwell as interface_maxwell
from . import plane_maxwell as plane_maxwell
from .base import ExactSolution, from_config
from .box import box_mode, free_box_mode, rigid_box_mode
from .cavity import cavity_mode
from .cavity_two_media import cavity_mode_two_media
from .elastic_box import lame_mode, lubricated_box_mode
from .garvin import garvin_problem
from .interface import interface_plane_wave
from .lamb import lamb_problem
from .layered import layered_source
from .line import line_source, plane_source
from .love import love_wave
from .mie import mie_sphere
from .plane import plane_wave
from .plate import plate_mode
from .point import point_source
from .pulse import spherical_pulse
from .surface_wave import rayleigh_wave, scholte_wave, stoneley_wave

__all__ = [
    "ExactSolution",
    "box_mode",
    "cavity_mode",
    "cavity_mode_two_media",
    "free_box_mode",
    "from_config",
    "garvin_problem",
    "interface_plane_wave",
    "lamb_problem",
    "lame_mode",
    "layered_source",
    "line_source",
    "love_wave",
    "lubricated_box_mode",
    "mie_sphere",
    "plane_source",
    "plane_wave",
    "plate_mode",
    "point_source",
    "rayleigh_wave",
    "rigid_box_mode",
    "scholte_wave",
    "spherical_pulse",
    "stoneley_wave",
]


def __dir__() -> list[str]:
    return __all__
