"""The near-to-far-field transformation from fields on a sphere or a box, at one frequency.

Not here: the fields there (receivers and their spectrum); exact solutions (exact/mie.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import field_names, number, unit_vector, vector
from .._units import plain
from ..errors import ArgumentError
from ..exact.plane_maxwell import transverse
from ..problem.incident import ALLOWED, PlaneWave, two_corners
from ..problem.medium import Acoustic, Maxwell
from ..problem.timefunction import wrap

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class FarField:
    """A surface around all radiating sources, and the far field of its waves: a sphere, or a box on a grid.

    Far from it p or E = amplitude(d) exp(i k r)/r, r from the origin of coordinates, time as exp(-i omega t).
    Waves that come in from outside the surface, as from absorbing boundaries, do not count. Where a
    `PlaneWave` comes in, the surface is in the scattered field: on a grid its points are four cells or more
    from the box of the total field and from layers, since receivers take eight nodes along each axis.

    Parameters
    ----------
    medium : Acoustic or Maxwell
        Outside the sources; homogeneous, sigma = 0.
    radius : float, optional
        Radius of a sphere [m]; give this or `box`.
    frequency : float
        Frequency [Hz].
    center : array_like, shape (3,)
        Center of the sphere [m].
    box : (lower, upper), each array_like of shape (3,), optional
        Two corners of a box [m], instead of a sphere: it fits a total field in a box more closely.

    Attributes
    ----------
    points : ndarray, shape (num_point, 3)
        Points of a Gauss rule on the sphere or on each face [m], where the fields are needed.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous, elastic or conducts, radius or frequency are not positive,
        neither or both of radius and box are given, or the box has no volume.

    References
    ----------
    Stratton & Chu (1939), Phys. Rev. 56, 99; Colton & Kress (2013), Inverse Acoustic and Electromagnetic
    Scattering Theory, theorems 2.6 (sound) and 6.9.

    See Also
    --------
    PlaneWave : the incident wave.
    exact.mie_sphere : the scattering by a sphere.

    Examples
    --------
    Around a scatterer in a run:

    >>> around = unda.FarField(medium, 1.5, f0)  # doctest: +SKIP
    >>> rec = sim.add_receivers(around.points, medium.fields)  # doctest: +SKIP
    >>> sim.run(until=30.0)  # doctest: +SKIP
    >>> sigma = around.cross_section(rec, wave, theta, 0.0)  # doctest: +SKIP

    The pattern of a transducer in water, ``medium.fields`` being p, vx, vy, vz:

    >>> pattern = abs(around.amplitude(rec, directions))  # doctest: +SKIP

    On a grid that takes ``scheme="staggered"``: the scalar scheme has no v.

    The exact field of a sphere and its exact cross-section:

    >>> import numpy as np
    >>> import unda
    >>> vacuum = unda.Maxwell(eps=1.0, mu=1.0)
    >>> mie = unda.exact.mie_sphere(vacuum, radius=1.0, frequency=0.5)
    >>> around = unda.FarField(vacuum, radius=1.5, frequency=0.5)
    >>> fields = mie.fields(*around.points.T, part="scattered")
    >>> back = around.amplitude(fields, (0, 0, -1))
    >>> round(float(4 * np.pi * (abs(back) ** 2).sum() / mie.bistatic(np.pi, 0.0)), 6)
    1.0
    """

    def __init__(
        self, medium: Acoustic | Maxwell, radius: float | None = None, frequency: float | None = None, *,
        center: ArrayLike | None = None, box: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(medium, Acoustic | Maxwell):
            raise ArgumentError(f"medium is {medium!r}; expected Acoustic or Maxwell")
        values = medium.scalar()
        if values.get("sigma", 0.0) > 0.0:
            raise ArgumentError(f"the medium conducts, sigma = {values['sigma']}; expected 0")
        if (radius is None) == (box is None):
            raise ArgumentError(f"radius is {radius!r}, box {box!r}; expected one of them")
        if box is not None and center is not None:
            raise ArgumentError(f"center is {center!r}; expected none with box=, which says where it is")
        center = (0.0, 0.0, 0.0) if center is None else center
        self.medium = medium
        self.radius = None if radius is None else number("radius", radius, "m", positive=True)
        self.box = None if box is None else two_corners(box)
        self.frequency = number("frequency", frequency, "Hz", positive=True)
        if isinstance(medium, Acoustic):
            speed, self._impedance = values["c"], values["rho"] * values["c"]
        else:
            speed = 1.0 / float(np.sqrt(values["eps"] * values["mu"]))
            self._impedance = float(np.sqrt(values["mu"] / values["eps"]))
        self._k = 2.0 * np.pi * self.frequency / speed
        if self.radius is not None:
            self._sphere(self.radius, np.array(vector("center", center, "m")))
        elif self.box is not None:
            self._faces(*np.array(self.box))

    def _sphere(self, radius: float, center: NDArray[np.float64]) -> None:
        # Beyond degree k r harmonics fall off as in exact/mie.py; n Gauss points integrate degree 2n - 1.
        size = self._k * radius
        num = int(np.ceil(size + 4.0 * np.cbrt(size) + 4.0))
        cosine, weight = np.polynomial.legendre.leggauss(num)
        phi = np.pi / num * np.arange(2 * num)
        sine = np.sqrt(1.0 - cosine**2)
        self._normal = np.stack(
            [np.outer(sine, np.cos(phi)), np.outer(sine, np.sin(phi)), np.outer(cosine, np.ones(2 * num))],
            axis=-1,
        ).reshape(-1, 3)
        self._weight = np.repeat(weight * np.pi / num * radius**2, 2 * num)
        self.points = center + radius * self._normal

    def _faces(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Make a Gauss rule on each face: along an edge L phases turn by up to 2 k L.

        n points integrate exp(2 i k x) over L as well as its Legendre series converges, from degree k L on;
        14 more take a factor of 1e5 off fields whose singularities are 0.2 L away (Trefethen 2013, chapter
        19).
        """
        middle, half = (lower + upper) / 2.0, (upper - lower) / 2.0
        if not (half > 0.0).all():
            raise ArgumentError(f"box goes from {lower.tolist()} to {upper.tolist()}; expected a volume")
        rules = [np.polynomial.legendre.leggauss(int(np.ceil(self._k * h)) + 14) for h in half]
        points, normals, weights = [], [], []
        for axis in range(3):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            (x, p), (y, q) = rules[b], rules[c]
            for side in (-1.0, 1.0):
                place = np.empty((len(x), len(y), 3))
                place[..., axis] = middle[axis] + side * half[axis]
                place[..., b] = (middle[b] + half[b] * x)[:, None]
                place[..., c] = middle[c] + half[c] * y
                points.append(place.reshape(-1, 3))
                normals.append(np.tile(side * np.eye(3)[axis], (place[..., 0].size, 1)))
                weights.append(np.outer(half[b] * p, half[c] * q).ravel())
        self.points, self._normal = np.concatenate(points), np.concatenate(normals)
        self._weight = np.concatenate(weights)

    def amplitude(self, fields: Any, directions: ArrayLike) -> Complex:
        """Return the far field.

        Parameters
        ----------
        fields : mapping of str to array_like, shape (num_point,), or Receivers
            Complex p [Pa], vx, vy, vz [m/s], or ex, ey, ez [V/m], hx, hy, hz [A/m], at `points`, of waves
            going outwards, or their spectra [Pa s], ..: receivers of these fields give theirs.
        directions : array_like, shape (.., 3)
            Directions from the origin; any length.

        Returns
        -------
        ndarray of complex, shape (..) or (.., 3)
            Amplitude of p, r exp(-i k r) p for large r [Pa m], or of E [V]; of spectra [Pa m s], [V s].

        Raises
        ------
        ArgumentError
            If fields are missing or of another shape, or a direction is zero.
        """
        if not isinstance(fields, Mapping):
            fields = self._spectra(fields)
        field_names(tuple(fields), self.medium.fields)
        missing = [name for name in self.medium.fields if name not in fields]
        if missing:
            raise ArgumentError(f"fields lack {missing}; expected all of {list(self.medium.fields)}")
        values = []
        for name in self.medium.fields:
            one = np.asarray(fields[name], dtype=np.complex128)
            if one.shape != (len(self.points),):
                raise ArgumentError(f"{name} has shape {one.shape}; expected ({len(self.points)},)")
            values.append(one)
        d = np.asarray(plain("directions", directions, ""), dtype=np.float64)
        if d.ndim == 0 or d.shape[-1] != 3:
            raise ArgumentError(f"directions have shape {d.shape}; expected (.., 3)")
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        if not np.all(np.isfinite(length) & (length > 0.0)):
            raise ArgumentError("a direction is zero or not finite")
        d = d / length
        phase = np.exp(-1j * self._k * (d @ self.points.T))
        far = self._sound if isinstance(self.medium, Acoustic) else self._light
        return 1j * self._k / (4 * np.pi) * far(np.stack(values, axis=1), d, phase)

    def _spectra(self, rec: Any) -> dict[str, Complex]:
        if not hasattr(rec, "spectrum"):
            raise ArgumentError(f"fields are {rec!r}; expected a mapping of arrays, or receivers")
        size = np.abs(self.points).max()
        if rec.points.shape != self.points.shape or np.abs(rec.points - self.points).max() > 1e-9 * size:
            raise ArgumentError(
                f"the receivers stand at {len(rec.points)} other points; expected the {len(self.points)} of "
                "the surface: sim.add_receivers(surface.points, medium.fields)"
            )
        wanted = (name for name in rec.fields if name in self.medium.fields)
        return {name: rec.spectrum(name, self.frequency) for name in wanted}

    def _sound(self, values: Complex, d: Array, phase: Complex) -> Complex:
        """Return what p and v radiate: -4 pi/(i k) p = integral of (n.d p + Z n.v) exp(-i k d.x) dS.

        Kirchhoff's integral of p dG/dn - G dp/dn, with dp/dn = i k Z n.v.
        """
        p, flow = values[:, 0], (self._normal * values[:, 1:]).sum(axis=1)
        pushed = phase @ ((self._weight * p)[:, None] * self._normal)
        return np.asarray(-(d * pushed).sum(axis=-1) - phase @ (self._weight * self._impedance * flow))

    def _light(self, values: Complex, d: Array, phase: Complex) -> Complex:
        weight = self._weight[:, None]
        magnetic = phase @ (weight * np.cross(self._normal, values[:, :3]))
        electric = phase @ (weight * np.cross(self._normal, self._impedance * values[:, 3:]))
        return np.asarray(np.cross(d, magnetic + np.cross(electric, d)))

    def cross_section(self, rec: Any, wave: PlaneWave, theta: ArrayLike, phi: ArrayLike) -> Array:
        """Return the bistatic cross-section, 4 pi r^2 abs(E_scattered)^2/abs(E_incident)^2, of a run.

        That of sound has p in place of E; over 4 pi it is the differential cross-section of acoustics, whose
        decibels of 1 m2 are the target strength.

        Parameters
        ----------
        rec : Receivers
            At `points`, of all fields, until they have died away.
        wave : PlaneWave
            The incident one, whose f begins and ends.
        theta, phi : array_like
            Directions by the angles of `exact.mie_sphere` [rad]: from that of the wave; and around it, from
            the plane of direction and polarization (of sound: and of the axis, x, y or z, that is most
            across the direction, the first of equals).

        Returns
        -------
        ndarray
            Cross-section [m2], of the broadcast shape.

        Raises
        ------
        ArgumentError
            If f does not say when it begins and ends, or has nothing at the frequency; fields are missing.
        """
        f = wrap(wave.f, 1.0 / (40.0 * self.frequency))
        if f.span is None or not np.isfinite(f.span).all():
            raise ArgumentError(
                f"the wave's f is {wave.f!r}, with span {f.span}; expected one that ends: a pulse"
            )
        periods = self.frequency * (f.span[1] - f.span[0])
        t = np.linspace(*f.span, 4001 + int(40.0 * periods))
        values = wave.amplitude * f(t) * (t[1] - t[0])  # 0 at both ends: the trapezoidal rule is a sum
        incident = (values * np.exp(2j * np.pi * self.frequency * t)).sum()
        if not abs(incident) > ALLOWED * np.abs(values).sum():
            raise ArgumentError(
                f"the wave has nothing at {self.frequency:g} Hz, the frequency of the far field"
            )
        fields = {name: values / incident for name, values in self._spectra(rec).items()}
        theta, phi = np.broadcast_arrays(
            np.asarray(plain("theta", theta, "rad"), np.float64),
            np.asarray(plain("phi", phi, "rad"), np.float64),
        )
        along = np.array(unit_vector("direction", wave.direction))
        sound = isinstance(self.medium, Acoustic)
        across = _most_across(along) if sound else transverse(wave.polarization, along)
        around = np.multiply.outer(np.cos(phi), across) + np.multiply.outer(
            np.sin(phi), np.cross(along, across)
        )
        directions = np.multiply.outer(np.cos(theta), along) + np.sin(theta)[..., None] * around
        far = np.abs(self.amplitude(fields, directions)) ** 2
        return np.asarray(4.0 * np.pi * (far if sound else far.sum(axis=-1)))

    def __repr__(self) -> str:
        where = self.radius if self.box is None else None
        box = "" if self.box is None else f", box={self.box}"
        return f"unda.FarField({self.medium!r}, {where}, {self.frequency}{box})"


def _most_across(along: Array) -> Array:
    """Return the part across a unit vector of the axis that is most across it, of length 1."""
    axis = np.eye(3)[np.abs(along).argmin()]
    across = axis - (axis @ along) * along
    return np.asarray(across / np.linalg.norm(across))
