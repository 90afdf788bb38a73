"""Compute with unda and with another package that brings an OpenMP of its own, in one process.

    python tests/two_openmp.py [torch | sklearn] [first | last]

says which copies of libgomp are loaded. It fails unless both packages, alone, in turns and at the same
time in threads, give what they gave alone, and unda has as many threads as it was told. `first`: the other is
imported first. For an installed wheel: test_wheel.py, docs/releasing.md.
"""

import os
import sys
import threading
from pathlib import Path

import numpy as np

THREADS = min(2, len(os.sched_getaffinity(0)))


def unda_run():
    import unda

    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(6, 6, 6))
    medium = unda.Acoustic(rho=1.0, c=1.0)
    with unda.DG(mesh, medium, degree=4, device="cpu", threads=THREADS) as sim:
        assert sim.config["threads"] == THREADS
        sim.set(p=lambda x, y, z: np.exp(-20 * ((x - 0.5) ** 2 + y**2 + z**2)))
        sim.step(20)
        return sim.get("p")


def torch_run():
    import torch

    torch.set_num_threads(THREADS)
    random = torch.Generator().manual_seed(1)
    values = torch.randn(200_000, generator=random, dtype=torch.float64)
    return torch.sin(values).mul(values).cumsum(0).numpy()


def sklearn_run():
    from sklearn.cluster import KMeans

    points = np.random.default_rng(1).normal(size=(5000, 3))
    return KMeans(n_clusters=8, n_init=1, random_state=1).fit(points).cluster_centers_


def copies():
    """Return the files of libgomp that are mapped into this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sorted({line.split()[-1] for line in lines if "libgomp" in line})


def main():
    other = {"torch": torch_run, "sklearn": sklearn_run}[sys.argv[1]]
    runs = [other, unda_run] if sys.argv[2] == "first" else [unda_run, other]
    wanted = {run: run() for run in runs}  # each alone, in the order of import
    found = copies()
    print(*found, sep="\n")
    assert sum("unda_waves.libs" in name for name in found) == 1, "unda has not its own libgomp"
    assert len(found) > 1, "the other package has no libgomp of its own: this shows nothing"
    for run in 3 * runs:  # in turns
        assert np.array_equal(run(), wanted[run]), f"{run.__name__} gives something else in turns"

    wrong = []

    def often(run):
        try:
            wrong.extend(run.__name__ for _ in range(5) if not np.array_equal(run(), wanted[run]))
        except Exception as error:
            wrong.append(f"{run.__name__}: {error!r}")

    threads = [threading.Thread(target=often, args=(run,)) for run in runs]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong, f"at the same time: {wrong}"
    print(f"{sys.argv[1]} imported {sys.argv[2]}: the same results alone, in turns and at the same time")


if __name__ == "__main__":
    main()
