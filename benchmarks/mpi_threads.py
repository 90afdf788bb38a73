"""CPU: one process of n threads beside n processes of one thread, in turns: milliseconds a step of each.

``python benchmarks/mpi_threads.py --processes 2 --out threads.json``; needs mpiexec and mpi4py. Problems are
those of mpi_transports.py. The machine should have nothing else to do. Not here: devices (mpi_transports.py).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

import numpy as np
import unda
from mpi4py import MPI
from mpi_transports import CASES, measured, problem, simulation
from unda.commands.measuring import origin


def time_cases(cases, nodes, seconds):
    """Print in process 0 a line of JSON for each case: seconds of a step and a hash of a field."""
    comm = MPI.COMM_WORLD
    shared = comm.size > 1
    for case in cases:
        on_grid, first = CASES[case][0] == "fd", comm.rank == 0
        of = problem(case, nodes) if first or on_grid else None
        of = unda.scatter(of, comm) if shared and not on_grid else of
        where = {"of": of, "comm": comm} if shared and on_grid else {"of": of}
        with simulation(case, device="cpu", **where) as sim:
            step, digest = measured(sim, seconds, comm)
        if first:
            print(json.dumps({"case": case, "ms": 1e3 * step, "hash": digest}), flush=True)


def run(given, processes, threads):
    """Return what a run of so many processes printed, by case."""
    own = [sys.executable, __file__, "--child", "--cases", given.cases]
    own += ["--nodes", str(given.nodes), "--seconds", str(given.seconds)]
    start = ["mpiexec", "-n", str(processes)] if processes > 1 else []
    done = subprocess.run(
        [*start, *own], env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    return {row["case"]: row for row in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="tet3,hex7,sem4,scalar4,elastic4")
    parser.add_argument("--nodes", type=float, default=1e6)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", default="threads.json")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        time_cases(given.cases.split(","), given.nodes, given.seconds)
        return
    num = given.processes
    turns = [(run(given, 1, num), run(given, num, 1)) for _ in range(given.turns)]
    rows = []
    for case in given.cases.split(","):
        threads, ranks = (float(np.median([turn[way][case]["ms"] for turn in turns])) for way in (0, 1))
        one, other = (turns[0][way][case]["hash"] for way in (0, 1))
        rows.append({"case": case, "threads_ms": threads, "processes_ms": ranks,
                     "percent": 100 * threads / ranks, "same_bits": one == other})  # fmt: skip
        print(rows[-1], flush=True)
    head = {"benchmark": "threads", **origin("cpu", num), "processes": num, "nodes": given.nodes}
    with open(given.out, "w") as file:
        json.dump({**head, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
