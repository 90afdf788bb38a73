/* solver.c: solvers: create, free, state in the user's numbering, stepping; the table of methods.
 * No numerics here. Next: integrator.c (what a step is), the engines (dg_cpu.inc.h, dg_cuda.c). */
#include "solver.h"

#include "common/index.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Engines by method: CPU, CUDA. */
static const struct engine *const engines[][2] = {[UNDA_DG] = {&dg_cpu, &dg_cuda}};
enum { NUM_METHOD = sizeof engines / sizeof *engines };

unda_status solver_enter(unda_solver *s)
{
    if (!s)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    TRY(fork_check());
    int idle = 0;
    if (!atomic_compare_exchange_strong(&s->busy, &idle, 1))
        FAIL(UNDA_ERR_BUSY, "another thread is using this solver; give each thread its own");
    return UNDA_OK;
}

unda_status solver_leave(unda_solver *s, unda_status status)
{
    atomic_store(&s->busy, 0);
    return status;
}

/* ---- creation ---- */

static unda_status check_options(const unda_solver_options *o)
{
    static const struct {
        const char *name;
        size_t offset;
        int low, high;
    } ranges[] = {
        {"method", offsetof(unda_solver_options, method), 0, NUM_METHOD - 1},
        {"degree", offsetof(unda_solver_options, degree), 1, MAX_DEGREE},
        {"precision", offsetof(unda_solver_options, precision), 0, 1},
        {"flux", offsetof(unda_solver_options, flux), 0, 1},
        {"integrator", offsetof(unda_solver_options, integrator), 0, 1},
        {"kernel", offsetof(unda_solver_options, kernel), 0, 2},
        {"device", offsetof(unda_solver_options, device), UNDA_DEVICE_CPU, INT32_MAX},
        {"threads", offsetof(unda_solver_options, threads), 0, 4096},
    };
    CHECK_SIZE(o, unda_solver_options);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int32_t value;
        memcpy(&value, (const char *)o + ranges[i].offset, sizeof value);
        if (value < ranges[i].low || value > ranges[i].high)
            FAIL(UNDA_ERR_ARG, "%s is %d, expected %d..%d", ranges[i].name, value, ranges[i].low,
                 ranges[i].high);
    }
    if (!(isfinite(o->dt) && o->dt >= 0) || !(isfinite(o->cfl) && o->cfl >= 0))
        FAIL(UNDA_ERR_ARG, "dt is %g, cfl is %g, expected finite numbers >= 0", o->dt, o->cfl);
    return UNDA_OK;
}

static void choose_dt(unda_solver *s)
{
    s->dt_stable = INFINITY;
    for (int64_t e = 0; e < s->dg->num_elem; e++)
        s->dt_stable = fmin(s->dt_stable, s->dg->elem_dt[e]);
    double cfl = s->options.cfl > 0 ? s->options.cfl : 0.9;
    s->dt = s->options.dt > 0 ? s->options.dt : cfl * s->dt_stable;
}

static void keep_options(unda_solver *s, const unda_solver_options *o)
{
    s->options = *o;
    s->options.material = NULL;
    s->options.boundary = NULL;
    s->real_bytes = o->precision == UNDA_FLOAT32 ? 4 : 8;
    s->engine = engines[o->method][o->device != UNDA_DEVICE_CPU];
}

static unda_status build(unda_solver *s, const unda_solver_options *o)
{
    double begin = clock_seconds();
    TRY(dg_new(&s->dg, s->mesh, o));
    keep_options(s, o);
    choose_dt(s);
    TRY(s->engine->create(s));
    s->setup_seconds = clock_seconds() - begin - s->compile_seconds;
    return UNDA_OK;
}

unda_status unda_solver_new(unda_solver **out, const unda_mesh *mesh, const unda_solver_options *options)
{
    TRY(fork_check());
    if (!out || !mesh)
        FAIL(UNDA_ERR_ARG, "solver or mesh is NULL");
    TRY(check_options(options));
    unda_solver *s;
    TRY(array_try(&s, 1, sizeof *s, "solver"));
    s->mesh = mesh;
    unda_status status = build(s, options);
    if (status != UNDA_OK) {
        unda_solver_free(s);
        return status;
    }
    *out = s;
    return UNDA_OK;
}

/* A solver of sizes only. */
static unda_status sized(unda_solver *s, struct dg *dg, const unda_solver_options *options, int64_t num_elem)
{
    TRY(check_options(options));
    TRY(dg_sizes(dg, options, num_elem));
    s->dg = dg;
    keep_options(s, options);
    return UNDA_OK;
}

unda_status unda_solver_forecast(const unda_mesh *mesh, const unda_solver_options *options,
                                 int64_t *host_bytes, int64_t *device_bytes)
{
    if (!mesh || !host_bytes || !device_bytes)
        FAIL(UNDA_ERR_ARG, "mesh, host_bytes or device_bytes is NULL");
    unda_solver s = {0};
    struct dg dg = {0};
    TRY(sized(&s, &dg, options, mesh->num_elem));
    TRY(s.engine->forecast(&s));
    *host_bytes = s.host_bytes;
    *device_bytes = s.device_bytes;
    return UNDA_OK;
}

unda_status unda_kernel_compile(const unda_solver_options *options, int32_t compute_capability,
                                unda_kernel_resources *resources)
{
    CHECK_SIZE(resources, unda_kernel_resources);
    unda_solver s = {0};
    struct dg dg = {0};
    TRY(sized(&s, &dg, options, 0));
    if (!s.engine->compile)
        FAIL(UNDA_ERR_ARG, "device is %d: the %s engine compiles no kernels, expected 0 or more",
             options->device, s.engine->name);
    return s.engine->compile(&s, compute_capability, resources);
}

void unda_solver_free(unda_solver *s)
{
    if (!s)
        return;
    if (s->engine && s->data)
        s->engine->destroy(s);
    point_sources_free(s);
    incident_free(s);
    receivers_free(s);
    dg_free(s->dg);
    array_free(s);
}

unda_status unda_solver_get_info(const unda_solver *s, unda_solver_info *info)
{
    TRY(fork_check());
    if (!s)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    CHECK_SIZE(info, unda_solver_info);
    const struct dg *dg = s->dg;
    *info = (unda_solver_info){
        .size_bytes = sizeof *info,
        .num_field = dg->physics->num_field,
        .num_node = dg->num_node,
        .num_stage = integrator_num_stage(s->options.integrator),
        .on_gpu = s->options.device != UNDA_DEVICE_CPU,
        .threads = s->threads,
        .num_elem = dg->num_elem,
        .num_exact = solver_num_slot(s) * dg->num_face_node,
        .step = s->step,
        .host_bytes = s->host_bytes,
        .device_bytes = s->device_bytes,
        .num_launch = s->num_launch,
        .dt = s->dt,
        .dt_stable = s->dt_stable,
        .time = s->t0 + s->step * s->dt,
        .setup_seconds = s->setup_seconds,
        .compile_seconds = s->compile_seconds,
        .flops = dg_flops(dg, s->options.integrator),
        .bytes_per_elem = dg_bytes(dg, s->options.integrator, s->real_bytes),
    };
    if (s->engine->describe)
        s->engine->describe(s, info);
    return UNDA_OK;
}

/* ---- tables in the user's numbering ---- */

unda_status unda_solver_element_dt(const unda_solver *s, double *dt)
{
    TRY(fork_check());
    if (!s || !dt)
        FAIL(UNDA_ERR_ARG, "solver or dt is NULL");
    for (int64_t e = 0; e < s->dg->num_elem; e++)
        dt[s->mesh->order[e]] = s->dg->elem_dt[e];
    return UNDA_OK;
}

unda_status unda_solver_coordinates(const unda_solver *s, double *coordinates)
{
    TRY(fork_check());
    if (!s || !coordinates)
        FAIL(UNDA_ERR_ARG, "solver or coordinates is NULL");
    for (int64_t e = 0; e < s->dg->num_elem; e++)
        dg_coordinates(s->dg, s->mesh, e, coordinates + 3 * s->dg->num_node * s->mesh->order[e]);
    return UNDA_OK;
}

/* What unda_solver_exact_points gives of one slot. */
static void exact_points(const unda_solver *s, int64_t face, int32_t number, int64_t slot, double *points,
                         int32_t *boundary)
{
    const struct dg *dg = s->dg;
    int num = dg->num_face_node;
    double x[3 * MAX_NODE];
    dg_coordinates(dg, s->mesh, face / 4, x);
    for (int m = 0; m < num; m++) {
        memcpy(points + 3 * (slot * num + m), x + 3 * dg->element->face_node[face % 4 * num + m],
               3 * sizeof(double));
        if (boundary)
            boundary[slot * num + m] = number;
    }
}

unda_status unda_solver_exact_points(const unda_solver *s, double *points, int32_t *boundary)
{
    TRY(fork_check());
    if (!s || !points)
        FAIL(UNDA_ERR_ARG, "solver or points is NULL");
    for (int64_t i = 0; i < s->dg->num_exact_face; i++) {
        int64_t face = s->dg->exact_face[i];
        exact_points(s, face, -1 - s->mesh->neighbor[face], i, points, boundary);
    }
    for (int32_t i = 0; i < s->num_incident; i++)
        exact_points(s, s->incident[i].face, -1, s->incident[i].slot, points, boundary);
    return UNDA_OK;
}

/* ---- state ---- */

static int buffer_of(const unda_solver *s, int32_t array)
{
    static const int buffers[] = {
        [UNDA_STATE] = BUF_Q, [UNDA_RHS] = BUF_SCRATCH, [UNDA_HISTORY1] = BUF_R1, [UNDA_HISTORY2] = BUF_R};
    bool history = array == UNDA_HISTORY1 || array == UNDA_HISTORY2;
    if (array < UNDA_STATE || array > UNDA_HISTORY2 || (history && s->options.integrator != UNDA_AB3))
        return -1;
    return buffers[array];
}

enum { BATCH = 4096 }; /* elements moved at a time */

static unda_status move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                        const void *in)
{
    if (!out && !in)
        FAIL(UNDA_ERR_ARG, "values is NULL");
    int buffer = buffer_of(s, array);
    if (buffer < 0 || (in && array == UNDA_RHS))
        FAIL(UNDA_ERR_ARG, "array is %d, expected one of unda_array that this solver has", array);
    if (first < 0 || count < 0 || first > s->dg->num_elem - count)
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected elements within 0..%lld", (long long)first,
             (long long)count, (long long)s->dg->num_elem - 1);
    int64_t elem_bytes = (int64_t)s->dg->num_node * s->dg->physics->num_field * s->real_bytes;
    for (int64_t done = 0; done < count; done += BATCH) {
        int64_t batch = count - done < BATCH ? count - done : BATCH;
        const int64_t *place = s->mesh->place + first + done;
        if (out)
            TRY(s->engine->read(s, buffer, batch, place, (char *)out + done * elem_bytes));
        else
            TRY(s->engine->write(s, buffer, batch, place, (const char *)in + done * elem_bytes));
    }
    if (in)
        s->have_good = false;
    return UNDA_OK;
}

unda_status unda_solver_read(unda_solver *s, int32_t array, int64_t first, int64_t count, void *values)
{
    TRY(solver_enter(s));
    return solver_leave(s, move(s, array, first, count, values, NULL));
}

unda_status unda_solver_write(unda_solver *s, int32_t array, int64_t first, int64_t count, const void *values)
{
    TRY(solver_enter(s));
    return solver_leave(s, move(s, array, first, count, NULL, values));
}

unda_status unda_solver_set_clock(unda_solver *s, double t0, int64_t step, int32_t history)
{
    if (!isfinite(t0) || step < 0 || history < 0 || history > 2)
        FAIL(UNDA_ERR_ARG, "t0 is %g, step %lld, history %d; expected finite, >= 0, 0..2", t0,
             (long long)step, history);
    TRY(solver_enter(s));
    s->t0 = t0;
    s->step = step;
    s->history = history;
    s->have_good = false;
    return solver_leave(s, UNDA_OK);
}

unda_status unda_solver_get_history(const unda_solver *s, int32_t *history)
{
    TRY(fork_check());
    if (!s || !history)
        FAIL(UNDA_ERR_ARG, "solver or history is NULL");
    *history = s->history;
    return UNDA_OK;
}

/* ---- running ---- */

enum { MAX_STEP = 1 << 28 }; /* of one call: stages are counted in 32 bits */

unda_status unda_solver_reserve(unda_solver *s, int64_t max_step)
{
    if (max_step < 0 || max_step > MAX_STEP)
        FAIL(UNDA_ERR_ARG, "max_step is %lld, expected 0..%d", (long long)max_step, MAX_STEP);
    TRY(solver_enter(s));
    int64_t before = s->max_step;
    s->max_step = max_step > before ? max_step : before;
    unda_status status = receivers_reserve(s);
    if (status == UNDA_OK && s->engine->reserve)
        status = s->engine->reserve(s);
    if (status != UNDA_OK)
        s->max_step = before; /* what did not fit is not asked for again */
    return solver_leave(s, status);
}

unda_status unda_solver_stage_times(const unda_solver *s, int64_t num_step, double *times, int64_t *num_time)
{
    TRY(fork_check());
    if (!s || !num_time)
        FAIL(UNDA_ERR_ARG, "solver or num_time is NULL");
    if (num_step < 0 || num_step > MAX_STEP)
        FAIL(UNDA_ERR_ARG, "num_step is %lld, expected 0..%d", (long long)num_step, MAX_STEP);
    *num_time = integrator_num_time(s, num_step);
    if (times)
        integrator_times(s, num_step, times);
    return UNDA_OK;
}

static unda_status check_drive(const unda_solver *s, int64_t num_time, const unda_drive *drive)
{
    CHECK_SIZE(drive, unda_drive);
    if (drive->num_time != num_time)
        FAIL(UNDA_ERR_ARG, "drive.num_time is %lld, expected %lld", (long long)drive->num_time,
             (long long)num_time);
    if (s->num_source && !drive->amplitudes)
        FAIL(UNDA_ERR_ARG, "drive.amplitudes is NULL, expected [%lld][%d]", (long long)num_time,
             s->num_source);
    if (solver_num_slot(s) && !drive->exact)
        FAIL(UNDA_ERR_ARG, "drive.exact is NULL, expected exact outer data");
    return UNDA_OK;
}

static unda_status check_finite(unda_solver *s)
{
    int64_t bad;
    TRY(s->engine->find_bad(s, &bad));
    if (bad < 0) {
        s->have_good = true;
        s->good_step = s->step;
        return s->engine->copy(s, BUF_SCRATCH, BUF_Q);
    }
    int64_t num_field = s->dg->physics->num_field, num_node = s->dg->num_node;
    s->blowup = (unda_blowup){.size_bytes = sizeof s->blowup,
                              .step = s->step,
                              .last_good_step = s->good_step,
                              .elem = s->mesh->order[bad / (num_node * num_field)],
                              .node = (int32_t)(bad / num_field % num_node),
                              .field = (int32_t)(bad % num_field)};
    TRY(s->engine->copy(s, BUF_Q, BUF_SCRATCH));
    s->step = s->good_step;
    s->history = 0;
    FAIL(UNDA_ERR_UNSTABLE,
         "the solution is not finite after step %lld (it was after step %lld), element %lld",
         (long long)s->blowup.step, (long long)s->blowup.last_good_step, (long long)s->blowup.elem);
}

static unda_status step(unda_solver *s, int64_t num_step, const unda_drive *drive)
{
    if (num_step < 0 || num_step > s->max_step)
        FAIL(UNDA_ERR_ARG, "num_step is %lld, expected 0..%lld as reserved", (long long)num_step,
             (long long)s->max_step);
    for (int32_t i = 0; i < s->num_group; i++)
        if (s->groups[i]->held + num_step / s->groups[i]->every + 1 > s->groups[i]->room)
            FAIL(UNDA_ERR_ARG, "receiver group %d has no room: take its samples first", i);
    TRY(check_drive(s, integrator_num_time(s, num_step), drive));
    if (num_step == 0)
        return UNDA_OK;
    if (!s->have_good)
        TRY(check_finite(s));
    TRY(s->engine->drive(s, drive));
    TRY(s->engine->run(s, num_step));
    return check_finite(s);
}

unda_status unda_solver_step(unda_solver *s, int64_t num_step, const unda_drive *drive)
{
    TRY(solver_enter(s));
    return solver_leave(s, step(s, num_step, drive));
}

static unda_status rhs(unda_solver *s, const unda_drive *drive)
{
    struct stage stage = {.update = UPDATE_RHS, .r = BUF_SCRATCH};
    TRY(check_drive(s, 1, drive));
    s->have_good = false;
    TRY(s->engine->drive(s, drive));
    return s->engine->stage(s, &stage);
}

unda_status unda_solver_rhs(unda_solver *s, const unda_drive *drive)
{
    TRY(solver_enter(s));
    return solver_leave(s, rhs(s, drive));
}

static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    CHECK_SIZE(profile, unda_profile);
    if (num_run < 1 || num_run > 1000000)
        FAIL(UNDA_ERR_ARG, "num_run is %lld, expected 1..1000000", (long long)num_run);
    if (!s->engine->profile)
        FAIL(UNDA_ERR_ARG, "the %s engine has no kernels to time", s->engine->name);
    s->max_step = s->max_step > 1 ? s->max_step : 1;
    TRY(receivers_reserve(s));
    TRY(s->engine->reserve(s));
    *profile = (unda_profile){.size_bytes = sizeof *profile};
    return s->engine->profile(s, num_run, profile);
}

unda_status unda_solver_profile(unda_solver *s, int64_t num_run, unda_profile *out)
{
    TRY(solver_enter(s));
    return solver_leave(s, profile(s, num_run, out));
}

unda_status unda_solver_get_blowup(const unda_solver *s, unda_blowup *blowup)
{
    TRY(fork_check());
    if (!s)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    CHECK_SIZE(blowup, unda_blowup);
    *blowup = s->blowup;
    blowup->size_bytes = sizeof *blowup;
    return UNDA_OK;
}
