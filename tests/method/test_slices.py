"""Slices are where they say: extent and values of pictures of a plane, and planes beside the model.

Not here: colours, films, models under waves (test_movie.py).
"""

import matplotlib
import numpy as np
import pytest
import unda

matplotlib.use("Agg")
ACOUSTIC = unda.Acoustic(rho=1.0, c=1.0)


@pytest.mark.parametrize("axis", "xyz")
def test_a_slice_of_a_mesh_away_from_the_origin_has_its_place_and_values(axis):
    mesh = unda.box_mesh((2, -1, 30), (4, 0, 33), (2, 1, 2))
    sim = unda.DG(mesh, ACOUSTIC, degree=2, dtype="float64")
    sim.set(p=lambda x, y, z: x + 10 * y + 100 * z)
    at = {"x": 3.3, "y": -0.4, "z": 31.7}[axis]
    image = sim.plot_slice("p", **{axis: at}, num=5).images[0]
    i = "xyz".index(axis)
    across, up = (j for j in range(3) if j != i)
    low, high = np.array(mesh.lower), np.array(mesh.upper)
    assert image.get_extent() == pytest.approx([low[across], high[across], low[up], high[up]])
    place = [0.0] * 3
    place[i] = at
    place[across], place[up] = (low[j] + (high[j] - low[j]) * (np.arange(5) + 0.5) / 5 for j in (across, up))
    place[up] = place[up][:, None]
    expected = place[0] + 10 * place[1] + 100 * place[2]
    assert np.allclose(image.get_array(), expected, rtol=0, atol=1e-9)


def test_a_plane_is_refused_from_half_a_cell_beside_a_grid_on():
    sim = unda.FD(unda.Grid((5, 6, 7), 10.0, origin=(100.0, 0.0, -60.0)), ACOUSTIC)
    for axis, inside, outside in (("x", (95.1, 144.9), (94.9, 145.1)), ("z", (-64.9, 4.9), (-65.1, 5.1))):
        for value in inside:
            sim.plot_slice("p", **{axis: value})
        for value in outside:
            with pytest.raises(unda.ArgumentError, match=f"{axis} is {value}"):
                sim.plot_slice("p", **{axis: value})
