"""Exact solutions: every amplitude and every order of accuracy is tied to one of these.

Not here: how a run is compared with them (`sim.error`, `rec.misfit`).
Next: base.py (what they share), then plane.py (the shortest).
"""

from .base import ExactSolution, from_config
from .box import box_mode, free_box_mode, rigid_box_mode
from .interface import interface_plane_wave
from .plane import plane_wave
from .point import point_source
from .pulse import spherical_pulse

__all__ = [
    "ExactSolution",
    "box_mode",
    "free_box_mode",
    "from_config",
    "interface_plane_wave",
    "plane_wave",
    "point_source",
    "rigid_box_mode",
    "spherical_pulse",
]
