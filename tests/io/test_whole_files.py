"""A name holds the old file or the whole new one; what the dead left is removed, what others write is not."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
import unda
from unda import _files
from unda.io import _digest

CODE = """
import sys, os, unda
from unda._files import whole_file
with whole_file(sys.argv[1]) as (partial, raw):
    raw.write(b"half")
    print(partial, flush=True)
    sys.stdin.readline()
    raw.write(b" and half")
"""


def writer(path):
    """A process that has half a file, and the name of that."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, "-c", CODE, path], text=True, env=environment, **pipes)
    return child, child.stdout.readline().strip()


def put(path, content):
    with _files.replacing(path) as file:
        file.write(content)


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    path = tmp_path / "run.h5"
    (dead, left), (alive, half) = writer(path), writer(path)
    dead.send_signal(signal.SIGKILL)
    dead.communicate()
    assert os.path.exists(left) and os.path.exists(half) and left != half
    names = ".run.h5.tmp", ".run.h5.123.tmp", ".other.0123456789abcdef.tmp"
    strangers = [tmp_path / name for name in names]
    for stranger in strangers:
        stranger.write_bytes(b"another's")
    put(path, b"mine")
    assert not os.path.exists(left) and os.path.exists(half) and path.read_bytes() == b"mine"
    alive.communicate("\n")
    assert alive.returncode == 0 and path.read_bytes() == b"half and half"
    assert sorted(tmp_path.iterdir()) == sorted([path, *strangers])


def test_many_threads_that_write_one_name_leave_one_whole_file(tmp_path):
    path = tmp_path / "values"
    failures = []

    def work(i):
        try:
            for _ in range(10):
                put(path, bytes([i]) * 100_000)
                content = path.read_bytes()
                assert len(content) == 100_000 and len(set(content)) == 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and list(tmp_path.iterdir()) == [path]


def test_two_threads_save_to_one_name_and_the_last_one_wins(tmp_path):
    grid, medium = unda.Grid((9, 8, 7), 1.0), unda.Acoustic(rho=1.0, c=1.0)
    sims = [unda.FD(grid, medium, device="cpu", threads=1) for _ in range(2)]
    for p, sim in enumerate(sims, 1):
        sim.set(p=p)
    threads = [threading.Thread(target=sim.save, args=(tmp_path / "run.h5",)) for sim in sims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = unda.load(tmp_path / "run.h5").get("p")
    assert any(np.array_equal(found, sim.get("p")) for sim in sims)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.h5"]


def test_a_name_that_is_a_link_stays_one_and_planted_links_are_not_followed(tmp_path, monkeypatch):
    real, link, victim = tmp_path / "real", tmp_path / "link", tmp_path / "victim"
    real.write_bytes(b"old")
    victim.write_bytes(b"dear")
    link.symlink_to(real)
    planted = tmp_path / ".real.0123456789abcdef.tmp"
    planted.symlink_to(victim)
    names = iter(["0123456789abcdef", "fedcba9876543210"])
    monkeypatch.setattr(_files.secrets, "token_hex", lambda _: next(names))
    with pytest.raises(unda.FileError, match="cannot write"):
        put(link, b"new")
    assert victim.read_bytes() == b"dear" and real.read_bytes() == b"old" and planted.is_symlink()
    put(link, b"new")
    assert victim.read_bytes() == b"dear" and real.read_bytes() == b"new" and link.is_symlink()
    other = tmp_path / ".new.0123456789abcdef.tmp"
    with open(other, "wb") as file:  # another's, who writes it
        fcntl.flock(file, fcntl.LOCK_EX)
        monkeypatch.setattr(_files.secrets, "token_hex", lambda _: "0123456789abcdef")
        with pytest.raises(unda.FileError, match="cannot write"):
            put(tmp_path / "new", b"mine")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_neither_replaced_nor_waited_for(tmp_path, make):
    make(tmp_path / "run")
    before = os.lstat(tmp_path / "run")
    with pytest.raises(unda.FileError, match="is there and no file"):
        put(tmp_path / "run", b"")
    assert os.lstat(tmp_path / "run") == before
    make(tmp_path / ".file.0123456789abcdef.tmp")
    put(tmp_path / "file", b"fine")
    assert (tmp_path / "file").read_bytes() == b"fine"


def test_it_has_the_mode_that_a_new_file_has_or_that_of_the_old_one(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    put(tmp_path / "new", b"")
    assert os.stat(tmp_path / "new").st_mode == os.stat(plain).st_mode
    plain.chmod(0o640)
    put(plain, b"")
    assert stat.S_IMODE(os.stat(plain).st_mode) == 0o640


def test_long_names_and_failures_leave_nothing(tmp_path):
    put(tmp_path / ("ä" * 127), b"long")

    with pytest.raises(ZeroDivisionError), _files.replacing(tmp_path / "never") as file:
        file.write(b"half")
        raise ZeroDivisionError
    with pytest.raises(unda.FileError, match=r"cannot write .*missing"):
        put(tmp_path / "missing" / "never", b"")
    assert [entry.name for entry in tmp_path.iterdir()] == ["ä" * 127]


def test_where_a_remover_is_faster_another_name_is_taken(tmp_path, monkeypatch):
    """It locked the new file before its writer did."""
    taken = []
    flock = fcntl.flock

    def first_locked_elsewhere(file, how):
        if not taken:
            taken.append(os.open(f"/proc/self/fd/{file}", os.O_RDWR))
            flock(taken[0], fcntl.LOCK_EX)
        return flock(file, how)

    monkeypatch.setattr(_files.fcntl, "flock", first_locked_elsewhere)
    put(tmp_path / "run", b"mine")
    assert (tmp_path / "run").read_bytes() == b"mine" and len(list(tmp_path.iterdir())) == 2
    os.close(taken[0])
    put(tmp_path / "run", b"again")
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


# ---- digests ----


def sealed(path, content):
    with _files.whole_file(path) as (_, raw):
        raw.write(content)
        _digest.seal(raw)


def checked(path):
    with open(path, "rb", buffering=0) as raw:
        return raw.read(_digest.check_seal(raw))


def test_every_byte_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(_digest, "_BLOCK", 20)
    path = tmp_path / "value"
    content = np.random.default_rng(0).bytes(45)
    for part in (content, b"", content[:40]):
        sealed(path, part)
        assert checked(path) == part
    sealed(path, content)
    whole = path.read_bytes()
    assert len(whole) == 45 + 3 * 32 + 64
    changed = [whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :] for i in range(len(whole))]
    cut = [whole[:i] for i in range(len(whole))]
    for one in [*changed, *cut, whole[1:], whole + b"\0", whole + whole, whole[:60] + whole[61:]]:
        path.write_bytes(one)
        with pytest.raises(unda.FileError, match="the file is damaged"):
            checked(path)


def test_digests_made_while_it_is_written_in_any_order_are_those_of_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(_digest, "_BLOCK", 64)
    random = np.random.default_rng(1)
    with _files.whole_file(tmp_path / "value") as (_, raw), _digest.Seal(raw) as digests:
        for first in [*range(0, 1000, 40), *random.integers(0, 990, 50)]:
            raw.seek(first)
            raw.write(random.bytes(40))
            digests.wrote(int(first), 40)
        digests.finish()
    assert len(checked(tmp_path / "value")) >= 1000
