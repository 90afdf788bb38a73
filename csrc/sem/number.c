/* number.c: which nodes cells share, numbered by region in the order in which the elements touch them. Nodes
 * are the same that faces join, periodic ones too, and by way of them those on edges and vertices: cells
 * that meet in an edge or a vertex without a chain of faces around it are not joined there, as for points
 * (mesh/share.c). Which element nodes are one is walked to from each that needs to know (walk.h): nothing is stored
 * but the numbers, and any thread can work on any element. */
#include "walk.h"

#include "../base/parallel.h"

/* Elements, by many threads. */
typedef unda_status work(const struct sem_walker *w, int64_t elem, struct sem_spots *spots);

static unda_status each_element(const struct sem_walker *w, int threads, work *of)
{
    int64_t bad = w->mesh->num_elem;
#pragma omp parallel num_threads(threads) reduction(min : bad)
    {
        struct sem_spots spots = {0};
#pragma omp for schedule(static)
        for (int64_t e = 0; e < w->mesh->num_elem; e++)
            if (bad > e && of(w, e, &spots) != UNDA_OK)
                bad = e;
        array_free(spots.list);
    }
    if (bad < w->mesh->num_elem)
        FAIL(UNDA_ERR_MEMORY, "no memory for node numbers of element %lld", (long long)bad);
    return UNDA_OK;
}

static unda_status list_elements(struct sem *sem, int64_t num_elem)
{
    for (int64_t e = 0; e < num_elem; e++)
        sem->row[e] = (int32_t)sem->region[sem->kind[e]].num_elem++;
    for (int kind = 0; kind < NUM_REGION; kind++) {
        struct sem_region *r = &sem->region[kind];
        TRY(array_own(&sem->owned, &r->elem, r->num_elem, sizeof(int32_t), "elements"));
        TRY(array_own(&sem->owned, &r->first, r->num_elem + 1, sizeof(int32_t), "elements"));
        TRY(array_own(&sem->owned, &r->node, r->num_elem * sem->space.num_node, sizeof(int32_t),
                      "node numbers"));
    }
    for (int64_t e = 0; e < num_elem; e++)
        sem->region[sem->kind[e]].elem[sem->row[e]] = (int32_t)e;
    return UNDA_OK;
}

/* ---- numbers ---- */

/* Of nodes that have none yet: those that the element is the first to have. */
enum { OWN = -1 };

static struct sem_region *region_of(const struct sem_walker *w, int64_t elem)
{
    return (struct sem_region *)&w->sem->region[w->sem->kind[elem]];
}

static int32_t *number_of(const struct sem_walker *w, int64_t spot)
{
    int64_t elem = sem_spot_elem(spot);
    return region_of(w, elem)->node + w->sem->row[elem] * (int64_t)w->num + sem_spot_node(spot);
}

static unda_status count_own(const struct sem_walker *w, int64_t elem, struct sem_spots *spots)
{
    int32_t *count = &region_of(w, elem)->first[w->sem->row[elem] + 1];
    for (int node = 0; node < w->num; node++) {
        bool first = true;
        if (!w->inside[node])
            TRY(sem_walk(w, sem_spot(elem, node), spots, &first));
        *count += first;
        *number_of(w, sem_spot(elem, node)) = first ? OWN : 0;
    }
    return UNDA_OK;
}

/* Gives a node's number to all elements that have it: what others read of it meanwhile is not OWN before or after. */
static unda_status number_own(const struct sem_walker *w, int64_t elem, struct sem_spots *spots)
{
    int32_t next = region_of(w, elem)->first[w->sem->row[elem]];
    for (int node = 0; node < w->num; node++) {
        int64_t spot = sem_spot(elem, node);
        int32_t *own = number_of(w, spot), now;
        bool first;
#pragma omp atomic read
        now = *own;
        if (now != OWN)
            continue;
        TRY(sem_walk(w, spot, spots, &first));
        for (int64_t i = 0; i < spots->num; i++) {
            int32_t *to = number_of(w, spots->list[i]);
            if (!sem_is_kin(w, spots->list[i], spot))
                continue;
#pragma omp atomic write
            *to = next;
        }
        next++;
    }
    return UNDA_OK;
}

unda_status sem_number_first(const struct sem *sem, struct sem_region *r)
{
    for (int64_t row = 0; row < r->num_elem; row++) {
        r->num_node += r->first[row + 1];
        if (r->num_node > INT32_MAX)
            FAIL(UNDA_ERR_ARG,
                 "the mesh has more than %d nodes of degree %d, which are numbered in 32 bits; expected "
                 "fewer cells, or a lower degree",
                 INT32_MAX, sem->space.element->degree);
        r->first[row + 1] = (int32_t)r->num_node;
    }
    return UNDA_OK;
}

void sem_node_owner(const struct sem *sem, int region, int64_t node, int64_t *elem, int *local)
{
    const struct sem_region *r = &sem->region[region];
    int64_t low = 0, high = r->num_elem - 1;
    while (low < high) { /* the last element whose first number is not above */
        int64_t middle = (low + high + 1) / 2;
        *(r->first[middle] <= node ? &low : &high) = r->first[middle] <= node ? middle : middle - 1;
    }
    *elem = r->elem[low];
    for (*local = 0; r->node[low * sem->space.num_node + *local] != node;)
        ++*local;
}

/* ---- nodes that solid and fluid share ---- */

enum { NUM_PART = 1024 };

/* Those whose first element node is in a part of the elements, in their order; stored where there is room. */
static unda_status share_part(const struct sem_walker *w, int64_t begin, int64_t end, struct sem_spots *spots,
                              struct sem_coupling *to, int64_t *num)
{
    for (int64_t i = begin * w->num; i < end * w->num; i++) {
        int64_t spot = sem_spot(i / w->num, (int)(i % w->num));
        int64_t at[NUM_REGION] = {-1, -1};
        bool first = !w->inside[i % w->num];
        if (first)
            TRY(sem_walk(w, spot, spots, &first));
        for (int64_t k = 0; k < spots->num && first; k++)
            at[w->sem->kind[sem_spot_elem(spots->list[k])]] = spots->list[k];
        if (!first || at[SOLID] < 0 || at[FLUID] < 0)
            continue;
        for (int kind = 0; kind < NUM_REGION && to->area; kind++)
            to->node[kind][*num] = *number_of(w, at[kind]);
        ++*num;
    }
    return UNDA_OK;
}

static unda_status share_parts(const struct sem_walker *w, int threads, struct sem_coupling *to,
                               int64_t at[NUM_PART + 1])
{
    bool bad = false;
#pragma omp parallel num_threads(threads) reduction(|| : bad)
    {
        struct sem_spots spots = {0};
#pragma omp for schedule(static)
        for (int64_t part = 0; part < NUM_PART; part++)
            bad = share_part(w, part * w->mesh->num_elem / NUM_PART,
                             (part + 1) * w->mesh->num_elem / NUM_PART, &spots, to, &at[part]) != UNDA_OK ||
                  bad;
        array_free(spots.list);
    }
    if (bad)
        FAIL(UNDA_ERR_MEMORY, "no memory for shared nodes");
    return UNDA_OK;
}

static unda_status list_shared(struct sem *sem, struct sem_walker *w, int threads)
{
    struct sem_coupling *c = &sem->coupling;
    int64_t num[NUM_PART + 1] = {0}, first[NUM_PART + 1] = {0};
    bool both = sem->region[SOLID].num_elem && sem->region[FLUID].num_elem;
    w->overall = true;
    if (both)
        TRY(share_parts(w, threads, c, num));
    for (int part = 0; part < NUM_PART; part++)
        first[part + 1] = first[part] + num[part];
    c->num = first[NUM_PART];
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(array_own(&sem->owned, &c->node[kind], c->num, sizeof(int32_t), "shared nodes"));
    TRY(array_own(&sem->owned, &c->area, 3 * c->num, sizeof(double), "shared nodes"));
    return both ? share_parts(w, threads, c, first) : UNDA_OK;
}

unda_status sem_number(struct sem *sem, const unda_mesh *mesh, int threads)
{
    SCRATCH struct sem_walker *w = NULL;
    fork_mark();
    TRY(array_try(&w, 1, sizeof *w, "node numbers"));
    sem_walker_fill(w, sem, mesh);
    threads = parallel_worth(threads, mesh->num_elem * w->num, LEAST_SCALAR);
    TRY(list_elements(sem, mesh->num_elem));
    TRY(each_element(w, threads, count_own));
    for (int kind = 0; kind < NUM_REGION; kind++)
        TRY(sem_number_first(sem, &sem->region[kind]));
    TRY(each_element(w, threads, number_own));
    return list_shared(sem, w, threads);
}
