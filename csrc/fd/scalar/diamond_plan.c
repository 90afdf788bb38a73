/* diamond_plan.c: the choice of a tile for kernel diamond, and where the kernel pays. Not here: launches
 * (diamond.c). */
#include "diamond.h"

/* ---- the tile ---- */

/* What was fastest on an H200 (benchmarks/NOTES.md), by half the order: float32 with one c, with c of each
 * node, float64. {DTS, STEP, cells along z of a block at most, OLD, UNROLL, CHUNK, how c comes: 1 through L2,
 * 2 in registers}, see cuda/fd/scalar/diamond.cu. */
static const struct diamond_tile tiles[3][4] = {{{7, 1, 224, 1, 2, 14, 0, 0, 0, 0, 0},
                                                 {3, 2, 256, 1, 2, 12, 0, 0, 0, 0, 0},
                                                 {2, 3, 192, 0, 2, 6, 0, 0, 0, 0, 0},
                                                 {3, 2, 160, 0, 1, 6, 0, 0, 0, 0, 0}},
                                                {{5, 1, 256, 1, 2, 6, 2, 0, 0, 0, 0},
                                                 {3, 2, 256, 0, 1, 6, 2, 0, 0, 0, 0},
                                                 {2, 3, 192, 0, 1, 6, 2, 0, 0, 0, 0},
                                                 {3, 2, 160, 0, 1, 6, 1, 0, 0, 0, 0}},
                                                {{5, 1, 160, 1, 2, 6, 1, 0, 0, 0, 0},
                                                 {2, 2, 160, 0, 1, 6, 1, 0, 0, 0, 0},
                                                 {2, 3, 96, 0, 1, 6, 1, 0, 0, 0, 0},
                                                 {2, 2, 128, 0, 1, 6, 1, 0, 0, 0, 0}}};
enum { MAX_NUM_ZB = 64, LEAST_CUT = 33, NUM_LEVEL = 512 };

/* By half the order: the number of steps from which on a launch is faster than the same steps one by one.
 * Towers of few levels are as many as those of many levels, and wait for each other as often. On an H200,
 * 1.6e9 cells, 8 and 64 levels: order 2, 29 and 114 ms, one step 5.1; order 4, 43 and 195, 5.4; order 6,
 * 64 and 294, 6.0; order 8, 139 and 417, 6.6. */
static const int fewest[MAX_DIAMOND_HALF] = {5, 8, 17, 60};

/* As in cuda/fd/scalar/diamond_tile.h. */
static int64_t shared_words(const struct diamond_tile *t, int half)
{
    int64_t width = t->step * t->dts, rows = t->step * (2 * t->dts - 1), tips = 0;
    for (int i = 0; i < half; i++) {
        int64_t reach = t->step * (1 + i / t->step);
        tips += 4 * (reach < width ? reach : width);
    }
    return (2 * (2 * width * width + half * rows) + tips + half * rows) * ((t->zb + 31) / 32 * 32 + 2 * half);
}

static const char *refusal(const unda_solver *s)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    int half = fd_tables(s)->half;
    for (int a = 0; a < 3; a++)
        if (axis[a].side[0] == SIDE_PERIODIC)
            return "an axis is periodic";
    if (half > MAX_DIAMOND_HALF)
        return "the order is above 8";
    if (fd_tables(s)->split && fd_tables(s)->uniform)
        return "the step is below a tenth of the stable one";
    if (axis[0].total <= half || axis[1].total <= half || axis[2].total < 2 * half)
        return "the grid is narrower than the differences";
    return NULL;
}

/* Grids taller than a block of that tile, float32, one c, by half the order: blocks of 12, 9, 6 and 4
 * warps; one copy of the code. */
static const struct diamond_tile tall[MAX_DIAMOND_HALF] = {{5, 1, 384, 0, 1, 5, 0, 0, 0, 0, 0},
                                                           {5, 1, 288, 0, 1, 5, 0, 0, 0, 0, 0},
                                                           {2, 3, 192, 0, 1, 6, 0, 0, 0, 0, 0},
                                                           {3, 2, 128, 0, 1, 8, 0, 0, 0, 0, 0}};

/* Whether an option leaves a part as it is. */
static bool left(int32_t given, int part)
{
    return given == 0 || given == part;
}

static struct diamond_tile in_table(const unda_solver *s)
{
    const unda_solver_options *o = &s->options;
    int half = fd_tables(s)->half, kind = s->real_bytes == 8 ? 2 : !fd_tables(s)->uniform;
    struct diamond_tile tile = tiles[kind][half - 1];
    if (kind == 0 && fd_tables(s)->axis[2].total > tile.zb &&
        left(kernel_part(o, "dts"), tall[half - 1].dts) &&
        left(kernel_part(o, "step"), tall[half - 1].step) && left(kernel_part(o, "zb"), tall[half - 1].zb))
        tile = tall[half - 1];
    tile.old = tile.old && !fd_is_matched(fd_tables(s)); /* which change level n - 1 in shared memory */
    if (fd_has_layers(fd_tables(s)) && !tile.old)
        tile.unroll = 1; /* two copies of the code for layers do not fit the instruction cache */
    tile.levels = NUM_LEVEL;
    return tile;
}

static const char *fix(const unda_solver *s, struct diamond_tile *tile)
{
    const unda_solver_options *o = &s->options;
    int old = 1 + tile->old, unroll = kernel_part(o, "unroll"), given_old = kernel_part(o, "old");
    const struct {
        const char *name;
        int *value;
    } part[] = {{"dts", &tile->dts},       {"step", &tile->step},   {"levels", &tile->levels},
                {"fewest", &tile->fewest}, {"zb", &tile->zb},       {"old", &old},
                {"unroll", &tile->unroll}, {"chunk", &tile->chunk}, {"variable", &tile->variable}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (kernel_part(o, part[i].name))
            *part[i].value = kernel_part(o, part[i].name);
    if (unroll == 1 && given_old == 2)
        return "old is 2, which takes unroll 2";
    if (given_old == 2 && fd_is_matched(fd_tables(s)))
        return "old is 2, and a side has a matched layer";
    tile->old = old == 2 && unroll != 1;
    tile->unroll = tile->old ? 2 : tile->unroll;
    tile->variable = fd_tables(s)->uniform ? 0 : tile->variable;
    return NULL;
}

const char *diamond_choose(const unda_solver *s, struct scalar_cuda *t)
{
    struct diamond_tile *tile = &t->diamond.tile;
    const char *why = refusal(s);
    if (why)
        return why;
    int half = fd_tables(s)->half;
    int64_t nz = fd_tables(s)->axis[2].total;
    *tile = in_table(s);
    if ((why = fix(s, tile)))
        return why;
    tile->num_zb = (int)((nz + tile->zb - 1) / tile->zb);
    tile->zb = (int)((nz + tile->num_zb - 1) / tile->num_zb);
    if (tile->num_zb > 1)
        tile->zb = (tile->zb + 3) / 4 * 4; /* ghosts are fetched as vectors of four words */
    if (tile->num_zb > 1 && half > 1 && tile->variable && !kernel_part(&s->options, "variable"))
        tile->variable = 1; /* or registers spill */
    if (!tile->fewest)
        tile->fewest = tile->levels < fewest[half - 1] ? tile->levels : fewest[half - 1];
    if (half % tile->step || 2 * tile->step < half)
        return "step does not divide half the order or is less than half of it";
    if (tile->num_zb > MAX_NUM_ZB || nz - (int64_t)(tile->num_zb - 1) * tile->zb < 2 * half)
        return "z has too many nodes, or too few are left for the last block";
    for (int side = 0; side < 2; side++)
        if (tile->num_zb > 1 && fd_tables(s)->axis[2].matched[side] + half >=
                                    (side ? nz - (tile->num_zb - 1) * (int64_t)tile->zb : tile->zb))
            return "a matched layer along z reaches beyond a block";
    if (tile->num_zb > 1 && tile->zb < LEAST_CUT)
        return "z is cut into blocks of 32 cells or fewer";
    int64_t bytes = shared_words(tile, half) * s->real_bytes;
    tile->shared_bytes = bytes < INT32_MAX ? (int)bytes : INT32_MAX;
    /* what tiles read and write beside the grid */
    t->streamed.reach = diamond_reach(tile);
    t->pad_x = 2 * t->streamed.reach + half;
    t->pad_y = t->pad_x + half + 1;
    t->pad_z = half + 1;
    return NULL;
}

/* Towers of a stage. */
int64_t diamond_rows(const unda_solver *s, const struct diamond_tile *tile)
{
    int64_t width = tile->step * tile->dts;
    return (fd_tables(s)->axis[0].total - 1 + width) / (2 * width) + 1;
}

struct fd_range diamond_own_rows(const unda_solver *s, const struct diamond_tile *tile)
{
    const struct fd *fd = fd_tables(s);
    int64_t width = 2 * diamond_reach(tile), first = fd->begin / width;
    int64_t end = fd_cut(fd, 1) ? fd->end / width : diamond_rows(s, tile);
    return (struct fd_range){first, end - first};
}

/* Where "auto" takes the kernel. Towers of a stage do not wait for each other, so one with a block for each
 * SM keeps the device busy; a tower is long against its way into the grid and out, and the lag of the next
 * stage; most threads have a cell. Order 8, one c: 260 Gcell/s by count in long rows of y, 190 to 220 in rows
 * of 1152, steps one by one 241. Measured on Hopper, whose blocks have the shared memory. Where z is in more
 * than two blocks: 1152 x 1152 x 1152, orders 2 to 8, one c, 762, 441, 326, 188 (steps one by one 315, 297,
 * 269, 242), with layers 514, 305, 190 (272, 253, 220); layers and c of each node, 552 x 552 x 552, order 4,
 * 178 (176). */
bool diamond_pays(const unda_solver *s, const struct scalar_cuda *t)
{
    const struct diamond_tile *tile = &t->diamond.tile;
    enum { NUM_SM = 132, LEAST_LEVELS = 128, LONG = 1024, HOPPER = 90 };
    int half = fd_tables(s)->half, given = kernel_part(&s->options, "zb");
    int zb = given ? given : in_table(s).zb;
    int least = half == MAX_DIAMOND_HALF ? LONG : LEAST_LEVELS;
    bool plain = fd_tables(s)->uniform && s->real_bytes == 4, layers = fd_has_layers(fd_tables(s));
    if (fd_is_matched(
            fd_tables(s))) /* a tenth to a quarter of its rate without layers (benchmarks/NOTES.md) */
        return false;
    if (diamond_rows(s, tile) * tile->num_zb < NUM_SM || fd_tables(s)->axis[1].total < least * half ||
        2 * tile->zb < zb || (half == MAX_DIAMOND_HALF && (!plain || tile->num_zb > 1)) ||
        (tile->num_zb > 2 &&
         (s->real_bytes == 8 || (half > 2 && !plain) || (layers && (half > 2 || !plain)))))
        return false;
    unda_device_info info = {.size_bytes = sizeof info};
    return unda_device_get_info(s->options.device, &info) != UNDA_OK || /* a forecast without a device */
           (info.compute_capability >= HOPPER && info.shared_bytes >= tile->shared_bytes &&
            info.num_sm >= tile->num_zb);
}

/* Rows of y that a tile reaches beyond its middle; each stage of towers is as far behind the previous one. */
int64_t diamond_reach(const struct diamond_tile *tile)
{
    return tile->step * tile->dts;
}

int64_t diamond_stages(const unda_solver *s, const struct diamond_tile *tile, int64_t levels)
{
    int64_t width = diamond_reach(tile), half = fd_tables(s)->half;
    return (fd_tables(s)->axis[1].total - half + width + half * levels + width - 1) / width;
}

/* SMs that towers may occupy: those of the plan, at least the blocks of one tower. */
int diamond_sms(const unda_solver *s, const struct diamond *d)
{
    int num = gpu_info(fd_cuda(s)->gpu)->num_sm, wanted = kernel_part(&s->options, "sms");
    num = wanted && wanted < num ? wanted : num;
    return num < d->tile.num_zb ? d->tile.num_zb : num;
}
