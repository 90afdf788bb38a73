"""Promises about models from files: each value lands on its node, bit for bit, or the file is refused.

SEG-Y files are written here by segyio; without it those tests are skipped.
"""

import sys
import tracemalloc
from itertools import permutations, product

import numpy as np
import pytest
import unda

SHAPE = (4, 3, 5)
MODEL = np.random.default_rng(0).uniform(1500.0, 4500.0, SHAPE).astype(np.float32)


def stored_as(values, axes):
    """Return values (nx, ny, nz) in the order in which a file of these axes has them."""
    for letter in "xyz":
        if f"-{letter}" in axes:
            values = np.flip(values, "xyz".index(letter))
    return values.transpose(["xyz".index(letter) for letter in axes.replace("-", "")])


# ---- raw files


@pytest.mark.parametrize("signs", list(product(("", "-"), repeat=3)))
def test_every_order_and_direction_of_axes_gives_the_same_model(tmp_path, signs):
    path = tmp_path / "model.bin"
    for letters in permutations("xyz"):
        axes = "".join(sign + letter for sign, letter in zip(signs, letters, strict=True))
        stored_as(MODEL, axes).tofile(path)
        for memmap in (False, True):
            _, values = unda.read_model(path, shape=SHAPE, spacing=10.0, axes=axes, memmap=memmap)
            np.testing.assert_array_equal(values, MODEL)
        other = axes[1:] if axes.startswith("-") else f"-{axes}"
        assert not np.array_equal(unda.read_model(path, shape=SHAPE, spacing=1, axes=other)[1], MODEL)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8", "<i2", ">i2", "u1", "<i4", "<f2"])
def test_numbers_of_each_kind_arrive_bit_for_bit(tmp_path, dtype):
    given = (MODEL / 20.0).astype(dtype)
    given.tofile(tmp_path / "model.bin")
    _, values = unda.read_model(tmp_path / "model.bin", shape=SHAPE, spacing=1.0, dtype=dtype)
    exact = np.float64 if np.dtype(dtype).itemsize == 8 or dtype == "<i4" else np.float32
    assert values.dtype == exact and values.dtype.isnative and values.flags.c_contiguous
    np.testing.assert_array_equal(values.astype(np.float64), given.astype(np.float64))
    if dtype == ">f4":
        _, wrong = unda.read_model(tmp_path / "model.bin", shape=SHAPE, spacing=1.0)
        assert not np.array_equal(wrong, given)


def test_the_first_value_of_the_file_is_at_zero_unless_an_origin_is_given(tmp_path):
    path = tmp_path / "model.bin"
    MODEL.tofile(path)
    read = {"shape": SHAPE, "spacing": (10.0, 20.0, 5.0)}
    assert unda.read_model(path, **read)[0] == unda.Grid(**read)
    down, _ = unda.read_model(path, axes="xy-z", **read)
    assert (down.lower, down.upper) == ((0.0, 0.0, -20.0), (30.0, 40.0, 0.0))
    given, _ = unda.read_model(path, axes="xy-z", origin=(1.0, 2.0, 3.0), **read)
    assert given.origin == (1.0, 2.0, 3.0)


def test_a_section_is_a_model_of_one_node_along_the_missing_axis(tmp_path):
    path, shape = tmp_path / "section.bin", (4, 1, 5)
    section = MODEL[:, :1]
    section[:, 0, ::-1].tofile(path)
    np.testing.assert_array_equal(unda.read_model(path, shape=shape, spacing=1.0, axes="x-z")[1], section)
    with pytest.raises(unda.ArgumentError, match=r"shape is \(4, 3, 5\); expected 1 along y"):
        unda.read_model(path, shape=SHAPE, spacing=1.0, axes="x-z")


def test_a_header_is_skipped_and_units_are_scaled(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"head" + MODEL.tobytes())
    _, values = unda.read_model(path, shape=SHAPE, spacing=1.0, skip_bytes=4, scale=1000.0)
    np.testing.assert_array_equal(values, MODEL * np.float32(1000.0))
    with pytest.raises(unda.ArgumentError) as caught:
        unda.read_model(path, shape=SHAPE, spacing=1.0)
    assert "has 244 bytes; expected 240, for shape (4, 3, 5) of '<f4' (4.07 bytes a node" in str(caught.value)


def test_a_file_of_another_size_is_refused_with_both_sizes(tmp_path):
    path = tmp_path / "model.bin"
    for found in (0, 239, 480):
        path.write_bytes(bytes(found))
        with pytest.raises(unda.ArgumentError, match=f"model.bin has {found} bytes; expected 240"):
            unda.read_model(path, shape=SHAPE, spacing=1.0)
    path.write_bytes(bytes(240))
    assert unda.read_model(path, shape=SHAPE, spacing=1.0)[1].shape == SHAPE


def test_a_memory_map_reads_nothing_until_it_is_used_and_media_take_it_as_it_is(tmp_path):
    path, shape = tmp_path / "large.bin", (2**14, 2**10, 2**10)
    with open(path, "wb") as file:
        file.truncate(4 * 2**34)  # sparse: 64 GiB that take no room
    tracemalloc.start()
    grid, values = unda.read_model(path, shape=shape, spacing=10.0, memmap=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert grid.num_node == values.size == 2**34 and peak < 1e6
    assert values[-1, -1, -1] == 0.0
    path.unlink()
    MODEL.tofile(tmp_path / "model.bin")
    for axes in ("xyz", "-zyx"):
        grid, values = unda.read_model(
            tmp_path / "model.bin", shape=SHAPE, spacing=1.0, axes=axes, memmap=True
        )
        medium = unda.Acoustic(rho=1000.0, c=values)
        assert np.shares_memory(medium._values["c"].values, values) and not values.flags.writeable
        np.testing.assert_array_equal(medium.on(grid)[:, 1], values.reshape(-1))


def test_a_file_or_directory_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        unda.read_model(tmp_path / "none.bin", shape=SHAPE, spacing=1.0)
    with pytest.raises(FileNotFoundError):
        unda.read_model(tmp_path / "none.npy", spacing=1.0)
    with pytest.raises((unda.ArgumentError, OSError)):
        unda.read_model(tmp_path, shape=SHAPE, spacing=1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": None}, r"shape is missing; expected \(nx, ny, nz\)"),
        ({"shape": (4, 3)}, "three integers >= 1"),
        ({"spacing": None}, "spacing is missing; expected"),
        ({"spacing": -1.0}, "spacing is -1.0; expected a finite positive"),
        ({"origin": (0, 0)}, "origin has 2 components"),
        ({"dtype": "c8"}, "dtype has numbers of type '<c8'"),
        ({"dtype": "S4"}, "dtype has numbers of type"),
        ({"dtype": "float33"}, "dtype is 'float33'; expected one such as"),
        ({"axes": "xyy"}, "axes is 'xyy'; expected two or three of x, y, z"),
        ({"axes": "xy--z"}, "axes is 'xy--z'"),
        ({"axes": "xyz-"}, "axes is 'xyz-'"),
        ({"axes": "z"}, "axes is 'z'"),
        ({"axes": "xyt"}, "axes is 'xyt'"),
        ({"axes": ""}, "axes is ''"),
        ({"axes": 3}, "axes is 3"),
        ({"skip_bytes": -1}, "skip_bytes is -1"),
        ({"scale": 0.0}, "scale is 0.0; expected a finite positive"),
        ({"memmap": "yes"}, "memmap is 'yes'; expected True or False"),
        ({"memmap": True, "scale": 2.0}, "scale is 2.0; expected 1 with memmap=True"),
        ({"format": "hdf5"}, "format is 'hdf5'; expected 'raw', 'npy' or 'segy'"),
        ({"path": 3}, "path is 3, expected a file name"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(tmp_path, change, message):
    arguments = {"path": tmp_path / "model.bin", "shape": SHAPE, "spacing": 1.0}
    MODEL.tofile(arguments["path"])
    unda.read_model(**arguments)
    with pytest.raises(unda.ArgumentError, match=message):
        unda.read_model(**(arguments | change))


# ---- NumPy's files


@pytest.mark.parametrize("axes", ["xyz", "-zyx", "yx-z"])
def test_numpy_files_know_their_shape_and_type(tmp_path, axes):
    path = tmp_path / "model.npy"
    for dtype, order in product(("<f4", ">f8"), "CF"):
        np.save(path, np.array(stored_as(MODEL, axes), dtype, order=order))
        for memmap in (False, True):
            grid, values = unda.read_model(path, spacing=2.0, axes=axes, memmap=memmap)
            np.testing.assert_array_equal(values, MODEL)
            assert grid.shape == SHAPE
    assert unda.read_model(path, spacing=2.0, axes=axes, shape=SHAPE)[0] == grid
    with pytest.raises(unda.ArgumentError, match=r"a model of shape \(4, 3, 5\); expected \(5, 3, 4\)"):
        unda.read_model(path, spacing=2.0, axes=axes, shape=(5, 3, 4))


def test_numpy_files_of_anything_else_are_refused(tmp_path):
    path = tmp_path / "model.npy"
    for wrong, message in (
        (MODEL[0], r"has shape \(3, 5\); expected one of 3 axes, x, y, z"),
        (MODEL[:0], r"has shape \(0, 3, 5\)"),
        (MODEL * 1j, "numbers of type"),
    ):
        np.save(path, wrong)
        with pytest.raises(unda.ArgumentError, match=message):
            unda.read_model(path, spacing=1.0)
    np.save(path, np.array([{}]))
    with pytest.raises(unda.FileError, match="cannot be mapped"):
        unda.read_model(path, spacing=1.0)
    np.savez(tmp_path / "model.npz", MODEL)
    with pytest.raises(unda.ArgumentError, match="archive of arrays"):
        unda.read_model(tmp_path / "model.npz", spacing=1.0, format="npy")
    np.save(path, MODEL)
    with pytest.raises(
        unda.ArgumentError, match="got dtype; expected none of them for a file of format 'npy'"
    ):
        unda.read_model(path, spacing=1.0, dtype="<f4")


def test_a_damaged_numpy_file_is_refused_whatever_numpy_raises(tmp_path):
    path = tmp_path / "model.npy"
    np.save(path, MODEL)
    whole = path.read_bytes()
    shape = whole.index(b"(4, 3, 5)")
    damaged = [b"", b"no numpy", b"\x93NUMPY\x01\x00", whole[:-1], whole[:100]]
    # what NumPy makes of them: TokenError, OverflowError, SyntaxError, TypeError, ValueError
    for change in (b"(4, 3, 5(", b"(4,-3, 5)", b"(4,03, 5)", b"(4, 3, {)", b"(9, 9, 9)", b"(4, 3,\n5)"):
        damaged.append(whole[:shape] + change + whole[shape + 9 :])
    rng = np.random.default_rng(0)
    for _ in range(150):
        one = bytearray(whole)
        one[rng.integers(10, 80)] = rng.integers(256)
        damaged.append(bytes(one))
    refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            unda.read_model(path, spacing=1.0)
        except unda.FileError as error:
            assert str(path) in str(error) and "expected a .npy file of numbers" in str(error)
            refused += 1
        except unda.ArgumentError:
            pass  # a sound header of another shape or type
    assert refused > 50


# ---- SEG-Y


@pytest.fixture
def segyio():
    return pytest.importorskip("segyio")


def write_segy(segyio, path, traces, headers, *, interval=5000, sample_format=5, delay=0, feet=False):
    """Write traces (n, samples) with one dict of headers each; the interval is 1000 times that in m."""
    spec = segyio.spec()
    spec.format, spec.tracecount = sample_format, len(traces)
    spec.samples = delay + np.arange(traces.shape[1]) * interval / 1000.0
    with segyio.create(str(path), spec) as file:
        file.bin[3217], file.bin[3255] = interval, 2 if feet else 1
        for i, (trace, header) in enumerate(zip(traces, headers, strict=True)):
            file.header[i] = {109: delay, 115: len(trace), 117: interval, **header}
            file.trace[i] = trace


def cube_headers(*, dx=25.0, dy=12.5, turned=0.0, scalar=-100):
    """Headers of SHAPE's traces, inline after inline; coordinates in centimetres."""
    a, b = dx * np.array([np.cos(turned), np.sin(turned)]), dy * np.array([-np.sin(turned), np.cos(turned)])
    headers = []
    for i, j in np.ndindex(SHAPE[:2]):
        x, y = np.array([450000.0, 670000.0]) + i * a + j * b
        place = {181: round(100 * x), 185: round(100 * y)}
        headers.append({189: 100 + 2 * i, 193: 300 + j, 71: scalar, **place})
    return headers


def traces_of(values):
    """Traces by depth, inline after inline."""
    return np.ascontiguousarray(values[:, :, ::-1].reshape(-1, values.shape[2]))


@pytest.mark.parametrize("turned", [0.0, 0.6])
def test_a_cube_is_read_bit_for_bit_with_its_spacing_in_any_order_of_traces(segyio, tmp_path, turned):
    path, headers, traces = tmp_path / "cube.sgy", cube_headers(turned=turned), traces_of(MODEL)
    for order in (np.arange(12), np.arange(12)[::-1], np.random.default_rng(1).permutation(12)):
        write_segy(segyio, path, traces[order], [headers[k] for k in order])
        grid, values = unda.read_model(path)
        np.testing.assert_array_equal(values, MODEL)
        np.testing.assert_allclose(grid.spacing, (25.0, 12.5, 5.0), rtol=1e-3)
        assert grid.lower[:2] == (0.0, 0.0) and grid.upper[2] == 0.0
    write_segy(segyio, path, traces[::-1], headers)
    assert not np.array_equal(unda.read_model(path)[1], MODEL)


def test_a_given_spacing_and_origin_win_over_the_headers(segyio, tmp_path):
    path = tmp_path / "cube.segy"
    nowhere = [{189: one[189], 193: one[193]} for one in cube_headers()]
    write_segy(segyio, path, traces_of(MODEL), nowhere)
    grid, values = unda.read_model(path, spacing=(1, 2, 3), origin=(5, 6, 7), shape=SHAPE, scale=2.0)
    assert grid == unda.Grid(SHAPE, (1, 2, 3), origin=(5, 6, 7))
    np.testing.assert_array_equal(values, 2 * MODEL)
    with pytest.raises(
        unda.ArgumentError, match=r"spacings 0.0, 0.0, 5.0 m in its headers; expected spacing="
    ):
        unda.read_model(path)
    with pytest.raises(unda.ArgumentError, match=r"a model of shape \(4, 3, 5\); expected \(3, 4, 5\)"):
        unda.read_model(path, spacing=1.0, shape=(3, 4, 5))


def test_depth_of_the_first_sample_and_feet_are_minded(segyio, tmp_path):
    path = tmp_path / "cube.sgy"
    write_segy(segyio, path, traces_of(MODEL), cube_headers(), delay=100)
    grid, _ = unda.read_model(path)
    assert (grid.lower[2], grid.upper[2]) == (-120.0, -100.0)
    write_segy(segyio, path, traces_of(MODEL), cube_headers(), delay=100, feet=True)
    feet, _ = unda.read_model(path)
    np.testing.assert_allclose(feet.spacing, 0.3048 * np.array(grid.spacing), rtol=1e-9)
    assert feet.upper[2] == pytest.approx(-30.48)


def test_a_scalar_of_coordinates_multiplies_or_divides(segyio, tmp_path):
    path = tmp_path / "cube.sgy"
    for scalar, factor in ((-100, 1.0), (1, 100.0), (0, 100.0), (10, 1000.0)):
        write_segy(segyio, path, traces_of(MODEL), cube_headers(scalar=scalar))
        np.testing.assert_allclose(unda.read_model(path)[0].spacing[:2], (25 * factor, 12.5 * factor))


@pytest.mark.parametrize("numbered", ["crosslines", "inlines", "not at all"])
def test_a_section_has_its_traces_along_x(segyio, tmp_path, numbered):
    path, section = tmp_path / "section.sgy", MODEL[:, :1]
    headers = [{181: 1000 + 30 * i, 185: 2000 + 40 * i} for i in range(4)]
    for i, header in enumerate(headers):
        if numbered != "not at all":
            header[193 if numbered == "crosslines" else 189] = 7 + i
    write_segy(segyio, path, traces_of(section), headers)
    grid, values = unda.read_model(path)
    np.testing.assert_array_equal(values, section)
    assert grid.shape == (4, 1, 5) and grid.spacing[0] == pytest.approx(50.0) and grid.spacing[2] == 5.0


def test_ibm_floats_and_integers_are_converted(segyio, tmp_path):
    path, whole = tmp_path / "cube.sgy", np.floor(MODEL)
    for sample_format in (1, 2, 3):  # IBM float, 4- and 2-byte integers
        kind = {1: np.float32, 2: np.int32, 3: np.int16}[sample_format]
        write_segy(segyio, path, traces_of(whole).astype(kind), cube_headers(), sample_format=sample_format)
        np.testing.assert_array_equal(unda.read_model(path)[1], whole)


def test_traces_that_are_missing_or_there_twice_are_refused(segyio, tmp_path):
    path, headers, traces = tmp_path / "cube.sgy", cube_headers(), traces_of(MODEL)
    write_segy(segyio, path, traces[:-1], headers[:-1])
    with pytest.raises(unda.FileError, match=r"has 11 traces at 11 places; expected 12, .* 4 inlines x 3"):
        unda.read_model(path)
    write_segy(segyio, path, traces, [*headers[:-1], headers[0]])
    with pytest.raises(unda.FileError, match=r"has 12 traces at 11 places; expected 12"):
        unda.read_model(path)


def test_traces_beside_a_regular_grid_are_refused_unless_the_spacing_is_given(segyio, tmp_path):
    path, traces = tmp_path / "cube.sgy", traces_of(MODEL)
    astray = cube_headers()
    astray[7][181] += 300  # 3 m
    little = cube_headers()
    little[7][181] += 100  # 1 m: 4 % of the step along x, 8 % of that along y
    skew = cube_headers()
    for header in skew:
        header[181] += 40 * (header[193] - 300)
    cases = (astray, "has trace 7 "), (little, "has trace 7 0.9 m"), (skew, "expected a regular rectangular")
    for headers, message in cases:
        write_segy(segyio, path, traces, headers)
        with pytest.raises(unda.FileError, match=message):
            unda.read_model(path)
        np.testing.assert_array_equal(unda.read_model(path, spacing=1.0)[1], MODEL)


def test_an_interval_of_zero_is_not_taken_for_four(segyio, tmp_path):
    path = tmp_path / "cube.sgy"
    write_segy(segyio, path, traces_of(MODEL), cube_headers(), interval=0)
    with pytest.raises(unda.ArgumentError, match=r"12.5.*, 0.0 m in its headers; expected spacing="):
        unda.read_model(path)


def test_files_that_are_no_segy_and_arguments_for_raw_files_are_refused(segyio, tmp_path):
    path = tmp_path / "cube.sgy"
    with pytest.raises(FileNotFoundError):
        unda.read_model(path)
    write_segy(segyio, path, traces_of(MODEL), cube_headers())
    whole = path.read_bytes()
    assert unda.read_model(path)[0].spacing == (25.0, 12.5, 5.0)
    for junk in (b"", b"no SEG-Y", bytes(5000), whole[:3600], whole[:-1], whole[:3601]):
        path.write_bytes(junk)
        with pytest.raises(unda.FileError, match="cannot be read as SEG-Y"):
            unda.read_model(path)
    with pytest.raises(unda.ArgumentError, match="got dtype, axes, memmap; expected none of them"):
        unda.read_model(path, dtype="<f4", axes="xyz", memmap=True)


def test_without_segyio_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "segyio", None)
    with pytest.raises(ImportError, match=r"cube.sgy needs segyio: pip install 'unda-waves\[segy\]'"):
        unda.read_model(tmp_path / "cube.sgy")
