"""Promises about grids in slabs on CUDA devices, or on the stand-in, which has several: bits of one device.

On a machine with one device it is in the list many times. Not here: slabs on the CPU (test_slabs.py).
"""

import cuda_device
import numpy as np
import pytest
import slab_cases
import thread_ranks
import unda
from slab_cases import in_slabs
from team_cases import differences

pytestmark = [
    pytest.mark.gpu_or_stand_in,
    pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"),
]
REAL = cuda_device.prepare()
NUMBERS = (2, 3, 5)
#: By default runs of each scheme that have room for slabs and are quick to compile.
FEW = (
    "fd/scalar/varied/float64/order4/step/free/cpml/periodic/y/19x23x21",
    "fd/rest/scalar/acoustic/step",
    "fd/checkpoint/staggered/acoustic/step",
)


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("i", "key"),
    [
        pytest.param(i, key, marks=[] if key in FEW or REAL else pytest.mark.slow, id=key)
        for i, key in enumerate(slab_cases.ON_DEVICE)
    ],
)
def test_slabs_have_the_bits_of_one_device(devices, i, key):
    function, *arguments = slab_cases.RUNS[key]
    one = function(*arguments)
    for other in (devices, devices[::-1] if i % 2 else ["cuda:0"] * 5):
        with in_slabs(NUMBERS[i % 3], other):
            assert differences(one, function(*arguments)) == []


GRID = unda.Grid((27, 6, 10), 10.0)
MEDIA = {
    "scalar": unda.Acoustic(rho=1000.0, c=1500.0),
    "staggered": unda.Acoustic(rho=1000.0, c=1500.0),
}


def _outcome(scheme, device, **options):
    medium = MEDIA[scheme]
    sides = {"xmin": unda.CPML(3, f0=20.0), "zmax": "free", "*": "free"}
    sim = unda.FD(GRID, medium, scheme=scheme, boundary=sides, device=device, **options)
    sim.set(**{sim.fields[0]: np.random.default_rng(1).standard_normal(GRID.shape)})
    place = (101.0, 41.0, 52.0)
    sim.add_source(unda.VolumeInjection(place, unda.ricker(20.0, t0=0.0)))
    rec = sim.add_receivers([(99.0, 40.0, 50.0), (180.0, 33.0, 70.0)], every=2)
    sim.step(5)
    sim.step(4)
    parts = {
        "state": [sim.get(name, gather=True) for name in sim.fields],
        "trace": [rec[name] for name in rec.fields],
    }
    return {"dt": sim.dt, "energy": sim.energy(), "parts": parts}


@pytest.mark.each_value
@pytest.mark.skipif(REAL, reason="the stand-in runs its streams in an order of the test's choice")
@pytest.mark.parametrize("scheme", MEDIA)
@pytest.mark.parametrize("eager", [0, 1, 2])
def test_slabs_wait_for_what_their_neighbours_send(monkeypatch, devices, scheme, eager):
    """Some streams run as early as they may, others as late: a wait that is missing is seen."""
    one = _outcome(scheme, "cuda:0")
    monkeypatch.setenv("UNDA_EMULATOR_EAGER", str(eager))
    assert differences(one, _outcome(scheme, devices[:3])) == []


@pytest.mark.first(1)
@pytest.mark.parametrize("scheme", MEDIA)
def test_processes_have_the_bits_of_one_device(monkeypatch, devices, scheme):
    """Planes go through memory of the host, each copy as late as it may."""
    one = _outcome(scheme, "cuda:0")
    monkeypatch.setenv("UNDA_EMULATOR_EAGER", "1")

    def shared(ranks):
        return _outcome(scheme, devices[ranks.rank], comm=ranks, transport="host")

    found = thread_ranks.run(3, shared)
    whole = {name: [one for one in arrays if one is not None] for name, arrays in found[0]["parts"].items()}
    assert differences(one, found[0] | {"parts": whole}) == []


@pytest.mark.skipif(REAL, reason="devices of one host reach each other")
def test_slabs_that_do_not_reach_each_other_say_so(monkeypatch, devices):
    one = _outcome("scalar", "cuda:0")
    monkeypatch.setenv("UNDA_EMULATOR_PEER", "0")
    assert differences(one, _outcome("scalar", devices[:3])) == []
    assert _small(devices[:2]).team.transport == "host"


def _small(device, **options):
    return unda.FD(GRID, MEDIA["scalar"], boundary={"*": "free"}, device=device, **options)


def test_a_device_says_how_planes_travel(devices):
    sim = _small(devices[:2])
    assert sim.team.transport == "peer"
    assert 0 < sim.team.members[0].memory < sim.team.members[1].memory  # 13 and 14 planes
    assert sim.config["kernel"] == "step"
    forecast = unda.FD.forecast(GRID, MEDIA["scalar"], boundary={"*": "free"}, device=devices[:2])
    assert [forecast[f"part {i}"] for i in range(2)] == [one.memory for one in sim.team.members]


def test_a_checkpoint_of_a_kernel_of_one_device_goes_on_in_slabs(tmp_path, devices):
    """All kernels give the same bits: the file's kernel may be another one than that of slabs."""
    one = _small("cuda:0")
    one.set(p=np.random.default_rng(1).standard_normal(GRID.shape))
    one.config.update(kernel="diamond", kernel_options={"dts": 4}, window=9)  # what another run would say
    one.save(tmp_path / "one.h5")
    again = unda.load(tmp_path / "one.h5", device=devices[:2])
    assert again.config["kernel"] == "step" and again.config["window"] is None
    for sim in (one, again):
        sim.step(2)
    assert again.get("p").tobytes() == one.get("p").tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 8}, "window is 8, expected 0 or -1 on several devices"),
    ],
)
def test_storages_of_one_device_are_refused(devices, options, message):
    with pytest.raises(unda.ArgumentError, match=message):
        _small(devices[:2], **options)


def test_kernels_of_slabs_are_not_timed(devices):
    sim = _small(devices[:2])
    with pytest.raises(unda.ArgumentError, match="kernels of one device"):
        sim.profile()
