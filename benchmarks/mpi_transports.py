"""Several devices in one process beside one process a device, by each transport: bits and time.

``mpirun -n 2 python benchmarks/mpi_transports.py --nodes 16e6 --out transports.json``. Process 0 first has
the devices of all processes, while these wait; then all share the same problem.
Cases, in closed boxes: tet3 .. hex7: DG (sound); sem4: SEM (elastic); scalar4, elastic4: FD.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time

import numpy as np
import unda
from mpi4py import MPI
from unda.commands.measuring import origin

#: Method, kind, degree or order, nodes of a cube of cells.
CASES = {
    "tet3": ("dg", "tet", 3, 120),
    "tet7": ("dg", "tet", 7, 720),
    "hex3": ("dg", "hex", 3, 64),
    "hex7": ("dg", "hex", 7, 512),
    "sem4": ("sem", "hex", 4, 64),
    "scalar4": ("fd", "scalar", 4, 1),
    "elastic4": ("fd", "elastic", 4, 1),
}
TRANSPORTS = ("nccl", "mpi", "host")


def problem(case, nodes):
    """Return a perturbed cube of cells, or a cubic grid."""
    method, kind, _, of_cube = CASES[case]
    n = max(2, round((nodes / of_cube) ** (1 / 3)))
    if method == "fd":
        return unda.Grid((n, n, n), 10.0)
    return unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), shape=kind, perturb=0.2, seed=1)


def simulation(case, of, **where):
    """Return waves in a closed box, in a state that differs from node to node."""
    method, kind, order, _ = CASES[case]
    sound, rock = unda.Acoustic(rho=1000.0, c=1500.0), unda.Elastic(rho=2600.0, vp=4000.0, vs=2300.0)
    if method == "dg":
        sim = unda.DG(of, sound, degree=order, boundary={"*": "rigid"}, integrator="ab3", **where)
    elif method == "sem":
        sim = unda.SEM(of, rock, degree=order, boundary={"*": "free"}, **where)
    else:
        scheme, medium = ("scalar", sound) if kind == "scalar" else ("staggered", rock)
        sim = unda.FD(of, medium, scheme=scheme, order=order, boundary={"*": "free"}, kernel="step", **where)
    sim.set(**{seen(sim): lambda x, y, z: np.sin(7 * x + 3 * y) * np.cos(4 * z)})
    return sim


def seen(sim):
    """Return the field that is set, and whose bits are compared."""
    return next(name for name in ("p", "ux", "vx") if name in sim.fields)


def measured(sim, seconds, comm=None):
    """Return seconds of a step, the median of five calls, and in process 0 a hash of a field after some."""
    sim.step(20)
    field = sim.get(seen(sim), gather=True)
    digest = None if field is None else hashlib.sha256(field.tobytes()).hexdigest()[:16]
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


def rows(case, nodes, seconds, transports, comm):
    """Yield in process 0 the time of each way to share the problem."""
    on_grid, first = CASES[case][0] == "fd", comm.rank == 0
    of = problem(case, nodes) if first or on_grid else None
    one = digest = dt = None
    devices = [f"cuda:{i}" for i in range(comm.size)]
    if first:
        with simulation(case, of, device=devices) as sim:
            one, digest = measured(sim, seconds)
            dt, size = sim.dt, sim._size()[0]
            way = f"one process, {sim.team.transport}"
        yield {"case": case, "way": way, "size": size, "ms": 1e3 * one, "percent": 100.0}
    dt = comm.bcast(dt)  # of SEM each way estimates its own
    part = {"of": of, "comm": comm} if on_grid else {"of": unda.scatter(of, comm)}
    for transport in transports:
        try:
            sim = simulation(case, device=devices[comm.rank], transport=transport, dt=dt, **part)
        except unda.DeviceError as error:  # in all processes
            if first:
                yield {"case": case, "way": transport, "lacks": str(error).splitlines()[0]}
            continue
        with sim:
            step, found = measured(sim, seconds, comm)
            way = way_of(sim)
        if first:
            share = {"percent": 100 * one / step, "same_bits": found == digest}
            yield {"case": case, "way": way, "size": size, "ms": 1e3 * step, **share}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="tet3,tet7,hex7,sem4,scalar4,elastic4")
    parser.add_argument("--nodes", type=float, default=16e6, help="of all devices together")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--transports", default=",".join(TRANSPORTS))
    parser.add_argument("--out", default="transports.json")
    given = parser.parse_args()
    comm, made = MPI.COMM_WORLD, []
    head = {"benchmark": "transports", **origin("cuda:0", None), "processes": comm.size}
    for case in given.cases.split(","):
        for row in rows(case, given.nodes, given.seconds, given.transports.split(","), comm):
            made.append(row)
            print(row, flush=True)
            with open(given.out, "w") as file:
                json.dump({**head, "rows": made}, file, indent=1)


if __name__ == "__main__":
    main()
