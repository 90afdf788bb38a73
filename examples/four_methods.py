"""Four methods on one problem
===========================

Four methods on one problem: a moment tensor in a layered elastic box with a free surface.

DG on tetrahedra, DG on hexahedra, spectral elements and staggered finite differences give traces of velocity
at the surface and inside. The sides and the bottom are mirrors: absorbing sides differ between the methods
(a ghost state, dashpots, a CPML), mirrors do not, so that everything that comes back belongs to the wave.
Prints a table of time and memory, the relative L2 misfit of each pair of methods, and the error of finite
differences against nodes a wavelength. Fails where a pair of the first three differs by more than 2 %, or
finite differences by more than 5 %. Writes four_methods.npz and, where matplotlib is installed,
four_methods.png.
Sample run: python examples/four_methods.py        (--quick: longer waves, for the tests)
"""

import argparse
import itertools
import time

import numpy as np
import unda
from scipy.interpolate import CubicSpline
from scipy.special import lambertw

SIZE, TOP = 600.0, 150.0  # of the box, and of the layer at its top [m]
RHO, VP, VS = (2400.0, 2000.0), (2800.0, 2000.0), (1600.0, 1200.0)  # below, in the layer
SIDES = {"zmax": "free", "*": "symmetry"}
SOURCE = (193.0, 214.0, 247.0)
SLIP = 1e13 * np.array([[0.4, 0.5, 1.0], [0.5, -0.1, 0.3], [1.0, 0.3, -0.3]])  # N m
# Not in rows of cells that begin at the source's: errors of DG's on hexahedra reach four cells there.
PLACES = [(431.0, 377.0, 600.0), (262.0, 503.0, 600.0), (467.0, 397.0, 513.0), (443.0, 391.0, 107.0)]
FIELDS = ("vx", "vy", "vz")
DEGREE, NODES = 4, 8  # of elements; NODES a shortest wavelength, DEGREE a cell


def layered(values):
    """Return a parameter of both layers: meshes have faces at the interface, grids have it between nodes.

    There the staggered scheme takes the mean of both densities and the harmonic mean of both shear moduli:
    its interface lies where the meshes have it.
    """
    return lambda x, y, z: np.where(z < SIZE - TOP, *values) + 0 * x * y


def shortest(f0):
    """Return the slowest S speed over the frequency where a Ricker's spectrum falls to 1 % of its peak [m].

    The spectrum is x exp(1 - x) of its peak, where x = (f / f0)^2.
    """
    return min(VS) / (f0 * np.sqrt(-lambertw(-0.01 / np.e, -1).real))


def run(sim, f0, until):
    """Return receivers, seconds and MB; the slip is back at 0 in the end, so that all energy is in waves."""
    print(sim)
    sim.add_source(unda.MomentTensor(SOURCE, unda.ricker(f0).integral, SLIP))
    rec = sim.add_receivers(PLACES, FIELDS)
    begin = time.perf_counter()
    sim.run(until=until)
    return rec, time.perf_counter() - begin, sum(sim.memory.values()) / 1e6


def medium():
    """Return the layered medium; meshes take it at centroids of cells, grids at nodes."""
    return unda.Elastic(rho=layered(RHO), vp=layered(VP), vs=layered(VS))


def elements(method, shape, cells, f0, until):
    mesh = unda.box_mesh((0, 0, 0), (SIZE,) * 3, (cells,) * 3, shape=shape)
    with method(mesh, medium(), degree=DEGREE, boundary=SIDES) as sim:
        return run(sim, f0, until)


def differences(spaces, f0, until):
    """Run finite differences; of an even number of spaces that 4 does not divide, half of one is in TOP."""
    with unda.FD(
        unda.Grid((spaces + 1,) * 3, SIZE / spaces), medium(), scheme="staggered", order=8, cfl=0.8,
        boundary=SIDES,
    ) as sim:  # fmt: skip
        return run(sim, f0, until)


def at(rec, t):
    """Return traces [place, field, time]; those of finite differences are half a step early."""
    return np.stack([CubicSpline(rec.times(name), rec[name], axis=1)(t) for name in FIELDS], axis=1)


def misfit(one, other):
    """Return that of each place, of all components: one that is small would show others' errors."""
    return np.sqrt(((one - other) ** 2).sum((1, 2)) / (other**2).sum((1, 2)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    cells, spaces = (4, [22, 42]) if parser.parse_args().quick else (8, [30, 42, 58, 82])
    wavelength = NODES * SIZE / (cells * DEGREE)
    f0 = shortest(1.0) / wavelength
    until = 4.5 / f0  # the source ends at 3 / f0
    print(f"Ricker wavelet of {f0:.2f} Hz, shortest wavelength {wavelength:g} m")
    found = {
        "DG tetrahedra": elements(unda.DG, "tet", cells, f0, until),
        "DG hexahedra": elements(unda.DG, "hex", cells, f0, until),
        "SEM": elements(unda.SEM, "hex", cells, f0, until),
    }
    like = list(found)  # those of the same nodes a wavelength
    nodes = wavelength * np.array(spaces) / SIZE
    grids = [f"FD, {one:.1f} nodes" for one in nodes]
    found |= {name: differences(n, f0, until) for name, n in zip(grids, spaces, strict=True)}
    t = np.linspace(0, 0.99 * until, 600)
    traces = {name: at(rec, t) for name, (rec, _, _) in found.items()}

    print("\nmethod                 time     memory")
    for name, (_, seconds, memory) in found.items():
        print(f"{name:16} {seconds:8.1f} s {memory:7.1f} MB")
    print("\nmisfit [%] at each receiver")
    fine = [*like, grids[-1]]
    pairs = list(itertools.combinations(fine, 2)) + [(name, like[1]) for name in grids[:-1]]
    misfits = {(one, other): 100 * misfit(traces[one], traces[other]) for one, other in pairs}
    for (one, other), values in misfits.items():
        print(f"{one:16} {other:16}" + "".join(f"{value:6.2f}" for value in values))

    error = np.stack([100 * misfit(traces[name], traces[like[1]]) for name in grids])
    np.savez("four_methods.npz", t=t, points=PLACES, nodes=nodes, error=error,
             **{name.split(",")[0]: traces[name] for name in fine})  # fmt: skip
    draw(t, {name: traces[name] for name in fine}, nodes, error, "four_methods.png")
    for pair, values in misfits.items():
        limit = 2 if set(pair) <= set(like) else 5
        if set(pair) <= set(fine):
            assert (values <= limit).all(), f"{pair} differ by {values} %, expected at most {limit} %"


def draw(t, traces, nodes, error, name):
    """Draw all components of all methods, and the misfit of finite differences from DG on hexahedra."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
        return
    styles = [("0.75", "-", 5.0), ("C0", "-", 2.2), ("C1", "--", 1.5), ("k", ":", 1.5)]
    figure, axes = plt.subplot_mosaic(
        "abx;cdx", figsize=(13, 7.5), width_ratios=(1.2, 1.2, 1), layout="constrained"
    )
    for i, ax in enumerate(axes[letter] for letter in "abcd"):
        step = 1.5 * max(np.abs(trace[i]).max() for trace in traces.values())
        for (label, trace), (color, line, width) in zip(traces.items(), styles, strict=True):
            for j in range(len(FIELDS)):
                ax.plot(t, trace[i, j] - j * step, line, color=color, lw=width, label=None if j else label)
        place = ", ".join(f"{x:g}" for x in PLACES[i])
        ax.set(title=f"({place}) m", xlabel="t [s]", xlim=(0.2 * t[-1], t[-1]))
        ax.set_yticks([-j * step for j in range(len(FIELDS))], FIELDS)
    ax = axes["x"]
    for i, place in enumerate(PLACES):
        ax.loglog(nodes, error[:, i], "o-", label=", ".join(f"{x:g}" for x in place))
    ax.loglog(nodes, error.max() * (nodes[0] / nodes), "k:", label="order 1")
    ax.loglog(nodes, error.max() * (nodes[0] / nodes) ** 2, "k--", label="order 2")
    ax.set(title="FD from DG on hexahedra", xlabel="nodes a shortest wavelength", ylabel="misfit [%]")
    ax.set_xticks(nodes, [f"{one:.1f}" for one in nodes], minor=False)
    ax.set_xticks([], minor=True)
    ax.legend(title="receiver [m]")
    figure.legend(*axes["a"].get_legend_handles_labels(), ncols=4, loc="outside upper center")
    figure.savefig(name, dpi=110)
    print("wrote", name)


if __name__ == "__main__":
    main()
