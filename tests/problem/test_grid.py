"""Promises about grids: where nodes are, that grids cost nothing, and what media are on them.

Not here: models from files (test_model_file.py).
"""

import json
import pickle
import tracemalloc

import numpy as np
import pytest
import unda
from unda.problem.grid import Block

GRID = unda.Grid((5, 4, 3), (10.0, 20.0, 5.0), origin=(100.0, -40.0, -10.0))
RHO = np.random.default_rng(0).uniform(1000.0, 2000.0, GRID.shape)


def nodes(grid):
    """Coordinates of all nodes (num_node, 3) in C order, the plain way."""
    return np.stack(np.meshgrid(*grid.axes(), indexing="ij"), axis=-1).reshape(-1, 3)


# ---- the grid itself


def test_the_first_node_is_the_origin_and_the_last_is_n_minus_1_spacings_on():
    assert GRID.lower == GRID.origin == (100.0, -40.0, -10.0)
    assert GRID.upper == (140.0, 20.0, 0.0)
    assert GRID.size == (40.0, 60.0, 10.0)
    assert GRID.num_node == 60
    for axis, places in enumerate(GRID.axes()):
        assert places.shape == (GRID.shape[axis],)
        assert places[0] == GRID.lower[axis] and places[-1] == GRID.upper[axis]


def test_staggered_places_are_shifted_by_their_part_of_a_cell():
    plain, shifted = GRID.axes(), GRID.axes((0.5, 0.0, -0.5))
    np.testing.assert_array_equal(shifted[0], plain[0] + 5.0)
    np.testing.assert_array_equal(shifted[1], plain[1])
    np.testing.assert_array_equal(shifted[2], plain[2] - 2.5)


def test_a_number_is_the_spacing_of_all_axes():
    for one in (10, 10.0, np.float32(10.0), np.array(10.0)):
        assert unda.Grid((2, 2, 2), one) == unda.Grid((2, 2, 2), (10, 10, 10))
    assert unda.Grid((2, 2, 2), 10.0) != unda.Grid((2, 2, 2), (10, 10, 11))


def test_equal_grids_are_equal_keys_and_others_are_not():
    same = unda.Grid(np.array([5, 4, 3]), [10, 20, 5], origin=np.array([100.0, -40.0, -10.0]))
    assert same == GRID and hash(same) == hash(GRID)
    for other in (
        unda.Grid((5, 4, 2), GRID.spacing, origin=GRID.origin),
        unda.Grid(GRID.shape, (10, 20, 5.1), origin=GRID.origin),
        unda.Grid(GRID.shape, GRID.spacing),
        "a grid",
    ):
        assert other != GRID


def test_pickle_configuration_and_repr_give_the_same_grid():
    odd = unda.Grid((7, 1, 2**32), (1 / 3, 0.1, 12.5), origin=(0.1 + 0.2, -1 / 7, 3.0))
    for grid in (GRID, odd):
        assert pickle.loads(pickle.dumps(grid)) == grid
        assert unda.Grid(**json.loads(json.dumps(grid.to_config()))) == grid
        assert eval(repr(grid)) == grid


@pytest.mark.parametrize("name", ["shape", "spacing", "origin", "num_node", "upper"])
def test_a_grid_never_changes(name):
    with pytest.raises(AttributeError):
        setattr(GRID, name, (1, 1, 1))


def test_a_grid_of_10_to_the_18_nodes_costs_nothing_and_counts_them_all():
    tracemalloc.start()
    grid = unda.Grid((2**20, 2**20, 2**20), 1.0)
    inside = grid.contains([[2**20 - 1.0, 0.0, 5.5], [2.0**20, 0.0, 0.0]])
    block = next(grid.blocks(8))
    far = Block(grid, grid.num_node - 2, grid.num_node)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert grid.num_node == 2**60
    assert inside.tolist() == [True, False]
    assert block.centroids[-1].tolist() == [0.0, 0.0, 7.0]
    assert far.centroids[-1].tolist() == [2.0**20 - 1] * 3
    assert peak < 1e6


def test_locate_finds_nodes_at_their_indices_and_what_is_between():
    index = GRID.locate(nodes(GRID))
    np.testing.assert_array_equal(index, np.argwhere(np.ones(GRID.shape)))
    np.testing.assert_allclose(GRID.locate([[104.0, -45.0, 2.5]]), [[0.4, -0.25, 2.5]], rtol=1e-15)


def test_contains_is_true_between_the_outermost_nodes_and_false_a_little_outside():
    assert GRID.contains(nodes(GRID)).all()
    for axis in range(3):
        for side, sign in ((GRID.lower, -1.0), (GRID.upper, 1.0)):
            point = np.array([side, side])
            point[0, axis] += sign * 1e-7 * GRID.spacing[axis]  # rounding
            point[1, axis] += sign * 1e-3 * GRID.spacing[axis]
            assert GRID.contains(point).tolist() == [True, False]


def test_points_that_are_none_are_refused():
    for points, message in (([1.0, 2.0, 3.0], "points has shape"), ([[np.nan, 0, 0]], "points")):
        for method in (GRID.locate, GRID.contains):
            with pytest.raises(unda.ArgumentError, match=message):
                method(points)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": 5}, "shape is 5; expected three integers"),
        ({"shape": "555"}, "shape is '555'; expected three integers"),
        ({"shape": (5, 5)}, r"shape is \(5, 5\); expected three integers"),
        ({"shape": (5, 0, 5)}, r"shape\[1\] is 0; expected an integer >= 1"),
        ({"shape": (5, 5, 2.5)}, r"shape\[2\] is 2.5; expected an integer"),
        ({"shape": (2**21,) * 3}, r"nodes; expected less than 2\^63"),
        ({"spacing": 0.0}, "spacing is 0.0; expected a finite positive number"),
        ({"spacing": "ten"}, r"spacing is 'ten'; expected a finite positive number \[m\], not a string"),
        ({"spacing": (1, 1)}, "spacing has 2 components"),
        ({"spacing": (1, -2, 1)}, r"spacing\[1\] is -2.0; expected a finite positive number"),
        ({"spacing": (1, 1, np.nan)}, r"spacing\[2\] is nan"),
        ({"spacing": 1e308}, "axis 0 goes from 0.0 to inf m; expected finite"),
        ({"origin": (0, 0)}, "origin has 2 components"),
        ({"origin": (0, np.inf, 0)}, r"origin\[1\] is inf"),
        ({"origin": (0, 4e6, 0), "spacing": 1e-5}, r"spacing\[1\] is 1e-05 m .* lost in rounding"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(change, message):
    arguments = {"shape": (5, 5, 5), "spacing": 1.0, "origin": (0, 4e6, 0)}
    assert isinstance(unda.Grid(**arguments), unda.Grid)
    arguments["origin"] = (0, 0, 0)
    with pytest.raises(unda.ArgumentError, match=message):
        unda.Grid(**(arguments | change))


def test_a_wrong_keyword_or_a_wrong_offset_is_refused():
    with pytest.raises(TypeError):
        unda.Grid((1, 1, 1), 1.0, (0, 0, 0))
    with pytest.raises(unda.ArgumentError, match="offset has 2 components"):
        GRID.axes((0.5, 0.5))


def test_a_grid_is_no_mesh_for_dg():
    with pytest.raises(unda.ArgumentError, match=r"mesh is unda.Grid\(.*expected a Mesh"):
        unda.DG(GRID, unda.Acoustic(rho=1.0, c=1.0))


# ---- blocks


@pytest.mark.parametrize("num_node", [1, 7, 12, 59, 60, 1000])
def test_blocks_cover_each_node_once_in_the_order_of_arrays(num_node):
    blocks = list(GRID.blocks(num_node))
    assert [block.begin for block in blocks[1:]] == [block.end for block in blocks[:-1]]
    assert (blocks[0].begin, blocks[-1].end) == (0, GRID.num_node)
    assert max(block.num_elem for block in blocks) <= num_node
    np.testing.assert_array_equal(np.concatenate([block.centroids for block in blocks]), nodes(GRID))
    turned = RHO.transpose(2, 0, 1)[::-1].transpose(1, 2, 0)  # not contiguous
    for array in (RHO, turned):
        np.testing.assert_array_equal(
            np.concatenate([block.of(array) for block in blocks]), array.reshape(-1)
        )


def test_a_block_of_no_nodes_is_refused():
    with pytest.raises(unda.ArgumentError, match="num_node is 0; expected an integer >= 1"):
        GRID.blocks(0)


def test_slabs_are_whole_planes_and_others_are_refused():
    medium = unda.Acoustic(rho=RHO, c=lambda x, y, z: x)
    for first, count in ((0, 1), (1, 3), (0, 5), (4, 1)):
        slab = GRID.slab(first, count)
        assert slab.shape == (count, 4, 3) and slab.num_elem == 12 * count
        np.testing.assert_array_equal(medium.on(slab)[:, 0].reshape(slab.shape), RHO[first : first + count])
        np.testing.assert_array_equal(slab.centroids, nodes(GRID)[12 * first : 12 * (first + count)])
    assert Block(GRID, 12, 23).shape == (11,)
    for wrong, message in (
        ((-1,), "first is -1; expected an integer, 0 to 4"),
        ((5,), "first is 5; expected an integer, 0 to 4"),
        ((3, 3), "count is 3; expected an integer, 1 to 2"),
        ((0, 0), "count is 0; expected an integer, 1 to 5"),
        ((1.0,), "first is 1.0; expected an integer"),
    ):
        with pytest.raises(unda.ArgumentError, match=message):
            GRID.slab(*wrong)


# ---- media on a grid


def test_numbers_arrays_and_functions_give_the_same_medium():
    x, y, z = nodes(GRID).T
    c = 1500.0 + 2.0 * x + 3.0 * y - z
    values = unda.Acoustic(rho=RHO, c=lambda x, y, z: 1500.0 + 2.0 * x + 3.0 * y - z).on(GRID)
    np.testing.assert_array_equal(values, np.stack([RHO.reshape(-1), c], axis=1))
    arrays = unda.Acoustic(rho=RHO, c=c.reshape(GRID.shape)).on(GRID)
    np.testing.assert_array_equal(values, arrays)
    wrong = unda.Acoustic(rho=RHO, c=c.reshape(GRID.shape)[:, ::-1]).on(GRID)
    assert not np.array_equal(values, wrong)
    assert unda.Acoustic(rho=1.0, c=2.0).on(GRID).tolist() == [[1.0, 2.0]] * GRID.num_node


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", ">f4"])
def test_values_arrive_bit_for_bit(dtype):
    given = RHO.astype(dtype)
    medium = unda.Acoustic(rho=given, c=1.0)
    np.testing.assert_array_equal(medium.on(GRID)[:, 0], given.astype(np.float64).reshape(-1))


def test_arrays_on_a_grid_are_not_copied_and_are_checked_whenever_they_are_used(monkeypatch):
    monkeypatch.setattr("unda._parallel._MOST", 1)  # each thread looks at a block, on a machine of many cores
    grid = unda.Grid((32, 512, 512), 1.0)  # 32 MiB, of which 1 MiB is looked at at once
    given = np.full(grid.shape, 2000.0, np.float32)
    tracemalloc.start()
    rock = unda.Elastic(rho=given, vp=given[::-1], vs=1000.0)
    glass = unda.Maxwell(eps_r=given, sigma=given)
    texts = repr(rock), repr(glass), rock.to_config(), rock.speed_min(grid), rock.at(5, grid)
    values = glass.on(grid.slab(7))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(texts) == 5 and peak < given.nbytes
    np.testing.assert_allclose(values, [[2000.0 * unda.EPS0, unda.MU0, 2000.0]] * 512**2, rtol=1e-15)
    given[3, 2, 1] = np.nan
    for medium in (rock, glass):
        with pytest.raises(unda.ArgumentError, match=r"(rho|eps)\[3, 2, 1\] = nan"):
            medium.on(grid)
    assert given.flags.writeable


def test_rows_of_different_lengths_and_masked_arrays_are_refused():
    with pytest.raises(unda.ArgumentError, match="rho has rows of different lengths"):
        unda.Acoustic(rho=[[1.0], [1.0, 2.0]], c=1.0)
    masked = np.ma.masked_less(RHO, 1100.0)
    with pytest.raises(unda.ArgumentError, match="rho is a masked array"):
        unda.Acoustic(rho=masked, c=1.0)
    unda.Acoustic(rho=masked.data, c=1.0)


def test_only_an_array_of_one_value_is_homogeneous():
    assert unda.Acoustic(rho=np.full(GRID.shape, 7.0), c=1.0).scalar() == {"rho": 7.0, "c": 1.0}
    with pytest.raises(unda.ArgumentError, match=r"rho has several values, from 1\d+\.\d+ to 19"):
        unda.Acoustic(rho=RHO, c=1.0).scalar()


def test_functions_see_blocks_so_that_memory_stays_bounded():
    grid, seen = unda.Grid((100, 100, 100), 1.0), []

    def c(x, y, z):
        seen.append(len(x))
        return 1500.0 + x + z

    medium = unda.Acoustic(rho=1000.0, c=c)
    assert (medium.speed_min(grid), medium.speed_max(grid)) == (1500.0, 1698.0)
    assert sum(seen) == 2 * grid.num_node and max(seen) <= 2**18 < grid.num_node


def test_one_node_of_the_largest_grid_is_looked_up_without_the_others():
    grid = unda.Grid((2**20, 2**20, 2**20), 1.0)
    medium = unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1.0 + x + 2.0 * y + 3.0 * z)
    assert medium.at(2**60 - 1, grid)["c"] == 1.0 + 6.0 * (2**20 - 1)
    with pytest.raises(unda.ArgumentError, match=r"the grid has nodes 0\.\."):
        medium.at(2**60, grid)
    same = unda.Elastic(rho=1.0, vp=3.0, vs=1.0)
    assert (same.speed_max(grid), same.speed_min(grid)) == (3.0, 1.0)
    assert unda.Acoustic(rho=RHO, c=1.0).at(17)["rho"] == RHO.reshape(-1)[17]
    with pytest.raises(unda.ArgumentError, match=r"values for 0..59"):
        unda.Acoustic(rho=RHO, c=1.0).at(60)


def test_an_array_of_another_shape_is_refused_with_both():
    for wrong in (RHO.transpose(), RHO[:-1]):
        medium = unda.Acoustic(rho=wrong, c=1.0)
        with pytest.raises(unda.ArgumentError) as caught:
            medium.on(GRID)
        assert str(caught.value) == (
            f"rho has shape {wrong.shape}; expected (5, 4, 3), one value a node of the grid"
        )
    with pytest.raises(unda.ArgumentError, match=r"rho has shape \(60,\); expected \(5, 4, 3\)"):
        unda.Acoustic(rho=RHO.reshape(-1), c=1.0).on(GRID)
    with pytest.raises(unda.ArgumentError, match=r"of shape \(20, 3\); expected real numbers"):
        unda.Acoustic(rho=RHO.reshape(20, 3), c=1.0)


def test_an_array_on_a_grid_is_refused_on_a_mesh_and_the_other_way_round():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    with pytest.raises(
        unda.ArgumentError, match=r"rho has shape \(5, 4, 3\); expected \(6,\), one value a cell"
    ):
        unda.Acoustic(rho=RHO, c=1.0).on(mesh)
    with pytest.raises(unda.ArgumentError, match=r"rho is given by tag names; a grid has none"):
        unda.Acoustic(rho={"0": 1.0}, c=1.0).on(GRID)
    assert len(unda.Acoustic(rho={"0": 1.0}, c=1.0).on(mesh)) == 6


def test_a_bad_value_is_named_by_its_indices():
    bad = RHO.copy()
    bad[2, 1, 0] = bad[3, 3, 2] = -1.0
    with pytest.raises(
        unda.ArgumentError, match=r"rho has 2 bad values among 60, the first is rho\[2, 1, 0\] = -1"
    ):
        unda.Acoustic(rho=bad, c=1.0)
    medium = unda.Acoustic(rho=1.0, c=lambda x, y, z: np.where((x == 120.0) & (y == 0.0), np.nan, 1.0))
    with pytest.raises(unda.ArgumentError, match=r"c has 1 bad .* c\[2, 2, 0\] = nan"):
        medium.on(Block(GRID, 30, 31))
    medium.on(Block(GRID, 0, 30))


def test_a_negative_bulk_modulus_is_found_at_once_and_named_by_its_indices():
    vp, vs = np.full(GRID.shape, 3000.0), np.full(GRID.shape, 1500.0, np.float32)
    assert unda.Elastic(rho=2000.0, vp=vp, vs=vs).on(GRID).shape == (60, 3)
    vs[1, 3, 2] = 2900.0
    for fast in (vp, 3000.0):
        with pytest.raises(unda.ArgumentError, match=r"in node \(1, 3, 2\) \(1 of 60\) give a bulk modulus"):
            unda.Elastic(rho=2000.0, vp=fast, vs=vs)
    late = unda.Elastic(rho=2000.0, vp=lambda x, y, z: 3000.0 + 0.0 * x, vs=vs)
    with pytest.raises(unda.ArgumentError, match=r"in node \(1, 3, 2\)"):
        late.on(GRID)
    other = unda.Elastic(rho=2000.0, vp=vp[:-1], vs=vs)  # shapes differ: `on` says so
    with pytest.raises(unda.ArgumentError, match=r"vp has shape \(4, 4, 3\); expected \(5, 4, 3\)"):
        other.on(GRID)


def test_relative_permittivities_may_be_arrays_on_a_grid():
    eps = 1.0 + RHO / 1000.0
    values = unda.Maxwell(eps_r=eps).on(GRID)
    np.testing.assert_allclose(values[:, 0], unda.EPS0 * eps.reshape(-1), rtol=1e-15)


def test_a_medium_on_a_grid_pickles_and_describes_itself():
    medium = unda.Acoustic(rho=RHO, c=1.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(medium)).on(GRID), medium.on(GRID))
    config = json.loads(json.dumps(medium.to_config()))["rho"]
    assert config["shape"] == [5, 4, 3]
    assert config != unda.Acoustic(rho=RHO[::-1], c=1.0).to_config()["rho"]
    assert config == unda.Acoustic(rho=RHO.copy(), c=1.0).to_config()["rho"]
    assert "<60 values, " in repr(medium)


def test_walls_of_an_exact_solution_stand_at_the_outermost_nodes():
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    source = unda.VolumeInjection((120.0, 0.0, -4.0), unda.ricker(50.0))
    solution = unda.exact.point_source(medium, source, walls={"zmax": "free"})
    where = (130.0, 10.0, [-6.0, 0.0], 0.04)
    values = solution.bind(GRID)(*where)["p"]
    same = unda.exact.point_source(medium, source, walls={"zmax": ("free", GRID.upper[2])})
    np.testing.assert_array_equal(values, same(*where)["p"])
    assert values[0] != 0.0 and abs(values[1]) < 1e-12 * abs(values[0])
    with pytest.raises(unda.ArgumentError, match=r"behind the wall zmax at 0\.0 m"):
        solution.bind(GRID)(130.0, 10.0, 1.0, 0.04)
