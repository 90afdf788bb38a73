/* cuda_stable.c: Lanczos' vectors on the device, in the solver's precision, which loses a few of its roundings of the
 * largest eigenvalue: now is in u, next in a; before, the masses and Kf chi of now where a kept state will be. Next:
 * dt.c, cuda/sem/nodes.cu. */
#include "cuda.h"

#include "../base/parallel.h"

#include <math.h>

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

/* <x, now>. */
static unda_status multiply(unda_solver *s, gpu_ptr x, double *product)
{
    struct sem_cuda *t = sem_cuda_tables(s);
    int width = t->region[SOLID].plan.width;
    *product = 0;
    TRY(add_product(s, sem_first_unknown(t, FLUID), sem_num_unknown(t, FLUID), 1, 0, x, stiff_of(t),
                    product));
    return add_product(s, 0, width * t->region[SOLID].tiles.num_node, width, mass_of(t), x, t->level[LEVEL_U],
                       product);
}

static unda_status begin(unda_solver *s, void *const first[NUM_REGION])
{
    struct sem_cuda *t = sem_cuda_tables(s);
    const struct sem_region *solid = &sem_tables(s)->region[SOLID];
    const struct sem_tiles *tiles = &t->region[SOLID].tiles;
    SCRATCH void *mass = NULL;
    TRY(array_try(&mass, tiles->num_node, s->real_bytes, "stable step"));
    int32_t threads = parallel_few(parallel_worth(s->options.threads, solid->num_node, LEAST_SCALAR));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < solid->num_node; i++)
        real_put(s, mass, tiles->node[i], solid->mass[i]);
    TRY(gpu_zero_async(t->stream, before_of(t), t->num * s->real_bytes));
    TRY(gpu_zero_async(t->stream, stiff_of(t), t->num * s->real_bytes));
    TRY(gpu_upload(t->stream, mass_of(t), mass, tiles->num_node * s->real_bytes));
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

static unda_status advance(void *of, double diagonal, double back, double *length)
{
    unda_solver *s = of;
    struct sem_cuda *t = sem_cuda_tables(s);
    gpu_ptr now = t->level[LEVEL_U], next = t->level[LEVEL_A];
    double square;
    TRY(combine(t, t->num, -diagonal, now, -back, before_of(t), -1, next));
    TRY(gpu_copy_async(t->stream, before_of(t), now, t->num * s->real_bytes));
    TRY(gpu_copy_async(t->stream, now, next, t->num * s->real_bytes));
    int64_t num_fluid = sem_num_unknown(t, FLUID);
    gpu_ptr fluid = (gpu_ptr)(sem_first_unknown(t, FLUID) * s->real_bytes), stiff = stiff_of(t) + fluid;
    TRY(sem_launch_fluid(s));
    TRY(combine(t, num_fluid, -1, next + fluid, 0, next + fluid, 0, stiff));
    TRY(multiply(s, now, &square));
    *length = square > 0 ? sqrt(square) : 0;
    double by = *length > 0 ? 1 / *length : 1;
    TRY(combine(t, t->num, 0, next, 0, next, by, now));
    return combine(t, num_fluid, 0, stiff, 0, stiff, by, stiff);
}

const struct sem_krylov sem_cuda_krylov = {.begin = begin, .apply = apply, .advance = advance};
