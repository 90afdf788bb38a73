"""A checkpoint or trace file is what was written, or a FileError: flipped or cut bytes, forged headers.

Digests are compared before HDF5 sees a file. Headers are looked at as if there were none: below, files are
changed and sealed again. What is not promised: that HDF5 bears a file made to harm it, digests and all.
"""

import json
import os
import warnings

import h5py
import numpy as np
import pytest
import unda
from unda.io import _digest


def dg():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, integrator="ab3", threads=1)
    sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.2), unda.ricker(1.0)))
    sim.add_receivers([(0.2, 0.3, 0.4)], every=3)
    sim.step(4)
    return sim


def fd():
    c = 1.0 + np.random.default_rng(0).random((5, 4, 6))
    layer = {"*": unda.Damping(width=2)}
    sim = unda.FD(
        unda.Grid((5, 4, 6), 0.1), unda.Acoustic(rho=1.0, c=c), boundary=layer, threads=1, device="cpu"
    )
    sim.set(p=np.random.default_rng(1).random((5, 4, 6)))
    sim.add_receivers([(0.2, 0.1, 0.3)], every=2)
    sim.step(3)
    return sim


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What was saved, by name: bytes, and what reads it."""
    folder = tmp_path_factory.mktemp("saved")
    dg().save(folder / "dg")
    fd().save(folder / "fd")
    fd().receivers[0].save(folder / "traces")
    read = {"dg": unda.load, "fd": unda.load, "traces": unda.load_receivers}
    return {name: ((folder / name).read_bytes(), read[name]) for name in read}


@pytest.mark.parametrize("num", [20, pytest.param(440, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["dg", "fd", "traces"])
def test_flipped_and_cut_bytes_are_refused(files, name, num, tmp_path):
    whole, read = files[name]
    random = np.random.default_rng(num)
    path = tmp_path / "run.h5"
    for i in range(num):
        damaged, at = bytearray(whole), int(random.integers(len(whole)))
        if i % 4 == 0:
            del damaged[at:]
        elif i % 4 == 1:
            del damaged[at : at + int(random.integers(1, 600))]
        else:
            damaged[at] ^= int(random.integers(1, 256))
        path.write_bytes(damaged)
        with pytest.raises(unda.FileError, match=r"run\.h5: "):
            read(path)


@pytest.mark.parametrize("name", ["dg", "fd", "traces"])
def test_a_file_that_begins_as_one_without_digests_does_not_pass_for_one(files, name, tmp_path):
    """Without the bytes before HDF5's own nobody would look for digests."""
    whole, read = files[name]
    (tmp_path / "run.h5").write_bytes(whole[512:])
    with pytest.warns(UserWarning, match="no digests"), pytest.raises(unda.FileError):
        read(tmp_path / "run.h5")


def resealed(path, content, change):
    """Write a file, change it as HDF5 has it, seal it again."""
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        change(file)
    with open(path, "r+b", buffering=0) as raw:
        _digest.seal(raw)


def forge(attribute, **entries):
    """Change entries of a header; names of nested ones are joined by two underscores."""

    def change(file):
        *folders, name = attribute.split("/")
        group = file["/".join(folders)] if folders else file
        header = json.loads(group.attrs[name])
        for key, value in entries.items():
            *outer, last = key.split("__")
            inner = header
            for one in outer:
                inner = inner[one]
            inner[last] = value
        group.attrs[name] = json.dumps(header)

    return change


def replaced(name, **how):
    def change(file):
        del file[name]
        file.create_dataset(name, **how)

    return change


def linked(name, link):
    def change(file):
        if isinstance(link, h5py.SoftLink):
            file.move(name, link.path)
        else:
            del file[name]
        file[name] = link

    return change


def deep(file):
    file.attrs["simulation"] = "[" * 100_000


HEADERS = [
    ("dg", {"config__degree": 10}), ("dg", {"config__degree": 0}), ("dg", {"config__degree": 2}),
    ("dg", {"config__degree": True}), ("dg", {"config__flux": "soup"}), ("dg", {"config__flux": 1}),
    ("dg", {"config__integrator": "euler"}), ("dg", {"config__dt": 0.0}), ("dg", {"config__dt": -0.1}),
    ("dg", {"config__dt": float("nan")}), ("dg", {"config__dt": 1e300}), ("dg", {"config__dt": "0.1"}),
    ("dg", {"config__cfl": float("inf")}), ("dg", {"step": 2**63 - 1}), ("dg", {"step": -1}),
    ("dg", {"step": 2**64}), ("dg", {"step": 7}), ("dg", {"step": 4.0}), ("dg", {"start": float("nan")}),
    ("dg", {"start": 1.0}), ("dg", {"history": 3}), ("dg", {"history": -1}), ("dg", {"physics": "elastic"}),
    ("dg", {"physics": []}), ("dg", {"config": []}), ("dg", {"config__method": "FE"}),
    ("dg", {"config__method": "FD"}), ("dg", {"config__dtype": "float16"}), ("dg", {"config__device": "tpu"}),
    ("dg", {"config__mesh": "0"}), ("dg", {"config__boundary": {"xmin": {}}}), ("dg", {"sources": [{}]}),
    ("dg", {"sources": [1]}), ("dg", {"config__threads": -1}), ("dg", {"exact": {"xmin": {"type": "no"}}}),
    ("fd", {"config__order": 5}), ("fd", {"config__order": 18}), ("fd", {"config__order": "4"}),
    ("fd", {"config__scheme": "soup"}), ("fd", {"config__grid__shape": [5, 4, 7]}), ("fd", {"history": 1}),
    ("fd", {"config__grid__shape": [10**6] * 3}), ("fd", {"config__grid__spacing": [0.1, 0.1, -0.1]}),
    ("fd", {"config__boundary__xmin__width": 10**6}), ("fd", {"config__grid": {"shape": 5}}),
    ("fd", {"config__dt": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entries"), HEADERS)
def test_forged_headers_are_refused(files, name, entries, tmp_path):
    whole, read = files[name]
    resealed(tmp_path / "run.h5", whole, forge("simulation", **entries))
    with pytest.raises(unda.FileError, match=r"run\.h5: "):
        read(tmp_path / "run.h5")


OTHERS = [
    ("dg", forge("receivers/0/receivers", every=0)), ("dg", forge("receivers/0/receivers", every=2)),
    ("dg", forge("receivers/0/receivers", step=2)), ("dg", forge("receivers/0/receivers", step=2**63 - 1)),
    ("dg", forge("receivers/0/receivers", dt=0.5)), ("dg", forge("receivers/0/receivers", t0=3.0)),
    ("dg", forge("receivers/0/receivers", fields=["soup"])), ("dg", deep),
    ("dg", linked("state", h5py.ExternalLink("/etc/passwd", "/state"))),
    ("dg", linked("mesh", h5py.SoftLink("/elsewhere"))), ("dg", linked("state", h5py.SoftLink("/elsewhere"))),
    ("dg", replaced("state", shape=(6, 4, 4), dtype="f4", chunks=(1, 4, 4), compression="gzip")),
    ("dg", replaced("state", shape=(6, 4, 4), dtype="f4", external=[("/etc/passwd", 0, 384)])),
    ("dg", replaced("state", shape=(6, 4, 4), dtype="f8")),
    ("dg", replaced("state", shape=(6, 4, 4), dtype=">f4")),
    ("dg", replaced("state", shape=(2**40, 4, 4), dtype="f4", chunks=(1, 4, 4))),
    ("fd", replaced("material", shape=(5, 4, 6, 2, 1), dtype="f8", data=np.ones((5, 4, 6, 2, 1)))),
    ("traces", replaced("samples", shape=(2**40, 1, 4), dtype="f4", chunks=(1, 1, 4))),
    ("traces", replaced("samples", shape=(2, 1, 1), dtype="i4", data=np.ones((2, 1, 1), "i4"))),
    ("traces", forge("receivers", every=-1)), ("traces", forge("receivers", step=-1)),
    ("traces", forge("receivers", units={})), ("traces", forge("receivers", dt=None)),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(OTHERS)))
def test_forged_groups_and_arrays_are_refused(files, i, tmp_path):
    name, change = OTHERS[i]
    whole, read = files[name]
    resealed(tmp_path / "run.h5", whole, change)
    with pytest.raises(unda.FileError, match=r"run\.h5: "):
        read(tmp_path / "run.h5")


@pytest.mark.parametrize("name", ["dg", "fd", "traces"])
def test_a_file_sealed_again_unchanged_loads(files, name, tmp_path):
    """So what is refused above is refused for what it says."""
    whole, read = files[name]
    resealed(tmp_path / "run.h5", whole, lambda file: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path / "run.h5")


@pytest.mark.parametrize("name", ["dg", "fd", "traces"])
def test_files_of_format_1_load_with_a_warning(files, name, tmp_path):
    whole, read = files[name]
    (tmp_path / "new.h5").write_bytes(whole)
    with h5py.File(tmp_path / "new.h5") as new, h5py.File(tmp_path / "old.h5", "w") as old:
        for one in new:
            new.copy(one, old)
        for key, value in new.attrs.items():
            old.attrs[key] = value
        old.attrs["format"] = 1
    assert (tmp_path / "old.h5").read_bytes()[:4] == b"\x89HDF"
    with pytest.warns(UserWarning, match=r"old\.h5 has no digests"):
        old = read(tmp_path / "old.h5")
    new = read(tmp_path / "new.h5")
    if name == "traces":
        assert np.array_equal(old["p"], new["p"]) and np.array_equal(old.t, new.t)
    else:
        assert old.t == new.t and np.array_equal(old.get("p"), new.get("p"))


def test_other_tools_of_hdf5_read_it(files, tmp_path):
    whole, _ = files["fd"]
    (tmp_path / "run.h5").write_bytes(whole)
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.userblock_size == 512 and file["p"].shape == (11, 10, 12)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "run.h5")
    for read in (unda.load, unda.load_receivers):
        with pytest.raises(unda.FileError, match=r"run\.h5"):
            read(tmp_path / "run.h5")
