"""Does the suite see one wrong token? ``make mutate``: each fault below, alone, must make a test fail.

Every fault is put into a copy of the checkout, which is built and tested until the first failure. A fault
that nothing notices is printed as SURVIVED, and the exit status is 1. Not here: the tests. Takes one to
two hours; ``make mutate WORDS=acoustic.h`` tries those of one file.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_SECONDS = 900  # for the tests of one fault, which take a minute or two
ROOT = Path(__file__).resolve().parent.parent
SEEN_BY = [
    "test_points_are_transposes",
    "test_flux", "test_dg_rhs", "test_dg_exact", "test_dg_sources", "test_running", "test_boundary",
    "test_cuda_engine", "test_tensor", "test_derived_receivers", "test_dg_stable_step",
    "test_plane_wave_source", "test_far_field", "test_dg_shared_points", "test_c_library",
]  # fmt: skip

# the same of what belongs to finite differences
FD_SEEN_BY = [
    "test_points_are_transposes",
    "test_fd_modes", "test_fd_cuda", "test_fd_points", "test_fd_energy", "test_fd_layer", "test_fd_kernels",
    "test_fd_window", "test_fd_profile", "test_fd_matched",
]  # fmt: skip

STAGGERED_SEEN_BY = [
    "test_staggered_cuda", "test_staggered_energy", "test_staggered_points", "test_cpml",
    "test_points_at_walls", "test_layer_growth", "test_staggered_modes", "test_staggered_surface",
    "test_fd_interface", "test_fd_fresnel", "test_fd_profile", "test_fd_medium_dt", "test_library_calls",
]  # fmt: skip

# tests of one file each
SEEN_BY_ONE = {
    "csrc/mesh/periodic.c": "test_mesh_connectivity",
    "csrc/base/log.c": "test_errors",
    "csrc/solver/kernel.c": "test_kernel_table",
    "csrc/fd/staggered/dt.c": "test_fd_medium_dt",
    "csrc/fd/fd.h": "test_staggered_energy",
    "csrc/fd/node_set.c": "test_many_points",
    "csrc/fd/scalar/streamed.c": "test_fd_window",
    "csrc/fd/scalar/streamed_plan.c": "test_fd_window",
    "csrc/fd/method.c": "test_library_calls",
    "csrc/mesh/share.c": "test_dg_shared_points",
    "csrc/mesh/pieces.c": "test_errors",
    "csrc/mesh/part.c": "test_partition",
    "csrc/mesh/pack.c": "test_partition",
    "csrc/mesh/partition.c": "test_partition",
    "csrc/mesh/inverse.c": "test_locate_hexahedra",
    "csrc/element/hex.c": "test_dg_hex_rhs",
    "csrc/space/hex.c": "test_dg_hex_rhs",
    "csrc/space/hex_map.c": "test_dg_hex_metric",
    "csrc/dg/metric.c": "test_dg_hex_metric",
    "cuda/space/trilinear.h": "test_dg_hex_metric",
    "cuda/dg/line_tile.h": "test_dg_hex_cuda",
    "csrc/dg/cpu_cell.inc.h": "test_dg_hex_rhs",
    "csrc/dg/cpu_lines.inc.h": "test_dg_hex_rhs",
    "csrc/dg/cpu_blocks.inc.h": "test_cpu_blocks",
    "csrc/dg/cpu_blocks.c": "test_cpu_blocks",
    "csrc/dg/blocks.c": "test_cpu_blocks",
    "csrc/dg/dt_hex.c": "test_dg_hex_stable_step",
    "cuda/space/hex_gll.h": "test_dg_hex_rhs",
    "cuda/dg/lines.cu": "test_dg_hex_cuda",
    "cuda/dg/line_sums.h": "test_dg_hex_cuda",
    "cuda/dg/columns.cu": "test_dg_hex_cuda",
    "csrc/dg/kernels.c": "test_dg_hex_cuda",
    "csrc/dg/kernel_gemm.c": "test_gemm",
    "csrc/gpu/blas.c": "test_gemm",
    "cuda/layout/fields.h": "test_gemm",
    "csrc/dg/kernel_microblock.c": "test_microblock",
    "cuda/dg/microblock.cu": "test_microblock",
    "cuda/dg/microblock_faces.h": "test_microblock",
    "cuda/dg/microblock_products.h": "test_microblock",
    "cuda/dg/wave.h": "test_plane_wave_source",
    "cuda/dg/record.h": "test_cuda_engine",
    "cuda/dg/column_metric.h": "test_dg_hex_cuda",
    "cuda/dg/line_ends.h": "test_dg_hex_cuda",
    "cuda/dg/line_fluids.h": "test_dg_hex_cuda",
    "cuda/dg/line_nodes.h": "test_dg_hex_cuda",
    "cuda/dg/base.cu": "test_dg_hex_cuda",
    "cuda/dg/f1.cu": "test_dg_hex_cuda",
    "csrc/dg/work.c": "test_dg_hex_cuda",
    "csrc/sem/metric.c": "test_sem_metric",
    "csrc/sem/cuda_stable.c": "test_sem_stable",
    "cuda/sem/column.h": "test_sem_metric",
    "csrc/sem/cpu_step.c": "test_sem_energy",
    "csrc/sem/order.c": "test_sem_invariance",
    "csrc/sem/color.c": "test_sem_invariance",
    "csrc/sem/sides.c": "test_sem_reference",
    "csrc/sem/cluster.c": "test_sem_cuda",
    "csrc/sem/banks.c": "test_sem_cuda",
    "csrc/sem/pitch.c": "test_sem_cuda",
    "csrc/sem/cuda_fill.c": "test_sem_cuda",
    "csrc/sem/cuda_force.c": "test_sem_cuda",
    "csrc/sem/cuda_step.c": "test_sem_cuda_runs",
    "csrc/sem/number.c": "test_sem_reference",
    "csrc/sem/walk.c": "test_sem_reference",
    "csrc/sem/tiles.c": "test_sem_stable",
    "csrc/sem/tiles.h": "test_sem_cuda",
    "csrc/sem/tile_numbers.c": "test_sem_cuda",
    "csrc/sem/tile_patterns.c": "test_sem_cuda",
    "csrc/sem/tile_colors.c": "test_sem_cuda",
    "csrc/sem/cuda_state.c": "test_sem_cuda_runs",
    "csrc/sem/cuda_points.c": "test_sem_cuda",
    "cuda/sem/tile.h": "test_sem_cuda",
    "cuda/sem/fetch.h": "test_sem_cuda",
    "cuda/sem/plane.h": "test_sem_cuda",
    "cuda/sem/work_plane.h": "test_sem_cuda",
    "cuda/sem/work_column.h": "test_sem_cuda",
    "cuda/sem/cells.cu": "test_sem_cuda",
    "cuda/sem/shared.h": "test_sem_cuda",
    "cuda/common/reduce.h": "test_sem_cuda",
    "cuda/sem/record.h": "test_sem_cuda",
    "cuda/sem/record_first.h": "test_sem_cuda",
    "cuda/sem/advance.h": "test_sem_cuda",
    "csrc/mesh/map.c": "test_curved_hexahedra",
    "csrc/mesh/curved.c": "test_curved_hexahedra",
    "csrc/mesh/hanging.c": "test_mesh_refusals",
    "csrc/mesh/faces.c": "test_mesh_refusals",
    "python/unda/problem/mapped_mesh.py": "test_mapped_mesh",
    "python/unda/exact/cavity.py": "test_exact_cavity",
    "python/unda/method/_options.py": "test_devices",
    "python/unda/method/grid_plane.py": "test_slices",
    "python/unda/method/grid_state.py": "test_fd_set",
    "python/unda/io/_gmsh.py": "test_read_mesh",
    "python/unda/io/_segy.py": "test_model_file",
    "python/unda/io/model_file.py": "test_model_file",
    "python/unda/limits.py": "test_devices",
    "python/unda/io/vtk_xml.py": "test_vtk",
    "python/unda/io/vtu.py": "test_vtu",
    "python/unda/io/vti.py": "test_vti",
    "python/unda/method/tune.py": "test_fd_tune",
}
# of what is around a run, by file
_RUNS = ["test_handlers_that_raise", "test_running", "test_interruption"]
RUN_SEEN_BY = {name: _RUNS for name in ("simulation", "solver", "stepping", "_run_control", "receiver")}
RUN_SEEN_BY |= {name: ["test_whole_files"] for name in ("_files", "_digest")}
RUN_SEEN_BY |= {"_check": ["test_messages"], "_sites": ["test_dg_shared_points", "test_messages"]}
RUN_SEEN_BY |= {name: ["test_sweep", "test_sweep_executors"] for name in ("sweep", "_sweep_workers")}
RUN_SEEN_BY["mesh_plane"] = ["test_slices", "test_dg_shared_points"]
RUN_SEEN_BY["terms"] = ["test_many_points", "test_points_are_transposes", "test_staggered_points"]
RUN_SEEN_BY["_hdf"] = ["test_damaged_files"]
RUN_SEEN_BY["checkpoint"] = RUN_SEEN_BY["checkpoint_grid"] = [
    "test_damaged_files",
    "test_handlers_that_raise",
    "test_checkpoint",
    "test_fd_checkpoint",
]

# file, what stands there (once), what stands there instead
MUTATIONS = [
    # the equations
    ("cuda/physics/acoustic.h", "= z_out / (z_in + z_out)", "= z_in / (z_in + z_out)"),
    ("cuda/physics/acoustic.h", "= -z_in;", "= -z_out;"),
    ("cuda/physics/acoustic.h", "= -(z_in + z_out)", "= z_in + z_out"),
    ("cuda/physics/acoustic.h", "coef[1] = rho * c * c", "coef[1] = 1.01 * rho * c * c"),
    ("cuda/physics/acoustic.h", "coef[0] = 1 / rho", "coef[0] = 1.01 / rho"),
    ("cuda/physics/acoustic.h", "BOUNDARY_RIGID ? 1", "BOUNDARY_RIGID ? -1"),
    ("cuda/physics/acoustic.h", "BOUNDARY_FREE ? -1", "BOUNDARY_FREE ? 1"),
    ("cuda/physics/acoustic.h", "sign[1] = -sign[0]", "sign[1] = sign[0]"),
    ("cuda/physics/acoustic.h", "(REAL)0.5 * upwind", "(REAL)0.0 * upwind"),
    ("cuda/physics/acoustic.h", "half, dp)", "-half, dp)"),
    ("cuda/physics/acoustic.h", "m[2], q[3]", "m[2], q[2]"),
    ("cuda/space/tet_affine.h", ": -u[N * face + i]", ": u[N * face + i]"),
    ("cuda/physics/acoustic.h", "z[1] = lift_coef[0] * y[0]", "z[1] = -lift_coef[0] * y[0]"),
    ("cuda/space/affine.h", "+= d[j] * u[i];", "+= d[2] * u[i];"),
    ("cuda/physics/acoustic.h", "g[7], acc[3]", "g[5], acc[3]"),
    ("cuda/physics/acoustic.h", "g[5], q[3]", "g[7], q[3]"),
    ("cuda/physics/acoustic.h", "rho / 2 * (q[1]", "rho * (q[1]"),
    ("cuda/physics/elastic.h", "c[0] = s_out * s;", "c[0] = s_in * s;"),
    ("cuda/physics/elastic.h", "c[2] = p_out * p", "c[2] = p_in * p"),
    ("cuda/physics/elastic.h", "c[3] = p - s", "c[3] = p + s"),
    ("cuda/physics/elastic.h", "c[4] = s_in", "c[4] = s_out"),
    ("cuda/physics/elastic.h", "c[5] = p_in - s_in", "c[5] = p_in + s_in"),
    ("cuda/physics/elastic.h", "s_in > 0 && s_out > 0;", "1;"),
    ("cuda/physics/elastic.h", "vp * vp - 2 * vs * vs", "vp * vp - vs * vs"),
    ("cuda/physics/elastic.h", "to[1] = SUM3(q[8], m[0]", "to[1] = SUM3(q[7], m[0]"),
    ("cuda/physics/elastic.h", "weight[2] = -2", "weight[2] = -1"),
    ("cuda/physics/elastic.h", "weight[0] = -1, weight[1] = 1", "weight[0] = 1, weight[1] = -1"),
    ("cuda/physics/elastic.h", "in[i], v, m[i]", "in[i], -v, m[i]"),
    ("cuda/physics/elastic.h", "MINUS(in[3 + i], own_n", "PLUS(in[3 + i], own_n"),
    ("cuda/physics/elastic.h", "SUM2(upwind, SUM2(", "SUM2((REAL)1, SUM2("),
    ("cuda/physics/elastic.h", "along, lift_coef[i]", "-along, lift_coef[i]"),
    ("cuda/space/tet_affine.h", "face == 0 ? z[i] : -z[i]", "face == 0 ? z[i] : z[i]"),
    ("cuda/physics/elastic.h", "rhs[7] = coef[2] * (e[0][2]", "rhs[7] = coef[2] * (e[1][2]"),
    ("cuda/physics/elastic.h", "PLUS(pressure, 2 * coef[2]", "PLUS(pressure, coef[2]"),
    ("cuda/physics/elastic.h", "4 * mu / 3", "2 * mu / 3"),
    ("cuda/physics/elastic.h", "dev / (4 * mu)", "dev / (2 * mu)"),
    ("cuda/physics/maxwell.h", "= z_out / (z_in + z_out)", "= z_in / (z_in + z_out)"),
    ("cuda/physics/maxwell.h", "= z_in;", "= z_out;"),
    ("cuda/physics/maxwell.h", "{{1, 0}, {-1, -1}", "{{1, 0}, {-1, 1}"),
    ("cuda/physics/maxwell.h", "coef[1] = material[1]", "coef[1] = material[0]"),
    ("cuda/space/affine.h", "sum[1] -= d[0] * v[2]", "sum[1] -= d[2] * v[0]"),
    ("cuda/physics/maxwell.h", "BOUNDARY_PMC ? 1", "BOUNDARY_PMC ? -1"),
    ("cuda/physics/maxwell.h", "MINUS2(t[8], de1", "SUM2(t[8], de1"),
    ("cuda/physics/maxwell.h", "face_coef[0], dh2", "-face_coef[0], dh2"),
    ("cuda/physics/maxwell.h", "half, de2", "-half, de2"),
    ("cuda/space/tet_affine.h", "acc[0] -= z1 + z2;", "acc[0] -= z1 - z2;"),
    ("cuda/physics/maxwell.h", "y[0], lift_coef[2]", "y[0], lift_coef[0]"),
    ("cuda/physics/maxwell.h", "rhs[3 + i] = -coef[1]", "rhs[3 + i] = coef[1]"),
    ("cuda/physics/maxwell.h", "coef[2] = material[2] / material[0]", "coef[2] = material[2]"),
    ("cuda/physics/acoustic.h", "speed[0] = material[1]", "speed[0] = 0.2 * material[1]"),
    ("cuda/physics/maxwell.h", "MINUS(rhs[i], law[0]", "PLUS(rhs[i], law[0]"),
    ("csrc/dg/cpu_stage.inc.h", "t->num_node + first) * NUM_FIELD", "t->num_node) * NUM_FIELD"),
    ("csrc/dg/cpu_stage.inc.h", "coef + r * step + NUM_COEF - NUM_LOCAL", "coef + r * step"),
    ("csrc/fd/terms.c", "= (int32_t)source;", "= 0;"),
    ("csrc/fd/node_set.c", "set->before[w + 1] = set->before[w] +", "set->before[w + 1] ="),
    ("csrc/fd/sources.c", "(r->node[a][i] + 1) % fd", "(r->node[a][i] + 0) % fd"),
    ("csrc/solver/source.c", "first[i] <= given->first[i - 1]", "first[i] < given->first[i - 1]"),
    ("csrc/dg/points.c", "given->first[i + 1] - given->first[i]));", "1));"),
    ("csrc/dg/dt.c", "/ REAL_AXIS[integrator]", "/ 40"),
    ("csrc/dg/dt.c", "rate = fmax(rate, limiting_speed", "rate = fmin(1e30, limiting_speed"),
    # incident waves
    ("csrc/mesh/mesh.c", "if (mesh->table->sorted)\n        face =", "if (0)\n        face ="),
    ("csrc/dg/incident.c", "num_face * size * block", "num_face * size * block + 1"),
    ("csrc/dg/incident.c", "(int)(solver_num_slot(s) + i)", "(int)i"),
    ("csrc/dg/cpu_stage.inc.h", "(REAL)i->sign * q[k]", "q[k]"),
    ("csrc/dg/cpu_stage.inc.h", "change.upwind[lane] = (", "change.upwind[lane] = 1 + ("),
    ("csrc/dg/cpu_stage.inc.h", "out[k] -= mirrored[k]", "out[k] += mirrored[k]"),
    ("cuda/dg/wave.h", "out[k] -= mirrored[k]", "out[k] += mirrored[k]"),
    ("cuda/dg/wave.h", "q[f] *= sign", "q[f] *= 1"),
    ("cuda/dg/wave.h", "(*a.clock + a.time) * a.num", "a.time * a.num"),
    ("cuda/dg/incident.h", "i < end && FACE_ELEM(a.incident[i].face) == elem; i++", "0;"),
    ("python/unda/problem/incident.py", "[elem], 1, -1)", "[elem], 1, 1)"),
    ("python/unda/method/far_field.py", "np.cross(electric, d)", "np.cross(d, electric)"),
    ("python/unda/method/receiver.py", "np.exp(2j * np.pi", "np.exp(-2j * np.pi"),
    ("python/unda/method/receiver.py", "for one in group_of(field) if one in square", "for one in (field,)"),
    # the integrators
    ("csrc/solver/integrator.c", "-567301805773.0 /", "-567301805773.0 * 1.001 /"),
    ("csrc/solver/integrator.c", "2526269341429.0 / 6820363962896.0", "0.3"),
    ("csrc/solver/integrator.c", "-16.0 / 12", "-15.0 / 12"),
    ("csrc/fd/method.c", "*again = s->dt != before", "*again = s->dt == before"),
    ("csrc/fd/staggered/cpu.c", ".retime = retime", ".retime = NULL"),
    ("csrc/solver/integrator.c", ".num_level = 2", ".num_level = 1"),
    ("csrc/solver/integrator.c", " + kind_at(in, i)->stage[k][0])", ")"),
    ("csrc/solver/integrator.c", "starts ? BUF_SCRATCH : BUF_R", "BUF_R"),
    # elements, geometry, points
    ("csrc/element/tet.c", "index[b] = i;", "index[b] = j;"),
    ("csrc/element/operators.c", "= modes[mode].gradient[axis]", "= modes[mode].gradient[2 - axis]"),
    ("csrc/space/affine.c", "m[i] += space->mesh", "m[i] += (j - 1) * space->mesh"),
    ("csrc/dg/dg.h", "dg, neighbor / space->num_side,", "dg, face / space->num_face,"),
    ("csrc/dg/points.c", "scale = 1 / (", "scale = 1.02 / ("),
    ("csrc/dg/points.c", "element->inv_mass[n", "element->mass[n"),
    ("csrc/solver/receiver.c", "% group->every == 0", "% group->every == 1"),
    ("csrc/space/affine.c", "g[3 + i] * slope[n + node]", "g[6 + i] * slope[n + node]"),
    ("csrc/space/affine.c", "r[j] = g[3 * j] * (x", "r[j] = g[j] * (x"),
    ("csrc/dg/points.c", "= r->fields[f] / num_field", "= (r->fields[f] + 1) / num_field"),
    ("csrc/dg/cuda_points.c", "num_weight + p->derivative[f]", "num_weight"),
    # points that cells share
    ("csrc/mesh/share.c", "degree + 1)", "degree + 2)"),
    ("csrc/mesh/inverse.c", "(!found || !inside(first)) && may_hold", "0 && may_hold"),
    ("csrc/mesh/map.c", "slope[1] = 4 - 8 * r", "slope[1] = 4 - 4 * r"),
    ("csrc/mesh/curved.c", "(turn % 2 ? 3 : 1)", "1"),
    ("csrc/mesh/hanging.c", "return nearest <= ON * size;", "return nearest < 0;"),
    ("csrc/mesh/hanging.c", "norm(gap) <= BESIDE", "norm(gap) >= BESIDE"),
    ("csrc/mesh/hanging.c", "&some[some[1].count > 0]", "&some[0]"),
    ("csrc/mesh/faces.c", "{0, 1, 1, 0, 0, 1}", "{0, 1, 0, 1, 0, 1}"),
    ("python/unda/problem/mapped_mesh.py", "SIDES[2 * axis - end]", "SIDES[2 * axis + end + 1]"),
    ("csrc/mesh/share.c", "1u << other[i]", "1u << own[i]"),
    ("csrc/mesh/share.c", "to.x[i] += there", "to.x[i] -= there"),
    ("csrc/dg/points.c", "*= r->weights[i / (num_weight * num_node)]", "*= 1"),
    ("csrc/dg/points.c", "source->rows.weight + i *", "source->rows.weight + 0 *"),
    ("csrc/dg/points.c", "part[i].rates[k % num_field]", "part[i].rates[0]"),
    ("csrc/dg/cuda_points.c", ".skip = p->rows.num_weight", ".skip = 1"),
    ("python/unda/method/_sites.py", "same.all()", "not side"),
    ("python/unda/method/mesh_points.py", "rates * sites.weights[:, None]", "rates / len(rates)"),
    ("csrc/solver/solver.c", "have_good = false;\n    s->blowup", "blowup"),
    ("csrc/dg/method.c", "if (!s->have_good)", "if (0)"),
    ("csrc/dg/energy.c", "*out += space->mesh->table->jacobian *", "*out += 5 *"),
    # the CPU stage
    ("csrc/dg/cpu_stage.inc.h", "(inside ? NEIGHBOR_SIDE(neighbor) :", "(inside ? face :"),
    ("csrc/dg/cpu_common.c", "c1 * r1[i] + c2 * r[i]", "c2 * r1[i] + c1 * r[i]"),
    ("csrc/dg/cpu_stage.inc.h", "o->upwind[l] = (", "o->upwind[l] = 1 + ("),
    ("csrc/dg/cpu_stage.inc.h", "slot = (int64_t)a->time * a", "slot = 0 * a"),
    ("csrc/dg/cpu_dense.inc.h", "y[r][j] += l[r] * s[j]", "y[r][j] += l[0] * s[j]"),
    ("csrc/dg/cpu_blocks.inc.h", "((c) == 0 || (j) == 0)", "((c) == 0)"),
    ("csrc/dg/cpu_blocks.inc.h", "? (REAL)COLUMN_SIGN(c) * acc", "? acc"),
    ("csrc/dg/cpu_blocks.c", "? nodes[s] + one->sum[s] : b->num_input", "? nodes[s] + one->sum[s] : 0"),
    ("csrc/dg/cpu_blocks.c", "*to = add ? *to + sum[r][i] : sum[r][i];", "*to = sum[r][i];"),
    ("csrc/dg/blocks.c", "block ^ 1, first = face", "block, first = face"),
    ("csrc/dg/blocks.c", "shift[4] = {0, 2, 3, 1}", "shift[4] = {0, 3, 1, 2}"),
    ("csrc/dg/blocks.c", "(16 * times_counted(column))", "16"),
    # the CUDA stage
    ("cuda/dg/update.h", "by.second, old.r1[f], by.third", "by.third, old.r1[f], by.second"),
    ("cuda/dg/update.h", "(*a.clock + a.time) * a.num_source", "(a.time) * a.num_source"),
    ("cuda/dg/tile.h", "a.face_node + NEIGHBOR_SIDE(neighbor) * NFP", "a.face_node"),
    ("cuda/dg/tile.h", "(*a.clock + a.time) * a.num_exact_face", "(a.time) * a.num_exact_face"),
    ("cuda/dg/fused.cu", "acc);\n    __syncthreads();", "acc);"),
    ("cuda/dg/products.h", "if (e0 + c >= count)", "if (e0 + c > count)"),
    ("cuda/dg/tensor_fragments.h", "product == 1 ? op.lo : op.hi, product == 0", "op.hi, product == 0"),
    ("cuda/dg/tensor_fragments.h", "[(piece + j) % 3]", "[piece]"),
    ("cuda/dg/tensor_fragments.h", "(product_run(piece, i) + j) % 3", "product_run(piece, i)"),
    ("cuda/dg/tensor_lifts.h", "lift_subtracts(l) ? -y : y", "y"),
    ("cuda/dg/tensor_load.h", "f1[i] = face == other ? frame1[i] : f1[i]", "f1[i] = f1[i]"),
    ("cuda/dg/tensor_split.h", "x[k][1] * factor[k][1]", "x[k][1] * factor[k][0]"),
    ("cuda/dg/tensor_rows.h", "row >= 3 * RUN_LENGTH ? row :", "false ? row :"),
    ("cuda/dg/tensor_sizes.h", "fmaxf(of[i], fabsf(x))", "fmaxf(of[i], x)"),
    ("cuda/dg/tensor_sizes.h", "*to += TILE_LIFTED ? z[k] : jumps[k]", "*to += jumps[k % NUM_JUMP]"),
    ("cuda/dg/split.h", "half_pair(x - a, y - b)", "half_pair(x, y - b)"),
    ("cuda/dg/split.h", "LEAST_SIZE = 15 << 23", "LEAST_SIZE = 0"),
    ("cuda/dg/block_seen.h", "fmaxf(of[i], fabsf(x))", "fmaxf(of[i], x)"),
    ("cuda/dg/block_seen.h", "most = one > most ? one : most;", "most = one;"),
    ("cuda/dg/block_scales.h", "fmaxf(fabsf(acc[column_sum", "fmaxf((acc[column_sum"),
    ("cuda/dg/block_scales.h", "see_face<FIRST, J>(s, J + 1, e, most);", ""),
    ("cuda/dg/block_split.h", "multiply_add(part, a[r][0], lo);", ""),
    ("cuda/dg/block_split.h", "s.bound[number][e]", "s.bound[0][e]"),
    ("csrc/dg/kernel_blocks_pack.c", "half_split(entry, scale[pass])", "half_split(entry, scale[0])"),
    ("cuda/dg/tensor_split.h", "[i][2 * mine.pair + half]", "[i][2 * mine.pair]"),
    ("cuda/dg/tensor_split.h", "lo_first ? x.lo : x.hi", "lo_first ? x.hi : x.lo"),
    ("cuda/dg/tensor_load.h", "sizes.put<LANES % 8 ? 4 : 8>(s, mine.e);", ""),
    ("cuda/dg/tensor_sizes.h", "sizes.put(s, e);", ""),
    ("cuda/dg/tensor_lifts.h", "*face0 = others + LIFT_WORDS", "*face0 = others"),
    ("cuda/dg/tensor_products.h", "r * RUN_ROWS + orbit :", "orbit :"),
    ("cuda/dg/tensor_products.h", "!GRAD_DIV ? 0 : 1 - i", "0"),
    ("csrc/dg/kernel_tensor.c", "jump_row[face_turn[second]] = m;", "jump_row[face_turn[second]] = 0;"),
    ("csrc/dg/half.h", "half_of(scaled - hi, &lo)", "half_of(0, &lo)"),
    ("cuda/dg/tensor_finish.h", "a.source_elem[i] == elem", "true"),
    ("cuda/dg/block_sums.h", "face = g % 2 ? J + 1 : 0;", "face = g % 2 ? J + 1 : J;"),
    ("cuda/dg/block_columns.h", "c == 0 || (GRAD_DIV && j == 0)", "c == 0"),
    ("cuda/dg/products_mma.h", "y1[i] = y[r][c / 2][i][c % 2];", "y1[i] = y[r][c / 2][i][0];"),
    ("cuda/dg/block_mma.h", "entries + warp / STRIP_GROUPS * AT.steps", "entries + 0 * AT.steps"),
    ("cuda/dg/block_products.h", "matrix = AT.matrix[b];", "matrix = AT.matrix[0];"),
    ("cuda/dg/resident.cu", "((tag & 1) * boxes + box)", "((tag & 0) * boxes + box)"),
    ("cuda/dg/resident.cu", "stage++, tag++, a.time++)", "stage++, tag++)"),
    ("cuda/dg/resident.cu", "jobs, first, tag);", "jobs, first, tag - 1);"),
    ("cuda/dg/resident.cu", "old[r].r[f] = old[r].r1[f];", "old[r].r[f] = rhs[f];"),
    ("cuda/dg/resident.cu", "a.source_elem[source_end] < elem;", "0;"),
    ("csrc/dg/cuda_resident.c", "    a.step++;\n", ""),
    ("csrc/dg/cuda_resident.c", "(unsigned)(num_step * kind->num_stage)", "0"),
    ("cuda/layout/elements.h", "+ 32 * field", "+ field"),
    ("cuda/layout/elements.h", "elem / 32 * np * NODE", "elem / 32 * NODE"),
    ("cuda/dg/node.cu", "add_sources(a, elem, i % NP", "add_sources(a, first, i % NP"),
    ("cuda/common/state.cu", "since % group.every != 0", "since % group.every != 1"),
    ("cuda/common/state.cu", "if (value - value != 0)", "if (value > (REAL)1e38)"),
    # finite differences
    ("csrc/fd/stencil.c", "(m % 2 ? 2 : -2) * ratio", "(m % 2 ? 2 : -2.0001) * ratio"),
    ("csrc/fd/stencil.c", "weight[0] -= 2 * weight[m]", "weight[0] -= weight[m]"),
    ("csrc/fd/stencil.c", "top -= (m % 2 ? -2 : 2)", "top += (m % 2 ? -2 : 2)"),
    ("csrc/fd/stencil.c", "fd->split = !fd->uniform || dt < 0.1", "fd->split = !fd->uniform || dt < 0.0"),
    ("csrc/fd/stencil.c", "round_weights(fd->half, fd->weight[a], unit);", ";"),
    ("csrc/fd/stencil.c", "? least / fd->axis[a].h : 0", "? 1 : 0"),
    ("csrc/fd/layer.c", "rate * depth * depth", "rate * depth"),
    ("csrc/fd/layer.c", "1.5 * fd->speed_max", "0.5 * fd->speed_max"),
    ("csrc/fd/sources.c", "? *weight / share : 0", "? *weight : 0"),
    ("csrc/fd/row.c", "SHAPE = 6.31", "SHAPE = 3.0"),
    ("csrc/fd/sources.c", "r->weight[2][k] / volume", "r->weight[2][k]"),
    ("csrc/fd/scalar/energy.c", "* fd_share(fd, FD_P, 2, z)", "* 1"),
    ("csrc/fd/scalar/energy.c", "double layer = 0.5 *", "double layer = 0 *"),
    ("cuda/common/side.h", "*sign *= side;", "*sign *= low;"),
    ("csrc/fd/state.c", "TRY(zero_pinned(s, array, &box, a));", ";"),
    ("csrc/fd/material.c", "first + count == x->num ? x->total", "first + count > x->num ? x->total"),
    ("csrc/fd/scalar/cpu.c", "block * rows - level * half", "block * rows - level"),
    ("csrc/fd/scalar/cpu.c", "inject(s, next, 0, time, first", "inject(s, next, 0, 0, first"),
    ("csrc/fd/scalar/cpu_step.c", "if (fd_image(&axis[0], beyond, &sign) == x)", "if (beyond == x)"),
    ("csrc/fd/terms.c", "l->end[n]++, pair[k].weight", "l->end[n]++, pair[0].weight"),
    ("cuda/physics/scalar.h", "damp * FMA(-damp, old, sum)", "damp * (sum - old)"),
    ("csrc/fd/scalar/matched.c", "deep - (side ? 0 : 1), deep - 0.5", "deep - (side ? 0 : 1), deep"),
    ("csrc/fd/scalar/cpu_step.c", "addition[z] + (m + node[z])", "addition[z] + node[z]"),
    ("cuda/fd/scalar/step_matched.h", "in_z >> l & 1", "in_z & 1"),
    ("cuda/fd/scalar/step.cu", "image(a, 2, tip_z, tip_odd[job])", "tip_z"),
    ("cuda/fd/scalar/step.cu", "now)[ROW] = window[x & 1]", "now)[ROW] = window[0]"),
    ("cuda/fd/scalar/step.cu", "x < 0 || x >= a.num[0]", "x < 0 || x > a.num[0]"),
    ("cuda/fd/scalar/step.cu", "odd ^= x < 0;", "odd ^= false;"),
    ("csrc/fd/scalar/step.c", "sign < 0 ? -1 - place : place", "place"),
    ("csrc/fd/scalar/step.c", "fd_image(axis, x, &sign)", "fd_image(axis, x + (x < 0), &sign)"),
    ("cuda/fd/points.cu", "k < a.first[i + 1]", "k < a.first[i] + 1"),
    # windows
    ("csrc/fd/scalar/streamed_plan.c", "return 2 * w->slab + w->reach", "return w->reach"),
    ("csrc/fd/scalar/streamed.c", "- (window + 1) * scalar_cuda", "- window * scalar_cuda"),
    ("csrc/fd/scalar/streamed.c", "front(s, window) + lean)", "front(s, window) + lean + 1)"),
    ("csrc/fd/scalar/streamed.c", "front(s, window) + w->reach + fd", "front(s, window) + fd"),
    ("csrc/fd/scalar/streamed.c", "w->reach + fd_tables(s)->half * levels", "w->reach"),
    ("csrc/fd/scalar/streamed.c", "streamed_rows_above(fd_tables(s), &t->streamed)", "0"),
    ("csrc/fd/scalar/streamed.c", "most(bottom, end - up)", "most(bottom, end - 2 * up)"),
    ("csrc/fd/scalar/streamed.c", "(up ? streamed_arrays(s) : 2)", "2"),
    ("csrc/fd/scalar/streamed.c", "most(0, front(s, i)), true", "most(0, front(s, i) - 1), true"),
    ("csrc/fd/cpu.c", "found < num && row * num + found < first", "found < num"),
    ("csrc/fd/scalar/streamed.c", "done_from(s, i - 2, levels)", "done_from(s, i - 1, levels)"),
    ("csrc/fd/scalar/streamed.c", "FD_PREVIOUS, 0.5)", "FD_PREVIOUS, 1)"),
    ("csrc/fd/scalar/streamed_plan.c", "other_bytes + all * bytes <= free", "all > 0"),
    ("csrc/fd/scalar/streamed.c", "2)\n            SWAP", "3)\n            SWAP"),
    ("csrc/fd/scalar/step.c", "    s->step = start;\n", ""),
    ("csrc/fd/scalar/step.c", "t->damp[1] + (gpu_ptr)(first *", "t->damp[1] + (gpu_ptr)(0 *"),
    ("csrc/fd/scalar/diamond.c", "(int)(rows * first)", "0"),
    ("csrc/fd/cuda_points.c", "axis[2].total % axis[1].total", "axis[2].total"),
    ("cuda/fd/points.cu", "rows.row[i] >= rows.end", "rows.row[i] > rows.end"),
    ("cuda/fd/scalar/step.cu", "y, odd) - a.wall[0])", "y, odd))"),
    # blocks along z, in kernel diamond
    ("cuda/fd/scalar/diamond_ghosts.h", "(int)(tag % 2) * BOX", "0 * BOX"),
    ("cuda/fd/scalar/diamond_ghosts.h", "(PART ? num_sent(0) : 0)", "0"),
    ("cuda/fd/scalar/diamond_ghosts.h", "c < half_of(j) + M", "c < half_of(j)"),
    ("cuda/fd/scalar/diamond_tower.h", "is = low ? rank > 0 :", "is = low ? false :"),
    ("cuda/fd/scalar/diamond.cu", "(unsigned)w.index * (unsigned)a.num_level", "0"),
    ("cuda/fd/scalar/diamond_tower.h", "(low ? M : count) - own", "M - own"),
    ("cuda/fd/scalar/diamond.cu", "w.keep && !(w.mark & MARK_SOURCE)}", "w.keep}"),
    ("cuda/fd/scalar/diamond.cu", "w.begin, w.keep && !(w", "w.begin, !(w"),
    ("csrc/fd/scalar/diamond.c", "? 2 * num_part(s, &d->tile", "? num_part(s, &d->tile"),
    ("csrc/fd/scalar/diamond_points.c", "(s->step - group->first) %", "s->step %"),
    # profile
    ("csrc/fd/cuda_profile.c", "copy(s, what, kept, true)", "copy(s, what, kept, false)"),
    ("csrc/fd/cuda_profile.c", "/= (double)part->num", "/= 1"),
    ("csrc/fd/scalar/diamond.c", "1.0 / t->diamond.tile.levels", "1.0"),
    ("csrc/fd/staggered/cuda.c", "queue_ghosts, 0, ghosts, ghosts", "queue_ghosts, 0, ghosts, 1"),
    # staggered schemes
    ("cuda/physics/staggered_acoustic.h", "m[0] + m[1 + i]", "m[0] + m[0]"),
    ("cuda/physics/staggered_elastic.h", "(soft[0] + soft[6])", "(soft[0] + soft[5])"),
    ("cuda/physics/staggered_elastic.h", "{8, 1, 0}, {8, 0, 1}", "{8, 0, 0}, {8, 1, 1}"),
    ("cuda/physics/staggered_maxwell.h", "(mu[0] + mu[6])", "(mu[0] + mu[5])"),
    ("cuda/physics/staggered_maxwell.h", "soft[0] + soft[1 + i]", "soft[0] + soft[0]"),
    ("cuda/physics/staggered_maxwell.h", "loss[0] + loss[1 + i]", "loss[0] + loss[0]"),
    ("cuda/physics/staggered_maxwell.h", "soft2 * gain - 2 * loss2", "soft2 * gain - loss2"),
    ("cuda/physics/staggered_maxwell.h", "soft2 + loss2)", "soft2)"),
    ("csrc/fd/staggered/cpml.c", "-1.5 * fd->speed_max", "-0.5 * fd->speed_max"),
    ("csrc/fd/staggered/cpml.c", "(double)i + 0.5 * half", "(double)i"),
    ("csrc/fd/staggered/cpml.c", "exp(-0.5 * e * dt)", "exp(0.5 * e * dt)"),
    ("csrc/fd/staggered/cpml.c", "o->ratio[end] * x * x : 1", "0 * x * x : 1"),
    ("csrc/fd/staggered/cpu_step.c", "if (across < 1)", "if (across > 1)"),
    ("cuda/fd/staggered/layers.h", "[bits & 1][3])[x]", "[0][3])[x]"),
    ("csrc/fd/staggered/cpml.c", "axis->first + axis->num - half", "axis->first + axis->num"),
    ("csrc/physics/staggered.c", "field == 1 + axis ? -p : p", "field == 1 + axis ? p : p"),
    ("csrc/physics/staggered.c", "mu > 0 ? 2 * mu * lambda / (lambda + 2 * mu)", "mu > 0 ? lambda"),
    ("csrc/physics/staggered.c", "(num_normal * lambda", "(3 * lambda"),
    ("csrc/physics/staggered.c", "double moment = fluid ?", "double moment = false ?"),
    ("csrc/physics/staggered.c", "moment - 0.5 * lambda / mu * rates[3 + a]", "moment"),
    ("csrc/physics/staggered.c", "kept / (1 - (num_free - 1) * kept)", "kept"),
    ("csrc/fd/row.c", "SIDED_WIDTH = 6", "SIDED_WIDTH = 5"),
    ("csrc/fd/row.c", "> axis->total - field->half[a];", "> axis->total;"),
    ("csrc/fd/row.c", "part[a][0] = 1 - part[a][1]", "part[a][0] = 1, part[a][1] = 0"),
    ("csrc/fd/row.c", "slope->normal < slope->along", "false"),
    ("csrc/fd/row.c", "-others[side], product", "others[side], product"),
    ("csrc/fd/row.c", "(line->near ? sum : 1)", "1"),
    ("csrc/fd/sources.c", "join(part->field, rates[from]", "join(part->field, 0"),
    ("csrc/fd/points.c", "nodes->adds ? real_get", "false ? real_get"),
    ("csrc/fd/points.c", "first[POINT_LINES + line] + ~place[k]", "first[line] + ~place[k]"),
    ("cuda/fd/points.cu", ": run[64] + ~place[k]", ": first + ~place[k]"),
    ("csrc/fd/row.c", "num[1] = cut ? node[count - 1] - low[1] + 1 : 0;", "num[1] = 0;"),
    ("csrc/dg/cuda_points.c", ".offset = i * p->num_field + f", ".offset = i * p->num_field"),
    ("csrc/physics/staggered.c", "0x1p60)) / m[0]", "0x1p60))"),
    ("csrc/physics/staggered.c", "fmin(m[2] * fd->half_dt / m[0], 0x1p60)", "m[2] * fd->half_dt / m[0]"),
    ("csrc/physics/staggered.c", "field < 3 ? 1 / mean", "field < 0 ? 1 / mean"),
    ("csrc/physics/staggered.c", "* inertia * inertia", "* inertia"),
    ("csrc/physics/staggered.c", "(inertia + loss)", "inertia"),
    ("csrc/fd/sources.c", "(c & 1) * step[0]", "0 * step[0]"),
    ("csrc/fd/staggered/cpu_step.c", "*a = table + total", "*a = table"),
    ("csrc/fd/staggered/cpu.c", "s, f, -0.5)", "s, f, 0.5)"),
    ("csrc/fd/material.c", "value != fd->material_first[which]", "false"),
    ("cuda/fd/staggered/difference.h", "m[WIDTH - 1] = from[WIDTH]", "m[WIDTH - 1] = from[0]"),
    ("cuda/fd/staggered/difference.h", "low * line[2 * side - half - j]", "line[2 * side - half - j]"),
    ("cuda/fd/staggered/difference.h", "int j = side - half + 1;", "int j = side + 1;"),
    ("cuda/fd/staggered/staggered.cu", "<< 6;", "* 0;"),
    ("csrc/fd/staggered/boxes.c", "(axis->num - 1) / whole", "axis->num / whole"),
    ("csrc/fd/staggered/boxes.c", "fd_tables(s)->half : INT32_MIN", "0 : INT32_MIN"),
    ("csrc/fd/staggered/boxes.c", "(int)axis->total - fd_tables(s)->half", "(int)axis->total"),
    ("cuda/fd/staggered/staggered.cu", "from + lanes * WIDTH > a.clear[1]", "from >= a.clear[1]"),
    ("csrc/fd/staggered/boxes.c", "low_wall && any_pinned(fd, a, 0)", "0"),
    ("csrc/fd/staggered/launch.c", "(beyond || fd_pinned(", "(fd_pinned("),
    ("csrc/fd/staggered/cuda.c", "[memory->number].source", "[memory->number].target"),
    ("csrc/fd/fd.h", "(i == last && field->sign[a][1] != SIDE_NOTHING)", "i == last"),
    ("csrc/fd/staggered/boxes.c", "(end[1] - begin[1] + rows - 1) / rows", "(end[1] - begin[1]) / rows"),
    ("csrc/fd/staggered/launch.c", "TRY(gpu_stream_wait(t->beside, t->before));", ";"),
    ("csrc/fd/staggered/launch.c", "TRY(gpu_stream_wait(t->base.stream, t->after));", ";"),
    ("csrc/fd/staggered/cuda.h", "t->base.origin % t->base.pitch;", "0;"),
    ("csrc/fd/staggered/dt.c", "fabs(weight[m])", "weight[m]"),
    ("csrc/fd/staggered/dt.c", "fd->axis[a].total > 1 ?", "1 ?"),
    ("csrc/fd/staggered/dt.c", "low ? on - m : m - 1 + on", "low ? -m : m - 1"),
    ("csrc/fd/staggered/dt.c", "drop_signs(out[i], num);", ";"),
    ("csrc/fd/staggered/dt.c", "row[num_z] = row[0];", ";"),
    ("csrc/fd/staggered/dt.c", "fmax(value * unit, 0)", "fabs(value * unit)"),
    ("csrc/fd/staggered/dt.c", "(largest ? fmax : fmin)", "fmin"),
    ("csrc/fd/staggered/dt.c", "medium->first ? -plane : plane", "plane"),
    ("csrc/fd/staggered/dt.c", "*bound > ENOUGH * last", "true"),
    ("cuda/fd/staggered/layers.h", "store(memory[n], psi[n].v);", ";"),
    ("cuda/fd/staggered/staggered.cu", "int both = sign * odd[number]", "int both = sign"),
    ("cuda/fd/staggered/staggered.cu", "from_x = mirror(a, field, 0, x, sign), from_y", "from_x = x, from_y"),
    ("cuda/fd/staggered/layers.h", "end >= a.num[axis] - a.count", "end > a.num[axis] - a.count"),
    # messages and files
    ("csrc/base/log.c", "first = end - NUM_MESSAGE", "first = first"),
    ("python/unda/io/_gmsh.py", "np.abs(np.asarray(group, np.int64))", "np.asarray(group, np.int64)"),
    ("python/unda/io/_segy.py", "min(lateral)", "max(lateral)"),
    ("python/unda/io/model_file.py", "except Exception as error", "except ValueError as error"),
    ("python/unda/limits.py", "    if str(error) not in _said:", "    if True:"),
    ("python/unda/method/_run_control.py", "now - self._said > 60", "now - self._begin > 60"),
    ("python/unda/io/vtk_xml.py", '"xx", "yy", "zz", "xy", "yz", "xz"', '"xx", "yy", "zz", "yz", "xz", "xy"'),
    ("python/unda/io/vtk_xml.py", "if tuples is None", "if True"),
    ("python/unda/io/vtk_xml.py", "key=lambda row: row[1]", "key=lambda row: row[0]"),
    ("python/unda/io/vtk_xml.py", "os.path.relpath(path, self._path.parent)", "os.path.relpath(path)"),
    ("python/unda/io/vtu.py", "values[:, i] =", "values[:, 0] ="),
    ("python/unda/io/vti.py", "], axis=-1)", "], axis=0)"),
    ("csrc/mesh/pieces.c", "face < num_face; face++", "face <= num_face; face++"),
    ("csrc/mesh/partition.c", "2 * before + count[place]", "2 * before"),
    ("csrc/mesh/partition.c", "left == wanting", "left < wanting"),
    ("csrc/mesh/part.c", "here < there ? here : there", "here"),
    ("csrc/mesh/part.c", "num > 0 ? border++ : inner++", "num > 1 ? border++ : inner++"),
    ("csrc/mesh/part.c", "elem < 0 ? FACE_OUTSIDE", "elem < 0 ? -1"),
    ("csrc/mesh/pack.c", "offsetof(struct head, info)", "sizeof(struct head)"),
    ("csrc/dg/cuda.c", "a.source_range += block;", "a.source_range += 0;"),
    ("csrc/dg/cuda.c", "a.incident_range += a.incident_range ? block : 0;", "a.incident_range += 0;"),
    ("csrc/solver/kernel.c", "given->value <= part->high", "given->value <= part->high + 1"),
    ("python/unda/method/_options.py", "value, 0, 2**31 - 1)", "value, 0, 2**31 + 1)"),
    ("python/unda/exact/cavity.py", "return e / np.linalg.norm(e)", "return e * np.linalg.norm(e)"),
    ("python/unda/method/grid_plane.py", "<= high[axis] + 0.5 *", "<= high[axis] + 1.5 *"),
    ("python/unda/method/grid_state.py", "largest = max(", "largest = min("),
    (
        "python/unda/method/mesh_plane.py",
        "(sim.mesh.upper) - sim.mesh.lower",
        "(sim.mesh.upper) + sim.mesh.lower",
    ),
    ("python/unda/method/_sites.py", "np.where(inside, height, far)", "np.where(~inside, height, far)"),
    ("python/unda/method/_sites.py", "np.clip(along, 0.0, 1.0)", "np.clip(along, 0.0, 9.0)"),
    ("python/unda/_check.py", '"scalar index", ', ""),
    # Python
    ("python/unda/problem/boundary.py", "if f is solution]", "if f is not solution]"),
    ("python/unda/problem/source.py", "{\"p\": rho * c**2}", "{\"p\": rho * c}"),
    ("python/unda/method/grid_fluid.py", 'if side == "free":', 'if side == "fixed":'),
    ("python/unda/method/grid_fluid.py", "np.roll(found, -1, axis)", "np.roll(found, 1, axis)"),
    ("python/unda/method/grid_fluid.py", "on[_plane(axis, -1)] = found", "on[_plane(axis, 0)] = found"),
    ("python/unda/method/grid_material.py", "!= self._seen[i].digest", "!= self._seen[0].digest"),
    ("python/unda/problem/_values.py", "if _digest(self.values) != self.digest", "if False"),
    ("python/unda/exact/elastic_line.py", "range(1, 2 * n - 2, 2)", "range(1, 2 * n, 2)"),
    ("python/unda/exact/line_integral.py", "weight * width * rate", "weight * rate"),
    ("python/unda/method/fd_sides.py", "if num == 1 and {low", "if num < 1 and {low"),
    ("python/unda/method/fd_sides.py", "set(flat) <= set(along)", "set(along) <= set(flat)"),
    ("csrc/fd/range.c", "x >= lowest", "x >= 0"),
    ("csrc/solver/source.c", "a * unit <= most", "a <= most"),
    ("python/unda/method/norms.py", "2 * sim.degree + 2", "1"),
    # runs, their clock and their samples
    ("python/unda/method/simulation.py", "- self.t) / self.dt - 1e-9)", "- self.t) / self.dt)"),
    ("python/unda/method/_run_control.py", "self._seen and exc[0] is None", "self._seen"),
    ("python/unda/method/_run_control.py", "and not old._goes_on(here)", "and False"),
    ("csrc/mesh/periodic.c", "MATCH * from->edge[v] + slack", "MATCH * from->edge[v]"),
    ("python/unda/io/checkpoint.py", "start, saved._step, 0)", "start, 0, 0)"),
    ("python/unda/method/solver.py", "(step[0] - receivers._step) // receivers.every", "0"),
    ("python/unda/method/solver.py", "if status in (lib.UNDA_OK", "if status not in (lib.UNDA_OK"),
    ("python/unda/method/receiver.py", "max(len(parts.get(0, ())), last", "max(0, last"),
    ("csrc/solver/receiver.c", "num_before(s->groups[i], s->step + 1)", "0"),
    ("python/unda/_sweep_workers.py", "min(num or cores, num_case)", "min(cores, num_case)"),
    ("python/unda/_sweep_workers.py", "min(num or len(places), num_case)", "1"),
    ("python/unda/_sweep_workers.py", "fell[: _size(pool)] if", "fell if"),
    ("python/unda/_sweep_workers.py", ", uuid.uuid4().hex)", ', "")'),
    ("python/unda/_sweep_workers.py", "pool._initializer, pool._initargs", "None, ()"),
    ("python/unda/sweep.py", "or not self.cache.path(one.case).is_file()", ""),
    ("python/unda/method/tune.py", "if folder and _trusted(folder) else", "if folder else"),
    # files
    ("python/unda/io/_hdf.py", "    check_seal(raw)\n", ""),
    ("python/unda/io/_hdf.py", "if not isinstance(link, h5py.HardLink):", "if False:"),
    ("python/unda/io/_hdf.py", "not plain or", ""),
    ("python/unda/io/checkpoint.py", "if not fits or (saved._t0", "if (saved._t0"),
    ("python/unda/io/checkpoint_grid.py", "there < needed", "False"),
    ("python/unda/_files.py", "flock(raw.fileno(), fcntl.LOCK_EX", "flock(raw.fileno(), fcntl.LOCK_UN"),
    ("python/unda/_files.py", "Path(os.path.realpath(path))", "Path(path)"),
    ("python/unda/_files.py", "os.O_CREAT | os.O_EXCL", "os.O_CREAT"),
    ("python/unda/io/_digest.py", "self._begun.pop(block, None)", "pass"),
    ("python/unda/io/_digest.py", "if one != expected:", "if False:"),
    ("python/unda/io/_digest.py", "size + num * _SIZE + _FOOTER.size != whole", "False"),
    ("csrc/solver/solver.c", "    s->blowup = (unda_blowup){0};", ""),
    # discontinuous Galerkin on hexahedra
    ("csrc/element/hex.c", "(turn / 2 + (turn % 2 ? 1 : 3)) % 4", "(turn / 2 + 3) % 4"),
    ("csrc/space/hex.c", "g[after][c] -= half", "g[after][c] += half"),
    ("csrc/space/hex.c", "line_derivative[at * n + i] / 2", "line_derivative[at * n + i]"),
    ("csrc/space/hex.c", "degree < 2 * map_degree", "degree < map_degree"),
    ("csrc/space/hex.c", "degree >= map_degree(space)", "degree >= 1"),
    ("csrc/dg/cpu_cell.inc.h", "(REAL)t->inv_end_weight * w->jumps[", "w->jumps["),
    ("csrc/dg/cpu_cell.inc.h", "metric[HEX_METRIC - 1] * acc[", "metric[0] * acc["),
    ("csrc/dg/cpu_cell.inc.h", "to[m] = straight[place[m]]", "to[m] = straight[m]"),
    ("csrc/dg/cpu_cell.inc.h", "field[f] += low[f]", "field[f] -= low[f]"),
    ("csrc/dg/cpu_lines.inc.h", "axis == 2 || FIRST_SHARE(axis, part + i)", "axis == 2"),
    ("csrc/dg/cpu_lines.inc.h", "(REAL)t->inv_end_weight * s[", "s["),
    ("csrc/dg/cpu_lines.inc.h", "metric[NUM_METRIC - 1] * acc[", "metric[0] * acc["),
    ("csrc/dg/dt_hex.c", "1 + cosine[(j + 1) % 3] + cosine[(j + 2) % 3]", "1"),
    ("csrc/dg/dt_hex.c", "two.all - two.least", "two.all"),
    ("csrc/dg/dt_hex.c", "largest(d->b, product)", "d->b[0]"),
    ("csrc/dg/dt_hex.c", "sqrt(contrast * out.speed / in.speed)", "1"),
    ("cuda/space/hex_gll.h", "face % 2 ? b[i] : -b[i]", "b[i]"),
    ("cuda/space/hex_gll.h", "k < -power[i][1]; k++", "k < 0; k++"),
    ("cuda/dg/line_sums.h", "begun[to] ? acc[to] + value : value", "value"),
    ("cuda/dg/line_sums.h", "(REAL)a.dt * metric[9]", "(REAL)a.dt * metric[0]"),
    ("cuda/dg/line_sums.h", "source(a, i, k - begin, rhs)", "source(a, i, k, rhs)"),
    ("cuda/dg/update.h", "q[f] += to_q * rhs[f]", "q[f] += to_r * rhs[f]"),
    ("cuda/dg/columns.cu", "c.sum[i][N - 1] = end[1][i];", ""),
    ("cuda/dg/column_metric.h", "third[1][i] += cross[i];", ""),
    ("cuda/dg/column_metric.h", "(side ? map[MAP_MIXED + 3 * j + i] : 0)", "0"),
    ("cuda/dg/column_metric.h", "(i[axis] > 0)", "0"),
    ("csrc/dg/kernels.c", "has_parts(&s->options, &kernel->base) && ", ""),
    ("cuda/space/trilinear.h", "+ b[i] * next) * last", ") * last"),
    ("cuda/space/trilinear.h", "metric[i] = edges ? e[i] : g[i]", "metric[i] = g[i]"),
    ("cuda/dg/line_tile.h", "(face % 2 ? __ldg(map", "(1 ? __ldg(map"),
    ("cuda/dg/line_tile.h", "which == 1 ? 3 + l : 3 + j", "which == 1 ? 3 + k : 3 + j"),
    ("csrc/space/hex_map.c", "!affine || !(v & (v - 1))", "true"),
    ("csrc/space/hex_map.c", "curved < 0 && degree > 1", "curved < 0"),
    ("csrc/dg/metric.c", "TRY(space_check_fold(&dg->space, elem, node, unit * unit / metric[9]));", ""),
    ("cuda/dg/line_ends.h", "BY_NODE ? face * NFP + at.m : face", "face"),
    ("cuda/dg/line_ends.h", "upwind, y);\n#endif", "0, y);\n#endif"),
    ("cuda/dg/line_fluids.h", "component(own, at.axis)", "own[0]"),
    ("cuda/dg/line_fluids.h", "i % GRAD_DIV == at.axis", "i % GRAD_DIV == 0"),
    ("cuda/dg/line_nodes.h", "derivative[at * N + k]", "derivative[k * N + at]"),
    ("cuda/dg/base.cu", "2 * AXIS + SIDE), acc)", "2 * AXIS), acc)"),
    ("cuda/dg/f1.cu", "? 2 << 2 * axis", "? 1 << 2 * axis"),
    ("csrc/dg/work.c", "? num_surface(dg) : 0", "? dg->space.num_node : 0"),
    # matrix products
    ("csrc/dg/kernel_gemm.c", "0, z.first, begin, end, true", "0, z.first, begin, end, false"),
    ("csrc/dg/kernel_gemm.c", "round_up(3 * z.node, plan->part[PAD_GRADIENT])", "3 * z.node"),
    ("csrc/dg/kernel_gemm.c", "moved = (face + 2 * np) * all", "moved = (face + np) * all"),
    ("csrc/gpu/blas.c", "tf32 ? COMPUTE_32_TF32 : COMPUTE_32_PEDANTIC", "COMPUTE_32_PEDANTIC"),
    ("csrc/gpu/blas.c", "? MATH_TF32 : MATH_PEDANTIC", "? MATH_TF32 : MATH_TF32"),
    ("cuda/layout/fields.h", "(total / NODES + KM - 1) / KM * PITCH", "total"),
    ("csrc/dg/kernel_microblock.c", "elem < begin || elem >= end", "elem < begin"),
    ("csrc/dg/kernel_microblock.c", "next[BOUNDARY] = table[OUTSIDE];", "next[BOUNDARY] = table[INSIDE];"),
    ("csrc/dg/kernel_microblock.c", "20 * km * np > 19 * pitch", "20 * km * np > 17 * pitch"),
    ("csrc/dg/kernel_microblock.c", "moved = (face + np) * all", "moved = (face + 2 * np) * all"),
    ("cuda/dg/microblock.cu", "w[f] += lifted[f]", "w[f] = lifted[f]"),
    ("cuda/dg/microblock_faces.h", "neighbor, face, m, other, own)", "neighbor, face, m, own, other)"),
    ("cuda/dg/microblock_faces.h", "add ? b.flux[f][at] + w[f] : w[f]", "w[f]"),
    ("cuda/dg/microblock_products.h", "(row + i % SEGMENT) % NP", "i % SEGMENT % NP"),
    ("cuda/dg/microblock_products.h", "turn * (S::PARALLEL * S::IN_THREAD)", "turn * S::PARALLEL"),
    ("cuda/dg/record.h", "RECORD * elem + NUM_COEF * node : g", "RECORD * elem : g"),
    # spectral elements
    ("csrc/sem/metric.c", "to[MAP_PER_UNIT] = 1;", "to[MAP_PER_UNIT] = 2;"),
    ("csrc/sem/cuda_stable.c", "-diagonal, now, -back,", "-diagonal, now, back,"),
    ("cuda/sem/column.h", "c.slope[1][i] = mixed[1] + triple * r_1;", "c.slope[1][i] = mixed[1];"),
    ("csrc/sem/cpu_step.c", "solid[SOLID_PITCH * at + k] -= area", "solid[SOLID_PITCH * at + k] += area"),
    ("csrc/sem/cpu_step.c", "half = (REAL)(dt / 2)", "half = (REAL)dt"),
    ("csrc/sem/color.c", "taken |= (uint64_t)1 << color[list[i]]", "taken |= 0"),
    ("csrc/sem/number.c", "*to = next;", "*own = next;"),
    ("csrc/sem/walk.c", "other % 6 + 6 * w->mesh->turn", "other % 6 + 0 * w->mesh->turn"),
    ("csrc/sem/sides.c", "(face % 2 ? 1 : -1)", "1"),
    ("csrc/sem/cluster.c", "sign * other_sign", "sign"),
    ("csrc/sem/cluster.c", "f->sign[face / 2] * out *", "f->sign[face / 2] *"),
    ("csrc/sem/banks.c", "begin[number + 1],", "begin[number + 1] - 1,"),
    ("csrc/sem/pitch.c", "[5] = {30, {5, 0}, {155, 0}}", "[5] = {24, {5, 0}, {155, 0}}"),
    ("csrc/sem/cuda_fill.c", "region == FLUID ? there : there - other->first_side", "there"),
    ("csrc/sem/cuda_fill.c", "(e - begin) * n + node % n", "(e - begin) * n"),
    ("csrc/sem/cuda_force.c", "pass->mode != SEM_STEP)", "pass->mode == SEM_FORCE)"),
    ("csrc/sem/cuda_step.c", "s->step == end - 1, &time", "false, &time"),
    ("csrc/sem/tile_colors.c", "taken |= used[t->entry[i]]", "taken |= 0"),
    ("csrc/sem/tiles.h", "(num_inner + 3) / 4 * 4", "num_inner"),
    ("csrc/sem/tiles.c", "SWAP(t->sum[j - 1], t->sum[j])", "(void)0"),
    ("csrc/sem/tile_numbers.c", "if (state == NONE || state == tile)", "if (state == NONE || state >= 0)"),
    ("csrc/sem/tile_patterns.c", "known->num ? known : NULL", "known"),
    ("csrc/sem/cuda_state.c", "->mirrored = false", "->mirrored = true"),
    ("csrc/sem/cuda_points.c", "place->share * weight[i]", "weight[i]"),
    ("csrc/sem/cuda_points.c", "column[part] = (int32_t)at_source", "column[part] = 0"),
    ("cuda/sem/tile.h", "u[MOST_SLOT + 3]", "u[MOST_SLOT - 32]"),
    ("cuda/sem/plane.h", "more[1][i] = triple;", "more[1][i] = 0;"),
    ("cuda/sem/plane.h", "? factor * next[i] : next[i];", "? next[i] : next[i];"),
    ("cuda/sem/work_plane.h", "f[k][b][i] -= amplitude", "f[k][b][i] += amplitude"),
    ("cuda/sem/work_column.h", "f[i][k] -= amplitude", "f[i][k] += amplitude"),
    ("cuda/sem/cells.cu", "dt = a.mode == SEM_STEP ? (REAL)a.dt : 1", "dt = (REAL)a.dt"),
    ("cuda/sem/cells.cu", "(side ? 1 : dt * factor[k])", "(dt * factor[k])"),
    ("cuda/sem/cells.cu", "    wait_for_previous();\n", ""),
    ("cuda/sem/shared.h", "f[i] -= area[i]", "f[i] += area[i]"),
    ("cuda/sem/shared.h", "rest[i] -= damping", "rest[i] += damping"),
    ("cuda/common/reduce.h", "i < NUM; i++)\n        atomicAdd", "i < NUM - 1; i++)\n        atomicAdd"),
    ("cuda/sem/record.h", "(before + now) / 2", "now"),
    ("cuda/sem/record_first.h", "num_read != all", "false"),
    ("cuda/sem/advance.h", "(REAL)(dt / 2)", "(REAL)dt"),
]  # fmt: skip


def copied(folder: Path) -> Path:
    """A checkout in `folder`, built, with nothing of git."""
    copy = folder / "unda"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "results", "__pycache__", "dist"))
    return copy


def failing(copy: Path, path: str = "") -> str:
    """The first test that fails in a copy with a fault in `path`, or what the build says; "" if all pass."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "python"), "OMP_NUM_THREADS": "1"}
    grids = any(word in path for word in ("/fd/", "scalar.h", "common/side.h"))
    seen_by = FD_SEEN_BY if grids else SEEN_BY
    both = path in ("csrc/fd/state.c", "csrc/fd/material.c", "csrc/fd/row.c")
    if "/grid_" in path or "_values.py" in path:
        seen_by = ["test_fd_set", "test_kept_media"]
    if path.startswith("python/unda/exact/") and "line" in path:
        seen_by = ["test_exact_line"]
    if path == "python/unda/method/fd_sides.py":
        seen_by = ["test_fd_flat"]
    if path == "cuda/dg/update.h":
        seen_by = ["test_cuda_engine", "test_dg_hex_cuda"]
    if path in ("csrc/fd/range.c", "csrc/solver/source.c"):
        seen_by = ["test_fd_units", "test_c_library"]
    if "staggered" in path or "cpml" in path or both:
        seen_by = [*STAGGERED_SEEN_BY, *(FD_SEEN_BY if both else [])]
    if "tensor" in path:
        seen_by = ["test_tensor", "test_cuda_engine", "test_plane_wave_source"]
    if "cuda/dg/block" in path or "products_mma" in path:
        seen_by = ["test_blocks", "test_double_tensor", "test_cuda_engine"]
    if "resident" in path:
        seen_by = ["test_resident"]
    if "diamond" in path:
        seen_by = ["test_fd_diamond", "test_fd_window", "test_fd_profile"]
    seen_by = [SEEN_BY_ONE[path]] if path in SEEN_BY_ONE else seen_by
    if path.split("/")[-1].split(".")[0] in RUN_SEEN_BY:
        more = seen_by if path.split("/")[-1].split(".")[0] in ("solver", "receiver") else []
        seen_by = [*RUN_SEEN_BY[path.split("/")[-1].split(".")[0]], *more]
    build = ["make", "-s", "lib", f"PY={sys.executable}"]
    done = subprocess.run(build, cwd=copy, env=environment, capture_output=True, text=True)
    if done.returncode:
        return "does not build"
    tests = [str(next((copy / "tests").glob(f"*/{name}.py"))) for name in seen_by]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:cacheprovider", *tests]
    # Some faults make a loop endless: that is seen, too. Its processes end with their group.
    process = subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"does not end within {LIMIT_SECONDS} s"
    if process.returncode == 0:
        return ""
    lines = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0].rpartition("/")[2] if lines else f"pytest ends with {process.returncode}"


def main(words: list[str]) -> int:
    """Try the mutations of the files that contain one of the words, or all."""
    chosen = [m for m in MUTATIONS if not words or any(word in m[0] for word in words)]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        if first := failing(copy, chosen[0][0] if chosen else ""):
            print(f"without any fault: {first}")
            return 2
        for path, old, new in chosen:
            file = copy / path
            text = file.read_text()
            if text.count(old) != 1:
                raise SystemExit(f"{path} has {old!r} {text.count(old)} times, expected once")
            file.write_text(text.replace(old, new))
            found = failing(copy, path)
            file.write_text(text)
            survivors += not found
            print(f"{found or 'SURVIVED':60} {path}: {old!r} -> {new!r}", flush=True)
    print(f"{len(chosen)} faults, {survivors} survived")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
