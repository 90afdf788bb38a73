"""Runs of DG and FD in processes of MPI: how tests start them, and a job that compares such runs with those
of one process.

`mpiexec -n 3 python rank_cases.py KEY ..` runs the keys of team_cases.py and slab_cases.py both ways in every
process and prints what differs; `transport=nccl` before them: so, each process with a device of its own.

Not here: the tests (mpi/test_mpi_bits.py, mpi/test_mpi_fd.py, mpi/test_mpi_ways.py).
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from rank_pool import Pool

MPIEXEC = shutil.which("mpiexec")
#: What repr says of each transport.
NAMES = {"nccl": "nccl", "mpi": "mpi by device", "host": "mpi by host"}


def how(num):
    """The words that start Python in so many processes, and their environment."""
    allowed = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    more = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    more |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}
    more |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    command = [MPIEXEC, "-n", str(num), sys.executable, "-W", "ignore::unda.AccuracyWarning"]
    return command, os.environ | allowed | more


def start(num, script, *arguments, folder=None, seconds=100, **environment):
    """Run a script in so many processes; the result of subprocess.run, in `seconds` or TimeoutExpired."""
    command, own = how(num)
    return subprocess.run(
        [*command, str(script), *arguments], cwd=folder, env=own | environment,
        capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip


def written(folder, text):
    script = folder / "job.py"
    script.write_text(text)
    return script


def job(num, folder, text, **more):
    """The same of a script given as text, in a folder."""
    return start(num, written(folder, text), folder=folder, **more)


def passes(num, folder, text, **more):
    """A script given as text ends well in processes of its own; the result of subprocess.run."""
    done = job(num, folder, text, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


_pools = {}


def passes_in_pool(num, folder, text, seconds=100):
    """A script given as text ends well in processes that do other such jobs too; what they printed.

    Of host memory alone: which device there is must be known before unda is loaded.
    """
    if num not in _pools:
        _pools[num] = Pool(num, *how(num))
    pool = _pools.pop(num)  # unless it ends well
    good, stdout, stderr = pool.do(written(folder, text), seconds)
    assert good, stdout + stderr
    _pools[num] = pool
    return SimpleNamespace(stdout=stdout, stderr=stderr)


def all_raise(kind, words, work):
    """For such scripts: work raises this exception, with these words."""
    try:
        work()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("a process went on")


def whole(sim):
    """What a function that makes a state looks at: the whole mesh, and the materials on it."""
    mesh = sim.whole_mesh
    material = sim.medium._in_cells(mesh, sim.degree)
    return SimpleNamespace(
        mesh=mesh, medium=sim.medium, fields=sim.fields, num_node=sim.num_node, _material=material
    )


@contextlib.contextmanager
def replaced(changes):
    """Attributes of modules are others meanwhile; changes: of (module, name, value)."""
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    try:
        for module, name, new in changes:
            setattr(module, name, new)
        yield
    finally:
        for module, name, old in before:
            setattr(module, name, old)


def files_of_all(comm, shared, are_alone=lambda: False):
    """Changes for `replaced`: all processes have one folder, and load simulations of the class `shared`.

    are_alone: whether each process has a simulation of its own.
    """
    import unda

    load, folder = unda.load, tempfile.TemporaryDirectory

    def load_shared(path, **given):
        if are_alone():
            return load(path, **given)
        sim = load(path, comm=comm, **given)
        sim.__class__ = shared
        return sim

    @contextlib.contextmanager
    def one_folder():
        with folder() if comm.rank == 0 else contextlib.nullcontext() as made:
            yield comm.bcast(made, root=0)
            comm.Barrier()

    return [(unda, "load", load_shared), (tempfile, "TemporaryDirectory", one_folder)]


def in_processes(comm, partition, transport=None):
    """`unda.DG` makes simulations that all processes share, and whose arrays are gathered in each.

    partition: a function of mesh and number that gives the part of each cell. transport: if given, each
    process has a device of its own.
    """
    import bits_dg
    import bits_hex
    import unda

    class Shared(unda.DG):
        def __init__(self, mesh, medium, **given):
            self.whole_mesh = mesh
            first = comm.rank == 0
            if transport:
                given |= {"device": f"cuda:{comm.rank}", "transport": transport}
            super().__init__(
                mesh if first else None, medium, comm=comm,
                partition=partition(mesh, comm.size) if first else "curve", **given,
            )  # fmt: skip
            assert not transport or f"messages by {NAMES[transport]}" in repr(self), repr(self)

        def get(self, name, **given):
            return comm.bcast(super().get(name, gather=True), root=0)

        def rhs(self):
            gathered = self.ranks.gathered
            return {
                name: comm.bcast(gathered(rows, self.mesh.own_cells, self.mesh.num_whole), root=0)
                for name, rows in super().rhs().items()
            }

    changes = [(unda, "DG", Shared), *files_of_all(comm, Shared)]
    for module, name in ((bits_dg, "state_of"), (bits_hex, "state_of"), (bits_hex, "_state_by_node")):
        plain = getattr(module, name)
        changes.append((module, name, lambda sim, *more, plain=plain: plain(whole(sim), *more)))
    return replaced(changes)


def grids_in_processes(comm, made, transport=None):
    """The same of `unda.FD`, which adds to `made` for each grid that has room for so many slabs."""
    import unda

    class Shared(unda.FD):
        def __init__(self, grid, medium, **given):
            where = {"device": f"cuda:{comm.rank}", "transport": transport} if transport else {}
            super().__init__(grid, medium, comm=comm, **given | {"threads": 1} | where)
            assert not transport or f"messages by {NAMES[transport]}" in repr(self), repr(self)
            made.append(self)

        def get(self, name, **given):
            return comm.bcast(super().get(name, gather=True), root=0)

    single = unda.FD

    def make(grid, medium, **given):
        try:
            return Shared(grid, medium, **given)
        except unda.ArgumentError as error:
            if "slabs of a grid" not in str(error):
                raise
        return single(grid, medium, **given)

    return replaced([(unda, "FD", make), *files_of_all(comm, Shared, lambda: not made)])


def compare(keys, transport=None):
    """Run each key in one process and in all; process 0 prints what differs."""
    import cuda_device
    from mpi4py import MPI

    cuda_device.prepare()
    import slab_cases
    from team_cases import RUNS, any_partition, differences

    comm = MPI.COMM_WORLD
    for i, key in enumerate(keys):
        made = []

        def parts(mesh, num, i=i):
            return mesh.partition(num) if i % 3 == 0 else any_partition(mesh, num, i)

        if key.startswith("fd/"):
            (function, *arguments), shared = slab_cases.RUNS[key], grids_in_processes(comm, made, transport)
        else:
            (function, *arguments), shared = RUNS[key], in_processes(comm, parts, transport)
        one = function(*arguments)
        with shared:
            other = function(*arguments)
        found = comm.gather(differences(one, other))
        if comm.rank == 0:
            alone = key.startswith("fd/") and not made
            print(key, found if any(found) else "alone" if alone else "same", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    given = sys.argv[1:]
    chosen = given.pop(0).partition("=")[2] if given[0].startswith("transport=") else None
    compare(Path(given[0]).read_text().split() if given[0].endswith(".txt") else given, chosen)
