"""Atomic writing of files: into a temporary file under a lock, forced to disk, renamed.

A name always refers to the complete old or new file, whichever process is killed or writes it as well. Links
remain links: their target is replaced. Not here: the contents of files (_hdf.py, vtu.py, ..).
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import FileError

_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


def read_file(path: Path) -> bytes:
    """Return the contents of a file; raise OSError if it is not a regular file: a FIFO would block."""
    with io.FileIO(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)) as raw:
        if not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
            raise OSError(f"{path} is no file")
        return raw.readall()


def _stem(path: Path) -> str:
    """Return how the names of unfinished files of a path begin: names have 255 bytes at most."""
    return "." + os.fsencode(path.name)[:150].decode("utf-8", "ignore") + "."


def _lock(file: int, path: Path) -> bool:
    """Lock a file; False if someone else has it, or it no longer has that name.

    A lock lives as long as the process that holds it, on any machine that shares the folder.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mine, there = os.fstat(file), os.lstat(path)
    except OSError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _remove_orphans(path: Path, suffix: str) -> None:
    """Remove unfinished files of this path whose writers are dead."""
    name = re.compile(re.escape(_stem(path)) + "[0-9a-f]{16}" + re.escape(suffix))
    for entry in os.listdir(path.parent):
        if not name.fullmatch(entry):
            continue
        other = path.parent / entry
        with suppress(OSError):
            file = os.open(other, _FLAGS | os.O_NONBLOCK)
            try:
                if stat.S_ISREG(os.fstat(file).st_mode) and _lock(file, other):
                    os.unlink(other)
            finally:
                os.close(file)


def _begin(path: Path, suffix: str) -> tuple[Path, io.FileIO]:
    """Make a file beside the path that is locked, with the mode of the old one."""
    while True:
        partial = path.with_name(f"{_stem(path)}{secrets.token_hex(8)}{suffix}")
        raw = io.FileIO(os.open(partial, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666), "r+")
        try:
            fcntl.flock(raw.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process took it for an orphan and removes it
            raw.close()
            continue
        except OSError:  # a file system without locks: nobody takes it for an orphan there
            pass
        if os.fstat(raw.fileno()).st_nlink:
            with suppress(OSError):
                os.fchmod(raw.fileno(), stat.S_IMODE(os.stat(path).st_mode))
            return partial, raw
        raw.close()


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def whole_file(path: Any, suffix: str = ".tmp") -> Iterator[tuple[Path, io.FileIO]]:
    """Write a file so that its name holds the old file or the whole new one.

    Parameters
    ----------
    path : str or Path
    suffix : str
        How the name ends under which it is written.

    Yields
    ------
    partial : Path
        That name, for writers that need one.
    raw : FileIO
        The same file, open.

    Raises
    ------
    FileError
        If it cannot be written, or the name is that of something else than a file.
    """
    path = Path(os.path.realpath(path))
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise FileError(f"cannot write {path}: it is there and no file")
        _remove_orphans(path, suffix)
        partial, raw = _begin(path, suffix)
        with raw:
            try:
                yield partial, raw
                os.fsync(raw.fileno())
                os.replace(partial, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(partial)
                raise
        _sync_folder(path.parent)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {error}") from None


@contextmanager
def replacing(path: Any) -> Iterator[io.BufferedWriter]:
    """Open a binary file to write that takes the place of `path` when all went well, see `whole_file`."""
    with whole_file(path) as (_, raw), open(raw.fileno(), "wb", closefd=False) as file:
        yield file
