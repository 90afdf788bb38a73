"""Processes of MPI that do one job after another: to start one takes half a second, longer than most jobs do.

A job that fails in a process, or does not end in time, ends them all; the next one has new processes. What
an earlier job has left (modules, the communicator's duplicate) a later one finds; to leave a message is a
failure. Not here: jobs with an environment of their own, on devices, or whose end is looked at: rank_cases.py
starts processes for each.
"""

import atexit
import contextlib
import gc
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path


class Pool:
    """So many processes, each at the other end of a socket; command: what starts them, but for the script."""

    def __init__(self, num, command, environment):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
            address = os.path.join(folder, "socket")
            server.bind(address)
            server.listen(num)
            server.settimeout(60)
            self.mpiexec = subprocess.Popen(
                [*command, __file__, address], env=environment, stdin=subprocess.DEVNULL
            )
            self.links = [server.accept()[0] for _ in range(num)]
        self.links.sort(key=lambda link: int(said(link)))
        atexit.register(self.end)

    def do(self, script, seconds):
        """Run a script in its folder, in all processes: whether it ends well in each, and what they print."""
        for link in self.links:
            link.sendall(f"{script}\n".encode())
        until, good = time.monotonic() + seconds, True
        with selectors.DefaultSelector() as waiting:
            for link in self.links:
                waiting.register(link, selectors.EVENT_READ)
            while good and waiting.get_map():
                ready = waiting.select(max(until - time.monotonic(), 0))
                if not ready:
                    self.end(now=True)
                    raise subprocess.TimeoutExpired(str(script), seconds)
                for key, _ in ready:
                    good = good and said(key.fileobj) == "well"  # "" of a process that has ended
                    waiting.unregister(key.fileobj)
        if not good:
            self.end(now=True)
        printed = (printed_by(script, rank) for rank in range(len(self.links)))
        return good, *(
            "".join(path.read_text() for path in each if path.exists()) for each in zip(*printed, strict=True)
        )

    def end(self, now=False):
        """Without a link processes come to their end; `now`: wherever they are."""
        atexit.unregister(self.end)
        for link in self.links:
            link.close()
        if now:
            self.mpiexec.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.mpiexec.wait(20)
        self.mpiexec.kill()
        self.mpiexec.wait()


def said(link):
    """A word, shorter than what is sent at a time."""
    return link.recv(80).decode()


def printed_by(script, rank):
    """The files of what a process prints, and of its errors."""
    return [Path(f"{script}.{rank}.{kind}") for kind in ("out", "err")]


@contextlib.contextmanager
def printing_into(paths):
    """What is printed, from C too, goes into two files meanwhile."""
    kept = os.dup(1), os.dup(2)
    for number, path in zip((1, 2), paths, strict=True):
        with path.open("w") as file:
            os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, own in zip((1, 2), kept, strict=True):
            os.dup2(own, number)
            os.close(own)


def ends_well(script):
    """Run it as a program; an exception is printed."""
    try:
        with warnings.catch_warnings():
            exec(compile(Path(script).read_text(), script, "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
        return False
    return True


def has_all_messages(comm, own):
    """No message of a job waits for the next one; own: a communicator that jobs do not have."""
    own.Barrier()
    left = comm.iprobe()
    if left:
        print(f"the job left a message to process {comm.rank} that nobody received", file=sys.stderr)
    return not left


def serve(address):
    """Do one job after another, as long as there is somebody at the other end."""
    from mpi4py import MPI

    rank, own = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.Dup()
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(address)
        link.sendall(str(rank).encode())
        for line in link.makefile():
            script = line.rstrip("\n")
            os.chdir(Path(script).parent)
            with printing_into(printed_by(script, rank)):
                well = ends_well(script) and has_all_messages(MPI.COMM_WORLD, own)
            gc.collect()
            link.sendall(b"well" if well else b"ill")


if __name__ == "__main__":
    serve(sys.argv[1])
