/* blocks.c: the CPU engine's tables of spectral elements in the solver's precision, blocks of elements side by side.
 * Not here: who does what of a step, and when (order.c). */
#include "cpu.h"

#include "../base/parallel.h"

#include <string.h>

static struct sem_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static unda_status new_real(unda_solver *s, void *out, int64_t count, const char *what)
{
    return array_own(&tables(s)->owned, out, count, s->real_bytes, what);
}

static unda_status new_copy(unda_solver *s, void *out, const double *from, int64_t count, const char *what)
{
    TRY(new_real(s, out, count, what));
    real_copy(s, *(void **)out, from, count);
    return UNDA_OK;
}

static unda_status pack_lines(unda_solver *s, struct sem_cpu *t)
{
    const struct element *el = t->sem->space.element;
    int n = el->degree + 1, rows = line_rows(n), blocks = (n + rows - 1) / rows;
    t->rows = rows;
    for (int transposed = 0; transposed < 2; transposed++) {
        TRY(new_real(s, &t->derivative[transposed], blocks * n * rows, "derivative matrix"));
        for (int row = 0; row < n; row++)
            for (int k = 0; k < n; k++)
                real_put(s, t->derivative[transposed], (row / rows * n + k) * rows + row % rows,
                         transposed ? -el->line_derivative[k * n + row] : el->line_derivative[row * n + k]);
    }
    TRY(new_real(s, &t->coordinate, n, "nodes"));
    for (int k = 0; k < n; k++)
        real_put(s, t->coordinate, k, el->nodes[3 * k]);
    TRY(new_real(s, &t->weight, t->num_node, "weights"));
    for (int k = 0; k < t->num_node; k++)
        real_put(s, t->weight, k, sem_weight(t->sem, k));
    return UNDA_OK;
}

static int64_t num_block(const unda_solver *s, int64_t num_elem)
{
    int64_t lanes = 64 / s->real_bytes;
    return (num_elem + lanes - 1) / lanes;
}

/* Element `lane` of a block: its nodes, metric and material. */
static void pack_element(const unda_solver *s, int kind, int64_t block, int64_t lane)
{
    const struct sem_cpu *t = tables(s);
    const struct sem_cpu_region *r = &t->region[kind];
    const struct sem_region *from = &t->sem->region[kind];
    int64_t i = block * t->lanes + lane, at = i < from->num_elem ? i : from->num_elem - 1;
    int64_t elem = from->elem[at];
    for (int k = 0; k < t->num_node; k++)
        r->node[(block * t->num_node + k) * t->lanes + lane] = from->node[at * t->num_node + k];
    for (int k = 0; k < t->metric_words; k++)
        real_put(s, r->metric, (block * t->metric_words + k) * t->lanes + lane,
                 t->sem->metric[elem * t->metric_words + k]);
    for (int k = 0; k < t->material_nodes; k++) {
        double m[3];
        sem_moduli(t->sem, elem, k, m);
        for (int c = 0; c < 2; c++)
            real_put(s, r->coef, ((block * t->material_nodes + k) * 2 + c) * t->lanes + lane,
                     kind == SOLID ? m[1 + c]
                     : c           ? 0
                                   : 1 / m[0]);
    }
}

static unda_status pack_elements(unda_solver *s, int kind)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_region *r = &t->region[kind];
    const struct sem_region *from = &t->sem->region[kind];
    int64_t blocks = num_block(s, from->num_elem), num = blocks * t->lanes;
    TRY(array_own(&t->owned, &r->node, num * t->num_node, sizeof *r->node, "nodes of elements"));
    TRY(new_real(s, &r->metric, num * t->metric_words, "metric"));
    TRY(new_real(s, &r->coef, num * t->material_nodes * 2, "coefficients"));
    TRY(array_own(&t->owned, &r->first_node, blocks + 1, sizeof *r->first_node, "nodes of elements"));
    for (int64_t block = 0; block <= blocks; block++) {
        int64_t elem = block * t->lanes;
        r->first_node[block] = from->first[elem < from->num_elem ? elem : from->num_elem];
    }
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t block = 0; block < blocks; block++)
        for (int64_t lane = 0; lane < t->lanes; lane++)
            pack_element(s, kind, block, lane);
    return UNDA_OK;
}

static unda_status pack_nodes(unda_solver *s, int kind)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_region *r = &t->region[kind];
    const struct sem_region *from = &t->sem->region[kind];
    const struct sem_sides *sides = &from->sides;
    int64_t size = sides->num * from->dim * from->dim;
    r->dim = from->dim;
    r->pitch = kind == SOLID ? SOLID_PITCH : 1;
    r->num_elem = from->num_elem;
    r->num_node = from->num_node;
    r->side = sides->node;
    r->num_side = sides->num;
    TRY(new_real(s, &r->inverse_mass, r->num_node, "masses"));
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t i = 0; i < r->num_node; i++)
        real_put(s, r->inverse_mass, i, 1 / from->mass[i]);
    for (int64_t i = 0; i < sides->num; i++)
        real_put(s, r->inverse_mass, sides->node[i], 1);
    for (int level = 0; level < NUM_LEVEL; level++) {
        TRY(new_real(s, &r->level[level], whole_groups(r->num_node) * r->dim + SEM_SPARE, "state"));
        TRY(new_real(s, &r->kept[level], r->num_node * r->dim, "state"));
    }
    TRY(new_real(s, &r->force, r->num_node * r->pitch, "forces"));
    TRY(new_copy(s, &r->rest, sides->rest, size, "sides"));
    TRY(new_copy(s, &r->damping, sides->damping, size, "sides"));
    return new_copy(s, &r->inverse, sides->inverse, size, "sides");
}

unda_status sem_cpu_retime(unda_solver *s)
{
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_sides *sides = &tables(s)->sem->region[kind].sides;
        int dim = tables(s)->sem->region[kind].dim;
        real_copy(s, tables(s)->region[kind].inverse, sides->inverse, sides->num * dim * dim);
    }
    return UNDA_OK;
}

unda_status sem_cpu_forecast(unda_solver *s)
{
    const struct sem *sem = sem_tables(s);
    int64_t lanes = 64 / s->real_bytes, bytes = sem_host_bytes(sem);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        const struct sem_region *r = &sem->region[kind];
        bytes +=
            num_block(s, r->num_elem) * lanes *
                (sem->space.num_node * (int64_t)sizeof(int32_t) +
                 s->real_bytes * (sem->metric_words + sem->material_nodes * 2)) +
            r->num_node * s->real_bytes * (1 + 2 * NUM_LEVEL * r->dim + (kind == SOLID ? SOLID_PITCH : 1));
    }
    s->host_bytes = bytes;
    s->device_bytes = 0;
    return UNDA_OK;
}

unda_status sem_cpu_blocks_new(unda_solver *s)
{
    struct sem_cpu *t = tables(s);
    const struct sem *sem = t->sem;
    t->lanes = 64 / s->real_bytes;
    t->num_line_node = s->options.degree + 1;
    t->num_node = sem->space.num_node;
    t->metric_nodes = sem->metric_nodes;
    t->metric_words = sem->metric_words;
    t->trilinear = sem->metric_kind == UNDA_METRIC_TRILINEAR;
    t->material_nodes = sem->material_nodes;
    TRY(pack_lines(s, t));
    for (int kind = 0; kind < NUM_REGION; kind++) {
        TRY(pack_nodes(s, kind));
        TRY(pack_elements(s, kind));
    }
    TRY(new_copy(s, &t->area, sem->coupling.area, 3 * sem->coupling.num, "coupling"));
    int64_t line = t->num_line_node; /* x and z, slopes of a plane, edges */
    t->work_bytes = 64 * 3 * (2 * (int64_t)t->num_node + 2 * line * line + line * (line + 2));
    return array_own(&t->owned, &t->work, s->threads, t->work_bytes, "work space");
}
