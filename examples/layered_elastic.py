"""A tremor under the sea
======================

A tremor under the sea: a moment tensor in three solid layers below water, and its seismograms.

The top is free, the rest absorbs. A line of receivers stands on the sea floor (velocity), another hangs
under the surface (pressure). Two things must hold exactly, and fail the run if they do not: energy never
grows once the source is silent, and places can be exchanged: what an injection in the rock makes at a
hydrophone in the water is what the same injection at the hydrophone makes in the rock. Writes
layered_elastic.npz and, where matplotlib is installed, layered_elastic.png.
Sample run: python examples/layered_elastic.py        (--quick: coarser, for the tests)
"""

import argparse

import numpy as np
import unda

SIZE = (2400.0, 800.0, 1400.0)  # m
TOPS = np.array([400.0, 800.0, 1200.0, 1400.0])  # of basement, rock, sediment and water [m]
RHO = np.array([2700.0, 2400.0, 2000.0, 1000.0])
VP = np.array([4500.0, 3200.0, 2000.0, 1500.0])
VS = np.array([2600.0, 1800.0, 900.0, 0.0])
SOURCE = (620.0, 410.0, 590.0)
SLIP = 1e13 * np.array([[0.3, 0, 1], [0, 0, 0], [1, 0, -0.3]])  # a steep fault across the line, N m


def layered(values):
    return lambda x, y, z: values[np.searchsorted(TOPS, z)]


def model(height, degree, dtype="float32"):
    """Return a simulation whose cells are that high [m] at most; layers begin with cells."""
    cells = [int(np.ceil(size / height)) for size in SIZE]
    mesh = unda.box_mesh((0, 0, 0), SIZE, cells)
    medium = unda.Elastic(rho=layered(RHO), vp=layered(VP), vs=layered(VS))
    return unda.DG(mesh, medium, degree=degree, boundary={"zmax": "free", "*": "absorbing"}, dtype=dtype)


def tremor(height, degree, f0, until):
    """Run; returns the simulation, both lines of receivers, and the energies after the source."""
    sim = model(height, degree)
    rate = unda.ricker(f0)  # no permanent slip: all energy leaves in waves
    sim.add_source(unda.MomentTensor(SOURCE, rate.integral, SLIP))
    x = np.linspace(100, 2300, 45)
    line = np.stack([x, np.full_like(x, 390.0), np.full_like(x, 1199.0)], axis=1)
    floor = sim.add_receivers(line, ["vx", "vz"])
    water = sim.add_receivers(line + np.array([0, 0, 181]), ["pressure"])
    energies = []
    sim.run(until=rate.span[1])
    sim.run(until=until, every=10, callback=lambda sim: energies.append(sim.energy()))
    return sim, floor, water, np.array(energies)


def exchanged():
    """Return the pressure at a hydrophone from the rock, and in the rock from the hydrophone."""
    places, traces = [(620.0, 410.0, 590.0), (1510.0, 330.0, 1330.0)], []
    for place, other in (places, places[::-1]):
        sim = model(200.0, 2, "float64")
        sim.add_source(unda.VolumeInjection(place, unda.ricker(4.0)))
        traces.append(sim.add_receivers([other], ["pressure"]))
        sim.run(until=0.8)
    return traces


def travel_time(x, speeds):
    """Return when the direct wave reaches the sea floor at x [m] through rock and sediment (Fermat) [s]."""
    up, offset = TOPS[1] - SOURCE[2], x - SOURCE[0]
    across = np.linspace(-0.1, 1.1, 2001)[:, None] * offset  # where it leaves the rock
    times = np.hypot(across, up) / speeds[1] + np.hypot(offset - across, TOPS[2] - TOPS[1]) / speeds[2]
    return times.min(axis=0)


def draw(sim, floor, water, peak, name):
    """Draw model, a slice and two sections; dashed: direct P and S, later by the peak of the source."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
        return
    figure = plt.figure(figsize=(11, 8.4), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.9))
    profile, axes = top.subplots(1, 2, width_ratios=(1, 2), sharey=True)
    depths = np.array([0.0, *TOPS])
    for label, speeds, color in (("vp", VP, "C3"), ("vs", VS, "C0")):
        profile.stairs(speeds, depths, orientation="horizontal", baseline=None, color=color, label=label)
    profile.set(xlabel="speed [m/s]", ylabel="z [m]")
    profile.legend(loc="lower left")
    sim.plot_slice("vz", y=390.0, ax=axes)
    axes.hlines(TOPS[:-1], 0, SIZE[0], color="black", lw=0.8)
    axes.plot(SOURCE[0], SOURCE[2], "k*", ms=12)
    left, right = bottom.subplots(1, 2, sharey=True)
    for ax, rec, field in ((left, water, "pressure"), (right, floor, "vz")):
        x, trace = rec.points[:, 0], rec[field]
        scale = 80 / np.percentile(np.abs(trace).max(axis=1), 70)
        for place, one in zip(x, trace, strict=True):
            ax.plot(place + scale * one, rec.t, color="black", lw=0.6)
            ax.fill_betweenx(rec.t, place, place + scale * one.clip(0), color="black", alpha=0.5, lw=0)
        ax.set(xlabel="x [m]", xlim=(0, SIZE[0]))
    left.set(title="pressure, 20 m below the surface", ylabel="t [s]", ylim=(floor.t[-1], 0))
    right.set(title="vz on the sea floor")
    for label, speeds, style in (("P", VP, "C3--"), ("S", VS, "C0--")):
        right.plot(floor.points[:, 0], peak + travel_time(floor.points[:, 0], speeds), style, label=label)
    right.legend(loc="lower left")
    figure.savefig(name, dpi=110)
    print("wrote", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    height, degree, f0, until = (200.0, 2, 2.0, 2.0) if quick else (100.0, 3, 3.0, 1.7)
    sim, floor, water, energies = tremor(height, degree, f0, until)
    print(sim)
    growth = np.diff(energies).max() / energies[0]
    print(
        f"energy {energies[0]:.4g} J after the source, {energies[-1]:.4g} J at the end, growth {growth:.1e}"
    )
    forth, back = exchanged()
    difference = np.abs(forth["pressure"] - back["pressure"]).max()
    difference /= np.abs(forth["pressure"]).max()
    print(f"injection and hydrophone exchanged: traces differ by {difference:.1e} of their peak")
    np.savez("layered_elastic.npz", t=floor.t, points=floor.points, vx=floor["vx"], vz=floor["vz"],
             pressure=water["pressure"])  # fmt: skip
    draw(sim, floor, water, 1.5 / f0, "layered_elastic.png")
    assert growth < 1e-6, "energy grows"
    assert difference < 1e-10, "places cannot be exchanged"


if __name__ == "__main__":
    main()
