"""A hill over a layer
===================

A hill over a layer: topography without a mesh generator, and two methods on the same hexahedra.

`unda.mapped_mesh` makes the mesh of a grid of nodes: flat up to the bottom of a soft layer, from there
stretched up to a hill in the shape of a Gaussian. Cells are curved, with 27 nodes: where flat facets of
different slopes meet, no traction on either leaves a stress that is not smooth, and DG, whose unknown it is,
errs by 1 % on the summit. Spectral elements and DG compute the motion after a slip in the rock; where they
agree on a slope, both have it right. The sides and the bottom are mirrors, in both methods the same. Prints
the relative L2 misfit of the traces at each receiver and fails if one is above 1 %. Writes hill.npz and,
where matplotlib is installed, hill.png.
Sample run: python examples/hill.py        (--quick: longer waves, for the tests)
"""

import argparse
import time

import numpy as np
import unda
from scipy.interpolate import CubicSpline

WIDTH, DEPTH, LAYER = 600.0, 600.0, 150.0  # of the box and the layer, below the plain at z = 0 [m]
HEIGHT, RADIUS, SUMMIT = 100.0, 110.0, (300.0, 300.0)  # of the hill [m]
ROCK = {"rho": 2400.0, "vp": 2800.0, "vs": 1600.0}
SOIL = {"rho": 2000.0, "vp": 2000.0, "vs": 1200.0}
SOURCE = (193.0, 214.0, -353.0)
SLIP = 1e13 * np.array([[0.4, 0.5, 1.0], [0.5, -0.1, 0.3], [1.0, 0.3, -0.3]])  # N m
FIELDS = ("vx", "vy", "vz")
DEGREE = 4


def hill(x, y):
    return HEIGHT * np.exp(-((x - SUMMIT[0]) ** 2 + (y - SUMMIT[1]) ** 2) / (2 * RADIUS**2))


def nodes_of(columns, below, above):
    """Return nodes [i, j, k, axis], three an axis of a cell: so many cells below and above the interface."""
    side = np.linspace(0, WIDTH, 2 * columns + 1)
    x, y, rock = np.meshgrid(side, side, np.linspace(-DEPTH, -LAYER, 2 * below + 1), indexing="ij")
    soil = -LAYER + np.linspace(0, 1, 2 * above + 1)[1:] * (LAYER + hill(x, y)[:, :, :1])
    z = np.concatenate([rock, soil], axis=2)
    return np.stack([*(np.broadcast_to(one[:, :, :1], z.shape) for one in (x, y)), z], axis=-1)


def places(nodes):
    """Return the summit, and the middles of two faces of the hill and of a cell in the rock.

    Errors of DG's point source on hexahedra reach four cells in rows and on diagonals that begin at its cell:
    the last is on none of them.
    """
    columns, top = nodes.shape[0] // 2, nodes[:, :, -1]
    half, most = 2 * (columns // 2), 2 * (3 * columns // 4)
    return {
        "summit": top[half, half],
        "face beside it": top[half + 1, half + 1],
        "slope": top[most + 1, half + 1],
        "rock": nodes[2 * (5 * columns // 8) + 1, 2 * (7 * columns // 8) + 1, 2 * (columns // 8) + 1],
    }


def run(method, mesh, points, f0, until):
    """Return the receivers at some points."""
    medium = unda.Elastic(**{name: {"rock": ROCK[name], "soil": SOIL[name]} for name in ROCK})
    boundary = {"zmax": "free", "*": "symmetry"}
    with method(mesh, medium, degree=DEGREE, boundary=boundary) as sim:
        sim.add_source(unda.MomentTensor(SOURCE, unda.ricker(f0).integral, SLIP))
        rec = sim.add_receivers(points, FIELDS)
        begin = time.perf_counter()
        sim.run(until=until)
        print(f"{sim}\n{time.perf_counter() - begin:.1f} s")
    return rec


def at(rec, t):
    return np.stack([CubicSpline(rec.times(name), rec[name], axis=1)(t) for name in FIELDS], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    f0, columns, below, above = (2.0, 6, 5, 3) if parser.parse_args().quick else (4.0, 12, 9, 6)
    nodes = nodes_of(columns, below, above)
    mesh = unda.mapped_mesh(
        *np.moveaxis(nodes, -1, 0), tags=lambda x, y, z: z > -LAYER, tag_names={"rock": 0, "soil": 1},
        curved=True,
    )  # fmt: skip
    print(mesh.report())
    names, points = zip(*places(nodes).items(), strict=True)
    until = 5 / f0  # the source ends at 3 / f0
    sem, dg = (run(method, mesh, points, f0, until) for method in (unda.SEM, unda.DG))
    t = np.linspace(0, 0.99 * until, 600)
    one, other = at(sem, t), at(dg, t)
    # Of the three components together: one that is small shows its own error times the others.
    misfit = np.sqrt(((one - other) ** 2).sum((1, 2)) / (one**2).sum((1, 2)))
    for name, point, value in zip(names, points, misfit, strict=True):
        print(f"{name:15} at ({', '.join(f'{x:.1f}' for x in point)}) m: misfit {100 * value:.2f} %")
    np.savez("hill.npz", t=t, points=points, sem=one, dg=other, misfit=misfit)
    draw(nodes, dict(zip(names, points, strict=True)), t, one, other, misfit, "hill.png")
    assert (misfit < 0.01).all(), "expected misfits below 1 %"


def draw(nodes, points, t, one, other, misfit, name):
    """Draw a section of the mesh, all components of both methods, and ten times their difference."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
        return
    figure, axes = plt.subplot_mosaic("mmab;mmcd", figsize=(14, 7), layout="constrained")
    x, _, z = np.moveaxis(nodes[::2, nodes.shape[1] // 2, ::2], -1, 0)
    middle = (z[:-1, :-1] + z[1:, 1:]) / 2
    ax = axes["m"]
    ax.pcolormesh(x, z, middle > -LAYER, cmap="YlOrBr_r", vmin=-1, vmax=2, edgecolors="k", lw=0.4)
    ax.plot(SOURCE[0], SOURCE[2], "k*", ms=14, label="slip")
    x, _, z = np.transpose(list(points.values()))
    ax.plot(x, z, "wv", mec="k", ms=9, clip_on=False, label="receivers")
    ax.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    ax.set_title(f"mesh at y = {SUMMIT[1]:g} m; source, receivers seen along y", pad=14)
    ax.legend(loc="lower right")
    for i, (place, letter) in enumerate(zip(points, "abcd", strict=True)):
        ax, step = axes[letter], 1.6 * np.abs(one[i]).max()
        for j, field in enumerate(FIELDS):
            ax.plot(t, one[i, j] - j * step, color=f"C{j}", lw=2, label=f"{field}, SEM")
            ax.plot(t, other[i, j] - j * step, "k--", lw=0.9, label="DG" if j == 2 else None)
            ax.plot(t, 10 * (other - one)[i, j] - j * step, color="0.55", lw=0.7,
                    label="10 x difference" if j == 2 else None)  # fmt: skip
        ax.set(title=f"{place}: misfit {100 * misfit[i]:.2f} %", xlabel="t [s]", yticks=[])
        ax.set_xlim(0.2 * t[-1], t[-1])
    figure.legend(*axes["a"].get_legend_handles_labels(), ncols=5, loc="outside upper center")
    figure.savefig(name, dpi=110)
    print("wrote", name)


if __name__ == "__main__":
    main()
