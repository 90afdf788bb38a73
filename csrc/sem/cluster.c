/* cluster.c: which elements of a region make a tile: blocks of 2 x 2 x 2 cells, or the like, of which the fewest
 * nodes are shared. Cells get integer coordinates by walking from face to face, as if the mesh were a grid; where it
 * is not one, whoever comes first decides, and a tile is only smaller. */
#include "tiles.h"

#include <math.h>
#include <string.h>

/* Cells of one walk; a local axis a points along the global axis[a], in the direction of sign[a]. */
struct frame {
    int32_t at[3], walk;
    int8_t axis[3], sign[3];
};

struct walk {
    const struct sem *sem;
    int region;
    struct frame *frame;             /* [row of the region]; walk -1: not seen */
    int32_t *queue;                  /* [row] */
    int32_t (*least)[3], (*most)[3]; /* [walk]: coordinates */
};

/* The axis, and in *sign the direction, that leads from one node of an element to the next one. */
static int axis_of(int n, int32_t from, int32_t to, int *sign)
{
    int32_t step = to - from, size = step < 0 ? -step : step;
    *sign = step < 0 ? -1 : 1;
    return size == 1 ? 0 : size == n ? 1 : 2;
}

/* The frame of the cell behind a face, whose own face `to` lists its nodes with this turn. */
static struct frame step_over(const struct walk *w, const struct frame *f, int face, int to, int turn)
{
    const struct space *space = &w->sem->space;
    int n = space->element->degree + 1, side = to + 6 * turn;
    const int32_t *here = space->element->face_node + (int64_t)face * space->num_face_node;
    const int32_t *there = space->element->face_node + (int64_t)side * space->num_face_node;
    struct frame next = *f;
    int out = face % 2 ? 1 : -1;
    next.at[f->axis[face / 2]] += out * f->sign[face / 2];
    next.axis[to / 2] = f->axis[face / 2];
    next.sign[to / 2] = (int8_t)(f->sign[face / 2] * out * (to % 2 ? -1 : 1));
    for (int along = 1; along <= n; along += n - 1) { /* both axes of the face */
        int sign, other_sign;
        int axis = axis_of(n, here[0], here[along], &sign),
            other = axis_of(n, there[0], there[along], &other_sign);
        next.axis[other] = f->axis[axis];
        next.sign[other] = (int8_t)(f->sign[axis] * sign * other_sign);
    }
    return next;
}

static void walk_from(struct walk *w, int32_t row, int32_t number)
{
    const struct sem *sem = w->sem;
    const struct sem_region *r = &sem->region[w->region];
    int64_t done = 0, num = 0;
    w->frame[row] = (struct frame){.walk = number, .axis = {0, 1, 2}, .sign = {1, 1, 1}};
    w->queue[num++] = row;
    memset(w->least[number], 0, sizeof w->least[number]);
    memset(w->most[number], 0, sizeof w->most[number]);
    while (done < num) {
        int32_t now = w->queue[done++];
        for (int face = 0; face < 6; face++) {
            int64_t at = 6 * (int64_t)r->elem[now] + face;
            int32_t neighbor = sem->mesh->neighbor[at];
            if (neighbor < 0 || sem->kind[neighbor / 6] != w->region)
                continue;
            int32_t next = sem->row[neighbor / 6];
            if (w->frame[next].walk >= 0)
                continue;
            w->frame[next] = step_over(w, &w->frame[now], face, neighbor % 6, sem->mesh->turn[at]);
            for (int i = 0; i < 3; i++) {
                int32_t at = w->frame[next].at[i];
                w->least[number][i] = at < w->least[number][i] ? at : w->least[number][i];
                w->most[number][i] = at > w->most[number][i] ? at : w->most[number][i];
            }
            w->queue[num++] = next;
        }
    }
}

/* ---- tiles by coordinates ---- */

struct slot {
    int32_t key[4], tile; /* tile + 1 */
};

static uint64_t hash_of(const int32_t key[4])
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < 4; i++)
        hash = (hash ^ (uint32_t)key[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Edges of a tile, longest first: of all that have room for so many cells the one with the least surface a cell, the
 * largest of several. */
static void find_shape(int cells, int shape[3])
{
    double least = INFINITY;
    shape[0] = shape[1] = shape[2] = 1;
    for (int c = 1; c * c * c <= cells; c++)
        for (int b = c; b * b * c <= cells; b++)
            for (int a = b; a * b * c <= cells; a++) {
                double surface = 1.0 / a + 1.0 / b + 1.0 / c;
                if (surface >= least)
                    continue;
                least = surface;
                shape[0] = a;
                shape[1] = b;
                shape[2] = c;
            }
}

/* Edges of the tiles of a walk: as they lie, fewest tiles are enough. */
static void turn_shape(const struct walk *w, int32_t walk, const int shape[3], int turned[3])
{
    double least = INFINITY;
    for (int turn = 0; turn < 3; turn++) {
        double num = 1;
        for (int i = 0; i < 3; i++)
            num *= ceil((w->most[walk][i] - w->least[walk][i] + 1.0) / shape[(i + turn) % 3]);
        if (num >= least)
            continue;
        least = num;
        for (int i = 0; i < 3; i++)
            turned[i] = shape[(i + turn) % 3];
    }
}

static unda_status group(const struct walk *w, struct sem_tiles *t)
{
    int shape[3], turned[3] = {1, 1, 1};
    int32_t walk = -1;
    uint64_t room = 1;
    SCRATCH struct slot *table = NULL;
    SCRATCH uint8_t *count = NULL;
    find_shape(t->cells, shape);
    while (room < 2 * (uint64_t)t->num_elem)
        room *= 2;
    TRY(array_try(&table, (int64_t)room, sizeof *table, "tiles"));
    TRY(array_try(&count, t->num_elem, sizeof *count, "tiles"));
    for (int64_t row = 0; row < t->num_elem; row++) {
        const struct frame *f = &w->frame[row];
        int32_t key[4] = {f->walk}, cell = 0;
        if (f->walk != walk)
            turn_shape(w, f->walk, shape, turned);
        walk = f->walk;
        for (int i = 2; i >= 0; i--) {
            int32_t at = f->at[i] - w->least[f->walk][i];
            key[1 + i] = at / turned[i];
            cell = cell * turned[i] + at % turned[i];
        }
        t->cell[row] = (uint8_t)cell;
        uint64_t at = hash_of(key) & (room - 1);
        while (table[at].tile && memcmp(table[at].key, key, sizeof key) != 0)
            at = (at + 1) & (room - 1);
        memcpy(table[at].key, key, sizeof key);
        if (!table[at].tile || count[table[at].tile - 1] == t->cells)
            table[at].tile = (int32_t)++t->num_tile;
        t->tile[row] = table[at].tile - 1;
        count[t->tile[row]]++;
    }
    return UNDA_OK;
}

unda_status sem_cluster(const struct sem *sem, int region, struct sem_tiles *t)
{
    SCRATCH struct frame *frame = NULL;
    SCRATCH int32_t *queue = NULL;
    SCRATCH int32_t(*least)[3] = NULL;
    SCRATCH int32_t(*most)[3] = NULL;
    int32_t num = 0;
    TRY(array_try(&frame, t->num_elem, sizeof *frame, "tiles"));
    TRY(array_try(&queue, t->num_elem, sizeof *queue, "tiles"));
    TRY(array_try(&least, t->num_elem, sizeof *least, "tiles"));
    TRY(array_try(&most, t->num_elem, sizeof *most, "tiles"));
    struct walk w = {sem, region, frame, queue, least, most};
    for (int64_t row = 0; row < t->num_elem; row++)
        frame[row].walk = -1;
    for (int64_t row = 0; row < t->num_elem; row++)
        if (frame[row].walk < 0)
            walk_from(&w, (int32_t)row, num++);
    return group(&w, t);
}
