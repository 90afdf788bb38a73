"""Absorbing layers, for the argument `boundary=` of a method.

Not here: the layers' equations (csrc/fd/layer.c, csrc/fd/scalar/matched.c, csrc/fd/staggered/cpml.c,
csrc/sem/sides.c, csrc/dg/layer.c), the rates of damping on a mesh (mesh_damping.py).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from numbers import Integral
from typing import Any

from .._check import flag, integer, number
from ..errors import ArgumentError


def _tag(tag: Any) -> str | int | None:
    """Return the name of a tag, or its number, refusing all else."""
    if tag is None or isinstance(tag, str):
        return tag
    if isinstance(tag, bool) or not isinstance(tag, Integral):
        raise ArgumentError(f"tag is {tag!r}; expected the name or the number of a tag of the mesh")
    return int(tag)


@dataclass(frozen=True)
class Damping:
    """A layer that damps waves, without memory variables: of `FD` (scalar scheme), and of `SEM`.

    Its energy never grows. The rate s of damping increases with the square of the depth (SEM: its power 1.5).

    FD: outside the grid, (d/dt + s)^2 p = c^2 laplace p; see csrc/fd/layer.c. `CPML` reflects long waves far
    less. A layer of 20 nodes reflects about 0.012 % of the energy of a wavelet whose peak wavelength is 8
    nodes at normal incidence, 0.5 % at 60 degrees; layers should be at least 1.5 wavelengths deep.

    SEM: cells outside a plane side, or the mesh's own, u'' + 2 s u' in place of u''; where layers meet their
    rates add up. The side itself is "absorbing". Up to 60 degrees layers of 1, 2, 3 and 4 P wavelengths
    at f0 return at most 10, 2.7, 1.3 and 0.8 % of a Ricker pulse, where dashpots alone return 33 %
    (docs/absorbing_layers.md).

    Parameters
    ----------
    width : int
        FD: nodes of the layer, at least 1.
    R0 : float, optional
        Amplitude that would return through the layer at normal incidence if nothing were reflected within,
        between 0 and 1: a smaller one absorbs more, and reflects more at the layer's front. By default FD
        0.01; SEM what returns least in all, 0.33 at one wavelength to 0.10 at four, without f0 that of two.
    thickness : float, optional
        SEM: of the layer [m]; by default two wavelengths of the fastest wave at f0.
    f0 : float, optional
        SEM: main frequency of the waves [Hz], from which the default of R0 follows.
    tag : str or int, optional
        SEM, in place of a thickness: the layer is the mesh's cells of that tag.
    outside : bool
        SEM: cells are added to the mesh, after those that it has (`Mesh.extended`); their material is that
        of the cells beside them. False: the layer is what the mesh has within the thickness of the side.

    Raises
    ------
    ArgumentError

    See Also
    --------
    CPML : a matched layer, which returns far less.

    Examples
    --------
    >>> import unda
    >>> grid, medium = unda.Grid((61, 41, 41), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
    >>> sim = unda.FD(grid, medium, boundary={"zmax": "free", "*": unda.Damping(width=10)})
    >>> sim.padded
    (83, 63, 52)
    >>> mesh = unda.box_mesh((0, 0, -600), (600, 600, 0), cells=(6, 6, 6), shape="hex")
    >>> layer = unda.Damping(thickness=200.0, f0=15.0)
    >>> sim = unda.SEM(mesh, medium, boundary={"zmax": "free", "*": layer})
    >>> sim.mesh.lower, sim.mesh.upper
    ((-200.0, -200.0, -800.0), (800.0, 800.0, 0.0))
    """

    width: int | None = None
    R0: float | None = None
    _: KW_ONLY
    thickness: float | None = None
    f0: float | None = None
    tag: str | int | None = None
    outside: bool = True

    def __post_init__(self) -> None:
        on_mesh = self.thickness is not None or self.tag is not None or self.f0 is not None
        if self.thickness is not None and self.tag is not None:
            raise ArgumentError(f"thickness is {self.thickness}, tag is {self.tag!r}; expected one of them")
        object.__setattr__(self, "tag", _tag(self.tag))
        if self.width is not None and on_mesh:
            raise ArgumentError(
                f"width is {self.width}, thickness is {self.thickness}, f0 is {self.f0}, tag is "
                f"{self.tag!r}; expected a width, of FD, or the others, of SEM"
            )
        if not flag("outside", self.outside) and not on_mesh:
            raise ArgumentError(f"outside is {self.outside}; it goes with a thickness, f0 or a tag, of SEM")
        if not on_mesh:
            width = 20 if self.width is None else self.width
            object.__setattr__(self, "width", integer("width", width, 1, 2**28))
            object.__setattr__(self, "R0", 0.01 if self.R0 is None else self.R0)
        elif self.thickness is not None:
            object.__setattr__(self, "thickness", number("thickness", self.thickness, "m", positive=True))
        if self.f0 is not None:
            object.__setattr__(self, "f0", number("f0", self.f0, "Hz", positive=True))
        if self.R0 is not None:
            object.__setattr__(self, "R0", number("R0", self.R0, positive=True))
            if self.R0 >= 1.0:
                raise ArgumentError(f"R0 is {self.R0}; expected a number between 0 and 1")

    def __repr__(self) -> str:
        return f"Damping({', '.join(f'{name}={value!r}' for name, value in self.to_config().items())})"

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict; ``Damping(**...)`` is the layer again."""
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in vars(self).items() if value is not usual[name]}


@dataclass(frozen=True)
class CPML:
    """A perfectly matched layer outside a grid or mesh (Komatitsch & Martin 2007): convolutional, unsplit.

    On staggered grids its profiles are quadratic (csrc/fd/staggered/cpml.c). Layers of 10 nodes around a
    strip of 81 x 220 reflect at most 0.033 % of a trace in the middle, and 0.34 % five nodes from a layer and
    170 nodes along it; layers of 20 nodes 0.005 and 0.18 % (order 4, 8 nodes per shortest wavelength of a
    Ricker pulse: benchmarks/layer_returns.py). For the scalar scheme its profiles are cubic, in the
    second-order equation (csrc/fd/scalar/matched.c): layers of 10 nodes reflect at most 0.04 % in models of
    1500 to 4700 m/s, of 20 nodes 0.001 % (docs/absorbing_layers.md).

    Parameters
    ----------
    width : int
        Grids: nodes of the layer, at least 1.
    f0 : float, optional
        Main frequency of the waves [Hz]; by default ``fmax / 2.5`` of `FD`, or without fmax the frequency
        that has 20 nodes per wavelength of the fastest wave (staggered) or 25 of the slowest (scalar). Layers
        of 10 nodes of the scalar scheme reflect more below a third of f0 and above six times f0.
    R0 : float, optional
        Amplitude that returns through the layer at normal incidence, between 0 and 1; by default 1e-6, in
        layers of less than 10 nodes 1e-5, of less than 8 1e-4; scalar scheme: 10^(-0.7 width), at least 1e-7;
        sponges of `DG`: 0.2, before a first-order side.
    kappa : float
        Stretching of the coordinate at the end of the layer, at least 1: larger values help at grazing
        incidence but need more nodes. 1 for the scalar scheme.
    ratio : float, optional
        Fraction of the damping, at the end of the layer, that acts on all terms and not only on derivatives
        along the layer's axis, 0 to 1. 0: a CPML. Below 1: a multiaxial layer (Meza-Fajardo & Papageorgiou
        2008), whose fraction increases with the square of the depth. 1: a sponge, without memory variables.
        The default is 0, 0.1 or 1 as given by ``FD(layer=)``, which follows a rule by default; 0 for the
        scalar scheme. Of `DG` 0.02 by default, or 0.1 or 1 by a like rule; 1 where waves can grow if it is
        less: hexahedra that are no prisms along the axis, tetrahedra with the central flux, and with fluid
        beside solid at oblique faces.
    thickness : float, optional
        Of the layer [m]. DG: of cells that are added to the mesh, after those that it has, about as high as
        those at the side (`Mesh.extended`); by default a wavelength of the fastest wave at f0, and f0 by
        default the frequency of such a wavelength. Grids: rounded to nodes, in place of `width`.
    tag : str or int, optional
        DG: the layers are the mesh's cells of this tag, beyond planes around all others, at each boundary
        with this condition and at no other. It goes without a thickness.

    Raises
    ------
    ArgumentError

    See Also
    --------
    Damping : a sponge, of the scalar scheme and of SEM.

    Examples
    --------
    >>> import unda
    >>> unda.CPML(width=10, f0=7.0)
    CPML(width=10, f0=7.0, R0=None, kappa=1.0, ratio=None, thickness=None, tag=None)
    >>> mesh = unda.box_mesh((0, 0, 0), (2, 2, 2), cells=(4, 4, 4), shape="hex")
    >>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), boundary={"*": unda.CPML(f0=1.0)}, device="cpu")
    >>> sim.mesh.num_elem, sim.mesh.upper
    (512, (3.0, 3.0, 3.0))

    Notes
    -----
    Of `DG`, one wavelength returns less than 0.5 % up to 60 degrees where it is well resolved
    (docs/absorbing_layers.md, csrc/dg/layer.c).

    On staggered grids waves of opposite phase and group velocity grow in any CPML, whatever kappa and f0
    (Becache, Fauqueux & Joly 2003): elastic waves guided by plates, and in media of high contrast. They decay
    in multiaxial layers, except in random media. A sponge is stable, which is proved for any medium, any
    walls and any stable step (csrc/fd/staggered/cpml.c), but one of 10 nodes reflects several per cent.
    docs/absorbing_layers.md has reflections and stability of all three.
    """

    width: int = 10
    f0: float | None = None
    R0: float | None = None
    kappa: float = 1.0
    ratio: float | None = None
    thickness: float | None = None
    tag: str | int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", integer("width", self.width, 1, 2**28))
        if self.thickness is not None:
            object.__setattr__(self, "thickness", number("thickness", self.thickness, "m", positive=True))
            if self.width != CPML.width:
                raise ArgumentError(
                    f"width is {self.width}, thickness is {self.thickness} m; expected one of them"
                )
        if self.thickness is not None and self.tag is not None:
            raise ArgumentError(f"thickness is {self.thickness}, tag is {self.tag!r}; expected one of them")
        object.__setattr__(self, "tag", _tag(self.tag))
        if self.f0 is not None:
            object.__setattr__(self, "f0", number("f0", self.f0, "Hz", positive=True))
        given = 1e-6 if self.R0 is None else self.R0
        if self.R0 is not None:
            object.__setattr__(self, "R0", number("R0", given, positive=True))
        object.__setattr__(self, "kappa", number("kappa", self.kappa, positive=True))
        if self.ratio is not None:
            object.__setattr__(self, "ratio", number("ratio", self.ratio))
            if not 0.0 <= self.ratio <= 1.0:
                raise ArgumentError(f"ratio is {self.ratio}; expected a number between 0 and 1, or None")
        if given >= 1.0 or self.kappa < 1.0:
            raise ArgumentError(f"R0 is {given}, kappa is {self.kappa}; expected 0 < R0 < 1 and kappa >= 1")

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict; ``CPML(**...)`` is the layer again."""
        of_mesh = {name: one for name in ("thickness", "tag") if (one := getattr(self, name)) is not None}
        own = {"width": self.width, "f0": self.f0, "R0": self.R0, "kappa": self.kappa, "ratio": self.ratio}
        return {**own, **of_mesh}
