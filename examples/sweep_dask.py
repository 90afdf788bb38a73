"""A sweep on a Dask cluster
=========================

A sweep on a Dask cluster: how the error falls with h and degree, for acoustic, elastic and Maxwell waves.

The cluster is this machine's cores; docs/sweeps.md has the lines for Slurm and MPI. Prints the table of all
cases and the observed orders, and fails if one is below N + 1/2; writes sweep_dask.png, with the expected
orders N + 1 dashed, where matplotlib is installed. Finished cases are kept in sweep_cache/.
Needs Dask (pip install 'unda-waves[dask]'). Sample run: python examples/sweep_dask.py   (--quick)
"""

import argparse
import os

import numpy as np
import unda
from distributed import Client, LocalCluster

K = 2 * np.pi * np.array([1, 1, -1])
ACROSS = (1, 2, 3)  # orthogonal to K, and no field vanishes
MEDIA = {
    "acoustic": (unda.Acoustic(rho=1.3, c=0.8), {}),
    "elastic": (unda.Elastic(rho=1.2, vp=1.6, vs=0.9), {"kind": "s", "polarization": ACROSS}),
    "Maxwell": (unda.Maxwell(eps=1.5, mu=1.2), {"polarization": ACROSS}),
}


def run(physics, degree, n, device):
    """Relative error over all fields of a plane wave, oblique to a periodic box of 6 n^3 perturbed cells."""
    medium, how = MEDIA[physics]
    wave = unda.exact.plane_wave(medium, k=K, **how)
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.15, seed=n, periodic=(True,) * 3)
    with unda.DG(mesh, medium, degree=degree, dtype="float64", device=device) as sim:
        sim.set(wave)
        sim.run(until=0.25, progress=False)
        errors = list(sim.error(wave, relative=True).values())
        h = (mesh.volume / mesh.num_elem) ** (1 / 3)
        return {"h": h, "error": float(np.sqrt(np.mean(np.square(errors)))), "steps": sim.step_count}


def orders(results):
    """Return h, errors and the observed order of each physics and degree."""
    curves = {}
    for r in results:
        curves.setdefault((r.case["physics"], r.case["degree"]), []).append((r.value["h"], r.value["error"]))
    return {
        key: (*np.transpose(points), np.polyfit(*np.log(np.transpose(points)), 1)[0])
        for key, points in curves.items()
    }


def draw(curves, name):
    """Draw a panel for each physics, with the expected order dashed below each curve."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(MEDIA), figsize=(11, 4), sharey=True, layout="constrained")
    for (physics, degree), (h, errors, order) in curves.items():
        ax, color = axes[list(MEDIA).index(physics)], f"C{degree}"
        ax.loglog(h, errors, "o-", color=color)
        ax.loglog(h, 0.6 * errors[-1] * (h / h[-1]) ** (degree + 1), "--", color=color)
        where = {"xytext": (4, 6), "textcoords": "offset points", "ha": "right", "color": color}
        ax.annotate(f"{degree}: {order:.2f}", (h[0], errors[0]), **where)
        ax.set(title=physics, xlabel="h = (V/K)$^{1/3}$ [m]")
        ax.set_xticks(h, [f"{one:.3f}" for one in h])
        ax.minorticks_off()
    axes[0].set(ylabel="relative L2 error of all fields", ylim=(None, 1))
    axes[0].plot([], [], "ko-", label="measured (N: order)")
    axes[0].plot([], [], "k--", label="expected, order N + 1")
    axes[0].legend(loc="lower right")
    figure.savefig(name, dpi=130)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    cases = [
        {"physics": physics, "degree": degree, "n": n}
        for physics in MEDIA
        for degree in ((1, 2) if quick else (1, 2, 3, 4))
        for n in (4, 6, 8)
    ]
    num = 2 if quick else len(os.sched_getaffinity(0))
    with (
        LocalCluster(n_workers=num, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        results = unda.sweep(run, cases, executor=client.get_executor(), cache="sweep_cache")
    print(results.table())
    assert not results.failures, results.failures[0].error
    curves = orders(results)
    for (physics, degree), (_, _, order) in curves.items():
        print(f"{physics}, N = {degree}: order {order:.2f}")
        assert order >= degree + 0.5, f"order {order:.2f}, expected {degree + 0.5} or more"
    try:
        draw(curves, "sweep_dask.png")
    except ImportError:
        return
    print("wrote sweep_dask.png")


if __name__ == "__main__":
    main()
