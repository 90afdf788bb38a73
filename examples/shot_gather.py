"""A shot over a salt body
=======================

A shot over a salt body by finite differences in two dimensions: a gather of receivers and a film.

First the same scheme in three dimensions with water alone, against the exact wave of a source under a free
surface: prints the relative error of each trace and fails if one is above 1 %. Writes shot_gather.npz
and, where matplotlib is installed, shot_gather.png and shot_gather.gif.
Sample run: python examples/shot_gather.py        (--quick: coarser and shorter, for the tests)
"""

import argparse

import numpy as np
import unda

WATER = unda.Acoustic(rho=1000.0, c=1500.0)
DEPTHS = (-400.0, -900.0, -1500.0)  # tops of three layers [m]
SPEEDS = (1500.0, 1800.0, 2200.0, 2700.0)
SALT = 4500.0


def speed(x, y, z):
    """Speed [m/s]: water, three bent layers that get faster with depth, and a body of salt."""
    bend = 60 * np.sin(x / 500) + 0 * z
    c = np.full(np.broadcast_shapes(np.shape(x), np.shape(z)), SPEEDS[0])
    for top, below in zip(DEPTHS, SPEEDS[1:], strict=True):
        c = np.where(z < top + bend, below + 0.2 * (top - z), c)
    lid = -800 - 250 * ((x - 2000) / 700) ** 2  # the top of the salt
    salt = (z < lid) & (z > -1700 + 0.15 * (x - 2000)) & (np.abs(x - 2000) < 1100)
    return np.where(salt, SALT, c) + 0 * y


def direct_wave(order, cells, h=5.0):
    """Return the error of each trace in water, with so many cells in a wavelength of the highest frequency.

    It ends before the sides send anything back; what is left is the error of the scheme.
    """
    f0 = WATER.scalar()["c"] / (2.5 * cells * h)
    grid = unda.Grid((66, 61, 47), h, origin=(0, 0, -46 * h))
    sim = unda.FD(grid, WATER, order=order, cfl=0.4, boundary={"zmax": "free", "*": "rigid"})
    source = unda.VolumeInjection((20.2 * h, 30.4 * h, -19.3 * h), unda.ricker(f0))
    sim.add_source(source)
    rec = sim.add_receivers([(40 * h, 30 * h, -8 * h), (45 * h, 33 * h, -24 * h)])
    sim.run(until=62 * h / WATER.scalar()["c"])
    return rec.misfit(unda.exact.point_source(WATER, source, walls={"zmax": "free"}))


def shot(h, f0, until, film=None, frames=50):
    """Run the model; returns the simulation and its line of receivers."""
    grid = unda.Grid((int(4000 / h) + 1, 1, int(2000 / h) + 1), h, origin=(0, 0, -2000))
    sim = unda.FD(
        grid,
        unda.Acoustic(rho=1000.0, c=speed),
        order=8,
        boundary={"zmax": "free", "*": "absorbing"},
        fmax=2.5 * f0,
    )
    sim.add_source(unda.VolumeInjection((1400, 0, -50), unda.ricker(f0)))
    x = np.arange(100, 3901, 50.0)
    rec = sim.add_receivers(np.stack([x, 0 * x, np.full_like(x, -30)], axis=1))
    if film is None:
        sim.run(until=until)
    else:
        sim.movie(film, y=0.0, until=until, background="c", dpi=60, every=int(until / sim.dt / frames))
    return sim, rec


def draw(rec, name):
    """Draw the model and the gather; late times are raised by t^2, for waves spread."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    x, z = np.linspace(0, 4000, 401), np.linspace(-2000, 0, 201)
    image = left.pcolormesh(x, z, speed(x[None], 0, z[:, None]), cmap="viridis")
    left.set(xlabel="x [m]", ylabel="z [m]", title="model", aspect="equal")
    figure.colorbar(image, ax=left, label="c [m/s]", shrink=0.6)
    gather = rec["p"].T * rec.t[:, None] ** 2
    top = np.percentile(np.abs(gather), 98)
    extent = (rec.points[0, 0], rec.points[-1, 0], rec.t[-1], 0)
    right.imshow(gather, extent=extent, aspect="auto", cmap="gray", vmin=-top, vmax=top)
    right.set(xlabel="x [m]", ylabel="t [s]", title="gather, p t²")
    figure.savefig(name, dpi=110)
    print("wrote", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    misfit = direct_wave(8, cells=8)
    print("relative error of each trace in water:", ", ".join(f"{one:.2e}" for one in misfit))
    try:
        import matplotlib  # noqa: F401

        film = "shot_gather.gif"
    except ImportError:
        film = None
        print("no pictures: pip install 'unda-waves[plot]'")
    sim, rec = shot(20.0, 6.0, 1.0, film, frames=12) if quick else shot(10.0, 12.0, 2.5, film)
    print(sim)
    np.savez("shot_gather.npz", t=rec.t, p=rec["p"], points=rec.points)
    if film:
        draw(rec, "shot_gather.png")
    assert (misfit < 0.01).all(), "expected errors below 1 %"


if __name__ == "__main__":
    main()
