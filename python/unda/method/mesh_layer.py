"""Absorbing layers of DG: from `CPML` at boundaries of a mesh to what the library takes.

Not here: adding cells (../problem/mesh_layers.py), the layers' equations (csrc/dg/layer.c).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._check import integer
from ..errors import ArgumentError
from ..problem._shapes import EDGES, FACES
from ..problem.boundary import WALLS, by_name
from ..problem.grid import SIDES
from ..problem.layer import CPML, Damping
from ..problem.local_mesh import LocalMesh
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ..problem.mesh_damping import continued
from ..problem.mesh_layers import extended, follow, owners_of, plane_of
from ._options import Given

_R0 = 1e-6
#: Of a sponge before a first-order side. In the layer p'' + k^2 (s^2 - sin^2) p = 0, s = 1 - i D x^2 / omega:
#: of one wavelength, this returns 0.8, 2, 5, 15 % at 20, 30, 45, 60 degrees.
_R0_SPONGE = 0.2
#: Fraction of the damping that acts on all terms: what hardly moves decays too (csrc/dg/layer.c); of guided
#: waves and contrasts that of the staggered schemes' rule (../problem/layer_rule.py), whose thresholds these
#: are.
RATIO, _GUIDED = 0.02, 0.1
#: Highest over main frequency of a Ricker pulse, and the least thickness in wavelengths of that.
_MAIN, _LEAST = 2.5, 0.75
#: Relative difference of values at nodes in a layer from those before it, an impedance of which returns 1 %.
_VARIES = 0.02
#: Of a layer's depth: a point so near to where it begins stands there.
_AT_PLANE = 1e-10
_CONTRAST, _LARGE, _CURL = 1.5, 10.0, 9.0
#: Conditions of boundaries that are layers of DG.
LAYERS = (CPML,)
#: What stands behind a layer.
_ENDS = {"acoustic": "free", "elastic": "fixed", "maxwell": "pec"}
#: Numbers of a trace across an axis, which is as many memory variables as a node has for it.
NUM_TRACE = {"acoustic": 2, "elastic": 6, "maxwell": 4}
_NUMBERS = ("begin", "depth", "damping", "shift", "stretch", "ratio")  # of unda_layer


class MeshLayers(NamedTuple):
    """Layers of a mesh, or none.

    Attributes
    ----------
    sides : dict of str to dict
        Of each side with a layer, by the name of the side: the members of unda_layer.
    reasons : dict of str to str
        Why a layer is not a CPML, by side.
    num_given : int
        Cells of the mesh as it was given, which come first; others were added.
    varies : dict of str to int
        The first cell whose medium is not that before the layer, by side, where there is one.
    grows : dict of str to str
        Why waves can grow in the layer of the ratio that was given, by side, where they do.
    """

    sides: dict[str, dict[str, float]]
    reasons: dict[str, str]
    num_given: int
    varies: dict[str, int]
    grows: dict[str, str]

    def given(self) -> Any:
        """Return unda_layer[6], or NULL."""
        if not self.sides:
            return _core.NULL
        layers = _core.new("unda_layer[]", 6)
        for side, numbers in self.sides.items():
            for name, value in numbers.items():
                setattr(layers[SIDES.index(side)], name, value)
        return layers

    def cells(self, mesh: Any, some: np.ndarray | None = None) -> np.ndarray:
        """Say which cells of the mesh are in a layer, of all or of some."""
        return in_layers(mesh, {side: one["begin"] for side, one in self.sides.items()}, some)

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict."""
        return self._asdict()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> MeshLayers:
        """Return the layers again."""
        sides = {
            side: {name: float(one[name]) for name in _NUMBERS}
            for side, one in config["sides"].items()
            if side in SIDES
        }
        varies = {side: integer("varies", cell, 0) for side, cell in config["varies"].items()}
        num_given = integer("num_given", config["num_given"], 0)
        return cls(sides, dict(config["reasons"]), num_given, varies, dict(config["grows"]))

    def __str__(self) -> str:
        text = {f"{one['depth']:.4g} m at {side}" for side, one in self.sides.items()}
        return f"layers of {', '.join(sorted(text))}" if text else ""


def in_layers(mesh: Any, sides: Mapping[str, float], some: np.ndarray | None = None) -> np.ndarray:
    """Say which cells, of all or of some, lie beyond the planes [m] where layers begin."""
    middle = mesh.centroids if some is None else mesh.vertices[mesh.cells[some]].mean(axis=1)
    found = np.zeros(len(middle), bool)
    for side, begin in sides.items():
        i = SIDES.index(side)
        found |= middle[:, i // 2] > begin if i % 2 else middle[:, i // 2] < begin
    return found


def add_layers(given: Given, layers: MeshLayers | None) -> None:
    """Make `given.layers`: those that the mesh has, or of the CPMLs among the boundary conditions.

    These become walls behind cells that are added to `given.mesh`, or tagged.
    """
    given.layers = layers or MeshLayers({}, {}, 0, {}, {})
    conditions = given.boundary.values() if isinstance(given.boundary, Mapping) else ()
    if any(isinstance(one, Damping) for one in conditions):
        raise ArgumentError(
            "boundary has a Damping, a layer of FD and SEM; DG has unda.CPML(f0=, thickness=)"
        )
    if not any(isinstance(one, LAYERS) for one in conditions):
        return
    mesh, medium = given.mesh, given.medium
    if not isinstance(mesh, Mesh) or isinstance(mesh, LocalMesh):
        raise ArgumentError(f"boundary has a CPML and mesh is {mesh!r}, expected a whole Mesh")
    if not isinstance(medium, Medium) or medium.physics not in _ENDS:
        raise ArgumentError(
            f"medium is {medium!r}; DG has layers for unda.Acoustic, unda.Elastic and unda.Maxwell"
        )
    named, rest = by_name(given.boundary, mesh.boundary_names, "names", "the mesh")
    joined = {name for pair in mesh.periodic for name in pair}
    words = {
        name: named.get(name, rest) for name in mesh.boundary_names if name not in joined or name in named
    }
    layered = {name: one for name, one in words.items() if isinstance(one, CPML)}
    for name, layer in layered.items():
        if layer.width != CPML.width:
            raise ArgumentError(
                f"the CPML at {name!r} has width {layer.width}, which counts nodes of grids; expected "
                "thickness= [m], f0= [Hz] or tag="
            )
    if periodic := sorted(joined & set(layered)):
        raise ArgumentError(
            f"boundaries {periodic} have a CPML and are periodic by the mesh; expected one or the other"
        )
    tags = {one.tag for one in layered.values()}
    if len(tags) > 1:
        raise ArgumentError(f"CPMLs have tags {sorted(tags, key=str)}; expected one tag, or none")
    degree = integer("degree", given.degree, 1)
    material = medium._in_cells(mesh, degree)
    add = _added if tags == {None} else _tagged
    sides, made, parents = add(mesh, _fastest(medium, material), layered)
    of_sides = _words_of_sides(mesh, words)
    numbers: dict[str, dict[str, float]] = {}
    reasons: dict[str, str] = {}
    fluid = np.zeros(made.num_elem, bool)
    if medium.physics == "elastic":
        fluid = (material[..., list(medium.parameters).index("vs")] == 0).all(axis=1)[parents]
    grows: dict[str, str] = {}
    for side, one in sides.items():
        table = material[one.cells].reshape(-1, material.shape[-1])
        least, why = ratio_of(medium, table, side, of_sides)
        if where := growth(made, medium.physics, given.flux, side, one.begin, fluid):
            least, why = 1.0, f"waves can grow in a CPML where {where}"
        numbers[side] = _numbers(medium, one, table, least)
        if one.layer.ratio is None:
            reasons |= {side: why} if why else {}
        elif why and one.layer.ratio < least:
            grows[side] = f"{where or why}; expected ratio={least:g}{', a sponge' * (least == 1.0)}"
    given.mesh = made
    if made is not mesh:
        given.medium = continued(medium, mesh, made, parents, degree)
        given.partition = follow(given.partition, mesh, made, parents)
    # Cells that are added go on with what is beside.
    varies = _varies(mesh, material, degree, sides) if made is mesh else {}
    given.layers = MeshLayers(numbers, reasons, mesh.num_elem, varies, grows)
    given.boundary = {name: word for name, word in words.items() if word is not None}
    for name in layered:
        there = {SIDES[i] for i in np.unique(_sides_of(mesh, name))}
        sponges = all(numbers[side]["ratio"] == 1.0 for side in there)
        given.boundary[name] = "absorbing" if sponges else _ENDS[medium.physics]


class _Side(NamedTuple):
    """A layer at a side: where it begins, its thickness [m], and the mesh's cells that it continues."""

    layer: CPML
    begin: float
    depth: float
    cells: np.ndarray


def _fastest(medium: Medium, table: np.ndarray) -> float:
    """Return the largest speed [m/s] of values in cells, at nodes too (.., num_parameters)."""
    return float(medium._speeds(table.reshape(-1, table.shape[-1])).max())


def _thickness(layer: CPML, speed: float) -> float:
    """Return the thickness [m] of a layer: by default a wavelength of the fastest wave at f0."""
    if layer.thickness is not None:
        return layer.thickness
    if layer.f0 is None:
        raise ArgumentError(f"{layer!r} at the side of a mesh; expected thickness= [m] or f0= [Hz]")
    return speed / layer.f0


def _added(
    mesh: Mesh, speed: float, layered: Mapping[str, CPML]
) -> tuple[dict[str, _Side], Mesh, np.ndarray]:
    """Add cells outside boundaries with layers (`Mesh.extended`)."""
    thick: dict[str, float] = {}
    found: dict[str, _Side] = {}
    for name, layer in layered.items():
        axis, begin, inside = plane_of(mesh, name)
        side = SIDES[2 * axis + (inside < 0)]
        if side in found:
            raise ArgumentError(
                f"several boundaries with a CPML, {name!r} among them, are at {side}; expected one"
            )
        thick[name] = _thickness(layer, speed)
        faces = mesh.boundary_faces[mesh.boundary_ids == mesh.boundary_names.index(name)]
        found[side] = _Side(layer, begin, thick[name], owners_of(mesh.cells, faces))
    return found, *extended(mesh, thick)


def _tagged(
    mesh: Mesh, speed: float, layered: Mapping[str, CPML]
) -> tuple[dict[str, _Side], Mesh, np.ndarray]:
    """Take cells of a tag as layers: those beyond the box of all others."""
    layer = next(iter(layered.values()))
    number = mesh.tag_names.get(layer.tag, layer.tag) if isinstance(layer.tag, str) else layer.tag
    within = mesh.tags == number
    if within.all() or not within.any():
        raise ArgumentError(f"tag is {layer.tag!r}; expected one of some cells, of {mesh.tag_names}")
    inner = mesh.vertices[mesh.cells[~within]].reshape(-1, 3)
    planes = np.stack([inner.min(axis=0), inner.max(axis=0)], axis=1).ravel()
    found: dict[str, _Side] = {}
    beyond = np.zeros(mesh.num_elem, bool)
    for i, side in enumerate(SIDES):
        axis, begin = i // 2, float(planes[i])
        end = (mesh.lower, mesh.upper)[i % 2][axis]
        there = in_layers(mesh, {side: begin}) & within
        if there.any():
            found[side] = _Side(layer, begin, abs(end - begin), np.flatnonzero(there))
            beyond |= there
    _match(mesh, layered, found)
    if (astray := np.flatnonzero(within & ~beyond)).size:
        raise ArgumentError(
            f"cell {astray[0]} ({astray.size} such cells) at {mesh.centroids[astray[0]].tolist()} m has a "
            f"tag of the layers and lies in the box of the other cells, {planes[::2].tolist()} to "
            f"{planes[1::2].tolist()} m; expected layers beyond planes across the axes"
        )
    return found, mesh, np.arange(mesh.num_elem)


def _match(mesh: Mesh, layered: Mapping[str, CPML], found: Mapping[str, _Side]) -> None:
    """Refuse boundaries with a CPML that have no layer of tagged cells, and layers at other boundaries."""
    for name in mesh.boundary_names:
        sides = _sides_of(mesh, name)
        bare = np.array([i < 0 or SIDES[i] not in found for i in sides], bool)
        if name in layered and bare.any():
            face = mesh.boundary_faces[mesh.boundary_ids == mesh.boundary_names.index(name)][bare.argmax()]
            raise ArgumentError(
                f"boundary {name!r} has {layered[name]!r}, and no layer of cells of that tag is before its "
                f"face at {mesh.vertices[face].mean(axis=0).tolist()} m; cells of the tag are layers at "
                f"{sorted(found)}"
            )
        if name not in layered and not bare.all():
            raise ArgumentError(
                f"cells of the layers' tag are a layer at {SIDES[sides[(~bare).argmax()]]}, where boundary "
                f"{name!r} has no CPML; expected one"
            )


def _sides_of(mesh: Mesh, name: str) -> np.ndarray:
    """Return for each face of a boundary in which plane of the mesh's box it lies, of SIDES, or -1."""
    x = mesh.vertices[mesh.boundary_faces[mesh.boundary_ids == mesh.boundary_names.index(name)]]
    planes = np.stack([mesh.lower, mesh.upper], axis=1).ravel()  # of SIDES
    room = 1e-6 * float(np.max(np.subtract(mesh.upper, mesh.lower)))
    near = np.abs(x[..., np.arange(6) // 2] - planes).max(axis=1) <= room
    return np.where(near.any(axis=1), near.argmax(axis=1), -1)


def _words_of_sides(mesh: Mesh, words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the condition at each side of the mesh's box that has one alone."""
    found = {}
    for i, side in enumerate(SIDES):
        axis, plane = i // 2, (mesh.lower, mesh.upper)[i % 2][i // 2]
        near = np.abs(mesh.vertices[mesh.boundary_faces][:, :, axis] - plane).max(axis=1)
        ids = np.unique(mesh.boundary_ids[near <= 1e-6 * (mesh.upper[axis] - mesh.lower[axis])])
        if len(ids) == 1:
            found[side] = words.get(mesh.boundary_names[ids[0]])
    return found


def _spread(values: np.ndarray) -> float:
    return float(values.max() / values.min()) if values.size and values.min() > 0 else 1.0


def ratio_of(medium: Medium, table: np.ndarray, side: str, words: Mapping[str, Any]) -> tuple[float, str]:
    """Return the ratio of a layer whose cells have these parameters (num, num_parameters), and why.

    The rule of the staggered schemes (layer_rule.py), which looks at the medium beside the layer and at the
    sides across it. It knows no widths: any contrast counts as thin in Maxwell's equations.
    """
    names = list(medium.parameters)
    spread = {name: _spread(table[:, i][table[:, i] > 0]) for i, name in enumerate(names)}
    most = max(spread, key=lambda one: spread[one])
    text = f"{most} varies by a factor of {spread[most]:.3g} beside it"
    if medium.physics == "maxwell":
        return (1.0, text) if max(spread["eps"], spread["mu"]) > _CURL else (RATIO, "")
    if medium.physics != "elastic":
        return RATIO, ""
    if spread[most] > _LARGE:
        return 1.0, text
    if spread[most] > _CONTRAST:
        return _GUIDED, text
    fluid = table[:, names.index("vs")] == 0
    if fluid.any() and not fluid.all():
        return _GUIDED, "fluid touches solid beside it"
    for axis in "xyz".replace(side[0], ""):
        ends = words.get(f"{axis}min"), words.get(f"{axis}max")
        if all(isinstance(one, str) and one in WALLS for one in ends):
            return _GUIDED, f"{ends[0]!r} and {ends[1]!r} sides of {axis} beside it guide waves"
    return RATIO, ""


def growth(mesh: Any, physics: str, flux: str, side: str, begin: float, fluid: np.ndarray) -> str:
    """Say why waves can grow in a CPML of a mesh's cells beyond a plane, or ""; csrc/dg/layer.c.

    fluid : of each cell of the mesh, whether it is one among solids.
    """
    cells = np.flatnonzero(in_layers(mesh, {side: begin}))
    axis = SIDES.index(side) // 2
    if mesh.shape != "tet":
        return "" if _prisms(mesh, cells, axis) else "its hexahedra are not prisms along the axis"
    if flux == "central":
        return "its cells are tetrahedra, with flux='central'"
    if _oblique_contact(mesh, cells, axis, fluid):
        return "fluid touches solid at faces of tetrahedra that are oblique to the axis"
    return ""


def _prisms(mesh: Any, cells: np.ndarray, axis: int) -> bool:
    """Say whether each edge of hexahedra is along the axis or across it."""
    x = mesh.vertices[mesh.cells[cells]]
    edge = np.abs(x[:, EDGES[:, 1]] - x[:, EDGES[:, 0]])
    along, across = edge[..., axis], np.delete(edge, axis, axis=-1).max(axis=-1)
    small = 1e-6 * edge.max(axis=(1, 2), keepdims=True)[..., 0]
    return bool(((along <= small) | (across <= small)).all())


def _oblique_contact(mesh: Any, cells: np.ndarray, axis: int, fluid: np.ndarray) -> bool:
    """Say whether a face of tetrahedra between fluid and solid is neither along the axis nor across it."""
    inside = mesh.neighbors[cells] >= 0
    beyond = np.where(inside, mesh.neighbors[cells] // 4, 0)
    at, face = np.nonzero(inside & (fluid[cells][:, None] != fluid[beyond]))
    x = mesh.vertices[np.take_along_axis(mesh.cells[cells[at]], FACES["tet"][face], axis=1)]
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    part = np.abs(normal[:, axis]) / np.linalg.norm(normal, axis=1)
    return bool(((part > 1e-6) & (part < 1 - 1e-12)).any())


def _numbers(medium: Medium, one: _Side, table: np.ndarray, least: float) -> dict[str, float]:
    """Return the members of unda_layer, whose ratio is that given or the least that does not grow."""
    speed = float(medium._speeds(table).max())
    f0 = one.layer.f0 or speed / one.depth
    ratio = least if one.layer.ratio is None else one.layer.ratio
    usual, kappa = (_R0_SPONGE, 1.0) if ratio == 1.0 else (_R0, one.layer.kappa)
    damping = -1.5 * speed * np.log(one.layer.R0 or usual) / one.depth
    values = (one.begin, one.depth, damping, np.pi * f0, kappa, ratio)
    return dict(zip(_NUMBERS, map(float, values), strict=True))


def look(sim: Any, report: Any) -> None:
    """Report which layers are not CPMLs, and what makes them return more than they should."""
    layers: MeshLayers = sim._layers
    _thin(sim, report)
    _points_in_layers(sim, report)
    if layers.sides and sim.config["flux"] == "central":
        report.warnings.append(
            "flux='central' beside layers, which return 5 to 20 % of waves that the mesh does not resolve "
            "and this flux does not damp; expected flux='upwind'"
        )
    for side, one in layers.sides.items():
        if side in layers.reasons:
            kind = "is a sponge, ratio 1" if one["ratio"] == 1.0 else f"has ratio {one['ratio']:g}"
            report.notes.append(f"the layer at {side} {kind}: {layers.reasons[side]}")
        if side in layers.grows:
            report.warnings.append(
                f"the layer at {side} has ratio {one['ratio']:g}, with which waves can grow without bound in "
                f"long runs: {layers.grows[side]}"
            )
        if (cell := layers.varies.get(side)) is not None:
            report.warnings.append(
                f"the medium in the layer at {side} is not that before it, first in cell {cell}: waves "
                "return from there; expected one that is constant across the layer"
            )


def _points_in_layers(sim: Any, report: Any) -> None:
    """Warn of sources and receivers in layers; the plane where one begins is not in it."""
    points = {
        "sources": [source.places() for source in sim._solver.whole_sources()],
        "receivers": [receivers.points for receivers in sim.receivers],
    }
    for what, places in points.items() if sim._layers.sides else ():
        x = np.concatenate([np.empty((0, 3)), *places])
        for side, one in sim._layers.sides.items():
            i = SIDES.index(side)
            depth = (x[:, i // 2] - one["begin"]) * (1.0 if i % 2 else -1.0)
            if num := int((depth > _AT_PLANE * one["depth"]).sum()):
                some = f"{num} of {len(x)} {what} are in the layer at {side}"
                report.warnings.append(f"{some}, where waves are not those of the medium")


def _thin(sim: Any, report: Any) -> None:
    """Warn of layers that are thin for the sources' main frequency."""
    if not report.fmax:
        return
    main = report.fmax / _MAIN
    wave = sim._most(_fastest(sim.medium, sim._material)) / main if sim._layers.sides else 0.0
    thin: dict[str, list[str]] = {}
    for side, one in sim._layers.sides.items():
        if one["depth"] < _LEAST * wave:
            thin.setdefault(f"{one['depth']:.3g} m", []).append(side)
    for depth, names in thin.items():
        report.warnings.append(
            f"the layer at {', '.join(names)} is {depth} thick, the wavelength of the fastest wave at "
            f"{main:.3g} Hz, of which sources have most, is {wave:.3g} m: expected {_LEAST:g} wavelengths or "
            "more, thickness= or a lower f0="
        )


def _varies(mesh: Mesh, material: np.ndarray, degree: int, sides: Mapping[str, _Side]) -> dict[str, int]:
    """Return the first cell of each layer whose medium is not that of the cell before the layer.

    Of values at nodes, the mean of the cell is compared with the linear function that fits those before.
    """
    box = np.array([mesh.lower, mesh.upper])  # of what is no layer
    for side, one in sides.items():
        box[int(side.endswith("max")), SIDES.index(side) // 2] = one.begin
    by_node = material.shape[1] > 1
    nodes = mesh.coordinates(degree) if by_node else None
    found = {}
    for side, one in sides.items():
        axis = SIDES.index(side) // 2
        x = np.clip(mesh.centroids[one.cells], *box)
        inside = -1e-6 if side.endswith("max") else 1e-6
        x[:, axis] += inside * (mesh.upper[axis] - mesh.lower[axis])
        before, _ = mesh.locate(x)
        cells, before, x = one.cells[before >= 0], before[before >= 0], x[before >= 0]
        own, other = (material[at].mean(axis=1) for at in (cells, before))
        if nodes is not None:
            middle = nodes[before].mean(axis=1, keepdims=True)
            values = material[before] - material[before].mean(axis=1, keepdims=True)
            slope = np.linalg.pinv(nodes[before] - middle) @ values
            other = other + ((x[:, None] - middle) @ slope)[:, 0]
        room = _VARIES if by_node else 1e-6
        unlike = cells[(np.abs(own - other) > room * np.abs(other)).any(axis=1)]
        if unlike.size:
            found[side] = int(unlike[0])
    return found
