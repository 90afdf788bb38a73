/* layer_items.c: what the pass over layers on CUDA devices is told of items: profiles, of as few nodes as have different ones,
 * the lines along which a hexahedron's coordinate changes, and blocks of tetrahedra. Next: layer_cuda.c. */
#include "layer_cuda.h"

#include <math.h>

/* Whether a profile is the same, but for rounding, wherever nodes have one place along r_j; j = -1: everywhere. */
static bool goes_along(const double *profile, int line, int num_node, int j)
{
    const double small = 1e-10; /* nodes' coordinates differ by rounding */
    int step = j <= 0 ? 1 : j == 1 ? line : line * line;
    for (int i = 0; i < LAYER_NUMBER; i++)
        for (int n = 0; n < num_node; n++) {
            double at = profile[i * num_node + n];
            double first = profile[i * num_node + (j < 0 ? 0 : n / step % line * step)];
            if (fabs(at - first) > small * fabs(first))
                return false;
        }
    return true;
}

/* The r_j along which the profiles of each item go, -1 of tetrahedra; false: of some they do not go along one. */
static bool find_along(const unda_solver *s, int32_t *along)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    int num_node = dg->space.num_node, begin = dg->metric_nodes ? 0 : -1, end = dg->metric_nodes ? 3 : 0;
    for (int64_t item = 0; item < l->num_item; item++) {
        const double *profile = l->profile + item * LAYER_NUMBER * num_node;
        int j = begin;
        while (j < end && !goes_along(profile, s->options.degree + 1, num_node, j))
            j++;
        if (j == end)
            return false;
        along[item] = j;
    }
    return true;
}

/* Along which lines the coordinate on an axis changes: bits. */
int layer_lines(const struct dg *dg, int64_t cell, int axis)
{
    int num = dg_gradient_nodes(dg), lines = 0;
    const double *gradient = dg->layers.gradient + cell * 9 * num;
    for (int j = 0; j < 3; j++)
        for (int n = 0; n < num; n++)
            if (gradient[(3 * j + axis) * num + n] != 0)
                lines |= 1 << j;
    return lines;
}

/* Cells of tetrahedra one after the other, as many a block as have no more items than it takes. */
static unda_status upload_blocks(unda_solver *s, struct dg_cuda *t)
{
    struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct dg_cuda_layers *to = &t->layers;
    struct layer_blocks p = layer_blocks(s);
    if (dg->metric_nodes)
        return UNDA_OK;
    TRY(array_own(&dg->owned, &to->host_block, l->num_elem + 1, sizeof *to->host_block, "layers"));
    to->num_block = 0;
    for (int64_t cell = 0; cell < l->num_elem; cell++)
        if (cell == 0 || l->first[cell + 1] - l->first[to->host_block[to->num_block - 1]] > p.items)
            to->host_block[to->num_block++] = (int32_t)cell;
    to->host_block[to->num_block] = (int32_t)l->num_elem;
    return gpu_upload(t->stream, to->block, to->host_block, 4 * (to->num_block + 1));
}

/* The block that cell `cell` is in. */
int64_t layer_block_of(const struct dg_cuda_layers *l, int64_t cell)
{
    int64_t low = 0, high = l->num_block;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (l->host_block[middle] <= cell)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Profiles, of as few nodes as have different ones, and what the kernel knows of items. */
unda_status layer_items(unda_solver *s, struct dg_cuda *t)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    struct dg_cuda_layers *to = &t->layers;
    int num_node = dg->space.num_node, line = s->options.degree + 1;
    SCRATCH int32_t *along = NULL;
    SCRATCH double *profile = NULL;
    TRY(array_try(&along, l->num_item, sizeof *along, "layers"));
    to->profile_nodes = !find_along(s, along) ? num_node : dg->metric_nodes ? line : 1;
    TRY(array_try(&profile, l->num_item * LAYER_NUMBER * to->profile_nodes, sizeof *profile, "layers"));
    for (int64_t row = 0; row < l->num_item * LAYER_NUMBER; row++)
        for (int64_t i = 0; i < to->profile_nodes; i++) {
            int j = to->profile_nodes == num_node ? 0 : along[row / LAYER_NUMBER];
            int64_t step = j <= 0 ? 1 : j == 1 ? line : line * line;
            profile[row * to->profile_nodes + i] = l->profile[row * num_node + i * step];
        }
    TRY(gpu_upload_reals(t->stream, to->profile, profile, l->num_item * LAYER_NUMBER * to->profile_nodes,
                         s->real_bytes));
    for (int64_t cell = 0; cell < l->num_elem; cell++)
        for (int64_t item = l->first[cell]; item < l->first[cell + 1]; item++) {
            int j = to->profile_nodes == line ? along[item] : 0;
            along[item] = LAYER_ITEM(l->axis[item], layer_lines(dg, cell, l->axis[item]), j);
        }
    TRY(gpu_upload(t->stream, to->axis, along, 4 * l->num_item));
    return upload_blocks(s, t);
}
