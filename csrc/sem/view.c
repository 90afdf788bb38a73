/* view.c: where the engines of spectral elements keep a field (unda_solver_view). */
#include "cpu.h"
#include "cuda.h"

/* The unknown that a field of the state is; region NUM_REGION: no element has it. */
struct unknown {
    int region, level, component;
};

static struct unknown unknown_of(const struct sem *sem, int32_t field)
{
    for (int region = 0; region < NUM_REGION; region++)
        for (int level = 0; level < NUM_LEVEL && sem->region[region].num_elem; level++) {
            int component = field - sem_slot(sem, region, level);
            if (component >= 0 && component < sem->region[region].dim)
                return (struct unknown){region, level, component};
        }
    return (struct unknown){.region = NUM_REGION};
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
    if (of.region == NUM_REGION)
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
    if (of.region == NUM_REGION)
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
