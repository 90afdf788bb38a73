"""Kernels and their parts come from the library's tables: the documents name them all, others are refused."""

import typing
from pathlib import Path

import cuda_device
import pytest
import unda
from unda import _core
from unda._core import lib
from unda.method._options import kernel_names, kernels

cuda_device.prepare()
DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "kernel_options.md").read_text()
GRID, MEDIUM = unda.Grid((9, 8, 7), 1.0), unda.Acoustic(rho=1.0, c=1.0)


def table(method, device, scheme=0, shape=0):
    fd = _core.new_struct("unda_fd_options", scheme=scheme)
    options = _core.new_struct("unda_solver_options", method=method, device=device, shape=shape, fd=fd)
    return kernels(options)


@pytest.mark.parametrize(
    ("method", "device", "scheme", "shape", "names"),
    [
        (
            lib.UNDA_DG,
            0,
            0,
            lib.UNDA_TET,
            ["tensor", "blocks", "fused", "node", "element", "gemm", "microblock"],
        ),
        (lib.UNDA_DG, 0, 0, lib.UNDA_HEX, ["columns", "lines", "base", "f1", "f1s"]),
        (lib.UNDA_SEM, 0, 0, lib.UNDA_HEX, ["ordered", "colors", "atomic"]),
        (lib.UNDA_FD, -1, lib.UNDA_SCALAR, 0, ["step", "tiled"]),
        (lib.UNDA_FD, 0, lib.UNDA_SCALAR, 0, ["step", "diamond"]),
        (lib.UNDA_FD, -1, lib.UNDA_STAGGERED, 0, ["step"]),
        (lib.UNDA_FD, 0, lib.UNDA_STAGGERED, 0, ["step"]),
    ],
)
def test_the_page_names_every_kernel_and_part(method, device, scheme, shape, names):
    found = table(method, device, scheme, shape)
    assert list(found) == names
    assert [one for parts in found.values() for one in (*found, *parts) if f"`{one}`" not in DOCUMENT
            and f'"{one}"' not in DOCUMENT] == []  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        (lib.UNDA_TET, ["tensor", "blocks", "fused", "node", "element", "gemm", "microblock"]),
        (lib.UNDA_HEX, ["columns", "lines"]),
    ],
)
def test_a_tuner_does_not_try_kernels_that_are_there_to_compare_with(shape, names):
    options = _core.new_struct("unda_solver_options", method=lib.UNDA_DG, device=0, shape=shape)
    assert list(kernels(options, tried=True)) == names


@pytest.mark.parametrize(("method", "word"), [("DG", "kernel"), ("FD", "kernel"), ("SEM", "assembly")])
def test_types_name_every_kernel(method, word):
    given = typing.get_type_hints(getattr(unda, method).__init__)[word]
    assert set(typing.get_args(given)) == {"auto", *kernel_names(method)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kernel": "hexagon"}, "kernel is hexagon, expected one of auto, step, tiled"),
        ({"kernel": "diamond"}, "kernel is diamond, expected one of auto, step, tiled"),
        ({"kernel": "hexagons beyond any name"}, "no such names"),
        ({"kernel": 3}, "expected a name"),
        ({"kernel": ""}, "no such names"),
        ({"kernel": "step\0"}, "no such names"),
        ({"kernel": "\ud800"}, "no such names"),
        ({"kernel_options": {"rows\0": 2}}, "no such names"),
        ({"kernel_options": {"towers": 1}}, "no option towers, expected one of depth, rows$"),
        ({"kernel_options": {"towers": 1}, "scheme": "staggered"}, "no option towers, expected one of none"),
        ({"kernel_options": {"depth": 17}}, "depth is 17, expected 1..16"),
        ({"kernel_options": {f"part{i}": 1 for i in range(99)}}, "no such names"),
        ({"kernel_options": [1]}, "expected a dict"),
    ],
)
def test_others_are_refused(wrong, message):
    with pytest.raises(unda.ArgumentError, match=f"(?m){message}"):
        unda.FD(GRID, MEDIUM, device="cpu", **wrong)


@pytest.mark.gpu_or_stand_in
def test_a_part_of_another_kernel_is_refused_and_with_auto_taken():
    options = {"device": "cuda", "boundary": {"*": "rigid"}, "kernel_options": {"dts": 2}}
    with pytest.raises(unda.ArgumentError, match="kernel step has no option dts"):
        unda.FD(GRID, MEDIUM, kernel="step", **options)
    assert "dts" not in unda.FD(GRID, MEDIUM, kernel="auto", **options).config["kernel_options"]
