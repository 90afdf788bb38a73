/* source_plane.c: what a source adds to the nodes of a plane of x: products of weights along the axes (row.c), over
 * the volume of a cell, times a gain, which the medium and the source's rates give. Sources whose rates differ by a
 * factor at most share the gains of a plane: each node's is computed once. Not here: sources (sources.c), planes of all (plane_pairs.c). */
#include "../base/parallel.h"
#include "plane_pairs.h"
#include "staggered/staggered.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* Nodes of a tap along each axis: those that have a weight, then, of a field half a cell on, those one on,
 * whose materials count, too. */
struct reach {
    int num[3], all[3];
    int32_t node[3][2 * POINT_WIDTH];
    double weight[3][POINT_WIDTH];
};

static void find_reach(const struct fd *fd, const struct fd_product *p, struct reach *r)
{
    for (int a = 0; a < 3; a++) {
        int num = 0;
        for (int i = 0; i < POINT_WIDTH; i++)
            if (p->weight[a][i] != 0) {
                r->weight[a][num] = p->weight[a][i];
                r->node[a][num++] = p->node[a][i];
            }
        r->num[a] = num;
        for (int i = 0; i < r->num[a] && fd->field[p->field].half[a]; i++)
            r->node[a][num++] = r->node[a][i] + 1 < fd->axis[a].total ? r->node[a][i] + 1 : 0;
        r->all[a] = num;
    }
}

/* The part of a tap's reach in plane x, and, of a field half a cell on, in the one behind; false: none. */
static bool find_plane(const struct fd *fd, const struct fd_product *p, int64_t x, struct reach *r)
{
    int at = 0;
    while (at < POINT_WIDTH && !(p->weight[0][at] != 0 && p->node[0][at] == x))
        at++;
    if (at == POINT_WIDTH)
        return false;
    find_reach(fd, p, r);
    r->weight[0][0] = p->weight[0][at];
    r->node[0][0] = (int32_t)x;
    r->node[0][1] = (int32_t)((x + 1) % fd->axis[0].total);
    r->num[0] = 1;
    r->all[0] = fd->field[p->field].half[0] ? 2 : 1;
    return true;
}

static int64_t num_weight(const double *weight)
{
    int64_t num = 0;
    for (int i = 0; i < POINT_WIDTH; i++)
        num += weight[i] != 0;
    return num;
}

void fd_source_count(const struct fd *fd, int f, const struct fd_source *source, int64_t *count)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total;
    for (int32_t n = source->first[f]; n < source->first[f + 1]; n++) {
        if (source->pair) {
            count[source->pair[n].node / plane]++;
            continue;
        }
        const struct fd_product *p = &source->tap[n].product;
        int64_t num = num_weight(p->weight[1]) * num_weight(p->weight[2]);
        for (int i = 0; i < POINT_WIDTH; i++)
            if (p->weight[0][i] != 0)
                count[p->node[0][i]] += num;
    }
}

/* Nodes one after the other along z, and the next one of a field half a cell on. */
static void take_rows(const struct fd *fd, const struct reach *r, int32_t z, int32_t num,
                      void (*take)(void *of, int64_t node, int64_t num), void *of)
{
    int64_t num_z = fd->axis[2].total;
    bool more = r->all[2] > r->num[2], around = more && z + num == num_z;
    for (int i = 0; i < r->all[0]; i++)
        for (int j = 0; j < r->all[1]; j++) {
            int64_t row = (r->node[0][i] * fd->axis[1].total + r->node[1][j]) * num_z;
            take(of, row + z, num + (more && !around));
            if (around)
                take(of, row, 1);
        }
}

void fd_source_each_material(const struct fd *fd, int f, const struct fd_source *source, int64_t x,
                             void (*take)(void *of, int64_t node, int64_t num), void *of)
{
    struct reach r;
    for (int32_t n = source->first[f]; n < source->first[f + 1] && !source->pair; n++)
        if (find_plane(fd, &source->tap[n].product, x, &r))
            for (int k = 0, num; k < r.num[2]; k += num) {
                for (num = 1; k + num < r.num[2] && r.node[2][k + num] == r.node[2][k] + num;)
                    num++;
                take_rows(fd, &r, r.node[2][k], num, take, of);
            }
}

/* ---- gains ---- */

bool fd_is_uniform(const struct fd *fd)
{
    bool same = true;
    for (int which = 0; which < fd->num_material; which++)
        same = same && !fd->varies[which];
    return same;
}

bool fd_is_alike(const struct fd *fd, const struct fd_tap *tap)
{
    return fd_is_uniform(fd) && !tap->beside;
}

double fd_uniform_gain(const struct fd *fd, int f, const double *rates)
{
    fd_corners material = {{0}};
    for (int i = 0; i < 8 * fd->num_material; i++)
        material[i % 8][i / 8] = fd->material_first[i / 8];
    return fd->scheme->gain(fd, (const double(*)[FD_MAX_MATERIAL])material, f, rates, 0);
}

/* What field f gains at node (x, y, z). */
static double find_gain(const struct fd *fd, int f, int64_t x, int64_t y, int64_t z,
                        const struct fd_plane_materials *m, const double *rates)
{
    const struct fd_axis *axis = fd->axis;
    const int *half = fd->field[f].half;
    int64_t next_y = y + 1 < axis[1].total ? y + 1 : 0, next_z = z + 1 < axis[2].total ? z + 1 : 0;
    int next_x = axis[0].total > 1; /* one plane follows itself, and is there once */
    int free = fd_free_node(&axis[0], x) | fd_free_node(&axis[1], y) << 1 | fd_free_node(&axis[2], z) << 2;
    int unused = ~(half[0] | half[1] << 1 | half[2] << 2);
    fd_corners material;
    for (int c = 0; c < 8; c++) {
        int64_t at = (c >> 1 & 1 ? next_y : y) * axis[2].total + (c >> 2 ? next_z : z);
        for (int which = 0; which < fd->num_material; which++)
            material[c][which] = c & unused          ? 0
                                 : fd->varies[which] ? m->value[which][c & next_x][at]
                                                     : fd->material_first[which];
    }
    return fd->scheme->gain(fd, (const double(*)[FD_MAX_MATERIAL])material, f, rates, free);
}

bool fd_rate_drives(const struct fd *fd, int rate, int f)
{
    bool stresses = fd->physics && fd->physics->stresses, normal = stresses && f >= 3 && f < 6;
    if (rate < fd->num_field)
        return rate == f || (normal && rate >= 3 && rate < 6);
    return stresses ? normal : f == 0;
}

/* The rates that drive field f. If they are all 0 or the same number, 1 in its place, and that number is returned: sources
 * of an array differ by it alone. */
static double take_scale(const struct fd *fd, int f, const double *rates, double unit[FD_MAX_RATE])
{
    double scale = 0;
    bool same = true;
    for (int i = 0; i < FD_MAX_RATE; i++) {
        unit[i] = fd_rate_drives(fd, i, f) ? rates[i] : 0;
        scale = scale != 0 ? scale : unit[i];
        same = same && (unit[i] == 0 || unit[i] == scale);
    }
    for (int i = 0; i < FD_MAX_RATE && same; i++)
        unit[i] = unit[i] != 0;
    return same && scale != 0 ? scale : 1;
}

/* From now on gains of field f are those of these rates in plane x: `scale` times those that are kept. */
static void choose_rates(const struct fd *fd, int f, int64_t x, const double *rates, struct fd_gains *g)
{
    double unit[FD_MAX_RATE];
    g->scale = take_scale(fd, f, rates, unit);
    if (fd_is_uniform(fd))
        g->uniform = fd_uniform_gain(fd, f, rates);
    if (g->number > 0 && g->x == x && memcmp(g->rates, unit, sizeof unit) == 0)
        return;
    memcpy(g->rates, unit, sizeof unit);
    g->x = x;
    g->number++;
}

/* Of the nodes of row y that r has; room: for as many. */
static inline const double *row_gains(const struct fd *fd, int f, int64_t y, const struct reach *r,
                                      bool is_run, const struct fd_plane *w, double *room)
{
    struct fd_gains *g = w->gains;
    int64_t row = y * fd->axis[2].total;
    const uint32_t *known = g->known + row + r->node[2][0];
    uint32_t other = 0;
    for (int k = 0; k < POINT_WIDTH && is_run; k++)
        other |= known[k] ^ g->number;
    if (is_run && other == 0)
        return g->gain + row + r->node[2][0];
    for (int k = 0; k < r->num[2]; k++) {
        int64_t at = row + r->node[2][k];
        if (g->known[at] != g->number) {
            g->gain[at] = find_gain(fd, f, g->x, y, r->node[2][k], &w->materials, g->rates);
            g->known[at] = g->number;
        }
        room[k] = g->gain[at];
    }
    return room;
}

/* ---- weights ---- */

/* What a tap adds to nodes of field f that r has, in one plane. */
CLONES static int64_t multiply(const struct fd *fd, int f, const struct fd_tap *tap, const struct reach *r,
                               const struct fd_plane *w, struct fd_pair *pair)
{
    const double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
    const bool alike = fd_is_alike(fd, tap);
    bool is_run = r->num[2] == POINT_WIDTH;
    double room[POINT_WIDTH] = {0}, along[POINT_WIDTH] = {0};
    int64_t num = 0;
    if (r->num[2] == 0)
        return 0;
    memcpy(along, r->weight[2], (size_t)r->num[2] * sizeof *along);
    choose_rates(fd, f, r->node[0][0], tap->rates, w->gains);
    const double scale = alike ? 1 : w->gains->scale;
    for (int k = 0; k < POINT_WIDTH && alike; k++)
        room[k] = w->gains->uniform;
    for (int k = 1; k < POINT_WIDTH && is_run; k++)
        is_run = r->node[2][k] == r->node[2][0] + k;
    for (int j = 0; j < r->num[1]; j++) {
        int64_t row = (r->node[0][0] * fd->axis[1].total + r->node[1][j]) * fd->axis[2].total;
        double line = r->weight[0][0] * r->weight[1][j], weight[POINT_WIDTH];
        const double *gain = alike ? room : row_gains(fd, f, r->node[1][j], r, is_run, w, room);
        for (int k = 0; k < POINT_WIDTH; k++)
            weight[k] = line * along[k] / volume * (scale * gain[k]);
        for (int k = 0; k < r->num[2]; k++) {
            pair[num] = (struct fd_pair){row + r->node[2][k], weight[k]};
            num += weight[k] != 0; /* else the source does not drive this field there */
        }
    }
    return num;
}

static int by_node(const void *a, const void *b)
{
    const struct fd_pair *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Each node once: several taps may reach it. */
static int64_t merge(struct fd_pair *pair, int64_t num)
{
    int64_t kept = 0;
    qsort(pair, (size_t)num, sizeof *pair, by_node);
    for (int64_t i = 0; i < num; i++)
        if (i > 0 && pair[i].node == pair[kept - 1].node)
            pair[kept - 1].weight += pair[i].weight;
        else
            pair[kept++] = pair[i];
    return kept;
}

/* Of a source node by node: those of plane x. */
static struct fd_range pairs_in(const struct fd *fd, int f, const struct fd_source *source, int64_t x)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total, ends[2];
    for (int end = 0; end < 2; end++) {
        int64_t low = source->first[f], high = source->first[f + 1];
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (source->pair[middle].node < (x + end) * plane)
                low = middle + 1;
            else
                high = middle;
        }
        ends[end] = low;
    }
    return (struct fd_range){ends[0], ends[1] - ends[0]};
}

int64_t fd_source_plane(const struct fd *fd, int f, const struct fd_source *source, int64_t x,
                        const struct fd_plane *w, struct fd_pair *pair)
{
    struct reach r;
    int64_t count = 0;
    if (source->pair) {
        struct fd_range own = pairs_in(fd, f, source, x);
        memcpy(pair, source->pair + own.first, (size_t)own.num * sizeof *pair);
        return own.num;
    }
    for (int32_t n = source->first[f]; n < source->first[f + 1]; n++)
        if (find_plane(fd, &source->tap[n].product, x, &r))
            count += multiply(fd, f, &source->tap[n], &r, w, pair + count);
    return source->first[f + 1] - source->first[f] > 1 ? merge(pair, count) : count;
}
