"""Incident plane waves: the difference between total and scattered field.

Not here: the wave itself (exact/plane.py), its contribution to the flux (csrc/dg/incident.c), grids
(method/total_field.py).
Next: exact/plane.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._check import number, unit_vector, vector
from .._fixed import Fixed
from .._units import in_one_of
from ..errors import ArgumentError
from ..exact import ExactSolution, plane_wave
from ._shapes import FACES
from .boundary import WALLS, Boundaries
from .medium import Medium
from .mesh import Mesh
from .source import saved_f
from .timefunction import from_config

ALLOWED = 1e-9  # rounding, relative to a wave's amplitude and to the length of a direction
_VOIGT = ((0, 5, 4), (5, 1, 3), (4, 3, 2))  # places of sxx syy szz syz sxz sxy in the tensor


class Driven(NamedTuple):
    """Faces at which a wave is given: elem, face and sign as the library takes them, and the wave."""

    elem: np.ndarray
    face: np.ndarray
    sign: np.ndarray
    wave: ExactSolution


class PlaneWave(Fixed):
    """A plane wave that comes in from outside, added by `DG.add_source` or `FD.add_source`.

    On a mesh: with `region` the cells of those tags hold the total field, the others the scattered one, and
    the wave enters and leaves through the faces between them (total-field / scattered-field split; Taflove
    & Hagness 2005, section 5.6). Absorbing boundaries of the region let it through, too: the region may be
    a slab across the mesh, or all of it.

    With `scatterer` all cells hold the scattered field and these walls are driven: its sum with the wave, the
    total field, meets their conditions (Hesthaven & Warburton 2002, J. Comput. Phys. 181, 186).

    The incident field is ``unda.exact.plane_wave`` of the same arguments in the medium at the region's
    surface; f is what it does at the origin of coordinates. Let f vanish at first, or set the total field.

    On a grid: with `box` the nodes in it hold the total field, those around it the scattered one, for all
    schemes and orders. The wave travels along x, y or z; it is advanced by the scheme itself on a line of
    nodes, of whose dispersion it is an exact solution (Tan & Potter 2010), so that without a scatterer
    nothing leaks out of the box, 0 to the last bit, nor of several waves along one axis in the same box;
    1e-13 of the scalar scheme in float64. It has f exactly
    some nodes before the box, and from there on the speed of the scheme. Let f vanish at first
    there; `check` warns if it does not.

    Parameters
    ----------
    direction : array_like, shape (3,)
        Where the wave travels to; any length.
    polarization : array_like, shape (3,), optional
        Maxwell: the direction of E; elastic S waves: which way they move. None for others.
    f : TimeFunction or callable
        The wave at the origin: p [Pa], v [m/s] (elastic) or E [V/m] over `amplitude`.
    kind : {"p", "s"}, optional
        Elastic media: P or S; S where there is a polarization if omitted.
    region : str or sequence of str, optional
        Tags of the mesh whose cells hold the total field. One material stands on both sides of all its
        faces, without conduction.
    scatterer : str or sequence of str, optional
        Names of walls; give this or `region`. The mesh is of one material.
    box : (lower, upper), each array_like of shape (3,), optional
        On a grid, two corners of the total field [m]: the nodes within, and the places between them. Half
        the order of nodes are left on all sides or more (scalar, at walls one more), or the box reaches
        across an axis that has no layers: periodic, or between walls that the wave alone meets. One material
        stands within half the order + 1 nodes of its surface, without conduction; scatterers are inside.
    amplitude : float
        Factor of f [Pa, m/s or V/m].

    `check` warns where f has begun at the surface before the first step.

    Attributes
    ----------
    direction : (float, float, float)
        Of length 1.

    Raises
    ------
    ArgumentError
        Bad vectors or names, not one of `region`, `scatterer` and `box`. From `DG.add_source`: names that
        the mesh lacks, boundaries that are no walls, several materials, conduction, a wave that the medium
        does not have; where a region's surface ends, or beside a scatterer, walls whose condition the wave
        itself does not meet and periodic sides along which it is not periodic. From `FD.add_source`:
        directions off the axes, boxes too near to a side, several materials at their surface, conduction.

    References
    ----------
    Taflove & Hagness (2005), Computational Electrodynamics, 3rd ed., chapter 5; Tan & Potter (2010), FDTD
    discrete planewave (FDTD-DPW) formulation for a perfectly matched source in TFSF simulations, IEEE
    Trans. Antennas Propag. 58, 2641.

    See Also
    --------
    exact.plane_wave : the same wave without a scatterer.
    FarField : what a scatterer sends far away.

    Examples
    --------
    A total-field region in the middle of a periodic column: the wave passes through it, up to the errors of
    the method, and outside of it there is nothing.

    >>> import numpy as np
    >>> import unda
    >>> box = unda.box_mesh((0, 0, 0), (1, 1, 6), cells=(1, 1, 12), periodic=(True, True, False))
    >>> sides = {n: box.boundary_faces[box.boundary_ids == i] for i, n in enumerate(box.boundary_names)}
    >>> inner = abs(box.centroids[:, 2] - 3) < 1.5
    >>> mesh = unda.Mesh(box.vertices, box.cells, tags=inner.astype(int), boundaries=sides,
    ...                  periodic=box.periodic, tag_names={"outside": 0, "inside": 1})
    >>> medium = unda.Acoustic(rho=1.0, c=1.0)
    >>> wave = unda.PlaneWave((0, 0, 1), f=unda.gaussian(0.3, t0=0.0), region="inside")
    >>> sim = unda.DG(mesh, medium, degree=3, device="cpu")
    >>> sim.add_source(wave)
    >>> sim.set(t=-4.0)
    >>> sim.run(until=3.0)
    >>> sample = sim.sample([(0.5, 0.5, 3.0), (0.5, 0.5, 5.0)], ["p"])["p"]
    >>> np.round(sample, 2) + 0.0
    array([1., 0.])

    The same on a grid:

    >>> sim = unda.FD(unda.Grid((21, 21, 41), 0.1), medium, device="cpu")
    >>> corners = (0.5, 0.5, 0.5), (1.5, 1.5, 3.0)
    >>> sim.add_source(unda.PlaneWave((0, 0, 1), f=unda.gaussian(0.3, t0=0.0), box=corners))
    >>> sim.set(t=-4.0)
    >>> sim.run(until=2.0)
    >>> sample = sim.sample([(1.0, 1.0, 2.0), (1.0, 1.0, 3.6)], ["p"])["p"]
    >>> np.round(sample, 2) + 0.0
    array([1., 0.])
    """

    _otherwise = "it was added to a simulation, which goes on with it as it was; make another wave"

    def __init__(
        self,
        direction: ArrayLike,
        polarization: ArrayLike | None = None,
        f: Callable[[Any], Any] | None = None,
        *,
        kind: str | None = None,
        region: str | Iterable[str] | None = None,
        scatterer: str | Iterable[str] | None = None,
        box: ArrayLike | None = None,
        amplitude: float = 1.0,
    ) -> None:
        self._given = vector("direction", direction)
        self.direction = unit_vector("direction", direction)
        self.polarization = None if polarization is None else vector("polarization", polarization)
        if self.polarization is not None:
            unit_vector("polarization", polarization)
        if not callable(f):
            raise ArgumentError(f"f is {f!r}; expected a time function or a callable f(t)")
        if kind not in (None, "p", "s"):
            raise ArgumentError(f"kind is {kind!r}; expected 'p', 's' or None")
        given = {"region": region, "scatterer": scatterer, "box": box}
        found = [name for name, value in given.items() if value is not None]
        if len(found) != 1:
            raise ArgumentError(
                f"got {' and '.join(found) or 'none'} of region, scatterer and box; expected one of them"
            )
        self.f, self.kind = f, kind
        self.region = None if region is None else _names("region", region)
        self.scatterer = None if scatterer is None else _names("scatterer", scatterer)
        self.box = None if box is None else two_corners(box)
        # Which unit is right is known with the medium: exact.plane_wave looks at the quantity itself.
        self._amount = amplitude
        self.amplitude = number("amplitude", in_one_of("amplitude", amplitude, ("Pa", "m/s", "V/m")))

    def incident(self, medium: Medium) -> ExactSolution:
        """Return the wave in a homogeneous medium, of ``unda.exact.plane_wave``.

        Raises
        ------
        ArgumentError
            If the medium is not homogeneous or has no such wave.

        Examples
        --------
        >>> import unda
        >>> wave = unda.PlaneWave((1, 0, 0), f=unda.ricker(10.0), region="inside")
        >>> float(wave.incident(unda.Acoustic(rho=1000.0, c=1500.0))(15.0, 0.0, 0.0, 0.16)["p"])
        1.0
        """
        kind = self.kind
        if kind is None and medium.physics == "elastic" and self.polarization is not None:
            kind = "s"
        return plane_wave(
            medium, direction=self._given, f=self.f, kind=kind, polarization=self.polarization,
            amplitude=self._amount,
        )  # fmt: skip

    def driven(self, mesh: Mesh, medium: Medium, material: np.ndarray, boundaries: Boundaries) -> Driven:
        """Return the faces of a mesh at which the wave is given; raise where it makes no sense.

        Parameters
        ----------
        mesh : Mesh
        medium : Medium
        material : numpy.ndarray
            In each cell: (num_elem, 1 or num_node, num_parameter).
        boundaries : Boundaries

        Returns
        -------
        Driven
        """
        if self.box is not None:
            raise ArgumentError("the wave has box=, of a grid; on a mesh give region= or scatterer=")
        surface = _Surface(mesh, boundaries)
        if self.region is not None:
            elem, face, sign = surface.of_region(self.region)
            cells = np.unique(elem)
        else:
            assert self.scatterer is not None
            elem, face, sign = surface.of_walls(self.scatterer)
            cells = np.arange(mesh.num_elem)
        where = self._where()
        wave = self.incident(_background(mesh, medium, material, cells, where))
        surface.check(self, elem, face, wave)
        return Driven(elem.astype(np.int64), face.astype(np.int32), sign.astype(np.int32), wave)

    def _where(self) -> str:
        if self.region is not None:
            return f"the faces of region {list(self.region)}"
        return f"scatterer {list(self.scatterer or ())}"

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_config` makes an equal wave.

        Raises
        ------
        ArgumentError
            If f is a plain callable, which only `unda.sampled` can turn into numbers.
        """
        return {"type": type(self).__name__, **self._arguments(), "f": saved_f(self)}

    def _arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments but f, JSON-able; those that were not given are left out."""
        given = {
            "direction": self._given, "polarization": self.polarization, "kind": self.kind,
            "region": self.region, "scatterer": self.scatterer, "box": self.box,
            "amplitude": self.amplitude,
        }  # fmt: skip
        listed = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}
        return {name: value for name, value in listed.items() if value is not None}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> PlaneWave:
        """Make a wave from what `to_config` gave."""
        arguments = {name: value for name, value in config.items() if name not in ("type", "f")}
        return cls(**arguments, f=from_config(config["f"]))

    def __repr__(self) -> str:
        parts = [f"{name}={value}" for name, value in self._arguments().items() if name != "direction"]
        return f"unda.{type(self).__name__}({', '.join([str(self._given), f'f={self.f!r}', *parts])})"


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if not names or not all(isinstance(one, str) for one in names):
        raise ArgumentError(f"{name} is {value!r}; expected a name or a list of names")
    return names


def two_corners(box: Any) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return the lower and the upper corner of a box."""
    try:
        lower, upper = box
    except (TypeError, ValueError):
        raise ArgumentError(f"box is {box!r}; expected two corners, (lower, upper) [m]") from None
    low, high = vector("box[0]", lower, "m"), vector("box[1]", upper, "m")
    if not all(a <= b for a, b in zip(low, high, strict=True)):
        raise ArgumentError(f"box goes from {low} to {high}; expected the lower corner first")
    return low, high


class _Surface:
    """The faces of a mesh, by the names of its tags and boundaries."""

    def __init__(self, mesh: Mesh, boundaries: Boundaries) -> None:
        self.mesh, self.neighbors = mesh, mesh.neighbors
        self.words = boundaries.words
        self.number = np.where(self.neighbors < 0, -1 - self.neighbors, -1)  # of the boundary
        self.inside = np.zeros(mesh.num_elem, bool)  # the total field

    def _numbers(self, names: Iterable[str]) -> list[int]:
        return [self.mesh.boundary_names.index(name) for name in names]

    def of_region(self, tags: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return elem, face and sign of a region's surface, from both sides."""
        mesh = self.mesh
        unknown = [tag for tag in tags if tag not in mesh.tag_names]
        if unknown:
            raise ArgumentError(f"region names {unknown}; the mesh has the tags {list(mesh.tag_names)}")
        self.inside = np.isin(mesh.tags, [mesh.tag_names[tag] for tag in tags])
        behind = self.inside[self.neighbors // self.neighbors.shape[1]]
        across = np.where(self.neighbors >= 0, behind, self.inside[:, None])
        absorbing = self._numbers(name for name, word in self.words.items() if word == "absorbing")
        surface = across != self.inside[:, None]
        surface |= self.inside[:, None] & np.isin(self.number, absorbing)
        elem, face = np.nonzero(surface)
        if len(elem) == 0:
            raise ArgumentError(
                f"region {list(tags)} has {int(self.inside.sum())} of {mesh.num_elem} cells and no face to "
                "others or to an absorbing boundary, through which the wave could come in"
            )
        return elem, face, np.where(self.inside[elem], 1, -1)

    def of_walls(self, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return elem, face and sign of walls."""
        unknown = [name for name in names if name not in self.words]
        if unknown:
            raise ArgumentError(f"scatterer names {unknown}; the mesh has the boundaries {list(self.words)}")
        for name in names:
            if self.words[name] not in WALLS:
                raise ArgumentError(
                    f"scatterer {name!r} is {self.words[name]}; expected a wall, one of {list(WALLS)}"
                )
        elem, face = np.nonzero(np.isin(self.number, self._numbers(names)))
        if len(elem) == 0:
            raise ArgumentError(f"scatterer {list(names)} has no faces")
        return elem, face, np.full(len(elem), -1)

    # ---- boundaries that touch the driven faces ----

    def _corners(self, elem: np.ndarray, face: np.ndarray) -> np.ndarray:
        """Vertices of faces (n, 3 or 4), around them."""
        return np.asarray(np.take_along_axis(self.mesh.cells[elem], FACES[self.mesh.shape][face], axis=1))

    def _edges(self, corners: np.ndarray) -> np.ndarray:
        """Edges of faces (n, 3 or 4) as integers."""
        ends = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=-1), axis=-1)
        return np.asarray(ends[..., 0] * self.mesh.num_vertex + ends[..., 1])

    def check(self, source: PlaneWave, elem: np.ndarray, face: np.ndarray, wave: ExactSolution) -> None:
        """Refuse other walls at the edges of the driven faces, unless the wave alone meets them."""
        ends = self._edges(self._corners(elem, face))
        for pair in self.mesh.periodic:
            self._check_periodic(source, ends, pair)
        between = ends[self.neighbors[elem, face] >= 0]  # total and scattered field
        for name, word in self.words.items():
            doubtful = word in WALLS or (word == "exact" and source.region is not None)
            if not doubtful or name in (source.scatterer or ()):
                continue
            at, side = np.nonzero((self.number == self._numbers([name])[0]) & ~self.inside[:, None])
            corners = self._corners(at, side)
            if source.region is not None:  # a wall away from the region belongs to the scattered field
                corners = corners[np.isin(self._edges(corners), between).any(axis=1)]
            if word != "exact":
                corners = corners[left_by(word, wave, self._normals(corners)) > ALLOWED]
            if len(corners):
                raise ArgumentError(self._why(source, name, corners[0]))

    def _check_periodic(self, source: PlaneWave, ends: np.ndarray, pair: tuple[str, str]) -> None:
        """Refuse a wave that is not periodic, where driven faces end at the sides."""
        mesh = self.mesh
        sides = [mesh.boundary_faces[mesh.boundary_ids == i] for i in self._numbers(pair)]
        shift = np.subtract(*(mesh.vertices[np.unique(side)].mean(axis=0) for side in sides))
        along = abs(float(np.dot(source.direction, shift)))
        met = any(np.isin(self._edges(side), ends).any() for side in sides)
        if met and along > ALLOWED * float(np.linalg.norm(shift)):
            raise ArgumentError(
                f"{source._where()} end at the periodic sides {pair}, {tuple(shift.tolist())} m apart, along "
                f"which a wave in direction {source.direction} is not periodic; expected one across"
            )

    def _why(self, source: PlaneWave, name: str, corners: np.ndarray) -> str:
        place = tuple(self.mesh.vertices[corners].mean(axis=0).tolist())
        found = f"boundary {name!r} is {self.words[name]} at {place} m"
        if source.region is not None:
            return (
                f"{found}, where {source._where()} end: in the scattered field the wave alone would have to "
                "meet that condition, and does not; expected the boundary inside the region, absorbing, or "
                "as scatterer= instead of region="
            )
        return (
            f"{found}, a condition that the wave alone does not meet; expected it absorbing, or among "
            f"the walls of {source._where()}"
        )

    def _normals(self, corners: np.ndarray) -> np.ndarray:
        """Return unit normals of faces (n, 3), of either sign."""
        x = self.mesh.vertices[corners]
        normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def left_by(word: str, wave: ExactSolution, normal: np.ndarray) -> np.ndarray:
    """Return by how much a wave violates the condition of a wall with these normals (n, 3), relative to 1.

    Parameters
    ----------
    word : str
        The condition.
    wave : ExactSolution
        A plane wave: at one place and time its fields have the proportions that they have everywhere.
    normal : numpy.ndarray
    """
    medium = wave.medium
    steady = type(wave)(medium, **{**wave._arguments, "f": np.ones_like, "amplitude": 1.0})
    fields = [float(value) for value in steady(0.0, 0.0, 0.0, 0.0).values()]
    forbidden: list[np.ndarray] = []
    if medium.physics == "acoustic":
        v = np.array(fields[1:])
        forbidden = [normal @ v / np.linalg.norm(v)] if word == "rigid" else [np.ones(len(normal))]
    elif medium.physics == "maxwell":
        tangential = np.array(fields[:3] if word == "pec" else fields[3:])
        forbidden = [*(np.cross(normal, tangential) / np.linalg.norm(tangential)).T]
    else:
        v, sigma = np.array(fields[:3]), np.array(fields[3:])[np.array(_VOIGT)]
        traction = normal @ sigma / np.linalg.norm(sigma)
        if word == "free":
            forbidden = [*traction.T]
        elif word == "fixed":
            forbidden = [np.ones(len(normal))]
        else:
            across = traction - (traction * normal).sum(axis=1, keepdims=True) * normal
            forbidden = [normal @ v / np.linalg.norm(v), *across.T]
    return np.asarray(np.abs(forbidden).max(axis=0))


def _background(mesh: Mesh, medium: Medium, material: np.ndarray, cells: np.ndarray, where: str) -> Medium:
    """Return the one medium of these cells; raise if there are several, or it conducts."""
    rows = material[cells].reshape(-1, material.shape[2])
    cells = np.repeat(cells, material.shape[1])
    other = np.flatnonzero((rows != rows[0]).any(axis=1))

    def described(i: int) -> str:
        values = ", ".join(f"{n} = {float(v)!r}" for n, v in zip(medium.parameters, rows[i], strict=True))
        return f"{values} in cell {cells[i]} at {tuple(mesh.centroids[cells[i]].tolist())} m"

    if len(other):
        raise ArgumentError(
            f"the wave at {where} needs one material; found {described(0)} and {described(int(other[0]))}"
        )
    values = dict(zip(medium.parameters, map(float, rows[0]), strict=True))
    if values.get("sigma", 0.0) > 0.0:
        raise ArgumentError(
            f"the wave at {where} needs an insulator, or its pulse changes its shape; found {described(0)}, "
            "expected sigma = 0"
        )
    kind: Any = type(medium)
    return kind(**values)
