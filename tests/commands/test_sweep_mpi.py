"""Sweeps on the ranks of MPI: mpiexec -n 3 python -m mpi4py.futures. Needs mpi4py and mpiexec.

Not here: what all executors have in common (test_sweep_executors.py).
"""

import ast
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")

SCRIPT = """
import os, time, unda
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor

def run(i, device):
    time.sleep(0.05)  # the other rank has the time to take one
    if i == 2:
        raise ValueError("no twos")
    if i == 5 and os.path.exists("deadly"):
        os._exit(1)
    return [i, MPI.COMM_WORLD.rank, device]

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        try:
            unda.sweep(lambda: 1, [{}], executor=executor)
        except unda.ArgumentError as error:
            print(error)
        results = unda.sweep(run, [{"i": i} for i in range(6)], executor=executor, cache="kept", store="json")
    print([(r.value, r.cached) for r in results])
    print(results.failures[0].error.splitlines()[-1])
"""


def run(folder):
    (folder / "job.py").write_text(SCRIPT)
    allowed = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    more = {"PYTHONPATH": os.pathsep.join(sys.path), "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    more |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    return subprocess.run(
        [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", "job.py"],
        cwd=folder, env=os.environ | allowed | more, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.mark.slow
def test_ranks_share_the_cases_and_a_lost_rank_costs_what_was_not_finished(tmp_path):
    """MPI ends all ranks with one; the next job goes on with what was kept."""
    (tmp_path / "deadly").touch()
    assert run(tmp_path).returncode != 0
    kept = len(list((tmp_path / "kept").glob("*.json")))
    assert 1 <= kept <= 4
    (tmp_path / "deadly").unlink()
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    refused, found, failed = done.stdout.splitlines()
    assert "cannot be found by another process" in refused and failed == "ValueError: no twos"
    found = ast.literal_eval(found)
    assert [value and value[0] for value, _ in found] == [0, 1, None, 3, 4, 5]
    assert {value[1] for value, _ in found if value} == {1, 2}
    assert {value[2] for value, _ in found if value} == {"cpu"}
    assert sum(cached for _, cached in found) == kept
