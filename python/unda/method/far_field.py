"""The near-to-far-field transformation from fields on a sphere, at one frequency.

Not here: the fields on the sphere (receivers and their spectrum); exact solutions (exact/mie.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import field_names, number, vector
from ..errors import ArgumentError
from ..problem.medium import Maxwell

Complex = NDArray[np.complex128]


class FarField:
    """A sphere around all radiating sources, and the far field of its waves.

    Far from the sphere E = amplitude(d) exp(i k r)/r, r from the origin of coordinates, time as
    exp(-i omega t). Waves that come in from outside the sphere, as from absorbing boundaries, do not count.

    Parameters
    ----------
    medium : Maxwell
        Outside the sources; homogeneous, sigma = 0.
    radius : float
        Radius of the sphere [m].
    frequency : float
        Frequency [Hz].
    center : array_like, shape (3,)
        Center of the sphere [m].

    Attributes
    ----------
    points : ndarray, shape (num_point, 3)
        Points of a Gauss rule on the sphere [m], where the fields are needed.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous, not Maxwell or conducts, radius or frequency are not positive.

    References
    ----------
    Stratton & Chu (1939), Phys. Rev. 56, 99; Colton & Kress (2013), Inverse Acoustic and Electromagnetic
    Scattering Theory, theorem 6.9.

    See Also
    --------
    PlaneWave : the incident wave.
    exact.mie_sphere : the scattering by a sphere.

    Examples
    --------
    Around a scatterer in a run:

    >>> around = unda.FarField(medium, 1.5, f0)  # doctest: +SKIP
    >>> rec = sim.add_receivers(around.points, sim.fields)  # doctest: +SKIP
    >>> sim.run(until=30.0)  # doctest: +SKIP
    >>> far = around.amplitude({name: rec.spectrum(name, f0) for name in sim.fields}, d)  # doctest: +SKIP

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
        self, medium: Maxwell, radius: float, frequency: float, *, center: ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        if not isinstance(medium, Maxwell):
            raise ArgumentError(f"medium is {medium!r}; expected Maxwell")
        values = medium.scalar()
        if values["sigma"] > 0.0:
            raise ArgumentError(f"the medium conducts, sigma = {values['sigma']}; expected 0")
        self.medium = medium
        self.radius = number("radius", radius, "m", positive=True)
        self.frequency = number("frequency", frequency, "Hz", positive=True)
        self._k = 2.0 * np.pi * self.frequency * float(np.sqrt(values["eps"] * values["mu"]))
        self._impedance = float(np.sqrt(values["mu"] / values["eps"]))
        # Beyond degree k r harmonics fall off as in exact/mie.py; n Gauss points integrate degree 2n - 1.
        size = self._k * self.radius
        num = int(np.ceil(size + 4.0 * np.cbrt(size) + 4.0))
        cosine, weight = np.polynomial.legendre.leggauss(num)
        phi = np.pi / num * np.arange(2 * num)
        sine = np.sqrt(1.0 - cosine**2)
        self._normal = np.stack(
            [np.outer(sine, np.cos(phi)), np.outer(sine, np.sin(phi)), np.outer(cosine, np.ones(2 * num))],
            axis=-1,
        ).reshape(-1, 3)
        self._weight = np.repeat(weight * np.pi / num * self.radius**2, 2 * num)
        self.points = np.array(vector("center", center, "m")) + self.radius * self._normal

    def amplitude(self, fields: Mapping[str, ArrayLike], directions: ArrayLike) -> Complex:
        """Return the far field.

        Parameters
        ----------
        fields : mapping of str to array_like, shape (num_point,)
            Complex ex, ey, ez [V/m], hx, hy, hz [A/m] at `points`, of waves going outwards, or their
            spectra [V s/m], [A s/m].
        directions : array_like, shape (.., 3)
            Directions from the origin; any length.

        Returns
        -------
        ndarray of complex, shape (.., 3)
            Amplitude of E, r exp(-i k r) E for large r [V]; of spectra [V s]. The radar cross-section is
            4 pi abs(amplitude)^2 over the squared amplitude of the incident wave.

        Raises
        ------
        ArgumentError
            If fields are missing or of another shape, or a direction is zero.
        """
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
        d = np.asarray(directions, dtype=np.float64)
        if d.ndim == 0 or d.shape[-1] != 3:
            raise ArgumentError(f"directions have shape {d.shape}; expected (.., 3)")
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        if not np.all(np.isfinite(length) & (length > 0.0)):
            raise ArgumentError("a direction is zero or not finite")
        d = d / length
        e, h = np.stack(values[:3], axis=1), np.stack(values[3:], axis=1)
        weight = self._weight[:, None]
        phase = np.exp(-1j * self._k * (d @ self.points.T))
        magnetic = phase @ (weight * np.cross(self._normal, e))
        electric = phase @ (weight * np.cross(self._normal, self._impedance * h))
        return np.asarray(1j * self._k / (4 * np.pi) * np.cross(d, magnetic + np.cross(electric, d)))

    def __repr__(self) -> str:
        return f"unda.FarField({self.medium!r}, {self.radius}, {self.frequency})"
