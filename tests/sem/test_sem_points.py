"""Sources have their amplitude, receivers are their transposes, and both see all cells that share a point."""

import os
import subprocess
import sys

import numpy as np
import pytest
import unda
from sem_cases import solid_and_fluid, start
from unda.method.injected_volume import InjectedVolume

RICKER = unda.ricker(1.5)
ROCK, DEEP, WATER, VERTEX = (0.3, 0.37, 0.21), (0.62, 0.44, 0.33), (0.41, 0.53, 0.71), (0.5, 0.5, 0.25)
SIDES = {"zmax": "free", "xmin": "symmetry", "ymin": "fixed", "*": "absorbing"}


def mesh_with_vertex():
    """The vertex stays where it is: no cell is warped."""
    return solid_and_fluid((2, 2, 4), perturb=0.0)


def traces(source, point, fields, make=solid_and_fluid):
    mesh, medium = make()
    sim = unda.SEM(mesh, medium, degree=3, boundary=SIDES, dtype="float64")
    sim.add_source(source)
    receivers = sim.add_receivers([point], fields=fields)
    sim.step(120)
    return [receivers[name][0] for name in fields]


def apart(one, other):
    return np.abs(one - other).max() / np.abs(one).max()


#: 120 steps, each of which rounds sums of some hundred products
ROOM = 1e-10


@pytest.mark.parametrize(("place", "make"), [(ROCK, solid_and_fluid), (VERTEX, mesh_with_vertex)])
def test_a_force_and_a_displacement_change_places(place, make):
    (there,) = traces(unda.PointForce(place, RICKER, (1, 0, 0)), DEEP, ["uz"], make)
    (back,) = traces(unda.PointForce(DEEP, RICKER, (0, 0, 1)), place, ["ux"], make)
    assert apart(there, back) <= ROOM


def test_pressure_of_a_force_is_the_displacement_of_a_volume():
    """p at F of a force f at A is -u at A of a volume Q = f at F, in steps too: both are A(z)^-1."""
    (pressure,) = traces(unda.PointForce(ROCK, RICKER, (1, 0, 0)), WATER, ["pressure"])
    (displacement,) = traces(unda.VolumeInjection(WATER, RICKER.derivative), ROCK, ["ux"])
    assert apart(pressure, -displacement) <= ROOM
    assert apart(pressure, displacement) > 1  # and not the other sign


def test_forces_in_a_fluid_change_places_and_push_the_solid():
    """To the solid up to O(dt^2): its force acts at once, and of the fluid's integral steps take differences.

    The second difference of F is f (1 - (omega dt)^2/12): four times that at 2.5 times the frequency of f.
    """
    other = (0.66, 0.29, 0.83)
    (there,) = traces(unda.PointForce(WATER, RICKER, (1, 0, 0)), other, ["uz"])
    (back,) = traces(unda.PointForce(other, RICKER, (0, 0, 1)), WATER, ["ux"])
    assert apart(there, back) <= ROOM
    (there,) = traces(unda.PointForce(WATER, RICKER, (1, 0, 0)), ROCK, ["uz"])
    (back,) = traces(unda.PointForce(ROCK, RICKER, (0, 0, 1)), WATER, ["ux"])
    dt = unda.SEM(*solid_and_fluid(), degree=3, boundary=SIDES).dt
    assert apart(there, back) <= (2 * np.pi * 2.5 * 1.5 * dt) ** 2 / 12 * 4


INTERFACE = (0.3, 0.37, 0.5)  # inside a face between two cells of one size: half of a force acts in each


def flat(n=4):
    """Fluid over solid, with a level interface."""
    return solid_and_fluid((n, n, n), perturb=0.0)


def test_a_force_on_an_interface_is_the_mean_of_those_beside_it(tmp_path):
    """As any source on a face. 1e-9 aside gradients of basis functions differ by 1e-9 x 2 N^2/h = 7e-8.

    The normal displacement is continuous, so that a normal force is the same on both sides but for the error
    of the mesh; along the interface solid and fluid move apart.
    """
    fields, direction = ["ux", "uz", "pressure"], (1.0, 0.4, -0.7)

    def at(height, direction=direction):
        place = (*INTERFACE[:2], INTERFACE[2] + height)
        return np.stack(traces(unda.PointForce(place, RICKER, direction), DEEP, fields, flat))

    below, above = at(-1e-9), at(1e-9)
    assert apart(at(0.0), (below + above) / 2) <= 1e-6
    assert apart(at(0.0), below) > 0.1
    upwards = [at(height, (0, 0, 1)) for height in (-1e-9, 1e-9)]
    assert apart(*upwards) <= 0.1 < apart(below, above)
    sim = unda.SEM(*flat(), degree=2)
    sim.add_source([unda.PointForce(place, RICKER, direction) for place in (INTERFACE, ROCK, WATER)])
    sim.save(tmp_path / "state.h5")
    again = unda.load(tmp_path / "state.h5")
    for one in (sim, again):
        assert [source.position for source in one._solver.whole_sources()] == [INTERFACE, ROCK, WATER]
        one.step(40)
    assert np.array_equal(sim.get("ux"), again.get("ux")) and sim.get("ux").any()
    with pytest.raises(unda.ArgumentError, match=r"in a fluid .* or on one, is a plain callable"):
        unda.SEM(*flat(), degree=2).add_source(unda.PointForce(INTERFACE, lambda t: RICKER(t), direction))


def test_the_strain_of_a_force_is_the_displacement_of_a_moment():
    rho, vp, vs = 1.3, 2.0, 1.1
    mu = rho * vs**2
    lame = rho * vp**2 - 2 * mu
    (displacement,) = traces(unda.MomentTensor(ROCK, RICKER, np.diag([0, 1.0, 0])), DEEP, ["ux"])
    sxx, syy, szz = traces(unda.PointForce(DEEP, RICKER, (1, 0, 0)), ROCK, ["sxx", "syy", "szz"])
    strain = (syy - lame * (sxx + syy + szz) / (3 * lame + 2 * mu)) / (2 * mu)
    assert apart(displacement, strain) <= ROOM


def test_an_isotropic_moment_in_a_fluid_is_a_volume():
    bulk = 1.0 * 1.5**2
    (moment,) = traces(unda.MomentTensor(WATER, RICKER, np.eye(3) * bulk), ROCK, ["uz"])
    (volume,) = traces(unda.VolumeInjection(WATER, RICKER.derivative), ROCK, ["uz"])
    assert apart(moment, volume) <= ROOM


SIZE = 2.2


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("medium", "source", "fields"),
    [
        (
            unda.Acoustic(rho=1.3, c=1.0),
            lambda at: unda.VolumeInjection(at, unda.ricker(1.0)),
            ["p", "vx", "vy"],
        ),
        (
            unda.Elastic(rho=1.3, vp=1.7, vs=1.0),
            lambda at: unda.MomentTensor(
                at, unda.ricker(1.0).integral, [[1, 0.5, 0], [0.5, -1, 0.2], [0, 0.2, 0.3]]
            ),
            ["vx", "vy", "vz", "sxx"],
        ),
        (
            unda.Elastic(rho=1.3, vp=1.0, vs=0.0),
            lambda at: unda.PointForce(at, unda.ricker(1.0), (2, -1, 1)),
            ["sxx", "vx", "vy", "vz"],
        ),
    ],
    ids=["volume", "moment", "force in a fluid"],
)
def test_a_point_source_has_its_amplitude(medium, source, fields):
    """Eight nodes in the shortest wavelength, at two to three cells from the source, before sides answer."""
    mesh = unda.box_mesh((0, 0, 0), (SIZE,) * 3, (11,) * 3, shape="hex")
    sim = unda.SEM(mesh, medium, degree=4, cfl=0.7)
    one = source((SIZE / 2 + 0.03, SIZE / 2 - 0.02, SIZE / 2 + 0.01))
    sim.add_source(one)
    receivers = sim.add_receivers([(SIZE / 2 + 0.6, SIZE / 2 + 0.1, SIZE / 2)], fields=fields)
    sim.step(int(1.75 / sim.dt))
    assert receivers.misfit(unda.exact.point_source(medium, one)).max() <= 0.01


def test_a_force_on_a_free_surface_makes_the_waves_of_lamb():
    medium, cell = unda.Elastic(rho=1.3, vp=1.8, vs=1.0), 1 / (2.5 * 1.5) / 2  # eight nodes again
    mesh = unda.box_mesh((-6 * cell, -6 * cell, -6 * cell), (6 * cell, 6 * cell, 0), (12, 12, 6), shape="hex")
    push = unda.PointForce((0, 0, 0), RICKER, (0.3, 0, -1))
    sim = unda.SEM(mesh, medium, degree=4, boundary={"zmax": "free", "*": "absorbing"}, cfl=0.6)
    sim.add_source(push)
    places = [(2.5 * cell, 0.5 * cell, 0), (2.5 * cell, 0.5 * cell, -1.5 * cell)]
    receivers = sim.add_receivers(places, fields=["vx", "vy", "vz"])
    sim.run(until=2 / 1.5 + 2.5 * cell)
    assert receivers.misfit(unda.exact.lamb_problem(medium, push)).max() <= 0.01


def test_receivers_record_what_nodes_have():
    """At nodes inside cells, where no other cell has a value; sample 0 is there before the first step."""
    mesh, medium = solid_and_fluid(per="node", degree=3)
    sim = start(unda.SEM(mesh, medium, degree=3, dtype="float64"))
    names = list(sim._known.units)
    inside = [21, 22, 37, 42]  # of 4 x 4 x 4 nodes
    points = sim.coordinates[:, inside].reshape(-1, 3)
    receivers = sim.add_receivers(points, fields=names)
    sim.step(3)
    for name in names:
        nodes = sim.get(name)[:, inside].ravel()
        found = receivers[name]
        assert np.abs(found[:, -1] - nodes).max() <= 1e-10 * np.abs(sim.get(name)).max(initial=1e-300)
        assert found[:, 0].any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_in_one_call_have_the_bits_of_single_ones(dtype):
    """Most nodes begin a step where the last one ends, but for those that receivers read in between."""
    mesh, medium = solid_and_fluid((3, 3, 4))
    runs = []
    for steps in ((9,), (1,) * 9):
        sim = start(unda.SEM(mesh, medium, degree=3, dtype=dtype, device="cpu", boundary=SIDES))
        sim.add_source(unda.PointForce(ROCK, RICKER, (1, 0, 0)))
        often = sim.add_receivers([ROCK, WATER], fields=["ux", "vx", "sxx", "pressure", "ax"])
        seldom = sim.add_receivers([DEEP], fields=["vx", "pressure"], every=3)
        for count in steps:
            sim.step(count)
        traces = [group[name] for group in (often, seldom) for name in group.fields]
        runs.append([x.tobytes() for x in traces + [sim.get(name) for name in sim.fields]])
        assert all(x.any() for x in traces[:3])
    assert runs[0] == runs[1]


def test_divergence_and_curl_are_those_of_the_velocity():
    mesh, _ = solid_and_fluid()
    sim = unda.SEM(
        mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2, boundary={"*": "free"}, dtype="float64"
    )
    sim.set(vx=lambda x, y, z: 2 * x + 3 * y, vy=lambda x, y, z: 5 * z - x, vz=lambda x, y, z: 7 * x + z)
    found = sim.sample([(0.31, 0.42, 0.53)], ["divergence", "curl_x", "curl_y", "curl_z"])
    assert [float(one[0]) for one in found.values()] == pytest.approx([3.0, -5.0, -7.0, -4.0], rel=1e-11)


PULSE = unda.gaussian(1.1, t0=1.5)  # its integral from 0 on is that from -infinity: before, it is 2e-12


def volume_traces(f, chunks, t=0.0, again=False):
    mesh, medium = solid_and_fluid()
    sim = unda.SEM(mesh, medium, degree=3, boundary=SIDES, dtype="float64")
    sim.add_source([unda.VolumeInjection(WATER, f), unda.VolumeInjection(ROCK, f)])
    if again:  # what was injected before the clock was set is forgotten
        sim.run(steps=7)
    sim.set(t=t)
    receivers = sim.add_receivers([DEEP], fields=["ux", "pressure"])
    for steps in chunks:
        sim.run(steps=steps)
    return np.stack([receivers["ux"][0], receivers["pressure"][0]])


def test_a_plain_callable_injects_its_integral():
    """The integral of each step is exact to 1e-12 of f, the time function's to rounding."""
    steps = [round(2.0 / unda.SEM(*solid_and_fluid(), degree=3).dt)]
    known = volume_traces(PULSE, steps)
    found = volume_traces(lambda t: PULSE(t), steps)
    assert max(apart(one, other) for one, other in zip(known, found, strict=True)) <= 1e-9
    late = volume_traces(lambda t: PULSE(t - 1e-6), steps)
    assert min(apart(one, other) for one, other in zip(known, late, strict=True)) > 1e-7
    parts = volume_traces(lambda t: PULSE(t), [1, 2, steps[0] - 3])
    assert np.array_equal(found, parts)
    assert np.array_equal(found, volume_traces(lambda t: PULSE(t), steps, again=True))


def test_the_volume_of_a_function_with_a_jump_is_its_integral():
    """40 halvings of a step leave 1e-12 of the jump; a call that is repeated counts once."""
    volume, t = InjectedVolume(lambda t: np.where(t > 0.5123, 2.0, -1.0)), np.linspace(0.0, 1.0, 11)
    known = np.where(t > 0.5123, 2.0 * (t - 0.5123) - 0.5123, -t)
    for part in (slice(0, 4), slice(4, 9), slice(4, 6), slice(6, 11)):
        assert np.abs(volume(t[part]) - known[part]).max() <= 1e-12
    volume.begin()
    assert volume(np.array([0.0, 0.2])) == pytest.approx([0.0, -0.2], abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("method", [unda.SEM, unda.DG])
def test_a_line_of_explosions_makes_the_waves_of_garvin(method):
    """Eight nodes in the shortest wavelength, 1 m / 2.5: 1 %, as of other sources at that resolution.

    Of a box one cell wide, and periodic across, waves that vary across it have lengths of 0.2 m and decay as
    exp(-2 pi r / 0.2 m): 2e-7 at half a metre. Sides and bottom are so far that what they return is too late.
    """
    medium, source = unda.Elastic(rho=1.3, vp=1.8, vs=1.0), (0.07, 0.11, -0.53)
    places, end, width = [(0.9, 0.05, 0.0), (-0.5, 0.1, -0.2)], 3.4, 0.2
    reach = 1.8 * (end - 0.6) / 2  # before 0.6 s the pulse is 1e-3 of its peak
    lower, upper = (-reach - 0.2, 0.0, -reach - 0.3), (reach + 0.5, width, 0.0)
    cells = [round((b - a) / width) for a, b in zip(lower, upper, strict=True)]
    mesh = unda.box_mesh(lower, upper, cells, shape="hex", periodic=(False, True, False))
    sim = method(mesh, medium, degree=4, boundary={"zmax": "free", "*": "absorbing"})
    sim.add_source(unda.VolumeInjection(source, width * unda.ricker(1.0)))
    receivers = sim.add_receivers(places, fields=["vx", "vz"])
    sim.run(until=end)
    solution = unda.exact.garvin_problem(medium, unda.VolumeInjection(source, unda.ricker(1.0)))
    assert receivers.misfit(solution).max() <= 0.01
    deep = unda.exact.garvin_problem(medium, unda.VolumeInjection((0.07, 0.11, -0.56), unda.ricker(1.0)))
    assert receivers.misfit(deep).max() > 0.01


def test_many_sources_have_the_same_bits_on_any_threads_and_add_up():
    """More than a thousand, which threads list side by side; each node has many, in the order of sources."""
    mesh, medium = solid_and_fluid((2, 2, 2))
    rng = np.random.default_rng(2)
    places = rng.uniform(0.1, 0.9, (1100, 3))
    sources = [unda.VolumeInjection(one, unda.ricker(1.5, t0=0.01 * rng.random())) for one in places]

    def after(given, threads=1):
        sim = unda.SEM(
            mesh, medium, degree=2, boundary={"*": "free"}, dtype="float64", dt=0.01, threads=threads
        )
        sim.add_source(given)
        sim.step(3)
        return [sim.get(name) for name in ("uz", "chi")]

    one = after(sources)
    for threads in (2, 3):
        assert [a.tobytes() for a in one] == [b.tobytes() for b in after(sources, threads)]
    for whole, a, b in zip(one, after(sources[:700]), after(sources[700:]), strict=True):
        assert apart(whole, a + b) < 1e-12 < apart(whole, a + 1.001 * b)


LISTED = r"""
import re, sys
import numpy as np, unda

def peak():  # of this process: ru_maxrss begins with what its parent has
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024

mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
sim = unda.SEM(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=4, dtype="float32", device="cpu")
places = np.random.default_rng(0).uniform(0.05, 0.95, (30_000, 3))
sim.add_source([unda.PointForce(tuple(one), unda.ricker(5.0), eval(sys.argv[1])) for one in places])
before = peak()
sim.step(1)
print(peak() - before)
"""


@pytest.mark.slow
def test_forces_along_one_axis_are_listed_along_it_alone():
    """8 bytes for each of a cell's 125 nodes; oblique ones three times as many.

    Beside the terms: each source's sites and the amplitudes of a step, less than 200 bytes, and 2 MB.
    """
    # what `make test` keeps of freed memory would be taken for the terms
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    environment = own | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    bound, taken = 30_000 * (125 * 8 + 200) + 2e6, []
    for direction in ("(0, 0, 1)", "(1, 2, 3)"):
        command = [sys.executable, "-c", LISTED, direction]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        taken.append(float(done.stdout))
    assert taken[0] <= bound < taken[1]
