"""Measure the stable time step of DG on hexahedra: the tables in csrc/dg/dt_hex.c come from here.

`limit`: equal elements in line, all Bloch phases, waves of speed 1; an element of length h has the step
limit h. `power`: in three dimensions, axes of which each alone had the step limit / a_j have together
limit / (sum a_j^p)^(1/p). The central flux, skew in the energy norm, has p = 2, as |k| has (where the
axes are orthogonal). The upwind flux damps p at the faces of all three axes, v at those of one each, which is
worse than one axis at a time: p is the largest that boxes of all shapes allow, for p and v and for E and H.
`two axes`: a component of E or H is damped at the faces of two axes, so that the sum over the two largest
bounds it too; cubes allow the smallest p.
Run: python benchmarks/stability_hex.py > table.txt
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigs
from stability import ab3_growth, limit, lsrk4_growth

GROWTH = {"lsrk4": lsrk4_growth, "ab3": ab3_growth}
SHAPES = ((1, 1, 1), (1, 1, 5), (1, 5, 5), (1, 1, 2), (1, 2, 2), (1, 2, 4))  # 1 / lengths
UNIT = np.eye(3)


def lobatto(degree):
    """Return the end points' weight in Gauss-Lobatto's rule on [0, 1], and the matrix of derivatives."""
    top = np.eye(degree + 1)[degree]
    inner = np.polynomial.legendre.legroots(np.polynomial.legendre.legder(top)).real
    x = (np.concatenate([[-1.0], inner, [1.0]]) + 1) / 2
    apart = (x[:, None] - x + np.eye(degree + 1)).prod(axis=1)
    derivative = apart[:, None] / apart / (x[:, None] - x + np.eye(degree + 1)) * (1 - np.eye(degree + 1))
    return 1 / (degree * (degree + 1)), derivative - np.diag(derivative.sum(axis=1))


def line(degree, phase):
    """Return the derivative with the central flux, and what upwind adds, for exp(i phase) a cell."""
    weight, derivative = lobatto(degree)
    first, last = np.eye(degree + 1)[0], np.eye(degree + 1)[-1]
    ahead, back = np.exp(1j * phase) * first - last, np.exp(-1j * phase) * last - first
    central = derivative + (np.outer(last, ahead) - np.outer(first, back)) / (2 * weight)
    return central, (np.outer(last, ahead) + np.outer(first, back)) / (2 * weight)


def acoustic(axis):
    """Return A and abs(A) of q_t = A d_axis q, q = (p, v)."""
    n = UNIT[axis]
    return -np.block([[np.zeros((1, 1)), n[None]], [n[:, None], np.zeros((3, 3))]]), np.diag([1, *n])


def maxwell(axis):
    """Return the same of q = (E, H)."""
    turn = np.cross(UNIT[axis], UNIT).T
    return np.block([[0 * UNIT, turn], [-turn, 0 * UNIT]]), np.diag([*(1 - UNIT[axis])] * 2)


PHYSICS = {"p and v": acoustic, "E and H": maxwell}


def line_spectra(degree, upwind):
    """Yield the eigenvalues of sound along one axis."""
    for phase in np.linspace(0, np.pi, 65):
        central, damping = line(degree, phase)
        yield np.linalg.eigvals(np.block([[upwind * damping, -central], [-central, upwind * damping]]))


def box_spectrum(degree, flux, lengths, phase):
    """Find the eigenvalues of largest modulus, upwind, of boxes with 1 / lengths and equal phases."""
    central, damping = line(degree, phase)
    pairs, n = [flux(axis) for axis in range(3)], degree + 1
    fields = len(pairs[0][0])

    def apply(q):
        q, rates = q.reshape(fields, n, n, n), 0
        for axis, ((a, size), length) in enumerate(zip(pairs, lengths, strict=True)):
            for field_matrix, matrix in ((a, central), (size, damping)):
                along = np.moveaxis(np.tensordot(matrix, q, (1, 1 + axis)), 0, 1 + axis)
                rates = rates + length * np.tensordot(field_matrix, along, (1, 0))
        return rates.ravel()

    num = fields * n**3
    operator = LinearOperator((num, num), matvec=apply, dtype=complex)
    if num <= 400:
        return np.linalg.eigvals(operator @ np.eye(num, dtype=complex))
    start = np.random.default_rng(0).standard_normal(num) + 0j
    return eigs(
        operator, k=10, which="LM", v0=start, ncv=40, tol=1e-4, return_eigenvectors=False, maxiter=4000
    )


def norm(lengths, power):
    return (np.array(lengths, float) ** power).sum() ** (1 / power)


def largest_power(lengths, rate):
    """Find the p at which the norm is this rate, 2 at most."""
    low, high = 0.3, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if norm(lengths, middle) >= rate else (low, middle)
    return low


def main():
    """Print one line a degree: limits, then powers of the upwind flux."""
    for degree in range(1, 11):
        words, limits = [], {}
        for flux in ("upwind", "central"):
            spectra = np.concatenate([*line_spectra(degree, flux == "upwind")])
            for name, growth in GROWTH.items():
                limits[flux, name] = limit(growth, spectra)
                words.append(f"{flux} {name} {limits[flux, name]:.5g}")
        for physics, flux in PHYSICS.items():
            powers = dict.fromkeys(GROWTH, 2.0)
            for lengths in SHAPES[: 6 if degree < 5 else 3]:
                phases = (0, np.pi) if degree > 4 else np.linspace(0, np.pi, 5)
                spectra = [box_spectrum(degree, flux, lengths, phase) for phase in phases]
                for name, growth in GROWTH.items():
                    rate = limits["upwind", name] / min(limit(growth, one) for one in spectra)
                    powers[name] = min(powers[name], largest_power(lengths, rate))
                    if flux is maxwell and lengths == (1, 1, 1):
                        words.append(f"two axes {name} p = {largest_power(lengths[1:], rate):.3f}")
            words += [f"{physics} {name} p = {power:.3f}" for name, power in powers.items()]
        print(degree, *words, sep="; ", flush=True)


if __name__ == "__main__":
    main()
