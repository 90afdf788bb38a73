/* far.c: spectral elements on a CUDA device whose nodes, entries and patterns have numbers just below and beyond 2^31, as
 * on meshes that no test can hold: the tables are changed, and arrays moved so that kernels find them there; and counts
 * that do not fit. It sees the library's insides. Next: library.c. */
#include "rig.h"

#include "sem/cuda.h"

#include <stdlib.h>

/* The most by which numbers of 32 bits may grow here, a multiple of eight; words are counted in 64. */
enum { FAR = INT32_MAX / 8 * 8 - (1 << 16) };
static const int64_t FAR_WORDS = 5000000000;

static unda_status shift(struct gpu_stream *stream, gpu_ptr array, int64_t num, int32_t by)
{
    int32_t *values = calloc((size_t)num, sizeof *values);
    unda_status status = gpu_download(stream, values, array, 4 * num);
    for (int64_t i = 0; i < num; i++)
        values[i] += values[i] < 0 ? 0 : by; /* -1: none */
    if (status == UNDA_OK)
        status = gpu_upload(stream, array, values, 4 * num);
    free(values);
    return status;
}

static unda_status shift_tiles(struct gpu_stream *stream, const struct sem_cuda_region *r)
{
    int64_t num = r->tiles.num_tile, bytes = num * (int64_t)sizeof(struct sem_tile);
    struct sem_tile *tile = calloc((size_t)num, sizeof *tile);
    unda_status status = gpu_download(stream, tile, r->tile, bytes);
    for (int64_t i = 0; i < num; i++) {
        tile[i].first_inner += FAR;
        tile[i].first_entry += FAR;
        tile[i].pattern += FAR_WORDS;
    }
    if (status == UNDA_OK)
        status = gpu_upload(stream, r->tile, tile, bytes);
    free(tile);
    return status;
}

static void move(gpu_ptr *array, int64_t bytes)
{
    *array -= (gpu_ptr)bytes;
}

static unda_status move_away(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    for (int region = 0; region < NUM_REGION; region++) {
        struct sem_cuda_region *r = &t->region[region];
        struct sem_tiles *tiles = &r->tiles;
        int64_t node = (region == SOLID ? 3 : 1) * (int64_t)s->real_bytes;
        int64_t num_shared = tiles->num_node - tiles->num_inner;
        TRY(shift_tiles(t->stream, r));
        TRY(shift(t->stream, r->first_sum, num_shared + 1, FAR));
        TRY(shift(t->stream, r->sum, tiles->num_entry, FAR));
        if (region == FLUID) /* whose partners are nodes of the solid */
            TRY(shift(t->stream, r->partner, tiles->num_node - tiles->first_side, FAR));
        move(&r->u, FAR * node);
        move(&r->v, FAR * node);
        move(&r->a, FAR * node);
        move(&r->inverse_mass, (int64_t)FAR * s->real_bytes);
        move(&r->shared, FAR * node);
        move(&r->entry, 4 * (int64_t)FAR);
        move(&r->sum, 4 * (int64_t)FAR);
        move(&r->words, 2 * FAR_WORDS);
        tiles->num_inner += FAR;
        tiles->first_side += FAR;
        tiles->num_node += FAR;
    }
    return UNDA_OK;
}

/* All unknowns after four steps, two of them far away or not; before, one that brings the state to the device. */
static unda_status steps(int32_t precision, bool far, char **state, int64_t *bytes)
{
    struct spectral sem = {0};
    unda_status status = spectral_new(&sem, precision);
    status = status == UNDA_OK ? spectral_use(&sem, 1) : status;
    status = status == UNDA_OK ? spectral_step(&sem, 1) : status;
    status = status == UNDA_OK && far ? move_away(sem.solver) : status;
    status = status == UNDA_OK ? spectral_step(&sem, 2) : status;
    struct sem_cuda *t = sem.solver ? sem_cuda_tables(sem.solver) : NULL;
    if (status == UNDA_OK) {
        *bytes = t->num * sem.solver->real_bytes;
        *state = calloc(2, (size_t)*bytes);
        status = gpu_download(t->stream, *state, t->level[LEVEL_U], *bytes);
        if (status == UNDA_OK)
            status = gpu_download(t->stream, *state + *bytes, t->level[LEVEL_V], *bytes);
    }
    spectral_free(&sem);
    return status;
}

unda_status run_far(void)
{
    int same = 0, moving = 0;
    for (int32_t precision = 0; precision < 2; precision++) {
        char *here = NULL, *there = NULL, *zero;
        int64_t bytes = 0;
        TRY(steps(precision, false, &here, &bytes));
        TRY(steps(precision, true, &there, &bytes));
        zero = calloc(2, (size_t)bytes);
        same += memcmp(here, there, 2 * (size_t)bytes) == 0;
        moving += memcmp(here, zero, (size_t)bytes) != 0;
        free(here);
        free(there);
        free(zero);
    }
    printf("same=%d\nmoving=%d\n", same, moving);
    return UNDA_OK;
}

/* ---- counts ---- */

/* A region of elements that share no node. */
static unda_status number_apart(int64_t num_elem, int32_t num_node, int64_t *found)
{
    struct element element = {.degree = 10};
    struct sem sem = {.space = {.num_node = num_node, .element = &element}};
    struct sem_region r = {.num_elem = num_elem, .first = calloc((size_t)num_elem + 1, sizeof(int32_t))};
    for (int64_t row = 0; row < num_elem; row++)
        r.first[row + 1] = num_node;
    unda_status status = sem_number_first(&sem, &r);
    *found = r.num_node;
    free(r.first);
    return status;
}

unda_status run_far_counts(void)
{
    const int64_t most = INT32_MAX;
    int64_t num = most / 1331, found;
    printf("fits=%d\n", number_apart(num, 1331, &found) == UNDA_OK && found == num * 1331);
    printf("nodes=%d %s\n", number_apart(num + 1, 1331, &found), unda_error());
    struct sem_tiles tiles = {.cells = 8, .num_node = most, .num_entry = most};
    printf("tiles_fit=%d\n", sem_tiles_check(&tiles) == UNDA_OK);
    tiles.num_node++;
    printf("device_nodes=%d %s\n", sem_tiles_check(&tiles), unda_error());
    tiles.num_node = 1;
    tiles.num_entry++;
    printf("entries=%d %s\n", sem_tiles_check(&tiles), unda_error());
    return UNDA_OK;
}
