"""A VTI file holds what the simulation holds, as VTK numbers it, to the last bit.

Not here: meshes (test_vtu.py).
"""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import unda

TYPES = {"Float32": "<f4", "Float64": "<f8", "UInt8": "u1"}
GRID = unda.Grid((5, 4, 3), (2.0, 3.0, 0.1), origin=(-1.0, 0.0, 4e6))
VARYING = unda.Elastic(rho=lambda x, y, z: 1000.0 + x, vp=2000.0, vs=900.0)


def read(path):
    """The attributes of the image, and its arrays by name: fields (nx, ny, nz), of the field data flat."""
    text, raw = path.read_bytes().split(b'<AppendedData encoding="raw">\n_', 1)
    tree = ElementTree.fromstring(text.decode() + "</VTKFile>")
    assert tree.attrib == {
        "type": "ImageData", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"
    }  # fmt: skip
    image, made, end = tree.find("ImageData"), {}, 0
    low, high = np.array(image.get("WholeExtent").split(), int).reshape(3, 2).T
    assert (low == 0).all() and image.find("Piece").get("Extent") == image.get("WholeExtent")
    for where in ("FieldData", "Piece/PointData"):
        for one in image.find(where):
            start = int(one.get("offset"))
            assert start == end and one.get("format") == "appended"
            size = int(np.frombuffer(raw, "<u8", 1, start)[0])
            end = start + 8 + size
            values = np.frombuffer(raw[start + 8 : end], TYPES[one.get("type")])
            if where == "FieldData":
                assert int(one.get("NumberOfTuples")) == len(values)
            if where == "FieldData":
                made[one.get("Name")] = values
                continue
            parts = values.reshape(*(high[::-1] + 1), -1).T
            for i, part in enumerate(parts):
                axes = one.get(f"ComponentName{i}", "").lower()
                made[(one.get("Name").lower() if axes else one.get("Name")) + axes] = part
    assert re.fullmatch(rb"\s*</AppendedData>\s*</VTKFile>\s*", raw[end:])
    return image.attrib, made


def wave(scheme, medium, dtype="float32", steps=3):
    sides = {"*": "rigid" if scheme == "scalar" else "free"}
    sim = unda.FD(GRID, medium, scheme=scheme, boundary=sides, dtype=dtype, device="cpu")
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal(GRID.shape) for name in sim.fields})
    sim.step(steps)
    return sim


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "scheme, medium", [("scalar", unda.Acoustic(rho=1.0, c=1500.0)), ("staggered", VARYING)]
)
def test_what_is_read_back_is_what_was_there(tmp_path, scheme, medium, dtype):
    sim = wave(scheme, medium, dtype)
    sim.write_vti(tmp_path / "wave.vti")
    image, found = read(tmp_path / "wave.vti")
    assert [float(x) for x in image["Origin"].split()] == list(GRID.origin)
    assert [float(x) for x in image["Spacing"].split()] == list(GRID.spacing)
    for name in sim.fields:
        assert found[name].dtype == sim.dtype and found[name].any()
        np.testing.assert_array_equal(found[name], sim.get(name))
    assert found["TimeValue"] == [sim.t] and sim.t > 0
    assert json.loads(bytes(found["config"])) == json.loads(json.dumps(sim.config))
    assert ("rho" in found) == (medium is VARYING)
    if medium is VARYING:
        np.testing.assert_array_equal(found["rho"], (1000.0 + sim.coordinates[..., 0]).astype(dtype))


def test_where_and_when_staggered_fields_are(tmp_path):
    sim = wave("staggered", unda.Elastic(rho=1000.0, vp=2000.0, vs=900.0))
    sim.write_vti(tmp_path / "wave.vti")
    found = read(tmp_path / "wave.vti")[1]
    assert found["offset_vy"].tolist() == [0, 0.5, 0, -0.5] and found["offset_sxz"].tolist() == [
        0.5,
        0,
        0.5,
        0,
    ]
    assert "offset_sxx" not in found and "rho" not in found
    for name in ("vy", "sxz"):
        moved = sim.coordinates_of(name)[0, 0, 0] - sim.coordinates[0, 0, 0]
        assert np.allclose(moved, found[f"offset_{name}"][:3] * GRID.spacing, rtol=0, atol=1e-8)


def test_blocks_of_any_size_make_the_same_file(tmp_path, monkeypatch):
    sim = wave("staggered", VARYING)
    sim.write_vti(tmp_path / "one.vti", fields=["vx"])
    sim.write_vti(tmp_path / "all.vti")
    monkeypatch.setattr("unda.io.vti._BLOCK", 1)
    sim.write_vti(tmp_path / "other.vti", fields=["vx"])
    assert (tmp_path / "one.vti").read_bytes() == (tmp_path / "other.vti").read_bytes()
    assert "vy" not in read(tmp_path / "one.vti")[1]
    sim.write_vti(tmp_path / "other.vti")
    assert (tmp_path / "all.vti").read_bytes() == (tmp_path / "other.vti").read_bytes()


def test_wrong_fields_and_places_are_refused(tmp_path):
    sim = wave("scalar", unda.Acoustic(rho=1.0, c=1500.0))
    with pytest.raises(unda.ArgumentError, match="no fields"):
        sim.write_vti(tmp_path / "wave.vti", fields=["vx"])
    with pytest.raises(unda.FileError, match="cannot write"):
        sim.write_vti(tmp_path / "missing" / "wave.vti")
    assert not list(tmp_path.iterdir())
    sim.close()
    with pytest.raises(unda.ArgumentError, match="closed"):
        sim.write_vti(tmp_path / "wave.vti")
    assert not list(tmp_path.iterdir())
