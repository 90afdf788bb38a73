/* sources.c: point sources of finite differences. Injection is the transpose of sampling: a source has
 * the products of the rows (row.c) that a receiver of the fields that it drives would have, over the nodes'
 * volumes (half at rigid sides). So weights beyond a side go to the image, near a free or fixed side of an
 * elastic medium a source drives the values that a receiver there would use, and reciprocity is exact. The
 * weights of the nodes are multiplied out when they are needed: plane_pairs.c. */
#include "fd.h"

#include "../base/parallel.h"
#include "staggered/staggered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BATCH = 64 };

double fd_source_most(const void *source)
{
    return ((const struct fd_source *)source)->most;
}

/* ---- products of a source ---- */

/* Each rate drives its field; a volume, and strains beside fixed sides, what bears them: pressure, or all
 * normal stresses, of which each drives all where a fluid or a free side is. */
static bool drives(const struct fd *fd, const double *rates, int f)
{
    bool stresses = fd->physics && fd->physics->stresses, normal = stresses && f >= 3 && f < 6;
    bool any = rates[f] != 0;
    for (int i = 3; i < 6 && normal; i++)
        any = any || rates[i] != 0;
    int more = fd->scheme->num_rate_more + fd->scheme->num_rate_joined;
    for (int i = 0; i < more && (stresses ? normal : f == 0); i++)
        any = any || rates[fd->num_field + i] != 0;
    return any;
}

/* Some sources at once, so that engines are asked for the materials of many nodes together. */
struct batch {
    int64_t num;
    const double *places;
    double (*rates)[FD_MAX_RATE];
    struct fd_product *row; /* [field][part][source] */
};

static struct fd_product *product_of(const struct fd *fd, const struct batch *b, int64_t i, int f, int part)
{
    return &b->row[(f * fd_num_part(fd) + part) * b->num + i];
}

/* A node's weight along an axis over its part of the cell: half a cell at a rigid side; what is pinned stays
 * 0. */
static void fill_tap(const struct fd *fd, const struct fd_product *product, const double *rates,
                     struct fd_tap *tap)
{
    tap->product = *product;
    memcpy(tap->rates, rates, sizeof tap->rates);
    for (int i = 0; i < 3 * POINT_WIDTH; i++) {
        int a = i / POINT_WIDTH, at = i % POINT_WIDTH;
        double *weight = &tap->product.weight[a][at];
        double share = *weight != 0 ? fd_share(fd, product->field, a, product->node[a][at]) : 0;
        *weight = share > 0 ? *weight / share : 0;
    }
}

/* Lists in `tap`, unless that is NULL, what drives field f; returns how many there are. */
static int32_t list_taps(const struct fd *fd, const struct batch *b, int64_t i, int f, struct fd_tap *tap)
{
    const double *rates = b->rates[i];
    int32_t num = 0;
    if (drives(fd, rates, f)) {
        if (tap)
            fill_tap(fd, product_of(fd, b, i, f, 0), rates, tap);
        num++;
    }
    for (int from = 0; from < fd->num_field; from++)
        for (int n = 1; n < fd_num_part(fd) && rates[from] != 0; n++) {
            const struct fd_product *part = product_of(fd, b, i, from, n);
            double joined[FD_MAX_RATE] = {0};
            if (part->field < 0)
                continue;
            fd->physics->join(part->field, rates[from], joined);
            if (!drives(fd, joined, f))
                continue;
            if (tap)
                fill_tap(fd, part, joined, &tap[num]);
            num++;
        }
    return num;
}

static unda_status new_source(const struct fd *fd, const struct batch *b, int64_t i, void **out)
{
    struct fd_source *source;
    int32_t first[FD_MAX_FIELD + 1] = {0};
    for (int f = 0; f < FD_MAX_FIELD; f++)
        first[f + 1] = first[f] + (f < fd->num_field ? list_taps(fd, b, i, f, NULL) : 0);
    int64_t taps = first[FD_MAX_FIELD] * (int64_t)sizeof *source->tap;
    TRY(array_try(&source, 1, (int64_t)sizeof *source + taps, "source"));
    memcpy(source->first, first, sizeof first);
    for (int f = 0; f < fd->num_field; f++)
        list_taps(fd, b, i, f, source->tap + first[f]);
    *out = source;
    return UNDA_OK;
}

/* Sources `first` and so on of those that are given. */
static unda_status take_batch(unda_solver *s, struct batch *b, void **out, const unda_source *given,
                              int64_t first)
{
    const struct fd *fd = fd_tables(s);
    int num_rate = fd->num_field + fd->scheme->num_rate_more;
    b->places = given->places + 3 * first;
    for (int64_t i = 0; i < b->num; i++) {
        const double *rates = given->rates + (first + i) * num_rate;
        TRY(fd_inside(fd, b->places + 3 * i, "source", s->num_source + first + i));
        for (int k = 0; k < num_rate; k++) {
            if (!isfinite(rates[k]))
                FAIL(UNDA_ERR_ARG, "rate %d of the source is %g, expected a finite number", k, rates[k]);
            b->rates[i][k] = rates[k];
        }
    }
    for (int f = 0; f < fd->num_field; f++) {
        bool any = false;
        for (int64_t i = 0; i < b->num && !any; i++)
            any = drives(fd, b->rates[i], f);
        if (any)
            TRY(fd_rows(s, f, b->num, b->places, product_of(fd, b, 0, f, 0)));
    }
    for (int64_t i = 0; i < b->num; i++)
        TRY(new_source(fd, b, i, &out[first + i]));
    return UNDA_OK;
}

/* ---- weights of nodes ---- */

/* Nodes of a tap along each axis: those that have a weight, then, of a field half a cell on, those one on,
 * whose materials count, too. */
struct reach {
    int num[3], all[3];
    int32_t node[3][2 * POINT_WIDTH];
    double weight[3][POINT_WIDTH];
};

static int64_t find_reach(const struct fd *fd, const struct fd_product *p, struct reach *r)
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
    return (int64_t)r->all[0] * r->all[1] * r->all[2];
}

static int64_t list_reach(const struct fd *fd, const struct reach *r, int64_t *node)
{
    int64_t num = 0;
    for (int i = 0; i < r->all[0]; i++)
        for (int j = 0; j < r->all[1]; j++) {
            int64_t row = (r->node[0][i] * fd->axis[1].total + r->node[1][j]) * fd->axis[2].total;
            for (int k = 0; k < r->all[2]; k++)
                node[num++] = row + r->node[2][k];
        }
    return num;
}

/* Whether the materials are the same everywhere: then a gain depends on sides alone. */
static bool is_same(const struct fd *fd)
{
    bool same = true;
    for (int which = 0; which < fd->num_material; which++)
        same = same && !fd->varies[which];
    return same;
}

/* The same of a tap whose nodes all have one gain, by operations in the same order. */
CLONES static int64_t multiply_alike(const struct fd *fd, const struct reach *r, double volume, double gain,
                                     struct fd_pair *pair)
{
    int64_t num = 0;
    for (int i = 0; i < r->num[0]; i++)
        for (int j = 0; j < r->num[1]; j++) {
            int64_t row = (r->node[0][i] * fd->axis[1].total + r->node[1][j]) * fd->axis[2].total;
            double line = r->weight[0][i] * r->weight[1][j], weight[POINT_WIDTH];
            for (int k = 0; k < POINT_WIDTH; k++)
                weight[k] = line * (k < r->num[2] ? r->weight[2][k] : 0) / volume * gain;
            for (int k = 0; k < r->num[2]; k++) {
                pair[num] = (struct fd_pair){row + r->node[2][k], weight[k]};
                num += weight[k] != 0;
            }
        }
    return num;
}

/* What a tap adds to nodes of field f. values: of each material, `stride` apart, at all nodes of its reach, unless they
 * are the same everywhere. */
static int64_t multiply(const struct fd *fd, int f, const struct fd_tap *tap, const struct reach *r,
                        const double *values, int64_t stride, struct fd_pair *pair)
{
    const double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
    const int *half = fd->field[f].half;
    const int step[3] = {r->num[0] * r->all[1] * r->all[2], r->num[1] * r->all[2], r->num[2]};
    int64_t num = 0;
    int free[3][POINT_WIDTH], corner[8], offset[8], num_corner = 0;
    fd_corners material = {{0}};
    bool same = is_same(fd), known[8] = {false};
    double gain[8];
    for (int c = 0; c < 8; c++)
        for (int which = 0; which < fd->num_material && same; which++)
            material[c][which] = fd->material_first[which];
    for (int c = 0; c < 8; c++)
        if ((c & ~(half[0] | half[1] << 1 | half[2] << 2)) == 0) {
            offset[num_corner] = (c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2];
            corner[num_corner++] = c;
        }
    for (int i = 0; i < 3 * POINT_WIDTH; i++) {
        int a = i / POINT_WIDTH, at = i % POINT_WIDTH;
        free[a][at] = at < r->num[a] && fd_free_node(&fd->axis[a], r->node[a][at]) ? 1 << a : 0;
    }
    bool alike = same;
    for (int i = 0; i < 3 * POINT_WIDTH && alike; i++)
        alike = free[i / POINT_WIDTH][i % POINT_WIDTH] == 0;
    if (alike)
        return multiply_alike(
            fd, r, volume, fd->scheme->gain(fd, (const double(*)[FD_MAX_MATERIAL])material, f, tap->rates, 0),
            pair);
    for (int i = 0; i < r->num[0]; i++)
        for (int j = 0; j < r->num[1]; j++) {
            int64_t row = (r->node[0][i] * fd->axis[1].total + r->node[1][j]) * fd->axis[2].total;
            const double *at = same ? NULL : values + (i * r->all[1] + j) * r->all[2];
            for (int k = 0; k < r->num[2]; k++) {
                double weight = r->weight[0][i] * r->weight[1][j] * r->weight[2][k] / volume;
                int sides = free[0][i] | free[1][j] | free[2][k];
                for (int c = 0; c < num_corner && !same; c++)
                    for (int which = 0; which < fd->num_material; which++)
                        material[corner[c]][which] = at[which * stride + offset[c] + k];
                if (!same || !known[sides])
                    gain[sides] = fd->scheme->gain(fd, (const double(*)[FD_MAX_MATERIAL])material, f,
                                                   tap->rates, sides);
                known[sides] = true;
                weight *= gain[sides];
                if (weight != 0) /* else the source does not drive this field there */
                    pair[num++] = (struct fd_pair){row + r->node[2][k], weight};
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

/* At most so many nodes are asked for their materials at once. A source drives a field through its own row
 * and those of all fields that are joined to it; the materials of a field are at 4 POINT_NODES at most. */
enum { MAX_TAP = FD_MAX_FIELD * (FD_MAX_PART - 1) + 1, MAX_REACH = 1 << 16 };
_Static_assert(MAX_TAP * 4 * POINT_NODES <= MAX_REACH, "a source takes the materials of more nodes");

struct work {
    int64_t room;
    int64_t *node; /* [room] */
    double *value; /* [material][room] */
    struct fd_pair *pair;
};

static int64_t source_reach(const struct fd *fd, int f, const struct fd_source *source)
{
    struct reach reach;
    int64_t count = 0;
    for (int32_t i = source->first[f]; i < source->first[f + 1] && !source->pair; i++)
        count += find_reach(fd, &source->tap[i].product, &reach);
    return count;
}

/* Of sources first .. *end - 1 of the list, as many as there is room for. */
static unda_status gather_materials(unda_solver *s, int f, int64_t first, int64_t num, void *const *sources,
                                    const struct work *w, int64_t *end)
{
    const struct fd *fd = fd_tables(s);
    struct reach reach;
    int64_t count = 0;
    for (*end = first; *end < num && count + source_reach(fd, f, sources[*end]) <= w->room; ++*end) {
        const struct fd_source *source = sources[*end];
        for (int32_t i = source->first[f]; i < source->first[f + 1] && fd->num_material && !source->pair;
             i++) {
            find_reach(fd, &source->tap[i].product, &reach);
            count += list_reach(fd, &reach, w->node + count);
        }
    }
    for (int which = 0; which < fd->num_material && count; which++) {
        double *value = w->value + which * w->room;
        if (fd->varies[which])
            TRY(fd_engine(s)->gather(s, FD_MATERIAL + which, count, w->node, value));
        for (int64_t i = 0; i < count && !fd->varies[which]; i++)
            value[i] = fd->material_first[which];
    }
    return UNDA_OK;
}

unda_status fd_source_pairs(unda_solver *s, int f, int64_t num, void *const *sources, fd_take take, void *of)
{
    const struct fd *fd = fd_tables(s);
    struct work w = {.room = 0};
    OWNER void *owned = NULL;
    struct reach reach;
    for (int64_t i = 0; i < num && w.room < MAX_REACH; i++)
        w.room += source_reach(fd, f, sources[i]);
    w.room = w.room < MAX_REACH ? w.room : MAX_REACH;
    TRY(array_own(&owned, &w.node, w.room, sizeof *w.node, "sources"));
    TRY(array_own(&owned, &w.value, fd->num_material * w.room, sizeof *w.value, "sources"));
    TRY(array_own(&owned, &w.pair, w.room ? MAX_TAP * POINT_NODES : 0, sizeof *w.pair, "sources"));
    for (int64_t first = 0, end; first < num; first = end) {
        TRY(gather_materials(s, f, first, num, sources, &w, &end));
        const double *value = w.value;
        for (int64_t i = first; i < end; i++) {
            const struct fd_source *source = sources[i];
            int64_t count = 0;
            if (source->pair) {
                count = source->first[f + 1] - source->first[f];
                if (count)
                    TRY(take(of, i, count, source->pair + source->first[f]));
                continue;
            }
            for (int32_t n = source->first[f]; n < source->first[f + 1]; n++) {
                int64_t all = find_reach(fd, &source->tap[n].product, &reach);
                count += multiply(fd, f, &source->tap[n], &reach, value, w.room, w.pair + count);
                value += all;
            }
            if (source->first[f + 1] - source->first[f] > 1)
                count = merge(w.pair, count);
            if (count)
                TRY(take(of, i, count, w.pair));
        }
    }
    return UNDA_OK;
}

/* ---- plane by plane ---- */

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

int64_t fd_source_plane(const struct fd *fd, int f, const struct fd_source *source, int64_t x,
                        const struct fd_plane_materials *materials, struct fd_pair *pair)
{
    enum { MOST = 2 * 4 * POINT_WIDTH * POINT_WIDTH };
    double value[FD_MAX_MATERIAL][MOST];
    struct reach r;
    int64_t count = 0;
    if (source->pair) {
        struct fd_range own = pairs_in(fd, f, source, x);
        memcpy(pair, source->pair + own.first, (size_t)own.num * sizeof *pair);
        return own.num;
    }
    for (int32_t n = source->first[f]; n < source->first[f + 1]; n++) {
        if (!find_plane(fd, &source->tap[n].product, x, &r))
            continue;
        for (int which = 0; which < fd->num_material && !is_same(fd); which++)
            for (int i = 0, at = 0; i < r.all[0]; i++)
                for (int j = 0; j < r.all[1]; j++)
                    for (int k = 0; k < r.all[2]; k++, at++)
                        value[which][at] =
                            fd->varies[which]
                                ? materials->value[which][i][r.node[1][j] * fd->axis[2].total + r.node[2][k]]
                                : fd->material_first[which];
        count += multiply(fd, f, &source->tap[n], &r, value[0], MOST, pair + count);
    }
    return source->first[f + 1] - source->first[f] > 1 ? merge(pair, count) : count;
}

/* ---- all that are given ---- */

struct given {
    const struct fd *fd;
    void **sources;
};

static unda_status take_most(void *of, int64_t i, int64_t num, const struct fd_pair *pair)
{
    const struct given *given = of;
    struct fd_source *source = given->sources[i];
    double most = 0;
    for (int64_t k = 0; k < num; k++)
        most = fabs(pair[k].weight) > most ? fabs(pair[k].weight) : most;
    source->drives = true;
    source->most = fmax(source->most, most);
    return fd_check_range(given->fd, "what a unit of the source adds to fields", 1, &most);
}

/* ---- sources node by node ---- */

/* The place of one of the user's nodes. */
static int64_t place_of(const struct fd *fd, int64_t node)
{
    const struct fd_axis *axis = fd->axis;
    int64_t x = node / axis[2].num / axis[1].num, y = node / axis[2].num % axis[1].num;
    return ((x + axis[0].first) * axis[1].total + y + axis[1].first) * axis[2].total + node % axis[2].num +
           axis[2].first;
}

static unda_status check_node(const struct fd *fd, const unda_source *given, int64_t first, int64_t i)
{
    int64_t num = fd->axis[0].num * fd->axis[1].num * fd->axis[2].num;
    int32_t f = given->field[i];
    if (f < 0 || f >= fd->num_field || given->node[i] < 0 || given->node[i] >= num ||
        !isfinite(given->weight[i]))
        FAIL(UNDA_ERR_ARG,
             "node[%lld] of the source is %lld, its field %d, its weight %g, expected 0..%lld, 0..%d, a "
             "finite "
             "number",
             (long long)i, (long long)given->node[i], f, given->weight[i], (long long)num - 1,
             fd->num_field - 1);
    if (i > first &&
        (f < given->field[i - 1] || (f == given->field[i - 1] && given->node[i] <= given->node[i - 1])))
        FAIL(UNDA_ERR_ARG,
             "node[%lld] of the source is %lld of field %d, after node %lld of field %d; expected ascending "
             "fields, and nodes in each",
             (long long)i, (long long)given->node[i], f, (long long)given->node[i - 1], given->field[i - 1]);
    return UNDA_OK;
}

/* Cells [first, end) of those given. */
static unda_status new_pairs(const struct fd *fd, const unda_source *given, int64_t first, int64_t end,
                             void **out)
{
    struct fd_source *source;
    int64_t num = end - first;
    for (int64_t i = first; i < end; i++)
        TRY(check_node(fd, given, first, i));
    TRY(array_try(&source, 1, (int64_t)sizeof *source + num * (int64_t)sizeof *source->pair, "source"));
    *out = source;
    source->pair = (struct fd_pair *)(source + 1);
    source->drives = true;
    for (int64_t i = first; i < end; i++) {
        source->first[given->field[i] + 1] = (int32_t)(i - first + 1);
        source->pair[i - first] = (struct fd_pair){place_of(fd, given->node[i]), given->weight[i]};
        source->most = fmax(source->most, fabs(given->weight[i]));
    }
    for (int f = 0; f < FD_MAX_FIELD; f++)
        source->first[f + 1] =
            source->first[f + 1] > source->first[f] ? source->first[f + 1] : source->first[f];
    return source->most == 0
               ? UNDA_OK
               : fd_check_range(fd, "what a unit of the source adds to fields", 1, &source->most);
}

static unda_status new_nodes(unda_solver *s, void **out, const unda_source *given)
{
    for (int64_t i = 0; i < source_count(given); i++)
        TRY(new_pairs(fd_tables(s), given, given->first ? given->first[i] : 0,
                      given->first ? given->first[i + 1] : given->num_cell, &out[i]));
    return UNDA_OK;
}

/* The most that a source of one tap adds to a node where all have one gain: the largest weights give it, to the bit, since
 * rounding keeps the order of numbers. false: they do not. */
static bool find_most(const struct fd *fd, int f, const struct fd_source *source, double *most)
{
    const double volume = fd->axis[0].h * fd->axis[1].h * fd->axis[2].h;
    const struct fd_tap *tap = &source->tap[source->first[f]];
    double largest[3] = {0};
    fd_corners material = {{0}};
    if (source->pair || source->first[f + 1] - source->first[f] != 1 || !is_same(fd))
        return false;
    for (int i = 0; i < 3 * POINT_WIDTH; i++) {
        int a = i / POINT_WIDTH, at = i % POINT_WIDTH;
        if (tap->product.weight[a][at] != 0 && fd_free_node(&fd->axis[a], tap->product.node[a][at]))
            return false;
        largest[a] = fmax(largest[a], fabs(tap->product.weight[a][at]));
    }
    for (int i = 0; i < 8 * fd->num_material; i++)
        material[i % 8][i / 8] = fd->material_first[i / 8];
    double gain = fd->scheme->gain(fd, (const double(*)[FD_MAX_MATERIAL])material, f, tap->rates, 0);
    *most = largest[0] * largest[1] * largest[2] / volume * fabs(gain);
    return true;
}

/* What sources add to field f at most. */
static unda_status check_field(unda_solver *s, int f, int64_t num, void **sources)
{
    const struct fd *fd = fd_tables(s);
    SCRATCH void **rest = NULL;
    int64_t num_rest = 0;
    TRY(array_try(&rest, num, sizeof *rest, "sources"));
    for (int64_t i = 0; i < num; i++) {
        struct fd_pair largest = {0};
        if (!find_most(fd, f, sources[i], &largest.weight))
            rest[num_rest++] = sources[i];
        else if (largest.weight > 0)
            TRY(take_most(&(struct given){fd, sources}, i, 1, &largest));
    }
    return fd_source_pairs(s, f, num_rest, rest, take_most, &(struct given){fd, rest});
}

static unda_status check_sources(unda_solver *s, void **sources, const unda_source *given)
{
    int64_t num = source_count(given);
    for (int f = 0; f < fd_tables(s)->num_field; f++)
        TRY(check_field(s, f, num, sources));
    for (int64_t i = 0; i < num; i++) {
        const double *x = given->places + 3 * i;
        const struct fd_source *source = sources[i];
        if (source->first[FD_MAX_FIELD] && !source->drives)
            FAIL(UNDA_ERR_ARG, "the source at (%g, %g, %g) m stands on a side that holds what it drives at 0",
                 x[0], x[1], x[2]);
    }
    return UNDA_OK;
}

unda_status fd_sources_new(unda_solver *s, void **out, const unda_source *given)
{
    const struct fd *fd = fd_tables(s);
    int64_t num = source_count(given), room = num < MAX_BATCH ? num : MAX_BATCH;
    SCRATCH double(*rates)[FD_MAX_RATE] = NULL;
    SCRATCH struct fd_product *row = NULL;
    if (given->node)
        return new_nodes(s, out, given);
    if (given->num_cell != num)
        FAIL(UNDA_ERR_ARG, "num_cell of the source is %lld, expected 1 on a grid",
             (long long)given->num_cell);
    TRY(fd_need_material(s));
    TRY(array_try(&rates, room, sizeof *rates, "sources"));
    TRY(array_try(&row, room * fd->num_field * fd_num_part(fd), sizeof *row, "sources"));
    for (int64_t i = 0; i < num; i += room) {
        struct batch b = {num - i < room ? num - i : room, NULL, rates, row};
        TRY(take_batch(s, &b, out, given, i));
    }
    return check_sources(s, out, given);
}
