"""The part of a mesh that one of many processes has; process 0 has the whole besides.

Not here: parts within a process (partition.py, local_mesh.py). Next: ../method/rank_points.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._rank_device import share_devices
from .._ranks import Ranks
from ..errors import ArgumentError
from .local_mesh import LocalMesh, made, packed, unpacking
from .mesh import Mesh
from .partition import Partition


class _Whole(NamedTuple):
    """What every process knows of the whole mesh."""

    num_elem: int
    num_vertex: int
    digest: str
    facts: dict[str, Any]  # attributes of a mesh by name
    names: tuple[Any, ...]  # of boundaries, periodic pairs, tags


class RankMesh(LocalMesh):
    """The part of a mesh that a process has, with its ghosts; `scatter` makes it.

    Size and quality (`lower`, `upper`, `volume`, `min_insphere`, `min_quality`), names and `hash` are those
    of the whole mesh; arrays are of this part, as of `LocalMesh`: own cells first.

    Attributes
    ----------
    whole : Mesh or None
        The whole mesh, in process 0 alone.
    num_whole : int
        Its number of cells.
    """

    ranks: Ranks
    whole: Mesh | None
    num_whole: int
    _digest: str
    _place: np.ndarray  # of own cells in the internal order of the whole mesh

    @cached_property
    def hash(self) -> str:
        """That of the whole mesh."""
        return self._digest

    @property
    def own_cells(self) -> np.ndarray:
        """Cell of the whole mesh that each own cell is (num_owned,), ascending."""
        return self.global_cells[: self.num_owned]

    def local(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which cells of the whole mesh are own ones, and the numbers of these here."""
        own = self.own_cells
        at = np.minimum(np.searchsorted(own, cells), len(own) - 1)
        mine = own[at] == cells
        return mine, at[mine]

    def given(self) -> Any:
        """Return unda_ranks."""
        ranks = self.ranks
        return _core.new_struct(
            "unda_ranks", num_rank=ranks.size, which=ranks.rank, num_elem=self.num_whole, place=self._place,
            unite=ranks.unite, whole=_core.NULL if self.whole is None else self.whole._handle,
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"RankMesh({self.ranks!r}: {self.num_owned} of {self.num_whole} {self._kind}, "
            f"{int(self._info.num_cut_face)} cut faces, of processes {[link.part for link in self.links]})"
        )


def scatter(
    mesh: Mesh | Callable[[], Mesh] | None, comm: Any, *, partition: str | Partition = "curve"
) -> RankMesh:
    """Give each process of MPI its part of a mesh, with its ghosts.

    All processes call it. Only process 0 needs the mesh, and keeps the whole of it.

    Parameters
    ----------
    mesh : Mesh, callable or None
        In process 0: the mesh, or a function that makes it there, so that all processes hear of its errors.
        What the others give is ignored.
    comm : mpi4py.MPI.Intracomm
        The processes, such as ``MPI.COMM_WORLD``; one part for each.
    partition : {"curve", "metis"} or Partition, optional
        Which cell belongs to which process (`Mesh.partition`).

    Returns
    -------
    RankMesh
        What `DG` and `SEM` take in place of a mesh.

    Raises
    ------
    ArgumentError
        In all processes: no mesh in process 0, fewer cells than processes, a partition of another number of
        parts.

    See Also
    --------
    Mesh.partition : which cells belong together.

    Examples
    --------
    >>> from mpi4py import MPI  # doctest: +SKIP
    >>> mesh = unda.scatter(lambda: unda.read_mesh("basin.msh"), MPI.COMM_WORLD)  # doctest: +SKIP
    >>> sim = unda.DG(mesh, unda.Elastic(rho=2700.0, vp=6000.0, vs=3464.0))  # doctest: +SKIP
    """
    ranks = comm if isinstance(comm, Ranks) else Ranks(comm)
    plan = ranks.together("scatter", lambda: _plan(mesh, ranks, partition) if ranks.rank == 0 else None)
    whole: _Whole = ranks.comm.bcast(plan[1] if plan else None, root=0)
    words = ranks.scattered(_blocks(plan[0]) if plan else None)
    return ranks.together("scatter", lambda: _part(words, whole, ranks, plan[0] if plan else None))


def _plan(mesh: Any, ranks: Ranks, partition: Any) -> tuple[Partition, _Whole]:
    mesh = mesh() if callable(mesh) else mesh
    if not isinstance(mesh, Mesh) or isinstance(mesh, LocalMesh):
        raise ArgumentError(f"mesh is {mesh!r} in process 0, expected a whole Mesh there")
    if not isinstance(partition, Partition):
        if ranks.size > mesh.num_elem:
            raise ArgumentError(
                f"the mesh has {mesh.num_elem} cells, expected one or more a process of {ranks.size}"
            )
        partition = mesh.partition(ranks.size, method=partition)
    if partition.mesh is not mesh or partition.num != ranks.size:
        raise ArgumentError(
            f"partition has {partition.num} parts of {partition.mesh!r}, expected one for each of "
            f"{ranks.size} processes, of the mesh"
        )
    facts = {
        name: getattr(mesh, name)
        for name in ("lower", "upper", "volume", "min_insphere", "min_quality", "worst_elem", "origin")
    }
    names = mesh.boundary_names, mesh.periodic, mesh.tag_names
    return partition, _Whole(mesh.num_elem, mesh.num_vertex, mesh.hash, facts, names)


def _blocks(partition: Partition) -> Callable[[int], np.ndarray]:
    """Return the function that makes what a process gets: places of its cells in the whole, and its part."""
    mesh = partition.mesh
    place = np.empty(mesh.num_elem, np.int64)
    place[mesh._copy("order", np.int64, (mesh.num_elem,))] = np.arange(mesh.num_elem)

    def block(rank: int) -> np.ndarray:
        local = partition.local(rank)
        own = local.global_cells[: local.num_owned]
        return np.concatenate([[len(own)], place[own], packed(local)])

    return block


def _part(words: np.ndarray, whole: _Whole, ranks: Ranks, partition: Partition | None) -> RankMesh:
    head = 1 + int(words[0])
    mesh = made(unpacking(words[head:]), whole.names, RankMesh)
    mesh._is_fixed = False
    for name, value in whole.facts.items():
        setattr(mesh, name, value)
    mesh.ranks, mesh.num_whole = ranks, whole.num_elem
    mesh.whole = partition.mesh if partition is not None else None
    mesh._digest, mesh._place = whole.digest, words[1:head].copy()
    mesh._fix()
    return mesh


def take_part(given: Any) -> Ranks | None:
    """Return the processes that arguments of a method ask for, and make `given.mesh` a part; None: alone."""
    comm = given.comm
    if not isinstance(given.mesh, RankMesh):
        if comm is None:
            return None
        given.mesh = scatter(given.mesh, comm, partition=given.partition)
        given.partition = "curve"
    ranks: Ranks = given.mesh.ranks
    if comm is not None and not ranks.is_of(comm):
        raise ArgumentError("comm has other processes than those among which the mesh was scattered")
    share_devices(given, ranks)
    return ranks
