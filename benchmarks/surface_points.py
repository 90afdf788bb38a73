"""What points at and near sides of finite differences are wrong by, for each kind of side: the weights alone.

An exact wave is set, which no step has touched, and read at depths 0, h/8 .. 4 h below a side, between the
nodes of the other axes; the largest error over all of them, in parts of the largest value of the field's
group (p; v; s; E; H) there. ``python benchmarks/surface_points.py`` prints the table of docs/free_surface.md.
Not here: what steps add (surface_mode.py).
"""

from __future__ import annotations

import numpy as np
import unda

ROCK = unda.Elastic(rho=2.0, vp=3**0.5, vs=1.0)
DEPTHS = np.arange(0, 4.01, 0.125)
NODES = (10, 20, 40)  # in a wavelength


def errors(sim, wave, places, t):
    """Return {field: error}, of the largest value of its group."""
    found, x = sim.sample(places), places.T
    times = {
        name: t - 0.5 * sim.dt * (name[0] in "vh" and sim.config["scheme"] == "staggered")
        for name in sim.fields
    }
    exact = {name: wave(*x, times[name])[name] for name in sim.fields}
    norm = {}
    for name, values in exact.items():
        norm[name[0]] = max(norm.get(name[0], 1e-300), np.abs(values).max())
    return {name: np.abs(found[name] - exact[name]).max() / norm[name[0]] for name in sim.fields}


def free_side(num):
    """Set Rayleigh's wave."""
    grid = unda.Grid((num, 1, 20), 1.0, origin=(0, 0, -19))
    sides = {"zmax": "free", "zmin": "fixed", "*": "periodic"}
    sim = unda.FD(grid, ROCK, scheme="staggered", boundary=sides, dtype="float64", device="cpu", cfl=0.2)
    wave = unda.exact.rayleigh_wave(ROCK, (2 * np.pi / num, 0, 0))
    sim.set(wave, t=0.3)
    places = [(x, 0.0, -d) for d in DEPTHS for x in np.linspace(0.1, num - 1, 37)]
    return errors(sim, wave, np.array(places), 0.3)


def fixed_side(num):
    """Set a stress in balance, of Airy's function sin(a x) e^(c z) cos(b z), and velocities that vanish."""
    k, length = 2 * np.pi / num, 2 * num
    a, b, c = 0.8 * k, 0.6 * k, 0.5 * k
    along = a * 2 * np.pi / (a * length) * round(a * length / (2 * np.pi))  # periodic

    def airy(z, n):
        return np.real((c + 1j * b) ** n * np.exp((c + 1j * b) * z + 0.9j))

    given = {
        "sxx": lambda x, y, z: np.sin(along * x) * airy(z, 2) + 0 * y,
        "szz": lambda x, y, z: -(along**2) * np.sin(along * x) * airy(z, 0) + 0 * y,
        "sxz": lambda x, y, z: -along * np.cos(along * x) * airy(z, 1) + 0 * y,
        "vx": lambda x, y, z: np.sin(along * x) * np.sin(a * z) * np.exp(c * z) + 0 * y,
        "vz": lambda x, y, z: np.cos(along * x) * np.sin(b * z) * np.exp(c * z) + 0 * y,
    }
    grid = unda.Grid((length, 1, 20), 1.0, origin=(0, 0, -19))
    sides = {"zmax": "fixed", "zmin": "symmetry", "*": "periodic"}
    sim = unda.FD(grid, ROCK, scheme="staggered", boundary=sides, dtype="float64", device="cpu", cfl=0.2)
    sim.set(**given)

    def wave(x, y, z, t):
        return {name: given.get(name, lambda x, y, z: 0 * x)(x, y, z) for name in sim.fields}

    places = [(x, 0.0, -d) for d in DEPTHS for x in np.linspace(0.1, length - 1, 37)]
    return errors(sim, wave, np.array(places), 0.0)


def box(num, medium, scheme, side, mode, **options):
    """Set a mode of a box with this kind of side everywhere."""
    size = (3 * num // 2, num // 2 + num // 2 * (num < 20), num)
    grid = unda.Grid(tuple(n + 1 for n in size), 1.0)
    order = {} if scheme == "scalar" else {"cfl": 0.2}
    sim = unda.FD(
        grid, medium, scheme=scheme, boundary={"*": side}, dtype="float64", device="cpu", order=4, **order
    )
    wave = mode(medium, (0, 0, 0), size, **options)
    t = 0.7 / wave.omega
    sim.set(wave, t=t)
    rng = np.random.default_rng(0)
    places = np.array([rng.uniform(0, size) for _ in range(12 * len(DEPTHS))])
    places[:, 2] = np.repeat(DEPTHS, 12)
    places[::2, 0] = np.resize(DEPTHS, len(places[::2]))
    return errors(sim, wave, places, t)


AIR, EMPTY = unda.Acoustic(rho=1.2, c=2.0), unda.Maxwell(eps=1.5, mu=1.0)
CASES = {
    "elastic free": free_side,
    "elastic fixed": fixed_side,
    "elastic symmetry": lambda num: box(
        num, ROCK, "staggered", "symmetry", unda.exact.lubricated_box_mode, n=(3, 1, 2)
    ),
    "acoustic free": lambda num: box(num, AIR, "staggered", "free", unda.exact.free_box_mode, n=(3, 1, 2)),
    "acoustic rigid": lambda num: box(num, AIR, "staggered", "rigid", unda.exact.rigid_box_mode, n=(3, 1, 2)),
    "scalar free": lambda num: box(num, AIR, "scalar", "free", unda.exact.free_box_mode, n=(3, 1, 2)),
    "scalar rigid": lambda num: box(num, AIR, "scalar", "rigid", unda.exact.rigid_box_mode, n=(3, 1, 2)),
    "Maxwell pec": lambda num: box(num, EMPTY, "staggered", "pec", unda.exact.cavity_mode, n=(3, 1, 2)),
}


def main():
    print("| side | largest error of each field at 10 / 20 / 40 nodes a wavelength [%] |\n|---|---|")
    for name, case in CASES.items():
        found = [case(num) for num in NODES]
        parts = [
            f"{field} " + " / ".join(f"{100 * one[field]:.2f}" for one in found)
            for field in found[0] if max(one[field] for one in found) > 1e-12
        ]  # fmt: skip
        print(f"| {name} |", ", ".join(parts), "|", flush=True)


if __name__ == "__main__":
    main()
