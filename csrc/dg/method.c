/* method.c: nodal DG as a method of the solver: options, tables and state in the user's numbering.
 * Not here: the contents of the tables (tables.c), steps (solver/integrator.c), points (points.c). */
#include "method.h"

#include "common/index.h"
#include "monitor.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- creation ---- */

unda_status dg_check_range(const unda_solver *s, int64_t begin, int64_t end)
{
    int64_t block = s->engine->block(s), num = dg_tables(s)->space.num_owned;
    if (begin < 0 || begin > end || end > num || (begin % block && begin < end) ||
        (end % block && end != num))
        FAIL(UNDA_ERR_INTERNAL, "elements %lld..%lld of a stage, expected whole blocks of %lld",
             (long long)begin, (long long)end, (long long)block);
    return UNDA_OK;
}

const struct engine *dg_engine_of(const unda_solver_options *o)
{
    return o->device == UNDA_DEVICE_CPU ? &dg_cpu.base : &dg_cuda.base;
}

unda_status dg_make_sizes(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    static const struct range ranges[] = {
        {"degree", offsetof(unda_solver_options, degree), 1, MAX_DEGREE},
        {"flux", offsetof(unda_solver_options, flux), 0, 1},
        {"integrator", offsetof(unda_solver_options, integrator), 0, 1},
        {"material_by_node", offsetof(unda_solver_options, material_by_node), 0, 1},
    };
    TRY(solver_check_ranges(o, ranges, sizeof ranges / sizeof *ranges));
    TRY(array_try(&s->tables, 1, sizeof(struct dg), "DG tables"));
    return dg_sizes(dg_tables(s), mesh, o);
}

unda_status dg_make_tables(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    struct dg *dg = dg_tables(s);
    TRY(dg_fill(dg, mesh, o));
    s->dt_stable = INFINITY;
    for (int64_t e = 0; e < dg->space.num_owned; e++)
        s->dt_stable = fmin(s->dt_stable, dg->elem_dt[e]);
    return UNDA_OK;
}

static unda_status create(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    TRY(dg_make_sizes(s, mesh, o));
    return dg_make_tables(s, mesh, o);
}

static void destroy(unda_solver *s)
{
    dg_free(s->tables);
    s->tables = NULL;
}

static void info(const unda_solver *s, unda_solver_info *info)
{
    const struct dg *dg = dg_tables(s);
    info->num_field = dg->physics->num_field;
    info->num_node = dg->space.num_node;
    info->num_stage = dg->integration.kind->num_stage;
    info->num_elem = dg->space.num_owned;
    info->num_exact = solver_num_slot(s) * dg->space.num_face_node;
    info->flops = dg_flops(dg, s->options.integrator);
    info->bytes_per_elem =
        dg_bytes(dg, s->options.integrator, s->real_bytes, s->options.device != UNDA_DEVICE_CPU);
}

/* ---- tables in the user's numbering ---- */

static void element_dt(const unda_solver *s, double *dt)
{
    const struct dg *dg = dg_tables(s);
    for (int64_t e = 0; e < dg->space.num_owned; e++)
        dt[dg->space.order[e]] = dg->elem_dt[e];
}

/* Points and boundary number of one slot, as unda_solver_exact_points returns them. */
static void put_points(const struct dg *dg, int64_t face, int32_t number, int64_t slot, double *points,
                       int32_t *boundary)
{
    int num = dg->space.num_face_node;
    double x[3 * MAX_NODE];
    space_coordinates(&dg->space, face / dg->space.num_face, x);
    for (int m = 0; m < num; m++) {
        memcpy(points + 3 * (slot * num + m),
               x + 3 * dg->space.element->face_node[face % dg->space.num_face * num + m], 3 * sizeof(double));
        if (boundary)
            boundary[slot * num + m] = number;
    }
}

void dg_exact_points(const unda_solver *s, const int64_t *slot, double *points, int32_t *boundary)
{
    const struct dg *dg = dg_tables(s);
    for (int64_t i = 0; i < dg->space.num_exact_face; i++)
        put_points(dg, dg->space.exact_face[i], -1 - dg->space.mesh->neighbor[dg->space.exact_face[i]],
                   slot ? slot[i] : i, points, boundary);
    for (int32_t i = 0; i < dg->num_incident; i++) {
        int64_t at = dg->incident[i].slot;
        put_points(dg, dg->incident[i].face, -1, slot ? slot[at] : at, points, boundary);
    }
}

static void exact_points(const unda_solver *s, double *points, int32_t *boundary)
{
    dg_exact_points(s, NULL, points, boundary);
}

/* ---- state ---- */

static bool is_memory(int32_t array)
{
    return array >= UNDA_MEMORY && array <= UNDA_MEMORY2;
}

int dg_buffer_of(const unda_solver *s, int32_t array)
{
    static const int buffers[] = {
        [UNDA_STATE] = BUF_Q,  [UNDA_RHS] = BUF_SCRATCH, [UNDA_HISTORY1] = BUF_R1, [UNDA_HISTORY2] = BUF_R,
        [UNDA_MEMORY] = BUF_Q, [UNDA_MEMORY1] = BUF_R1,  [UNDA_MEMORY2] = BUF_R};
    if (array < UNDA_STATE || array > UNDA_MEMORY2 || (is_memory(array) && !dg_tables(s)->layers.given))
        return -1;
    bool history = buffers[array] == BUF_R1 || buffers[array] == BUF_R;
    return history && s->options.integrator != UNDA_AB3 ? -1 : buffers[array];
}

int64_t dg_array_bytes(const unda_solver *s, int32_t array)
{
    const struct dg *dg = dg_tables(s);
    return is_memory(array) ? (int64_t)3 * dg->space.num_node * dg->physics->num_trace * s->real_bytes
                            : dg_elem_bytes(s);
}

enum { BATCH = 4096 }; /* elements moved at a time */

static unda_status move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                        const void *in)
{
    const struct dg *dg = dg_tables(s);
    int buffer = dg_buffer_of(s, array);
    if (buffer < 0 || (in && array == UNDA_RHS))
        FAIL(UNDA_ERR_ARG, "array is %d, expected one of unda_array that this solver has", array);
    if (first < 0 || count < 0 || first > dg->space.num_owned - count)
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected elements within 0..%lld", (long long)first,
             (long long)count, (long long)dg->space.num_owned - 1);
    for (int64_t done = 0; done < count; done += BATCH) {
        int64_t batch = count - done < BATCH ? count - done : BATCH;
        const int64_t *place = dg->space.place + first + done;
        int64_t at = done * dg_array_bytes(s, array);
        TRY((is_memory(array) ? dg_engine(s)->move_memory : dg_engine(s)->move)(
            s, buffer, batch, place, out ? (char *)out + at : NULL, in ? (const char *)in + at : NULL));
        if (in && array == UNDA_STATE)
            TRY(dg_engine(s)->move_memory(s, BUF_Q, batch, place, NULL, NULL));
    }
    return UNDA_OK;
}

static unda_status keep(unda_solver *s)
{
    return s->engine->copy(s, BUF_SCRATCH, BUF_Q);
}

void dg_describe_bad(const unda_solver *s, int64_t index, unda_blowup *blowup)
{
    int64_t num_field = dg_tables(s)->physics->num_field;
    blowup->node = (int32_t)(index % dg_num_value(s) / num_field);
    blowup->field = (int32_t)(index % num_field);
}

static unda_status blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    struct dg *dg = dg_tables(s);
    dg_describe_bad(s, index, blowup);
    blowup->elem = dg->space.order[index / dg_num_value(s)];
    /* no good state is stored: the first check, or the scratch buffer was needed (ab3's first steps) */
    if (!s->have_good)
        return UNDA_OK;
    TRY(s->engine->copy(s, BUF_Q, BUF_SCRATCH));
    s->step = s->good_step;
    dg->integration.num_valid = 0;
    return UNDA_OK;
}

static int64_t num_integral(const void *points)
{
    return dg_num_place(points);
}

static unda_status begin_integrals(unda_solver *s, void *points)
{
    return dg_begin_integrals(s, points, &dg_tables(s)->integration);
}

static unda_status move_integrals(unda_solver *s, void *points, double *out, const double *in)
{
    const struct dg_points *p = points;
    (void)s;
    dg_move_integrals(p, 0, 0, p->rows.num, p->rows.num, out, in);
    return UNDA_OK;
}

static int64_t num_time(const unda_solver *s, int64_t num_step)
{
    return integration_num_time(&dg_tables(s)->integration, num_step);
}

static void times(const unda_solver *s, int64_t num_step, double *times)
{
    integration_times(s, &dg_tables(s)->integration, num_step, times);
}

int64_t dg_max_time(const unda_solver *s)
{
    struct integration cleared = dg_tables(s)->integration;
    cleared.num_valid = 0;
    return integration_num_time(&cleared, s->max_step);
}

struct dg_args dg_stage_args(const unda_solver *s, const struct stage *stage)
{
    const struct dg *dg = dg_tables(s);
    const struct space *space = &dg->space;
    return (struct dg_args){.num_elem = space->num_owned,
                            .num_total = space_num_total(space),
                            .num_coef_face = space->num_face * space->num_owned * dg->face_materials,
                            .num_metric = space->num_owned * dg->metric_nodes,
                            .num_exact_face = solver_num_slot(s),
                            .time = (int)stage->time,
                            .num_source = s->num_source,
                            .a = stage->a,
                            .b = stage->b,
                            .dt = s->dt,
                            .c0 = s->dt * stage->c0,
                            .c1 = s->dt * stage->c1,
                            .c2 = s->dt * stage->c2};
}

static unda_status rhs(unda_solver *s)
{
    struct stage stage = {.update = UPDATE_RHS, .r = BUF_SCRATCH};
    return integration_stage(s, &dg_tables(s)->integration, &stage);
}

static void set_history(unda_solver *s, int32_t history)
{
    dg_tables(s)->integration.num_valid = history;
}

static int32_t get_history(const unda_solver *s)
{
    return dg_tables(s)->integration.num_valid;
}

const struct method dg_method = {.name = "DG",
                                 .on_mesh = true,
                                 .team = &dg_team_method,
                                 .rank = &dg_rank_method,
                                 .engine = dg_engine_of,
                                 .sizes = dg_make_sizes,
                                 .create = create,
                                 .destroy = destroy,
                                 .info = info,
                                 .num_time = num_time,
                                 .times = times,
                                 .move = move,
                                 .sources_new = dg_sources_new,
                                 .source_free = dg_rows_free,
                                 .points_check = dg_points_check,
                                 .points_new = dg_points_new,
                                 .points_free = dg_rows_free,
                                 .sample = dg_sample,
                                 .num_integral = num_integral,
                                 .begin_integrals = begin_integrals,
                                 .move_integrals = move_integrals,
                                 .keep_integrals = dg_keep_integrals,
                                 .energy = dg_energy,
                                 .keep = keep,
                                 .blown_up = blown_up,
                                 .rhs = rhs,
                                 .set_history = set_history,
                                 .get_history = get_history,
                                 .add_incident = dg_add_incident,
                                 .clear_incident = dg_clear_incident,
                                 .element_dt = element_dt,
                                 .monitor = dg_monitor,
                                 .exact_points = exact_points};
