"""What can be combined, from the tables by which the code itself accepts and refuses.

`allowed(..)` says of one combination whether it is taken; tests/project/test_capabilities.py builds it and
sees. Not here: the page (capability_page.py).
"""

from unda.io.checkpoint import _MEDIA
from unda.method import mesh_layer, sem_options
from unda.method.fd_scheme import Scalar, Staggered
from unda.method.grid_points import GridPoints
from unda.method.mesh_points import MeshPoints
from unda.method.sem_fields import SemFields
from unda.method.sem_points import SemPoints
from unda.problem import mesh_damping
from unda.problem.boundary import _CODES
from unda.problem.layer import CPML, Damping
from unda.problem.source import Source

MEDIA = {medium.physics: medium for medium in _MEDIA.values()}
SOURCES = {**Source._kinds, "PlaneWave": None}
LAYERS = {kind.__name__: kind for kind in (CPML, Damping)}
BOUNDARIES = (*_CODES, "exact", "periodic", *LAYERS)
ENGINES = ("cpu", "cuda")
PARAMETERS = {
    "acoustic": {"rho": 1.0, "c": 1.0},
    "elastic": {"rho": 1.0, "vp": 2.0, "vs": 1.0},
    "maxwell": {"eps": 1.0, "mu": 1.0},
}


def medium_of(physics):
    """Return a homogeneous medium, for what follows from one."""
    return MEDIA[physics](**PARAMETERS[physics])


def layer_of(name, on_grid):
    """Return a layer by the name of its class: of grids two nodes, of meshes 0.25 m."""
    return LAYERS[name](2) if on_grid else LAYERS[name](thickness=0.25)


def _names(layers):
    return [kind.__name__ for kind in layers]


class OnMesh:
    """What `unda.DG` takes."""

    points = MeshPoints
    physics = tuple(MEDIA)
    exact = True
    layers = mesh_layer.LAYERS

    def boundaries(self, physics):
        """Return the conditions of boundaries."""
        return (*MEDIA[physics].boundaries, *["exact"] * self.exact, "periodic", *_names(self.layers))

    def sources(self, physics):
        """Return the sources, by name."""
        waves = ["PlaneWave"] * (not self.points.no_waves)
        return (*(name for name, one in Source._kinds.items() if physics in one.physics), *waves)

    def receivers(self, physics):
        """Return what receivers record."""
        return (*medium_of(physics).traces, *medium_of(physics).motions)


class Spectral(OnMesh):
    """What `unda.SEM` takes."""

    points = SemPoints
    physics = sem_options.PHYSICS
    exact = False
    layers = mesh_damping.LAYERS

    def receivers(self, physics):
        """Return what receivers record where there is no fluid beside a solid."""
        strains = (name for name, one in medium_of(physics).motions.items() if not one.integrated)
        return (*SemFields(medium_of(physics), physics == "acoustic").units, *strains)


class OnGrid:
    """What `unda.FD` takes, by one of its schemes."""

    points = GridPoints

    def __init__(self, scheme):
        self.scheme = scheme
        self.physics = scheme.physics

    def boundaries(self, physics):
        """Return the conditions of sides."""
        return (*self.scheme(medium_of(physics)).conditions, *_names(self.scheme.layers))

    def sources(self, physics):
        """Return the sources, by name."""
        taken = [one.__name__ for one in self.scheme.sources if physics in one.physics]
        # Arrays stand for one of these at each point.
        arrays = [n for n, one in Source._kinds.items() if one.at_point is not Source.at_point]
        waves = ["PlaneWave"] * (bool(taken) and not self.points.no_waves)
        return (*taken, *(n for n in arrays if taken and physics in Source._kinds[n].physics), *waves)

    def receivers(self, physics):
        """Return what receivers record."""
        return self.scheme(medium_of(physics)).recorded


METHODS = {
    "DG, tetrahedra": OnMesh(),
    "DG, hexahedra": OnMesh(),
    "SEM": Spectral(),
    "FD, scalar": OnGrid(Scalar),
    "FD, staggered": OnGrid(Staggered),
}
RECEIVERS = tuple(
    dict.fromkeys(
        name
        for method in METHODS.values()
        for physics in method.physics
        for name in method.receivers(physics)
    )
)


def allowed(method, physics, boundary, source, receiver, engine="cpu"):
    """Return whether a combination is taken; engines take the same."""
    one = METHODS[method]
    return (
        physics in one.physics
        and boundary in one.boundaries(physics)
        and source in one.sources(physics)
        and receiver in one.receivers(physics)
        and engine in ENGINES
    )
