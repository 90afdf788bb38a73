"""A survey over a SEG-Y model
===========================

Shots over a model that comes as SEG-Y: wiggles, and SEG-Y files for other programs.

The sample `salt.sgy` is a section of 4 km by 2 km with a node every 25 m; `unda.read_model` reads a file of
one's own. Each shot starts without setting up again. Until the sea bed answers, the first shot is compared
with the exact wave of a line source under a free surface; fails if an amplitude is off by more than 1 %.
Writes survey_0.sgy, survey_1.sgy, .. and survey_segy.png.
Sample run: python examples/survey_segy.py        (--quick: half the frequency and two shots, for the tests)
"""

import argparse

import numpy as np
import unda

C_WATER = 1500.0
SEA_BED = -340.0  # its highest point [m]
CELLS = 8  # in the shortest wavelength
SIDES = {"zmax": "free", "*": "absorbing"}


def model(refined):
    """Return the grid of the file, or one so many times finer, and speeds on it, linear between nodes."""
    from scipy.interpolate import RegularGridInterpolator

    read, c = unda.datasets.model("salt.sgy")
    h = read.spacing[0] / refined
    shape = tuple(refined * (n - 1) + 1 for n in read.shape)
    grid = unda.Grid(shape, h, origin=read.origin)
    x, z = (read.origin[i] + read.spacing[i] * np.arange(read.shape[i]) for i in (0, 2))
    at = RegularGridInterpolator((x, z), c[:, 0])
    fine = [grid.origin[i] + h * np.arange(shape[i]) for i in (0, 2)]
    return grid, at(tuple(np.meshgrid(*fine, indexing="ij")))[:, None]


def direct_wave(sim, shot):
    """Return the relative error of traces near a shot before the sea bed answers."""
    until = (shot.position[2] - SEA_BED - 30.0 - SEA_BED) / C_WATER
    near = [(shot.position[0] + offset, 0.0, -30.0) for offset in (75.0, 150.0)]
    (rec,) = sim.shots([shot], near, until=until)
    water = unda.Acoustic(rho=1000.0, c=C_WATER)
    return rec.misfit(unda.exact.line_source(water, shot, walls={"zmax": "free"}), fields=("p",))


def draw(grid, c, shots, gathers, name):
    """Draw the model and two gathers; late times are raised by t, as amplitudes fall along a section."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(13, 4.6), layout="constrained")
    one, two = figure.subfigures(1, 2, width_ratios=(1, 2))
    left, right = one.subplots(), two.subplots(1, 2)
    x, z = (grid.origin[i] + grid.spacing[i] * np.arange(grid.shape[i]) for i in (0, 2))
    image = left.pcolormesh(x, z, c[:, 0].T, cmap="viridis")
    one.colorbar(image, ax=left, label="c [m/s]", location="bottom")
    left.plot(*gathers[0].points[:, [0, 2]].T, "c|", ms=4, label="receivers")
    left.plot(*np.array([shot.position for shot in shots])[:, [0, 2]].T, "r*", label="shots")
    left.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    left.set_title("salt.sgy", loc="left")
    left.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
    for axes, which in zip(right, (0, -1), strict=True):
        gathers[which].plot(kind="wiggle", field="p", gain=lambda t: 12 * t, ax=axes, linewidth=0.5)
        axes.set_title(f"p times t of the shot at x = {shots[which].position[0]:.0f} m")
    figure.savefig(name, dpi=110)
    print("wrote", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    grid, c = model(1 if quick else 2)
    f0 = C_WATER / (CELLS * grid.spacing[0] * 2.5)
    places = [(x, 0.0, -50.0) for x in np.linspace(1000, 3000, 2 if quick else 5)]
    shots = [unda.VolumeInjection(place, unda.ricker(f0)) for place in places]
    line = [(x, 0.0, -30.0) for x in np.arange(100.0, 3901.0, 50.0)]

    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=c), order=8, cfl=0.4, boundary=SIDES, fmax=2.5 * f0)
    print(sim)
    misfit = direct_wave(sim, shots[0])
    print("relative error of direct waves:", ", ".join(f"{one:.2e}" for one in misfit))

    gathers = []
    for shot, gather in zip(shots, sim.shots(shots, line, until=1.0 if quick else 2.2), strict=True):
        name = f"survey_{len(gathers)}.sgy"
        gather.write_segy(name, "p", source=shot, dt=0.004)
        gathers.append(gather)
        print("wrote", name, gather)
    try:
        draw(grid, c, shots, gathers, "survey_segy.png")
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
    assert (misfit < 0.01).all(), "expected errors below 1 %"


if __name__ == "__main__":
    main()
