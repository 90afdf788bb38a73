/* cuda_team.c: the steps of a team on CUDA devices: one by one, or GRAPH_STEPS of all devices as one graph.
 * Not here: a stage (team.c), traces (exchange_cuda.c). */
#include "cuda.h"
#include "team.h"

#include <string.h>

static struct gpu_stream *stream_of(const unda_solver *s, int32_t p)
{
    return tables(dg_team_of(s)->part[p])->stream;
}

/* Everything on the first stream so far comes before what follows on the others; or the other way round. */
static unda_status spread(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    TRY(gpu_event_record(tables(team->part[0])->order, stream_of(s, 0)));
    for (int32_t p = 1; p < team->num_part; p++)
        TRY(gpu_stream_wait(stream_of(s, p), tables(team->part[0])->order));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(cuda_exchange_follow(team->part[p]));
    return UNDA_OK;
}
static unda_status collect(unda_solver *s)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 1; p < team->num_part; p++) {
        TRY(gpu_event_record(tables(team->part[p])->order, stream_of(s, p)));
        TRY(gpu_stream_wait(stream_of(s, 0), tables(team->part[p])->order));
    }
    return UNDA_OK;
}

static unda_status advance(unda_solver *s, int64_t time)
{
    struct dg_team *team = dg_team_of(s);
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(dg_cuda_advance(team->part[p], time));
    return UNDA_OK;
}

/* The step that the parts have done, and the one that their devices' clocks have. */
static void set_steps(unda_solver *s, int64_t step)
{
    struct dg_team *team = dg_team_of(s);
    s->step = step;
    for (int32_t p = 0; p < team->num_part; p++)
        team->part[p]->step = tables(team->part[p])->base_step = step;
}

static unda_status queue_batch(unda_solver *s)
{
    int64_t time = 0;
    TRY(spread(s));
    for (int i = 0; i < GRAPH_STEPS; i++)
        TRY(integration_step(s, &dg_team_of(s)->integration, &time));
    TRY(advance(s, time));
    return collect(s);
}

static unda_status capture(unda_solver *s, struct batch *batch)
{
    int64_t step = s->step;
    gpu_graph_free(batch->graph);
    batch->graph = NULL;
    memcpy(batch->buffer, tables(dg_team_of(s)->part[0])->buffer, sizeof batch->buffer);
    set_steps(s, step);
    TRY(gpu_capture_begin(stream_of(s, 0)));
    unda_status status = queue_batch(s);
    set_steps(s, step);
    if (status != UNDA_OK) {
        (void)gpu_capture_end(stream_of(s, 0), NULL);
        return status;
    }
    return gpu_capture_end(stream_of(s, 0), &batch->graph);
}

/* The first part has the graphs: buffers of all change places together. */
static unda_status find_batch(unda_solver *s, struct gpu_graph **graph)
{
    struct dg_cuda *t = tables(dg_team_of(s)->part[0]);
    for (int i = 0; i < NUM_GRAPH; i++)
        if (t->batch[i].graph && memcmp(t->batch[i].buffer, t->buffer, sizeof t->buffer) == 0) {
            *graph = t->batch[i].graph;
            return UNDA_OK;
        }
    struct batch *batch = &t->batch[t->next_batch];
    t->next_batch = (t->next_batch + 1) % NUM_GRAPH;
    TRY(capture(s, batch));
    *graph = batch->graph;
    return UNDA_OK;
}

static bool wants_graph(const unda_solver *s)
{
    const struct dg_team *team = dg_team_of(s);
    const struct integration *in = &team->integration;
    int64_t bytes = team->mesh->num_elem * dg_elem_bytes(team->part[0]) / team->num_part;
    if (team->place) /* the host takes part in each stage of a process */
        return false;
    return in->num_valid == in->kind->num_level && dg_cuda_graph_pays(s, bytes);
}

static unda_status take_batch(unda_solver *s)
{
    struct gpu_graph *graph;
    TRY(find_batch(s, &graph));
    TRY(collect(s));
    TRY(gpu_graph_launch(graph, stream_of(s, 0)));
    TRY(spread(s));
    set_steps(s, s->step + GRAPH_STEPS);
    return UNDA_OK;
}

unda_status dg_cuda_run_team(unda_solver *s, int64_t num_step)
{
    struct dg_team *team = dg_team_of(s);
    int64_t time = 0, end = s->step + num_step;
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(points_begin(team->part[p]));
    while (s->step < end) {
        if (!wants_graph(s) || end - s->step < GRAPH_STEPS) {
            TRY(integration_step(s, &team->integration, &time));
            continue;
        }
        if (time > 0)
            TRY(advance(s, time));
        time = 0;
        TRY(take_batch(s));
    }
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(cuda_exchange_wait(team->part[p], stream_of(s, p)));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(points_fetch(team->part[p]));
    return UNDA_OK;
}
