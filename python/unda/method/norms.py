"""Errors of a simulation against exact solutions: by cubature on meshes, summed over the nodes of grids.

Not here: the error of traces (receiver.py), energies (csrc/dg/energy.c).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._check import call_at, field_values
from .._core import lib, new
from ..errors import ArgumentError
from ..problem.grid import chunks
from .fd_sides import flat_axes
from .points import Points

_BATCH = 20_000  # elements at a time


def _cubature(shape: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) and weights (n,) on the reference element; the weights sum to its volume."""
    count = new("int64_t *")
    _core.check(lib.unda_element_cubature(shape, degree, count, _core.NULL, _core.NULL))
    points, weights = np.empty((count[0], 3)), np.empty(count[0])
    to = (_core.pointer(points, writable=True), _core.pointer(weights, writable=True))
    _core.check(lib.unda_element_cubature(shape, degree, count, *to))
    return points, weights


def interpolation(shape: int, degree: int, points: np.ndarray) -> np.ndarray:
    """Return the matrix (point, node) of the basis functions at reference points."""
    matrix = np.empty((len(points), lib.unda_element_num_node(shape, degree)))
    to = _core.pointer(matrix, writable=True)
    given = _core.pointer(points)
    _core.check(lib.unda_element_interpolate(shape, degree, len(points), given, to))
    return matrix


def derivatives(shape: int, degree: int) -> np.ndarray:
    """Return the derivative matrices (3, node, node) of the reference element."""
    n = lib.unda_element_num_node(shape, degree)
    matrices = np.empty((3, n, n))
    arrays = _core.new_struct("unda_element_arrays", derivative=_core.pointer(matrices, writable=True))
    _core.check(lib.unda_element_get_arrays(shape, degree, arrays))
    return matrices


def reference_coordinates(mesh: Any, elem: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the reference coordinates (num_place, 3) of places in cells, in hexahedra by Newton's method."""
    if mesh.shape == "tet":
        corners = mesh.coordinates(1)[elem]
        edges, away = corners[:, 1:] - corners[:, :1], places - corners[:, 0]
        return np.linalg.solve(edges.transpose(0, 2, 1), away[..., None])[..., 0]
    shape, degree = mesh._info.shape, 2  # no hexahedron's map is of a higher degree
    x = mesh.coordinates(degree)[elem]
    slopes = np.einsum("jnm,smi->snij", derivatives(shape, degree), x)
    found, barycentric = mesh.locate(places)
    # from the middle, steps lead out of cells that are nearly folded; shared points may be found elsewhere
    reference = np.where((found == elem)[:, None], barycentric[:, ::2], 0.5)
    for _ in range(20):
        basis = interpolation(shape, degree, reference)
        edges, away = np.einsum("sn,snij->sij", basis, slopes), places - np.einsum("sn,sni->si", basis, x)
        reference += np.linalg.solve(edges, away[..., None])[..., 0]
    return reference


def _measures(sim: Any, points: np.ndarray, weights: np.ndarray) -> Callable[[slice], np.ndarray]:
    """Return the function of elements that gives the volume of each of their cubature points."""
    if sim.mesh.shape == "tet":
        jacobian = sim.mesh.volumes / weights.sum()
        return lambda part: weights * jacobian[part, None]
    shape = sim.mesh._info.shape
    slopes = interpolation(shape, sim.degree, points) @ derivatives(shape, sim.degree)
    return lambda part: weights * np.linalg.det(np.einsum("jpn,eni->epji", slopes, sim.coordinates[part]))


def _bound(exact: Any, points: Points) -> Any:
    """Return an exact solution as it is on the mesh or grid, or raise if it has no L2 norm."""
    if getattr(exact, "singular", False):
        raise ArgumentError(f"{exact!r} is singular, its L2 norm is infinite; compare traces with rec.misfit")
    found = points.bound(exact)
    if not callable(found):
        raise ArgumentError(f"exact is {exact!r}, expected an exact solution")
    return found


def mesh_error(
    sim: Any, exact: Any, *, relative: bool = False, without: np.ndarray | None = None
) -> dict[str, float]:
    """Return {field: sqrt(integral (q - q_exact)^2 dV)}, without some cells; see `DG.error`."""
    exact = _bound(exact, sim._points)
    points, weights = _cubature(sim.mesh._info.shape, 2 * sim.degree + 2)
    interpolate = interpolation(sim.mesh._info.shape, sim.degree, points)
    q = sim._read(lib.UNDA_STATE)
    x = sim.coordinates
    measures = _measures(sim, points, weights)
    sums = np.empty((2, len(sim.fields), len(q)))  # of each cell
    for first in range(0, len(q), _BATCH):
        part = slice(first, min(first + _BATCH, len(q)))
        place = np.einsum("pn,eni->epi", interpolate, x[part])
        values = call_at("exact", exact, [place[..., axis] for axis in range(3)], sim.t)
        values = field_values(values, sim.fields, place.shape[:2], "the exact solution")
        measure = measures(part)
        for i, name in enumerate(sim.fields):
            # Not a product of BLAS, whose sums depend on how many cells there are: of a process, or of all.
            found = np.einsum("en,pn->ep", q[part, :, i].astype(np.float64), interpolate)
            sums[0, i, part] = (measure * (found - values[name]) ** 2).sum(axis=1)
            sums[1, i, part] = (measure * np.broadcast_to(values[name], found.shape) ** 2).sum(axis=1)
    if without is not None:
        sums[:, :, without] = 0.0
    wrong, norm = (
        dict(zip(sim.fields, row, strict=True)) for row in _totals(sums.reshape(-1, len(q)), sim.ranks)
    )
    return roots(wrong, norm if relative else None, sim.medium.field_groups)


def _totals(sums: np.ndarray, ranks: Any) -> np.ndarray:
    """Return the totals of rows, of all processes: exact sums, rounded once, in any order."""
    if ranks is not None:
        pieces = ranks.comm.gather(sums, root=0)
        return ranks.first("error", lambda: _totals(np.concatenate(pieces, axis=1), None))  # type: ignore[no-any-return]
    return np.array([math.fsum(row) for row in sums]).reshape(2, -1)


def grid_error(sim: Any, exact: Any, *, relative: bool = False) -> dict[str, float]:
    """Return {field: sqrt(sum (q - q_exact)^2 V)}; see `FD.error`."""
    exact = _bound(exact, sim._points)
    flat = flat_axes(sim.grid, sim._sides)
    volume = np.prod([h for axis, h in zip("xyz", sim.grid.spacing, strict=True) if axis not in flat])
    wrong, norm = {}, {}
    for name in sim.fields:
        sums = _whole_error(sim, name, exact)
        wrong[name], norm[name] = (float(one * volume) for one in sums)
    return roots(wrong, norm if relative else None, sim.medium.field_groups)


def _whole_error(sim: Any, name: str, exact: Any) -> tuple[float, float]:
    """Return what `_square_error` does; where processes share the grid, what process 0 finds."""
    found = sim.get(name, gather=True)
    if sim.ranks is None:
        return _square_error(sim, name, found, exact)
    return sim.ranks.first("error", lambda: _square_error(sim, name, found, exact))  # type: ignore[no-any-return]


def _square_error(sim: Any, name: str, found: np.ndarray, exact: Any) -> tuple[float, float]:
    """Return sums of (q - q_exact)^2 and of q_exact^2 over a grid."""
    x, y, z = sim._axes(name)
    t = sim.t + sim._scheme.lag(name) * sim.dt
    inside = [axis < np.inf for axis in (x, y, z)]
    for i, (axis, half) in enumerate(zip((x, y, z), sim._scheme.offset(name), strict=True)):
        if half and sim._axes(name)[i][-1] == sim.grid.upper[i] and len(axis) > 1:
            inside[i] = np.arange(len(axis)) < len(axis) - 1  # an image beyond a wall
    wrong = norm = 0.0
    for first, count, _ in chunks(sim.grid):
        part = slice(first, first + count)
        place = np.broadcast_arrays(x[part, None, None], y[None, :, None], z[None, None, :])
        here = inside[0][part, None, None] & inside[1][:, None] & inside[2]
        given = call_at("exact", exact, place, t)
        values = field_values(given, (name,), place[0].shape, "the exact solution")[name]
        wrong += float((((found[part] - values) ** 2)[here]).sum())
        norm += float((np.asarray(values)[here] ** 2).sum())
    return wrong, norm


def roots(
    wrong: Mapping[str, float], norm: Mapping[str, float] | None, groups: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return {field: sqrt(wrong)}; given norms, sqrt(wrong / sum of norms over the field's group)."""
    if norm is None:
        return {name: float(np.sqrt(one)) for name, one in wrong.items()}
    whole = {name: sum(norm.get(one, 0.0) for one in group) for group in groups.values() for name in group}
    return {
        name: float(np.sqrt(one / whole[name])) if whole[name] > 0 else np.inf for name, one in wrong.items()
    }
