/* staggered_boxes.c: blocks of the staggered schemes' kernels, and the boxes of the grid that they cover: the
 * user's grid, and the layers around it, which have kernels of their own (cuda/fd/staggered.cu).
 * Not here: launches (staggered_cuda.c). */
#include "staggered_boxes.h"

/* 8 bytes a thread: so few places that their planes stay in L1 until they are differenced along y and z.
 * Blocks of 256 threads, as many an SM as the registers allow that hold 2 M planes (benchmarks/NOTES.md). */
struct staggered_tile staggered_choose_tile(const unda_solver *s)
{
    const int32_t *plan = s->options.plan;
    int half = s->fd->half, num = s->fd->num_field, real = (int)s->real_bytes;
    int threads = num > 6 && half > 3 ? 384 : 256;
    int blocks = num <= 4 && half <= 4 ? 3 : num <= 6 || half <= 3 ? 2 : 1;
    int width = plan[2] ? plan[2] : half > 5 && num > 4 ? 1 : 8 / real;
    int64_t num_y = s->fd->axis[1].total;
    int lanes = plan[4] ? plan[4] : 32;
    int64_t rows = plan[0] ? plan[0] : threads / lanes < num_y ? threads / lanes : num_y;
    return (struct staggered_tile){(int)rows, lanes, width, plan[3] ? plan[3] : blocks};
}

/* 8 M, so that the 2 M - 1 planes which other blocks load, too, are few, and blocks side by side still read
 * the same rows at about the same time. Half of it in layers: they have few places across, so that planes are
 * all that there is to share out. */
int staggered_choose_planes(const unda_solver *s, bool layers)
{
    int64_t num = s->fd->axis[0].total, given = s->options.plan[1];
    int64_t planes = given ? given : 8 * s->fd->half;
    planes = layers ? (planes + 1) / 2 : planes;
    return (int)(planes < num ? planes : num);
}

/* Threads of a block along z: as few as cover a narrow box, more where rows would be idle. */
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

/* Adds a box, if it has places; returns their number. Along z whole tiles from where the user's grid begins,
 * which is at 128 bytes. */
static int add_box(const unda_solver *s, const struct staggered_tile *tile, struct staggered_box *boxes,
                   int num, const int64_t begin[3], const int64_t end[3], int planes)
{
    struct staggered_box *box = &boxes[num];
    int64_t first = s->fd->axis[2].first;
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

/* Layers: beyond x all, beyond y what is left, then beyond z. */
int staggered_cut(const unda_solver *s, const struct staggered_tile *tile, bool layers,
                  struct staggered_box box[STAGGERED_MAX_BOX])
{
    const struct fd *fd = s->fd;
    int num = 0, planes = staggered_choose_planes(s, layers);
    int64_t begin[3] = {0, 0, 0}, end[3] = {fd->axis[0].total, fd->axis[1].total, fd->axis[2].total};
    for (int a = 0; a < 3; a++) {
        int64_t low = fd->axis[a].first, high = low + fd->axis[a].num, all = end[a];
        int64_t whole = a == 2 ? tile->width : 1; /* a vector with places of both is the layer's */
        if (high < all)                           /* which begins half a cell before its first node */
            high = low + (fd->axis[a].num - 1) / whole * whole;
        if (layers) {
            end[a] = low;
            num = add_box(s, tile, box, num, begin, end, planes);
            begin[a] = high;
            end[a] = all;
            num = add_box(s, tile, box, num, begin, end, planes);
        }
        begin[a] = low;
        end[a] = high;
    }
    if (!layers) { /* what whole tiles leave over has lanes of its own */
        int64_t places = tile->lanes * tile->width, all = end[2];
        end[2] = begin[2] + (all - begin[2]) / places * places;
        num = add_box(s, tile, box, num, begin, end, planes);
        begin[2] = end[2];
        end[2] = all;
        num = add_box(s, tile, box, num, begin, end, planes);
    }
    return num;
}
