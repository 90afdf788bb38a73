/* solver.c: solvers: create, free, state in the user's numbering, stepping; the table of methods.
 * No numerics here. Next: dg/method.c, sem/method.c, fd/method.c. */
#include "solver.h"

#include "../mesh/mesh.h"
#include "device_read.h"
#include "monitor.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct method *const methods[] = {
    [UNDA_DG] = &dg_method, [UNDA_FD] = &fd_method, [UNDA_SEM] = &sem_method};
enum { NUM_METHOD = sizeof methods / sizeof *methods };

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

void solver_leave(unda_solver **s)
{
    atomic_store(&(*s)->busy, 0);
}

/* ---- creation ---- */

unda_status solver_check_ranges(const unda_solver_options *o, const struct range *ranges, int num_range)
{
    for (int i = 0; i < num_range; i++) {
        int32_t value;
        memcpy(&value, (const char *)o + ranges[i].offset, sizeof value);
        if (value < ranges[i].low || value > ranges[i].high)
            FAIL(UNDA_ERR_ARG, "%s is %d, expected %d..%d", ranges[i].name, value, ranges[i].low,
                 ranges[i].high);
    }
    return UNDA_OK;
}

static unda_status check_options(const unda_solver_options *o)
{
    static const struct range ranges[] = {
        {"method", offsetof(unda_solver_options, method), 0, NUM_METHOD - 1},
        {"precision", offsetof(unda_solver_options, precision), 0, 1},
        {"device", offsetof(unda_solver_options, device), UNDA_DEVICE_CPU, INT32_MAX},
        {"threads", offsetof(unda_solver_options, threads), 0, 4096},
        {"shape", offsetof(unda_solver_options, shape), UNDA_TET, UNDA_HEX},
    };
    CHECK_SIZE(o, unda_solver_options);
    TRY(solver_check_ranges(o, ranges, sizeof ranges / sizeof *ranges));
    if (!(isfinite(o->dt) && o->dt >= 0) || !(isfinite(o->cfl) && o->cfl >= 0))
        FAIL(UNDA_ERR_ARG, "dt is %g, cfl is %g, expected finite numbers >= 0", o->dt, o->cfl);
    if (!(isfinite(o->sample_dt) && o->sample_dt >= 0))
        FAIL(UNDA_ERR_ARG, "sample_dt is %g, expected a finite number >= 0", o->sample_dt);
    return UNDA_OK;
}

unda_status solver_engine(const unda_solver_options *o, const struct engine **engine)
{
    TRY(check_options(o));
    *engine = methods[o->method]->engine(o);
    return UNDA_OK;
}

/* Sizes and options that are known before any table exists. */
unda_status solver_begin(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    TRY(check_options(o));
    s->options = *o;
    s->options.material = NULL;
    s->options.boundary = NULL;
    s->options.fd = NULL;
    s->options.layer = NULL;
    s->real_bytes = o->precision == UNDA_FLOAT32 ? 4 : 8;
    s->method = methods[o->method];
    if (s->method->on_mesh && mesh)
        s->options.shape = mesh->shape;
    s->engine = s->method->engine(o);
    return kernel_check(&s->options, s->engine->kernels);
}

/* A part of a mesh is for a team or for one of many processes. */
static unda_status refuse_part(const unda_solver *s, const unda_mesh *mesh)
{
    if (mesh && mesh->num_owned < mesh->num_elem && !s->ranks)
        FAIL(UNDA_ERR_ARG,
             "the mesh is part %d of %d, whose %lld ghosts nobody would fill, expected a whole mesh",
             mesh->part.which, mesh->part.num_part, (long long)(mesh->num_elem - mesh->num_owned));
    return UNDA_OK;
}

static unda_status need_mesh(const unda_solver *s, const unda_mesh *mesh)
{
    if (s->method->on_mesh && !mesh)
        FAIL(UNDA_ERR_ARG, "mesh is NULL");
    return UNDA_OK;
}

/* A solver of several parts, if it is to be one, routes all to theirs. */
static unda_status begin_team(unda_solver *s, const unda_solver_options *o)
{
    if (!s->split)
        return UNDA_OK;
    CHECK_SIZE(s->split, unda_team);
    if (!s->method->team)
        FAIL(UNDA_ERR_ARG, "%s runs on one device only, found a team of %d parts", s->method->name,
             s->split->num_part);
    s->method = s->method->team;
    s->engine = s->method->engine(o);
    return UNDA_OK;
}

static double choose_dt(const unda_solver_options *o, double stable)
{
    double most = (o->cfl > 0 ? o->cfl : 0.9) * stable;
    if (o->dt > 0)
        return o->dt;
    return o->sample_dt > 0 ? o->sample_dt / fmax(1, ceil(o->sample_dt / most - 1e-9)) : most;
}

unda_status solver_set_stable(unda_solver *s, double dt_stable)
{
    double before = s->dt;
    s->dt_stable = dt_stable;
    s->dt = choose_dt(&s->options, dt_stable);
    if (s->dt == before)
        return UNDA_OK;
    if (s->method->prepare)
        TRY(s->method->prepare(s));
    return s->engine->retime ? s->engine->retime(s) : UNDA_OK;
}

/* How messages of processes travel. */
static unda_status check_transport(const unda_solver *s, const unda_ranks *ranks)
{
    bool by_nccl = ranks->transport == UNDA_TRANSPORT_NCCL;
    if (ranks->transport < UNDA_TRANSPORT_AUTO || ranks->transport > UNDA_TRANSPORT_NCCL ||
        ranks->transport == UNDA_TRANSPORT_PEER)
        FAIL(UNDA_ERR_ARG,
             "transport is %d between processes, expected %d (auto), %d (host), %d (mpi) or %d (nccl)",
             ranks->transport, UNDA_TRANSPORT_AUTO, UNDA_TRANSPORT_HOST, UNDA_TRANSPORT_MPI,
             UNDA_TRANSPORT_NCCL);
    if (by_nccl && (!ranks->nccl || s->options.device == UNDA_DEVICE_CPU))
        FAIL(UNDA_ERR_ARG,
             "transport is %d (nccl), and nccl is NULL or the device the CPU; expected CUDA devices, and "
             "what unda_nccl_new makes",
             ranks->transport);
    if (!by_nccl && ranks->nccl)
        FAIL(UNDA_ERR_ARG, "transport is %d and nccl is given, expected %d with it", ranks->transport,
             UNDA_TRANSPORT_NCCL);
    return UNDA_OK;
}

/* Likewise a solver of one of many processes. */
static unda_status begin_rank(unda_solver *s, const unda_mesh *mesh)
{
    const unda_ranks *ranks = s->ranks;
    if (!ranks)
        return UNDA_OK;
    CHECK_SIZE(ranks, unda_ranks);
    if (!s->method->rank)
        FAIL(UNDA_ERR_ARG, "%s runs in one process only, found one of %d", s->method->name, ranks->num_rank);
    if (!ranks->unite)
        FAIL(UNDA_ERR_ARG, "unite is NULL, expected a function that all processes call");
    if (s->method->on_mesh &&
        (!ranks->place || mesh->part.num_part != ranks->num_rank || mesh->part.which != ranks->which))
        FAIL(UNDA_ERR_ARG, "place is NULL, or the mesh is part %d of %d and the process %d of %d",
             mesh->part.which, mesh->part.num_part, ranks->which, ranks->num_rank);
    TRY(check_transport(s, ranks));
    s->method = s->method->rank;
    s->engine = s->method->engine(&s->options);
    return UNDA_OK;
}

static unda_status build(unda_solver *s, const unda_mesh *mesh, const unda_solver_options *o)
{
    double start = clock_seconds();
    TRY(solver_begin(s, mesh, o));
    TRY(need_mesh(s, mesh));
    TRY(refuse_part(s, mesh));
    TRY(begin_team(s, o));
    TRY(begin_rank(s, mesh));
    TRY(s->method->create(s, mesh, o));
    s->dt = choose_dt(o, s->dt_stable);
    if (s->method->prepare)
        TRY(s->method->prepare(s));
    TRY(s->engine->create(s));
    s->setup_seconds = clock_seconds() - start - s->compile_seconds;
    return UNDA_OK;
}

unda_status unda_solver_new(unda_solver **out, const unda_mesh *mesh, const unda_solver_options *options)
{
    return unda_solver_new_team(out, mesh, options, NULL);
}

unda_status unda_solver_new_team(unda_solver **out, const unda_mesh *mesh, const unda_solver_options *options,
                                 const unda_team *team)
{
    TRY(fork_check());
    if (!out)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    unda_solver *s;
    TRY(array_try(&s, 1, sizeof *s, "solver"));
    s->split = team;
    return COMPLETE(out, s, unda_solver_free, build(s, mesh, options));
}

unda_status unda_solver_new_rank(unda_solver **out, const unda_mesh *part, const unda_solver_options *options,
                                 const unda_ranks *ranks)
{
    TRY(fork_check());
    if (!out || !ranks)
        FAIL(UNDA_ERR_ARG, "solver or ranks is NULL");
    unda_solver *s;
    TRY(array_try(&s, 1, sizeof *s, "solver"));
    s->ranks = ranks;
    return COMPLETE(out, s, unda_solver_free, build(s, part, options));
}

void solver_free_sizes(unda_solver *s)
{
    if (s->method)
        s->method->destroy(s);
}

unda_status unda_solver_forecast(const unda_mesh *mesh, const unda_solver_options *options,
                                 int64_t *host_bytes, int64_t *device_bytes)
{
    if (!host_bytes || !device_bytes)
        FAIL(UNDA_ERR_ARG, "host_bytes or device_bytes is NULL");
    __attribute__((cleanup(solver_free_sizes))) unda_solver s = {0};
    TRY(solver_begin(&s, mesh, options));
    TRY(need_mesh(&s, mesh));
    TRY(s.method->sizes(&s, mesh, options));
    TRY(s.engine->forecast(&s));
    *host_bytes = s.host_bytes;
    *device_bytes = s.device_bytes;
    return UNDA_OK;
}

unda_status unda_solver_forecast_team(const unda_mesh *mesh, const unda_solver_options *options,
                                      const unda_team *team, int64_t *host_bytes, int64_t *device_bytes)
{
    if (!team || !host_bytes || !device_bytes)
        FAIL(UNDA_ERR_ARG, "team, host_bytes or device_bytes is NULL");
    unda_solver s = {.split = team};
    TRY(solver_begin(&s, mesh, options));
    TRY(need_mesh(&s, mesh));
    TRY(begin_team(&s, options));
    return s.method->forecast(&s, mesh, options, host_bytes, device_bytes);
}

unda_status unda_kernel_compile(const unda_solver_options *options, int32_t compute_capability,
                                unda_kernel_resources *resources)
{
    CHECK_SIZE(resources, unda_kernel_resources);
    __attribute__((cleanup(solver_free_sizes))) unda_solver s = {0};
    TRY(solver_begin(&s, NULL, options));
    if (!s.engine->compile)
        FAIL(UNDA_ERR_ARG, "device is %d: the %s engine compiles no kernels, expected 0 or more",
             options->device, s.engine->name);
    TRY(s.method->sizes(&s, NULL, options));
    return s.engine->compile(&s, compute_capability, resources);
}

void unda_solver_free(unda_solver *s)
{
    if (!s)
        return;
    monitors_free(s); /* they are on the device of the engine */
    device_read_free(s);
    if (s->engine && s->data)
        s->engine->destroy(s);
    if (s->method) {
        sources_free_all(s);
        receivers_free(s);
        s->method->destroy(s);
    }
    array_free(s);
}

unda_status unda_solver_get_info(const unda_solver *s, unda_solver_info *info)
{
    TRY(fork_check());
    if (!s)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    CHECK_SIZE(info, unda_solver_info);
    *info = (unda_solver_info){
        .size_bytes = sizeof *info,
        .num_stage = 1,
        .on_gpu = s->options.device != UNDA_DEVICE_CPU,
        .threads = s->threads,
        .step = s->step,
        .host_bytes = s->host_bytes,
        .device_bytes = s->device_bytes,
        .num_launch = s->num_launch,
        .dt = s->dt,
        .dt_stable = s->dt_stable,
        .time = s->t0 + s->step * s->dt,
        .setup_seconds = s->setup_seconds,
        .compile_seconds = s->compile_seconds,
    };
    s->method->info(s, info);
    if (s->engine->describe)
        s->engine->describe(s, info);
    return UNDA_OK;
}

/* ---- state ---- */

static unda_status move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                        const void *in)
{
    if (!out && !in)
        FAIL(UNDA_ERR_ARG, "values is NULL");
    if (in)
        TRY(monitors_settle(s));
    TRY(s->method->move(s, array, first, count, out, in));
    if (in)
        s->have_good = false;
    return UNDA_OK;
}

unda_status unda_solver_read(unda_solver *s, int32_t array, int64_t first, int64_t count, void *values)
{
    ENTER(s);
    return move(s, array, first, count, values, NULL);
}

unda_status unda_solver_write(unda_solver *s, int32_t array, int64_t first, int64_t count, const void *values)
{
    ENTER(s);
    return move(s, array, first, count, NULL, values);
}

/* More steps than any run takes: numbers of steps can be added and subtracted without overflow. */
static const int64_t MAX_CLOCK = INT64_MAX / 2;

unda_status unda_solver_set_clock(unda_solver *s, double t0, int64_t step, int32_t history)
{
    if (!isfinite(t0) || step < 0 || step > MAX_CLOCK || history < 0 || history > 2)
        FAIL(UNDA_ERR_ARG, "t0 is %g, step %lld, history %d; expected finite, 0..%lld, 0..2", t0,
             (long long)step, history, (long long)MAX_CLOCK);
    ENTER(s);
    s->t0 = t0;
    s->step = step;
    if (s->method->set_history)
        s->method->set_history(s, history);
    s->have_good = false;
    s->blowup = (unda_blowup){0};
    TRY(monitors_set_clock(s));
    return receivers_set_clock(s);
}

/* ---- running ---- */

unda_status solver_add_hook(unda_solver *s, unda_status (*after)(unda_solver *s, void *of), void *of)
{
    if (s->num_hook == MAX_HOOK)
        FAIL(UNDA_ERR_INTERNAL, "%d step hooks, expected no more", s->num_hook);
    s->hooks[s->num_hook++] = (struct step_hook){after, of};
    return UNDA_OK;
}

unda_status solver_after_step(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_hook; i++)
        TRY(s->hooks[i].after(s, s->hooks[i].of));
    return UNDA_OK;
}

enum { MAX_STEP = 1 << 28 }; /* of one call: stages are counted in 32 bits */

static unda_status make_room(unda_solver *s)
{
    TRY(receivers_reserve(s));
    TRY(monitors_reserve(s));
    if (!s->listed)
        TRY(s->engine->list_points(s));
    s->listed = true;
    TRY(s->engine->reserve(s));
    s->reserved = true;
    return UNDA_OK;
}

unda_status solver_reserve(unda_solver *s, int64_t max_step)
{
    int64_t before = s->max_step;
    if (s->listed && s->reserved && max_step <= before)
        return UNDA_OK;
    s->max_step = max_step > before ? max_step : before;
    s->reserved = false;
    unda_status status = make_room(s);
    if (status != UNDA_OK)
        s->max_step = before; /* what did not fit is not requested again */
    return status;
}

static unda_status reserve(unda_solver *s, int64_t max_step)
{
    if (max_step < 0 || max_step > MAX_STEP)
        FAIL(UNDA_ERR_ARG, "%lld steps in a call, expected 0..%d", (long long)max_step, MAX_STEP);
    return solver_reserve(s, max_step);
}

unda_status unda_solver_reserve(unda_solver *s, int64_t max_step)
{
    ENTER(s);
    return reserve(s, max_step);
}

unda_status unda_solver_next(unda_solver *s, int64_t num_step, unda_next *next)
{
    ENTER(s);
    CHECK_SIZE(next, unda_next);
    TRY(reserve(s, num_step));
    next->step = s->step;
    next->blowup = s->blowup.size_bytes ? s->blowup.step : -1;
    next->num_time = s->method->num_time(s, num_step);
    if (next->times && next->num_time <= next->max_time)
        s->method->times(s, num_step, next->times);
    return UNDA_OK;
}

unda_status solver_check_drive(const unda_solver *s, int64_t num_time, const unda_drive *drive)
{
    CHECK_SIZE(drive, unda_drive);
    if (drive->num_time != num_time)
        FAIL(UNDA_ERR_ARG, "drive.num_time is %lld, expected %lld", (long long)drive->num_time,
             (long long)num_time);
    if (s->num_source && !drive->amplitudes)
        FAIL(UNDA_ERR_ARG, "drive.amplitudes is NULL, expected [%lld][%d]", (long long)num_time,
             s->num_source);
    unda_solver_info info = {.size_bytes = sizeof info};
    s->method->info(s, &info);
    if (info.num_exact && !drive->exact)
        FAIL(UNDA_ERR_ARG, "drive.exact is NULL, expected exact outer data");
    return sources_check(s, num_time, drive->amplitudes);
}

static unda_status check_finite(unda_solver *s)
{
    int64_t bad;
    TRY(s->engine->find_bad(s, &bad));
    if (bad < 0) {
        s->have_good = true;
        s->good_step = s->step;
        receivers_keep(s, false);
        return s->method->keep ? s->method->keep(s) : UNDA_OK;
    }
    s->blowup = (unda_blowup){
        .size_bytes = sizeof s->blowup, .step = s->step, .last_good_step = s->good_step, .elem = -1};
    TRY(s->method->blown_up(s, bad, &s->blowup));
    if (s->have_good)
        receivers_keep(s, true);
    char place[40] = "";
    if (s->blowup.elem >= 0)
        snprintf(place, sizeof place, ", %s %lld", s->method->on_mesh ? "element" : "node",
                 (long long)s->blowup.elem);
    FAIL(UNDA_ERR_UNSTABLE, "the solution is not finite after step %lld (it was after step %lld)%s",
         (long long)s->blowup.step, (long long)s->blowup.last_good_step, place);
}

/* Steps whose data begin at row *time of those of the call, up to the next sample of a monitor. */
static unda_status run_on(unda_solver *s, int64_t num_step, const unda_drive *drive, int64_t *time)
{
    unda_solver_info info = {.size_bytes = sizeof info};
    unda_drive some = *drive;
    s->method->info(s, &info);
    some.num_time = s->method->num_time(s, num_step);
    some.amplitudes += drive->amplitudes ? *time * s->num_source : 0;
    some.exact += drive->exact ? *time * info.num_exact * info.num_field : 0;
    *time += some.num_time;
    TRY(s->engine->drive(s, &some));
    s->begin = s->step;
    monitors_begin(s, num_step);
    TRY(s->engine->run(s, num_step));
    receivers_advance(s);
    return monitors_take(s);
}

unda_status unda_solver_step(unda_solver *s, int64_t num_step, const unda_drive *drive)
{
    ENTER(s);
    if (num_step < 0 || num_step > s->max_step)
        FAIL(UNDA_ERR_ARG, "num_step is %lld, expected 0..%lld as reserved", (long long)num_step,
             (long long)s->max_step);
    for (int32_t i = 0; i < s->num_group; i++)
        if (s->groups[i]->held + num_step / s->groups[i]->every + 1 > s->groups[i]->room)
            FAIL(UNDA_ERR_ARG, "receiver group %d has no room: take its samples first", i);
    TRY(solver_check_drive(s, s->method->num_time(s, num_step), drive));
    if (num_step == 0)
        return UNDA_OK;
    if (!s->have_good)
        TRY(check_finite(s));
    TRY(solver_reserve(s, num_step));
    int64_t time = 0, end = s->step + num_step;
    while (s->step < end)
        TRY(run_on(s, monitors_ahead(s, end - s->step), drive, &time));
    return check_finite(s);
}

unda_status unda_solver_profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    ENTER(s);
    CHECK_SIZE(profile, unda_profile);
    if (num_run < 1 || num_run > 1000000)
        FAIL(UNDA_ERR_ARG, "num_run is %lld, expected 1..1000000", (long long)num_run);
    if (!s->engine->profile)
        FAIL(UNDA_ERR_ARG, "the %s engine has no kernels to time", s->engine->name);
    TRY(solver_reserve(s, 1));
    TRY(monitors_settle(s));
    *profile = (unda_profile){.size_bytes = sizeof *profile};
    return s->engine->profile(s, num_run, profile);
}

unda_status unda_solver_get_blowup(const unda_solver *s, unda_blowup *blowup)
{
    TRY(fork_check());
    if (!s)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    CHECK_SIZE(blowup, unda_blowup);
    *blowup = s->blowup.size_bytes ? s->blowup : (unda_blowup){.step = -1, .last_good_step = -1, .elem = -1};
    blowup->size_bytes = sizeof *blowup;
    return UNDA_OK;
}

unda_status unda_solver_energy(unda_solver *s, double *energy)
{
    if (!energy)
        FAIL(UNDA_ERR_ARG, "energy is NULL");
    ENTER(s);
    return s->method->energy(s, energy);
}
