"""Runs of SEM in processes of MPI, beside those of the same parts in one process and of one device.

`mpiexec -n 3 python sem_rank_cases.py DEVICE NUMBER ..` runs these cases of the table; process 0 prints what
differs. DEVICE is "cpu", "cuda", or a transport: then each process has a CUDA device of its own.

Not here: how processes are started (rank_cases.py), the tests (mpi/test_mpi_sem.py, mpi/test_mpi_ways.py).
"""

import sys
from pathlib import Path
from types import SimpleNamespace

SETTINGS = {
    "kind": ("solid", "fluid", "coupled"),
    "degree": (2, 3, 4),
    "dtype": ("float32", "float64"),
    "cells": ("sheared", "warped", "curved"),
    "boundary": ("free", "hard", "mirror", "absorbing", "mixed", "periodic"),
    "per": ("cell", "node"),
    "source": ("force", "moment", "volume", "none"),
    "seed": (None, 1, 2),
    "assembly": ("ordered",),
    "tile": (2,),
}


def table():
    from pairwise import pairwise

    return pairwise(SETTINGS, drawn=3000)


def shared(comm, case, device, mesh, **options):
    """A simulation of all processes, whose fields are gathered in each of them."""
    import rank_cases
    import unda
    from sem_cuda_cases import made
    from team_cases import any_partition

    transport = rank_cases.NAMES.get(device)
    if transport:
        device, options["transport"] = f"cuda:{comm.rank}", device
    single, first = unda.SEM, comm.rank == 0
    if first and case["seed"] is not None:
        options["partition"] = any_partition(mesh, comm.size, case["seed"])

    class Shared(single):
        def __init__(self, given, medium, **more):
            super().__init__(given if first else None, medium, comm=comm, **more)
            assert not transport or f"messages by {transport}," in repr(self), repr(self)

        def get(self, name):
            return comm.bcast(super().get(name, gather=True), root=0)

    unda.SEM = Shared
    try:
        return made(device, case, mesh=mesh, **options)
    finally:
        unda.SEM = single


def whole_of(case, mesh):
    """Mesh and fluids of all cells."""
    from sem_cuda_cases import medium_for

    medium = medium_for(case["kind"], mesh, case["degree"], case["per"])
    columns = medium._in_cells(mesh, case["degree"])[:, 0]
    fluid = columns[:, 0] > 0 if case["kind"] == "fluid" else columns[:, 2] == 0
    return SimpleNamespace(mesh=mesh, _fluid=fluid)


def found(sim):
    """All that a run gives, by name."""
    from sem_cuda_cases import values_of

    inside = sim.receivers[0].points
    samples = {f"sample {name}": value for name, value in sim.sample(inside).items()}
    return values_of(sim) | samples | {"energy": sim.energy(), "dt": sim.dt}


def differences(comm, device, case):
    """What differs by a bit from the same parts in one process, on as many devices or the CPU; by more than
    promised from one device. Two processes on one device are compared with that alone."""
    import numpy as np
    from sem_cuda_cases import made, mesh_for
    from sem_team_cases import PROMISED, apart, run

    mesh = mesh_for(case["cells"], case["boundary"])
    whole, on_cpu = whole_of(case, mesh), device == "cpu"
    one = made("cpu", case, mesh=mesh)
    sim = shared(comm, case, device, mesh, **({} if on_cpu else {"dt": one.dt}))
    mine = found(run(sim, case["source"], whole=whole))
    wrong = comm.allgather(any(value.tobytes() != comm.bcast(value).tobytes() for value in
                               (np.asarray(value) for value in mine.values())))  # fmt: skip
    lines = [f"process {i}" for i, bad in enumerate(wrong) if bad]
    if comm.rank:
        return lines
    if device != "cuda":
        devices = ["cpu"] * comm.size if on_cpu else [f"cuda:{i}" for i in range(comm.size)]
        parts = one if comm.size == 1 else made(
            devices, case, mesh=mesh, seed=case["seed"], **({} if on_cpu else {"dt": one.dt})
        )  # fmt: skip
        same = found(run(parts, case["source"]))
        lines += [name for name, value in same.items()
                  if np.asarray(value).tobytes() != np.asarray(mine[name]).tobytes()]  # fmt: skip
    one = made("cpu", case, mesh=mesh, dt=sim.dt)
    for name, value in found(run(one, case["source"])).items():
        # of the energy: sem_team_cases.compare
        room = PROMISED[case["dtype"]] * (2 / 0.19 if name == "energy" else 1)
        if not apart(np.atleast_1d(value), np.atleast_1d(mine[name])) < room:
            lines.append(f"{name} of one device")
    return lines


def compare(device, numbers):
    import cuda_device
    from mpi4py import MPI

    cuda_device.prepare()
    cases = table()
    for i in numbers:
        lines = differences(MPI.COMM_WORLD, device, cases[i])
        if MPI.COMM_WORLD.rank == 0:
            print(i, lines or "same", flush=True)


if __name__ == "__main__":
    here = Path(__file__).parent
    sys.path[:0] = [str(here), str(here / "sem")]
    compare(sys.argv[1], map(int, sys.argv[2:]))
