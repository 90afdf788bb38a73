"""A first wave, against the exact solution
========================================

A point source under a free surface, in a mesh made with Gmsh, against the exact solution.

Prints the relative error of each trace and fails if one is above 1 %. Writes first_wave.npz and, where
matplotlib is installed, first_wave.png.
Sample run: python examples/first_wave.py        (--quick: coarser and shorter, for the tests)
"""

import argparse

import numpy as np
import unda

MESH = unda.datasets.path("two_layers.msh")


def simulate(path, degree, until):
    """Run the problem; returns the simulation, its receivers and the exact solution."""
    mesh = unda.read_mesh(path)
    medium = unda.Acoustic(rho={"lower": 1000.0, "upper": 1000.0}, c={"lower": 1500.0, "upper": 1500.0})
    source = unda.VolumeInjection((503, 491, 407), unda.ricker(3.0))
    # Waves leave through the sides as if there were no sides: the exact solution stands outside.
    exact = unda.exact.point_source(medium, source, walls={"zmax": "free"})
    sim = unda.DG(mesh, medium, degree=degree, boundary={"zmax": "free", "*": exact})
    sim.add_source(source)
    rec = sim.add_receivers([(700, 310, 180), (850, 820, 670), (150, 480, 900)], ["p"])
    sim.run(until=until)
    return sim, rec, exact


def draw(sim, rec, exact, name):
    """Pressure on a plane through the source, and traces with the exact ones dashed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    sim.plot_slice("p", y=491.0, ax=left)
    expected = exact.bind(sim.mesh)(*(rec.points[:, i, None] for i in range(3)), rec.t)["p"]
    for i, point in enumerate(rec.points):
        line = right.plot(rec.t, rec["p"][i], label=f"at ({', '.join(f'{x:g}' for x in point)}) m")[0]
        right.plot(rec.t, expected[i], "--", color="black", lw=0.8, label="exact" if i == 0 else None)
        line.set_linewidth(2)
    right.set(xlabel="t [s]", ylabel="p [Pa]", title="Traces")
    right.legend()
    figure.savefig(name, dpi=130)
    print("wrote", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--mesh", default=MESH)
    arguments = parser.parse_args()
    degree, until, bound = (3, 0.9, 0.04) if arguments.quick else (4, 1.0, 0.01)
    sim, rec, exact = simulate(arguments.mesh, degree, until)
    print(sim)
    misfit = rec.misfit(exact)
    for point, error in zip(rec.points, misfit, strict=True):
        print(f"receiver at {tuple(point.tolist())} m: relative error {error:.2e}")
    np.savez("first_wave.npz", t=rec.t, p=rec["p"], points=rec.points)
    draw(sim, rec, exact, "first_wave.png")
    assert (misfit < bound).all(), f"expected errors below {bound}"


if __name__ == "__main__":
    main()
