"""Absorbing layers around a grid: what `boundary=` of a finite-difference method takes besides words.

Not here: what a layer does to the wave (csrc/fd/layer.c, csrc/fd/matched.c, csrc/fd/cpml.c).
"""

from __future__ import annotations

from dataclasses import dataclass

from .._check import integer, number
from ..errors import ArgumentError

__all__ = ["CPML", "Damping"]


@dataclass(frozen=True)
class Damping:
    """A layer outside the grid in which waves of the scalar scheme fade: (d/dt + s)^2 p = c^2 laplace p.

    Without memory, and with an energy that never grows; `CPML` returns far less of long waves.
    s grows with the square of the depth; see csrc/fd/layer.c. Of a wavelet whose peak wavelength is 8
    nodes, a layer of 20 returns about 0.012 % of the energy at normal incidence, 0.5 % at 60 degrees;
    layers are best 1.5 wavelengths deep or more.

    Parameters
    ----------
    width : int
        Nodes of the layer, at least 1.
    R0 : float
        Amplitude left after the way through the layer and back at normal incidence, between 0 and 1: smaller
        absorbs more, and reflects more at its own front.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import unda
    >>> grid, medium = unda.Grid((61, 41, 41), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
    >>> sim = unda.FD(grid, medium, boundary={"zmax": "free", "*": unda.Damping(width=10)})
    >>> sim.padded
    (83, 63, 52)
    """

    width: int = 20
    R0: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", integer("width", self.width, 1, 2**28))
        object.__setattr__(self, "R0", number("R0", self.R0, positive=True))
        if self.R0 >= 1.0:
            raise ArgumentError(f"R0 is {self.R0}; expected a number between 0 and 1")

    def to_config(self) -> dict[str, float]:
        """Return a JSON-able dict; ``Damping(**...)`` is the layer again."""
        return {"width": self.width, "R0": self.R0}


@dataclass(frozen=True)
class CPML:
    """A perfectly matched layer outside the grid (Komatitsch & Martin 2007): convolutional and unsplit.

    On staggered grids profiles of the second degree (csrc/fd/cpml.c): of a trace 10 nodes around a strip of
    81 x 220 return at most 0.033 % from its middle, and 0.34 % five nodes from a layer, 170 nodes along it;
    20 nodes 0.005 and 0.18 % (order 4, 8 nodes in the shortest wavelength of a Ricker pulse:
    benchmarks/layer_returns.py). For the scalar scheme profiles of the third degree, in the second-order
    equation (csrc/fd/matched.c): of 10 nodes at most 0.04 % in models of 1500 to 4700 m/s, of 20 0.001 %
    (docs/absorbing_layers.md).

    Parameters
    ----------
    width : int
        Nodes of the layer, at least 1.
    f0 : float, optional
        Main frequency of the waves [Hz]; by default ``fmax / 2.5`` of `FD`; without it that of which a
        wavelength has 20 nodes (staggered, of the fastest wave) or 25 (scalar, of the slowest). The scalar
        scheme's layers of 10 nodes return more below a third of it and above six times as much.
    R0 : float, optional
        Amplitude left after the way through the layer and back at normal incidence, between 0 and 1; by
        default 1e-6, in layers of less than 10 nodes 1e-5, of less than 8 1e-4; scalar scheme:
        10^(-0.7 width), at least 1e-7.
    kappa : float
        How much coordinates are stretched at the end of the layer, at least 1: more helps at grazing
        incidence and costs nodes. 1 for the scalar scheme.
    ratio : float, optional
        Part of the damping, at the end of the layer, that acts on all that happens there and not only on
        what is differenced along the layer's axis, 0 to 1. 0: a CPML. Below 1: a multiaxial layer
        (Meza-Fajardo & Papageorgiou 2008), the part growing with the square of the depth. 1: a sponge,
        all of the damping everywhere, no memory variables. By default 0, 0.1 or 1 as ``FD(layer=)`` says,
        which by default follows a rule; 0 for the scalar scheme.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import unda
    >>> unda.CPML(width=10, f0=7.0)
    CPML(width=10, f0=7.0, R0=None, kappa=1.0, ratio=None)

    Notes
    -----
    On staggered grids waves whose phase and energy travel opposite ways grow in any CPML (Becache, Fauqueux &
    Joly 2003), and kappa or f0 do not cure it: elastic ones that plates guide, and those in media of much
    contrast. In multiaxial layers they fade, but for media of noise; in a sponge nothing grows, which is
    proved for any medium, any walls and any stable step (csrc/fd/cpml.c). A sponge of 10 nodes returns
    percents; docs/absorbing_layers.md has what each returns, and where which one grows.
    """

    width: int = 10
    f0: float | None = None
    R0: float | None = None
    kappa: float = 1.0
    ratio: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", integer("width", self.width, 1, 2**28))
        if self.f0 is not None:
            object.__setattr__(self, "f0", number("f0", self.f0, "Hz", positive=True))
        given = 1e-6 if self.R0 is None else self.R0
        if self.R0 is not None:
            object.__setattr__(self, "R0", number("R0", given, positive=True))
        object.__setattr__(self, "kappa", number("kappa", self.kappa, positive=True))
        if self.ratio is not None:
            object.__setattr__(self, "ratio", number("ratio", self.ratio))
            if not 0.0 <= self.ratio <= 1.0:
                raise ArgumentError(f"ratio is {self.ratio}; expected a number between 0 and 1, or None")
        if given >= 1.0 or self.kappa < 1.0:
            raise ArgumentError(f"R0 is {given}, kappa is {self.kappa}; expected 0 < R0 < 1 and kappa >= 1")

    def to_config(self) -> dict[str, float | None]:
        """Return a JSON-able dict; ``CPML(**...)`` is the layer again."""
        return {"width": self.width, "f0": self.f0, "R0": self.R0, "kappa": self.kappa, "ratio": self.ratio}
