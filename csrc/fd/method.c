/* method.c: finite differences as a method of the solver: checks of options, axes, creation. Not here: the
 * schemes (scalar/, staggered/), the state (state.c), materials (material.c), points (points.c), steps (the
 * engines). */
#include "fd.h"
#include "rank.h"
#include "slabs.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static const struct fd_scheme *const schemes[] = {
    [UNDA_SCALAR] = &fd_scalar, [UNDA_STAGGERED] = &fd_staggered};
enum { NUM_SCHEME = sizeof schemes / sizeof *schemes };

/* Conditions that each unda_physics knows, as bits 1 << unda_boundary. */
enum { EVERYWHERE = 1 << UNDA_BOUNDARY_ABSORBING | 1 << UNDA_BOUNDARY_PERIODIC };
static const uint32_t fd_conditions[] = {
    [UNDA_ACOUSTIC] = EVERYWHERE | 1 << UNDA_BOUNDARY_FREE | 1 << UNDA_BOUNDARY_RIGID,
    [UNDA_ELASTIC] =
        EVERYWHERE | 1 << UNDA_BOUNDARY_FREE | 1 << UNDA_BOUNDARY_FIXED | 1 << UNDA_BOUNDARY_SYMMETRY,
    [UNDA_MAXWELL] = EVERYWHERE | 1 << UNDA_BOUNDARY_PEC | 1 << UNDA_BOUNDARY_PMC};
enum { NUM_FD_PHYSICS = sizeof fd_conditions / sizeof *fd_conditions };

static unda_status check_axis(const unda_solver_options *o, int a)
{
    const unda_fd_options *f = o->fd;
    char name = "xyz"[a];
    if (f->shape[a] < 1 || f->shape[a] > INT32_MAX / 2)
        FAIL(UNDA_ERR_ARG, "shape along %c is %lld, expected 1..%d", name, (long long)f->shape[a],
             INT32_MAX / 2);
    if (!(isfinite(f->spacing[a]) && f->spacing[a] > 0) || !isfinite(f->origin[a]))
        FAIL(UNDA_ERR_ARG, "spacing along %c is %g, origin %g, expected finite numbers, spacing > 0", name,
             f->spacing[a], f->origin[a]);
    for (int side = 0; side < 2; side++) {
        int32_t condition = o->boundary[2 * a + side];
        uint32_t known = fd_conditions[o->physics];
        if (condition < 0 || condition > 31 || !(known >> condition & 1))
            FAIL(UNDA_ERR_ARG, "boundary %c%s is %d, expected a condition of physics %d (bits %#x)", name,
                 side ? "max" : "min", condition, o->physics, known);
        int64_t layer = f->layer[2 * a + side];
        double reflection = f->reflection[2 * a + side];
        if (condition == UNDA_BOUNDARY_ABSORBING &&
            (layer < 1 || layer > INT32_MAX / 8 || !(reflection > 0 && reflection < 1)))
            FAIL(UNDA_ERR_ARG, "layer at %c%s has %lld nodes and reflection %g, expected 1..%d and 0..1",
                 name, side ? "max" : "min", (long long)layer, reflection, INT32_MAX / 8);
    }
    if ((o->boundary[2 * a] == UNDA_BOUNDARY_PERIODIC) != (o->boundary[2 * a + 1] == UNDA_BOUNDARY_PERIODIC))
        FAIL(UNDA_ERR_ARG, "one side of %c is periodic; expected both or none", name);
    return UNDA_OK;
}

static unda_status check(const unda_solver_options *o)
{
    const unda_fd_options *f = o->fd;
    CHECK_SIZE(f, unda_fd_options);
    if (f->scheme < 0 || f->scheme >= NUM_SCHEME || o->physics < 0 || o->physics >= NUM_FD_PHYSICS)
        FAIL(UNDA_ERR_ARG, "physics is %d, scheme %d, expected 0..%d and 0..%d", o->physics, f->scheme,
             NUM_FD_PHYSICS - 1, NUM_SCHEME - 1);
    TRY(schemes[f->scheme]->check(o));
    if (f->order < 2 || f->order > 2 * MAX_HALF || f->order % 2)
        FAIL(UNDA_ERR_ARG, "order is %d, expected an even number, 2..%d", f->order, 2 * MAX_HALF);
    if (!(isfinite(f->speed_max) && f->speed_max > 0))
        FAIL(UNDA_ERR_ARG, "speed_max is %g, expected a finite number > 0", f->speed_max);
    bool tiled = kernel_is(o, "tiled");
    if (tiled && o->boundary &&
        (o->boundary[0] == UNDA_BOUNDARY_PERIODIC || o->boundary[2] == UNDA_BOUNDARY_PERIODIC))
        FAIL(UNDA_ERR_ARG,
             "x or y is periodic or has one node, and kernel tiled marches along both; expected kernel step");
    if (f->window < -1)
        FAIL(UNDA_ERR_ARG, "window is %d, expected rows of y, 0 (none) or -1 (auto)", f->window);
    if (f->window > 0 && (f->scheme != UNDA_SCALAR || o->device == UNDA_DEVICE_CPU))
        FAIL(UNDA_ERR_ARG,
             "window is %d, expected 0 or -1: only the scalar scheme on CUDA devices has windows", f->window);
    if (!o->boundary)
        FAIL(UNDA_ERR_ARG, "boundary is NULL, expected [6]");
    for (int a = 0; a < 3; a++)
        TRY(check_axis(o, a));
    return UNDA_OK;
}

static void fill_axis(const struct fd *fd, struct fd_axis *axis, const unda_solver_options *o, int a)
{
    const unda_fd_options *f = o->fd;
    int64_t layer[2];
    for (int side = 0; side < 2; side++) {
        int32_t condition = o->boundary[2 * a + side];
        bool absorbs = condition == UNDA_BOUNDARY_ABSORBING;
        layer[side] = absorbs ? f->layer[2 * a + side] + fd->scheme->end_node : 0;
        axis->side[side] = condition == UNDA_BOUNDARY_PERIODIC ? SIDE_PERIODIC
                           : condition == UNDA_BOUNDARY_FREE || (absorbs && fd->scheme->end_node)
                               ? SIDE_FREE
                               : SIDE_RIGID;
    }
    axis->num = f->shape[a];
    axis->first = layer[0];
    axis->total = layer[0] + axis->num + layer[1];
    axis->h = f->spacing[a];
    axis->origin = f->origin[a];
}

static const struct engine *engine(const unda_solver_options *o)
{
    const unda_fd_options *f = o->fd;
    const struct fd_scheme *scheme =
        f && f->scheme > 0 && f->scheme < NUM_SCHEME ? schemes[f->scheme] : &fd_scalar;
    return o->device == UNDA_DEVICE_CPU ? &scheme->cpu->base : &scheme->cuda->base;
}

static unda_status sizes(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    (void)mesh;
    TRY(check(o));
    TRY(array_try(&s->tables, 1, sizeof(struct fd), "FD tables"));
    struct fd *fd = fd_tables(s);
    double nodes = 1;
    fd->options = *o->fd;
    fd->scheme = schemes[o->fd->scheme];
    fd->single = o->precision == UNDA_FLOAT32;
    fd->half = o->fd->order / 2;
    fd->uniform = o->fd->uniform;
    fd->speed_max = o->fd->speed_max;
    fd->num_node = 1;
    for (int a = 0; a < 3; a++) {
        fill_axis(fd, &fd->axis[a], o, a);
        nodes *= (double)fd->axis[a].total;
        if (nodes > 0x1p59)
            FAIL(UNDA_ERR_ARG, "the grid has %g nodes with its layers, expected at most 2^59", nodes);
        fd->num_node *= fd->axis[a].total;
    }
    TRY(fd->scheme->sizes(s, o));
    fd_own(fd, 0, fd->axis[0].total);
    return fd_check_steps(s);
}

static unda_status create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    TRY(sizes(s, mesh, o));
    struct fd *fd = fd_tables(s);
    if (!fd->uniform)
        return array_own(&fd->owned, &fd->given, fd->axis[0].num, 1, "materials");
    if (!o->material)
        FAIL(UNDA_ERR_ARG, "material is NULL, expected one value of each parameter (uniform)");
    return fd->scheme->check_material(fd, o->material);
}

/* Of several slabs: where they are. */
static unda_status take_team(unda_solver *s)
{
    const unda_team *team = s->split;
    struct fd *fd = fd_tables(s);
    if (team->num_part < 1 || !team->device || team->part)
        FAIL(UNDA_ERR_ARG,
             "a team has %d parts, device %s, part %s, expected 1 or more, [num_part], NULL: slabs",
             team->num_part, team->device ? "given" : "NULL", team->part ? "given" : "NULL");
    if (team->transport != UNDA_TRANSPORT_AUTO)
        FAIL(UNDA_ERR_ARG,
             "transport is %d, expected 0 (auto): the driver copies planes from device to device, through "
             "the host "
             "where they do not reach each other",
             team->transport);
    TRY(array_own(&fd->owned, &fd->slab_device, team->num_part, sizeof *fd->slab_device, "slabs"));
    fd->num_slab = team->num_part;
    memcpy(fd->slab_device, team->device, sizeof *fd->slab_device * (size_t)fd->num_slab);
    return UNDA_OK;
}

/* One slab a process, all on devices of one kind. */
static unda_status create_rank(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    struct fd *fd;
    const unda_ranks *ranks = s->ranks;
    if (mesh || ranks->num_rank < 1 || ranks->which < 0 || ranks->which >= ranks->num_rank)
        FAIL(UNDA_ERR_ARG, "a mesh is given, or which is %d, expected a grid and a process within 0..%d",
             ranks->which, ranks->num_rank - 1);
    TRY(create(s, mesh, o));
    fd = fd_tables(s);
    TRY(array_own(&fd->owned, &fd->slab_device, ranks->num_rank, sizeof *fd->slab_device, "slabs"));
    fd->num_slab = ranks->num_rank;
    for (int32_t i = 0; i < fd->num_slab; i++)
        fd->slab_device[i] = o->device;
    return UNDA_OK;
}

static unda_status create_team(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    TRY(create(s, mesh, o));
    return take_team(s);
}

/* The tables that depend on dt. */
static unda_status prepare(unda_solver *s)
{
    return fd_tables(s)->scheme->prepare(s);
}

static void destroy(unda_solver *s)
{
    struct fd *fd = fd_tables(s);
    if (!fd)
        return;
    arrays_free(&fd->owned);
    array_free(fd);
    s->tables = NULL;
}

static void destroy_at(unda_solver **s)
{
    destroy(*s);
}

static unda_status forecast_team(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o,
                                 int64_t *host_bytes, int64_t *device_bytes)
{
    __attribute__((cleanup(destroy_at))) unda_solver *until_return = s;
    TRY(sizes(until_return, mesh, o));
    TRY(take_team(s));
    return fd_slabs_forecast(s, host_bytes, device_bytes);
}

static void info(const unda_solver *s, unda_solver_info *info)
{
    const struct fd *fd = fd_tables(s);
    info->num_field = fd->num_field;
    info->num_node = 1;
    info->num_elem = fd->axis[0].num * fd->axis[1].num * fd->axis[2].num;
    for (int a = 0; a < 3; a++)
        info->padded[a] = fd->axis[a].total;
    fd->scheme->info(s, info);
}

/* ---- times ---- */

static int64_t num_time(const unda_solver *s, int64_t num_step)
{
    (void)s;
    return num_step;
}

static void times(const unda_solver *s, int64_t num_step, double *times)
{
    for (int64_t i = 0; i < num_step; i++)
        times[i] = s->t0 + (s->step + i) * s->dt;
}

static unda_status medium_dt(unda_solver *s, double *dt, int32_t *again)
{
    struct fd *fd = fd_tables(s);
    double found = s->dt_stable, before = s->dt;
    bool fresh = s->step == 0 && s->num_source == 0 && s->num_group == 0;
    if (fd->scheme->medium_dt)
        TRY(fd->scheme->medium_dt(s, &found));
    if (fresh && found < s->dt_stable)
        TRY(solver_set_stable(s, found));
    *again = s->dt != before && fd->scheme->keeps_dt(fd);
    if (*again) { /* the caller must give all planes again */
        memset(fd->given, 0, (size_t)fd->axis[0].num);
        memset(fd->have_first, 0, sizeof fd->have_first);
        memset(fd->varies, 0, sizeof fd->varies);
        fd->num_given = 0;
    }
    *dt = found;
    return UNDA_OK;
}

static unda_status clear_state(unda_solver *s)
{
    return fd_engine(s)->clear(s);
}

static unda_status rest(unda_solver *s)
{
    return fd_engine(s)->rest(s);
}

#define FD_METHOD                                                                                            \
    .name = "FD", .sizes = sizes, .prepare = prepare, .destroy = destroy, .info = info,                      \
    .num_time = num_time, .times = times, .move = fd_move, .sources_new = fd_sources_new,                    \
    .takes_nodes = true, .source_free = array_free, .source_most = fd_source_most,                           \
    .points_check = fd_points_check, .points_new = fd_points_new, .points_free = fd_points_free,             \
    .sample = fd_sample, .blown_up = fd_blown_up, .clear_state = clear_state, .rest = rest,                  \
    .array_shape = fd_array_shape, .set_material = fd_set_material, .medium_dt = medium_dt,                  \
    .monitor = fd_monitor, .monitor_ways = fd_monitor_ways
static const struct method team = {FD_METHOD,
                                   .engine = fd_slabs_engine,
                                   .create = create_team,
                                   .energy = fd_energy,
                                   .member = fd_slabs_member,
                                   .part = fd_slabs_part,
                                   .forecast = forecast_team};
static const struct method rank = {FD_METHOD,
                                   .engine = fd_slabs_engine,
                                   .create = create_rank,
                                   .energy = fd_rank_energy,
                                   .member = fd_rank_member,
                                   .part = fd_slabs_part,
                                   .message = fd_rank_message,
                                   .set_requests = fd_rank_set_requests};
const struct method fd_method = {FD_METHOD,        .team = &team,    .rank = &rank,
                                 .engine = engine, .create = create, .energy = fd_energy};
