/* cuda_step.c: the order of steps on a CUDA device, and graphs of many. Steps run wholly on the device. Next: cuda_force.c,
 * cuda/sem/advance.h. */
#include "cuda.h"
#include "monitor.h"

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

void sem_graph_free(struct sem_cuda *t)
{
    gpu_graph_free(t->graph);
    t->graph = NULL;
}

unda_status sem_step_advance(unda_solver *s, int64_t time)
{
    struct sem_cuda *t = tables(s);
    struct clock_args clock = {POINTER(t->clock), (int)time, (int)(s->step - t->base_step)};
    struct gpu_shape shape = {.grid = {1}, .early = sem_starts_early(s)};
    t->base_step = s->step;
    return gpu_launch(&t->advance, t->stream, &shape, &clock, sizeof clock);
}

/* From u at the end of the step and v at its middle to those of the next one or, at last, to the state. */
static unda_status queue_step(unda_solver *s, bool last, int64_t *time)
{
    struct sem_pass pass = {.dt = s->dt, .time = (*time)++};
    sem_cuda_choose(s, last, &pass);
    tables(s)->mode = pass.mode;
    TRY(sem_cuda_sample_before(s));
    TRY(sem_launch_all(s, &pass));
    TRY(sem_cuda_sample_after(s, &pass));
    if (pass.mode == SEM_CLOSE && !last)
        TRY(sem_launch_begin(s));
    s->step++;
    return solver_after_step(s);
}

static unda_status queue_batch(unda_solver *s)
{
    int64_t time = 0;
    for (int i = 0; i < SEM_GRAPH_STEPS; i++)
        TRY(queue_step(s, false, &time));
    return sem_step_advance(s, time);
}

static unda_status capture(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    int64_t step = s->step, base = t->base_step;
    t->base_step = s->step;
    TRY(gpu_capture_begin(t->stream));
    unda_status status = queue_batch(s);
    s->step = step;
    t->base_step = base;
    if (status != UNDA_OK) {
        (void)gpu_capture_end(t->stream, NULL);
        return status;
    }
    return gpu_capture_end(t->stream, &t->graph);
}

bool sem_step_wants_graph(const unda_solver *s)
{
    return !s->options.no_graph && sem_is_small(s);
}

unda_status sem_launch_begin(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    struct sem_whole_args a = {.u = POINTER(t->level[LEVEL_U]),
                               .v = POINTER(t->level[LEVEL_V]),
                               .a = POINTER(t->level[LEVEL_A]),
                               .num = t->num,
                               .dt = s->dt};
    struct gpu_shape shape = gpu_threads(t->num);
    shape.early = sem_starts_early(s);
    t->mode = SEM_STEP;
    return gpu_launch(&t->begin, t->stream, &shape, &a, sizeof a);
}

unda_status sem_step_begin(unda_solver *s)
{
    struct sem_cuda *t = tables(s);
    TRY(cuda_record_begin(s, &t->samples, t->stream));
    TRY(sem_launch_begin(s));
    return sem_points_record_later(s);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    struct sem_cuda *t = tables(s);
    struct sem *sem = sem_tables(s);
    int64_t time = 0, end = s->step + num_step;
    if (num_step == 0)
        return UNDA_OK;
    if (!sem->num_valid) {
        TRY(sem_settle(s)); /* walls; then accelerations with sources */
        TRY(sem_launch_accelerate(s, time++));
    }
    sem->num_valid = 1;
    TRY(sem_state_flush(s));
    sem_state_changed(s);
    TRY(sem_step_begin(s));
    while (s->step < end) {
        int64_t left = end - s->step;
        if (!sem_step_wants_graph(s) || monitors_until(s, left) <= SEM_GRAPH_STEPS) {
            TRY(queue_step(s, left == 1, &time));
            continue;
        }
        if (time > 0) /* else it is there */
            TRY(sem_step_advance(s, time));
        time = 0;
        if (!t->graph)
            TRY(capture(s));
        TRY(gpu_graph_launch(t->graph, t->stream));
        s->step += SEM_GRAPH_STEPS;
        t->base_step = s->step;
    }
    TRY(sem_points_record_rest(s));
    TRY(gpu_sync(t->stream));
    return cuda_record_fetch(s, &t->samples, t->stream);
}

unda_status sem_step_run(unda_solver *s, int64_t num_step)
{
    unda_status status = run(s, num_step);
    tables(s)->unrecorded = false; /* of a run that failed: no later kernel takes it for its own */
    return status;
}
