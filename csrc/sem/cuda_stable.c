/* cuda_stable.c: Lanczos' vectors on the device, in the solver's precision, which loses a few of its roundings of the
 * largest eigenvalue: now is in u, next in a; before, the masses and Kf chi of now where a kept state will be. Next:
 * dt.c, cuda/sem/nodes.cu. */
#include "cuda.h"
#include "team.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

static gpu_ptr before_of(const struct sem_cuda *t)
{
    return t->kept[LEVEL_U];
}
static gpu_ptr mass_of(const struct sem_cuda *t)
{
    return t->kept[LEVEL_V];
}
static gpu_ptr stiff_of(const struct sem_cuda *t)
{
    return t->kept[LEVEL_A];
}

/* z = by_x x + by_y y + by_z z. */
static unda_status combine(struct sem_cuda *t, int64_t num, double by_x, gpu_ptr x, double by_y, gpu_ptr y,
                           double by_z, gpu_ptr z)
{
    struct sem_combine_args a = {POINTER(x), POINTER(y), POINTER(z), num, by_x, by_y, by_z};
    struct gpu_shape shape = gpu_threads(num);
    return num ? gpu_launch(&t->combine, t->stream, &shape, &a, sizeof a) : UNDA_OK;
}

/* Adds the sum of w x y of unknowns from `first` on. */
static unda_status add_product(unda_solver *s, int64_t first, int64_t num, int dim, gpu_ptr w, gpu_ptr x,
                               gpu_ptr y, double *sum)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    gpu_ptr from = (gpu_ptr)(first * s->real_bytes);
    struct sem_product_args a = {
        POINTER(x + from), POINTER(y + from), POINTER(w), POINTER(t->part), num, dim, 0};
    int64_t blocks = 1 + num / 4096;
    blocks = blocks < SEM_PRODUCT_BLOCKS ? blocks : SEM_PRODUCT_BLOCKS;
    struct gpu_shape shape = {.grid = {blocks}, .block = {256}};
    double part[SEM_PRODUCT_BLOCKS];
    if (num == 0)
        return UNDA_OK;
    TRY(gpu_launch(&t->product, t->stream, &shape, &a, sizeof a));
    TRY(gpu_download(t->stream, part, t->part, blocks * (int64_t)sizeof *part));
    for (int64_t i = 0; i < blocks; i++)
        *sum += part[i];
    return UNDA_OK;
}

/* Of a part 1 at the fluid's nodes that it is to count, 0 at others: behind the masses. */
static gpu_ptr counted_of(const unda_solver *s)
{
    const struct sem_cuda *t = sem_cuda_tables(s);
    gpu_ptr first = (gpu_ptr)(sem_first_unknown(t, FLUID) * s->real_bytes);
    return sem_tables(s)->cut ? mass_of(t) + first : 0;
}

/* <x, now>; of a part what it is to count. */
static unda_status multiply(unda_solver *s, gpu_ptr x, double *product)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    int width = t->region[SOLID].plan.width;
    *product = 0;
    TRY(add_product(s, sem_first_unknown(t, FLUID), sem_num_unknown(t, FLUID), 1, counted_of(s), x,
                    stiff_of(t), product));
    return add_product(s, 0, width * t->region[SOLID].tiles.num_node, width, mass_of(t), x, t->level[LEVEL_U],
                       product);
}

/* weight[node on the device] = 0 at nodes that a part before has too. */
static void leave_out(const unda_solver *s, int region, void *weight)
{
    const struct sem_cut *cut = sem_tables(s)->cut;
    for (int32_t i = 0; cut && i < cut->num_neighbor && cut->neighbor[i] < cut->which; i++)
        for (int64_t k = cut->region[region].first[i]; k < cut->region[region].first[i + 1]; k++) {
            int32_t node = cut->region[region].node[cut->region[region].item[k]];
            real_put(s, weight, sem_cuda_tables(s)->region[region].tiles.node[node], 0);
        }
}

/* The solid's masses, and of a part which nodes it counts. */
static unda_status upload_weights(unda_solver *s)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    for (int region = 0; region < NUM_REGION; region++) {
        const struct sem_region *r = &sem_tables(s)->region[region];
        const struct sem_tiles *tiles = &t->region[region].tiles;
        if (region == FLUID && !sem_tables(s)->cut)
            continue;
        SCRATCH void *weight = NULL;
        TRY(array_try(&weight, tiles->num_node, s->real_bytes, "stable step"));
        int32_t threads = parallel_few(parallel_worth(s->options.threads, r->num_node, LEAST_SCALAR));
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < r->num_node; i++)
            real_put(s, weight, tiles->node[i], region == SOLID ? r->mass[i] : 1);
        leave_out(s, region, weight);
        TRY(gpu_upload(t->stream, region == SOLID ? mass_of(t) : counted_of(s), weight,
                       tiles->num_node * s->real_bytes));
    }
    return UNDA_OK;
}

static unda_status begin(unda_solver *s, void *const first[NUM_REGION])
{
    struct sem_cuda *t = sem_cuda_tables(s);
    TRY(gpu_zero_async(t->stream, before_of(t), t->num * s->real_bytes));
    TRY(gpu_zero_async(t->stream, stiff_of(t), t->num * s->real_bytes));
    TRY(gpu_zero_async(t->stream, mass_of(t), t->num * s->real_bytes));
    TRY(upload_weights(s));
    for (int region = 0; region < NUM_REGION; region++)
        if (sem_num_unknown(t, region)) /* next is -a */
            TRY(sem_state_upload(s, region, t->region[region].a, first[region]));
    return combine(t, t->num, 0, t->level[LEVEL_U], 0, t->level[LEVEL_U], -1, t->level[LEVEL_A]);
}

static unda_status apply(void *of, double *product)
{
    unda_solver *s = of;
    TRY(sem_launch_operator(s));
    TRY(multiply(s, sem_cuda_tables(s)->level[LEVEL_A], product));
    *product = -*product;
    return UNDA_OK;
}

/* next, now, before in turn; next is not divided by its length yet. */
static unda_status turn(unda_solver *s, double diagonal, double back)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    gpu_ptr now = t->level[LEVEL_U], next = t->level[LEVEL_A];
    TRY(combine(t, t->num, -diagonal, now, -back, before_of(t), -1, next));
    TRY(gpu_copy_async(t->stream, before_of(t), now, t->num * s->real_bytes));
    return gpu_copy_async(t->stream, now, next, t->num * s->real_bytes);
}

/* Kf chi of now, once forces of the fluid are there; then <now, now>. */
static unda_status take_stiff(unda_solver *s, double *square)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    gpu_ptr first = (gpu_ptr)(sem_first_unknown(t, FLUID) * s->real_bytes);
    gpu_ptr next = t->level[LEVEL_A] + first;
    TRY(combine(t, sem_num_unknown(t, FLUID), -1, next, 0, next, 0, stiff_of(t) + first));
    return multiply(s, t->level[LEVEL_U], square);
}

static unda_status divide(unda_solver *s, double square, double *length)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    gpu_ptr first = (gpu_ptr)(sem_first_unknown(t, FLUID) * s->real_bytes);
    gpu_ptr now = t->level[LEVEL_U], stiff = stiff_of(t) + first;
    *length = square > 0 ? sqrt(square) : 0;
    double by = *length > 0 ? 1 / *length : 1;
    TRY(combine(t, t->num, 0, now, 0, now, by, now));
    return combine(t, sem_num_unknown(t, FLUID), 0, stiff, 0, stiff, by, stiff);
}

static unda_status advance(void *of, double diagonal, double back, double *length)
{
    unda_solver *s = of;
    double square;
    TRY(turn(s, diagonal, back));
    TRY(sem_launch_fluid(s));
    TRY(take_stiff(s, &square));
    return divide(s, square, length);
}

const struct sem_krylov sem_cuda_krylov = {.begin = begin, .apply = apply, .advance = advance};

/* ---- of several parts: sums over parts, in their order ---- */

static unda_status begin_team(unda_solver *s, void *const first[NUM_REGION])
{
    EACH_PART(sem_team_of(s), part)
    {
        OWNER void *owned = NULL;
        void *own[NUM_REGION];
        for (int region = 0; region < NUM_REGION; region++) {
            const struct sem_region *r = &sem_tables(part)->region[region];
            const int32_t *whole = sem_tables(part)->cut->region[region].whole;
            size_t node = (size_t)(r->dim * s->real_bytes);
            TRY(array_own(&owned, &own[region], r->num_node * r->dim, s->real_bytes, "stable step"));
            for (int64_t i = 0; i < r->num_node; i++)
                memcpy((char *)own[region] + (size_t)i * node,
                       (char *)first[region] + (size_t)whole[i] * node, node);
        }
        TRY(begin(part, own));
    }
    return UNDA_OK;
}

static unda_status apply_team(void *of, double *product)
{
    unda_solver *s = of;
    *product = 0;
    TRY(sem_cuda_launch_team(s, &(struct sem_pass){.mode = SEM_CLOSE, .time = -1}));
    EACH_PART(sem_team_of(s), part)
    {
        double own;
        TRY(multiply(part, sem_cuda_tables(part)->level[LEVEL_A], &own));
        *product -= own;
    }
    return UNDA_OK;
}

static unda_status advance_team(void *of, double diagonal, double back, double *length)
{
    unda_solver *s = of;
    double square = 0;
    EACH_PART(sem_team_of(s), part)
    TRY(turn(part, diagonal, back));
    TRY(sem_cuda_launch_team(s, &(struct sem_pass){.mode = SEM_FORCE, .time = -1}));
    EACH_PART(sem_team_of(s), part)
    {
        double own;
        TRY(take_stiff(part, &own));
        square += own;
    }
    EACH_PART(sem_team_of(s), part)
    TRY(divide(part, square, length));
    return UNDA_OK;
}

static unda_status end_team(void *of)
{
    EACH_PART(sem_team_of(of), part)
    {
        struct sem_cuda *t = sem_cuda_tables(part);
        TRY(gpu_wants_zero(&t->wants, t->stream, 1 << 1));
        for (int region = 0; region < NUM_REGION; region++)
            TRY(sem_launch_pads(part, region));
        TRY(gpu_sync(t->stream));
    }
    return UNDA_OK;
}

const struct sem_krylov sem_cuda_krylov_team = {
    .begin = begin_team, .apply = apply_team, .advance = advance_team, .end = end_team};
