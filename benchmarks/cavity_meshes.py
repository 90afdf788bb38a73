"""Make the meshes of ``unda verify cavity``: the unit cube in tetrahedra, by Gmsh 4.15.2 (pip install gmsh).

About as many as in Table 2 of Klöckner et al. (2009). Edges have n - 1 or n parts at random, so that nothing
is structured or symmetric; of some 200 tries each these have the cells of most equal volume.
Run: python benchmarks/cavity_meshes.py
"""

from pathlib import Path

import gmsh
import numpy as np

TARGET = Path(__file__).resolve().parent.parent / "python" / "unda" / "commands" / "cavity.npz"
TRIES = {  # elements: parts of the twelve edges, size of the cells inside
    473: ((3, 3, 4, 3, 3, 4, 4, 4, 3, 4, 4, 4), 0.2608),
    723: ((4, 5, 5, 5, 4, 4, 5, 4, 4, 4, 4, 4), 0.2086),
    1198: ((5, 6, 5, 6, 5, 5, 6, 5, 5, 5, 5, 6), 0.1731),
    1833: ((6, 7, 7, 7, 7, 7, 7, 6, 7, 6, 7, 7), 0.1424),
}


def cube(parts: tuple[int, ...], size: float) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and cells."""
    gmsh.clear()
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.synchronize()
    for curve, count in enumerate(parts, start=1):
        gmsh.model.mesh.setTransfiniteCurve(curve, count + 1)
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.option.setNumber("Mesh.Algorithm", 6)  # frontal
    gmsh.option.setNumber("Mesh.Algorithm3D", 1)  # Delaunay
    gmsh.option.setNumber("Mesh.OptimizeNetgen", 1)
    gmsh.model.mesh.generate(3)
    tags, x, _ = gmsh.model.mesh.getNodes()
    corners = gmsh.model.mesh.getElementsByType(4)[1]
    used, cells = np.unique(corners, return_inverse=True)
    place = {tag: i for i, tag in enumerate(tags)}
    return x.reshape(-1, 3)[[place[tag] for tag in used]], cells.reshape(-1, 4).astype(np.uint16)


def main() -> None:
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    arrays = {}
    for count, (parts, size) in TRIES.items():
        vertices, cells = cube(parts, size)
        assert len(cells) == count, f"{len(cells)} tetrahedra, expected {count}: another version of Gmsh?"
        arrays |= {f"vertices_{count}": vertices, f"cells_{count}": cells}
    np.savez_compressed(TARGET, **arrays)


if __name__ == "__main__":
    main()
