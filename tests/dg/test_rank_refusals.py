"""Promises about a solver of one of many processes: what makes no sense is refused, without MPI.

Not here: processes that work together (mpi/).
"""

import pytest
import unda
from unda import _core
from unda._core import lib
from unda.errors import ArgumentError, InternalError
from unda.method._options import Given
from unda.method.dg_options import dg_options
from unda.problem.rank_mesh import RankMesh

MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
MEDIUM = unda.Acoustic(rho=1.0, c=1.0)


def solver_of(mesh, status=0, **changed):
    """The library's solver of a part, among processes that add nothing; `status`: what unite returns."""
    given = Given.of(unda.DG, mesh, MEDIUM, degree=2, device="cpu", dt=0.01)
    options = dg_options(given)[0]
    own = mesh.global_cells[: mesh.num_owned].copy()
    unite = _core.callback("int32_t(void *, int64_t, void *)", lambda of, num, at: status)
    members = {"num_rank": 2, "which": 0, "num_elem": MESH.num_elem, "place": own, "unite": unite} | changed
    ranks = _core.new_struct("unda_ranks", **members)
    handle = _core.new_object(
        "unda_solver",
        lambda out: lib.unda_solver_new_rank(out, mesh._handle, options, ranks),
        lib.unda_solver_free,
    )
    return handle, unite, options


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_rank": 3}, "the mesh is part 0 of 2 and the process 0 of 3"),
        ({"which": 1}, "the mesh is part 0 of 2 and the process 1 of 2"),
        ({"place": None}, "place is NULL"),
        ({"unite": _core.NULL}, "unite is NULL, expected a function that all processes call"),
        ({"transport": lib.UNDA_TRANSPORT_PEER}, "transport is 1 between processes"),
        ({"transport": 5}, "transport is 5 between processes"),
        ({"transport": lib.UNDA_TRANSPORT_NCCL}, "nccl is NULL or the device the CPU"),
        ({"nccl": _core.as_pointer(8)}, "transport is 0 and nccl is given, expected 4 with it"),
    ],
)
def test_a_part_must_be_that_of_the_process(changed, message):
    with pytest.raises(ArgumentError, match=message):
        solver_of(MESH.partition(2).local(0), **changed)


def test_a_process_that_cannot_go_on_makes_no_solver():
    with pytest.raises(InternalError, match="process 0 of 2 could not go on with the others"):
        solver_of(MESH.partition(2).local(0), status=1)


def test_messages_without_requests_and_wrong_neighbours_are_refused():
    mesh = MESH.partition(2).local(0)
    handle, *kept = solver_of(mesh)
    message = _core.new_struct("unda_message")
    _core.check(lib.unda_solver_get_message(handle, 0, message))
    assert message.rank == 1 and message.num_byte == len(mesh.links[0].own) * 6 * 4 * 4
    with pytest.raises(ArgumentError, match=r"expected a neighbour within 0\.\.0"):
        _core.check(lib.unda_solver_get_message(handle, 1, message))
    drive = _core.new_struct("unda_drive", num_time=1)
    with pytest.raises(ArgumentError, match="has messages and no requests"):
        _core.check(lib.unda_solver_rhs(handle, drive))
    with pytest.raises(ArgumentError, match="request, start or wait of unda_requests is NULL"):
        _core.check(lib.unda_solver_set_requests(handle, _core.new_struct("unda_requests", num=2)))
    assert len(kept) == 2


def test_a_solver_of_one_process_has_no_messages():
    sim = unda.DG(MESH, MEDIUM, degree=2, device="cpu")
    with pytest.raises(ArgumentError, match="messages"):
        sim._solver.call(lib.unda_solver_get_message, 0, _core.new_struct("unda_message"))


def test_comm_must_be_a_communicator():
    pytest.importorskip("mpi4py")
    grid, mesh = unda.Grid((8, 8, 8), 1.0), unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    for make in (
        lambda: unda.DG(MESH, MEDIUM, comm=3),
        lambda: unda.FD(grid, MEDIUM, comm=3),
        lambda: unda.SEM(mesh, MEDIUM, comm=3),
        lambda: unda.scatter(MESH, "world"),
    ):
        with pytest.raises(ArgumentError, match="expected a communicator"):
            make()


def test_a_part_alone_is_no_mesh_of_a_simulation():
    local = MESH.partition(2).local(0)
    assert not isinstance(local, RankMesh)
    with pytest.raises(ArgumentError, match=r"whose .* ghosts nobody would fill"):
        unda.DG(local, MEDIUM, degree=2, device="cpu")
