"""Finite-difference schemes as `FD` sees them: fields, their positions and times, sides, sources.

Not here: setting up a simulation, its state (fd.py), numerics (csrc/fd, cuda/fd).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any, ClassVar

import numpy as np

from .._check import choice
from .._core import lib
from ..errors import ArgumentError
from ..problem.layer import CPML, Damping
from ..problem.medium import Medium
from ..problem.source import CurrentDipole, MomentTensor, PointForce, Source, VolumeInjection
from .grid_material import GridMaterial


class Scalar:
    """p of an acoustic medium of one density, at nodes and whole steps, and p one step before.

    Attributes
    ----------
    name : str
    code : int
        unda_scheme.
    fields : tuple of str
    names : tuple of str
        Of the arrays of the state.
    layers : tuple of type
        The classes of its absorbing layers; the first one stands for "absorbing".
    physics : tuple of str
        The equations that it solves.
    sources : tuple of type
        The classes of sources that it takes.
    conditions : tuple of str
        Words for sides.
    layer_end : int
        Nodes of a layer beyond its width, where p is 0.
    others : str
        Ends errors of unknown fields: which scheme has more.
    """

    name, code = "scalar", int(lib.UNDA_SCALAR)
    physics: ClassVar[tuple[str, ...]] = ("acoustic",)
    sources: ClassVar[tuple[type[Source], ...]] = (VolumeInjection,)
    fields: tuple[str, ...] = ("p",)
    names: tuple[str, ...] = ("p", "p_previous")
    layers: tuple[type[CPML | Damping], ...] = (CPML, Damping)
    conditions: tuple[str, ...] = ("absorbing", "rigid", "free", "periodic")
    layer_end = 1
    others = "; velocities and what is made of them take scheme='staggered'"

    medium: Medium

    def __init__(self, medium: Medium) -> None:
        if not isinstance(medium, Medium) or medium.physics not in self.physics:
            raise ArgumentError(
                f"medium is {medium!r}, expected unda.Acoustic: the scalar scheme; give scheme='staggered'"
            )
        self.medium = medium

    @property
    def recorded(self) -> tuple[str, ...]:
        """Return what receivers record: the fields, and what follows from them without derivatives."""
        fields = set(self.fields)
        derived = {**self.medium.derived, **self.medium.motions}.items()
        values = (n for n, one in derived if all(f in fields and not d for _, f, d in one.terms))
        return (*self.fields, *values)

    def absorbing(self, h: float, fmax: float | None, slowest: Callable[[], float]) -> CPML:
        """Return what "absorbing" is: 10 nodes; for fmax a quarter of the main wavelength, up to 20."""
        return CPML(10 if fmax is None else min(max(ceil(2.5 * slowest() / (4.0 * fmax * h)), 10), 20))

    def fill(self, layer: CPML, h: float, fmax: float | None, slowest: Callable[[], float]) -> CPML:
        """Return the layer with R0 and f0 in numbers, by default those of the scheme (see `CPML`)."""
        if layer.kappa != 1.0:
            raise ArgumentError(f"kappa is {layer.kappa}, expected 1: layers of the scalar scheme")
        f0 = layer.f0
        if f0 is None:
            f0 = (slowest() / (10.0 * h) if fmax is None else fmax) / 2.5
        return replace(layer, f0=f0, R0=layer.R0 or max(1e-7, 10.0 ** (-0.7 * layer.width)))

    def offset(self, name: str) -> tuple[float, float, float]:
        """Return how far from the nodes a field stands [cells]."""
        return (0.0, 0.0, 0.0)

    def lag(self, name: str) -> float:
        """Return how many steps the time of a field is after that of the simulation: -1/2 or 0."""
        return -1.0 if name == "p_previous" else 0.0

    def rates(self, source: Source, node: int, material: GridMaterial) -> list[float]:
        """Return rates for the library; node: the nearest one."""
        source.check_physics(self.medium)
        if not isinstance(source, self.sources):
            raise ArgumentError(
                f"source is {source!r}, expected a VolumeInjection: the scalar scheme; give "
                "scheme='staggered' for others"
            )
        return [material.first[0]]  # rho

    def amplitude(self, source: Source, dt: float) -> Callable[[np.ndarray], Any]:
        """Return the amplitude of steps that begin at given times."""
        f = source.time_function(dt)
        # dt^2 q_t, centred, so that the scheme is equivalent to the staggered one.
        return lambda t: dt * (f(t + 0.5 * dt) - f(t - 0.5 * dt))


class Staggered(Scalar):
    """All fields of any medium, each at its position of the staggered grid; v and H at half steps."""

    name, code = "staggered", int(lib.UNDA_STAGGERED)
    physics = ("acoustic", "elastic", "maxwell")
    sources = (CurrentDipole, MomentTensor, PointForce, VolumeInjection)
    layers = (CPML,)
    layer_end = 0
    others = ""

    def __init__(self, medium: Medium) -> None:
        if not isinstance(medium, Medium) or medium.physics not in self.physics:
            raise ArgumentError(f"medium is {medium!r}, expected one such as unda.Elastic")
        self.medium = medium
        self.fields = self.names = tuple(medium.fields)
        self.conditions = (*medium.boundaries, "periodic")

    def absorbing(self, h: float, fmax: float | None, slowest: Callable[[], float]) -> CPML:
        """Return a layer of 10 nodes."""
        return CPML()

    def fill(self, layer: CPML, h: float, fmax: float | None, slowest: Callable[[], float]) -> CPML:
        """Return the layer with R0, and f0 if fmax is given; else f0 follows from its spacing."""
        least = 1e-6 if layer.width >= 10 else 1e-5 if layer.width >= 8 else 1e-4
        f0 = fmax / 2.5 if layer.f0 is None and fmax is not None else layer.f0
        return replace(layer, f0=f0, R0=layer.R0 or least)

    def offset(self, name: str) -> tuple[float, float, float]:
        """Return half a cell for v_i and E_i along i, s_ij along i and j, H_i along the other two."""
        axes = name[1:] if len(name) == 2 or len(name) == 3 else ""
        halves = [0.5 * (axes.count(axis) == 1) for axis in "xyz"]
        if name[0] == "h":
            halves = [0.5 - half for half in halves]
        x, y, z = halves if axes else (0.0, 0.0, 0.0)
        return x, y, z

    def lag(self, name: str) -> float:
        """Return -1/2 for v and H."""
        return -0.5 if name[0] in "vh" and len(name) == 2 else 0.0

    def rates(self, source: Source, node: int, material: GridMaterial) -> list[float]:
        """Return rates for the library; node: the nearest one."""
        source.check_physics(self.medium)
        if not isinstance(source, self.sources):
            raise ArgumentError(f"source is {source!r}, expected one of unda's point sources")
        made, volume = dict.fromkeys(self.fields, 0.0), isinstance(source, VolumeInjection)
        if isinstance(source, MomentTensor) and material.is_fluid(node):
            source.refuse_shear()
        if not volume:  # the library multiplies by what the material has where the fields stand
            made |= source.rates_in(self.medium.physics, **dict.fromkeys(self.medium.parameters, 1.0))
        return [*made.values(), float(volume)]

    def amplitude(self, source: Source, dt: float) -> Callable[[np.ndarray], Any]:
        """Return forces at t, increases of moments, volumes and currents in the middle of the step."""
        f = source.wrapped(dt)
        if isinstance(source, PointForce):
            return lambda t: dt * f(t)
        if isinstance(source, MomentTensor):
            return lambda t: f(t + dt) - f(t)
        return lambda t: dt * f(t + 0.5 * dt)


def scheme_of(name: Any, medium: Medium) -> Scalar:
    """Return the scheme of that name for a medium."""
    kinds = (Scalar, Staggered)
    return kinds[choice("scheme", name, [kind.name for kind in kinds])](medium)
