"""Sample meshes and models that come with the package, so that examples run from an empty folder.

>>> import unda
>>> mesh = unda.datasets.mesh("two_layers.msh")
>>> mesh.tag_names
{'lower': 1, 'upper': 2}

Not here: reading files of one's own (`unda.read_mesh`, `unda.read_model`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._check import choice
from ..io.mesh_file import read_mesh
from ..io.model_file import read_model
from ..problem.grid import Grid
from ..problem.mesh import Mesh

__all__ = ["NAMES", "mesh", "model", "path"]

#: What there is, with a line on each.
NAMES = {
    "kernels.json": "times of the kernels of DG on an NVIDIA H200, for a roofline (notebook 7)",
    "pec_sphere.msh": "3842 tetrahedra between a sphere of radius 1 m, flat facets inside it, and one of 3 m",
    "salt.sgy": "a section of the speed of sound [m/s], 4 km by 2 km every 25 m: water, beds, a body of salt",
    "two_layers.msh": "1791 tetrahedra in a cube of 1 km, in two layers, lower and upper",
}


def path(name: str) -> Path:
    """Return the path of a sample file.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ArgumentError
        No such sample.

    See Also
    --------
    mesh, model : what is in it.

    Examples
    --------
    >>> import unda
    >>> unda.read_mesh(unda.datasets.path("two_layers.msh")).num_elem
    1791
    """
    names = sorted(NAMES)
    return Path(__file__).resolve().parent / names[choice("name", name, names)]


def mesh(name: str) -> Mesh:
    """Return a sample mesh.

    Parameters
    ----------
    name : {"pec_sphere.msh", "two_layers.msh"}

    Returns
    -------
    Mesh

    Raises
    ------
    ArgumentError
        No such sample mesh.

    See Also
    --------
    unda.read_mesh : meshes of one's own.

    Examples
    --------
    >>> import unda
    >>> unda.datasets.mesh("pec_sphere.msh").boundary_names
    ('sphere', 'outer')
    """
    names = sorted(one for one in NAMES if one.endswith(".msh"))
    return read_mesh(path(names[choice("name", name, names)]))


def model(name: str) -> tuple[Grid, np.ndarray]:
    """Return a sample model; SEG-Y files need ``pip install 'unda-waves[segy]'``.

    Parameters
    ----------
    name : {"salt.sgy"}

    Returns
    -------
    grid : Grid
    values : ndarray, shape (nx, ny, nz)
        Speed of sound [m/s].

    Raises
    ------
    ArgumentError
        No such sample model.

    See Also
    --------
    unda.read_model : models of one's own.

    Examples
    --------
    >>> import unda
    >>> grid, c = unda.datasets.model("salt.sgy")
    >>> grid.shape, float(c.max())
    ((161, 1, 81), 4500.0)
    """
    names = sorted(one for one in NAMES if one.endswith(".sgy"))
    return read_model(path(names[choice("name", name, names)]))


def __dir__() -> list[str]:
    return __all__
