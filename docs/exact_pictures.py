"""Draw each exact solution into docs/pictures/exact_NAME.png: a field on a plane, or traces.

Sample run: python docs/exact_pictures.py [NAME ..]   (needs matplotlib and pillow; a minute).
"""

import hashlib
import io
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import unda
from PIL import Image, PngImagePlugin
from unda import exact

PICTURES = Path(__file__).resolve().parent / "pictures"
PI = np.pi
WATER, MUD = unda.Acoustic(rho=1.0, c=1.0), unda.Acoustic(rho=2.0, c=1.5)
ROCK, SEA = unda.Elastic(rho=1.0, vp=3**0.5, vs=1.0), unda.Elastic(rho=1.0, vp=1.0, vs=0.0)
STEEL = unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
SOIL, HARD = unda.Elastic(rho=2600.0, vp=4000.0, vs=2000.0), unda.Elastic(rho=2700.0, vp=6000.0, vs=3464.0)
HEAVY = unda.Elastic(rho=10.0, vp=0.9**0.5, vs=0.3**0.5)
VACUUM, GLASS = unda.Maxwell(eps=1.0, mu=1.0), unda.Maxwell(eps=2.25, mu=1.0)
CUBE = (0, 0, 0), (1, 1, 1)
ALONG = (2 * PI, 0, 0)
RICKER = unda.ricker(1.0)


def plane(solution, field, lower, upper, t, *, axes="xz", at=0.0, num=(200, 150)):
    """Draw a field on a plane across the third axis, there at a place; blue is negative."""
    first, second = (np.linspace(low, high, n) for low, high, n in zip(lower, upper, num, strict=True))
    places = {axes[0]: first[None, :], axes[1]: second[:, None]}
    values = solution(*(places.get(axis, at) for axis in "xyz"), t)[field]
    limit = np.quantile(np.abs(values[np.isfinite(values)]), 0.995) or 1.0

    def draw(ax):
        ax.imshow(
            values, origin="lower", extent=(lower[0], upper[0], lower[1], upper[1]), cmap="RdBu_r",
            vmin=-limit, vmax=limit, interpolation="bilinear", aspect="equal",
        )  # fmt: skip
        ax.set(xlabel=f"{axes[0]}", ylabel=f"{axes[1]}")
        ax.set_title(f"{field}, t = {t:.3g}", fontsize=9)

    return draw


def traces(solution, fields, places, times):
    """Draw fields at places against time, one below the other."""
    found = [solution(*place, times) for place in places]
    step = 1.2 * max(np.abs(one[field]).max() for one in found for field in fields)

    def draw(ax):
        for i, one in enumerate(found):
            for j, field in enumerate(fields):
                ax.plot(times, one[field] - i * step, f"C{j}", lw=1.1, label=field if i == 0 else None)
        ax.set(xlabel="t", yticks=[])
        ax.set_title("traces, away from the source", fontsize=9)
        ax.legend(fontsize=7, loc="upper left")

    return draw


def point_source():
    """Return the wave of a source under a free surface."""
    source = unda.VolumeInjection((0, 0, -1.3), RICKER)
    return plane(exact.point_source(WATER, source, walls={"zmax": ("free", 0.0)}), "p", (-3, -4), (3, 0), 3.4)


def garvin():
    """Return the wave of explosions under the surface."""
    shots = unda.VolumeInjection((0, 0, -1.0), RICKER)
    times = np.linspace(0, 6, 400)
    return traces(exact.garvin_problem(ROCK, shots), ("vx", "vz"), [(x, 0, 0) for x in (1, 2, 3, 4)], times)


def lamb():
    """Return the wave of a push onto the surface."""
    push = unda.PointForce((0, 0, 0), unda.smooth_bump(0.5), direction=(0, 0, -1))
    times = np.linspace(0.01, 6, 300)
    return traces(exact.lamb_problem(ROCK, push), ("vx", "vz"), [(x, 0, 0) for x in (1, 2, 3, 4)], times)


def layered():
    """Return the wave of a push below a soft layer."""
    push = unda.PointForce((0, 0, -1500), unda.ricker(1.0), direction=(0, 0, 1e12))
    times = np.linspace(0.2, 4.0, 160)
    wave = exact.layered_source(HARD, push, layers=[(1000.0, SOIL)])
    return traces(wave, ("vx", "vz"), [(x, 0, 0) for x in (500, 2000, 3500)], times)


def mie():
    """Return the field of a wave that goes up through a glass sphere."""
    sphere = exact.mie_sphere(VACUUM, 1.0, 10.0 / (2 * PI), sphere=GLASS)
    return plane(
        lambda x, y, z, t: {"ex": sphere.fields(x, y, z)["ex"].real}, "ex", (-2, -1.5), (2, 2.5), 0.0
    )


RECIPES = {
    "box_mode": lambda: plane(
        exact.box_mode(WATER, *CUBE, n=(1, 0, 1), walls={"xmax": "free", "*": "rigid"}),
        "p",
        (0, 0),
        (1, 1),
        0.0,
    ),
    "cavity_mode": lambda: plane(
        exact.cavity_mode(VACUUM, *CUBE, n=(2, 1, 0)), "ez", (0, 0), (1, 1), 0.0, axes="xy", at=0.5
    ),
    "cavity_mode_two_media": lambda: plane(
        exact.cavity_mode_two_media(VACUUM, GLASS, *CUBE, position=0.4, order=3, n=(0, 1)),
        "ey",
        (0, 0),
        (1, 1),
        0.0,
        at=0.5,
    ),
    "free_box_mode": lambda: plane(
        exact.free_box_mode(WATER, *CUBE, n=(2, 1, 2)), "p", (0, 0), (1, 1), 0.0, at=0.5
    ),
    "garvin_problem": garvin,
    "interface_plane_wave": lambda: plane(
        exact.interface_plane_wave(WATER, MUD, direction=(1, 0, -0.5), f=RICKER), "p", (-3, -3), (3, 3), 1.5
    ),
    "lamb_problem": lamb,
    "lame_mode": lambda: plane(
        exact.lame_mode(STEEL, *CUBE, n=2), "vx", (0, 0), (1, 1), 0.0, axes="xy", at=0.5
    ),
    "layered_source": layered,
    "line_source": lambda: plane(
        exact.line_source(WATER, unda.VolumeInjection((0, 0, 0), RICKER)), "p", (-3, -3), (3, 3), 3.0
    ),
    "love_wave": lambda: plane(
        exact.love_wave(SOIL, HARD, k=(2.83, 0, 0), thickness=1.0), "vy", (0, -3), (4.44, 0), 0.0
    ),
    "lubricated_box_mode": lambda: plane(
        exact.lubricated_box_mode(STEEL, *CUBE, n=(2, 0, 1)), "vx", (0, 0), (1, 1), 0.0, at=0.5
    ),
    "mie_sphere": mie,
    "plane_source": lambda: plane(
        exact.plane_source(WATER, unda.VolumeInjection((0, 0, 0), unda.gaussian(1.0, t0=1.0))),
        "p",
        (-4, -3),
        (4, 3),
        3.0,
    ),
    "plane_wave": lambda: plane(
        exact.plane_wave(WATER, direction=(1, 0, 0.6), f=RICKER), "p", (-3, -3), (3, 3), 1.0
    ),
    "plate_mode": lambda: plane(
        exact.plate_mode(ROCK, ALONG, thickness=0.5, symmetric=False), "vz", (0, -0.25), (2, 0.25), 0.0
    ),
    "point_source": point_source,
    "rayleigh_wave": lambda: plane(exact.rayleigh_wave(ROCK, k=ALONG), "vz", (0, -1.5), (2, 0), 0.0),
    "rigid_box_mode": lambda: plane(
        exact.rigid_box_mode(WATER, *CUBE, n=(2, 0, 1)), "p", (0, 0), (1, 1), 0.0
    ),
    "scholte_wave": lambda: plane(exact.scholte_wave(ROCK, SEA, k=ALONG), "vz", (0, -1), (2, 1), 0.0),
    "spherical_pulse": lambda: plane(
        exact.spherical_pulse(WATER, (0, 0, 0), width=0.3), "p", (-3, -3), (3, 3), 2.0
    ),
    "stoneley_wave": lambda: plane(
        exact.stoneley_wave(HEAVY, unda.Elastic(rho=1.0, vp=3**0.5, vs=1.0), k=ALONG),
        "vz",
        (0, -1),
        (2, 1),
        0.0,
    ),
}


def made_from():
    """Return a digest of this script."""
    return f"sha256 {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}"


def draw(name, target):
    """Draw a solution, in few colours."""
    figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
    RECIPES[name]()(ax)
    ax.tick_params(labelsize=7)
    made = io.BytesIO()
    figure.savefig(made, dpi=90, format="png")
    plt.close(figure)
    info = PngImagePlugin.PngInfo()
    info.add_text("Source", made_from())
    picture = Image.open(made).convert("RGB").quantize(96, dither=Image.Dither.NONE)
    picture.save(target, pnginfo=info, optimize=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or RECIPES:
        draw(name, PICTURES / f"exact_{name}.png")
        print(name, (PICTURES / f"exact_{name}.png").stat().st_size, flush=True)
