"""Series in time, vectors and tensors of VTU and VTI files, and what VTK itself reads of them.

Not here: points and cells (test_vtu.py), the bits of grids (test_vti.py).
"""

import json
import os
from xml.etree import ElementTree

import numpy as np
import pytest
import unda
from unda.io import vtk_xml

MESH = unda.box_mesh((0, 0, 0), (1, 2, 1), (2, 2, 1), perturb=0.2, seed=1)
GRID = unda.Grid((5, 4, 3), (2.0, 3.0, 0.5), origin=(-1.0, 0.0, 4.0))
MEDIA = {
    "acoustic": unda.Acoustic(rho=1.0, c=1.5),
    "elastic": unda.Elastic(rho=1.0, vp=2.0, vs=1.0),
    "maxwell": unda.Maxwell(eps=1.0, mu=1.0, sigma=0.0),
}
ORDER = {"v": "xyz", "E": "xyz", "H": "xyz", "s": ("xx", "yy", "zz", "xy", "yz", "xz")}
WHOLE = {"acoustic": ["p", "v"], "elastic": ["v", "s"], "maxwell": ["E", "H"]}


def simulation(physics, kind):
    """Field i of the state is 1 + i, and (i + 1) x on meshes."""
    medium = MEDIA[physics]
    if kind == "vtu":
        sim = unda.DG(MESH, medium, degree=2, dtype="float64")
        sim.set(**{name: lambda x, y, z, i=i: (i + 1) * x for i, name in enumerate(sim.fields)})
    else:
        sim = unda.FD(GRID, medium, scheme="staggered", boundary={"*": "periodic"})
        sim.set(**{name: np.full(GRID.shape, i + 1.0) for i, name in enumerate(sim.fields)})
    return sim


def write(sim, path, **options):
    (sim.write_vtu if path.suffix == ".vtu" else sim.write_vti)(path, **options)


def heads(path):
    """The attributes of all arrays, by where they stand and their names."""
    text = path.read_bytes().split(b"<AppendedData")[0].decode()
    tree = ElementTree.fromstring(text if text.rstrip().endswith("</VTKFile>") else text + "</VTKFile>")
    return {
        where: {one.get("Name"): one.attrib for one in tree.find(f".//{where}")}
        for where in ("FieldData", "PointData")
    }


@pytest.mark.parametrize("kind", ["vtu", "vti"])
@pytest.mark.parametrize("physics", MEDIA)
def test_a_vector_is_one_array_and_field_data_say_how_long_they_are(tmp_path, physics, kind):
    """VTK takes FieldData without NumberOfTuples for empty: then there is no time and no configuration."""
    sim, path = simulation(physics, kind), tmp_path / f"wave.{kind}"
    write(sim, path)
    found = heads(path)
    assert found["FieldData"]["TimeValue"]["NumberOfTuples"] == "1"
    length = len(json.dumps(sim.config).encode())
    assert found["FieldData"]["config"]["NumberOfTuples"] == str(length)
    assert list(found["PointData"]) == WHOLE[physics]
    for name, one in found["PointData"].items():
        assert one.get("NumberOfComponents", "1") == str(len(ORDER.get(name, "1")))
        told = [one[f"ComponentName{i}"] for i in range(len(ORDER.get(name, "")))]
        assert told == [end.upper() for end in ORDER.get(name, "")]
    some = [sim.fields[-1], sim.fields[0]]
    write(sim, path, fields=some)
    assert set(heads(path)["PointData"]) == set(some), "parts of a vector by their own names"


def test_components_stand_in_the_order_of_vtk(tmp_path):
    import meshio

    sim = simulation("elastic", "vtu")
    sim.write_vtu(tmp_path / "wave.vtu")
    read = meshio.read(tmp_path / "wave.vtu")
    for name, ends in ORDER.items():
        for i, end in enumerate(ends if name in "vs" else ()):
            factor = 1 + sim.fields.index(name + end)
            assert np.allclose(read.point_data[name][:, i], factor * read.points[:, 0], rtol=0, atol=1e-12)


# ---- series


def rows(path):
    """(time, file) of a series, as it stands there."""
    tree = ElementTree.parse(path).getroot()
    assert tree.attrib["type"] == "Collection"
    return [(float(one.get("timestep")), one.get("file")) for one in tree.findall("Collection/DataSet")]


@pytest.mark.parametrize("kind", ["vtu", "vti"])
def test_a_series_has_each_file_with_its_time_once_and_in_order(tmp_path, kind):
    sim, times = simulation("acoustic", kind), []
    (tmp_path / "out").mkdir()
    for i in range(3):
        times.append(sim.t)
        write(sim, tmp_path / "out" / f'{i} "a" & ü.{kind}', series=tmp_path / "run.pvd")
        sim.step(2)
    wanted = [(t, f'out/{i} "a" & ü.{kind}') for i, t in enumerate(times)]
    assert rows(tmp_path / "run.pvd") == wanted
    write(sim, tmp_path / "out" / f'0 "a" & ü.{kind}', series=str(tmp_path / "run.pvd"))  # again, later
    assert rows(tmp_path / "run.pvd") == [*wanted[1:], (sim.t, wanted[0][1])]
    assert all((tmp_path / name).exists() for _, name in wanted)
    assert sorted(os.listdir(tmp_path)) == ["out", "run.pvd"], "no temporary files"


def test_an_interrupted_run_leaves_a_series_of_whole_files(tmp_path, monkeypatch):
    sim, series = simulation("acoustic", "vtu"), tmp_path / "run.pvd"
    sim.write_vtu(tmp_path / "0.vtu", series=series)
    before = series.read_bytes()

    for call in (1, 2):  # while the file is written, while the series is
        left = iter(range(1, call))

        def full(_, left=left):
            if next(left, None) is None:
                raise OSError("no space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(vtk_xml.os, "fsync", full)
            with pytest.raises(unda.FileError, match="no space left"):
                sim.write_vtu(tmp_path / "1.vtu", series=series)
        assert series.read_bytes() == before
        assert (tmp_path / "1.vtu").exists() == (call == 2)
        assert not list(tmp_path.glob(".*.tmp"))
    sim.write_vtu(tmp_path / "1.vtu", series=series)
    assert [name for _, name in rows(series)] == ["0.vtu", "1.vtu"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read as a series"),
        (b"<VTKFile><Collection><DataSet file='a'/></Collection></VTKFile>", "timestep"),
        (b"<VTKFile><Collection><DataSet file='a' timestep='x'/></Collection></VTKFile>", "'x'"),
    ],
)
def test_what_is_no_series_is_refused_before_anything_is_written(tmp_path, content, message):
    sim = simulation("acoustic", "vti")
    (tmp_path / "run.pvd").write_bytes(content)
    with pytest.raises(unda.FileError, match=message):
        sim.write_vti(tmp_path / "wave.vti", series=tmp_path / "run.pvd")
    with pytest.raises(unda.ArgumentError, match="expected a name that ends in"):
        sim.write_vti(tmp_path / "wave.vti", series=tmp_path / "wave.vtk")
    assert os.listdir(tmp_path) == ["run.pvd"] and (tmp_path / "run.pvd").read_bytes() == content


# ---- VTK itself


@pytest.mark.slow  # the wheel of VTK is large: it is among the tools of `make test-slow` only
@pytest.mark.parametrize("physics", MEDIA)
def test_vtk_reads_times_configurations_vectors_and_tensors(tmp_path, physics):
    vtk = pytest.importorskip("vtkmodules.vtkIOXML")
    util = pytest.importorskip("vtkmodules.util.numpy_support")
    for kind, reader in (("vtu", vtk.vtkXMLUnstructuredGridReader()), ("vti", vtk.vtkXMLImageDataReader())):
        sim, path = simulation(physics, kind), tmp_path / f"wave.{kind}"
        sim.step(3)
        write(sim, path)
        reader.SetFileName(str(path))
        reader.Update()
        assert reader.GetErrorCode() == 0
        read = reader.GetOutput()
        told = read.GetFieldData()
        assert told.GetArray("TimeValue").GetValue(0) == sim.t > 0
        text = bytes(util.vtk_to_numpy(told.GetArray("config")))
        assert json.loads(text) == json.loads(json.dumps(sim.config))
        points = read.GetPointData()
        assert [points.GetArrayName(i) for i in range(points.GetNumberOfArrays())] == WHOLE[physics]
        for name in WHOLE[physics]:
            array = points.GetArray(name)
            values = util.vtk_to_numpy(array).reshape(read.GetNumberOfPoints(), -1)
            for i, end in enumerate(ORDER.get(name, [""])):
                if end:
                    assert array.GetComponentName(i) == end.upper()
                field = (name.lower() if name in "EH" else name) + end
                if kind == "vti":
                    assert np.array_equal(values[:, i], sim.get(field).T.ravel())
                else:
                    lattice = unda.io.vtu.lattice(sim.degree)[0]
                    matrix = unda.method.norms.interpolation(0, sim.degree, lattice)
                    assert np.array_equal(values[:, i], (sim.get(field) @ matrix.T).ravel())
        if kind == "vtu":
            assert read.GetNumberOfCells() == MESH.num_elem * sim.degree**3
        else:
            assert read.GetDimensions() == GRID.shape
            assert np.allclose(read.GetOrigin(), GRID.origin) and np.allclose(read.GetSpacing(), GRID.spacing)
