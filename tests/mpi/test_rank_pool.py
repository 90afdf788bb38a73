"""Promises about processes that do one job after another: what goes wrong in one is seen, and ends with it.

Not here: what the jobs of other tests look at.
"""

import subprocess

import pytest
import rank_cases

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

BEGIN = """
import os, sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
bad = comm.rank == 1
"""


NUMBER = "print(os.getppid(), 'mine' in globals(), flush=True)\nmine = 1"
FAULTS = [
    ("if bad: raise KeyError('lost')\ncomm.Barrier()", AssertionError, "KeyError: 'lost'"),
    ("if bad: os._exit(0)\ncomm.Barrier()", AssertionError, None),
    ("if bad: comm.send('late', dest=0)", AssertionError, "left a message to process 0"),
    ("if not bad: comm.Barrier()", subprocess.TimeoutExpired, "timed out after 2 seconds"),
]


def test_a_fault_of_one_process_fails_its_job_alone(tmp_path):
    """It raises, ends, leaves a message to the next job, or the other one waiting.

    Two jobs in turn share processes, but no names; the one after a fault has new processes.
    """

    def number():
        return rank_cases.passes_in_pool(2, tmp_path, BEGIN + NUMBER).stdout

    one = number()
    for fault, kind, words in FAULTS:
        assert number() == one and one.count("False") == 2
        with pytest.raises(kind, match=words):
            seconds = 2 if kind is subprocess.TimeoutExpired else 20
            rank_cases.passes_in_pool(2, tmp_path, BEGIN + fault, seconds)
        before, one = one, number()
        assert one != before
