"""Layers of a mesh that processes share: process 0, which has the whole mesh, makes them before it is parted.

Every process gives the same boundary conditions. Not here: what layers become (mesh_layer.py,
../problem/mesh_damping.py), the parts (../problem/rank_mesh.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._ranks import Ranks
from ..errors import ArgumentError
from ..problem.mesh import Mesh
from ..problem.rank_mesh import RankMesh
from ._options import Given


class _Told(NamedTuple):
    """What process 0 tells the others."""

    names: tuple[str, ...]  # of boundaries with a condition
    words: dict[str, Any]  # of those with layers: what stands there now
    layers: Any
    has_cells: bool  # were added
    has_medium: bool  # continues into them


def add(given: Given, work: Callable[[Given], None], kind: tuple[type, ...]) -> bool:
    """Let `work` add layers to the arguments of a method in process 0; all have what follows from it.

    Parameters
    ----------
    given : Given
        Its mesh, medium, boundary, layers and partition become others.
    work : callable
        Adds layers to arguments that have a whole mesh.
    kind : tuple of type
        Of conditions that are layers.

    Returns
    -------
    bool
        Whether processes share the mesh, and a boundary has a layer; else nothing was done.

    Raises
    ------
    ArgumentError
        In all processes: no mesh in process 0, and whatever `work` raises.
    """
    scattered = given.mesh if isinstance(given.mesh, RankMesh) else None
    conditions: Mapping[str, Any] = given.boundary if isinstance(given.boundary, Mapping) else {}
    if (scattered is None and given.comm is None) or not any(
        isinstance(one, kind) for one in conditions.values()
    ):
        return False
    ranks = scattered.ranks if scattered else given.comm
    ranks = ranks if isinstance(ranks, Ranks) else Ranks(ranks)
    if given.comm is not None and not ranks.is_of(given.comm):
        raise ArgumentError("comm has other processes than those among which the mesh was scattered")

    def make() -> tuple[Given, _Told] | None:
        if ranks.rank:
            return None
        whole = scattered.whole if scattered else given.mesh() if callable(given.mesh) else given.mesh
        if not isinstance(whole, Mesh):
            raise ArgumentError(f"mesh is {whole!r} in process 0, expected a whole Mesh there")
        made = Given({**vars(given), "mesh": whole, "comm": None})
        work(made)
        words = {
            name: word for name, word in made.boundary.items() if isinstance(_of(conditions, name), kind)
        }
        added, continued = made.mesh is not whole, made.medium is not given.medium
        return made, _Told(tuple(made.boundary), words, made.layers, added, continued)

    made = ranks.together("layers", make)
    told: _Told = ranks.comm.bcast(made[1] if made else None, root=0)
    given.comm, given.layers = ranks, told.layers
    given.boundary = {name: told.words.get(name, _of(conditions, name)) for name in told.names}
    if scattered is None or told.has_cells:
        given.mesh, given.partition = (made[0].mesh, made[0].partition) if made else (None, "curve")
    if told.has_medium:
        given.medium = made[0].medium if made else None
    return True


def _of(conditions: Mapping[str, Any], name: str) -> Any:
    return conditions.get(name, conditions.get("*"))
