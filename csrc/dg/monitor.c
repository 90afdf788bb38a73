/* monitor.c: rows of monitors of DG: the nodes of an element, on one device, in parts, in a process's part. Not here:
 * accumulating (solver/cpu_monitor.c, solver/cuda_monitor.c). */
#include "monitor.h"

#include "../solver/cuda_monitor.h"
#include "common/monitor_args.h"
#include "cpu.h"
#include "cuda.h"
#include "team.h"

static unda_status check(const unda_monitor *given, int num_field, int64_t num_elem)
{
    TRY(monitor_check_field(given, num_field));
    return monitor_check_elem(given, num_elem);
}

/* The rows of part p, of which owner and local say which elements it has; NULL: all of them. */
static unda_status add_part(struct monitor *m, unda_solver *part, int32_t p, const int32_t *owner,
                            const int64_t *local, const int64_t *elem)
{
    const struct space *space = &dg_tables(part)->space;
    struct monitor_piece *piece;
    int64_t num = 0;
    for (int64_t i = 0; i < m->num_row; i++)
        num += !owner || owner[elem ? elem[i] : i] == p;
    TRY(monitor_add_piece(m, part, (const int32_t[3]){(int32_t)num, 1, space->num_node}, &piece));
    num = 0;
    for (int64_t i = 0; i < m->num_row; i++) {
        int64_t e = elem ? elem[i] : i;
        if (owner && owner[e] != p)
            continue;
        piece->to[num] = i;
        piece->place[num++] = space->place[local ? local[e] : e];
    }
    for (int64_t n = 0; n < space->num_node; n++)
        piece->place[num + 1 + n] = n;
    return UNDA_OK;
}

static unda_status begin(struct monitor *m, const unda_solver *part, const unda_monitor *given,
                         int64_t num_elem, int32_t num_part)
{
    TRY(check(given, dg_tables(part)->physics->num_field, num_elem));
    m->num_row = given->elem ? given->num_elem : num_elem;
    m->row = dg_tables(part)->space.num_node;
    return array_own(&m->owned, &m->piece, num_part, sizeof *m->piece, "monitors");
}

unda_status dg_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given)
{
    TRY(begin(m, s, given, dg_tables(s)->space.num_owned, 1));
    m->inside = s->options.device != UNDA_DEVICE_CPU;
    return add_part(m, s, 0, NULL, NULL, given->elem);
}

unda_status dg_team_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given)
{
    const struct dg_team *team = dg_team_of(s);
    TRY(begin(m, team->part[0], given,
              team->owner ? team->mesh->num_elem : dg_tables(team->part[0])->space.num_owned,
              team->num_part));
    for (int32_t p = 0; p < team->num_part; p++)
        TRY(add_part(m, team->part[p], p, team->owner, team->local, given->elem));
    return UNDA_OK;
}

/* ---- engines ---- */

unda_status dg_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                const struct monitor_sample *sample)
{
    const unda_solver *s = piece->part;
    struct monitor_view view = {.stride = {dg_num_value(s)}, .step = dg_cpu_place(s, 1, 0)};
    for (int i = 0; i < monitor_num_field(m->quantity); i++)
        view.base[i] = (uintptr_t)dg_cpu_tables(s)->buffer[BUF_Q] +
                       (uintptr_t)(dg_cpu_place(s, 0, m->field + i) * s->real_bytes);
    monitor_cpu_take(piece, &view, sample);
    return UNDA_OK;
}

unda_status dg_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece)
{
    struct gpu_defines defines = {.num = 0};
    plan_define(piece->part, &tables(piece->part)->plan, &defines);
    return cuda_monitor_new(m, piece, tables(piece->part)->gpu, tables(piece->part)->stream, &defines,
                            MONITOR_OF_TABLES);
}

unda_status dg_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample)
{
    const unda_solver *s = piece->part;
    const struct space *space = &dg_tables(s)->space;
    struct monitor_args args = {.q = {POINTER(tables(s)->buffer[BUF_Q])},
                                .total = space_num_total(space) * space->num_node,
                                .field = m->field,
                                .num_field = dg_tables(s)->physics->num_field};
    return cuda_monitor_take(piece, sample, &args);
}

unda_status dg_cuda_monitors_take(const unda_solver *s)
{
    struct monitor_sample sample;
    for (int32_t i = 0; i < s->num_monitor; i++)
        for (int32_t k = 0; k < s->monitors[i]->num_piece; k++)
            if (monitor_due(s, s->monitors[i], s->step, &sample))
                TRY(dg_cuda_monitor_take(s->monitors[i], &s->monitors[i]->piece[k], &sample));
    return UNDA_OK;
}
