"""Focused ultrasound through a skull-like layer
=============================================

A focused transducer in water, and through a layer as hard as skull: peak pressure everywhere, by monitors.

The bowl is an array of volume sources with weights in square metres, so that pressures are true. In water the
peak in the focus is that of O'Neil (1949), p = rho h f'(t - R/c) / 2, h being the bowl's depth; fails if it
is off by more than 3 %; with 32 samples a period a maximum misses 0.5 %. The layer, a fluid here, takes a
part of it and moves the focus.
Writes focused_ultrasound.nc, maps for xarray, and focused_ultrasound.png.
Sample run: python examples/focused_ultrasound.py        (--quick: half the frequency, for the tests)
"""

import argparse

import numpy as np
import unda

WATER, SKULL = {"rho": 1000.0, "c": 1500.0}, {"rho": 1850.0, "c": 2800.0}
RADIUS, DIAMETER, CYCLES = 0.064, 0.064, 6  # of curvature, of the opening [m]; of the burst
MIDDLE = np.array([0.0, 0.0, 0.004])  # of the bowl, which looks along z
FOCUS = MIDDLE + np.array([0.0, 0.0, RADIUS])
LAYER = 0.034, 0.0405  # where it begins and ends along z [m]
WIDTH, LENGTH = 0.07, 0.09  # of the grid [m]


def run(f0, h, layer):
    """Run; returns the simulation and the monitor that keeps the largest pressures."""
    shape = (round(WIDTH / h) + 1,) * 2 + (round(LENGTH / h) + 1,)
    grid = unda.Grid(shape, h, origin=(-WIDTH / 2, -WIDTH / 2, 0.0))
    burst = unda.tone_burst(f0, CYCLES)
    z = grid.origin[2] + h * np.arange(shape[2])
    inside = np.broadcast_to(layer & (z >= LAYER[0]) & (z <= LAYER[1]), shape)
    medium = unda.Acoustic(**{name: np.where(inside, SKULL[name], WATER[name]) for name in WATER})
    sim = unda.FD(grid, medium, scheme="staggered", order=8, dt=1 / (32 * f0))
    sim.add_source(unda.Array.bowl(MIDDLE, FOCUS, DIAMETER, burst, spacing=h))
    peak = sim.add_monitor("p", "max", every=1)
    sim.run(until=1.05 * RADIUS / WATER["c"] + burst.span[1])
    return sim, peak


def draw(maps, name):
    """Draw both maps in the plane y = 0, in the colours of water, and pressures along the axis."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    cuts = {name: found.sel(y=0, method="nearest") / 1e6 for name, found in maps.items()}
    top, about = float(cuts["water"].max()), {"units": "MPa", "long_name": "peak pressure"}
    for ax, (title, cut) in zip(axes[:2], cuts.items(), strict=True):
        cut.assign_attrs(about).T.plot(ax=ax, vmin=0, vmax=top, cmap="inferno")
        ax.set(aspect="equal", title=f"{title}, y = 0")
    axes[1].axhspan(*LAYER, fill=False, ls="--", color="w")
    for title, cut in cuts.items():
        cut.assign_attrs(about).sel(x=0, method="nearest").plot(ax=axes[2], label=title)
    axes[2].axvspan(*LAYER, color="0.9", label="the layer")
    axes[2].axvline(FOCUS[2], color="0.5", ls=":", label="the bowl's focus")
    axes[2].set(title="on the axis", ylim=(0, 1.7 * top))
    axes[2].legend(loc="upper right")
    figure.savefig(name, dpi=110)
    print("wrote", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    f0, h = (0.25e6, 1e-3) if parser.parse_args().quick else (0.5e6, 0.5e-3)
    found = {}
    for name, layer in (("water", False), ("through the layer", True)):
        sim, found[name] = run(f0, h, layer)
        print(sim, found[name], sep="\n")
    burst, depth = unda.tone_burst(f0, CYCLES), RADIUS - np.sqrt(RADIUS**2 - DIAMETER**2 / 4)
    t = np.linspace(*burst.span, 20001)
    exact = WATER["rho"] * depth / 2 * burst.derivative(t).max()
    i, j, k = (np.abs(axis - x).argmin() for axis, x in zip(found["water"].axes, FOCUS, strict=True))
    there = {name: float(peak.values[i, j, k]) for name, peak in found.items()}
    error = abs(there["water"] / exact - 1)
    print(f"in the focus {there['water']:.4g} Pa in water, O'Neil {exact:.4g} Pa, {error:.2%} off")
    print(f"through the layer {there['through the layer'] / there['water']:.0%} of it")
    try:
        maps = {name: peak.to_xarray() for name, peak in found.items()}
        both = maps["water"].to_dataset(name="water").assign(layer=maps["through the layer"])
        both.to_netcdf("focused_ultrasound.nc")
        draw(maps, "focused_ultrasound.png")
    except ImportError as missing:
        print(f"no maps: pip install 'unda-waves[xarray,plot]' ({missing})")
    assert error < 0.03, "expected an error below 3 %"


if __name__ == "__main__":
    main()
