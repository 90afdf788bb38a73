/* view.c: where the engines of spectral elements keep a field (unda_solver_view, unda_solver_read_device). */
#include "../solver/device_read.h"
#include "cpu.h"
#include "cuda.h"
#include "rank.h"

/* The unknown that a field of the state is: sem_slot the other way round. */
struct unknown {
    int region, level, component;
};

static struct unknown unknown_of(const struct sem *sem, int32_t field)
{
    int num_solid = sem->num_field / 9 * 9;
    if (field < num_solid)
        return (struct unknown){SOLID, field / 3, field % 3};
    return (struct unknown){FLUID, field - num_solid, 0};
}

static void shape(unda_view *view, int64_t num, int64_t width)
{
    for (int a = 0; a < 3; a++) {
        view->num[a] = a ? 1 : num;
        view->stride[a] = a ? 0 : width;
    }
}

/* node: where the region's nodes stand; NULL: in their order. */
static void number_rows(const struct sem *sem, int region, const int32_t *node, int64_t num, int64_t *row)
{
    for (int64_t i = 0; i < num; i++)
        row[i] = -1;
    for (int64_t i = 0; i < sem->region[region].num_node; i++) {
        int64_t elem;
        int local;
        sem_node_owner(sem, region, i, &elem, &local);
        row[node ? node[i] : i] = sem->space.order[elem] * sem->space.num_node + local;
    }
}

unda_status sem_cpu_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    const struct sem *sem = sem_tables(s);
    struct unknown of = unknown_of(sem, field);
    void *values;
    shape(view, 0, 1);
    if (sem->region[of.region].num_elem == 0)
        return UNDA_OK;
    TRY(sem_settle(s));
    TRY(sem_engine(s)->level(s, of.region, of.level, &values));
    shape(view, sem->region[of.region].num_node, sem->region[of.region].dim);
    view->address = (uintptr_t)values + (uint64_t)(of.component * s->real_bytes);
    if (row)
        number_rows(sem, of.region, NULL, view->num[0], row);
    return UNDA_OK;
}

unda_status sem_cuda_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cuda *t = sem_cuda_tables(s);
    struct unknown of = unknown_of(sem, field);
    view->device = s->options.device;
    shape(view, 0, 1);
    if (sem->region[of.region].num_elem == 0)
        return UNDA_OK;
    TRY(sem_settle(s));
    TRY(sem_state_flush(s));
    const struct sem_cuda_region *r = &t->region[of.region];
    const gpu_ptr level[NUM_LEVEL] = {r->u, r->v, r->a};
    shape(view, r->tiles.num_node, r->plan.width);
    view->address = level[of.level] + (gpu_ptr)(of.component * s->real_bytes);
    if (row)
        number_rows(sem, of.region, r->tiles.node, view->num[0], row);
    return gpu_sync(t->stream);
}

unda_status sem_cuda_piece(unda_solver *s, int32_t field, struct device_piece *piece)
{
    const struct sem *sem = sem_tables(s);
    struct sem_cuda *t = sem_cuda_tables(s);
    TRY(device_read_check(field, sem->num_field));
    struct unknown of = unknown_of(sem, field);
    const struct sem_cuda_region *r = &t->region[of.region];
    const gpu_ptr level[NUM_LEVEL] = {r->u, r->v, r->a};
    TRY(sem_state_flush(s));
    *piece = (struct device_piece){
        .gpu = t->gpu,
        .stream = t->stream,
        .table = of.region,
        .num_row = sem->space.num_owned,
        .args = {.from = POINTER(level[of.level] + (gpu_ptr)(of.component * s->real_bytes)),
                 .stride = {r->plan.width},
                 .width = sem->space.num_node}};
    return UNDA_OK;
}

/* Of a process, of a part of a team, of all: the user's numbers of a solver's elements. */
static void number_elements(const unda_solver *s, const unda_solver *whole, int64_t *row)
{
    const struct sem_team *team = whole == s ? NULL : sem_team_of(whole);
    const struct sem *sem = sem_tables(s);
    if (team && team->rank)
        for (int64_t user = 0; user < sem->space.num_owned; user++)
            row[team->rank->local[user]] = user;
    else if (team)
        for (int64_t e = 0; e < sem_tables(whole)->space.num_owned; e++) {
            if (team->part[team->owner[e]] == s)
                row[team->local[e]] = sem_tables(whole)->space.order[e];
        }
    else
        for (int64_t e = 0; e < sem->space.num_owned; e++)
            row[e] = sem->space.order[e];
}

void sem_list_rows(const unda_solver *s, const unda_solver *whole, int table, int64_t *row, int32_t *node)
{
    const struct sem *sem = sem_tables(s);
    const struct sem_region *region = &sem->region[table];
    const int32_t *device = sem_cuda_tables(s)->region[table].tiles.node;
    int64_t num_node = sem->space.num_node;
    number_elements(s, whole, row);
    for (int64_t i = 0; i < sem->space.num_owned * num_node; i++)
        node[i] = -1;
    for (int64_t i = 0; i < region->num_elem * num_node; i++)
        node[region->elem[i / num_node] * num_node + i % num_node] = device[region->node[i]];
}
