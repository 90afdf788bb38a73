/* team.c: faults in the exchange of a team of DG, put in between the parts' engines and what they received, are seen in
 * the state. Looks inside the library, on the CPU. Not here: teams without faults (library.c, tests/dg/test_team.py). */
#include "rig.h"

#include "dg/team.h"

#include <stdlib.h>

enum { NUM_STATE = NUM_ELEM * MAX_RIG_NODE * NUM_FIELD };
enum fault { NONE, DROPPED, TURNED, LATE, NUM_FAULT };
static enum fault fault;
static struct dg_engine faulty;

/* The first trace that part 0 has received, [face node][field]. */
static void spoil(const unda_solver *part)
{
    struct exchange *x = part->exchange;
    int num = dg_tables(part)->space.num_face_node;
    double *trace = (double *)x->from[x->turn];
    if (fault == DROPPED)
        memset(trace, 0, sizeof *trace * (size_t)(num * NUM_FIELD));
    for (int m = 0; fault == TURNED && m < num / 2; m++)
        for (int f = 0; f < NUM_FIELD; f++)
            SWAP(trace[m * NUM_FIELD + f], trace[(num - 1 - m) * NUM_FIELD + f]);
}

static unda_status end_with_fault(unda_solver *part)
{
    struct exchange *x = part->exchange;
    bool late = fault == LATE && dg_tables(part)->space.mesh->part.which == 0;
    if (dg_tables(part)->space.mesh->part.which == 0)
        spoil(part);
    if (late) /* what came a stage before */
        SWAP(x->from[0], x->from[1]);
    unda_status status = dg_cpu.base.exchange_end(part);
    if (late)
        SWAP(x->from[0], x->from[1]);
    return status;
}

static unda_status run_to(enum fault which, double *state)
{
    struct rig rig = {0};
    unda_status status = rig_new(&rig, &(unda_solver_options){.degree = 3, .precision = UNDA_FLOAT64});
    fault = which;
    for (int p = 0; status == UNDA_OK && rig_parts > 1 && p < rig_parts; p++)
        dg_team_of(rig.solver)->part[p]->engine = &faulty.base;
    for (int64_t i = 0; status == UNDA_OK && i < MAX_TIME * rig.info.num_exact * NUM_FIELD; i++)
        rig.outer[i] = (double)(i % 7);
    status = status == UNDA_OK ? rig_use(&rig, 3) : status;
    if (status == UNDA_OK)
        status = unda_solver_read(rig.solver, UNDA_STATE, 0, NUM_ELEM, state);
    rig_free(&rig);
    return status;
}

unda_status team_faults(int *num_same, int *num_seen)
{
    double *state[2];
    for (int i = 0; i < 2; i++)
        state[i] = calloc(NUM_STATE, sizeof *state[i]);
    faulty = dg_cpu;
    faulty.base.exchange_end = end_with_fault;
    unda_status status = run_to(NONE, state[0]);
    rig_parts = 3;
    for (enum fault f = NONE; f < NUM_FAULT && status == UNDA_OK; f++) {
        status = run_to(f, state[1]);
        bool same = memcmp(state[0], state[1], NUM_STATE * sizeof **state) == 0;
        *num_same += same;
        *num_seen += f != NONE && !same;
    }
    for (int i = 0; i < 2; i++)
        free(state[i]);
    return status;
}
