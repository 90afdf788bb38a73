/* sem_team.c: faults in the exchange of a team of spectral elements, put in between the parts' engines and what they
 * received, are seen: by the check of copies of a node, or in the state. Looks inside the library, on the CPU. Not here:
 * teams without faults (library.c, tests/sem/test_sem_team.py). */
#include "rig.h"

#include "sem/team.h"

#include <math.h>

enum fault { NONE, DROPPED, LATE, NUM_FAULT };
static enum fault fault;
static struct sem_engine faulty;

/* Part 0 receives no forces, or what came a step before. */
static unda_status end_with_fault(unda_solver *part)
{
    struct exchange *x = part->exchange;
    bool first = sem_tables(part)->cut->which == 0, late = fault == LATE && first;
    if (fault == DROPPED && first)
        memset((void *)x->from[x->turn], 0, (size_t)x->bytes);
    if (late)
        SWAP(x->from[0], x->from[1]);
    unda_status status = sem_cpu.base.exchange_end(part);
    if (late)
        SWAP(x->from[0], x->from[1]);
    return status;
}

static unda_status run_to(enum fault which, double *state)
{
    struct spectral sem = {0};
    unda_status status = spectral_new(&sem, UNDA_FLOAT64);
    fault = which;
    for (int p = 0; status == UNDA_OK && rig_parts > 1 && p < rig_parts; p++)
        sem_team_of(sem.solver)->part[p]->engine = &faulty.base;
    status = status == UNDA_OK ? spectral_use(&sem, 5) : status;
    if (status == UNDA_OK)
        status = unda_solver_read(sem.solver, UNDA_STATE, 0, SEM_ELEM, state);
    spectral_free(&sem);
    return status;
}

static bool is_same(const double *one, const double *other)
{
    double most = 0, apart = 0;
    for (int i = 0; i < SEM_STATE; i++) {
        most = fmax(most, fabs(one[i]));
        apart = fmax(apart, fabs(one[i] - other[i]));
    }
    return most > 0 && apart <= 1e-12 * most;
}

unda_status sem_team_faults(int *num_same, int *num_seen)
{
    static double state[2][SEM_STATE];
    faulty = sem_cpu;
    faulty.base.exchange_end = end_with_fault;
    TRY_HERE(run_to(NONE, state[0]));
    rig_parts = 3;
    for (enum fault f = NONE; f < NUM_FAULT; f++) {
        unda_status status = run_to(f, state[1]);
        bool same = status == UNDA_OK && is_same(state[0], state[1]);
        if (status != UNDA_OK && (f == NONE || status != UNDA_ERR_INTERNAL))
            return status;
        *num_same += same;
        *num_seen += f != NONE && !same;
    }
    return UNDA_OK;
}
