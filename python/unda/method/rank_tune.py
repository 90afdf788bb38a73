"""Tuning where processes share a mesh: process 0 measures on its own cells, and all take its choice.

Every process has the same plan, and what the whole mesh decides (how the metric is kept) is left to the
library. Not here: the candidates (tune.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problem.mesh import Mesh
from ..problem.rank_mesh import RankMesh
from .tune import Choice, tuned

_OF_WHOLE = "metric"  # own cells may be parallelepipeds where others are not


def tuned_part(
    method: Any, part: RankMesh, medium: Any, device: str, keywords: Mapping[str, Any], kernel: str
) -> Choice:
    """Return (kernel, kernel_options) in all processes, see `tuned`; medium: of the whole, in process 0."""

    def measured() -> Choice:
        own = _own_mesh(part)
        # Cut faces absorb: messages are not timed, nor what outer data cost.
        alone = {name: value for name, value in keywords.items() if name != "boundary"}
        found, options = tuned(method, own, _own_medium(part, medium, keywords), device, alone, kernel)
        return found, options and {name: value for name, value in options.items() if name != _OF_WHOLE}

    return part.ranks.first("tune", measured)


def _own_mesh(part: RankMesh) -> Mesh:
    """Return the own cells of process 0 as a mesh of their own."""
    whole, own = part.whole, part.own_cells
    assert whole is not None
    used, cells = np.unique(whole.cells[own], return_inverse=True)
    curved = None if whole.curved is None else whole.curved[own]
    return Mesh(whole.vertices[used], cells.reshape(len(own), -1), curved=curved)


def _own_medium(part: RankMesh, medium: Any, keywords: Mapping[str, Any]) -> Any:
    table = medium._in_cells(part.whole, keywords["degree"])[part.own_cells]
    columns = np.moveaxis(table if medium.per == "node" else table[:, 0], -1, 0)
    values = dict(zip(medium.parameters, map(np.ascontiguousarray, columns), strict=True))
    return type(medium)(per=medium.per, **values)
