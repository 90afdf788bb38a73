"""The reflection of a CPML, from its difference equations.

Not here: the layer itself (csrc/fd/staggered/cpml.c), warnings (grid_check.py).
"""

from __future__ import annotations

import numpy as np

from .layer import CPML


def returned(
    layer: CPML, f0: float, f: float, *, c: float, h: float, dt: float, cosine: float = 1.0
) -> float:
    """Return the amplitude of a plane wave of frequency f that a CPML reflects.

    The scheme of second order is a recursion. w = 2 sin(pi f dt) / dt, 1/s = 1/kappa + a / (1 - b / z) of the
    layer's memory variables at z = exp(2 pi i f dt), and q the cosine of the angle of incidence:
    i w v = -(p+ - p) / (s h), i w q^2 p = -c^2 (v - v-) / (s h), p = 0 at its end. v / p is carried from
    there to the last node outside the layer, where it belongs to an incident and a reflected wave.

    Parameters
    ----------
    layer : CPML
        With R0.
    f0, f : float
        The layer's frequency and the wave's [Hz].
    c : float
        Speed [m/s], the fastest.
    h, dt : float
        Spacing along the axis [m], step [s].
    cosine : float
    """
    w, z = 2.0 * np.sin(np.pi * f * dt) / dt, np.exp(2j * np.pi * f * dt)
    x = np.minimum(np.arange(1, 2 * layer.width + 2) / (2.0 * layer.width), 1.0)  # half nodes, and nodes
    kappa, alpha = 1.0 + (layer.kappa - 1.0) * x**2, np.pi * f0 * (1.0 - x)
    d = -1.5 * c * np.log(layer.R0 or 1.0) / (layer.width * h) * x**2
    b = np.exp(-(d / kappa + alpha) * dt)
    a = d * (b - 1.0) / (kappa * (d + kappa * alpha))
    factor = 1.0 / kappa + a / (1.0 - b / z)
    flow = factor[-1] / (1j * w * h)  # v / p at the last node
    for node in range(2 * layer.width - 1, 0, -2):
        flow = flow + 1j * w * cosine**2 * h / (c**2 * factor[node])
        flow = 1.0 / (1.0 / flow + 1j * w * h / factor[node - 1])
    shift = np.exp(2j * np.arcsin(min(w * cosine * h / (2.0 * c), 1.0)))  # of a wave, from node to node
    out, back = ((1.0 - one) / (1j * w * h) for one in (1.0 / shift, shift))
    return float(abs((out - flow) / (flow - back)))


def returned_at_most(layer: CPML, f0: float, f: float, *, c: float, h: float, dt: float) -> float:
    """Return the largest reflection at incidence up to 60 degrees."""
    return max(returned(layer, f0, f, c=c, h=h, dt=dt, cosine=one) for one in (1.0, 0.7, 0.5))
