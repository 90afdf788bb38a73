"""Convergence: the error against mesh and degree
==============================================

How the error falls with the mesh: an oblique plane wave in a periodic box, degrees 1 to 4.

Prints L2 errors and observed orders and fails if one is below N + 1/2; writes convergence.png where
matplotlib is installed. Sample run: python examples/convergence.py   (--quick: degrees 1 and 2)
"""

import argparse

import numpy as np
import unda

MEDIUM = unda.Acoustic(rho=1.3, c=0.8)
WAVE = unda.exact.plane_wave(MEDIUM, k=2 * np.pi * np.array([1, 1, -1]))


def error(degree, n):
    """Relative L2 error of p after a third of a period, on a perturbed mesh of 6 n^3 cells."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.15, seed=n, periodic=(True,) * 3)
    with unda.DG(mesh, MEDIUM, degree=degree, dtype="float64") as sim:
        sim.set(WAVE)
        sim.run(until=0.25, progress=False)
        return mesh, sim.error(WAVE, relative=True)["p"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    curves = {}
    for degree in (1, 2) if quick else (1, 2, 3, 4):
        h, errors = [], []
        for n in (4, 6, 8):
            mesh, e = error(degree, n)
            h.append((mesh.volume / mesh.num_elem) ** (1 / 3))
            errors.append(e)
        order = np.polyfit(np.log(h), np.log(errors), 1)[0]
        curves[degree] = h, errors, order
        print(f"N = {degree}: errors {', '.join(f'{e:.2e}' for e in errors)}, order {order:.2f}")
        assert order >= degree + 0.5, f"order {order:.2f}, expected {degree + 0.5} or more"
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    for degree, (h, errors, order) in curves.items():
        ax.loglog(h, errors, "o-", label=f"N = {degree}, order {order:.2f}")
    ax.set(xlabel="h = (V/K)$^{1/3}$ [m]", ylabel="relative L2 error of p")
    ax.legend()
    figure.savefig("convergence.png", dpi=130)
    print("wrote convergence.png")


if __name__ == "__main__":
    main()
