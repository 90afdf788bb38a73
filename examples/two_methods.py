"""DG and finite differences on one layered model
==============================================

Two methods on one problem: DG and finite differences of a point force in a layered elastic box.

The sides and the bottom are mirrors and the top is free, in both methods the same, so that everything that
comes back belongs to the wave. Nothing is known of the exact traces but that both methods must tend to them.
Prints the relative L2 misfit of each trace between the two and fails if one is above 2 %. Writes
two_methods.npz and, where matplotlib is installed, two_methods.png.
Sample run: python examples/two_methods.py        (--quick: longer waves, for the tests)
"""

import argparse
import time

import numpy as np
import unda
from scipy.interpolate import CubicSpline

SIZE = 600.0  # m
RHO, VP, VS = (
    np.array([2400.0, 2000.0]),
    np.array([3200.0, 2200.0]),
    np.array([1800.0, 1200.0]),
)  # below, above
SIDES = {"zmax": "free", "*": "symmetry"}
SOURCE, DIRECTION = (213.0, 247.0, 437.0), (1.0, 2.0, 3.0)
PLACES = [
    (371.0, 333.0, 563.0),
    (431.0, 283.0, 421.0),
    (333.0, 391.0, 137.0),
]  # the last: below the interface
FIELDS = ("vx", "vy", "vz")


def layered(values):
    """Return a parameter of two layers: the interface is between cells of the mesh, halfway between nodes.

    There the staggered scheme has only v_z, s_xz and s_yz, and takes the mean of both densities and the
    harmonic mean of both shear moduli: its interface lies where the mesh has it.
    """
    return lambda x, y, z: np.where(z < SIZE / 2, values[0], values[1]) + 0 * x * y


def run(sim, f0, until):
    """Return times, traces and the seconds that it took."""
    sim.add_source(unda.PointForce(SOURCE, unda.ricker(f0), DIRECTION))
    rec = sim.add_receivers(PLACES, FIELDS)
    begin = time.perf_counter()
    sim.run(until=until)
    return rec, time.perf_counter() - begin


def galerkin(cells, degree, f0, until):
    mesh = unda.box_mesh((0, 0, 0), (SIZE,) * 3, (cells,) * 3)  # an even number: a face at the interface
    medium = unda.Elastic(rho=layered(RHO), vp=layered(VP), vs=layered(VS))
    with unda.DG(mesh, medium, degree=degree, boundary=SIDES) as sim:
        print(sim)
        return run(sim, f0, until)


def differences(nodes, order, f0, until):
    grid = unda.Grid((nodes,) * 3, SIZE / (nodes - 1))  # an even number: none at the interface
    medium = unda.Elastic(rho=layered(RHO), vp=layered(VP), vs=layered(VS))
    with unda.FD(grid, medium, scheme="staggered", order=order, cfl=0.8, boundary=SIDES) as sim:
        print(sim)
        return run(sim, f0, until)


def at(rec, name, t):
    """Traces of a field at times t; those of finite differences are half a step early."""
    return CubicSpline(rec.times(name), rec[name], axis=1)(t)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    f0, until, cells, degree, nodes = (3.0, 0.8, 4, 5, 34) if quick else (5.0, 0.8, 6, 5, 76)
    dg, dg_seconds = galerkin(cells, degree, f0, until)
    fd, fd_seconds = differences(nodes, 8, f0, until)
    print(f"DG {dg_seconds:.1f} s, FD {fd_seconds:.1f} s")
    t = np.linspace(0, 0.99 * until, 600)
    one, other = (np.stack([at(rec, name, t) for name in FIELDS], axis=1) for rec in (dg, fd))
    # Of the three components together: one that is small shows its own error times the others.
    misfit = np.sqrt(((one - other) ** 2).sum((1, 2)) / (one**2).sum((1, 2)))
    for place, value in zip(PLACES, misfit, strict=True):
        print(f"receiver at {place} m: misfit {100 * value:.2f} %")
    np.savez("two_methods.npz", t=t, dg=one, fd=other, points=PLACES, misfit=misfit)
    draw(t, one, other, misfit, "two_methods.png")
    assert (misfit < 0.02).all(), "expected misfits below 2 %"


def draw(t, one, other, misfit, name):
    """Draw all components of DG, dashed those of FD, and ten times their difference."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
        return
    figure, axes = plt.subplots(len(PLACES), 1, figsize=(9, 8), sharex=True, layout="constrained")
    for i, ax in enumerate(axes):
        step = 1.6 * np.abs(one[i]).max()
        for j, field in enumerate(FIELDS):
            ax.axhline(-j * step, color="0.85", lw=0.8)
            ax.plot(t, one[i, j] - j * step, color=f"C{j}", lw=2, label=f"{field}, DG")
            ax.plot(t, other[i, j] - j * step, "k--", lw=0.9, label="FD" if j == 2 else None)
            ax.plot(t, 10 * (other - one)[i, j] - j * step, color="0.55", lw=0.7,
                    label="10 x difference" if j == 2 else None)  # fmt: skip
        place = ", ".join(f"{x:g}" for x in PLACES[i])
        ax.set(title=f"({place}) m: misfit {100 * misfit[i]:.2f} %", ylabel="velocity", yticks=[])
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize="small", ncols=5, loc="outside upper center")
    axes[-1].set(xlabel="t [s]", xlim=(0.3 * t[-1], t[-1]))
    figure.savefig(name, dpi=110)
    print("wrote", name)


if __name__ == "__main__":
    main()
