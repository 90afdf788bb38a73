/* layer_blocks.c: blocks of the pass over layers on CUDA devices: threads, cells and shared memory by shape, degree, physics
 * and precision; what a launch has to do. Next: layer_items.c, cuda/dg/layer_hex.cu, layer_tet.cu. */
#include "layer_cuda.h"

#include "common/index.h"

static int round_up(int number, int unit)
{
    return (number + unit - 1) / unit * unit;
}

/* Blocks on an SM with so many registers a thread. */
static int min_blocks(int threads, int registers)
{
    enum { REGISTERS = 65536, SHARED_BY_PARTITIONS = 128 };
    int blocks = REGISTERS / (registers * round_up(threads, SHARED_BY_PARTITIONS));
    return blocks > 1 ? blocks : 1;
}

static struct layer_blocks of_hex(const struct dg *dg, int line, int real_bytes)
{
    int num = dg->space.num_node, wide = dg->physics->num_trace * real_bytes; /* bytes of a node's traces */
    int least = real_bytes == 4 ? 256 : 128, most = real_bytes == 4 ? 384 : 128;
    struct layer_blocks p = {.cells = num < least ? least / num : 1};
    int nodes = p.cells * num, own = (nodes + most - 1) / most;
    p.threads = round_up((nodes + own - 1) / own, 32);
    if (real_bytes == 4) /* as many blocks as were measured to be fastest, with some spills */
        p.min_blocks = min_blocks(p.threads, wide <= 8 ? 40 : 64);
    else
        p.min_blocks = min_blocks(p.threads, wide <= 16 ? 96 : 168);
    p.shared_reals = line * line + 1 + (int64_t)nodes * dg->physics->num_field;
    return p;
}

/* At least so many words, in an odd number of quads: PITCH. */
static int odd_quads(int words)
{
    return (words + 3) / 8 * 8 + 4;
}

/* Columns of a thread, COLS NUM_TRACE: enough to use an entry of a matrix often, few enough for the registers. */
static struct layer_blocks of_tet(const struct dg *dg, int real_bytes)
{
    const struct space *space = &dg->space;
    int num = space->num_node, trace = dg->physics->num_trace, field = dg->physics->num_field;
    int least = trace * real_bytes > 32 ? 128 : 256, columns = real_bytes == 4 ? 8 : 4;
    int cols = trace >= columns ? 1 : columns / trace,
        fewest = (3 + cols - 1) / cols; /* a cell has up to three items */
    int groups = least / num > fewest ? least / num : fewest, ends = space->num_face * space->num_face_node;
    struct layer_blocks p = {.threads = round_up(groups * num, 32), .cols = cols};
    p.items = groups * p.cols;
    p.min_blocks = min_blocks(p.threads, least == 128 ? 168 : real_bytes == 8 ? 128 : 80);
    int64_t pitch = odd_quads(p.items * trace), fix_pitch = odd_quads(p.items * field);
    int64_t in = pitch * (num + ends) + fix_pitch * ends, out = 2 * (int64_t)p.items * field * num;
    p.shared_words = 3 * (int64_t)p.items;
    p.shared_reals = in < out ? out : in;
    return p;
}

struct layer_blocks layer_blocks(const unda_solver *s)
{
    const struct dg *dg = dg_tables(s);
    return dg->metric_nodes ? of_hex(dg, s->options.degree + 1, s->real_bytes) : of_tet(dg, s->real_bytes);
}

struct gpu_shape layer_shape(const unda_solver *s, const struct layer_blocks *blocks)
{
    int64_t bytes = 4 * blocks->shared_words + blocks->shared_reals * s->real_bytes;
    return (struct gpu_shape){
        .grid = {1}, .block = {blocks->threads}, .shared_bytes = (int)((bytes + 15) / 16 * 16)};
}

/* ---- work ---- */

/* Lines along which items take derivatives, over all items. */
static int64_t num_lines(const struct dg *dg)
{
    const struct dg_layers *l = &dg->layers;
    int64_t num = 0;
    for (int64_t cell = 0; cell < l->num_elem; cell++)
        for (int64_t item = l->first[cell]; item < l->first[cell + 1]; item++)
            num += __builtin_popcount((unsigned)layer_lines(dg, cell, l->axis[item]));
    return num;
}

/* Multiplications and additions of products and of memory variables (nine a number); states and memory variables as they
 * are read and written, tables. What neighbours have at faces is in other cells of layers, but for few. */
void layer_count(const unda_solver *s, int pass, double *flops, double *bytes)
{
    const struct dg *dg = dg_tables(s);
    const struct dg_layers *l = &dg->layers;
    const struct space *space = &dg->space;
    int64_t num = space->num_node, trace = dg->physics->num_trace, field = dg->physics->num_field;
    int64_t ends = (int64_t)space->num_face * space->num_face_node, line = s->options.degree + 1;
    int64_t products = dg->metric_nodes
                           ? num_lines(dg) * trace * 2 * line
                           : l->num_item * trace * (6 * num + 2 * ends) + l->num_elem * field * 2 * ends;
    int state = pass == LAYER_FOR_NEXT ? 3 : pass == LAYER_FOR_FIRST ? 4 : 5;
    int memory = pass == LAYER_FOR_NEXT ? 4 : pass == LAYER_FOR_FIRST ? 3 : 5;
    int64_t more = l->num_item * LAYER_NUMBER * tables(s)->layers.profile_nodes +
                   l->num_elem * (9 * dg_gradient_nodes(dg) + dg->physics->num_coef * dg->material_nodes) +
                   dg_layers_num_face(dg) + dg_layers_num_face_coef(dg);
    *flops = (double)(num * (products + l->num_item * trace * 9));
    *bytes =
        (double)(s->real_bytes * (num * (l->num_elem * field * state + l->num_item * trace * memory) + more));
}
