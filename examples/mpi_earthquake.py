"""An earthquake in many processes
===============================

An earthquake in many processes: a moment tensor in solid layers, each process with a part of the mesh.

All processes run these lines. Process 0 makes the mesh and keeps the whole of it; seismograms are whole in
each. The first process then runs the same problem alone, and both must agree to the last bit, or the run
fails. Writes mpi_earthquake.npz, pieces of the last state for ParaView (mpi_earthquake.pvtu) and, where
matplotlib is installed, mpi_earthquake.png.
Sample run: mpirun -n 2 python examples/mpi_earthquake.py        (--quick: coarser, for the tests)
"""

import argparse

import numpy as np
import unda
from mpi4py import MPI

SIZE = (4000.0, 3000.0, 2000.0)  # m
TOPS = np.array([1000.0, 1500.0, 2000.0])  # of basement, rock and sediment [m]
RHO = np.array([2700.0, 2400.0, 2000.0])
VP = np.array([4500.0, 3200.0, 2000.0])
VS = np.array([2600.0, 1800.0, 900.0])
HYPOCENTRE = (1500.0, 1500.0, 1000.0)  # in a face between cells, and between layers
SLIP = 1e15 * np.array([[0.3, 0, 1], [0, 0, 0], [1, 0, -0.3]])  # N m


def layered(values):
    return lambda x, y, z: values[np.searchsorted(TOPS, z)]


def make_mesh(height):
    """Return cells that are that high [m] at most; layers begin with cells."""
    return unda.box_mesh((0, 0, 0), SIZE, [int(np.ceil(size / height)) for size in SIZE])


def earthquake(mesh, degree, until, comm=None):
    """Run; return the simulation and the seismograms of a line of stations."""
    medium = unda.Elastic(rho=layered(RHO), vp=layered(VP), vs=layered(VS))
    boundary = {"zmax": "free", "*": "absorbing"}
    sim = unda.DG(mesh, medium, degree=degree, boundary=boundary, device="cpu", comm=comm)
    rate = unda.ricker(1.5)  # no permanent slip: all energy leaves in waves
    sim.add_source(unda.MomentTensor(HYPOCENTRE, rate.integral, SLIP))
    x = np.linspace(200, 3800, 19)
    stations = sim.add_receivers(
        np.stack([x, np.full_like(x, 1500), np.full_like(x, 2000)], axis=1), ["vx", "vz"]
    )
    sim.run(until=until)
    return sim, stations


def draw(sim, stations, name):
    """Which cells each process has, and the seismograms of the line."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    sim.mesh.whole.partition(sim.mesh.ranks.size).plot(ax=figure.add_subplot(1, 2, 1, projection="3d"))
    right = figure.add_subplot(1, 2, 2)
    x, step = stations.points[:, 0], stations.points[1, 0] - stations.points[0, 0]
    right.plot(stations.t, (x[:, None] + step * stations["vz"] / np.abs(stations["vz"]).max()).T, "k", lw=0.8)
    right.set(xlabel="t [s]", ylabel="x of the station [m]", title="vz at the surface")
    figure.savefig(name, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    height, degree, until = (500.0, 2, 0.6) if quick else (250.0, 3, 2.4)
    comm = MPI.COMM_WORLD
    sim, stations = earthquake(lambda: make_mesh(height), degree, until, comm)
    energy = sim.energy()  # of the whole, in each process
    sim.write_vtu("mpi_earthquake.pvtu", subdivide=1)
    if comm.rank:
        return
    print(sim)
    alone, same = earthquake(sim.mesh.whole, degree, until)
    for name in stations.fields:
        assert stations[name].tobytes() == same[name].tobytes(), f"{name} differs from a run in one process"
    assert energy == alone.energy()
    draw(sim, stations, "mpi_earthquake.png")
    np.savez("mpi_earthquake.npz", t=stations.t, vx=stations["vx"], vz=stations["vz"])
    peak = np.abs(stations["vz"]).max()
    said = f"seismograms up to {peak:.3g} m/s and {energy:.4g} J"
    print(f"{comm.size} processes: {said}, bit for bit those of one process")


if __name__ == "__main__":
    main()
