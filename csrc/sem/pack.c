/* pack.c: the tables of a part as one block of bytes, and made of it: what cut.c has found in the whole's. Not a file
 * format. Colours are found anew, since they follow from the nodes. */
#include "../solver/parcel.h"
#include "sem.h"

/* ---- what a part is ---- */

static void pack_sizes(struct parcel *p, struct sem *sem, struct sem_cut *cut)
{
    PARCEL_NUMBER(p, sem->physics);
    PARCEL_NUMBER(p, sem->num_field);
    PARCEL_NUMBER(p, sem->num_material);
    PARCEL_NUMBER(p, sem->material_nodes);
    PARCEL_NUMBER(p, sem->metric_kind);
    PARCEL_NUMBER(p, sem->space.num_owned);
    PARCEL_NUMBER(p, sem->coupling.num);
    PARCEL_NUMBER(p, cut->which);
    PARCEL_NUMBER(p, cut->num_neighbor);
    PARCEL_NUMBER(p, cut->num_border);
    PARCEL_NUMBER(p, cut->num_cut_face);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        struct sem_region *r = &sem->region[kind];
        struct sem_cut_region *c = &cut->region[kind];
        PARCEL_NUMBER(p, r->dim);
        PARCEL_NUMBER(p, r->num_elem);
        PARCEL_NUMBER(p, r->num_node);
        PARCEL_NUMBER(p, r->sides.num);
        PARCEL_NUMBER(p, c->num);
        PARCEL_NUMBER(p, c->num_guest);
        PARCEL_NUMBER(p, c->num_border);
    }
}

static unda_status pack_elements(struct parcel *p, struct sem *sem, struct sem_cut *cut)
{
    int64_t num = sem->space.num_owned;
    PARCEL_ARRAY(p, cut->elem, num, "elements");
    PARCEL_ARRAY(p, sem->kind, num, "kinds of elements");
    PARCEL_ARRAY(p, sem->row, num, "elements");
    PARCEL_ARRAY(p, sem->material, num * sem->material_nodes * sem->num_material, "materials");
    PARCEL_ARRAY(p, sem->metric, num * sem->metric_words, "geometry");
    PARCEL_ARRAY(p, sem->elem_dt, num, "time steps");
    PARCEL_ARRAY(p, cut->neighbor, cut->num_neighbor, "neighbours");
    PARCEL_ARRAY(p, cut->first_word, cut->num_neighbor + 1, "neighbours");
    return UNDA_OK;
}

static unda_status pack_region(struct parcel *p, struct sem *sem, int kind)
{
    struct sem_region *r = &sem->region[kind];
    PARCEL_ARRAY(p, r->elem, r->num_elem, "elements");
    PARCEL_ARRAY(p, r->first, r->num_elem + 1, "elements");
    PARCEL_ARRAY(p, r->node, r->num_elem * sem->space.num_node, "node numbers");
    PARCEL_ARRAY(p, r->mass, r->num_node, "masses");
    PARCEL_ARRAY(p, sem->coupling.node[kind], sem->coupling.num, "shared nodes");
    return UNDA_OK;
}

static unda_status pack_sides(struct parcel *p, struct sem_sides *sides, int64_t square)
{
    PARCEL_ARRAY(p, sides->node, sides->num, "sides");
    PARCEL_ARRAY(p, sides->rest, sides->num * square, "sides");
    PARCEL_ARRAY(p, sides->inverse, sides->num * square, "sides");
    PARCEL_ARRAY(p, sides->damping, sides->num * square, "sides");
    PARCEL_ARRAY(p, sides->basis, sides->num * square, "sides");
    PARCEL_ARRAY(p, sides->num_free, sides->num, "sides");
    return UNDA_OK;
}

static unda_status pack_cut(struct parcel *p, struct sem_cut_region *c, int32_t num_neighbor,
                            int64_t num_node)
{
    PARCEL_ARRAY(p, c->node, c->num, "shared nodes");
    PARCEL_ARRAY(p, c->first, num_neighbor + 1, "shared nodes");
    PARCEL_ARRAY(p, c->item, c->first[num_neighbor], "shared nodes");
    PARCEL_ARRAY(p, c->word, c->first[num_neighbor], "shared nodes");
    PARCEL_ARRAY(p, c->first_term, c->num + 1, "shared nodes");
    PARCEL_ARRAY(p, c->term, c->first_term[c->num], "shared nodes");
    PARCEL_ARRAY(p, c->whole, num_node, "node numbers");
    PARCEL_ARRAY(p, c->slot, num_node, "node numbers");
    return UNDA_OK;
}

static unda_status pack_arrays(struct parcel *p, struct sem *sem, struct sem_cut *cut)
{
    TRY(pack_elements(p, sem, cut));
    for (int kind = 0; kind < NUM_REGION; kind++) {
        struct sem_region *r = &sem->region[kind];
        TRY(pack_region(p, sem, kind));
        TRY(pack_sides(p, &r->sides, (int64_t)r->dim * r->dim));
        TRY(pack_cut(p, &cut->region[kind], cut->num_neighbor, r->num_node));
    }
    PARCEL_ARRAY(p, sem->coupling.area, 3 * sem->coupling.num, "shared nodes");
    return UNDA_OK;
}

/* Of the part's mesh, whose arrays are made. */
static void pack_faces(struct parcel *p, const struct unda_mesh *mesh)
{
    parcel_put(p, mesh->neighbor, 6 * mesh->num_elem * (int64_t)sizeof *mesh->neighbor);
    parcel_put(p, mesh->turn, 6 * mesh->num_elem * (int64_t)sizeof *mesh->turn);
}

/* ---- both ways ---- */

unda_status sem_pack(const struct sem *part, char **bytes, int64_t *num_byte)
{
    struct sem *sem = (struct sem *)part; /* only read */
    struct sem_cut *cut = (struct sem_cut *)part->cut;
    struct parcel p = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            TRY(array_try(&p.bytes, *num_byte, 1, "tables of another process"));
        *bytes = p.bytes;
        p.num_byte = 0;
        pack_sizes(&p, sem, cut);
        TRY(pack_arrays(&p, sem, cut));
        pack_faces(&p, part->mesh);
        *num_byte = p.num_byte;
    }
    return UNDA_OK;
}

unda_status sem_unpack(const char *bytes, int degree, const unda_mesh *like, struct sem **out)
{
    struct sem *sem;
    struct sem_cut *cut;
    TRY(array_try(&sem, 1, sizeof *sem, "tables of spectral elements"));
    *out = sem;
    TRY(array_own(&sem->owned, &cut, 1, sizeof *cut, "parts"));
    sem->cut = cut;
    TRY(space_sizes(&sem->space, NULL, UNDA_HEX, degree));
    TRY(element_new(&sem->space.element, UNDA_HEX, degree));
    struct parcel p = {.bytes = (char *)bytes, .owned = &sem->owned};
    pack_sizes(&p, sem, cut);
    sem_set_metric(sem, sem->metric_kind);
    TRY(pack_arrays(&p, sem, cut));
    TRY(sem_cut_mesh(sem, like));
    pack_faces(&p, sem->mesh);
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(sem_color(sem, kind));
    return UNDA_OK;
}
