/* monitor.c: monitors of spectral elements: nodes of a region, each once however many cells share it. Accumulators are of
 * rows of nodes that follow one another, those that have a node of the monitor's cells. On a device they are in its own
 * numbering, and the last row ends at the last node, or up to three behind it, so that it may have nodes of the one before
 * again; on the CPU, whose state has whole rows, it goes beyond. Samples are taken within steps. Not here: accumulating
 * (solver/cpu_monitor.c, solver/cuda_monitor.c), their place in a step (order.c, cuda_step.c, cuda_team.c). */
#include "monitor.h"

#include "../solver/cuda_monitor.h"
#include "common/monitor_args.h"
#include "cpu.h"
#include "cuda.h"
#include "rank.h"
#include "../solver/kernel.h"

#include <string.h>

_Static_assert((int)MONITOR_ROW == (int)GROUP_NODES, "nodes of a row");
enum { ROW = MONITOR_ROW };

/* Of a piece. */
struct rows {
    const struct sem *sem;           /* the part's */
    int32_t *number;                 /* [row of nodes]: its number among those of the piece, -1 */
    int64_t *elem;                   /* [elem]: of the part's space, its cells */
    int64_t *to;                     /* [elem]: their numbers among the rows that users see */
    int64_t num_elem, num_node, end; /* end: of the last row */
    int32_t kind, level, axis;
    int32_t length;        /* nodes of a row: ROW, or all nodes of a device where there are fewer */
    const int32_t *device; /* [node]: its number on the device; NULL: the same */
};

static bool on_device(const unda_solver *part)
{
    return part->options.device != UNDA_DEVICE_CPU;
}

/* A field's region, level and component: sem_slot the other way round. */
static void find_level(const struct sem *sem, int32_t field, struct rows *rows)
{
    int32_t num_solid = sem->num_field / 9 * 9;
    bool solid = field < num_solid;
    rows->kind = solid ? SOLID : FLUID;
    rows->level = solid ? field / 3 : field - num_solid;
    rows->axis = solid ? field % 3 : 0;
}

/* Node n of an element of the part, as rows count. */
static int64_t node_of(const struct rows *rows, int64_t elem, int64_t n)
{
    const struct sem_region *r = &rows->sem->region[rows->kind];
    int32_t node = r->node[rows->sem->row[elem] * (int64_t)rows->sem->space.num_node + n];
    return rows->device ? rows->device[node] : node;
}

static int64_t row_begin(const struct rows *rows, int64_t row)
{
    int64_t last = rows->end - rows->length;
    return row * ROW < last || !rows->device ? row * ROW : last;
}

/* ---- pieces ---- */

/* The part that has an element of the user's, and its number there. */
static int32_t owner_of(const unda_solver *s, int64_t user, int64_t *elem)
{
    const struct sem_team *team = sem_team_of(s);
    if (team && team->rank) {
        *elem = team->rank->local[user];
        return 0;
    }
    int64_t e = sem_tables(s)->space.place[user];
    *elem = team ? team->local[e] : e;
    return team ? team->owner[e] : 0;
}

static unda_status list_elements(unda_solver *s, struct monitor *m, int32_t p, const int64_t *elem,
                                 struct rows *rows)
{
    int64_t local, num = 0;
    for (int64_t i = 0; i < m->num_row; i++)
        num += owner_of(s, elem ? elem[i] : i, &local) == p && rows->sem->kind[local] == rows->kind;
    TRY(array_own(&m->owned, &rows->elem, num, sizeof *rows->elem, "monitors"));
    TRY(array_own(&m->owned, &rows->to, num, sizeof *rows->to, "monitors"));
    for (int64_t i = 0; i < m->num_row; i++)
        if (owner_of(s, elem ? elem[i] : i, &local) == p && rows->sem->kind[local] == rows->kind) {
            rows->elem[rows->num_elem] = local;
            rows->to[rows->num_elem++] = i;
        }
    return UNDA_OK;
}

/* Numbers the rows that have nodes of the piece's elements. */
static unda_status number_rows(struct monitor *m, struct rows *rows, int32_t *num)
{
    int64_t all = (rows->num_node + ROW - 1) / ROW;
    TRY(array_own(&m->owned, &rows->number, all, sizeof *rows->number, "monitors"));
    for (int64_t i = 0; i < rows->num_elem; i++)
        for (int64_t n = 0; n < rows->sem->space.num_node; n++)
            rows->number[node_of(rows, rows->elem[i], n) / ROW] = 1;
    for (int64_t row = 0; row < all; row++)
        rows->number[row] = rows->number[row] ? (*num)++ : -1;
    return UNDA_OK;
}

static unda_status add_part(unda_solver *s, struct monitor *m, unda_solver *part, int32_t p,
                            const int64_t *elem)
{
    struct rows *rows;
    struct monitor_piece *piece;
    int32_t num = 0;
    TRY(array_own(&m->owned, &rows, 1, sizeof *rows, "monitors"));
    rows->sem = sem_tables(part);
    find_level(rows->sem, m->field, rows);
    rows->num_node = rows->sem->region[rows->kind].num_node;
    if (on_device(part)) {
        rows->device = sem_cuda_tables(part)->region[rows->kind].tiles.node;
        rows->num_node = sem_cuda_tables(part)->region[rows->kind].tiles.num_node;
    }
    /* one unknown a node is filled up to fours, which are whole vectors */
    rows->end = on_device(part) && rows->num_node > ROW && rows->sem->region[rows->kind].dim == 1
                    ? (rows->num_node + 3) / 4 * 4
                    : rows->num_node;
    rows->length = !on_device(part) || rows->num_node > ROW ? ROW : (int32_t)rows->num_node;
    TRY(list_elements(s, m, p, elem, rows));
    TRY(number_rows(m, rows, &num));
    /* threads of a device take values of the last axis, which stand side by side */
    const int32_t axes[2][3] = {{1, num, ROW}, {num, rows->length, 1}};
    TRY(monitor_add_piece(m, part, axes[on_device(part)], &piece));
    piece->of = rows;
    int64_t at = on_device(part) ? 0 : 1; /* rows of the CPU are the second axis, one after the other */
    for (int64_t row = 0; row * ROW < rows->num_node; row++)
        if (rows->number[row] >= 0)
            piece->place[at++] = on_device(part) ? row_begin(rows, row) : row;
    for (int32_t i = 0; i < rows->length; i++)
        piece->place[at++] = i;
    return UNDA_OK;
}

static void move(const struct monitor *m, const struct monitor_piece *piece, char *sums, char *out,
                 const char *in)
{
    const struct rows *rows = piece->of;
    for (int64_t i = 0; i < rows->num_elem; i++)
        for (int64_t n = 0; n < m->row; n++) {
            int64_t node = node_of(rows, rows->elem[i], n), row = node / ROW;
            char *sum =
                sums + (rows->number[row] * (int64_t)rows->length + node - row_begin(rows, row)) * m->bytes;
            int64_t user = (rows->to[i] * m->row + n) * m->bytes;
            memcpy(out ? out + user : sum, out ? sum : in + user, (size_t)m->bytes);
        }
}

/* Steps go on beyond samples, of which several are held where that moves less (monitor_hold). */
static void find_ways(const unda_solver_options *o, struct monitor *m)
{
    m->inside = true;
    m->batch = monitor_hold(m, o->precision == UNDA_FLOAT32 ? 4 : 8, o->device == UNDA_DEVICE_CPU);
}

unda_status sem_monitor_ways(unda_solver *s, const unda_solver_options *options, const unda_monitor *given,
                             int64_t num_value, struct monitor *m)
{
    (void)s;
    (void)given;
    (void)num_value;
    find_ways(options, m);
    return UNDA_OK;
}

unda_status sem_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given)
{
    const struct sem_team *team = sem_team_of(s);
    const struct sem *sem = sem_tables(team ? team->part[0] : s);
    int32_t num_part = team ? team->num_part : 1;
    int64_t num_elem = team && !team->rank ? sem_tables(s)->space.num_owned : sem->space.num_owned;
    find_ways(&s->options, m);
    TRY(monitor_check_field(given, sem->num_field));
    if (monitor_num_field(given->quantity) == 3 &&
        (given->field % 3 || given->field + 3 > sem->num_field / 9 * 9))
        FAIL(UNDA_ERR_ARG, "monitor: three fields from %d on, expected components of a vector of solids",
             given->field);
    TRY(monitor_check_elem(given, num_elem));
    m->num_row = given->elem ? given->num_elem : num_elem;
    m->row = sem->space.num_node;
    m->move = move;
    TRY(array_own(&m->owned, &m->piece, num_part, sizeof *m->piece, "monitors"));
    for (int32_t p = 0; p < num_part; p++)
        TRY(add_part(s, m, team ? team->part[p] : s, p, given->elem));
    return UNDA_OK;
}

/* ---- engines ---- */

/* Rows [begin, end) of a piece. */
static void take_rows(const struct monitor *m, const struct monitor_piece *piece,
                      const struct monitor_sample *sample, int64_t begin, int64_t end)
{
    const struct rows *rows = piece->of;
    const struct sem_cpu *t = piece->part->data;
    const struct sem_cpu_region *r = &t->region[rows->kind];
    struct monitor_view view = {.stride = {0, ROW * r->dim}, .step = r->dim};
    for (int i = 0; i < monitor_num_field(m->quantity); i++)
        view.base[i] =
            (uintptr_t)r->level[rows->level] + (uintptr_t)((rows->axis + i) * piece->part->real_bytes);
    monitor_cpu_rows(piece, &view, sample, 0, begin, end);
}

unda_status sem_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample)
{
    enum { AT_ONCE = 16 };
    int32_t threads = parallel_worth(piece->part->options.threads, monitor_num_value(piece), LEAST_SCALAR);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < piece->num_row; i += AT_ONCE)
        take_rows(m, piece, sample, i, i + AT_ONCE < piece->num_row ? i + AT_ONCE : piece->num_row);
    return UNDA_OK;
}

/* Those of a piece's rows of nodes [begin, end). */
static void find_rows(const struct rows *rows, int64_t begin, int64_t end, int64_t *first, int64_t *stop)
{
    *first = *stop = 0;
    for (int64_t row = begin / ROW; row * ROW < end; row++)
        if (rows->number[row] >= 0) {
            *first = *stop ? *first : rows->number[row];
            *stop = rows->number[row] + 1;
        }
}

void sem_cpu_sample(const unda_solver *s, const unda_solver *part, int kind, int64_t step, int64_t begin,
                    int64_t end)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor *m = s->monitors[i];
        struct monitor_sample sample;
        if (!monitor_due(s, m, step, &sample))
            continue;
        for (int32_t k = 0; k < m->num_piece; k++) {
            const struct rows *rows = m->piece[k].of;
            int64_t first, stop;
            if (m->piece[k].part != part || rows->kind != kind)
                continue;
            find_rows(rows, begin, end, &first, &stop);
            take_rows(m, &m->piece[k], &sample, first, stop);
        }
    }
}

unda_status sem_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece)
{
    const struct sem_cuda *t = sem_cuda_tables(piece->part);
    const struct rows *rows = piece->of;
    struct gpu_defines defines = {.num = 0};
    gpu_define(&defines, "REAL=%s", piece->part->real_bytes == 4 ? "float" : "double");
    if (rows->level != LEVEL_U) {
        m->num_moved =
            monitor_num_field(m->quantity) + rows->sem->region[rows->kind].dim; /* kept, then read */
        TRY(sem_plan_compile_keeping(piece->part, rows->kind));
    }
    return cuda_monitor_new(m, piece, t->gpu, t->stream, &defines, MONITOR_OF_ROWS);
}

/* kept: a step that goes on has left v or a of its end in a's memory. */
static unda_status take(const struct monitor *m, const struct monitor_piece *piece,
                        const struct monitor_sample *sample, bool kept)
{
    unda_solver *s = piece->part;
    const struct rows *rows = piece->of;
    const struct sem_cuda_region *r = &sem_cuda_tables(s)->region[rows->kind];
    const gpu_ptr level[NUM_LEVEL] = {r->u, r->v, r->a};
    struct monitor_args args = {.stride = {r->plan.width, r->plan.width}};
    for (int i = 0; i < monitor_num_field(m->quantity); i++)
        args.q[i] = POINTER((kept ? r->a : level[rows->level]) + (gpu_ptr)((rows->axis + i) * s->real_bytes));
    return cuda_monitor_take(piece, sample, &args);
}

unda_status sem_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                  const struct monitor_sample *sample)
{
    TRY(sem_state_flush(piece->part));
    return take(m, piece, sample, false);
}

/* ---- samples among the launches of steps ---- */

static const struct rows *rows_of(const struct monitor *m)
{
    return m->num_piece ? m->piece[0].of : NULL;
}

/* Levels of a region that samples at a step take, a bit each. */
static int levels_due(const unda_solver *s, int kind, int64_t step)
{
    int levels = 0;
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct rows *rows = rows_of(s->monitors[i]);
        struct monitor_sample sample;
        if (rows && rows->kind == kind && monitor_due(s, s->monitors[i], step, &sample))
            levels |= 1 << rows->level;
    }
    return levels;
}

void sem_cuda_choose(const unda_solver *s, bool last, struct sem_pass *pass)
{
    bool atomically = kernel_is(&s->options, "atomic");
    pass->mode = last ? SEM_CLOSE : SEM_STEP;
    for (int kind = 0; kind < NUM_REGION; kind++) {
        int due = levels_due(s, kind, s->step + 1) & (1 << LEVEL_V | 1 << LEVEL_A);
        if (due == (1 << LEVEL_V | 1 << LEVEL_A) || (due && atomically))
            pass->mode = SEM_CLOSE;
        pass->keep[kind] = due & 1 << LEVEL_V ? LEVEL_V : due ? LEVEL_A : LEVEL_U;
    }
}

static unda_status sample_levels(const unda_solver *s, bool of_u, bool kept)
{
    for (int32_t i = 0; i < s->num_monitor; i++) {
        const struct monitor *m = s->monitors[i];
        struct monitor_sample sample;
        if (!rows_of(m) || (rows_of(m)->level == LEVEL_U) != of_u || !monitor_due(s, m, s->step + 1, &sample))
            continue;
        for (int32_t k = 0; k < m->num_piece; k++)
            TRY(take(m, &m->piece[k], &sample, kept));
    }
    return UNDA_OK;
}

unda_status sem_cuda_sample_before(const unda_solver *s)
{
    return sample_levels(s, true, false);
}

unda_status sem_cuda_sample_after(const unda_solver *s, const struct sem_pass *pass)
{
    return sample_levels(s, false, pass->mode == SEM_STEP);
}
