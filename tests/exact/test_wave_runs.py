"""The helpers of wave_runs.py: modes of layered boxes solve the equations, layers are flat."""

import numpy as np
import pytest
from elastic_waves import BRINE, HARD, ROCK, SEA, motion_and_traction, off_by_one_per_cent
from exact_helpers import KH, TOLERANCE, TWIN, elastic_residual
from wave_runs import CUBE, LayeredMode, layered

PAIRS = {
    "solids": (ROCK, HARD, "symmetry"),
    "a fluid above": (ROCK, SEA, "symmetry"),
    "a sea": (ROCK, SEA, "free"),
    "a fluid below": (SEA, ROCK, "symmetry"),
    "fluids": (SEA, BRINE, "symmetry"),
}


class OneSide:
    """A layer as `elastic_residual` takes it."""

    def __init__(self, mode, side):
        self.medium, self.fields, self._mode = mode.media[side], mode.fields, mode

    def __call__(self, *place):
        return self._mode(*place)


@pytest.mark.each_value
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("pair", PAIRS)
def test_modes_of_layered_boxes_solve_the_equations_and_conditions(pair, order):
    one, two, top = PAIRS[pair]
    mode = LayeredMode(one, two, order=order, top=top)
    rng = np.random.default_rng(order)
    h = KH / (mode.omega / min(medium.scalar()["vs"] or medium.scalar()["vp"] for medium in (one, two)))
    t = rng.uniform(0, 3, 20)
    for side, medium in enumerate((one, two)):
        points = rng.uniform(0, 1, (20, 3))
        points[:, 2] = (
            0.5 * side + 5 * h + (0.5 - 10 * h) * points[:, 2] if 10 * h < 0.5 else 0.25 + 0.5 * side
        )
        h = min(h, 0.05)
        assert elastic_residual(OneSide(mode, side), points, t, h, medium) < TOLERANCE
        wrong = off_by_one_per_cent(medium, "vp" if medium.scalar()["vs"] == 0 else "vs")
        assert elastic_residual(OneSide(mode, side), points, t, h, wrong) > TWIN
    place = rng.uniform(0, 1, (2, 20))
    basis = np.eye(3)[[2, 0, 1]]
    before, behind = (motion_and_traction(mode(*place, z, t), basis) for z in (0.5 - 1e-13, 0.5 + 1e-13))
    welded = one.scalar()["vs"] > 0 and two.scalar()["vs"] > 0
    sizes = [np.abs(part).max() for part in (before[0][0], before[1][0], behind[0][1])]
    assert np.abs(before[0][0] - behind[0][0]).max() < 1e-9 * max(sizes)
    assert np.abs(np.subtract(before[1], behind[1])).max() < 1e-9 * max(sizes)
    assert (np.abs(np.subtract(before[0], behind[0])).max() < 1e-9 * max(sizes)) == welded
    assert welded or np.abs(before[1][1:]).max() < 1e-9 * max(sizes)
    assert sizes[0] > 1e-3
    for axis in range(3):  # the walls
        for wall in (0, 1):
            at = [*rng.uniform(0, 1, (2, 20))]
            at.insert(axis, np.full(20, float(wall)))
            motion, traction = motion_and_traction(mode(*at, t), np.roll(np.eye(3), -axis, axis=0))
            free = (axis, wall, top) == (2, 1, "free")
            gone = traction if free else [motion[0], *traction[1:]]
            assert np.abs(gone).max() < 1e-12 * max(sizes)
            assert np.abs(motion[0] if free else traction[0]).max() > 1e-3


def test_layers_are_flat_where_they_meet_and_perturbed_elsewhere():
    mesh = layered(4, perturb=0.15)
    z = mesh.vertices[:, 2]
    below = mesh.tags == 0
    assert z[mesh.cells[below]].max() == 0.5 == z[mesh.cells[~below]].min()
    assert mesh.volumes[below].sum() == pytest.approx(0.5, rel=1e-12)
    assert len(np.unique(np.round(z, 6))) > 20
    assert mesh.volume == pytest.approx(np.prod(np.subtract(*CUBE[::-1])), rel=1e-12)
