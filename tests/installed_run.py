"""Run an installed unda on the CPU and, if UNDA_LIBCUDA names a driver, on a CUDA device as well.

For .ci/run and test_packaging.py, which start it in an empty folder with nothing of the checkout on
the path; the driver is the stand-in (stand_in_driver.py). Fails unless both runs give the same.
"""

import os
import sys
from pathlib import Path

import numpy as np
import unda


def pressure(device):
    """Pressure of a wave after ten steps in a box of 24 tetrahedra."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 1))
    medium = unda.Acoustic(rho=1.0, c=1.0)
    wave = unda.exact.plane_wave(medium, k=(2, 1, -1))
    sim = unda.DG(mesh, medium, degree=3, boundary={"*": wave}, dtype="float64", device=device)
    sim.set(wave)
    sim.step(10)
    assert sim.error(wave, relative=True)["p"] < 0.05
    return sim.get("p")


def main():
    assert Path(unda.__file__).is_relative_to(sys.argv[1]), f"imported {unda.__file__}"
    cpu = pressure("cpu")
    print(f"unda {unda.__version__} from {Path(unda.__file__).parent}: the CPU engine runs")
    if "UNDA_LIBCUDA" in os.environ:
        assert np.abs(pressure("cuda") - cpu).max() < 1e-12 * np.abs(cpu).max()
        print(f"the CUDA engine on {os.environ['UNDA_LIBCUDA']} gives the same")


if __name__ == "__main__":
    main()
