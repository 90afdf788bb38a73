/* number.c: which nodes cells share, numbered by region in the order in which the elements touch them. Nodes
 * are the same that faces join, periodic ones too, and by way of them those on edges and vertices: cells
 * that meet in an edge or a vertex without a chain of faces around it are not joined there, as for points
 * (mesh/share.c). */
#include "sem.h"

#include "../base/parallel.h"

#include <string.h>

/* The first element node of a class; halves the path to it. */
static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join_faces(const struct sem *sem, const unda_mesh *mesh, int32_t *parent)
{
    const struct element *el = sem->space.element;
    int num = el->num_node, num_face_node = el->num_face_node;
    for (int64_t i = 0; i < 6 * mesh->num_elem; i++) {
        int32_t other = mesh->neighbor[i];
        if (other < i) /* none, or done from the other side */
            continue;
        const int32_t *here = el->face_node + i % 6 * num_face_node;
        const int32_t *there = el->face_node + (other % 6 + 6 * mesh->turn[i]) * num_face_node;
        for (int m = 0; m < num_face_node; m++) {
            int32_t a = find(parent, (int32_t)(i / 6 * num + here[m]));
            int32_t b = find(parent, (int32_t)(other / 6 * num + there[m]));
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
}

static unda_status list_elements(struct sem *sem, int64_t num_elem)
{
    for (int64_t e = 0; e < num_elem; e++)
        sem->row[e] = (int32_t)sem->region[sem->kind[e]].num_elem++;
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(array_own(&sem->owned, &sem->region[kind].elem, sem->region[kind].num_elem, sizeof(int32_t),
                      "elements"));
    for (int64_t e = 0; e < num_elem; e++)
        sem->region[sem->kind[e]].elem[sem->row[e]] = (int32_t)e;
    return UNDA_OK;
}

/* The same by threads that only read. */
static int32_t look_up(const int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

enum { NUM_PART = 1024 };

/* Numbers the nodes of the only region: a class has the number of its first node, of those before which there are as
 * many classes. Parts of the elements are counted, then numbered, by any thread. */
static unda_status number_alone(struct sem *sem, struct sem_region *region, const int32_t *parent,
                                int threads)
{
    int64_t num = region->num_elem * sem->space.num_node, first[NUM_PART + 1] = {0};
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < NUM_PART; part++)
        for (int64_t i = part * num / NUM_PART; i < (part + 1) * num / NUM_PART; i++)
            first[part + 1] += parent[i] == i;
    for (int part = 0; part < NUM_PART; part++)
        first[part + 1] += first[part];
    region->num_node = first[NUM_PART];
    TRY(array_own(&sem->owned, &region->owner, region->num_node, sizeof(int32_t), "owners of nodes"));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < NUM_PART; part++) {
        int64_t next = first[part];
        for (int64_t i = part * num / NUM_PART; i < (part + 1) * num / NUM_PART; i++)
            if (parent[i] == i) {
                region->owner[next] = (int32_t)i;
                region->node[i] = (int32_t)next++;
            }
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < num; i++)
        if (parent[i] != i)
            region->node[i] = region->node[look_up(parent, (int32_t)i)];
    return UNDA_OK;
}

/* id[class]: the region's number of a class of nodes, -1 where it has none. */
static unda_status number_both(struct sem *sem, int kind, int32_t *parent, int32_t *id)
{
    struct sem_region *region = &sem->region[kind];
    int64_t num = sem->space.num_node;
    for (int64_t i = 0; i < region->num_elem * num; i++) {
        int32_t root = find(parent, (int32_t)(region->elem[i / num] * num + i % num));
        if (id[root] < 0)
            id[root] = (int32_t)region->num_node++;
        region->node[i] = id[root];
    }
    TRY(array_own(&sem->owned, &region->owner, region->num_node, sizeof(int32_t), "owners of nodes"));
    for (int64_t i = region->num_elem * num - 1; i >= 0; i--)
        region->owner[region->node[i]] = (int32_t)(region->elem[i / num] * num + i % num);
    return UNDA_OK;
}

/* id: NULL where there is one region. */
static unda_status number_region(struct sem *sem, int kind, int32_t *parent, int32_t *id, int threads)
{
    struct sem_region *region = &sem->region[kind];
    int64_t num = region->num_elem * sem->space.num_node;
    TRY(array_own(&sem->owned, &region->node, num, sizeof(int32_t), "node numbers"));
    return id ? number_both(sem, kind, parent, id) : number_alone(sem, region, parent, threads);
}

static unda_status list_shared(struct sem *sem, int64_t num, const int32_t *solid, const int32_t *fluid)
{
    struct sem_coupling *c = &sem->coupling;
    for (int64_t i = 0; i < num; i++)
        c->num += solid[i] >= 0 && fluid[i] >= 0;
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(array_own(&sem->owned, &c->node[kind], c->num, sizeof(int32_t), "shared nodes"));
    TRY(array_own(&sem->owned, &c->area, 3 * c->num, sizeof(double), "shared nodes"));
    for (int64_t i = 0, k = 0; i < num; i++)
        if (solid[i] >= 0 && fluid[i] >= 0) {
            c->node[SOLID][k] = solid[i];
            c->node[FLUID][k++] = fluid[i];
        }
    return UNDA_OK;
}

unda_status sem_number(struct sem *sem, const unda_mesh *mesh, int threads)
{
    fork_mark();
    int64_t num = mesh->num_elem * sem->space.num_node;
    if (num > INT32_MAX)
        FAIL(UNDA_ERR_ARG,
             "the mesh has %lld cells of %d nodes, expected %d nodes at most: they are counted in 32 bits",
             (long long)mesh->num_elem, sem->space.num_node, INT32_MAX);
    SCRATCH int32_t *parent = NULL;
    SCRATCH int32_t *solid = NULL;
    SCRATCH int32_t *fluid = NULL;
    TRY(array_try(&parent, num, sizeof *parent, "node numbers"));
    threads = parallel_worth(threads, num, LEAST_SCALAR);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < num; i++)
        parent[i] = (int32_t)i;
    join_faces(sem, mesh, parent);
    TRY(list_elements(sem, mesh->num_elem));
    bool both = sem->region[SOLID].num_elem && sem->region[FLUID].num_elem;
    if (both) {
        TRY(array_try(&solid, num, sizeof *solid, "node numbers"));
        TRY(array_try(&fluid, num, sizeof *fluid, "node numbers"));
        memset(solid, -1, sizeof *solid * (size_t)num);
        memset(fluid, -1, sizeof *fluid * (size_t)num);
    }
    TRY(number_region(sem, SOLID, parent, solid, threads));
    TRY(number_region(sem, FLUID, parent, fluid, threads));
    return list_shared(sem, both ? num : 0, solid, fluid);
}
