"""Standing waves in boxes: walls keep n x E or n x H at zero, and frequencies are the known ones.

Not here: the equations of a box of one material (test_exact_maxwell.py).
Next: python/unda/exact/cavity.py.
"""

import json

import numpy as np
import pytest
from exact_helpers import KH, TOLERANCE, TWIN, maxwell_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Maxwell

GLASS = Maxwell(eps=2.25, mu=1.3)
MAGNET = Maxwell(eps=1.2, mu=3.0)
LOWER, UPPER = np.array([-1.1, -1.3, -1.2]), np.array([1.3, 1.2, 1.4])
SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
WALLS = {
    "pec": {"*": "pec"},
    "pmc": {"*": "pmc"},
    "mixed": {"xmin": "pmc", "ymax": "pmc", "zmin": "pmc", "zmax": "pmc", "*": "pec"},
}


def on_side(side, num_point=50):
    points = np.random.default_rng(3).uniform(LOWER, UPPER, size=(num_point, 3))
    axis = "xyz".index(side[0])
    points[:, axis] = LOWER[axis] if side.endswith("min") else UPPER[axis]
    return points, np.eye(3)[axis]


def vectors(mode, points, t):
    values = np.stack(list(mode(*points.T, t).values()), axis=1)
    return values[:, :3], values[:, 3:]


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("polarization", ["TE", "TM", "any"])
def test_walls_keep_a_tangential_field_at_zero(walls, polarization):
    kinds = {side: WALLS[walls].get(side, WALLS[walls].get("*")) for side in SIDES}
    n = np.array([2, 1, 3])
    if polarization == "any":
        half = [0.5 * (kinds[SIDES[2 * i]] != kinds[SIDES[2 * i + 1]]) for i in range(3)]
        polarization = np.cross((n - half) / (UPPER - LOWER), (1.0, 2.0, -0.7))
    mode = exact.cavity_mode(GLASS, LOWER, UPPER, n, polarization=polarization, walls=WALLS[walls])
    for side, kind in kinds.items():
        points, normal = on_side(side)
        e, h = vectors(mode, points, 0.4)
        zero, free = (e, h) if kind == "pec" else (h, e)
        assert np.abs(np.cross(normal, zero)).max() < 1e-14
        assert np.abs(free @ normal).max() < 1e-14  # and thus the other one's normal component
        assert np.abs(np.cross(normal, free)).max() > 0.05
        # a mode of a box 1 % longer breaks its wall
        longer = exact.cavity_mode(
            GLASS, 1.01 * LOWER, 1.01 * UPPER, n, polarization=polarization, walls=WALLS[walls]
        )
        e, h = vectors(longer, points, 0.4)
        assert np.abs(np.cross(normal, e if kind == "pec" else h)).max() > TWIN


def test_tm_mode_is_the_one_of_hesthaven_and_warburtons_program():
    eps, mu, length = 2.25, 1.3, 0.8
    f, g, h = (np.pi * n / length for n in (1, 2, 2))
    q, omega = f**2 + g**2, np.sqrt((f**2 + g**2 + h**2) / (eps * mu))
    e = 2.0 * np.array([-f * h / q, -g * h / q, 1.0])
    mode = exact.cavity_mode(GLASS, (0, 0, 0), (length,) * 3, (1, 2, 2), amplitude=np.linalg.norm(e))
    x, y, z = np.random.default_rng(1).uniform(0.0, length, size=(3, 30))
    t = 0.37
    (sx, cx), (sy, cy), (sz, cz) = ((np.sin(k * a), np.cos(k * a)) for k, a in ((f, x), (g, y), (h, z)))
    expected = {
        "ex": e[0] * cx * sy * sz * np.cos(omega * t),
        "ey": e[1] * sx * cy * sz * np.cos(omega * t),
        "ez": 2.0 * sx * sy * cz * np.cos(omega * t),
        "hx": -2.0 * g * eps * omega / q * sx * cy * cz * np.sin(omega * t),
        "hy": 2.0 * f * eps * omega / q * cx * sy * cz * np.sin(omega * t),
        "hz": 0.0 * x,
    }
    assert mode.omega == pytest.approx(omega, rel=1e-15)
    found = mode(x, y, z, t)
    for field, values in expected.items():
        assert np.allclose(found[field], values, rtol=0, atol=1e-14)
    te = exact.cavity_mode(GLASS, (0, 0, 0), (length,) * 3, (1, 2, 2), polarization="TE")
    assert np.abs(te(x, y, z, t)["ez"]).max() < 1e-16


def test_energy_passes_between_e_and_h_and_stays():
    mode = exact.cavity_mode(GLASS, LOWER, UPPER, (1, 2, 1), amplitude=3.0)
    nodes = [LOWER[i] + (UPPER - LOWER)[i] * (np.arange(8) + 0.5) / 8.0 for i in range(3)]
    x, y, z = np.meshgrid(*nodes, indexing="ij")  # midpoints integrate these products exactly
    energies = []
    for t in (0.0, 0.3, 1.1, 2.7):
        values = list(mode(x, y, z, t).values())
        energies.append([2.25 * np.sum(np.square(values[:3])), 1.3 * np.sum(np.square(values[3:]))])
    assert np.allclose(np.sum(energies, axis=1), np.sum(energies[0]), rtol=1e-13)
    assert np.ptp(np.array(energies)[:, 0]) > 0.1 * energies[0][0]


def test_modes_that_vanish_or_do_not_exist_are_refused():
    for n, polarization in (((1, 1, 0), "TM"), ((0, 2, 1), (1, 0, 0)), ((1, 1, 1), "TE")):
        mode = exact.cavity_mode(GLASS, LOWER, UPPER, n, polarization=polarization)
        assert np.abs(vectors(mode, np.array([[0.2, 0.3, 0.1]]), 0.0)[0]).max() > 0.1
    for n, polarization in (((1, 1, 0), "TE"), ((0, 0, 1), "TM"), ((0, 2, 1), (0, 1, -2 * 2.6 / 2.5))):
        with pytest.raises(ArgumentError, match="zero everywhere"):
            exact.cavity_mode(GLASS, LOWER, UPPER, n, polarization=polarization)
    for arguments, found in [
        ({"n": (0, 0, 0)}, "at least one number above 0"),
        ({"n": (1, 1, 1.5)}, "expected three integers"),
        ({"n": (1, 1, -1)}, r"n\[2\] is -1 between a pec and a pec wall; expected at least 0"),
        ({"n": (0, 1, 1), "walls": {"xmin": "pmc", "*": "pec"}}, r"n\[0\] is 0.*at least 1"),
        ({"walls": {"xmin": "rigid"}}, "wall xmin is 'rigid'; expected 'pec' or 'pmc'"),
        ({"walls": {"xmin": "pec"}}, "does not say what xmax, ymin"),
        ({"walls": "pec"}, "walls is 'pec'"),
        ({"polarization": "TEM"}, "polarization is 'TEM'; expected 'TM', 'TE' or a vector"),
        ({"polarization": (1, 0, 0)}, "expected 90"),
    ]:
        with pytest.raises(ArgumentError, match=found):
            exact.cavity_mode(GLASS, LOWER, UPPER, **arguments)
    with pytest.raises(ArgumentError, match="positive lengths"):
        exact.cavity_mode(GLASS, UPPER, LOWER)


def test_plane_standing_wave_between_magnetic_side_walls():
    walls = {"ymin": "pmc", "ymax": "pmc", "*": "pec"}
    mode = exact.cavity_mode(GLASS, (0, 0, 0), (1, 1, 1), (1, 0, 0), polarization=(0, 0, 1), walls=walls)
    x = np.linspace(0.0, 1.0, 11)
    found = mode(x, 0.2, 0.7, 0.0)
    assert np.allclose(found["ez"], np.sin(np.pi * x), rtol=0, atol=1e-15) and np.all(found["ey"] == 0.0)


# ---- two layers ----

FLAT = {"ymin": "pmc", "ymax": "pmc", "*": "pec"}
LAYERED = {
    "lowest": {"order": 1, "n": (1, 2)},
    "third": {"order": 3, "n": (0, 1)},
    "flat": {"order": 2, "n": (0, 0), "walls": FLAT},
    "evanescent": {"order": 1, "n": (4, 5)},
    "magnetic sides": {"order": 2, "n": (2, 1), "walls": {"xmin": "pec", "xmax": "pec", "*": "pmc"}},
}
EVERY = pytest.mark.parametrize("name", LAYERED)


def layered(name, medium2=MAGNET, position=0.3):
    return exact.cavity_mode_two_media(GLASS, medium2, LOWER, UPPER, position=position, **LAYERED[name])


def test_two_layers_have_the_frequency_of_hesthaven_and_warburtons_program():
    one, two = Maxwell(eps_r=1.0), Maxwell(eps_r=2.0)
    make = exact.cavity_mode_two_media
    mode = make(one, two, (0, 0, 0), (0.15, 0.1, 0.1), position=0.1, n=(0, 0), walls=FLAT)
    assert mode.omega / (2.0 * np.pi) == pytest.approx(9.0335649907522321e8, rel=1e-14)
    other = make(one, Maxwell(eps_r=2.02), (0, 0, 0), (0.15, 0.1, 0.1), position=0.1, n=(0, 0), walls=FLAT)
    assert other.omega < (1.0 - TWIN) * mode.omega


@EVERY
@pytest.mark.parametrize("side", [0, 1])
def test_layered_mode_solves_the_equations_of_each_side(name, side):
    mode, rng = layered(name), np.random.default_rng(2)
    lower, upper = LOWER + 0.2, UPPER - 0.2
    (upper if side == 0 else lower)[0] = 0.3 + (-0.2 if side == 0 else 0.2)
    points, t = rng.uniform(lower, upper, size=(40, 3)), rng.uniform(0.5, 2.0, 40)
    values = mode.media[side].scalar()
    assert maxwell_residual(mode, points, t, KH / 10.0, mode.media[side]) < TOLERANCE
    for off in ("eps", "mu"):
        other = Maxwell(**{**values, off: 1.01 * values[off]})
        assert maxwell_residual(mode, points, t, KH / 10.0, other) > TWIN


@EVERY
def test_layered_mode_is_continuous_and_keeps_the_walls(name):
    mode, normal = layered(name), np.array([1.0, 0.0, 0.0])

    def jump(before, beyond):
        points, _ = on_side("xmin")
        points[:, 0] = 0.3
        below, above = (vectors(one, points + offset * normal, 0.4)
                        for one, offset in ((before, -1e-14), (beyond, 1e-14)))  # fmt: skip
        return max(np.abs(np.cross(normal, a - b)).max() for a, b in zip(below, above, strict=True))

    assert jump(mode, mode) < 1e-12
    assert jump(mode, layered(name, Maxwell(eps=1.2, mu=3.03))) > TWIN
    kinds = LAYERED[name].get("walls", {"*": "pec"})
    for side in SIDES:
        points, outward = on_side(side)
        e, h = vectors(mode, points, 0.4)
        assert np.abs(np.cross(outward, e if kinds.get(side, kinds.get("*")) == "pec" else h)).max() < 1e-14


@EVERY
def test_layered_mode_of_this_order_has_that_many_half_waves(name):
    mode = layered(name)
    x = np.linspace(LOWER[0], UPPER[0], 4001)[1:-1]
    values = mode(x, 0.123, 0.0567, 0.0)
    e = values["ez"] if np.abs(values["ez"]).max() > 1e-9 else values["ey"]
    assert np.count_nonzero(np.diff(np.sign(e))) == LAYERED[name]["order"] - 1


@pytest.mark.parametrize("position", [0.3, 0.1])
def test_two_layers_of_one_material_are_a_cavity(position):
    """In the middle, 0.1, E is largest (order 1) or zero (order 2) at the interface."""
    for order in (1, 2):
        two = exact.cavity_mode_two_media(
            GLASS, GLASS, LOWER, UPPER, position=position, order=order, n=(1, 2)
        )
        k = np.array([order, 1, 2]) / (UPPER - LOWER)
        one = exact.cavity_mode(GLASS, LOWER, UPPER, (order, 1, 2), polarization=(0.0, -k[2], k[1]))
        assert two.omega == pytest.approx(one.omega, rel=1e-14)
        points, _ = on_side("xmin")
        points[:, 0] = np.linspace(LOWER[0], UPPER[0], len(points))
        assert np.allclose(vectors(two, points, 0.3), vectors(one, points, 0.3), rtol=0, atol=1e-12)


def test_layered_mode_keeps_its_configuration_and_refuses_what_is_none():
    for name in LAYERED:
        mode = layered(name)
        copy = exact.from_config(json.loads(json.dumps(mode.to_config())))
        points, _ = on_side("ymin")
        points[:, 1] += 0.3
        assert repr(copy) == repr(mode)
        assert np.array_equal(vectors(copy, points, 0.3), vectors(mode, points, 0.3))
        assert mode.discontinuous
    for arguments, found in [
        ({"position": 1.3}, r"position is 1\.3 m; expected a place between"),
        ({"position": 0.3, "n": (0, 0)}, "zero everywhere"),
        ({"position": 0.3, "n": (1,)}, r"n is \(1,\); expected two integers"),
        ({"position": 0.3, "order": 0}, "order is 0; expected an integer >= 1"),
        ({"position": 0.3, "walls": {"xmin": "pmc", "*": "pec"}}, "expected 'pec'"),
    ]:
        with pytest.raises(ArgumentError, match=found):
            exact.cavity_mode_two_media(GLASS, MAGNET, LOWER, UPPER, **arguments)
    with pytest.raises(ArgumentError, match="media that do not conduct"):
        exact.cavity_mode_two_media(GLASS, Maxwell(eps=1.0, mu=1.0, sigma=1.0), LOWER, UPPER, position=0.3)


@pytest.mark.parametrize("polarization", [(1.0, -1.0, 2.0), (-1.0, 1.0, 0.1)])
def test_the_amplitude_is_that_of_the_components_that_a_zero_in_n_leaves(polarization):
    """With n = (1, 1, 0) between perfect conductors E is along z: sin(pi x) sin(pi y), 1 in the middle."""
    mode = exact.cavity_mode(GLASS, (0, 0, 0), (1, 1, 1), (1, 1, 0), polarization=polarization, amplitude=3.0)
    quarter = 0.5 * np.pi / mode.omega
    early, late = (vectors(mode, np.array([[0.5, 0.5, 0.2]]), t)[0][0] for t in (0.1, 0.1 + quarter))
    assert np.hypot(early, late) == pytest.approx([0.0, 0.0, 3.0], abs=1e-12)
