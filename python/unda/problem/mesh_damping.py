"""Damping layers in a mesh: where they are, and the rate of damping at each node.

A side's layer is what lies within its thickness of the side's plane. At the depth x, as a fraction of the
thickness L,

    d = 2.5 A c / L x^1.5,    R0 = exp(-2 A),

c the fastest speed of the medium: R0 would return at normal incidence if nothing were reflected within. By
default

    A = 0.35 + 0.2 L f0 / c,

of which least returns of a Ricker pulse up to 60 degrees (`returned`), dashpots behind. Exponents of 1,
better in layers of a wavelength, and 2, better in those of four, differ by a third. Not here: damping
itself (csrc/sem/sides.c), the class (layer.py), what is measured (benchmarks/sem_layers.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._check import integer
from ..errors import ArgumentError
from ._shapes import MAX_DEGREE
from ._values import ByTag, Number
from .boundary import by_name
from .layer import CPML, Damping
from .medium import Medium
from .mesh import Mesh
from .mesh_layers import extended, follow, plane_of

#: Conditions of boundaries that are layers of SEM.
LAYERS = (Damping,)
_EXPONENT = 1.5
_WAVELENGTHS = 2.0  # of a layer without f0
_MOST = 8.0  # wavelengths: A goes no further


class Layer(NamedTuple):
    """A side's layer: its axis, the coordinate of the side, the way inside (1 or -1), and the damping."""

    axis: int
    side: float
    inside: int
    thickness: float
    largest: float  # d at the side [1/s]

    def depth(self, x: np.ndarray) -> np.ndarray:
        """Return the depth of coordinates (.., 3) in the layer as a fraction of its thickness, 0 to 1."""
        from_side = self.inside * (x[..., self.axis] - self.side)
        return np.clip(1.0 - from_side / self.thickness, 0.0, 1.0)


def split(mesh: Mesh, boundary: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Damping]]:
    """Return the `boundary` keyword of SEM with words alone, and the layers by the name of their sides."""
    named, rest = by_name(boundary, mesh.boundary_names, "names", "the mesh")
    joined = {name for pair in mesh.periodic for name in pair}
    given = {
        name: named.get(name, rest) for name in mesh.boundary_names if name in named or name not in joined
    }
    layers: dict[str, Damping] = {}
    for name, one in given.items():
        if not isinstance(one, (Damping, CPML)):
            continue
        if name in joined:
            raise ArgumentError(f"boundary {name!r} is periodic by the mesh, expected no layer there")
        if not isinstance(one, LAYERS) or one.width is not None:
            raise ArgumentError(
                f"boundary {name!r} has {one!r}; expected unda.Damping(thickness=..): SEM has no matched "
                "layer, and its layers are given in metres"
            )
        if one.outside or one.thickness is None:
            raise ArgumentError(
                f"boundary {name!r} has {one!r} in many processes; expected a thickness and outside=False, "
                "of a mesh that has the layer already: Mesh.extended"
            )
        layers[name] = one
    words = {name: "absorbing" if name in layers else one for name, one in given.items()}
    return {name: word for name, word in words.items() if word is not None}, layers


def settle(given: Any) -> None:
    """Make layers a part of the mesh: cells of a tag get their thickness, and what lies outside is added.

    given: arguments of SEM, whose mesh, medium and boundary become others.
    """
    mesh, medium = given.mesh, given.medium
    if (
        not isinstance(mesh, Mesh)
        or not isinstance(given.boundary, Mapping)
        or not isinstance(medium, Medium)
    ):
        return
    named, rest = by_name(given.boundary, mesh.boundary_names, "names", "the mesh")
    joined = {name for pair in mesh.periodic for name in pair}
    words = {
        name: named.get(name, rest) for name in mesh.boundary_names if name in named or name not in joined
    }
    ours = {
        name: one for name, one in words.items()
        if isinstance(one, Damping) and one.width is None and name not in joined
    }  # fmt: skip
    if not ours:
        return
    table = medium._in_cells(mesh, integer("degree", given.degree, 1, MAX_DEGREE[mesh.shape]))
    fastest = float(medium._speeds(table.reshape(-1, table.shape[-1])).max())
    outer = {}
    for name, one in ours.items():
        thickness = one.thickness or _WAVELENGTHS * fastest / (one.f0 or 1.0)
        if one.tag is not None:
            thickness = _thickness(mesh, name, one.tag)
        elif one.outside:
            outer[name] = thickness
        words[name] = Damping(thickness=thickness, R0=one.R0, f0=one.f0, outside=False)
    given.boundary = {name: word for name, word in words.items() if word is not None}
    if outer:
        given.mesh, parents = extended(mesh, outer)
        given.medium = continued(medium, mesh, given.mesh, parents, given.degree)
        given.partition = follow(given.partition, mesh, given.mesh, parents)


def _thickness(mesh: Mesh, name: str, tag: str | int) -> float:
    """Return how far cells of other tags are from a side [m]."""
    number = mesh.tag_names.get(tag, tag) if isinstance(tag, str) else tag
    layer = mesh.tags == number
    if not layer.any() or layer.all():
        raise ArgumentError(f"tag is {tag!r}; expected one of some cells, of {mesh.tag_names}")
    axis, side, inside = plane_of(mesh, name)
    rest = mesh.vertices[mesh.cells[~layer]].reshape(-1, 3)
    lower, upper = rest.min(axis=0), rest.max(axis=0)
    middle = mesh.centroids[layer]
    among = ((middle > lower) & (middle < upper)).all(axis=1)
    if among.any():
        raise ArgumentError(
            f"cell {np.flatnonzero(layer)[among][0]} of tag {tag!r} lies among the others, expected layers "
            "outside a box of them"
        )
    thickness = inside * float((lower if inside > 0 else upper)[axis] - side)
    if thickness <= 0.0:
        raise ArgumentError(
            f"cells of other tags than {tag!r} reach boundary {name!r}, expected a layer between"
        )
    return thickness


def continued(medium: Medium, old: Mesh, new: Mesh, parents: np.ndarray, degree: Any) -> Medium:
    """Return the medium of an extended mesh: materials are those of the cells beside, at nodes too."""
    if all(isinstance(value, (Number, ByTag)) for value in medium._values.values()):
        return medium
    degree = integer("degree", degree, 1, MAX_DEGREE[old.shape])
    table = medium._in_cells(old, degree)
    values = table[parents]
    if medium.per == "node":
        added = np.arange(old.num_elem, new.num_elem)
        x = np.clip(new.coordinates(degree)[added], old.lower, old.upper)
        there = old.coordinates(degree)
        # Nodes of a layer, moved to its face, are nodes of the parent.
        for cell, at in zip(added, x, strict=True):
            apart = np.abs(at[:, None] - there[parents[cell]][None]).max(axis=2)
            values[cell] = table[parents[cell], apart.argmin(axis=1)]
    columns = np.moveaxis(values if medium.per == "node" else values[:, 0], -1, 0)
    given = dict(zip(medium.parameters, map(np.ascontiguousarray, columns), strict=True))
    kind: Any = type(medium)
    made: Medium = kind(per=medium.per, **given)
    return made


def place(mesh: Mesh, layers: Mapping[str, Damping], fastest: float) -> dict[str, Layer]:
    """Return where layers are.

    Raises
    ------
    ArgumentError
        A side that is not in a plane across an axis; layers that meet those of the opposite side.
    """
    found = {}
    for name, one in layers.items():
        axis, side, inside = plane_of(mesh, name)
        thickness = float(one.thickness or 0.0)
        largest = (_EXPONENT + 1) * strength(one, fastest) * fastest / thickness
        found[name] = Layer(axis, side, inside, thickness, largest)
    for axis, size in enumerate(np.subtract(mesh.upper, mesh.lower)):
        thick = sum(max((one.thickness for one in found.values() if (one.axis, one.inside) == (axis, inside)),
                        default=0.0) for inside in (1, -1))  # fmt: skip
        if thick >= size:
            raise ArgumentError(
                f"layers along {'xyz'[axis]} are {thick:.4g} m thick, expected less than the mesh, which has "
                f"{size:.4g} m: layers are a part of it (Mesh.extended)"
            )
    return found


def strength(layer: Damping, fastest: float) -> float:
    """Return A of a layer in a medium whose fastest speed is given [m/s]."""
    if layer.R0 is not None:
        return -0.5 * float(np.log(layer.R0))
    wavelengths = _WAVELENGTHS if layer.f0 is None else (layer.thickness or 0.0) * layer.f0 / fastest
    return 0.35 + 0.2 * min(wavelengths, _MOST)


def rates(mesh: Mesh, degree: int, layers: Mapping[str, Layer]) -> dict[str, Any]:
    """Return what the library takes of layers: their cells, and d [1/s] at their nodes."""
    corners = mesh.vertices[mesh.cells]
    near = np.zeros(mesh.num_elem, bool)
    for layer in layers.values():
        near |= layer.depth(corners).max(axis=1) > 0.0
    cells = np.flatnonzero(near)
    x = mesh.coordinates(degree)[cells]
    damping = sum(layer.largest * layer.depth(x) ** _EXPONENT for layer in layers.values())
    return {"num_damped": len(cells), "damped_elem": cells, "damping": np.ascontiguousarray(damping)}


def returned(wavelengths: np.ndarray, strength: float, cosine: float = 1.0) -> np.ndarray:
    """Return the complex amplitude of plane waves that comes back from layers with dashpots behind.

    Of the Helmholtz equation p'' + (k^2 q^2 - 2 i k d / c) p = 0, q the cosine of the angle of incidence, y
    = p' / p is carried from the side, y = -i k, to the layer's front, by the Runge-Kutta method of fourth
    order.

    Parameters
    ----------
    wavelengths : numpy.ndarray
        The layer's thickness in wavelengths of the fastest wave, up to 20.
    strength : float
        A; of a wave that is slower than the fastest one by a factor, that many times as much.
    cosine : float
    """
    k, y = 2.0 * np.pi * wavelengths, -2j * np.pi * wavelengths  # lengths in units of the thickness
    num = 800

    def slope(depth: float, y: np.ndarray) -> np.ndarray:
        d = (_EXPONENT + 1) * strength * max(depth, 0.0) ** _EXPONENT
        return np.asarray((k * cosine) ** 2 - 2j * k * d + y**2)  # towards the front

    for i in range(num):
        begin, middle, end = (1.0 - (i + part) / num for part in (0.0, 0.5, 1.0))
        one = slope(begin, y)
        two = slope(middle, y + one / (2 * num))
        three = slope(middle, y + two / (2 * num))
        y = y + (one + 2 * two + 2 * three + slope(end, y + three / num)) / (6 * num)
    z = y / (-1j * k * cosine)
    return np.asarray((1 - z) / (1 + z))
