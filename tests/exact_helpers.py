"""Whether a function of place and time solves the acoustic equations, by finite differences.

Not here: the solutions (python/unda/exact). A helper, so it is tested itself: every test that calls
`residual` has a twin in which the medium is 1 % off and the residual must be large.
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


def residual(exact, points, t, h, medium=None):
    """Return the largest residual of p_t + rho c^2 div v = 0 and rho v_t + grad p = 0.

    points is (n, 3) [m], t (n,) [s], h the spacing [m] (h/c in time); relative to the largest term
    of the equation. `medium` is that of the equations, if not the one of the solution.
    """
    values = (medium or exact.medium).scalar()
    rho, c = values["rho"], values["c"]
    points, t = np.asarray(points, dtype=float), np.asarray(t, dtype=float)

    def along(axis, field):
        step = np.eye(4)[axis]

        def moved(offset):
            x, y, z = (points + offset * step[:3]).T
            return exact(x, y, z, t + offset * step[3])[field]

        return derivative(moved, h / exact.medium.scalar()["c"] if axis == 3 else h)

    def relative(terms):
        scale = max(np.abs(term).max() for term in terms)
        return np.abs(sum(terms)).max() / scale

    pressure = [along(3, "p")] + [rho * c**2 * along(i, f"v{a}") for i, a in enumerate("xyz")]
    momentum = [[rho * along(3, f"v{a}"), along(i, "p")] for i, a in enumerate("xyz")]
    largest = max(np.abs(grad).max() for _, grad in momentum)
    rates = [np.abs(rate + grad).max() / largest for rate, grad in momentum]
    return max(relative(pressure), *rates)
