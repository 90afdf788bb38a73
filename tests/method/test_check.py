"""sim.check() finds what often goes wrong, and is silent where all is well."""

import re

import numpy as np
import pytest
import unda

MESH = unda.box_mesh((0, 0, 0), (1000, 1000, 1000), (4, 4, 4))


def simulation(rho=1000.0, c=1500.0, mesh=MESH, at=(503, 491, 507), f=None, degree=4):
    sim = unda.DG(mesh, unda.Acoustic(rho=rho, c=c), degree=degree)
    sim.add_source(unda.VolumeInjection(at, f or unda.ricker(2.0)))
    return sim


def test_a_sound_set_up_has_no_warning():
    report = simulation().check()
    assert report and not report.warnings
    assert report.fmax == 5.0
    (nodes,) = report.nodes_per_wavelength.values()
    assert nodes == pytest.approx(300 / (250**3 / 6 / 35) ** (1 / 3))
    assert len(report.worst_cells) == 10
    assert "no warnings" in repr(report)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"f": unda.ricker(20.0)}, "nodes in the shortest wavelength"),
        ({"c": 1.5}, "km/s"),
        ({"rho": 2.7}, "g/cm3"),
        ({"f": unda.ricker(0.01)}, "units"),
    ],
)
def test_each_fault_is_named(options, words):
    report = simulation(**options).check()
    assert not report
    assert any(words in text for text in report.warnings)
    assert words in repr(report)


def test_degree_1_on_warped_hexahedra_is_named():
    def warnings(degree, shape="hex", **options):
        mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (6, 6, 6), shape=shape, **options)
        return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree).check().warnings

    (text,) = warnings(1, perturb=0.1)
    assert re.search(r"degree 1 on warped hexahedra: opposite edges .* by 1?\d % .* take degree 2", text)
    assert not warnings(1) and not warnings(2, perturb=0.1) and not warnings(1, "tet", perturb=0.1)
    grid = np.stack(np.meshgrid(*3 * [np.linspace(0, 1, 7)], indexing="ij"))
    bent = grid + 0.02 * np.sin(np.pi * grid).prod(axis=0)
    sim = unda.DG(unda.mapped_mesh(*bent), unda.Acoustic(rho=1.0, c=1.0), degree=1)
    assert not sim.check().warnings  # smooth: of order 1.7


def test_what_could_not_be_looked_at_is_a_note():
    report = simulation(f=np.sin).check()
    assert report and not report.warnings
    assert any("do not tell their highest frequency" in text for text in report.notes)
    assert "note: 1 of 1 sources" in repr(report)


def test_speeds_of_which_sources_have_resolved_waves_are_in_consistent_units():
    report = simulation(c=1.5, f=unda.ricker(0.002)).check()
    assert report and any("km/s" in text for text in report.notes)


@pytest.mark.parametrize(
    ("at", "beside"), [((500, 500, 500), False), ((500, 500, 503), True), ((540, 500, 500), False)]
)
def test_a_source_beside_a_vertex_but_not_on_it_is_named_in_a_note(at, beside):
    report = simulation(at=at).check()
    assert any("beside a vertex" in text for text in report.notes) == beside and not report.warnings


def test_a_sliver_is_found():
    vertices = np.array(MESH.vertices)
    cells = np.array(MESH.cells)
    inside = np.flatnonzero(((vertices > 0) & (vertices < 1000)).all(axis=1))[0]
    touching = np.flatnonzero((cells == inside).any(axis=1))
    base = [v for v in cells[touching[0]] if v != inside]
    vertices[inside] += (vertices[base].mean(axis=0) - vertices[inside]) * 0.9997
    report = simulation(mesh=unda.Mesh(vertices, cells), at=(900, 900, 800)).check()
    assert any("times below the median" in text for text in report.notes)
    assert report.worst_cells[0][0] in touching


def test_each_tag_has_its_own_resolution():
    tags = (MESH.centroids[:, 2] > 500).astype(np.int32)
    mesh = unda.Mesh(MESH.vertices, MESH.cells, tags=tags, tag_names={"rock": 0, "water": 1})
    report = simulation(mesh=mesh, c={"rock": 3000.0, "water": 1500.0}).check()
    nodes = report.nodes_per_wavelength
    assert nodes["rock"] == pytest.approx(2 * nodes["water"])


ROCK = {"rho": 2500.0, "vp": 4000.0, "vs": 2300.0}
GLASS = {"eps": 2.25 * unda.EPS0, "mu": unda.MU0}


@pytest.mark.parametrize("medium, given, change, words", [
    (unda.Elastic, ROCK, {"vp": 4.0, "vs": 2.3}, "km/s"),
    (unda.Elastic, ROCK, {"rho": 2.5}, "g/cm3"),
    (unda.Elastic, ROCK, {"vs": 1.0}, r"in cell 0 \(384 such cells\): is that a fluid"),
    (unda.Elastic, ROCK, {"vs": 0.0}, None),
    (unda.Maxwell, GLASS, {"eps": 0.25 * unda.EPS0}, "more than light"),
    (unda.Maxwell, GLASS, {"eps": 2.25}, "is one of eps and mu relative"),
    (unda.Maxwell, GLASS, {"mu": 1.0}, "is one of eps and mu relative"),
    (unda.Maxwell, GLASS, {"eps": 1.0, "mu": 1.0}, None),
])  # fmt: skip
def test_each_medium_has_its_own_questions(medium, given, change, words):
    """The twin is the same medium in SI units, of which nothing is asked."""
    assert not medium(**given)._questions(medium(**given).on(MESH), 1000.0)
    questions = medium(**given | change)._questions(medium(**given | change).on(MESH), 1000.0)
    if words is None:
        assert not questions
    else:
        assert any(re.search(words, one) for one in questions)


def test_the_shortest_wavelength_is_the_slowest_waves():
    def one(medium, f):
        return float(medium._wavelengths(medium.on(MESH), f)[0])

    assert one(unda.Elastic(**ROCK), 10.0) == 230.0
    assert one(unda.Elastic(**ROCK | {"vs": 0.0}), 10.0) == 400.0
    assert one(unda.Maxwell(eps=1.0, mu=1.0), 0.25) == 4.0
    # In a good conductor a wavelength is 2 pi skin depths, sqrt(2/(omega mu sigma)) (Jackson 1999, 8.8).
    assert one(unda.Maxwell(eps=1.0, mu=1.0, sigma=1e9), 2.0) == pytest.approx(
        2 * np.pi * np.sqrt(2 / (4e9 * np.pi)), rel=1e-6
    )


@pytest.mark.parametrize("cells, where", [(0.5, "warnings"), (1.5, "notes"), (2.5, None)])
def test_a_receiver_within_two_cells_of_a_source_is_named(cells, where):
    at = (730, 510, 490)
    sim = simulation(at=at)
    (elem,), _ = sim.mesh.locate([at])
    brick = (6 * sim.mesh.volumes[elem]) ** (1 / 3)
    sim.add_receivers([(980, 980, 980), (730 - cells * brick, 510, 490)], ["p"])
    report = sim.check()
    for kind in ("warnings", "notes"):
        found = any(f"{cells} cells from source 0" in text for text in getattr(report, kind))
        assert found == (kind == where)


@pytest.mark.parametrize(("c", "named"), [(1500.0, False), (1515.0, True)])
def test_an_exact_solution_of_another_medium_is_named(c, named):
    medium, other = unda.Acoustic(rho=1000.0, c=1500.0), unda.Acoustic(rho=1000.0, c=c)
    wave = unda.exact.plane_wave(other, direction=(1, 0, 0), f=unda.ricker(2.0))
    report = unda.DG(MESH, medium, degree=4, boundary={"xmin": wave, "*": "absorbing"}).check()
    assert any("'xmin' has an exact solution of" in text for text in report.warnings) == named
    assert any("c = 1500" in text for text in report.warnings) == named


def test_a_solution_of_two_media_is_not_taken_for_one_of_the_first():
    one, two = unda.Acoustic(rho=1.0, c=1.0), unda.Acoustic(rho=2.0, c=1.5)
    pulse = unda.gaussian(3.0)
    wave = unda.exact.interface_plane_wave(
        one, two, normal=(0, 0, 1), direction=(0, 0, 1), f=pulse, position=0.5
    )
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    layers = unda.Acoustic(
        rho=lambda x, y, z: np.where(z < 0.5, 1.0, 2.0), c=lambda x, y, z: np.where(z < 0.5, 1.0, 1.5)
    )
    report = unda.DG(mesh, layers, degree=2, boundary={"*": wave}).check()
    assert not any("exact solution" in text for text in report.warnings)
