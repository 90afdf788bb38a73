/* lines.c: the terms of all point sources row by row, for the CPU: a source adds to nodes that lie side by side along z, a
 * line, so that a row has the lines of its sources, in the order of sources, in which each node's sum is taken; weights are
 * read one after the other, and nothing is sorted by node. Not here: adding them (cpu_inject.c), by node (terms.c). */
#include "cpu.h"
#include "plane_pairs.h"

#include <string.h>

struct listing {
    const unda_solver *s;
    struct fd_reached reached;
    struct fd_lines *lines;
    struct fd_span own; /* planes that are listed */
    int64_t num_line, num_weight;
};

static void put_line(const unda_solver *s, const struct fd_lines *l, const struct fd_row_lines *row,
                     struct fd_line line, const struct fd_pair *pair)
{
    int64_t to = row->weight + row->num_weight;
    l->line[row->line + row->num_line] = line;
    if (s->real_bytes == 4)
        for (int32_t k = 0; k < line.num; k++)
            ((float *)l->weight)[to + k] = (float)pair[k].weight;
    else
        for (int32_t k = 0; k < line.num; k++)
            ((double *)l->weight)[to + k] = pair[k].weight;
}

/* Counts lines and weights of rows of plane x; put: stores them, too, where the row's begin. */
static void put_lines(const struct listing *o, int64_t x, const struct fd_plane *w, bool put)
{
    const unda_solver *s = o->s;
    const struct fd *fd = fd_tables(s);
    struct fd_lines *l = o->lines;
    int64_t num_z = fd->axis[2].total, num_source = o->reached.first[x + 1] - o->reached.first[x];
    for (int64_t n = 0, i = 0; n < num_source; n++)
        while (i < w->end[n]) {
            const struct fd_pair *pair = w->pair + i;
            int64_t y = pair->node / num_z, z = pair->node - y * num_z, most = w->end[n] - i, num = 1;
            struct fd_row_lines *row = &l->row[y];
            most = most < num_z - z ? most : num_z - z;
            while (num < most && pair[num].node == pair->node + num)
                num++;
            if (put)
                put_line(
                    s, l, row,
                    (struct fd_line){o->reached.source[o->reached.first[x] + n], (int32_t)z, (int32_t)num},
                    pair);
            row->num_line++;
            row->num_weight += num;
            i += num;
        }
}

static bool is_own(const struct listing *o, int64_t x)
{
    return x >= o->own.begin && x < o->own.end;
}

static void count_plane(void *of, int64_t x, const struct fd_plane *w)
{
    if (is_own(of, x))
        put_lines(of, x, w, false);
}

/* The lines of planes stand one after the other, without gaps: most of the room for them is not touched. */
static void place_plane(void *of, int64_t x)
{
    struct listing *o = of;
    int64_t num_y = fd_tables(o->s)->axis[1].total;
    struct fd_row_lines *rows = o->lines->row + x * num_y;
    for (int64_t y = 0; y < num_y; y++) {
        rows[y].line = o->num_line;
        rows[y].weight = o->num_weight;
        o->num_line += rows[y].num_line;
        o->num_weight += rows[y].num_weight;
        rows[y].num_line = rows[y].num_weight = 0;
    }
}

static void put_plane(void *of, int64_t x, const struct fd_plane *w)
{
    if (is_own(of, x))
        put_lines(of, x, w, true);
}

/* Whether a source drives fields e and f alike: by one tap each, of the same weights and one gain. */
static bool drives_alike(const struct fd *fd, const struct fd_source *source, int e, int f)
{
    int32_t num = source->first[e + 1] - source->first[e];
    if (num != source->first[f + 1] - source->first[f] || num == 0)
        return num == 0 && source->first[f + 1] == source->first[f];
    const struct fd_tap *one = &source->tap[source->first[e]], *other = &source->tap[source->first[f]];
    return !source->pair && num == 1 && fd_is_alike(fd, one) && fd_is_alike(fd, other) &&
           memcmp(one->product.node, other->product.node, sizeof one->product.node) == 0 &&
           memcmp(one->product.weight, other->product.weight, sizeof one->product.weight) == 0 &&
           fd_uniform_gain(fd, e, one->rates) == fd_uniform_gain(fd, f, other->rates);
}

bool fd_lines_alike(const unda_solver *s, int e, int f)
{
    bool alike = true;
    for (int32_t i = 0; i < s->num_source && alike; i++)
        alike = drives_alike(fd_tables(s), s->sources[i], e, f);
    return alike;
}

unda_status fd_lines_new(unda_solver *s, int f, void **owner, struct fd_lines *l)
{
    const struct fd *fd = fd_tables(s);
    OWNER void *scratch = NULL;
    struct listing o = {.s = fd_whole(s), .lines = l, .own = fd_planes_of(fd)};
    *l = (struct fd_lines){0};
    TRY(fd_reached_new(fd_tables(o.s), f, o.s->num_source, o.s->sources, &scratch, &o.reached));
    int64_t num_x = fd->axis[0].total, num = o.reached.term[num_x];
    if (num == 0)
        return UNDA_OK;
    TRY(array_own(owner, &l->row, num_x * fd->axis[1].total, sizeof *l->row, "sources"));
    TRY(array_own(owner, &l->line, num, sizeof *l->line, "sources"));
    TRY(array_own(owner, &l->weight, num, s->real_bytes, "sources"));
    return fd_each_plane(fd_whole(s), f, &o.reached,
                         &(struct fd_plane_taker){count_plane, place_plane, put_plane, &o});
}
