/* work.c: floating point operations and compulsory bytes of a stage of DG, or of the parts of it that kernels of
 * their own compute. Each input counts once and each output once, so that parts need more bytes than the whole: the
 * right-hand side goes through memory between them. Not here: measured limits (gpu/limits.c, cpu/limits.c). */
#include "dg.h"

#include "common/index.h"

/* Lines of n points; a jump changes the nodes of its own face. */
static int64_t hex_flops(const struct dg *dg, int work)
{
    const struct physics *p = dg->physics;
    int64_t node = dg->space.num_node, face_node = dg->space.num_face_node;
    int both = dg->both_jumps;
    int64_t flops = 0;
    /* Six operations for each number of the edges; cofactors, of curls one, for J. */
    int map = dg->metric_kind != UNDA_METRIC_TRILINEAR ? 0 : 3 * 18 + (p->grad_div ? 27 : 9) + 6;
    if (work & WORK_VOLUME)
        flops += node * (node / face_node * p->volume_flops + p->reference_flops + p->num_ref + map);
    if (work & WORK_FLUX)
        flops +=
            dg->space.num_face * face_node * (p->jump_flops[both] + p->num_jump[both] + p->lift_flops[both]);
    return flops;
}

static int64_t tet_flops(const struct dg *dg, int work)
{
    const struct physics *p = dg->physics;
    int64_t node = dg->space.num_node, face_node = dg->space.num_face_node;
    int both = dg->both_jumps;
    int64_t flops = 0;
    if (work & WORK_VOLUME)
        flops += node * (node * p->volume_flops + p->reference_flops);
    if (work & WORK_FLUX)
        flops += dg->space.num_face * (node * (face_node * 2 * p->num_jump[both] + p->lift_flops[both]) +
                                       face_node * p->jump_flops[both]);
    return flops;
}

int64_t dg_work_flops(const struct dg *dg, int work, int integrator)
{
    int64_t update = integrator == UNDA_AB3 ? 6 : 4; /* a value */
    int64_t flops = dg->metric_nodes ? hex_flops(dg, work) : tet_flops(dg, work);
    if (work & WORK_UPDATE)
        flops += dg->space.num_node * dg->physics->num_field * update;
    return flops;
}

/* Nodes that lie on a face. */
static int64_t num_surface(const struct dg *dg)
{
    const struct space *space = &dg->space;
    int64_t num = 0;
    for (int node = 0; node < space->num_node; node++) {
        bool found = false;
        for (int i = 0; i < space->num_face * space->num_face_node && !found; i++)
            found = space->element->face_node[i] == node;
        num += found;
    }
    return num;
}

/* States and right-hand sides at nodes that are read and written, an element. The lift of a tetrahedron's faces adds
 * to all of its nodes. */
static int64_t num_moved(const struct dg *dg, int work, int integrator)
{
    int64_t node = dg->space.num_node, flux = work == WORK_FLUX ? num_surface(dg) : 0, moved = 0;
    int64_t touched = dg->metric_nodes ? flux : node;
    moved += work == WORK_FLUX ? flux : node; /* q is read */
    if (!(work & WORK_VOLUME))                /* the right-hand side is read */
        moved += work == WORK_FLUX ? touched : node;
    if (!(work & WORK_UPDATE)) /* it is written */
        moved += work == WORK_FLUX ? touched : node;
    if (work & WORK_UPDATE) /* residuals are read, the state and one residual are written */
        moved += node * (integrator == UNDA_AB3 ? 4 : 3);
    return moved;
}

int64_t dg_work_bytes(const struct dg *dg, int work, int integrator, int real_bytes, bool on_device)
{
    int64_t words = on_device ? dg_device_metric(dg) : dg->metric_words;
    int64_t metric = dg->metric_nodes ? words : METRIC_WORDS, reals = 0, neighbors = 0;
    if (work & (WORK_VOLUME | WORK_FLUX))
        reals += metric + dg->material_nodes * dg->physics->num_coef;
    if (work & WORK_FLUX) {
        reals += dg_num_face_coef(dg);
        neighbors = dg->space.num_face * (int64_t)sizeof(int32_t);
    }
    return real_bytes * (num_moved(dg, work, integrator) * dg->physics->num_field + reals) + neighbors;
}

int64_t dg_flops(const struct dg *dg, int integrator)
{
    return dg_work_flops(dg, WORK_ALL, integrator);
}

int64_t dg_bytes(const struct dg *dg, int integrator, int real_bytes, bool on_device)
{
    return dg_work_bytes(dg, WORK_ALL, integrator, real_bytes, on_device);
}
