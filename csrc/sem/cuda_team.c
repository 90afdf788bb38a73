/* cuda_team.c: the steps of a team on CUDA devices: one by one, or SEM_GRAPH_STEPS of all devices as one graph. A step of
 * all parts is
 *
 *     tiles on the border  of each part; its forces on common nodes are on their way
 *     the other tiles      of each part
 *     sums of these forces, then all that tiles share  of each part
 *
 * Not here: launches (cuda_force.c), messages (exchange_cuda.c). */
#include "cuda.h"
#include "monitor.h"
#include "team.h"

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

unda_status sem_cuda_launch_team(unda_solver *s, const struct sem_pass *pass)
{
    const struct sem_team *team = sem_team_of(s);
    EACH_PART(team, part)
    {
        tables(part)->mode = pass->mode;
        TRY(sem_launch_border(part, pass));
        TRY(part->engine->exchange_begin(part));
        TRY(sem_launch_inner(part, pass));
    }
    EACH_PART(team, part)
    {
        TRY(part->engine->exchange_end(part));
        TRY(sem_launch_ends(part, pass));
    }
    return UNDA_OK;
}

static unda_status sync(const struct sem_team *team)
{
    EACH_PART(team, part)
    TRY(cuda_exchange_wait(part, tables(part)->stream));
    return UNDA_OK;
}

unda_status sem_cuda_accelerate_team(unda_solver *s, int64_t time)
{
    const struct sem_team *team = sem_team_of(s);
    EACH_PART(team, part)
    TRY(sem_state_flush(part));
    TRY(sem_cuda_launch_team(s, &(struct sem_pass){.mode = SEM_CLOSE, .time = time}));
    EACH_PART(team, part)
    sem_state_changed(part);
    return sync(team);
}

/* ---- steps ---- */

static unda_status queue_step(unda_solver *s, bool last, int64_t *time)
{
    struct sem_pass pass = {.dt = s->dt, .time = (*time)++};
    sem_cuda_choose(s, last, &pass);
    TRY(sem_cuda_sample_before(s));
    TRY(sem_cuda_launch_team(s, &pass));
    TRY(sem_cuda_sample_after(s, &pass));
    EACH_PART(sem_team_of(s), part)
    if (pass.mode == SEM_CLOSE && !last)
        TRY(sem_launch_begin(part));
    s->step++;
    return solver_after_step(s);
}

static unda_status advance(unda_solver *s, int64_t time)
{
    EACH_PART(sem_team_of(s), part)
    TRY(sem_step_advance(part, time));
    return UNDA_OK;
}

/* The step that the parts have done, and the one that their devices' clocks have. */
static void set_steps(unda_solver *s, int64_t step)
{
    s->step = step;
    EACH_PART(sem_team_of(s), part)
    part->step = tables(part)->base_step = step;
}

/* Everything on the first stream so far comes before what follows on the others; or the other way round. */
static unda_status spread(const struct sem_team *team)
{
    struct sem_cuda *first = tables(team->part[0]);
    TRY(gpu_event_record(first->order, first->stream));
    for (int32_t p = 1; p < team->num_part; p++)
        TRY(gpu_stream_wait(tables(team->part[p])->stream, first->order));
    return UNDA_OK;
}
static unda_status collect(const struct sem_team *team)
{
    for (int32_t p = 1; p < team->num_part; p++) {
        struct sem_cuda *t = tables(team->part[p]);
        TRY(gpu_event_record(t->order, t->stream));
        TRY(gpu_stream_wait(tables(team->part[0])->stream, t->order));
    }
    return UNDA_OK;
}

static unda_status queue_batch(unda_solver *s)
{
    int64_t time = 0;
    TRY(spread(sem_team_of(s)));
    for (int i = 0; i < SEM_GRAPH_STEPS; i++)
        TRY(queue_step(s, false, &time));
    TRY(advance(s, time));
    return collect(sem_team_of(s));
}

/* The first part has the graph. */
static unda_status capture(unda_solver *s)
{
    struct sem_cuda *first = tables(sem_team_of(s)->part[0]);
    int64_t step = s->step;
    set_steps(s, step);
    TRY(gpu_capture_begin(first->stream));
    unda_status status = queue_batch(s);
    set_steps(s, step);
    if (status != UNDA_OK) {
        (void)gpu_capture_end(first->stream, NULL);
        return status;
    }
    return gpu_capture_end(first->stream, &first->graph);
}

static unda_status take_batch(unda_solver *s)
{
    const struct sem_team *team = sem_team_of(s);
    struct sem_cuda *first = tables(team->part[0]);
    if (!first->graph)
        TRY(capture(s));
    TRY(collect(team));
    TRY(gpu_graph_launch(first->graph, first->stream));
    TRY(spread(team));
    set_steps(s, s->step + SEM_GRAPH_STEPS);
    return UNDA_OK;
}

static bool wants_graph(const unda_solver *s)
{
    bool all = !sem_team_of(s)->rank; /* the host takes part in each step of a process */
    EACH_PART(sem_team_of(s), part)
    all = all && sem_step_wants_graph(part);
    return all;
}

unda_status sem_cuda_run_team(unda_solver *s, int64_t num_step)
{
    const struct sem_team *team = sem_team_of(s);
    struct sem *sem = sem_tables(s);
    int64_t time = 0, end = s->step + num_step;
    if (!sem->num_valid) {
        TRY(sem_settle(s)); /* walls; then accelerations with sources */
        TRY(sem_cuda_accelerate_team(s, time++));
    }
    sem->num_valid = 1;
    EACH_PART(team, part)
    {
        TRY(sem_state_flush(part));
        sem_state_changed(part);
        TRY(sem_step_begin(part));
    }
    while (s->step < end) {
        int64_t left = end - s->step;
        if (!wants_graph(s) || monitors_until(s, left) <= SEM_GRAPH_STEPS) {
            TRY(queue_step(s, left == 1, &time));
            continue;
        }
        if (time > 0) /* else it is there */
            TRY(advance(s, time));
        time = 0;
        TRY(take_batch(s));
    }
    TRY(sync(team));
    EACH_PART(team, part)
    TRY(cuda_record_fetch(part, &tables(part)->samples, tables(part)->stream));
    return UNDA_OK;
}
