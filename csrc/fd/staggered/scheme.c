/* scheme.c: the staggered schemes as one of fd_scheme: two passes per step, fields at half steps (v, H)
 * from t - dt/2 to t + dt/2, then those at whole steps (p, stress, E) from t to t + dt. The same code for all
 * physics. Not here: the physics (physics/staggered.c), steps (the engines), layers (cpml.c). */
#include "../energy.h"
#include "../layer.h"
#include "staggered.h"

#include "../../physics/physics.h"

#include <math.h>

/* What the parts of a block allow together. */
static unda_status check_block(const unda_solver_options *o)
{
    int rows = kernel_part(o, "rows"), width = kernel_part(o, "width"), blocks = kernel_part(o, "blocks");
    int lanes = kernel_part(o, "lanes"), most = o->precision == UNDA_FLOAT32 ? 4 : 2;
    int threads = rows * (lanes ? lanes : 32);
    if (width > most || width == 3 || threads > 1024 || threads * blocks > 2048)
        FAIL(UNDA_ERR_ARG,
             "%d rows of %d lanes, width %d, %d blocks an SM, expected up to 1024 threads a block, "
             "2048 an SM, width 1, 2 .. %d; 0: chosen",
             rows, lanes, width, blocks, most);
    return UNDA_OK;
}

static unda_status check(const unda_solver_options *o)
{
    const unda_fd_options *f = o->fd;
    if (f->uniform)
        FAIL(UNDA_ERR_ARG, "uniform is %d, expected 0: the staggered schemes take materials by planes",
             f->uniform);
    TRY(check_block(o));
    for (int end = 0; end < 6; end++) {
        bool absorbs = o->boundary && o->boundary[end] == UNDA_BOUNDARY_ABSORBING;
        if (absorbs && (!(isfinite(f->stretch[end]) && f->stretch[end] >= 1) ||
                        !(isfinite(f->frequency[end]) && f->frequency[end] >= 0)))
            FAIL(UNDA_ERR_ARG,
                 "layer %d has stretch %g and frequency %g, expected finite numbers >= 1 and >= 0", end,
                 f->stretch[end], f->frequency[end]);
        if (absorbs && !(f->ratio[end] >= 0 && f->ratio[end] <= 1))
            FAIL(UNDA_ERR_ARG, "layer %d has ratio %g, expected 0..1", end, f->ratio[end]);
        bool mirror =
            o->boundary && !absorbs && o->boundary[end] != UNDA_BOUNDARY_PERIODIC && f->shape[end / 2] == 1;
        if (mirror)
            FAIL(UNDA_ERR_ARG, "shape along %c is 1, expected at least 2 between its sides, or periodic ones",
                 "xyz"[end / 2]);
    }
    return UNDA_OK;
}

static void place_fields(struct fd *fd, const int32_t *boundary)
{
    const struct staggered *p = fd->physics;
    fd->num_field = fd->num_array = p->num_field;
    for (int f = 0; f < p->num_field; f++)
        for (int a = 0; a < 3; a++) {
            fd->field[f].half[a] = staggered_half(p, f, a);
            for (int side = 0; side < 2; side++) {
                int32_t condition = boundary[2 * a + side];
                fd->field[f].broken[a][side] = p->breaks && p->breaks(condition);
                fd->field[f].sign[a][side] = condition == UNDA_BOUNDARY_PERIODIC ? SIDE_PERIODIC
                                             : condition == UNDA_BOUNDARY_ABSORBING
                                                 ? SIDE_NOTHING
                                                 : p->parity(condition, f, a);
            }
        }
}

static unda_status sizes(unda_solver *s, const unda_solver_options *o)
{
    struct fd *fd = fd_tables(s);
    fd->physics = staggered_physics[o->physics];
    fd->num_material = fd->physics->num_material;
    fd->num_parameter = fd->physics->num_parameter;
    place_fields(fd, o->boundary);
    fd_list_memory(fd);
    s->dt_stable = fd_staggered_stable(fd);
    return UNDA_OK;
}

static unda_status prepare(unda_solver *s)
{
    struct fd *fd = fd_tables(s);
    double weight[MAX_HALF + 1];
    fd_staggered_difference(fd->half, weight);
    fd->half_dt = 0.5 * s->dt;
    for (int a = 0; a < 3; a++)
        for (int m = 1; m <= fd->half; m++)
            fd->step_weight[a][m] = s->dt * weight[m] / fd->axis[a].h;
    for (int a = 0; a < 3; a++)
        if (fd->axis[a].total > 1)
            TRY(fd_check_range(fd, "steps over spacings", fd->half, fd->step_weight[a] + 1));
    return fd_cpml(fd, s->dt);
}

/* Each pass reads the other's fields and its materials that vary, reads and writes its own. */
static void info(const unda_solver *s, unda_solver_info *info)
{
    const struct fd *fd = fd_tables(s);
    const struct staggered *p = fd->physics;
    int32_t derivatives = p->num_derivative[0] + p->num_derivative[1], materials = 0;
    for (int i = 0; i < fd->num_material; i++)
        materials += fd->varies[i];
    info->flops = derivatives * (3 * fd->half - 1) + 4 * derivatives;
    info->bytes_per_elem = (3 * p->num_field + materials) * s->real_bytes;
}

bool fd_staggered_travels(const struct fd *fd, int pass, int field)
{
    const struct staggered *p = fd->physics;
    bool any = false;
    for (int i = 0; i < p->num_derivative[0] + p->num_derivative[1]; i++)
        any |= p->derivative[i].source == field && p->derivative[i].axis == 0;
    return any && staggered_pass(p, field) == pass;
}

/* The conductivity of Maxwell's equations, over a step. */
static bool keeps_dt(const struct fd *fd)
{
    return fd->physics->curl && (fd->varies[2] || fd->material_first[2] != 0);
}

static unda_status check_material(struct fd *fd, const double *material)
{
    const struct physics *physics = physics_table[fd->physics->number];
    double speed[MAX_WAVE], impedance[MAX_WAVE];
    const char *reason = physics->refuse(material);
    if (reason)
        FAIL(UNDA_ERR_ARG, "material is %g, %g, ..: %s", material[0], material[1], reason);
    physics->waves(material, speed, impedance);
    if (speed[0] > fd->speed_max * (1 + 1e-12))
        FAIL(UNDA_ERR_ARG, "material has waves of %g m/s, expected at most speed_max = %g", speed[0],
             fd->speed_max);
    TRY(fd_check_units(fd, physics, material));
    for (int i = 0; i < fd->num_material; i++) {
        double kept = fd->physics->material(fd, material, i, 0);
        bool none = kept == 0 || (isinf(kept) && physics->num_wave > 1 && speed[1] == 0);
        if (!none && fabs(kept) > 1)
            TRY(fd_check_range(fd, "coefficients of a material", 1, &kept));
    }
    return UNDA_OK;
}

static double material(const struct fd *fd, const double *material, int which, int num_free)
{
    return fd->physics->material(fd, material, which, num_free);
}

static double gain(const struct fd *fd, const fd_corners corner, int f, const double *rates, int free)
{
    return fd->physics->gain(corner, f, rates, free);
}

const struct fd_scheme fd_staggered = {.name = "staggered",
                                       .check = check,
                                       .cpu = &fd_staggered_cpu,
                                       .cuda = &fd_staggered_cuda,
                                       .num_pass = 2,
                                       .sizes = sizes,
                                       .prepare = prepare,
                                       .info = info,
                                       .check_material = check_material,
                                       .material = material,
                                       .num_rate_more = 1,
                                       .num_rate_joined = 3,
                                       .gain = gain,
                                       .add_energy = fd_staggered_add_energy,
                                       .medium_dt = fd_staggered_medium_dt,
                                       .keeps_dt = keeps_dt};
