/* exchange_cuda.c: forces on nodes that parts share, on CUDA devices: packed as sums of what a part's tiles left of them,
 * added up in the order of parts. Not here: how messages travel (solver/cuda_exchange.c). Next: cuda/sem/nodes.cu. */
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

/* Where a part has its own forces on its common nodes. */
static unda_status list_places(unda_solver *s, int region, int32_t *first, int32_t **place, void **owned)
{
    const struct sem_cut_region *c = &sem_tables(s)->cut->region[region];
    const struct sem_cuda_region *r = &tables(s)->region[region];
    const struct sem_tiles *tiles = &r->tiles;
    for (int pass = 0; pass < 2; pass++) {
        int32_t num = 0;
        for (int64_t i = 0; i < c->num; i++) {
            int64_t node = tiles->node[c->node[i]], shared = node - tiles->num_inner;
            int32_t begin = 0, end = 1;
            if (r->plan.assembly == IN_ORDER) {
                begin = tiles->first_sum[shared];
                end = tiles->first_sum[shared + 1];
            }
            for (int32_t k = begin; k < end; k++, num++)
                if (pass)
                    (*place)[num] = r->plan.assembly == IN_ORDER    ? tiles->sum[k]
                                    : r->plan.assembly == BY_COLORS ? (int32_t)shared
                                                                    : (int32_t)(node - tiles->first_side);
            first[i + 1] = num;
        }
        if (!pass)
            TRY(array_own(owned, place, num, sizeof **place, "shared nodes"));
    }
    return UNDA_OK;
}

static unda_status upload_cut(unda_solver *s, int region)
{
    const struct sem_cut *cut = sem_tables(s)->cut;
    const struct sem_cut_region *c = &cut->region[region];
    struct cuda_exchange *x = s->exchange->of;
    struct sem_cuda_cut *to = &tables(s)->region[region].cut;
    int64_t num_item = c->first[cut->num_neighbor], num_term = c->first_term[c->num];
    OWNER void *owned = NULL;
    int32_t *first_place, *place, *first_term;
    if (c->num == 0)
        return UNDA_OK;
    TRY(array_own(&owned, &first_place, c->num + 1, sizeof *first_place, "shared nodes"));
    TRY(array_own(&owned, &first_term, c->num + 1, sizeof *first_term, "shared nodes"));
    TRY(list_places(s, region, first_place, &place, &owned));
    for (int64_t i = 0; i <= c->num; i++)
        first_term[i] = (int32_t)c->first_term[i];
    struct gpu_stream *stream = tables(s)->stream;
    TRY(gpu_pool_copy(&x->pool, stream, &to->item, c->item, 4 * num_item, "shared nodes"));
    TRY(gpu_pool_copy(&x->pool, stream, &to->word, c->word, 8 * num_item, "shared nodes"));
    TRY(gpu_pool_copy(&x->pool, stream, &to->first_place, first_place, 4 * (c->num + 1), "shared nodes"));
    TRY(gpu_pool_copy(&x->pool, stream, &to->place, place, 4 * first_place[c->num], "shared nodes"));
    TRY(gpu_pool_copy(&x->pool, stream, &to->first_term, first_term, 4 * (c->num + 1), "shared nodes"));
    TRY(gpu_pool_copy(&x->pool, stream, &to->term, c->term, 8 * num_term, "shared nodes"));
    s->device_bytes += 12 * num_item + 8 * (c->num + 1) + 4 * first_place[c->num] + 8 * num_term;
    return UNDA_OK;
}

unda_status sem_cuda_join(unda_solver *const *part, int32_t num_part, int transport)
{
    SCRATCH int32_t **neighbor = NULL;
    TRY(array_try(&neighbor, num_part, sizeof *neighbor, "exchange"));
    for (int32_t p = 0; p < num_part; p++) {
        const struct sem_cut *cut = sem_tables(part[p])->cut;
        neighbor[p] = cut->neighbor;
        TRY(cuda_exchange_new(part[p], tables(part[p])->gpu, tables(part[p])->stream, cut->num_neighbor));
        struct cuda_exchange *x = part[p]->exchange->of;
        x->pack = pack;
        x->unpack = unpack;
        for (int region = 0; region < NUM_REGION; region++)
            TRY(upload_cut(part[p], region));
    }
    return cuda_exchange_join(part, num_part, neighbor, transport);
}
