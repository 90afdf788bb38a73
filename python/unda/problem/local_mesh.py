"""The mesh of one part: its own cells, its ghosts, the faces that it shares with other parts.

It is pickled as one block of memory, which is how processes send it to each other. Not here: how the parts
are chosen (``partition.py``). Next: ``csrc/mesh/part.c``.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .. import _core
from .._core import lib
from .mesh import Mesh

if TYPE_CHECKING:
    from .partition import Partition


class Link(NamedTuple):
    """The faces that a part shares with a neighbour, in the same order on both sides.

    Faces are numbered as in `Mesh.neighbors`: faces a cell * cell + face.
    """

    part: int  # the neighbour
    own: np.ndarray  # of cells of this part: their traces are sent
    ghost: np.ndarray  # of ghosts: their traces are received


class LocalMesh(Mesh):
    """One part of a mesh, with the ghosts of other parts behind its own cells.

    `Partition.local` makes it. Everything is that of the whole mesh: boundaries and tags go by the same
    numbers, faces have the same sides, and cells the same volumes. A neighbour of a ghost that is in another
    part is -2147483648 in `neighbors`. Sums and extremes, such as `volume`, are those of own cells.

    Attributes
    ----------
    which, num_part : int
        This part, of how many.
    num_owned, num_border, num_ghost : int
        Own cells, which come first; those of them at a ghost; cells of other parts.

    Examples
    --------
    >>> import unda
    >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
    >>> local = mesh.partition(2).local(1)
    >>> bool((mesh.volumes[local.global_cells] == local.volumes).all())
    True
    """

    def _adopt(self, handle: Any, *rest: Any) -> None:
        super()._adopt(handle, *rest)
        info = self._info
        self.which, self.num_part = int(info.which), int(info.num_part)
        self.num_owned, self.num_border = int(info.num_owned), int(info.num_border)
        self.num_ghost = self.num_elem - self.num_owned

    @cached_property
    def global_cells(self) -> np.ndarray:
        """Cell of the whole mesh that each one is (num_elem,); own ones ascend."""
        return self._copy("global", np.int64, (self.num_elem,))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The faces shared with each neighbouring part."""
        info = self._info
        parts = self._copy("neighbor_parts", np.int32, (int(info.num_neighbor_part),))
        first = self._copy("first_cut", np.int64, (len(parts) + 1,))
        own, ghost = (
            self._copy(name, np.int64, (int(info.num_cut_face),)) for name in ("cut_own", "cut_ghost")
        )
        return tuple(
            Link(int(part), own[begin:end], ghost[begin:end])
            for part, begin, end in zip(parts, first[:-1], first[1:], strict=True)
        )

    def __repr__(self) -> str:
        count, parts = int(self._info.num_cut_face), [link.part for link in self.links]
        return (
            f"LocalMesh(part {self.which} of {self.num_part}: {self.num_owned} {self._kind}, "
            f"{self.num_border} of them at {self.num_ghost} ghosts; {count} cut faces, of parts {parts})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        names = self.boundary_names, self.periodic, self.tag_names
        return unpacked, (packed(self), *names), {"origin": self.origin}


_Kind = TypeVar("_Kind", bound=LocalMesh)


def made(make: Any, names: tuple[Any, ...], kind: type[_Kind]) -> _Kind:
    """Return a mesh that the library makes; names: those of boundaries, periodic pairs, those of tags."""
    mesh = kind.__new__(kind)
    mesh._adopt(_core.new_object("unda_mesh", make, lib.unda_mesh_free), *names)
    return mesh


def part_mesh(partition: Partition, which: int) -> LocalMesh:
    """Return the mesh of a part."""
    mesh, part = partition.mesh, _core.pointer(partition.part)
    local = made(
        lambda out: lib.unda_mesh_part(out, mesh._handle, partition.num, part, which),
        (mesh.boundary_names, mesh.periodic, mesh.tag_names),
        LocalMesh,
    )
    local.origin = mesh.origin
    return local


def packed(mesh: Mesh) -> np.ndarray:
    """Return a mesh as one block of memory, in words of 8 bytes."""
    num_byte = _core.new("int64_t *")
    _core.check(lib.unda_mesh_pack(mesh._handle, num_byte, _core.NULL))
    block = np.empty(num_byte[0] // 8, np.int64)
    _core.check(lib.unda_mesh_pack(mesh._handle, num_byte, _core.pointer(block, writable=True)))
    return block


def unpacked(block: np.ndarray, names: tuple[str, ...], periodic: Any, tag_names: Any) -> LocalMesh:
    """Return the part that `packed` made a block of."""
    return made(unpacking(block), (names, periodic, tag_names), LocalMesh)


def unpacking(block: np.ndarray) -> Any:
    """Return the call of the library that unpacks a block."""
    return lambda out: lib.unda_mesh_unpack(out, block.nbytes, _core.pointer(block))
