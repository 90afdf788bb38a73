"""Absorbing layers around a grid: what `boundary=` of a finite-difference method takes besides words.

Not here: what a layer does to the wave (csrc/fd/layer.c).
"""

from __future__ import annotations

from dataclasses import dataclass

from ._check import integer, number
from .errors import ArgumentError

__all__ = ["Damping"]


@dataclass(frozen=True)
class Damping:
    """A layer outside the grid in which waves of the scalar scheme fade: (d/dt + s)^2 p = c^2 laplace p.

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
