"""What a simulation offers it offers for every medium: conditions, files, receivers, refusals.

Not here: that the equations are solved (test_dg_exact.py), that engines agree (test_cuda_engine.py).
"""

import json

import numpy as np
import pytest
import unda

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # small and coarse: files, names, refusals

MESH = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 2, 2), perturb=0.1)
SOLID = unda.Elastic(rho=2.0, vp=3.0, vs=1.5)
SEABED = unda.Elastic(rho=2.0, vp=3.0, vs=lambda x, y, z: np.where(z < 0.4, 1.5, 0.0))
GLASS = unda.Maxwell(eps=lambda x, y, z: 1.0 + z, mu=1.5, sigma=0.1)
PLACE, POINTS = (0.31, 0.42, 0.27), [(0.6, 0.7, 0.3), (0.2, 0.8, 0.5)]
RUNS = {
    "acoustic": (unda.Acoustic(rho=1.0, c=1.0), unda.VolumeInjection(PLACE, unda.ricker(2.0))),
    "elastic": (SEABED, unda.MomentTensor(PLACE, unda.ricker(2.0), [[1, 2, 0], [2, -1, 0], [0, 0, 3]])),
    "maxwell": (GLASS, unda.CurrentDipole(PLACE, unda.ricker(2.0), (1, -2, 0.5))),
}
EACH = pytest.mark.parametrize("medium, source", RUNS.values(), ids=RUNS)


def started(medium, source, **options):
    sim = unda.DG(MESH, medium, degree=2, **options)
    sim.add_source(source)
    rec = sim.add_receivers(POINTS, list(medium.traces))
    sim.run(steps=6)
    return sim, rec


@EACH
def test_the_engine_takes_every_condition_of_a_medium(medium, source):
    for word in medium.boundaries:
        sim = unda.DG(MESH, medium, degree=1, boundary={"*": word})
        assert set(sim.config["boundary"].values()) == {word}


@EACH
@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_checkpoints_continue_bit_for_bit(tmp_path, medium, source, integrator):
    sim, rec = started(medium, source, integrator=integrator)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for each in (sim, again):
        each.run(steps=5)
    for name in sim.fields:
        assert np.array_equal(sim.get(name), again.get(name)) and np.abs(sim.get(name)).max() > 0
    for name in medium.traces:
        assert np.array_equal(rec[name], again.receivers[0][name]) and np.abs(rec[name]).max() > 0


@EACH
def test_configuration_pictures_and_files_know_the_fields(tmp_path, medium, source):
    sim, _ = started(medium, source)
    assert json.loads(json.dumps(sim.config))["medium"]["type"] == type(medium).__name__
    sim.write_vtu(tmp_path / "run.vtu")
    text = (tmp_path / "run.vtu").read_bytes()
    assert all(
        f'Name="{name}"'.encode() in text for name in (*medium.parameters, "v" if "vx" in sim.fields else "E")
    )
    for name in (sim.fields[-1], "curl_y"):
        label = sim.plot_slice(name, y=0.5, num=5).child_axes[-1].get_ylabel()
        assert label == f"{name} [{medium.traces[name]}]"
    assert sim.energy() > 0 and medium.physics in repr(sim)
    assert set(sim.check().nodes_per_wavelength) == {"0"}


def test_an_elastic_fluid_is_an_acoustic_one():
    """-tr(sigma)/3 is p; the same equations, so the traces differ by rounding alone."""

    def traces(medium, pressure):
        sim = unda.DG(MESH, medium, degree=3, boundary={"zmax": "free", "*": "absorbing"}, dtype="float64")
        sim.add_source(unda.VolumeInjection(PLACE, unda.ricker(2.0)))
        rec = sim.add_receivers(POINTS, [pressure, "divergence", "curl_x", "vz"])
        sim.run(until=0.5)
        return [rec[name] for name in rec.fields]

    acoustic = traces(unda.Acoustic(rho=2.0, c=3.0), "p")
    for a, b in zip(acoustic, traces(unda.Elastic(rho=2.0, vp=3.0, vs=0.0), "pressure"), strict=True):
        assert np.abs(a - b).max() < 1e-12 * np.abs(a).max()
    for a, b in zip(acoustic, traces(unda.Elastic(rho=2.0, vp=3.0, vs=0.1), "pressure"), strict=True):
        assert np.abs(a - b).max() > 1e-6 * np.abs(a).max()


@pytest.mark.parametrize("kind, polarization", [("p", None), ("s", (2.0, 3.0, 0.0))])
def test_divergence_and_curl_tell_p_from_s_waves(kind, polarization):
    """A P wave has no curl, an S wave no divergence; what remains is a percent at degree 4."""
    wave = unda.exact.plane_wave(SOLID, k=(3.0, -2.0, 1.0), kind=kind, polarization=polarization)
    sim = unda.DG(MESH, SOLID, degree=4, boundary={"*": wave}, dtype="float64")
    sim.set(wave)
    rec = sim.add_receivers(
        np.random.default_rng(0).uniform(0.1, 0.7, (50, 3)), ["divergence", "curl_x", "curl_y", "curl_z"]
    )
    sim.run(until=0.2)
    rms = [np.sqrt((rec[name] ** 2).mean()) for name in rec.fields]
    divergence, curl = rms[0], np.linalg.norm(rms[1:])
    weak, strong = (curl, divergence) if kind == "p" else (divergence, curl)
    assert weak < 0.01 * strong and strong > 1.0


def test_misfit_of_pressure_is_as_small_as_that_of_velocity():
    wave = unda.exact.plane_wave(SOLID, k=(3.0, -2.0, 1.0))
    sim = unda.DG(MESH, SOLID, degree=4, boundary={"*": wave}, dtype="float64")
    sim.set(wave)
    rec = sim.add_receivers(POINTS, ["pressure", "vx"])
    sim.run(until=0.2)
    assert rec.misfit(wave, fields=["pressure"]).max() < 1e-3 > rec.misfit(wave, fields=["vx"]).max()
    louder = unda.exact.plane_wave(SOLID, k=(3.0, -2.0, 1.0), amplitude=1.01)
    assert rec.misfit(louder, fields=["pressure"]).min() > 5e-3


def test_shear_in_a_fluid_is_refused_by_simulations_and_what_they_give_is_not():
    sim = unda.DG(MESH, SEABED, degree=2)
    with pytest.raises(unda.ArgumentError, match=r"deviatoric part of .* a fluid"):
        sim.set(sxy=1.0)
    above, below = (0.31, 0.42, 0.67), (0.31, 0.42, 0.17)
    shear = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    with pytest.raises(
        unda.ArgumentError, match=r"deviatoric part of 1 N m at \(0\.31, 0\.42, 0\.67\) m in a fluid"
    ):
        sim.add_source(unda.MomentTensor(above, unda.ricker(2.0), shear))
    sim.add_source(unda.MomentTensor(below, unda.ricker(2.0), shear))
    sim.add_source(unda.VolumeInjection(above, unda.ricker(2.0)))
    sim.add_source(unda.VolumeInjection(below, unda.ricker(2.0)))
    sim.run(steps=50)
    sim.set(**{name: sim.get(name) for name in sim.fields})


def test_sources_of_other_waves_are_refused():
    for physics, (medium, _) in RUNS.items():
        sim = unda.DG(MESH, medium, degree=1)
        for other, (_, source) in RUNS.items():
            if other != physics and physics not in source.physics:
                with pytest.raises(unda.ArgumentError, match=f"waves; the medium is {physics}"):
                    sim.add_source(source)
