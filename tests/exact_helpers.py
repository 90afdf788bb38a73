"""Whether a function of place and time solves the equations of a medium, by finite differences.

Not here: the solutions (python/unda/exact). A helper, so it is tested itself: every test that calls
`residual`, `elastic_residual` or `maxwell_residual` has a twin in which the medium is 1 % off and the
residual must be large.
Next: test_exact_solutions.py.
"""

import numpy as np

WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # central, order eight (Fornberg 1988)

# The truncation error of these weights is (kh)^8/630 of a derivative: 1.6e-11 at kh = 0.1. Rounding
# of arguments of size 100 adds 100 eps/(kh) = 2e-13. A factor of 60 is left for terms that cancel
# in an equation and for the tail of a pulse's spectrum beyond k. One per cent in c changes
# rho c^2 by 2 %, which the largest of the terms may dilute: thus the twin's threshold.
KH = 0.1
TOLERANCE = 1e-9
TWIN = 1e-3


def derivative(function, h):
    """Return the derivative at zero of a function of one offset, by differences of spacing h."""
    return sum(w * (function(m * h) - function(-m * h)) / h for m, w in enumerate(WEIGHTS, start=1))


def gradients(exact, points, t, h, c):
    """Return the derivatives of all fields along x, y, z and t, each (num_field, n); h/c in time."""
    points, t = np.asarray(points, dtype=float), np.asarray(t, dtype=float)

    def along(axis):
        step = np.eye(4)[axis]

        def moved(offset):
            values = exact(*(points + offset * step[:3]).T, t + offset * step[3])
            return np.stack([values[field] for field in exact.fields])

        return derivative(moved, h / c if axis == 3 else h)

    return [along(axis) for axis in range(4)]


def residual(exact, points, t, h, medium=None):
    """Return the largest residual of p_t + rho c^2 div v = 0 and rho v_t + grad p = 0.

    points is (n, 3) [m], t (n,) [s], h the spacing [m] (h/c in time); relative to the largest term
    of the equation. `medium` is that of the equations, if not the one of the solution.
    """
    values = (medium or exact.medium).scalar()
    rho, c = values["rho"], values["c"]
    rates = gradients(exact, points, t, h, exact.medium.scalar()["c"])

    def along(axis, field):
        return rates[axis][exact.fields.index(field)]

    def relative(terms):
        scale = max(np.abs(term).max() for term in terms)
        return np.abs(sum(terms)).max() / scale

    pressure = [along(3, "p")] + [rho * c**2 * along(i, f"v{a}") for i, a in enumerate("xyz")]
    momentum = [[rho * along(3, f"v{a}"), along(i, "p")] for i, a in enumerate("xyz")]
    largest = max(np.abs(grad).max() for _, grad in momentum)
    rates = [np.abs(rate + grad).max() / largest for rate, grad in momentum]
    return max(relative(pressure), *rates)


VOIGT = {(0, 0): "sxx", (1, 1): "syy", (2, 2): "szz", (1, 2): "syz", (0, 2): "sxz", (0, 1): "sxy"}


def elastic_residual(exact, points, t, h, medium=None):
    """Return the largest residual of rho v_t = div sigma and Hooke's law for sigma_t.

    As `residual`; in time the spacing is h/vp. All equations of a kind are relative to the largest term
    among them.
    """
    values = (medium or exact.medium).scalar()
    rho, mu = values["rho"], values["rho"] * values["vs"] ** 2
    lam = values["rho"] * values["vp"] ** 2 - 2.0 * mu
    rates = gradients(exact, points, t, h, exact.medium.scalar()["vp"])
    slopes = [dict(zip(exact.fields, rate, strict=True)) for rate in rates]
    stress = {**VOIGT, **{(j, i): name for (i, j), name in VOIGT.items()}}
    v = ("vx", "vy", "vz")
    momentum = [
        [rho * slopes[3][v[i]], *(-slopes[j][stress[i, j]] for j in range(3))] for i in range(3)
    ]  # fmt: skip
    div = sum(slopes[i][v[i]] for i in range(3))
    hooke = [
        [slopes[3][name], -lam * div * (i == j), -mu * slopes[i][v[j]], -mu * slopes[j][v[i]]]
        for (i, j), name in VOIGT.items()
    ]

    def relative(equations):
        scale = max(np.abs(term).max() for terms in equations for term in terms)
        return max(np.abs(sum(terms)).max() for terms in equations) / scale

    return max(relative(momentum), relative(hooke))


def curl(dx, dy, dz):
    """Return the curl from the derivatives of a vector along x, y and z, each (3, n)."""
    return np.stack([dy[2] - dz[1], dz[0] - dx[2], dx[1] - dy[0]])


def maxwell_residual(exact, points, t, h, medium=None):
    """Return the largest residual of eps E_t + sigma E = curl H, mu H_t = -curl E, div E = div H = 0.

    Arguments as for `residual`; relative to the largest term of the equation, curl E and curl H taken
    as one; a divergence relative to the largest derivative of its field.
    """
    one, values = exact.medium.scalar(), (medium or exact.medium).scalar()
    rates = gradients(exact, points, t, h, 1.0 / np.sqrt(one["eps"] * one["mu"]))
    (ex, ey, ez, et), (hx, hy, hz, ht) = zip(*((rate[:3], rate[3:]) for rate in rates), strict=True)
    now = exact(*np.asarray(points, dtype=float).T, t)
    e = np.stack([now[field] for field in exact.fields[:3]])

    def relative(terms):
        return np.abs(sum(terms)).max() / max(np.abs(term).max() for term in terms)

    def divergence(dx, dy, dz):
        return np.abs(dx[0] + dy[1] + dz[2]).max() / np.abs([dx, dy, dz]).max()

    return max(
        relative([values["eps"] * et, values["sigma"] * e, -curl(hx, hy, hz)]),
        relative([values["mu"] * ht, curl(ex, ey, ez)]),
        divergence(ex, ey, ez),
        divergence(hx, hy, hz),
    )
