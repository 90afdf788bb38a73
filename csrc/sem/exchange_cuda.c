/* exchange_cuda.c: forces on nodes that parts share, on CUDA devices: packed as sums of what a part's tiles left of them,
 * added up in the order of parts. Not here: how messages travel (solver/cuda_exchange.c, cuda_ranks.c). Next: cuda/sem/nodes.cu. */
#include "../solver/cuda_exchange.h"
#include "cuda.h"

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

static struct sem_exchange_args arguments(const unda_solver *s, int region, uintptr_t message)
{
    const struct sem_cuda_region *r = &tables(s)->region[region];
    return (struct sem_exchange_args){.shared = POINTER(r->shared),
                                      .message = (void *)message,
                                      .item = POINTER(r->cut.item),
                                      .word = POINTER(r->cut.word),
                                      .first_place = POINTER(r->cut.first_place),
                                      .place = POINTER(r->cut.place),
                                      .first_term = POINTER(r->cut.first_term),
                                      .term = POINTER(r->cut.term),
                                      .dim = r->plan.dim,
                                      .width = r->plan.width};
}

static unda_status launch(unda_solver *s, const struct gpu_kernel *kernel, const struct sem_exchange_args *a)
{
    const struct cuda_exchange *c = s->exchange->of;
    struct gpu_shape shape = gpu_threads(a->num * a->dim);
    return a->num ? gpu_launch(kernel, c->stream, &shape, a, sizeof *a) : UNDA_OK;
}

static unda_status pack(unda_solver *s, int32_t neighbor, uintptr_t to)
{
    const struct sem_cut *cut = sem_tables(s)->cut;
    for (int region = 0; region < NUM_REGION; region++) {
        const struct sem_cut_region *c = &cut->region[region];
        int64_t first = c->first[neighbor];
        struct sem_exchange_args a = arguments(s, region, to);
        a.item = POINTER(tables(s)->region[region].cut.item + (gpu_ptr)(4 * first));
        a.word = POINTER(tables(s)->region[region].cut.word + (gpu_ptr)(8 * first));
        a.num = c->first[neighbor + 1] - first;
        a.first_word = cut->first_word[neighbor];
        TRY(launch(s, &tables(s)->pack, &a));
    }
    return UNDA_OK;
}

static unda_status unpack(unda_solver *s, uintptr_t from)
{
    for (int region = 0; region < NUM_REGION; region++) {
        struct sem_exchange_args a = arguments(s, region, from);
        a.num = sem_tables(s)->cut->region[region].num;
        TRY(launch(s, &tables(s)->unpack, &a));
    }
    return UNDA_OK;
}

/* ---- creation ---- */

/* Where a part has its own forces on a common node: [begin, end) of the entries, or one sum. */
struct places {
    int32_t begin, end, sum;
};
static struct places places_of(const struct sem_cuda_region *r, const struct sem_cut_region *c, int64_t i)
{
    const struct sem_tiles *tiles = &r->tiles;
    int32_t node = tiles->node[c->node[i]], shared = (int32_t)(node - tiles->num_inner);
    if (r->plan.assembly == IN_ORDER)
        return (struct places){tiles->first_sum[shared], tiles->first_sum[shared + 1], 0};
    return (struct places){0, 1,
                           r->plan.assembly == BY_COLORS ? shared : (int32_t)(node - tiles->first_side)};
}

static int64_t num_place(const struct sem_cuda_region *r, const struct sem_cut_region *c)
{
    int64_t num = 0;
    for (int64_t i = 0; i < c->num; i++)
        num += places_of(r, c, i).end - places_of(r, c, i).begin;
    return num;
}

void sem_cuda_list_cut(const struct sem *sem, int region, struct sem_cuda_region *r, struct gpu_wants *w)
{
    if (!sem->cut)
        return;
    const struct sem_cut_region *c = &sem->cut->region[region];
    int64_t num_item = c->first[sem->cut->num_neighbor];
    gpu_want(w, 1, &r->cut.item, 4 * num_item, "common nodes");
    gpu_want(w, 1, &r->cut.word, 8 * num_item, "common nodes");
    gpu_want(w, 1, &r->cut.first_place, 4 * (c->num + 1), "common nodes");
    gpu_want(w, 1, &r->cut.place, 4 * num_place(r, c), "common nodes");
    gpu_want(w, 1, &r->cut.first_term, 4 * (c->num + 1), "common nodes");
    gpu_want(w, 1, &r->cut.term, 8 * c->first_term[c->num], "common nodes");
}

unda_status sem_cuda_fill_cut(unda_solver *s, int region)
{
    const struct sem_cut *cut = sem_tables(s)->cut;
    const struct sem_cut_region *c = &cut->region[region];
    const struct sem_cuda_region *r = &tables(s)->region[region];
    struct gpu_stream *stream = tables(s)->stream;
    int64_t num_item = c->first[cut->num_neighbor], num = 0;
    SCRATCH int32_t *first_place = NULL;
    SCRATCH int32_t *first_term = NULL;
    SCRATCH int32_t *place = NULL;
    TRY(array_try(&first_place, c->num + 1, sizeof *first_place, "common nodes"));
    TRY(array_try(&first_term, c->num + 1, sizeof *first_term, "common nodes"));
    TRY(array_try(&place, num_place(r, c), sizeof *place, "common nodes"));
    for (int64_t i = 0; i < c->num; i++) {
        struct places of = places_of(r, c, i);
        for (int32_t k = of.begin; k < of.end; k++)
            place[num++] = r->plan.assembly == IN_ORDER ? r->tiles.sum[k] : of.sum;
        first_place[i + 1] = (int32_t)num;
        first_term[i + 1] = (int32_t)c->first_term[i + 1];
    }
    TRY(gpu_upload(stream, r->cut.item, c->item, 4 * num_item));
    TRY(gpu_upload(stream, r->cut.word, c->word, 8 * num_item));
    TRY(gpu_upload(stream, r->cut.first_place, first_place, 4 * (c->num + 1)));
    TRY(gpu_upload(stream, r->cut.place, place, 4 * num));
    TRY(gpu_upload(stream, r->cut.first_term, first_term, 4 * (c->num + 1)));
    return gpu_upload(stream, r->cut.term, c->term, 8 * c->first_term[c->num]);
}

static unda_status new_exchange(unda_solver *part)
{
    int32_t num_neighbor = sem_tables(part)->cut->num_neighbor;
    TRY(cuda_exchange_new(part, tables(part)->gpu, tables(part)->stream, NULL, num_neighbor));
    struct cuda_exchange *x = part->exchange->of;
    x->pack = pack;
    x->unpack = unpack;
    return UNDA_OK;
}

unda_status sem_cuda_join_rank(unda_solver *part, const unda_ranks *ranks)
{
    TRY(new_exchange(part));
    return cuda_exchange_join_rank(part, ranks, sem_tables(part)->cut->neighbor);
}

unda_status sem_cuda_join(unda_solver *const *part, int32_t num_part, int transport)
{
    SCRATCH const int32_t **neighbor = NULL;
    TRY(array_try(&neighbor, num_part, sizeof *neighbor, "exchange"));
    for (int32_t p = 0; p < num_part; p++) {
        neighbor[p] = sem_tables(part[p])->cut->neighbor;
        TRY(new_exchange(part[p]));
    }
    return cuda_exchange_join(part, num_part, neighbor, transport);
}
