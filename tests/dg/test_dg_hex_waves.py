"""Sources, receivers and sides of hexahedra do what they do on tetrahedra, with the exact amplitudes.

Runs and exact solutions are those of the tests of tetrahedra, with bricks whose nodes stand as far apart.
Not here: right-hand sides (test_dg_hex_rhs.py), orders (test_dg_hex_orders.py).
"""

import numpy as np
import pytest
import test_dg_absorbing as absorbing
import test_dg_point_sources as point_sources
import test_dg_sources as sources
import test_dg_surface_waves as surface_waves
import unda
from hex_cases import box
from hex_meshes import turned
from test_dg_rhs import FLUXES, PAIRS, exchanged
from unda import exact
from wave_runs import named_sides, two_media

BAR = 0.01  # of amplitudes

# ---- sources and receivers ----


@pytest.mark.first(1)
@pytest.mark.parametrize("wall", [None, pytest.param("rigid", marks=pytest.mark.slow), "free"])
def test_a_source_of_sound_has_its_exact_amplitude_beside_a_wall_and_without(wall):
    """To 1 % at N = 4, eight nodes in the shortest wavelength; 2 % more of it or 1 % more speed is seen."""
    walls = wall and {"zmax": wall}
    source, rec = sources.in_a_cube(1.18, [0.7, 1.1], walls, shape="hex", dtype="float32")
    sources.check(source, rec, walls)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("shear", "moment", "injection", "force")))
        for name in point_sources.SOURCES
    ],
)
def test_point_sources_have_their_exact_amplitude_near_field_included(name):
    """To 1 %, 0.7 and 0.75 S wavelengths away, at eight nodes in the shortest one; media 2 % off are seen."""
    rec, medium, place = point_sources.nearby(name, shape="hex")
    make = point_sources.SOURCES[name][1]
    assert point_sources.misfits(rec, medium, exact.point_source(medium, make(place, 1))).max() <= BAR
    wrong = point_sources.off(medium, **point_sources.FAST[medium.physics])
    assert point_sources.misfits(rec, medium, exact.point_source(wrong, make(place, 1))).max() > BAR


@pytest.mark.each_value
@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # identities hold, resolved or not
@FLUXES
@pytest.mark.parametrize("pair", PAIRS)
def test_source_and_receiver_may_change_places(pair, flux):
    """To rounding, on warped cells, with random materials, fluids among them."""
    traces = exchanged(pair, box((3, 3, 2), perturb=0.2), flux)
    scale = np.abs(traces[0]).max()
    assert scale > 0
    assert np.abs(traces[0] - traces[1]).max() < 1e-11 * scale
    assert np.abs(traces[0] - 1.001 * traces[1]).max() > 1e-4 * scale


def places(mesh):
    """Points at vertices, on edges, on faces and inside of cells, sides of the box included."""
    corners = mesh.vertices[mesh.cells]
    inside = np.einsum("v,evx->ex", np.full(8, 1 / 8), corners)
    edges = 0.3 * corners[:, 0] + 0.7 * corners[:, 1]
    faces = corners[:, :4].mean(axis=1)
    return np.concatenate([mesh.vertices, edges, faces, inside])


@pytest.mark.parametrize("degree", [1, 3, 10])
def test_receivers_anywhere_read_linear_fields_exactly(degree):
    """A linear function of place is among the functions of any warped cell: its map is."""
    mesh = box((3, 2, 2))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, dtype="float64", device="cpu")
    slope = np.array([1.0, -2.0, 0.5])
    sim.set(p=0.3 + sim.coordinates @ slope)
    points = places(mesh)
    rec = sim.add_receivers(points, ["p"])
    assert np.abs(rec["p"][:, 0] - (0.3 + points @ slope)).max() < 1e-12
    assert np.abs(rec["p"][:, 0] - (0.3 + (points + 1e-6) @ slope)).max() > 1e-8


# ---- incident waves ----


def in_region(medium, n, degree, polarization=None):
    """Error inside a region of total field and what is outside, relative to the wave."""
    direction, pulse = (1, 2, -1), unda.gaussian(1.0, t0=0.0)
    grid = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), shape="hex")
    inside = (abs(grid.centroids - 0.5) < 1 / 6).all(axis=1)
    moved = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), shape="hex", perturb=0.1, seed=n)
    mesh = turned(
        unda.Mesh(
            moved.vertices, moved.cells, tags=inside.astype(int), tag_names={"out": 0, "in": 1},
            boundaries=named_sides(moved),
        )
    )  # fmt: skip
    sim = unda.DG(mesh, medium, degree=degree, dtype="float64", device="cpu")
    sim.add_source(unda.PlaneWave(direction, polarization, pulse, region="in"))
    sim.set(t=-1.1)  # the pulse is outside then
    sim.run(until=0.55)
    wave = exact.plane_wave(medium, direction=direction, f=pulse, polarization=polarization)
    wave = wave(*np.moveaxis(sim.coordinates, -1, 0), sim.t)

    def size(values, where):
        return np.sqrt(np.mean([values[name][where] ** 2 for name in sim.fields]))

    off = {name: sim.get(name) - wave[name] for name in sim.fields}
    found = {name: sim.get(name) for name in sim.fields}
    return size(off, inside) / size(wave, inside), size(found, ~inside) / size(wave, inside)


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # coarse meshes
@pytest.mark.parametrize("name", ["acoustic", "maxwell"])
def test_a_region_holds_the_wave_and_what_leaks_out_vanishes(name):
    medium, polarization = {
        "acoustic": (unda.Acoustic(rho=1.3, c=1.0), None),
        "maxwell": (unda.Maxwell(eps=2.0, mu=0.5), (2, -1, 0)),
    }[name]
    (coarse, leak), (fine, less) = (in_region(medium, n, 2, polarization) for n in (3, 6))
    assert np.log2(coarse / fine) > 1.8 and np.log2(leak / less) > 1.8
    assert less < fine < 0.02


# ---- sides and layers ----


#: What tetrahedra send back beyond what the impedance says, at right angles and at 30 degrees.
TETRAHEDRA = {"sound": (1e-4, 1.5e-4), "P": (4e-6, 9e-6), "SV": (9e-5, 3.8e-4), "SH": (5e-5, 1.2e-4)}


@pytest.mark.first(3)
@pytest.mark.parametrize("name", absorbing.WAVES)
def test_absorbing_sides_send_back_no_more_than_those_of_tetrahedra(name):
    """Nothing at right angles; of 30 degrees what the impedance says."""
    bars = TETRAHEDRA.get(name, (8e-5, 3.6e-4))
    for degrees, bar in zip((0, 30), bars, strict=True):
        found, expected = absorbing.returned(*absorbing.WAVES[name], degrees, shape="hex")
        assert np.abs(found - expected).max() < bar
        assert degrees == 0 or np.abs(found).max() > 1e-2


SURFACE = pytest.mark.parametrize(
    "kind", ["rayleigh", pytest.param("stoneley", marks=pytest.mark.slow), "scholte"]
)


@pytest.mark.slow
@SURFACE
def test_surface_waves_travel_ten_wavelengths_with_their_speed_and_shape(kind):
    speed, shape = surface_waves.travel(kind, 4, 10, shape="hex")
    assert abs(speed) < 1e-3
    assert max(shape) < 0.01


@pytest.mark.parametrize("kind", ["rayleigh", "scholte"])
def test_media_one_per_cent_too_fast_are_seen(kind):
    media = {"rayleigh": (surface_waves.ROCK,), "scholte": (surface_waves.ROCK, surface_waves.SEA)}[kind]
    media = [surface_waves.faster(one) for one in media]
    medium = media[0] if kind == "rayleigh" else two_media(*media)
    speed, _ = surface_waves.travel(kind, 3, 2, medium=medium, shape="hex")
    assert speed == pytest.approx(0.01, abs=2e-3)
