"""A parameter sweep
=================

Many runs in one call: error and cost of degrees and fluxes for a mode of a rigid box.

Every case is a process of its own (or a GPU); finished ones are kept in sweep_cache/ and not run
again. Prints a table, writes parameter_sweep.png where matplotlib is installed, and fails if the
error does not fall with the degree. Sample run: python examples/parameter_sweep.py   (--quick)
"""

import argparse
import time

import unda


def run(degree, flux, n, device="cpu"):
    """Relative error of p, and seconds of the run."""
    medium = unda.Acoustic(rho=1.0, c=1.0)
    mode = unda.exact.rigid_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 2, 0))
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.1)
    with unda.DG(mesh, medium, degree=degree, flux=flux, boundary={"*": "rigid"},
                 device=device) as sim:  # fmt: skip
        sim.set(mode)
        begin = time.perf_counter()
        sim.run(until=0.37, progress=False)
        seconds = time.perf_counter() - begin
        return {"error": sim.error(mode, relative=True)["p"], "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    degrees = (1, 2, 3) if quick else (1, 2, 3, 4, 5)
    cases = [
        {"degree": degree, "flux": flux, "n": 2 if quick else 4}
        for flux in ("upwind", "central")
        for degree in degrees
    ]
    results = unda.sweep(run, cases, cache="sweep_cache")
    print(results.table())
    assert not results.failures, results.failures[0].error
    curves = {
        flux: [r.value["error"] for r in results if r.case["flux"] == flux] for flux in ("upwind", "central")
    }
    for flux, errors in curves.items():
        assert errors[-1] < 0.2 * errors[0], f"{flux}: the error does not fall, {errors}"
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for flux, errors in curves.items():
        ax.semilogy(degrees, errors, "o-", label=f"{flux} flux")
    ax.set(xlabel="degree N", ylabel="relative L2 error of p", xticks=degrees)
    ax.legend()
    figure.savefig("parameter_sweep.png", dpi=130)
    print("wrote parameter_sweep.png")


if __name__ == "__main__":
    main()
