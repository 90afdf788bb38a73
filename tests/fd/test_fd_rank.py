"""Promises about grids that processes share, without MPI: one alone, what is refused, processes as threads.

Not here: processes of MPI (mpi/test_mpi_fd.py).
"""

import numpy as np
import pytest
import thread_ranks
import unda
from unda import _core
from unda._core import lib
from unda.errors import ArgumentError, InternalError
from unda.method._options import Given
from unda.method.fd_options import fd_options

GRID = unda.Grid((20, 5, 4), 10.0)
MEDIUM = unda.Acoustic(rho=1.0, c=1.0)


class One:
    """The library's solver of a process; the others, if any, add nothing. status: what unite returns."""

    def __init__(self, num=2, which=0, status=0, unite=None, transport=0, **options):
        given = Given.of(unda.FD, GRID, MEDIUM, device="cpu", **{"boundary": {"*": "free"}} | options)
        self._kept = fd_options(given)
        self._unite = _core.callback("int32_t(void *, int64_t, void *)", lambda of, num, at: status)
        ranks = _core.new_struct(
            "unda_ranks",
            num_rank=num,
            which=which,
            transport=transport,
            unite=self._unite if unite is None else unite,
        )
        self.handle = _core.new_object(
            "unda_solver",
            lambda out: lib.unda_solver_new_rank(out, _core.NULL, self._kept[0], ranks),
            lib.unda_solver_free,
        )

    def call(self, entry, *arguments):
        _core.check(entry(self.handle, *arguments))

    def message(self, which):
        found = _core.new_struct("unda_message")
        self.call(lib.unda_solver_get_message, which, found)
        return found

    def num_neighbor(self):
        member = _core.new_struct("unda_member")
        self.call(lib.unda_solver_get_member, 0, member)
        return member.num_neighbor


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"which": 2}, r"which is 2, expected a grid and a process within 0\.\.1"),
        ({"which": -1}, r"which is -1, expected"),
        ({"num": 0}, r"expected a grid and a process within 0\.\.-1"),
        ({"unite": _core.NULL}, "unite is NULL, expected a function that all processes call"),
        ({"num": 4}, "4 slabs of a grid of 20 planes along x, expected at least 6 planes each"),
        ({"kernel": "tiled"}, "kernel tiled takes several steps at once"),
        ({"transport": lib.UNDA_TRANSPORT_PEER}, "transport is 1 between processes, expected 0 .auto."),
    ],
)
def test_a_process_that_cannot_be_is_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        One(**given)


def test_a_process_alone_needs_no_messages_and_few_planes():
    assert One(num=1).num_neighbor() == 0
    sim = One(num=1, order=16)  # 20 planes of 34
    with pytest.raises(ArgumentError, match=r"expected a neighbour within 0\.\.-1"):
        sim.message(0)
    sim.call(lib.unda_solver_energy, _core.new("double *"))


@pytest.mark.parametrize(
    ("which", "sides", "neighbors"),
    [
        (0, {"*": "free"}, [1]),
        (1, {"*": "free"}, [0, 2]),
        (2, {"*": "free"}, [1]),
        (2, {"xmin": "periodic", "xmax": "periodic", "*": "free"}, [1, 0]),
    ],
)
def test_messages_go_to_both_neighbours(which, sides, neighbors):
    """Of p M = 2 planes, with their ghosts, in memory of their own."""
    sim = One(num=3, which=which, boundary=sides)
    messages = [sim.message(i) for i in range(sim.num_neighbor())]
    assert [one.rank for one in messages] == neighbors
    assert len({int(one.num_byte) for one in messages}) == 1 and messages[0].num_byte >= 2 * 5 * 4 * 4
    ends = sorted(_core.address(at) for one in messages for at in (one.send, one.receive))
    assert (np.diff(ends) >= messages[0].num_byte).all()


def test_two_processes_of_a_periodic_grid_send_one_message_of_both_sides():
    periodic = {"xmin": "periodic", "xmax": "periodic", "*": "free"}
    one, both = One(), One(boundary=periodic)
    assert one.num_neighbor() == both.num_neighbor() == 1
    assert both.message(0).num_byte == 2 * one.message(0).num_byte


def test_steps_without_requests_and_wrong_requests_are_refused():
    sim = One()
    with pytest.raises(ArgumentError, match="has messages and no requests"):
        sim.call(lib.unda_solver_energy, _core.new("double *"))
    with pytest.raises(ArgumentError, match="request, start or wait of unda_requests is NULL"):
        sim.call(lib.unda_solver_set_requests, _core.new_struct("unda_requests", num=2))
    with pytest.raises(ArgumentError, match="expected 0: this process's slab"):
        sim.call(lib.unda_solver_get_member, 1, _core.new_struct("unda_member"))


def test_a_process_that_cannot_go_on_with_the_others_says_so():
    sim = One(status=1)
    with pytest.raises(InternalError, match="process 0 of 2 could not go on with the others"):
        sim.call(lib.unda_solver_energy, _core.new("double *"))


def test_planes_of_other_processes_read_as_zero_and_are_not_written():
    sim, ones, found = One(which=1), np.ones(GRID.shape, np.float32), np.full(GRID.shape, 7, np.float32)
    sim.call(lib.unda_solver_write, lib.UNDA_FIELD, 0, 20, _core.pointer(ones))
    sim.call(lib.unda_solver_read, lib.UNDA_FIELD, 0, 20, _core.pointer(found, writable=True))
    assert not found[:10].any() and (found[10:, 1:-1, 1:-1][:-1] == 1).all()


def test_memory_of_processes_is_not_forecast():
    with pytest.raises(ArgumentError, match="comm is given"):
        unda.FD.forecast(GRID, MEDIUM, comm=3)


# ---- processes as threads ----

RNG = np.random.default_rng(1)
ROUGH, SPEED = RNG.uniform(1, 4, GRID.shape), RNG.uniform(1000, 2000, GRID.shape)
LAYERS = {"*": unda.CPML(3, f0=20.0)}
PERIODIC = {"xmin": "periodic", "xmax": "periodic", "*": "free"}
MEDIA = {
    "scalar": unda.Acoustic(rho=1000.0, c=SPEED),
    "acoustic": unda.Acoustic(rho=ROUGH, c=SPEED),
    "elastic": unda.Elastic(rho=ROUGH, vp=SPEED, vs=0.5 * SPEED),
    "maxwell": unda.Maxwell(eps=ROUGH, mu=SPEED, sigma=RNG.uniform(0, 1e-3, GRID.shape)),
}
#: Between nodes of planes on both sides of a cut, beside it, and at the ends.
POINTS = [(96.0, 21.0, 13.0), (64.0, 18.0, 20.0), (0.0, 0.0, 0.0), (190.0, 40.0, 30.0), (35.0, 12.0, 9.0)]


def outcome(name, boundary, **more):
    """All that a run gives, as bytes; of processes the whole state, in process 0 alone."""
    medium, scheme = MEDIA[name], "scalar" if name == "scalar" else "staggered"
    sim = unda.FD(GRID, medium, scheme=scheme, order=2, boundary=boundary, device="cpu", **more)
    field = sim.fields[0]
    sim.set(**{field: np.random.default_rng(2).uniform(-1, 1, GRID.shape)})
    kind = unda.CurrentDipole if name == "maxwell" else unda.PointForce
    f, place = unda.ricker(0.1 / sim.dt, t0=0.0), (98.0, 17.0, 16.0)
    sim.add_source(
        unda.VolumeInjection(place, f) if name in ("scalar", "acoustic") else kind(place, f, (1.0, 2.0, 3.0))
    )
    rec = sim.add_receivers(POINTS, every=2)
    sim.step(5)
    sim.step(2)
    whole = [sim.get(name, gather=True) for name in sim.fields]
    return [
        sim.dt, sim.energy(), *(rec[one].tobytes() for one in rec.fields),
        *(one.tobytes() for one in sim.sample(POINTS).values()),
        *(one.tobytes() for one in whole if one is not None),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize("name", MEDIA)
@pytest.mark.parametrize(("num", "boundary"), [(2, PERIODIC), (3, LAYERS)])
def test_processes_have_the_bits_of_one(name, num, boundary):
    """State, traces, samples, energy, and the stable step of a medium that varies."""
    if name == "maxwell":
        boundary = {side: "pec" if word == "free" else word for side, word in boundary.items()}
    one = outcome(name, boundary, threads=1)
    found = thread_ranks.run(num, lambda ranks: outcome(name, boundary, comm=ranks))
    assert found[0] == one
    assert all(other == one[: len(other)] and len(other) < len(one) for other in found[1:])


@pytest.mark.parametrize("make", [unda.FD, unda.FD.forecast])
def test_a_transport_is_one_between_processes(make):
    """Devices of one process have no choice."""
    assert make(GRID, MEDIUM, device="cpu", transport="auto")
    with pytest.raises(ArgumentError, match="transport is 'nccl' in one process, expected comm= with it"):
        make(GRID, MEDIUM, device="cpu", transport="nccl")
