"""Traces in a layered medium with a free surface are those of DG on the same hexahedra."""

import numpy as np
import unda

SPEEDS = {"soil": (1.0, 1.6, 0.9), "rock": (1.5, 2.2, 1.3)}
RICKER = unda.ricker(1.2)


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
