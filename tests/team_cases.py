"""Runs of DG on one device and in parts, for tests of teams (dg/test_team.py, dg/test_team_cuda.py).

The runs are those whose bits are recorded (bits_dg.py, bits_hex.py).
"""

import contextlib
import os

import bits_dg
import bits_hex
import numpy as np
import unda

os.environ["UNDA_CPU_PARTS"] = "1"  # parts on the CPU are for tests alone

#: {key: (function, arguments)} of DG on either engine.
RUNS = bits_dg.runs() | {key: run for key, run in bits_hex.runs().items() if key.startswith("hex/")}


def any_partition(mesh, num, seed):
    """Any part for each cell; every part has one."""
    rng = np.random.default_rng(seed)
    part = rng.integers(num, size=mesh.num_elem)
    part[rng.permutation(mesh.num_elem)[:num]] = np.arange(num)
    return unda.Partition(mesh, part)


@contextlib.contextmanager
def in_parts(num, seed=None, devices=None, **options):
    """`unda.DG` makes simulations in `num` parts; seed: of a partition that is no range of the curve."""
    single = unda.DG

    def make(mesh, medium, **given):
        device, count = given.pop("device"), min(num, mesh.num_elem)
        given["device"] = (devices or [device] * num)[:count]
        if seed is not None:
            given["partition"] = any_partition(mesh, count, seed)
        return single(mesh, medium, **given, **options)

    unda.DG = make
    try:
        yield
    finally:
        unda.DG = single


def differences(one, other):
    """Names of what differs by a bit between two outcomes of bits_dg."""
    found = [name for name in ("dt", "energy") if one[name] != other[name]]
    for name, arrays in one["parts"].items():
        same = len(arrays) == len(other["parts"][name]) and all(
            np.asarray(a).tobytes() == np.asarray(b).tobytes()
            for a, b in zip(arrays, other["parts"][name], strict=True)
        )
        found += [] if same else [name]
    return found
