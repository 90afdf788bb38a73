"""Meshes from Gmsh files.

Not here: the sections of these files (_gmsh.py). Next: mesh.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .._check import file_path
from ..problem.mesh import Mesh
from ._gmsh import read_gmsh


def read_mesh(
    path: str | os.PathLike[str],
    *,
    linearize: bool = False,
    fix_orientation: bool = False,
    periodic: Iterable[tuple[str, str]] | None = None,
) -> Mesh:
    """Read a Gmsh mesh (.msh 2.2 or 4.1, ASCII or binary).

    Physical volumes become tags, physical surfaces boundaries, by their names (or numbers). Faces
    of physical surfaces inside the mesh are ignored, and logged. Without physical surfaces, all
    outer faces are one boundary named "boundary". Nodes that no cell uses are dropped. Cells are tetrahedra,
    or hexahedra of 8 nodes or, quadratic along each axis, of 27.

    Parameters
    ----------
    path : str or path-like
        The file.
    linearize : bool, optional
        Use only the corners of curved cells, also of those that are refused otherwise: tetrahedra of more
        than 4 nodes, hexahedra of 20.
    fix_orientation : bool, optional
        Renumber inverted cells instead of refusing them.
    periodic : sequence of (str, str), optional
        Pairs of boundaries that a translation maps onto each other.

    Returns
    -------
    Mesh
        Coordinates in the unit of the file, which should be m.

    Raises
    ------
    FileNotFoundError
        No such file.
    MeshError
        The file is damaged, has cells of other shapes or of several, or is not a valid mesh.

    See Also
    --------
    box_mesh, mapped_mesh : meshes without a file.
    datasets.path : sample files.

    Examples
    --------
    >>> import unda
    >>> mesh = unda.read_mesh(unda.datasets.path("two_layers.msh"))
    >>> mesh.tag_names
    {'lower': 1, 'upper': 2}
    """
    arrays = read_gmsh(file_path(path), linearize=bool(linearize))
    mesh = Mesh(**arrays, periodic=periodic, fix_orientation=fix_orientation)
    mesh.origin = {"made_by": "read_mesh", "path": os.fspath(path)}
    return mesh
