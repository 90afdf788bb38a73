"""Receivers of DG integrate over time as if the integral were a field that steps advance, on every engine.

Not here: what displacements and strains are (test_displacement_and_strain.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from numpy.linalg import norm

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

REAL = cuda_device.prepare()
ON_DEVICES = [] if REAL else pytest.mark.slow  # the bits of others: test_resident.py
AT = np.array([(0.31, 0.42, 0.53), (0.5, 0.55, 0.4)])  # within a cell, and on a face of two
#: Carpenter & Kennedy (1994), a and b of each stage, to 13 digits.
LSRK = [
    (0.0, 0.1496590219992), (-0.4178904744998, 0.3792103129996), (-1.192151694642, 0.8229550293869),
    (-1.697784692471, 0.6994504559491), (-1.514183444257, 0.1530572479681),
]  # fmt: skip
NAMES = [f"u{axis}" for axis in "xyz"]


def made(integrator, shape="tet", **options):
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 2, 2), shape=shape, periodic=(True,) * 3)
    options = {"degree": 2, "dtype": "float64", "device": "cpu", "cfl": 1.0} | options
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), integrator=integrator, **options)


def begin(sim, seed=1):
    rng = np.random.default_rng(seed)
    sim.set(**{name: rng.standard_normal((sim.mesh.num_elem, sim.num_node)) for name in sim.fields})
    return sim


def together(sim, num_step):
    """v at points and u after each step, of steps in NumPy with u' = v among their equations."""
    state = {name: sim.get(name) for name in sim.fields}
    u, held, all_v, all_u = np.zeros((3, len(AT))), [], [], []

    def rates(q):
        sim.set(**q)
        return sim.rhs(), np.stack([sim.sample(AT)[f"v{axis}"] for axis in "xyz"])

    def runge_kutta(q, u):
        r, ru = {name: 0.0 for name in q}, 0.0
        for a, b in LSRK:
            f, v = rates(q)
            r, ru = {name: a * r[name] + sim.dt * f[name] for name in q}, a * ru + sim.dt * v
            q, u = {name: q[name] + b * r[name] for name in q}, u + b * ru
        return q, u

    for _ in range(num_step):
        f, v = rates(state)
        all_v.append(v)
        all_u.append(u)
        if sim.config["integrator"] == "lsrk4" or len(held) < 2:
            state, u = runge_kutta(state, u)
        else:
            (f1, v1), (f2, v2) = held[-1], held[-2]
            state = {
                name: state[name] + sim.dt * (23 * f[name] - 16 * f1[name] + 5 * f2[name]) / 12 for name in f
            }
            u = u + sim.dt * (23 * v - 16 * v1 + 5 * v2) / 12
        held.append((f, v))
    return np.moveaxis(all_v, 0, -1), np.moveaxis(all_u, 0, -1)


def of_samples(dt, v):
    """Integrals by the rule of order 4 of Adams and Moulton from samples after each step, from the third."""
    added = dt / 24 * (9 * v[..., 3:] + 19 * v[..., 2:-1] - 5 * v[..., 1:-2] + v[..., :-3])
    return np.cumsum(added, axis=-1)


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_integrals_are_stepped_with_the_state_to_rounding(integrator):
    sim = begin(made(integrator))
    v, u = together(begin(made(integrator)), 12)
    rec, coarse = (
        sim.add_receivers(AT, ["displacement", "vx"]),
        sim.add_receivers(AT, "displacement", every=5),
    )
    sim.run(steps=11)
    found = np.stack([rec[name] for name in NAMES])
    assert norm(found - u) <= 1e-12 * norm(u) and norm(rec["vx"] - v[0]) <= 1e-12 * norm(v)
    assert all((coarse[name] == rec[name][:, ::5]).all() for name in NAMES)
    # at the stable limit the state's highest modes have a few samples a period, of which rules see little
    assert norm(of_samples(sim.dt, v) - (u[..., 3:] - u[..., 2:3])) > 1e-6 * norm(u)


def prepared(device, integrator, shape="tet", **options):
    sim = begin(made(integrator, shape, device=device, **options))
    sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.5), unda.ricker(1.0)))
    sim.add_receivers(AT, ["uz", "p", "divergence", "ux"], every=2)
    sim.add_fibre([(0.1, 0.5, 0.4), (0.9, 0.5, 0.4)], gauge=0.4, spacing=0.2)
    return sim


def outcome(sim, *steps):
    for i, num in enumerate(steps):
        if i == 1:
            sim.add_receivers(AT, "vx")  # so that engines list all receivers anew
        sim.step(num)
    return np.concatenate([rec[name].ravel() for rec in sim.receivers[:2] for name in rec.fields])


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_parts_have_the_integrals_of_one_solver_to_the_bit(integrator, monkeypatch, tmp_path):
    monkeypatch.setenv("UNDA_CPU_PARTS", "1")
    one, cut = prepared("cpu", integrator), prepared(["cpu"] * 3, integrator)
    expected = outcome(one, 5, 1, 13)
    outcome(cut, 5, 2)
    cut.save(tmp_path / "run.h5")
    assert np.abs(expected).max() > 0.01 and (outcome(cut, 12) == expected).all()
    for device in ("cpu", ["cpu"] * 2):  # which cut the mesh elsewhere
        assert (outcome(unda.load(tmp_path / "run.h5", device=device), 12) == expected).all()


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("integrator", "shape", "options"),
    [
        ("lsrk4", "tet", {}),
        pytest.param("ab3", "hex", {}, marks=ON_DEVICES),
        pytest.param("ab3", "tet", {"kernel": "fused", "kernel_options": {"resident": 8}}, marks=ON_DEVICES),
    ],
)
def test_a_device_has_the_integrals_of_the_cpu_to_rounding(integrator, shape, options):
    steps = (5, 1, 13, 40) if REAL else (3, 18)  # with a graph of 16 steps
    expected = outcome(prepared("cpu", integrator, shape), *steps)
    one = outcome(prepared("cuda:0", integrator, shape, **options), *steps)
    assert norm(one - expected) <= 1e-12 * norm(expected)
    parts = prepared(["cuda:0"] * 2, integrator, shape, kernel=options.get("kernel", "auto"))
    assert (one == outcome(parts, *steps)).all()


def test_receivers_that_come_later_recall_what_ab3_has_done():
    """From a smooth state: their integrals grow as those of others do, to the third order."""

    def error(cfl):
        sim = made("ab3", degree=3, cfl=cfl)
        sim.set(unda.exact.plane_wave(sim.medium, k=(2 * np.pi, 0, 0)))
        early = sim.add_receivers(AT, "ux")
        sim.run(steps=7)
        late = sim.add_receivers(AT, "ux")
        sim.run(steps=4)
        return np.abs(late["ux"] - (early["ux"][:, 7:] - early["ux"][:, 7:8])).max(), sim.dt

    (coarse, dt), (fine, _) = error(0.8), error(0.4)
    # two errors of O(dt^4), below dt^4 omega^3 |v| (0.4 + 0.14); steps that knew nothing begin with dt / 2
    assert 0.0 < coarse < 0.6 * (2 * np.pi) ** 3 * dt**4
    assert fine < coarse / 12


def test_after_a_blow_up_integrals_are_those_of_the_last_good_state():
    sim = begin(made("lsrk4", degree=1, dt=10.0, allow_unstable=True))
    rec = sim.add_receivers(AT, "ux")
    sim.step(2)
    before = rec["ux"][:, -1]
    with pytest.raises(unda.errors.UnstableError):
        sim.run(steps=4000)
    good = sim.step_count
    found = sim._solver.read_integrals(0).reshape(3, -1)[0]
    assert good >= 2 and np.isfinite(found).all() and np.abs(before).max() > 0.0
    kept = rec["ux"][:, good]
    assert (
        (np.abs(found).sum() > 0) and np.isfinite(kept).all() and np.allclose(found[0], kept[0], rtol=1e-12)
    )


def test_values_now_have_no_integrals():
    from unda import _core
    from unda._core import lib

    sim = made("lsrk4")
    _, placed = sim._points.place(AT, "point", None)
    given = _core.new_struct("unda_receivers", num_field=1, fields=np.array([16], np.int32), **placed)
    with pytest.raises(unda.errors.ArgumentError, match="integral over time, expected values or derivatives"):
        sim._solver.call(lib.unda_solver_sample, given, _core.pointer(np.empty((2, 1)), writable=True))
    rec = sim.add_receivers(AT, "ux")
    assert len(rec) == 2
    with pytest.raises(unda.errors.ArgumentError, match="num_value is 1, expected"):
        sim._solver.write_integrals(0, np.zeros(1))
