/* cuda_points.c: sources and receivers of spectral elements on CUDA devices. A source acts on the nodes of its cells,
 * in the tiles that these are in; a receiver's value is a sum over unknowns. Next: cuda/sem/tiles.cu, nodes.cu. */
#include "cuda.h"

#include <string.h>

/* ---- sources ---- */

static unda_status list_sources(unda_solver *s, int region)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cuda *t = sem_cuda_tables(s);
    struct sem_cuda_region *r = &t->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    int64_t size = (int64_t)sem->space.num_node * sem->region[region].dim, num = 0;
    SCRATCH int32_t *first = NULL;
    SCRATCH int32_t *elem = NULL;
    SCRATCH int32_t *column = NULL;
    SCRATCH void *weight = NULL;
    TRY(array_try(&first, tiles->num_tile + 1, sizeof *first, "sources"));
    for (int pass = 0; pass < 2;
         pass++) { /* count, then fill from the back: first[tile + 1] ends at its begin */
        for (int64_t i = 0; i < s->num_source; i++) {
            int64_t at_source = pass ? s->num_source - 1 - i : i;
            const struct sem_source *source = s->sources[at_source];
            for (int64_t j = 0; j < source->places.num; j++) {
                int64_t k = pass ? source->places.num - 1 - j : j, at[3 * MAX_NODE];
                double value[3 * MAX_NODE];
                int of;
                int64_t e = source->places.place[k].elem;
                if (sem->kind[e] != region)
                    continue;
                int32_t tile = tiles->tile[sem->row[e]];
                if (pass == 0) {
                    first[tile + 1]++;
                    num++;
                    continue;
                }
                int64_t part = --first[tile + 1];
                const int32_t *in = tiles->elem + tiles->first_elem[tile];
                while (in[elem[part]] != sem->row[e])
                    elem[part]++;
                column[part] = (int32_t)at_source;
                (void)sem_source_row(s, source, k, &of, at, value);
                for (int64_t n = 0; n < size; n++)
                    real_put(s, weight, part * size + n, value[n]);
            }
        }
        if (pass == 0) {
            for (int64_t i = 0; i < tiles->num_tile; i++)
                first[i + 1] += first[i];
            TRY(array_try(&elem, num, sizeof *elem, "sources"));
            TRY(array_try(&column, num, sizeof *column, "sources"));
            TRY(array_try(&weight, num * size, s->real_bytes, "sources"));
        }
    }
    for (int64_t i = 0; i < tiles->num_tile; i++)
        first[i] = first[i + 1];
    first[tiles->num_tile] = (int32_t)num;
    r->num_part = num;
    TRY(gpu_pool_copy(&t->lists, t->stream, &r->source_first, first, 4 * (tiles->num_tile + 1), "sources"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &r->source_elem, elem, 4 * num, "sources"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &r->source_column, column, 4 * num, "sources"));
    return gpu_pool_copy(&t->lists, t->stream, &r->source_weight, weight, num * size * s->real_bytes,
                         "sources");
}

/* ---- receivers ---- */

/* The terms of all channels as far as there is room; counts them where there is none. */
struct terms {
    int64_t num, *at;
    double *weight;
    struct sem_channel *channel;
};

static void add_point(unda_solver *s, struct terms *terms, const struct sem_points *p, int64_t point,
                      int32_t f, struct sem_channel *c)
{
    const struct sem *sem = sem_tables(s);
    int64_t at[3 * MAX_NODE];
    double weight[3 * MAX_NODE];
    c->first = terms->num;
    for (int64_t k = p->first[point]; k < p->first[point + 1]; k++) {
        const struct sem_place *place = &p->places.place[k];
        int level, region = sem->kind[place->elem];
        int64_t num = sem_point_row(s, place, p->field[f], &level, at, weight);
        for (int64_t i = 0; i < num; i++) {
            if (weight[i] == 0)
                continue;
            if (terms->at) {
                terms->at[terms->num] = sem_device_unknown(s, region, at[i]);
                terms->weight[terms->num] = place->share * weight[i];
            }
            terms->num++;
        }
        c->level = num ? level : c->level;
    }
    c->num_term = (int)(terms->num - c->first);
}

static void list_terms(unda_solver *s, struct terms *terms)
{
    struct sem_channel *c = terms->channel;
    terms->num = 0;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct sem_points *p = s->groups[g]->points;
        for (int64_t i = 0; i < p->num_point * p->num_field; i++, c++) {
            *c = (struct sem_channel){.offset = i, .group = g};
            add_point(s, terms, p, i / p->num_field, (int32_t)(i % p->num_field), c);
        }
    }
}

static unda_status list_receivers(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    SCRATCH struct sem_channel *channel = NULL;
    SCRATCH int64_t *at = NULL;
    SCRATCH double *weight = NULL;
    int64_t num = 0;
    for (int32_t g = 0; g < s->num_group; g++)
        num += s->groups[g]->num_point * s->groups[g]->num_field;
    if (num > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "receivers record %lld values, expected at most %d", (long long)num, INT32_MAX);
    t->num_channel = (int)num;
    TRY(array_try(&channel, num, sizeof *channel, "receivers"));
    struct terms terms = {.channel = channel};
    list_terms(s, &terms);
    TRY(array_try(&at, terms.num, sizeof *at, "receivers"));
    TRY(array_try(&weight, terms.num, sizeof *weight, "receivers"));
    terms.at = at;
    terms.weight = weight;
    list_terms(s, &terms);
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->channel, channel, (int64_t)sizeof *channel * num,
                      "receivers"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->channel_at, at, 8 * terms.num, "receivers"));
    TRY(gpu_pool_copy(&t->lists, t->stream, &t->channel_weight, weight, 8 * terms.num, "receivers"));
    TRY(gpu_pool_alloc(&t->lists, t->gpu, &t->channel_kept, 8 * num, "receivers"));
    return cuda_record_list(s, &t->samples, t->gpu, &t->lists);
}

/* Of a small problem a launch takes a third of a step: receivers then share the one of tiles, some of whose blocks wait for
 * others (cuda/sem/record_first.h). Only where the device has room for all of them at once, and no other part may be on
 * it: else those that wait might hold the places of those that they wait for. */
static unda_status join_record(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    const struct sem_cuda_region *r = &t->region[t->region[FLUID].tiles.num_elem ? FLUID : SOLID];
    int64_t channels = r->plan.threads / 32, num = (t->num_channel + channels - 1) / channels, room;
    t->record_blocks = 0;
    if (!sem_starts_early(s) || num == 0)
        return UNDA_OK;
    TRY(gpu_resident_blocks(&r->tile_kernel, r->plan.threads, r->plan.shared_bytes, &room));
    if (num + r->tiles.first_color[1] <= room)
        t->record_blocks = (int)num;
    return UNDA_OK;
}

unda_status sem_points_list(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    sem_graph_free(t);
    gpu_pool_free(&t->lists);
    for (int region = 0; region < NUM_REGION; region++)
        TRY(list_sources(s, region));
    TRY(list_receivers(s));
    return join_record(s);
}

/* ---- calls ---- */

unda_status sem_points_reserve(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    sem_graph_free(t);
    gpu_pool_free(&t->room);
    TRY(gpu_pool_alloc(&t->room, t->gpu, &t->amplitude, (s->max_step + 1) * s->num_source * s->real_bytes,
                       "amplitudes"));
    return cuda_record_reserve(s, &t->samples, t->gpu, &t->room);
}

unda_status sem_points_drive(unda_solver *s, const unda_drive *drive)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    int64_t clock[NUM_CLOCK] = {0, s->step, s->step, 0};
    t->base_step = s->step;
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    return gpu_upload_reals(t->stream, t->amplitude, drive->amplitudes, drive->num_time * s->num_source,
                            s->real_bytes);
}

static struct sem_record_args record_args(unda_solver *s, int step)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    return (struct sem_record_args){.u = POINTER(t->level[LEVEL_U]),
                                    .v = POINTER(t->level[LEVEL_V]),
                                    .a = POINTER(t->level[LEVEL_A]),
                                    .at = POINTER(t->channel_at),
                                    .weight = POINTER(t->channel_weight),
                                    .channel = POINTER(t->channel),
                                    .group = POINTER(t->samples.group),
                                    .kept = POINTER(t->channel_kept),
                                    .out = POINTER(t->samples.out),
                                    .clock = POINTER(t->clock),
                                    .num_read = POINTER(t->clock + NUM_READ * sizeof(int64_t)),
                                    .dt = s->dt,
                                    .step = step,
                                    .num_channel = t->num_channel,
                                    .mode = t->mode};
}

unda_status sem_points_record(unda_solver *s, int step)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    struct sem_record_args a = record_args(s, step);
    if (t->num_channel == 0)
        return UNDA_OK;
    /* Two warps a block: few channels are on many multiprocessors. */
    struct gpu_shape shape = {
        .grid = {(t->num_channel + 1) / 2}, .block = {64}, .early = sem_starts_early(s)};
    return gpu_launch(&t->record, t->stream, &shape, &a, sizeof a);
}

static int present(const unda_solver *s)
{
    return (int)(s->step - sem_cuda_tables(s)->base_step);
}

unda_status sem_points_record_later(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    t->unrecorded = t->record_blocks > 0;
    return t->unrecorded ? UNDA_OK : sem_points_record(s, present(s));
}

unda_status sem_points_record_rest(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    bool rest = t->unrecorded;
    t->unrecorded = false;
    return rest ? sem_points_record(s, present(s)) : UNDA_OK;
}

struct sem_record_args sem_points_take(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    if (!t->unrecorded)
        return (struct sem_record_args){0};
    struct sem_record_args a = record_args(s, present(s));
    a.mode = SEM_STEP; /* of the step before, which has a next one */
    a.num_block = t->record_blocks;
    t->unrecorded = false;
    return a;
}

void sem_points_free(unda_solver *s)
{
    gpu_pool_free(&sem_cuda_tables(s)->lists);
    gpu_pool_free(&sem_cuda_tables(s)->room);
    array_free(sem_cuda_tables(s)->samples.groups);
}
