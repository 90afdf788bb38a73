/* cuda_state.c: the state of the CUDA engine of spectral elements in and out. Whole levels are copied: they are read
 * and written rarely, and by cells that share their nodes. Next: method.c, cuda/sem/nodes.cu. */
#include "cuda.h"

#include "../base/parallel.h"

#include <string.h>

/* Copies between the numberings of the host and the device; `device` and `host` [node][dim]. */
static void renumber(const unda_solver *s, int region, void *device, void *host, bool to_device)
{
    const struct sem_region *r = &sem_tables(s)->region[region];
    const int32_t *node = sem_cuda_tables(s)->region[region].tiles.node;
    size_t bytes = (size_t)(r->dim * s->real_bytes),
           stride = (size_t)(sem_cuda_tables(s)->region[region].plan.width * s->real_bytes);
    int32_t threads = parallel_few(parallel_worth(s->options.threads, r->num_node, LEAST_SCALAR));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < r->num_node; i++) {
        char *there = (char *)device + (size_t)node[i] * stride, *here = (char *)host + (size_t)i * bytes;
        memcpy(to_device ? there : here, to_device ? here : there, bytes);
    }
}

unda_status sem_state_upload(unda_solver *s, int region, gpu_ptr to, const void *from)
{
    int64_t num = sem_num_unknown(sem_cuda_tables(s), region);
    SCRATCH void *packed = NULL;
    TRY(array_try(&packed, num, s->real_bytes, "state"));
    renumber(s, region, packed, (void *)from, true);
    TRY(gpu_upload(sem_cuda_tables(s)->stream, to, packed, num * s->real_bytes));
    return to == sem_cuda_tables(s)->region[region].u ? sem_launch_pads(s, region) : UNDA_OK;
}

unda_status sem_state_download(unda_solver *s, int region, void *to, gpu_ptr from)
{
    int64_t num = sem_num_unknown(sem_cuda_tables(s), region);
    SCRATCH void *packed = NULL;
    TRY(array_try(&packed, num, s->real_bytes, "state"));
    TRY(gpu_download(sem_cuda_tables(s)->stream, packed, from, num * s->real_bytes));
    renumber(s, region, packed, to, false);
    return UNDA_OK;
}

static gpu_ptr level_of(const struct sem_cuda *t, int region, int level)
{
    const struct sem_cuda_region *r = &t->region[region];
    return level == LEVEL_U ? r->u : level == LEVEL_V ? r->v : r->a;
}

static unda_status mirror(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    if (t->mirrored)
        return UNDA_OK;
    for (int i = 0; i < NUM_REGION * NUM_LEVEL; i++) {
        int region = i / NUM_LEVEL, level = i % NUM_LEVEL;
        int64_t num = sem_tables(s)->region[region].num_node * sem_tables(s)->region[region].dim;
        if (!t->mirror[region][level])
            TRY(array_own(&t->owned, &t->mirror[region][level], num, s->real_bytes, "state on the host"));
        if (num)
            TRY(sem_state_download(s, region, t->mirror[region][level], level_of(t, region, level)));
    }
    t->mirrored = true;
    return UNDA_OK;
}

unda_status sem_state_level(unda_solver *s, int region, int level, void **values)
{
    TRY(mirror(s));
    *values = sem_cuda_tables(s)->mirror[region][level];
    return UNDA_OK;
}

void sem_state_wrote(unda_solver *s)
{
    sem_cuda_tables(s)->wrote = true;
    sem_cuda_tables(s)->zero = false;
}

bool sem_state_is_zero(const unda_solver *s)
{
    return sem_cuda_tables(s)->zero;
}

unda_status sem_state_flush(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    for (int i = 0; i < NUM_REGION * NUM_LEVEL && t->wrote; i++)
        if (sem_num_unknown(sem_cuda_tables(s), i / NUM_LEVEL))
            TRY(sem_state_upload(s, i / NUM_LEVEL, level_of(t, i / NUM_LEVEL, i % NUM_LEVEL),
                                 t->mirror[i / NUM_LEVEL][i % NUM_LEVEL]));
    t->wrote = false;
    return UNDA_OK;
}

void sem_state_changed(unda_solver *s)
{
    sem_cuda_tables(s)->mirrored = false;
    sem_cuda_tables(s)->zero = false;
}

/* To and from: 0 the state, 1 what is kept of it. */
unda_status sem_state_copy(unda_solver *s, int to, int from)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    TRY(sem_state_flush(s));
    for (int level = 0; level < NUM_LEVEL; level++)
        TRY(gpu_copy_async(t->stream, to ? t->kept[level] : t->level[level],
                           from ? t->kept[level] : t->level[level], t->num * s->real_bytes));
    if (to == 0)
        sem_state_changed(s);
    return gpu_sync(t->stream);
}

/* The device says whether there is one; which is the first depends on its numbering, so the host looks for it. */
unda_status sem_state_find_bad(unda_solver *s, int64_t *index)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    int64_t none = INT64_MAX, first;
    struct sem_whole_args a = {.u = POINTER(t->level[LEVEL_U]),
                               .v = POINTER(t->level[LEVEL_V]),
                               .a = POINTER(t->level[LEVEL_A]),
                               .num = t->num,
                               .first = POINTER(t->bad)};
    struct gpu_shape shape = gpu_threads(3 * t->num);
    shape.grid[0] = shape.grid[0] < 4096 ? shape.grid[0] : 4096;
    TRY(sem_state_flush(s));
    TRY(gpu_upload(t->stream, t->bad, &none, sizeof none));
    TRY(gpu_launch(&t->find_bad, t->stream, &shape, &a, sizeof a));
    TRY(gpu_download(t->stream, &first, t->bad, sizeof first));
    *index = -1;
    return first == none ? UNDA_OK : sem_find_bad(s, index);
}
