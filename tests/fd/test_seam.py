"""A periodic grid has no seam: points may stand between its last node and the first one's next image."""

import numpy as np
import pytest
import unda

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # coarse grids, whose bits count

NUM, H = 12, 0.25
PERIODIC = {"xmin": "periodic", "xmax": "periodic", "*": "free"}
WAVE = unda.gaussian(0.4)
WATER = unda.Acoustic(rho=1.0, c=1.0)
CASES = {
    "scalar": (WATER, "scalar", ["p"], lambda x: unda.Array([x], WAVE)),
    "acoustic": (WATER, "staggered", ["p", "vx", "ux"], lambda x: unda.Array([x], WAVE)),
    "elastic": (
        unda.Elastic(rho=1.0, vp=1.0, vs=0.6), "staggered", ["vx", "sxy", "exx"],
        lambda x: unda.MomentTensor(x, WAVE, moment=[[1, 0.2, 0], [0.2, 1, 0.4], [0, 0.4, 2]]),
    ),
    "maxwell": (
        unda.Maxwell(eps=1.0, mu=1.0), "staggered", ["ex", "hz"],
        lambda x: unda.CurrentDipole(x, WAVE, (1, 1, 0)),
    ),
}  # fmt: skip


def traces(case, shift, boundary=None, between=0.0):
    """Return the traces of a source and receivers that are moved along x by whole nodes."""
    medium, scheme, fields, source = CASES[case]
    sides = boundary or PERIODIC | ({"*": "pec"} if case == "maxwell" else {})
    grid = unda.Grid((NUM, 8, 8), H)
    with unda.FD(grid, medium, scheme=scheme, boundary=sides, fmax=1.0, dtype="float64", device="cpu") as sim:
        points = np.array([[0.1 + between, 0.7, 0.8], [0.15, 1.0, 1.1], [0.55, 0.6, 0.3]])
        points[:, 0] = (points[:, 0] + shift * H) % (NUM * H)
        sim.add_source(source(points[0]))
        rec = sim.add_receivers(points[1:], fields)
        sim.run(steps=12, progress=False)
        return {name: rec[name] for name in fields}


@pytest.mark.parametrize("case", CASES)
def test_points_in_the_last_cell_of_a_period_are_as_those_in_any_other(case):
    # The same operations at other nodes: what rounds differently are the points' places, by 2^-52 of a period
    # of NUM cells, and sums of 8^3 weights: some hundred 2^-53 of the largest value.
    here, there, other = traces(case, 0), traces(case, NUM - 1), traces(case, NUM - 1, between=0.02)
    for name, values in here.items():
        largest = np.abs(values).max()
        assert np.abs(there[name] - values).max() <= 512 * 2.0**-53 * largest
        assert np.abs(other[name] - values).max() > 1e-3 * largest  # twin: a source elsewhere


def test_points_beyond_a_side_that_is_not_periodic_and_beyond_a_period_are_refused():
    with pytest.raises(unda.ArgumentError, match=r"outside the grid.* to \(2.75, 1.75, 1.75\) m"):
        traces("scalar", NUM - 1, {"*": "free"})
    with unda.FD(unda.Grid((NUM, 8, 8), H), CASES["scalar"][0], boundary=PERIODIC, device="cpu") as sim:
        sim.add_receivers([(NUM * H, 0, 0)])
        assert sim.snap([(NUM * H - 0.1, 1.0)]).tolist() == [[NUM * H - 0.1, 1.0, 7 * H]]
        for point in ((NUM * H + 0.01, 0, 0), (0, 8 * H - 0.01, 0)):
            with pytest.raises(unda.ArgumentError, match=r"outside the grid.* to \(3.0, 1.75, 1.75\) m"):
                sim.add_receivers([point])
        with pytest.raises(unda.ArgumentError, match="beside the grid"):
            sim.snap([(NUM * H + 0.01, 1.0)])


def test_receivers_a_hair_beyond_a_wall_are_in_the_fluid_beside_it():
    vs = np.full((NUM, 8, 8), 0.6)
    vs[-1:] = 0.0
    rock, grid = unda.Elastic(rho=1.0, vp=1.0, vs=vs), unda.Grid(vs.shape, H)
    for inwards in (-1e-8, 1.5 * H):
        with unda.FD(grid, rock, boundary={"*": "free"}, scheme="staggered", device="cpu") as sim:
            sim.add_source(CASES["elastic"][3]((1.0, 1.0, 1.0)))
            sim.add_receivers([((NUM - 1) * H - inwards, 1.0, 1.0)], ["syz"])
            silent = any("in a fluid" in warning for warning in sim.check().warnings)
            assert silent == (inwards < 0)  # twin: one beside a solid node
