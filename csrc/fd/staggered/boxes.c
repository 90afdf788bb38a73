/* boxes.c: blocks of the staggered schemes' kernels, and the boxes of the grid that they cover:
 * the interior, and layers and walls, which have kernels of their own (cuda/fd/staggered/staggered.cu). Not here:
 * launches (staggered/launch.c). */
#include "boxes.h"

/* Blocks that together have at least `all` of these threads. */
static int share(int all, int threads)
{
    enum { MOST = 16 };
    int blocks = all / threads;
    return blocks < 1 ? 1 : blocks > MOST ? MOST : blocks;
}

/* 8 bytes a thread: so few places that their planes stay in L1 until they are differenced along y and z.
 * Blocks of 128 threads wait for each other less than larger ones; as many blocks an SM as registers
 * allow, which hold 2 M planes (benchmarks/NOTES.md). */
struct staggered_tile staggered_choose_tile(const unda_solver *s)
{
    enum { THREADS = 128 };
    const unda_solver_options *o = &s->options;
    int half = fd_tables(s)->half, num = fd_tables(s)->num_field, real = (int)s->real_bytes;
    bool few = (num <= 4 && half <= 4) || (num <= 6 && half <= 3 && real == 4);
    int all = few ? 768 : num <= 6 || half <= 3 ? 512 : 384; /* threads an SM */
    int width = kernel_part(o, "width");
    width = width ? width : half > 5 && num > 4 ? 1 : 8 / real;
    int64_t num_y = fd_tables(s)->axis[1].total;
    int lanes = kernel_part(o, "lanes") ? kernel_part(o, "lanes") : 32;
    int rows = kernel_part(o, "rows"), given = kernel_part(o, "blocks");
    rows = rows ? rows : THREADS / lanes < num_y ? THREADS / lanes : (int)num_y;
    int blocks = share(all, rows * lanes);
    struct staggered_tile tile = {rows, lanes, width, blocks, blocks};
    if (given && given != blocks)
        tile.blocks = tile.inside = given;
    else if (real == 4 && half <= (num == 6 ? 3 : 2)) /* benchmarks/NOTES.md */
        tile.inside = share(num <= 4 ? 1024 : num <= 6 ? 640 : 384, rows * lanes);
    return tile;
}

/* Planes over which a block marches: 8 M, so that the 2 M - 1 planes that neighbouring blocks load as well
 * are few, and neighbouring blocks still read the same rows at about the same time; half as many for
 * acoustic waves, twice as many for others where there are plenty of blocks (benchmarks/NOTES.md). Half of
 * that in layers, which have few places across, so that only planes can be shared out. */
int staggered_choose_planes(const unda_solver *s, enum staggered_part part)
{
    enum { PLENTY = 8192 };
    struct staggered_tile tile = staggered_choose_tile(s);
    int64_t num = fd_tables(s)->axis[0].total, given = kernel_part(&s->options, "planes"),
            planes = 8 * fd_tables(s)->half;
    int64_t across =
        fd_tables(s)->axis[1].total / tile.rows * (fd_tables(s)->axis[2].total / (tile.lanes * tile.width));
    if (fd_tables(s)->num_field <= 4)
        planes /= 2;
    else if (num / (2 * planes) * across >= PLENTY)
        planes *= 2;
    planes = given ? given : planes;
    planes = part == STAGGERED_INSIDE ? planes : (planes + 1) / 2;
    return (int)(planes < num ? planes : num);
}

/* Threads of a block along z: as few as cover a narrow box, more where rows of threads would be idle. */
static int choose_lanes(const struct staggered_tile *tile, int64_t num_y, int64_t num_z)
{
    int threads = tile->rows * tile->lanes, best = 1;
    double least = 0;
    while (best < tile->lanes && best * tile->width < num_z)
        best *= 2;
    best = best < tile->lanes ? best : tile->lanes;
    for (int lanes = best; lanes <= threads && lanes < 2 * num_z / tile->width; lanes *= 2) {
        int64_t rows = threads / lanes, places = lanes * tile->width;
        double across = (double)((num_z + places - 1) / places * places) / (double)num_z;
        double along = (double)((num_y + rows - 1) / rows * rows) / (double)num_y;
        if (least == 0 || across * along < 0.9 * least) {
            least = across * along;
            best = lanes;
        }
    }
    return best;
}

/* Adds a box if it is not empty; returns the number of boxes. Along z boxes consist of whole tiles,
 * counted from the beginning of the user's grid, which is aligned to 128 bytes. */
static int add_box(const unda_solver *s, const struct staggered_tile *tile, struct staggered_box *boxes,
                   int num, const int64_t begin[3], const int64_t end[3], int planes)
{
    struct staggered_box *box = &boxes[num];
    int64_t first = fd_tables(s)->axis[2].first;
    for (int a = 0; a < 3; a++) {
        box->begin[a] = (int)begin[a];
        box->end[a] = (int)end[a];
        if (begin[a] >= end[a])
            return num;
    }
    int lanes = choose_lanes(tile, end[1] - begin[1], end[2] - begin[2]);
    int64_t places = lanes * tile->width, rows = tile->lanes * tile->rows / lanes;
    if (begin[2] < first)
        box->begin[2] = (int)(first - (first - begin[2] + places - 1) / places * places);
    box->lanes = lanes;
    box->planes = planes;
    box->across = (int)((end[2] - box->begin[2] + places - 1) / places);
    box->along = (int)((end[1] - begin[1] + rows - 1) / rows);
    box->blocks = (int)(box->across * box->along * ((end[0] - begin[0] + planes - 1) / planes));
    return num + 1;
}

bool staggered_images(const struct fd *fd)
{
    return fd->axis[2].side[0] != SIDE_PERIODIC && fd->axis[2].total > 2 * fd->half + 12;
}

static bool any_pinned(const struct fd *fd, int a, int64_t i)
{
    for (int f = 0; f < fd->num_field; f++)
        if (fd_pinned(fd, f, a, i))
            return true;
    return false;
}

/* The user's places along an axis, or those outside layers: layers begin half a cell before their first
 * node, and a vector with places of both belongs to the layer. */
static void find_user(const unda_solver *s, const struct staggered_tile *tile, int a, int64_t *low,
                      int64_t *high)
{
    const struct fd_axis *axis = &fd_tables(s)->axis[a];
    int64_t whole = a == 2 ? tile->width : 1;
    *low = axis->first;
    *high = *low + axis->num;
    if (*high < axis->total)
        *high = *low + (axis->num - 1) / whole * whole;
}

/* Those of them that no wall of x or y holds at 0; none where images along z are ghosts. */
static void find_inside(const unda_solver *s, const struct staggered_tile *tile, int a, int64_t *low,
                        int64_t *high)
{
    const struct fd *fd = fd_tables(s);
    const struct fd_axis *axis = &fd->axis[a];
    int64_t last = axis->total - 1;
    find_user(s, tile, a, low, high);
    if (axis->side[0] == SIDE_PERIODIC)
        return;
    bool low_wall = *low == 0, high_wall = *high > last;
    int64_t end = *high;
    if (a < 2) {
        *low += low_wall && any_pinned(fd, a, 0);
        *high -= high_wall && any_pinned(fd, a, last);
    }
    if (*low >= *high || (a == 2 && (low_wall || high_wall) && !staggered_images(fd)))
        *low = *high = end;
}

void staggered_find_clear(const unda_solver *s, int clear[2])
{
    const struct fd_axis *axis = &fd_tables(s)->axis[2];
    bool walls = axis->side[0] != SIDE_PERIODIC;
    clear[0] = walls && axis->first == 0 ? fd_tables(s)->half : INT32_MIN;
    clear[1] =
        walls && axis->first + axis->num == axis->total ? (int)axis->total - fd_tables(s)->half : INT32_MAX;
}

/* The shell between two boxes: first everything beyond in x, then what is left beyond in y, then beyond in
 * z. What is left of the interior beside whole tiles has its own number of lanes. */
static int cut_whole(const unda_solver *s, const struct staggered_tile *tile, enum staggered_part part,
                     struct staggered_box box[STAGGERED_MAX_BOX / 2])
{
    int num = 0, planes = staggered_choose_planes(s, part);
    int64_t begin[3], end[3], low, high;
    for (int a = 0; a < 3; a++) {
        if (part == STAGGERED_WALLS)
            find_user(s, tile, a, &begin[a], &end[a]);
        else if (part == STAGGERED_INSIDE)
            find_inside(s, tile, a, &begin[a], &end[a]);
        else {
            begin[a] = 0;
            end[a] = fd_tables(s)->axis[a].total;
        }
    }
    for (int a = 0; a < 3 && part != STAGGERED_INSIDE; a++) {
        int64_t all = end[a];
        (part == STAGGERED_WALLS ? find_inside : find_user)(s, tile, a, &low, &high);
        end[a] = low;
        num = add_box(s, tile, box, num, begin, end, planes);
        begin[a] = high;
        end[a] = all;
        num = add_box(s, tile, box, num, begin, end, planes);
        begin[a] = low;
        end[a] = high;
    }
    if (part == STAGGERED_INSIDE) {
        int64_t places = tile->lanes * tile->width, all = end[2];
        end[2] = begin[2] + (all - begin[2]) / places * places;
        num = add_box(s, tile, box, num, begin, end, planes);
        begin[2] = end[2];
        end[2] = all;
        num = add_box(s, tile, box, num, begin, end, planes);
    }
    return num;
}

int staggered_cut(const unda_solver *s, const struct staggered_tile *tile, enum staggered_part part,
                  struct staggered_planes which, struct staggered_box box[STAGGERED_MAX_BOX])
{
    struct staggered_box whole[STAGGERED_MAX_BOX / 2];
    int num = 0, num_whole = cut_whole(s, tile, part, whole);
    for (int i = 0; i < which.num; i++)
        for (int k = 0; k < num_whole; k++) {
            struct staggered_box b = whole[k];
            b.begin[0] = b.begin[0] > which.span[i].begin ? b.begin[0] : (int)which.span[i].begin;
            b.end[0] = b.end[0] < which.span[i].end ? b.end[0] : (int)which.span[i].end;
            b.blocks = b.across * b.along * ((b.end[0] - b.begin[0] + b.planes - 1) / b.planes);
            if (b.begin[0] < b.end[0])
                box[num++] = b;
        }
    return num;
}
