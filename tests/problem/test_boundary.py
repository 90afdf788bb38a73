"""Each boundary has its condition: words, or exact solutions, several of them if need be."""

import cuda_device
import numpy as np
import pytest
import unda
from unda.problem.boundary import Boundaries

cuda_device.prepare()
MEDIUM = unda.Acoustic(rho=1.3, c=0.9)


def box(**options):
    return unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), perturb=0.1, **options)


def run(boundary, device="cpu", start=None):
    sim = unda.DG(box(), MEDIUM, degree=3, boundary=boundary, dtype="float64", device=device)
    if start is not None:
        sim.set(start)
    sim.run(until=0.5)
    return sim


def doubled(solution):
    """The same wave with twice the amplitude, as a plain callable."""
    return lambda x, y, z, t: {name: 2 * value for name, value in solution(x, y, z, t).items()}


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_several_solutions_may_stand_around_a_mesh(device):
    """By linearity: data a on one side and b on another are the sum of each alone."""
    a = unda.exact.plane_wave(MEDIUM, k=(3.0, 5.0, -2.0))
    b = unda.exact.plane_wave(MEDIUM, k=(-1.0, 4.0, 2.0))
    nothing = unda.exact.plane_wave(MEDIUM, k=(1.0, 0.0, 0.0), amplitude=0.0)
    both = run({"xmin": a, "ymax": b, "*": nothing}, device).get("p")
    only_a = run({"xmin": a, "*": nothing}, device).get("p")
    only_b = run({"ymax": b, "*": nothing}, device).get("p")
    assert np.abs(only_a).max() > 0.01 < np.abs(only_b).max()
    assert np.abs(both - only_a - only_b).max() < 1e-13
    exchanged = run({"xmin": b, "ymax": a, "*": nothing}, device).get("p")
    assert np.abs(both - exchanged).max() > 0.01


def test_each_side_gets_its_own_values():
    wave = unda.exact.plane_wave(MEDIUM, k=(3.0, 5.0, -2.0))
    twin = unda.exact.plane_wave(MEDIUM, k=(3.0, 5.0, -2.0))
    sides = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
    by_name = run({side: twin if side == "zmax" else wave for side in sides}, start=wave)
    assert by_name.error(wave, relative=True)["p"] < 0.03
    assert np.array_equal(by_name.get("p"), run({"*": wave}, start=wave).get("p"))
    wrong = run({"xmin": doubled(wave), "*": wave}, start=wave)
    assert wrong.error(wave, relative=True)["p"] > 0.03


def test_a_checkpoint_keeps_the_solution_of_each_side(tmp_path):
    a = unda.exact.plane_wave(MEDIUM, k=(3.0, 5.0, -2.0))
    b = unda.exact.plane_wave(MEDIUM, k=(-1.0, 4.0, 2.0))
    sim = run({"xmin": a, "ymax": b, "*": "free"})
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for each in (sim, again):
        each.run(steps=5)
    assert np.array_equal(sim.get("vx"), again.get("vx"))
    assert again.config["boundary"] == {**dict.fromkeys(("xmax", "ymin", "zmin", "zmax"), "free"),
                                        "xmin": "exact", "ymax": "exact"}  # fmt: skip


@pytest.mark.parametrize("boundary", ["free", [("xmin", "free")], {"xmin": None, "*": "free"}, {"*": 2.0}])
def test_what_is_no_condition_is_refused(boundary):
    with pytest.raises(unda.ArgumentError, match="expected"):
        unda.DG(box(), MEDIUM, degree=1, boundary=boundary)


def test_periodic_sides_take_no_other_condition():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), periodic=(True, False, False))
    sim = unda.DG(mesh, MEDIUM, degree=1, boundary={"xmin": "periodic", "*": "rigid"})
    assert sim.config["boundary"]["xmax"] == "periodic"
    with pytest.raises(unda.ArgumentError, match="periodic by the mesh"):
        unda.DG(mesh, MEDIUM, degree=1, boundary={"xmin": "free", "*": "rigid"})


MEDIA = {
    unda.Acoustic(rho=1.0, c=1.0): "absorbing rigid free",
    unda.Elastic(rho=1.0, vp=2.0, vs=1.0): "absorbing free fixed symmetry",
    unda.Maxwell(eps=1.0, mu=1.0): "absorbing pec pmc",
}
WORDS = "absorbing rigid free fixed symmetry pec pmc"


@pytest.mark.parametrize("medium", MEDIA, ids=lambda medium: medium.physics)
@pytest.mark.parametrize("word", WORDS.split())
def test_each_medium_has_its_own_conditions(medium, word):
    if word in MEDIA[medium].split():
        found = Boundaries.of(box(), medium, {"zmax": word, "*": "absorbing"})
        code = getattr(unda._core.lib, f"UNDA_BOUNDARY_{word.upper()}")
        assert found.words["zmax"] == word and list(found.codes) == [0, 0, 0, 0, 0, code]
    else:
        listed = ", ".join(map(repr, MEDIA[medium].split()))
        with pytest.raises(
            unda.ArgumentError, match=rf"'zmax' has condition '{word}'.*\[{listed}\] \({medium.physics}"
        ):
            Boundaries.of(box(), medium, {"zmax": word, "*": "absorbing"})


@pytest.mark.parametrize("medium", MEDIA, ids=lambda medium: medium.physics)
def test_a_solution_of_another_medium_is_refused(medium):
    solutions = {
        one.physics: unda.exact.plane_wave(one, k=(1, 0, 0), **more)
        for one, more in zip(MEDIA, ({}, {}, {"polarization": (0, 1, 0)}), strict=True)
    }
    for physics, wave in solutions.items():
        if physics == medium.physics:
            assert Boundaries.of(box(), medium, {"*": wave}).words["xmin"] == "exact"
        else:
            with pytest.raises(
                unda.ArgumentError, match=f"the {physics} solution .* medium is {medium.physics}"
            ):
                Boundaries.of(box(), medium, {"*": wave})


def test_a_medium_whose_equations_are_unknown_is_refused():
    class Jelly(unda.Acoustic):
        physics = "jelly"

    with pytest.raises(unda.ArgumentError, match=r"DG solves acoustic, elastic and maxwell media; .* jelly"):
        unda.DG(box(), Jelly(rho=1.0, c=1.0))
