"""A plane wave on a sphere of glass, on a grid
============================================

The sphere of ``dielectric_sphere.py``, which is on a mesh, on a regular grid: a staggered scheme of order 4,
its cross-section against Mie's.

Nodes in a box around the sphere hold the total field, those around it the scattered one, into which less
than 1e-6 of the wave leaks without a sphere. The spectrum on a larger box becomes the field far away. A
node has the mean permittivity of its cell, and the scheme takes harmonic means between nodes along E. A
grid knows the surface to within a cell, half a cell to either side. Mie's cross-sections of spheres whose
radius is half a cell smaller and larger say beforehand what that may do: 13 % of the largest value on 16
cells a radius. The run must stay within, and is off by 1.9 %.
Writes dielectric_sphere_grid.npz and, where matplotlib is installed, dielectric_sphere_grid.png.
Sample run: python examples/dielectric_sphere_grid.py   (--quick: 10 cells a radius for 16, for the tests)
"""

import argparse

import numpy as np
import unda

RADIUS, SIZE = 1.0, 3.0  # of the sphere [m]; wavenumber outside times radius
FREQUENCY = SIZE / RADIUS / (2 * np.pi)  # in units where light goes one metre a second
VACUUM, GLASS = unda.Maxwell(eps=1.0, mu=1.0), unda.Maxwell(eps=2.25, mu=1.0)
PULSE = unda.ricker(FREQUENCY)
CUTS = {"E plane": 0.0, "H plane": np.pi / 2}  # angle from the polarization
ORDER = 4


def sphere_on(grid, parts=5):
    """Return the mean permittivity of each node's cell, from parts^3 places in it."""
    inside = np.zeros(grid.shape)
    offsets = (np.arange(parts) + 0.5) / parts - 0.5
    for shift in np.stack(np.meshgrid(offsets, offsets, offsets), axis=-1).reshape(-1, 3):
        x, y, z = np.meshgrid(*grid.axes(shift), indexing="ij", sparse=True)
        inside += x**2 + y**2 + z**2 < RADIUS**2
    return 1.0 + 1.25 * inside / parts**3


def simulate(cells):
    """Run with so many cells a radius; returns the simulation, the wave, the box around, and records."""
    h = RADIUS / cells
    total = RADIUS + 4 * h  # the surface of the total field needs one medium within three nodes
    around = unda.FarField(VACUUM, frequency=FREQUENCY, box=([-total - 5 * h] * 3, [total + 5 * h] * 3))
    half = cells + 4 + 5 + 5  # receivers take four nodes to each side
    grid = unda.Grid([2 * half + 1] * 3, h, origin=[-half * h] * 3)
    medium = unda.Maxwell(eps=sphere_on(grid), mu=1.0)
    sim = unda.FD(
        grid, medium, scheme="staggered", order=ORDER, boundary={"*": "absorbing"}, fmax=2.5 * FREQUENCY
    )
    box = ([-total] * 3, [total] * 3)
    wave = unda.PlaneWave((0, 0, 1), polarization=(1, 0, 0), f=PULSE, box=box)
    sim.add_source(wave)
    sim.set(t=PULSE.span[0] - 2 * total)  # before the wave is there
    rec = sim.add_receivers(around.points, sim.fields, every=4)
    sim.run(until=20.0)  # light has crossed the sphere five times
    return sim, wave, around, rec


def mie(theta, phi, radius=RADIUS):
    """Return the exact cross-section of a sphere."""
    return unda.exact.mie_sphere(VACUUM, radius, FREQUENCY, sphere=GLASS).bistatic(theta, phi)


def draw(sim, theta, found, exact, name):
    """Draw the field at y = 0, and both cuts of the cross-section, the exact ones dashed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: pip install 'unda-waves[plot]'")
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    sim.set(t=PULSE.span[0] - 3.0)
    sim.run(until=4.4)  # the wave has just crossed the sphere
    field = sim.get("ex")[:, sim.grid.shape[1] // 2]
    x, _, z = sim.grid.axes((0.5, 0, 0))
    most = abs(field).max()
    image = left.pcolormesh(x, z, field.T, shading="nearest", cmap="RdBu_r", vmin=-most, vmax=most)
    angle = np.linspace(0, 2 * np.pi, 200)
    left.plot(RADIUS * np.cos(angle), RADIUS * np.sin(angle), "k", lw=0.8)
    total = RADIUS + 4 * sim.grid.spacing[0]
    left.plot(total * np.array([-1, 1, 1, -1, -1]), total * np.array([-1, -1, 1, 1, -1]), "k:", lw=0.8)
    left.set(aspect="equal", xlabel="x [m]", ylabel="z [m]")
    left.set_title(f"total ex in the dotted box, scattered around it, t = {sim.t:.2f} s")
    figure.colorbar(image, ax=left, label="ex at y = 0 [V/m]")
    for i, cut in enumerate(CUTS):
        right.semilogy(np.degrees(theta), found[i], lw=2, label=cut)
        right.semilogy(np.degrees(theta), exact[i], "k--", lw=0.9, label=None if i == 0 else "Mie")
    right.set(xlabel="angle from the wave's direction [degrees]", ylabel="cross-section [m²]", xlim=(0, 180))
    cells = RADIUS / sim.grid.spacing[0]
    right.set_title(f"radius times wavenumber = {SIZE:g}, index 1.5, {cells:.0f} cells a radius")
    right.legend()
    figure.savefig(name, dpi=110)
    print("wrote", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    cells = 10 if parser.parse_args().quick else 16
    theta = np.linspace(0, np.pi, 181)
    phi = np.array(list(CUTS.values()))[:, None]
    exact = mie(theta, phi)
    half = 0.5 * RADIUS / cells
    bound = max(np.abs(mie(theta, phi, RADIUS + s) - exact).max() for s in (-half, half)) / exact.max()
    print(f"half a cell more or less of the radius changes the cross-section by up to {bound:.2%}")
    sim, wave, around, rec = simulate(cells)
    print(sim)
    found = around.cross_section(rec, wave, theta, phi)
    error = np.abs(found - exact).max() / exact.max()
    norm = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    print(f"against Mie: {norm:.2%} in the norm, {error:.2%} at worst")
    np.savez("dielectric_sphere_grid.npz", theta=theta, phi=phi, found=found, exact=exact)
    draw(sim, theta, found, exact, "dielectric_sphere_grid.png")
    assert error < bound, f"expected an error below {bound:.2%}"


if __name__ == "__main__":
    main()
