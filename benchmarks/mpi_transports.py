"""DG in one process with several devices beside one process a device, by each transport: bits and time.

``mpirun -n 2 python benchmarks/mpi_transports.py --nodes 16e6 --out transports.json``. Process 0 first has
the devices of all processes, while these wait; then all share the same problem.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time

import numpy as np
import unda
from mpi4py import MPI

CASES = {"tet3": ("tet", 3, 120), "tet7": ("tet", 7, 720), "hex3": ("hex", 3, 64), "hex7": ("hex", 7, 512)}
TRANSPORTS = ("nccl", "mpi", "host")


def box(case, nodes):
    """Return a perturbed cube; the last number of a case: nodes of a cube of cells."""
    shape, _, of_cube = CASES[case]
    n = max(2, round((nodes / of_cube) ** (1 / 3)))
    return unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), shape=shape, perturb=0.2, seed=1)


def simulation(case, mesh, **where):
    """Return sound in a closed box, at a pressure that differs from node to node."""
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    degree = CASES[case][1]
    sim = unda.DG(mesh, medium, degree=degree, boundary={"*": "rigid"}, integrator="ab3", **where)
    sim.set(p=lambda x, y, z: np.sin(7 * x + 3 * y) * np.cos(4 * z))
    return sim


def measured(sim, seconds, comm=None):
    """Return seconds of a step, the median of five calls, and in process 0 a hash of p after some steps."""
    sim.step(20)
    p = sim.get("p", gather=True)
    digest = None if p is None else hashlib.sha256(p.tobytes()).hexdigest()[:16]
    begun = time.perf_counter()
    sim.step(16)
    num = int(np.clip(seconds / 5 / (time.perf_counter() - begun) * 16, 1, 2000)) // 16 * 16 or 16
    num = num if comm is None else comm.bcast(num)
    found = []
    for _ in range(5):
        begun = time.perf_counter()
        sim.step(num)
        found.append((time.perf_counter() - begun) / num)
    return float(np.median(found)), digest


def way_of(sim):
    """Return the transport that a simulation says it has."""
    return repr(sim).partition("messages by ")[2].partition(",")[0]


def rows(case, nodes, seconds, comm):
    """Yield in process 0 the time of each way to share the problem."""
    mesh = one = digest = None
    devices = [f"cuda:{i}" for i in range(comm.size)]
    if comm.rank == 0:
        mesh = box(case, nodes)
        with simulation(case, mesh, device=devices) as sim:
            one, digest = measured(sim, seconds)
            way = f"one process, {sim.team.transport}"
        yield {"case": case, "way": way, "num_elem": mesh.num_elem, "ms": 1e3 * one, "percent": 100.0}
    part = unda.scatter(mesh, comm)
    for transport in TRANSPORTS:
        try:
            sim = simulation(case, part, device=devices[comm.rank], transport=transport)
        except unda.DeviceError as error:  # in all processes
            if comm.rank == 0:
                yield {"case": case, "way": transport, "lacks": str(error).splitlines()[0]}
            continue
        with sim:
            step, found = measured(sim, seconds, comm)
            way = way_of(sim)
        if comm.rank == 0:
            share = {"percent": 100 * one / step, "same_bits": found == digest}
            yield {"case": case, "way": way, "num_elem": mesh.num_elem, "ms": 1e3 * step, **share}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="tet3,tet7,hex7")
    parser.add_argument("--nodes", type=float, default=16e6, help="of all devices together")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--out", default="transports.json")
    given = parser.parse_args()
    comm, made = MPI.COMM_WORLD, []
    for case in given.cases.split(","):
        for row in rows(case, given.nodes, given.seconds, comm):
            made.append(row)
            print(row, flush=True)
            with open(given.out, "w") as file:
                json.dump({"processes": comm.size, "rows": made}, file, indent=1)


if __name__ == "__main__":
    main()
