"""Compile kernels with the real NVRTC: cases in, resources out, as JSON on stdin and stdout.

A process of its own, because others in the test run may have chosen the stand-in driver. A case has
the words of ``unda.DG`` and "architecture". Not here: budgets (test_kernels_compile.py).
"""

import json
import sys

from unda import _core, _cuda

NUMBERS = {
    "physics": ("physics", {"acoustic": 0, "elastic": 1, "maxwell": 2}),
    "dtype": ("precision", {"float32": 0, "float64": 1}),
    "flux": ("flux", {"upwind": 0, "central": 1}),
    "integrator": ("integrator", {"lsrk4": 0, "ab3": 1}),
    "kernel": ("kernel", {"fused": 1, "node": 2}),
}


def resources(case):
    """Registers, spilled bytes and time of one case."""
    names = {field: numbers[case[word]] for word, (field, numbers) in NUMBERS.items()}
    options = _core.new_struct("unda_solver_options", degree=case["degree"], **names)
    found = _core.new_struct("unda_kernel_resources")
    _core.check(_core.lib.unda_kernel_compile(options, case["architecture"], found))
    fields = ("registers", "spill_bytes", "shared_bytes", "compile_seconds", "cubin_bytes")
    return {name: getattr(found, name) for name in fields}


if __name__ == "__main__":
    _cuda.prepare()
    json.dump([resources(case) for case in json.load(sys.stdin)], sys.stdout)
