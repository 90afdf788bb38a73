"""The medium of a simulation on a grid, as its solver has it: later readers detect changes.

Arrays of models are large and not copied, and functions may return different values each time. So digests of
the values that the solver received are kept, chunk by chunk.

Not here: media (medium.py), changes before a simulation is made (_values.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..problem.grid import Block, Grid, chunks
from ..problem.medium import Medium


class GridMaterial:
    """The parameters of a medium at the nodes of a grid; they must not change after they were first read.

    Attributes
    ----------
    row : ndarray or None
        The parameters, where they are the same everywhere.
    first : ndarray
        Those of the first node.
    """

    def __init__(self, medium: Medium, grid: Grid) -> None:
        self._medium, self._grid = medium, grid
        self._seen: list[_Seen] = []  # of each chunk, or one of all where they are alike
        try:
            self.row: np.ndarray | None = np.array(list(medium.scalar().values()))
        except ArgumentError:
            self.row = None
        if self.row is not None:
            self._seen.append(_Seen.of(medium, self.row[None]))
            medium._refuse_changed()
        self.first = medium.on(Block(grid, 0, 1))[0] if self.row is None else self.row

    def digests(self) -> list[bytes]:
        """Return those of the chunks that were read."""
        return [one.digest for one in self._seen]

    def tables(self) -> Iterator[np.ndarray]:
        """Return the parameters chunk by chunk, (nodes, parameters), as they were when first read.

        Raises
        ------
        ArgumentError
            If values have changed.
        """
        blocks, medium = [block for _, _, block in chunks(self._grid)], self._medium
        if self.row is not None:
            yield from (np.tile(self.row, (block.num_elem, 1)) for block in blocks)
        elif self._seen:
            found = medium._each(blocks, lambda table: (table, sha256(table.data).digest()))
            for i, (table, digest) in enumerate(found):
                self._compare(i, digest)
                yield table
        else:
            seen = []
            for table, one in medium._each(blocks, lambda table: (table, _Seen.of(medium, table))):
                seen.append(one)
                if len(seen) == len(blocks):
                    medium._refuse_changed()
                    self._seen = seen
                yield table

    def planes(self, first: int, count: int) -> np.ndarray:
        """Return the parameters of planes of constant x of one chunk, (count, ny, nz, parameters)."""
        shape = self._grid.shape
        if self.row is not None:
            return np.tile(self.row, (count, *shape[1:], 1))
        i, (begin, num, block) = next(
            (i, chunk) for i, chunk in enumerate(chunks(self._grid)) if first < chunk[0] + chunk[1]
        )
        table = self._medium._table(block)
        self._compare(i, sha256(table.data).digest())
        whole: np.ndarray = table.reshape(num, *shape[1:], -1)
        return whole[first - begin : first - begin + count]

    def speeds(self) -> tuple[float, float]:
        """Return the speeds of the slowest and of the fastest wave [m/s]."""
        return min(one.slowest for one in self._seen), max(one.fastest for one in self._seen)

    def fluid(self) -> np.ndarray:
        """Return the fluid nodes of an elastic medium, bool (nx, ny, nz)."""
        if self.row is not None:
            return np.broadcast_to(self._seen[0].fluid, self._grid.shape)
        return np.concatenate([one.fluid for one in self._seen]).reshape(self._grid.shape)

    def is_fluid(self, node: int) -> bool:
        """Return whether a node is fluid; nodes are counted in C order."""
        if self.row is not None:
            return bool(self._seen[0].fluid[0])
        i, begin = next(
            (i, block.begin) for i, (_, _, block) in enumerate(chunks(self._grid)) if node < block.end
        )
        return bool(self._seen[i].fluid[node - begin])

    def _compare(self, i: int, digest: bytes) -> None:
        if digest != self._seen[i].digest:
            first, count, _ = list(chunks(self._grid))[i]
            raise ArgumentError(
                f"the medium has changed since the simulation was made, in planes {first} to "
                f"{first + count - 1} of x: an array was written to, or a function gives other values; put "
                "the old values back, or make another medium and simulation of the new ones"
            )


class _Seen(NamedTuple):
    """Extremes and digest of a chunk when it was first read; the fluid nodes of an elastic medium."""

    digest: bytes
    slowest: float
    fastest: float
    fluid: np.ndarray

    @classmethod
    def of(cls, medium: Medium, table: np.ndarray) -> _Seen:
        speeds, columns = medium._speeds(table), list(medium.parameters)
        fluid = np.equal(table[:, columns.index("vs")], 0.0) if "vs" in columns else np.empty(0, bool)
        return cls(sha256(table.data).digest(), float(speeds.min()), float(speeds.max()), fluid)
