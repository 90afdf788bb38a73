"""Traces in a layered medium and in rock under a sea are those of DG on the same hexahedra."""

import numpy as np
import pytest
import unda

SPEEDS = {"soil": (1.0, 1.6, 0.9), "rock": (1.5, 2.2, 1.3)}
RICKER = unda.ricker(1.2)


@pytest.mark.slow
def test_traces_of_a_moment_tensor_under_a_layer_are_those_of_dg():
    """Eight nodes in the shortest wavelength, 0.9 / 3 m, of cells with four of their own: both err by 1 %."""
    mesh = unda.mapped_mesh(
        *np.meshgrid(*[np.linspace(0, 1.05, 8)] * 2, np.linspace(-0.75, 0, 6), indexing="ij"),
        tags=lambda x, y, z: z < -0.3, tag_names={"soil": 0, "rock": 1},
    )  # fmt: skip
    medium = unda.Elastic(**{
        name: {tag: values[i] for tag, values in SPEEDS.items()} for i, name in enumerate(("rho", "vp", "vs"))
    })  # fmt: skip
    source = unda.MomentTensor(
        (0.47, 0.52, -0.47), RICKER.integral, [[1, 0.3, 0], [0.3, -0.5, 0.2], [0, 0.2, 0.4]]
    )
    traces = []
    for make, options in ((unda.SEM, {"cfl": 0.6}), (unda.DG, {"device": "cpu"})):
        sim = make(
            mesh, medium, degree=4, boundary={"zmax": "free", "*": "absorbing"}, sample_dt=0.01, **options
        )
        sim.add_source(source)
        every = round(0.01 / sim.dt)
        receivers = sim.add_receivers([(0.8, 0.7, -0.05)], fields=["vx", "vy", "vz"], every=every)
        sim.run(until=1.3)
        traces.append(np.stack([receivers[name][0] for name in ("vx", "vy", "vz")]))
    apart = traces[0][:, : traces[1].shape[1]] - traces[1][:, : traces[0].shape[1]]
    assert np.sqrt((apart**2).sum() / (traces[1] ** 2).sum()) <= 0.02


def traces_over_rock(method, height, direction, **options):
    """Return the velocity of the rock, after a force at a height above the bottom of the sea."""
    mesh = unda.mapped_mesh(
        *np.meshgrid(*[np.linspace(0, 1.05, 8)] * 2, np.linspace(-0.75, 0, 6), indexing="ij"),
        tags=lambda x, y, z: z < -0.3, tag_names={"sea": 0, "rock": 1},
    )  # fmt: skip
    medium = unda.Elastic(
        rho={"sea": 1.0, "rock": 1.3}, vp={"sea": 1.3, "rock": 2.0}, vs={"sea": 0.0, "rock": 1.0}
    )
    with method(mesh, medium, degree=4, sample_dt=0.01, device="cpu", **options) as sim:
        sim.add_source(unda.PointForce((0.37, 0.38, -0.3 + height), unda.ricker(1.1), direction))
        fields = ["vx", "vy", "vz"]
        receivers = sim.add_receivers([(0.8, 0.7, -0.35)], fields=fields, every=round(0.01 / sim.dt))
        sim.run(until=1.4)
        return np.stack([receivers[name][0] for name in fields])


@pytest.mark.first(1)
@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 0, 1)])
def test_a_force_on_the_bottom_of_the_sea_makes_the_waves_of_dg(direction):
    """Eight nodes in the shortest wavelength: 1 % of each. A force along the bottom acts on both sides."""
    known = traces_over_rock(unda.DG, 0.0, direction)

    def misfit(height):
        found = traces_over_rock(unda.SEM, height, direction, cfl=0.6)
        return np.sqrt(((found - known) ** 2).sum() / (known**2).sum())

    assert misfit(0.0) <= 0.02
    for height in (-1e-6, 1e-6):
        # a normal force is the same on both sides
        assert (misfit(height) <= 0.02) == (direction == (0, 0, 1))
