"""Compile kernels with the real NVRTC: cases in, resources out, as JSON on stdin and stdout.

A process of its own, because others in the test run may have chosen the stand-in driver. A case has
the words of ``unda.DG``, of ``unda.FD`` with "order" or of ``unda.SEM`` with "assembly", and
"architecture". Not here: budgets
(test_kernels_compile.py).
"""

import json
import sys

import numpy as np
from unda import _core, _cuda
from unda.method._options import kernel_choice

HEX_KERNELS = ("columns", "lines", "base", "f1", "f1s")
NUMBERS = {
    "physics": ("physics", {"acoustic": 0, "elastic": 1, "maxwell": 2}),
    "dtype": ("precision", {"float32": 0, "float64": 1}),
    "flux": ("flux", {"upwind": 0, "central": 1}),
    "integrator": ("integrator", {"lsrk4": 0, "ab3": 1}),
}


def grid_options(case):
    """Options of finite differences: a grid of 50 nodes an axis, constant c or not, layers or not."""
    if "physics" in case:
        return staggered_options(case)
    side = _core.lib.UNDA_BOUNDARY_ABSORBING if case["layers"] else _core.lib.UNDA_BOUNDARY_RIGID
    fd = _core.new_struct(
        "unda_fd_options", order=case["order"], shape=[50] * 3, spacing=[10.0] * 3, speed_max=1500.0,
        uniform=int(not case["variable"]), layer=[20] * 6, reflection=[0.01] * 6,
    )  # fmt: skip
    return {"method": _core.lib.UNDA_FD, "fd": fd, "boundary": np.full(6, side, np.int32)}


def staggered_options(case):
    """The same of staggered schemes; periodic without layers."""
    side = _core.lib.UNDA_BOUNDARY_ABSORBING if case["layers"] else _core.lib.UNDA_BOUNDARY_PERIODIC
    fd = _core.new_struct(
        "unda_fd_options", scheme=_core.lib.UNDA_STAGGERED, order=case["order"], shape=[50] * 3,
        spacing=[10.0] * 3, speed_max=1500.0, layer=[10] * 6, reflection=[1e-6] * 6, stretch=[1.0] * 6,
    )  # fmt: skip
    physics = NUMBERS["physics"][1][case["physics"]]
    return {"method": _core.lib.UNDA_FD, "physics": physics, "fd": fd, "boundary": np.full(6, side, np.int32)}


def spectral_options(case):
    """Options of spectral elements."""
    return _core.new_struct(
        "unda_solver_options", method=_core.lib.UNDA_SEM, degree=case["degree"], shape=_core.lib.UNDA_HEX,
        physics=NUMBERS["physics"][1][case["physics"]], precision=NUMBERS["dtype"][1][case["dtype"]],
        material_by_node=int(case["per"] == "node"),
        **kernel_choice(case["assembly"], case.get("kernel_options")),
    )  # fmt: skip


def resources(case):
    """Registers, spilled bytes and time of one case."""
    if "assembly" in case:
        return compiled(spectral_options(case), case)
    if "order" in case:
        given = grid_options(case)  # alive while the library reads it
        double = int(case["dtype"] == "float64")
        return compiled(_core.new_struct("unda_solver_options", precision=double, **given), case)
    names = {field: numbers[case[word]] for word, (field, numbers) in NUMBERS.items()}
    by_node = int(case["per"] == "node")
    shape = _core.lib.UNDA_HEX if case["kernel"] in HEX_KERNELS else _core.lib.UNDA_TET
    options = _core.new_struct(
        "unda_solver_options", degree=case["degree"], material_by_node=by_node, shape=shape,
        **names,
        **kernel_choice(case["kernel"], case.get("kernel_options")),
    )  # fmt: skip
    return compiled(options, case)


def compiled(options, case):
    """Resources of one architecture."""
    found = _core.new_struct("unda_kernel_resources")
    _core.check(_core.lib.unda_kernel_compile(options, case["architecture"], found))
    fields = ("registers", "spill_bytes", "shared_bytes", "threads", "compile_seconds", "cubin_bytes")
    return {name: getattr(found, name) for name in fields}


if __name__ == "__main__":
    _cuda.prepare()
    json.dump([resources(case) for case in json.load(sys.stdin)], sys.stdout)
