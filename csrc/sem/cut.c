/* cut.c: the tables of a part of a mesh, cut out of those of the whole: masses, walls and coupling of its nodes are the
 * whole's. Not here: steps of parts (team.c). */
#include "sem.h"

#include <stdlib.h>
#include <string.h>

/* ---- who has which node ---- */

/* Calls for each node of a region and each part whose elements have it, parts ascending. */
static void each_holder(const struct sem *whole, const struct sem_owners *o, const int64_t *begin,
                        const int32_t *elems, int kind, int32_t *last, int64_t *next, int32_t *part)
{
    const struct sem_region *r = &whole->region[kind];
    int num = whole->space.num_node;
    memset(last, 0, sizeof *last * (size_t)r->num_node);
    for (int32_t p = 0; p < o->num_part; p++)
        for (int64_t i = begin[p]; i < begin[p + 1]; i++) {
            const int32_t *node = r->node + (int64_t)whole->row[elems[i]] * num;
            for (int n = 0; n < num && whole->kind[elems[i]] == kind; n++) {
                if (last[node[n]] == p + 1)
                    continue;
                last[node[n]] = p + 1;
                if (part)
                    part[next[node[n]]] = p;
                next[node[n]]++;
            }
        }
}

struct holders {
    int64_t *first;
    int32_t *part;
};

static unda_status list_holders(const struct sem *whole, const struct sem_owners *o, const int64_t *begin,
                                const int32_t *elems, int kind, void **owned, struct holders *h)
{
    int64_t num = whole->region[kind].num_node;
    SCRATCH int32_t *last = NULL;
    SCRATCH int64_t *next = NULL;
    TRY(array_try(&last, num, sizeof *last, "parts of nodes"));
    TRY(array_try(&next, num, sizeof *next, "parts of nodes"));
    TRY(array_own(owned, &h->first, num + 1, sizeof *h->first, "parts of nodes"));
    each_holder(whole, o, begin, elems, kind, last, next, NULL);
    for (int64_t i = 0; i < num; i++)
        h->first[i + 1] = h->first[i] + next[i];
    TRY(array_own(owned, &h->part, h->first[num], sizeof *h->part, "parts of nodes"));
    memcpy(next, h->first, sizeof *next * (size_t)num);
    each_holder(whole, o, begin, elems, kind, last, next, h->part);
    return UNDA_OK;
}

/* The union of the parts of two nodes, ascending; works: whether the first one's elements are in it. */
static int64_t join(const struct holders *h, int64_t node, const struct holders *g, int64_t other,
                    int32_t *part, bool *works)
{
    int64_t i = h->first[node], j = g->first[other], num = 0;
    while (i < h->first[node + 1] || j < g->first[other + 1]) {
        int32_t a = i < h->first[node + 1] ? h->part[i] : INT32_MAX;
        int32_t b = j < g->first[other + 1] ? g->part[j] : INT32_MAX;
        if (part) {
            part[num] = a < b ? a : b;
            works[num] = a <= b;
        }
        num++;
        i += a <= b;
        j += b <= a;
    }
    return num;
}

/* Holders of all nodes, with those that a coupled node's partner has. */
static unda_status join_holders(const struct sem *whole, struct sem_owners *o, int kind,
                                const struct holders h[NUM_REGION])
{
    int64_t num = whole->region[kind].num_node;
    SCRATCH int32_t *partner = NULL; /* node of the other region; -1 */
    TRY(array_try(&partner, num, sizeof *partner, "parts of nodes"));
    memset(partner, -1, sizeof *partner * (size_t)num);
    for (int64_t i = 0; i < whole->coupling.num; i++)
        partner[whole->coupling.node[kind][i]] = whole->coupling.node[!kind][i];
    TRY(array_own(&o->owned, &o->first[kind], num + 1, sizeof(int64_t), "parts of nodes"));
    int64_t nobody[2] = {0};
    const struct holders none = {nobody, NULL};
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < num; i++) {
            bool alone = partner[i] < 0;
            int32_t *part = pass ? o->part[kind] + o->first[kind][i] : NULL;
            bool *works = pass ? o->works[kind] + o->first[kind][i] : NULL;
            int64_t count = join(&h[kind], i, alone ? &none : &h[!kind], alone ? 0 : partner[i], part, works);
            o->first[kind][i + 1] = o->first[kind][i] + count;
        }
        if (pass)
            break;
        TRY(array_own(&o->owned, &o->part[kind], o->first[kind][num], sizeof(int32_t), "parts of nodes"));
        TRY(array_own(&o->owned, &o->works[kind], o->first[kind][num], sizeof(bool), "parts of nodes"));
    }
    return UNDA_OK;
}

/* Whether an element has a node that other parts have. */
static bool is_border(const struct sem *whole, const struct sem_owners *o, int64_t elem)
{
    int num = whole->space.num_node, kind = whole->kind[elem];
    const int32_t *node = whole->region[kind].node + (int64_t)whole->row[elem] * num;
    for (int n = 0; n < num; n++)
        if (o->first[kind][node[n] + 1] - o->first[kind][node[n]] > 1)
            return true;
    return false;
}

unda_status sem_owners_fill(const struct sem *whole, struct sem_owners *o)
{
    int64_t num = whole->space.num_owned;
    OWNER void *owned = NULL;
    int64_t *begin;
    int32_t *elems;
    struct holders h[NUM_REGION];
    TRY(array_own(&owned, &begin, o->num_part + 2, sizeof *begin, "parts"));
    TRY(array_own(&owned, &elems, num, sizeof *elems, "parts"));
    TRY(array_own(&o->owned, &o->local, num, sizeof *o->local, "parts"));
    for (int64_t e = 0; e < num; e++)
        begin[o->of[e] + 2]++;
    for (int32_t p = 0; p < o->num_part; p++)
        begin[p + 2] += begin[p + 1];
    for (int64_t e = 0; e < num; e++) /* begin[p + 1] ends where part p + 1 begins */
        elems[begin[o->of[e] + 1]++] = (int32_t)e;
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(list_holders(whole, o, begin, elems, kind, &owned, &h[kind]));
    for (int kind = 0; kind < NUM_REGION; kind++) {
        TRY(join_holders(whole, o, kind, h));
        int64_t num_node = whole->region[kind].num_node;
        TRY(array_own(&o->owned, &o->number[kind], num_node, sizeof(int32_t), "parts of nodes"));
        memset(o->number[kind], -1, sizeof(int32_t) * (size_t)num_node);
    }
    for (int32_t p = 0; p < o->num_part; p++)
        for (int32_t inner = 0, next = 0; inner < 2; inner++)
            for (int64_t i = begin[p]; i < begin[p + 1]; i++)
                if (is_border(whole, o, elems[i]) != inner)
                    o->local[elems[i]] = next++;
    return UNDA_OK;
}

/* ---- elements and nodes of a part ---- */

static unda_status copy_elements(const struct sem *whole, const struct sem_owners *o, struct sem *sem,
                                 struct sem_cut *cut)
{
    int64_t num = 0, words = whole->metric_words,
            values = (int64_t)whole->material_nodes * whole->num_material;
    for (int64_t e = 0; e < whole->space.num_owned; e++)
        num += o->of[e] == cut->which;
    sem->space.num_owned = num;
    TRY(array_own(&sem->owned, &cut->elem, num, sizeof *cut->elem, "elements"));
    TRY(array_own(&sem->owned, &sem->kind, num, sizeof *sem->kind, "kinds of elements"));
    TRY(array_own(&sem->owned, &sem->row, num, sizeof *sem->row, "elements"));
    TRY(array_own(&sem->owned, &sem->material, num * values, sizeof(double), "materials"));
    TRY(array_own(&sem->owned, &sem->metric, num * words, sizeof(double), "geometry"));
    for (int64_t e = 0; e < whole->space.num_owned; e++)
        if (o->of[e] == cut->which)
            cut->elem[o->local[e]] = e;
    for (int64_t i = 0; i < num; i++) {
        int64_t e = cut->elem[i];
        sem->kind[i] = whole->kind[e];
        sem->row[i] = (int32_t)sem->region[sem->kind[i]].num_elem++;
        cut->region[sem->kind[i]].num_border += is_border(whole, o, e);
        memcpy(sem->material + i * values, whole->material + e * values, sizeof(double) * (size_t)values);
        memcpy(sem->metric + i * words, whole->metric + e * words, sizeof(double) * (size_t)words);
    }
    return UNDA_OK;
}

unda_status sem_cut_mesh(struct sem *sem, const unda_mesh *like)
{
    struct unda_mesh *mesh;
    int64_t num = sem->space.num_owned;
    TRY(array_try(&mesh, 1, sizeof *mesh, "mesh"));
    atomic_init(&mesh->holders, 1);
    sem->space.mesh = sem->mesh = mesh;
    mesh->shape = like->shape;
    mesh->table = like->table;
    mesh->num_elem = mesh->num_owned = num;
    TRY(array_own(&mesh->owned, &mesh->neighbor, 6 * num, sizeof *mesh->neighbor, "mesh"));
    return array_own(&mesh->owned, &mesh->turn, 6 * num, sizeof *mesh->turn, "mesh");
}

/* Which faces join own elements. */
static unda_status copy_faces(const struct sem *whole, const struct sem_owners *o, struct sem *sem,
                              struct sem_cut *cut)
{
    int64_t num = sem->space.num_owned;
    TRY(sem_cut_mesh(sem, whole->mesh));
    const struct unda_mesh *mesh = sem->mesh;
    for (int64_t e = 0; e < num; e++) {
        int64_t before = cut->num_cut_face;
        for (int face = 0; face < 6; face++) {
            int32_t there = whole->mesh->neighbor[6 * cut->elem[e] + face];
            bool own = there >= 0 && o->of[there / 6] == cut->which;
            mesh->turn[6 * e + face] = whole->mesh->turn[6 * cut->elem[e] + face];
            mesh->neighbor[6 * e + face] = own ? 6 * o->local[there / 6] + there % 6 : FACE_OUTSIDE;
            cut->num_cut_face += there >= 0 && !own;
        }
        cut->num_border += cut->num_cut_face > before;
    }
    return UNDA_OK;
}

/* In the order in which own elements come to them; number[node]: that of a node of the whole. */
static void number_nodes(const struct sem *whole, struct sem_region *r, const int64_t *elem, int kind,
                         int32_t *number, int32_t *list)
{
    int num = whole->space.num_node;
    for (int64_t row = 0; row < r->num_elem; row++) {
        const int32_t *from = whole->region[kind].node + (int64_t)whole->row[elem[r->elem[row]]] * num;
        for (int n = 0; n < num; n++) {
            if (number[from[n]] < 0) {
                list[r->num_node] = from[n];
                number[from[n]] = (int32_t)r->num_node++;
            }
            r->node[row * num + n] = number[from[n]];
        }
        r->first[row + 1] = (int32_t)r->num_node;
    }
}

static bool has_part(const struct sem_owners *o, int kind, int64_t node, int32_t which)
{
    for (int64_t i = o->first[kind][node]; i < o->first[kind][node + 1]; i++)
        if (o->part[kind][i] == which)
            return true;
    return false;
}

static unda_status copy_nodes(const struct sem *whole, const struct sem_owners *o, struct sem *sem,
                              struct sem_cut *cut, int kind)
{
    struct sem_region *r = &sem->region[kind];
    const struct sem_coupling *c = &whole->coupling;
    int32_t *number = o->number[kind], *list;
    int64_t num = r->num_elem * whole->space.num_node + c->num;
    num = num < whole->region[kind].num_node ? num : whole->region[kind].num_node;
    TRY(array_own(&sem->owned, &r->elem, r->num_elem, sizeof(int32_t), "elements"));
    TRY(array_own(&sem->owned, &r->first, r->num_elem + 1, sizeof(int32_t), "elements"));
    TRY(array_own(&sem->owned, &r->node, r->num_elem * whole->space.num_node, sizeof(int32_t),
                  "node numbers"));
    TRY(array_own(&sem->owned, &list, num, sizeof *list, "node numbers"));
    for (int64_t e = 0; e < sem->space.num_owned; e++)
        if (sem->kind[e] == kind)
            r->elem[sem->row[e]] = (int32_t)e;
    number_nodes(whole, r, cut->elem, kind, number, list);
    for (int64_t i = 0; i < c->num; i++)
        if (number[c->node[kind][i]] < 0 && has_part(o, kind, c->node[kind][i], cut->which)) {
            list[r->num_node] = c->node[kind][i];
            number[c->node[kind][i]] = (int32_t)r->num_node++;
            cut->region[kind].num_guest++;
        }
    cut->region[kind].whole = list;
    TRY(array_own(&sem->owned, &r->mass, r->num_node, sizeof(double), "masses"));
    for (int64_t i = 0; i < r->num_node; i++)
        r->mass[i] = whole->region[kind].mass[list[i]];
    return UNDA_OK;
}

/* ---- walls, dashpots, coupling ---- */

static unda_status copy_sides(const struct sem *whole, const struct sem_owners *o, struct sem *sem, int kind)
{
    const struct sem_sides *from = &whole->region[kind].sides;
    struct sem_sides *to = &sem->region[kind].sides;
    int64_t square = (int64_t)whole->region[kind].dim * whole->region[kind].dim, at = 0;
    size_t bytes = sizeof(double) * (size_t)square;
    for (int64_t i = 0; i < from->num; i++)
        to->num += o->number[kind][from->node[i]] >= 0;
    TRY(array_own(&sem->owned, &to->node, to->num, sizeof(int32_t), "sides"));
    TRY(array_own(&sem->owned, &to->rest, to->num * square, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &to->inverse, to->num * square, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &to->damping, to->num * square, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &to->basis, to->num * square, sizeof(double), "sides"));
    TRY(array_own(&sem->owned, &to->num_free, to->num, sizeof(int8_t), "sides"));
    for (int64_t i = 0; i < from->num; i++) {
        int32_t node = o->number[kind][from->node[i]];
        if (node < 0)
            continue;
        to->node[at] = node;
        to->num_free[at] = from->num_free[i];
        memcpy(to->rest + at * square, from->rest + i * square, bytes);
        memcpy(to->damping + at * square, from->damping + i * square, bytes);
        memcpy(to->basis + at++ * square, from->basis + i * square, bytes);
    }
    return UNDA_OK;
}

static unda_status copy_coupling(const struct sem *whole, const struct sem_owners *o, struct sem *sem)
{
    const struct sem_coupling *from = &whole->coupling;
    struct sem_coupling *to = &sem->coupling;
    int64_t at = 0;
    for (int64_t i = 0; i < from->num; i++)
        to->num += o->number[FLUID][from->node[FLUID][i]] >= 0;
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(array_own(&sem->owned, &to->node[kind], to->num, sizeof(int32_t), "shared nodes"));
    TRY(array_own(&sem->owned, &to->area, 3 * to->num, sizeof(double), "shared nodes"));
    for (int64_t i = 0; i < from->num; i++) {
        if (o->number[FLUID][from->node[FLUID][i]] < 0)
            continue;
        for (int kind = 0; kind < NUM_REGION; kind++)
            to->node[kind][at] = o->number[kind][from->node[kind][i]];
        memcpy(to->area + 3 * at++, from->area + 3 * i, 3 * sizeof *to->area);
    }
    return UNDA_OK;
}

/* ---- what is shared with whom ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The nodes that other parts have too, as the whole counts them at first. */
static unda_status list_shared(const struct sem_owners *o, struct sem *sem, struct sem_cut *cut, int kind)
{
    struct sem_cut_region *c = &cut->region[kind];
    const struct sem_region *r = &sem->region[kind];
    const int64_t *first = o->first[kind];
    for (int64_t i = 0; i < r->num_node; i++)
        c->num += first[c->whole[i] + 1] - first[c->whole[i]] > 1;
    TRY(array_own(&sem->owned, &c->node, c->num, sizeof *c->node, "shared nodes"));
    for (int64_t i = 0, at = 0; i < r->num_node; i++)
        if (first[c->whole[i] + 1] - first[c->whole[i]] > 1)
            c->node[at++] = c->whole[i];
    qsort(c->node, (size_t)c->num, sizeof *c->node, by_number);
    return UNDA_OK;
}

/* Parts that have nodes of this one; index[part]: which neighbour it is, -1. */
static unda_status list_neighbors(const struct sem_owners *o, struct sem *sem, struct sem_cut *cut,
                                  int32_t *index)
{
    memset(index, -1, sizeof *index * (size_t)o->num_part);
    for (int kind = 0; kind < NUM_REGION; kind++)
        for (int64_t k = 0; k < cut->region[kind].num; k++) {
            int32_t node = cut->region[kind].node[k];
            for (int64_t i = o->first[kind][node]; i < o->first[kind][node + 1]; i++)
                index[o->part[kind][i]] = o->part[kind][i] == cut->which ? -1 : 0;
        }
    for (int32_t p = 0; p < o->num_part; p++)
        cut->num_neighbor += index[p] == 0;
    TRY(array_own(&sem->owned, &cut->neighbor, cut->num_neighbor, sizeof *cut->neighbor, "neighbours"));
    TRY(array_own(&sem->owned, &cut->first_word, cut->num_neighbor + 1, sizeof *cut->first_word,
                  "neighbours"));
    for (int32_t p = 0, next = 0; p < o->num_part; p++)
        if (index[p] == 0) {
            cut->neighbor[next] = p;
            index[p] = next++;
        }
    return UNDA_OK;
}

static unda_status count_items(const struct sem_owners *o, struct sem *sem, struct sem_cut *cut, int kind,
                               const int32_t *index)
{
    struct sem_cut_region *c = &cut->region[kind];
    int64_t num_term = 0;
    TRY(array_own(&sem->owned, &c->first, cut->num_neighbor + 1, sizeof *c->first, "shared nodes"));
    TRY(array_own(&sem->owned, &c->first_term, c->num + 1, sizeof *c->first_term, "shared nodes"));
    for (int64_t k = 0; k < c->num; k++)
        for (int64_t i = o->first[kind][c->node[k]]; i < o->first[kind][c->node[k] + 1]; i++) {
            num_term += o->works[kind][i];
            if (index[o->part[kind][i]] >= 0)
                c->first[index[o->part[kind][i]] + 1]++;
        }
    for (int32_t i = 0; i < cut->num_neighbor; i++) {
        cut->first_word[i + 1] += c->first[i + 1] * sem->region[kind].dim;
        c->first[i + 1] += c->first[i];
    }
    TRY(array_own(&sem->owned, &c->item, c->first[cut->num_neighbor], sizeof *c->item, "shared nodes"));
    TRY(array_own(&sem->owned, &c->word, c->first[cut->num_neighbor], sizeof *c->word, "shared nodes"));
    return array_own(&sem->owned, &c->term, num_term, sizeof *c->term, "shared nodes");
}

/* Items and terms of all nodes; next[neighbor]: its next item, word[neighbor]: where that begins. */
static void list_items(const struct sem_owners *o, const struct sem *sem, struct sem_cut *cut, int kind,
                       const int32_t *index, int64_t *next, int64_t *word)
{
    struct sem_cut_region *c = &cut->region[kind];
    for (int64_t k = 0; k < c->num; k++) {
        int64_t term = c->first_term[k];
        for (int64_t i = o->first[kind][c->node[k]]; i < o->first[kind][c->node[k] + 1]; i++) {
            int32_t to = index[o->part[kind][i]];
            if (o->works[kind][i])
                c->term[term++] = to < 0 ? OWN_FORCE : word[to];
            if (to < 0)
                continue;
            c->item[next[to]] = (int32_t)k;
            c->word[next[to]++] = word[to];
            word[to] += sem->region[kind].dim;
        }
        c->first_term[k + 1] = term;
    }
}

static unda_status list_messages(const struct sem_owners *o, struct sem *sem, struct sem_cut *cut)
{
    static const int order[NUM_REGION] = {FLUID, SOLID};
    SCRATCH int32_t *index = NULL;
    SCRATCH int64_t *next = NULL;
    SCRATCH int64_t *word = NULL;
    TRY(array_try(&index, o->num_part, sizeof *index, "neighbours"));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(list_shared(o, sem, cut, kind));
    TRY(list_neighbors(o, sem, cut, index));
    TRY(array_try(&next, cut->num_neighbor, sizeof *next, "neighbours"));
    TRY(array_try(&word, cut->num_neighbor, sizeof *word, "neighbours"));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(count_items(o, sem, cut, kind, index));
    for (int32_t i = 0; i < cut->num_neighbor; i++)
        cut->first_word[i + 1] += cut->first_word[i];
    memcpy(word, cut->first_word, sizeof *word * (size_t)cut->num_neighbor);
    for (int k = 0; k < NUM_REGION; k++) {
        struct sem_cut_region *c = &cut->region[order[k]];
        memcpy(next, c->first, sizeof *next * (size_t)cut->num_neighbor);
        list_items(o, sem, cut, order[k], index, next, word);
        for (int64_t i = 0; i < c->num; i++)
            c->node[i] = o->number[order[k]][c->node[i]];
    }
    return UNDA_OK;
}

/* ---- all of it ---- */

static unda_status fill(const struct sem *whole, const struct sem_owners *o, struct sem *sem,
                        struct sem_cut *cut)
{
    int degree = whole->space.element->degree;
    TRY(space_sizes(&sem->space, NULL, UNDA_HEX, degree));
    TRY(element_new(&sem->space.element, UNDA_HEX, degree));
    sem_set_metric(sem, whole->metric_kind);
    TRY(copy_elements(whole, o, sem, cut));
    TRY(copy_faces(whole, o, sem, cut));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(copy_nodes(whole, o, sem, cut, kind));
    for (int kind = 0; kind < NUM_REGION; kind++) {
        TRY(copy_sides(whole, o, sem, kind));
        TRY(sem_color(sem, kind));
    }
    TRY(copy_coupling(whole, o, sem));
    return list_messages(o, sem, cut);
}

unda_status sem_cut_new(const struct sem *whole, const struct sem_owners *o, int32_t which, struct sem **out)
{
    struct sem *sem;
    struct sem_cut *cut;
    TRY(array_try(&sem, 1, sizeof *sem, "tables of spectral elements"));
    *out = sem;
    TRY(array_own(&sem->owned, &cut, 1, sizeof *cut, "parts"));
    cut->which = which;
    sem->cut = cut;
    sem->physics = whole->physics;
    sem->num_field = whole->num_field;
    sem->num_material = whole->num_material;
    sem->material_nodes = whole->material_nodes;
    for (int kind = 0; kind < NUM_REGION; kind++)
        sem->region[kind].dim = whole->region[kind].dim;
    unda_status status = fill(whole, o, sem, cut);
    for (int kind = 0; kind < NUM_REGION; kind++)
        for (int64_t i = 0; i < sem->region[kind].num_node && cut->region[kind].whole; i++)
            o->number[kind][cut->region[kind].whole[i]] = -1;
    return status;
}
