"""Junk as an argument is refused by an error of unda or a TypeError, and the simulation stays usable.

A crash of the library would end these tests. Meshes are in test_mesh_refusals.py, media in test_medium.py.
"""

import warnings

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import unda
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
HEXAHEDRA = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
MEDIUM = unda.Acoustic(rho=1.0, c=1.0)
PLACE = (0.3, 0.4, 0.2)
ALLOWED = (unda.Error, TypeError, MemoryError)
OFTEN = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

WORDS = ["", "p", "vx", "soup", "é\0", "cpu", "cuda:²", "cuda:-1", "cuda:99999999999", "float32", ">f8", "*"]
WORDS += ["absorbing", "free", "central", "ab3", "fused", "xmin", "rows", "tile"]
NUMBERS = [0, 1, -1, 2**31, -(2**31) - 1, 2**63, -(2**63), 2**70, 10**400, 0.5, -0.0, 1e-320, 1e300, 1e39]
NUMBERS += [float("nan"), float("inf"), True, 1j, np.float32(0.5), np.int8(3), np.datetime64(1, "s")]
FUNCTIONS = [
    lambda *_: None,
    lambda *_: np.nan,
    lambda *_: "soup",
    lambda *_: [1, [2]],
    lambda *_: 1j,
    lambda *_: {"p": 1.0},
    lambda *_: dict.fromkeys(("p", "vx", "vy", "vz"), 0.0),
    lambda *_: dict.fromkeys(("p", "vx", "vy", "vz"), "soup"),
    lambda *_: np.ones(3),
    lambda *values: values[0],
    lambda: None,
]
OBJECTS = [None, object(), b"p", MESH, MEDIUM, unda.DG, unda.ricker(1.0), np.dtype("f4"), range(3), slice(2)]
ARRAYS = hnp.arrays(
    st.sampled_from(["f4", ">f8", "f2", "i1", ">i8", "u8", "c8", "?", "U3", "M8[s]"]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
) | st.sampled_from(
    [
        np.ones((6, 10)),
        np.full((6, 10), np.nan),
        np.ones((6, 10), object),
        np.array([PLACE]),
        np.zeros((2, 3)).T,
    ]
)
SIMPLE = st.sampled_from(WORDS) | st.sampled_from(NUMBERS) | st.sampled_from(OBJECTS) | st.integers(-3, 9)
SIMPLE |= st.sampled_from(FUNCTIONS)
JUNK = st.recursive(
    SIMPLE | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner, inner)
        | st.dictionaries(st.sampled_from([*WORDS, 3, None]), inner, max_size=3)
    ),
    max_leaves=4,
)


def mostly(*good):
    """Good values among junk, so that junk meets what is otherwise right."""
    return st.sampled_from(good) | JUNK


def short(value):
    """Not a run of hours."""
    try:
        return not float(value) > 50
    except Exception:
        return True


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


OPTIONS = {
    "degree": mostly(1, 2),
    "boundary": mostly(None, {"*": "rigid"}) | st.dictionaries(st.sampled_from(WORDS), JUNK, max_size=2),
    "flux": mostly("central"),
    "integrator": mostly("ab3"),
    "dt": mostly(1e-3),
    "cfl": mostly(0.5),
    "sample_dt": mostly(1e-2),
    "dtype": mostly("float64"),
    "device": mostly("cpu"),
    "threads": mostly(1, 2),
    "allow_unstable": mostly(True),
    "kernel": mostly("node"),
    "kernel_options": mostly(None, {"rows": 2}),
}


#: What makes a simulation of an acoustic medium, and the field with which its state begins.
METHODS = {"tetrahedra": (unda.DG, MESH, "p"), "hexahedra": (unda.DG, HEXAHEDRA, "p"),
           "sem": (unda.SEM, HEXAHEDRA, "chi")}  # fmt: skip


@OFTEN
@given(
    method=st.sampled_from(list(METHODS)),
    mesh=mostly(None, None, MESH, HEXAHEDRA),
    medium=mostly(MEDIUM, MEDIUM),
    options=st.fixed_dictionaries({}, optional=OPTIONS),
)
def test_a_simulation_is_made_or_refused(method, mesh, medium, options):
    make, usual, field = METHODS[method]
    options.setdefault("device", "cpu")
    try:
        sim = make(usual if mesh is None else mesh, medium, **options)
        sim.set(**{field: 1.0})
        sim.step(2)
    except ALLOWED as error:
        assert str(error)
    else:
        assert sim.step_count == 2 and np.isfinite(sim.energy())


PLACES = mostly([PLACE], [PLACE, PLACE], [])
FIELDS = mostly(None, ["p"], "p", ["p", "vz"], [])
FIELD = mostly("p", 1.0) | st.sampled_from(FUNCTIONS)
NO_JUNK = {}
CALLS = {
    "set": {
        "exact": mostly(None, None) | st.sampled_from(FUNCTIONS),
        "t": mostly(0.0),
        "p": FIELD,
        "vx": FIELD,
    },
    "get": {"name": mostly("p")},
    "sample": {"points": PLACES, "fields": FIELDS},
    "add_receivers": {"points": PLACES, "fields": FIELDS, "every": mostly(1), "name": mostly("line")},
    "add_source": {"source": JUNK},
    "inject": {"position": mostly(PLACE, PLACE), "f": mostly(np.sin) | st.sampled_from(FUNCTIONS)},
    "error": {"exact": mostly(None) | st.sampled_from(FUNCTIONS), "relative": mostly(True)},
    "profile": {"runs": JUNK},
    "step": {"n": mostly(1).filter(short)},
    "run": {
        "until": mostly(None, 0.1).filter(short),
        "steps": mostly(None, 3).filter(short),
        "every": mostly(None, 1),
        "callback": mostly(None),
        "progress": mostly(None, False).filter(lambda wanted: wanted is not True),
    },
    "rhs": NO_JUNK,
    "energy": NO_JUNK,
    "check": NO_JUNK,
}


@st.composite
def calls(draw):
    """A few calls, each with some of its arguments."""
    names = draw(st.lists(st.sampled_from(list(CALLS)), min_size=1, max_size=4))
    return [(name, draw(st.fixed_dictionaries({}, optional=CALLS[name]))) for name in names]


def attempt(sim, name, arguments):
    if name == "inject":
        sim.add_source(unda.VolumeInjection(**{"position": PLACE, "f": np.sin, **arguments}))
    elif (name, type(sim)) != ("rhs", unda.SEM):  # which has none
        getattr(sim, name)(**arguments)


@OFTEN
@given(calls=calls(), method=st.sampled_from(list(METHODS)))
def test_a_call_does_it_or_is_refused_and_the_simulation_stays_usable(calls, method):
    make, mesh, field = METHODS[method]
    sim = make(mesh, MEDIUM, degree=2, device="cpu", threads=1)
    for name, arguments in calls:
        try:
            attempt(sim, name, arguments)
        except ALLOWED as error:
            assert str(error)
    sim.reset(sources=True)
    sim.set(**{field: 1.0})
    rec = sim.add_receivers([PLACE], ["p"])
    sim.run(steps=3)
    other = make(mesh, MEDIUM, degree=2, device="cpu", threads=1)
    other.set(**{field: 1.0})
    other.step(3)
    assert np.array_equal(sim.get("p"), other.get("p")) and rec["p"].shape == (1, 4)
    assert all(receivers.num_sample == 3 // receivers.every + 1 for receivers in sim.receivers)


@OFTEN
@given(name=JUNK, other=JUNK)
def test_receivers_refuse_junk(name, other):
    sim = unda.DG(MESH, MEDIUM, degree=1, device="cpu")
    rec = sim.add_receivers([PLACE])
    for work in (
        lambda: rec[name],
        lambda: rec.times(name),
        lambda: rec.misfit(other),
        lambda: rec.misfit(rec, fields=name),
    ):
        try:
            work()
        except ALLOWED as error:
            assert str(error)
    assert rec["p"].shape == (1, 1)
