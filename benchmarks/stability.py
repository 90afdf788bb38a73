"""Measure the stable time step of DG on tetrahedra: the table in csrc/dg/dt.c comes from here.

For random and stretched meshes with a random material in every element, the eigenvalues of largest modulus of
the right-hand side, times dt, must lie in the stability region of the integrator. The limit is given as
dt max(c sum_f |grad lambda_f|); the least over all cases, less 3 %, goes into the table.
Run: python benchmarks/stability.py > table.txt
"""

import sys

import numpy as np
import unda
from scipy.sparse.linalg import LinearOperator, eigs

LSRK_A = (0.0, -567301805773 / 1357537059087, -2404267990393 / 2016746695238,
          -3550918686646 / 2091501179385, -1275806237668 / 842570457699)  # fmt: skip
LSRK_B = (1432997174477 / 9575080441755, 5161836677717 / 13612068292357, 1720146321549 / 2090206949498,
          3134564353537 / 4481467310338, 2277821191437 / 14882151754819)  # fmt: skip


def lsrk4_growth(z):
    """|R(z)| of the five-stage Runge-Kutta scheme."""
    q, residual = np.ones_like(z), np.zeros_like(z)
    for a, b in zip(LSRK_A, LSRK_B, strict=True):
        residual = a * residual + z * q
        q = q + b * residual
    return np.abs(q)


def ab3_growth(z):
    """Largest root of the recurrence of third-order Adams-Bashforth."""
    return np.array([np.abs(np.roots([1, -1 - 23 / 12 * y, 16 / 12 * y, -5 / 12 * y])).max() for y in z])


def limit(growth, eigenvalues):
    """Largest dt for which no eigenvalue grows, by bisection."""
    low, high = 0.0, 10.0 / np.abs(eigenvalues).max()
    for _ in range(50):
        middle = (low + high) / 2
        fits = (growth(middle * eigenvalues) <= 1 + 1e-9).all()
        low, high = (middle, high) if fits else (low, middle)
    return low


def spectrum(sim):
    """Eigenvalues of the right-hand side of largest modulus."""
    shape = (sim.mesh.num_elem, sim.num_node)
    size = shape[0] * shape[1]

    def apply(q):
        q = np.asarray(q).reshape(len(sim.fields), *shape)
        sim.set(**dict(zip(sim.fields, q, strict=True)))
        rhs = sim.rhs()
        return np.concatenate([rhs[name].ravel() for name in sim.fields])

    operator = LinearOperator((4 * size, 4 * size), matvec=apply, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(4 * size)
    return eigs(operator, k=12, which="LM", v0=start, tol=1e-3, return_eigenvectors=False, maxiter=3000)


def meshes():
    """Perturbed, stretched and single-element meshes; walls of every kind."""
    yield unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), periodic=(True,) * 3), 0
    for seed in range(4):
        yield unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), perturb=0.3, seed=seed), seed
    yield unda.box_mesh((0, 0, 0), (1, 3, 0.4), (2, 2, 2), perturb=0.3, seed=7), 7
    yield unda.box_mesh((0, 0, 0), (1, 1, 0.02), (2, 2, 2), perturb=0.3, seed=8), 8
    yield unda.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0.8]], [[0, 1, 2, 3]]), 9
    yield unda.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0.01]], [[0, 1, 2, 3]]), 9


def main():
    """Print one line a degree and flux."""
    for degree in range(1, 10):
        for flux in ("upwind", "central"):
            found = {"lsrk4": [], "ab3": []}
            for mesh, seed in meshes():
                for same in (True, False):
                    rng = np.random.default_rng(seed)
                    spread = (1, 1) if same else (0.5, 4)
                    medium = unda.Acoustic(rho=rng.uniform(*spread, mesh.num_elem),
                                           c=rng.uniform(*spread, mesh.num_elem))  # fmt: skip
                    for wall in ("rigid", "free", "absorbing"):
                        if (mesh.periodic and wall != "rigid") or (not same and wall == "free"):
                            continue
                        if degree > 4 and (seed in (1, 2, 3) or wall == "free"):
                            continue
                        sim = unda.DG(mesh, medium, degree=degree, flux=flux, dtype="float64",
                                      boundary={"*": wall})  # fmt: skip
                        scale = rate_scale(sim)
                        try:
                            values = spectrum(sim) / scale
                        except Exception as error:  # no convergence: say so, leave the case out
                            print("skipped", degree, flux, seed, wall, error, file=sys.stderr)
                            continue
                        found["lsrk4"].append(limit(lsrk4_growth, values))
                        found["ab3"].append(limit(ab3_growth, values))
            print(
                degree,
                flux,
                *(f"{name} {min(v):.5f} {max(v):.5f}" for name, v in found.items()),
                flush=True,
            )


def rate_scale(sim):
    """max(c sum_f |grad lambda_f|) over the elements."""
    x = sim.mesh.vertices[sim.mesh.cells]
    edge = x[:, 1:] - x[:, :1]
    gradient = np.linalg.inv(edge).transpose(0, 2, 1)
    total = np.linalg.norm(gradient, axis=2).sum(axis=1) + np.linalg.norm(gradient.sum(axis=1), axis=1)
    return (sim.medium.on(sim.mesh)[:, 1] * total).max()


if __name__ == "__main__":
    main()
