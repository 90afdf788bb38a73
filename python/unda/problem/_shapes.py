"""Tables of cell shapes: counts, faces, nodes of curved cells, as csrc/mesh/mesh.c has them.

Not here: nodes of methods (csrc/element).
"""

from __future__ import annotations

import numpy as np

SHAPES = {"tet": 0, "hex": 1}
#: vertices, faces and vertices a face of a cell, by shape
SIZES = {"tet": (4, 4, 3), "hex": (8, 6, 4)}
#: highest degree of the polynomials
MAX_DEGREE = {"tet": 9, "hex": 10}
#: vertices of each face of a cell, around it
FACES = {
    "tet": np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]),
    "hex": np.array([[0, 3, 7, 4], [1, 2, 6, 5], [0, 1, 5, 4], [3, 2, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7]]),
}
#: twice the reference coordinates of a hexahedron's vertices
_CORNERS = np.array(
    [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]]
)  # fmt: skip
#: vertices of the edges of a hexahedron
EDGES = np.array(
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
)  # fmt: skip
#: nodes of a curved hexahedron, as `Mesh` numbers them, in VTK's order: vertices, edges, faces, the middle
VTK_NODES = (
    np.concatenate([_CORNERS, _CORNERS[EDGES].mean(1), _CORNERS[FACES["hex"]].mean(1), [[1, 1, 1]]])
    @ [1, 3, 9]
).astype(np.int64)  # fmt: skip
