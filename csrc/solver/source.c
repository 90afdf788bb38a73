/* source.c: the list of point sources of a solver.
 * Not here: what a source does to the state (dg/points.c, fd/points.c), time functions
 * (python/unda/timefunction.py). */
#include "solver.h"

#include <math.h>

void sources_free_all(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_source; i++)
        s->method->source_free(s->sources[i]);
    array_free(s->sources);
    s->sources = NULL;
    s->num_source = 0;
}

static unda_status add(unda_solver *s, int64_t elem, const double *position, const double *rates)
{
    for (int i = 0; i < 3; i++)
        if (!isfinite(position[i]))
            FAIL(UNDA_ERR_ARG, "coordinate %d of the source is %g, expected a finite number", i, position[i]);
    void **grown, *source;
    TRY(array_try(&grown, s->num_source + 1, sizeof *grown, "sources"));
    unda_status status = s->method->source_new(s, &source, elem, position, rates);
    if (status != UNDA_OK) {
        array_free(grown);
        return status;
    }
    for (int32_t i = 0; i < s->num_source; i++)
        grown[i] = s->sources[i];
    grown[s->num_source] = source;
    array_free(s->sources);
    s->sources = grown;
    s->num_source++;
    s->point_version++;
    return UNDA_OK;
}

unda_status unda_solver_add_source(unda_solver *s, int64_t elem, const double *position, const double *rates,
                                   int32_t *index)
{
    if (!position || !rates || !index)
        FAIL(UNDA_ERR_ARG, "position, rates or index is NULL");
    TRY(solver_enter(s));
    unda_status status = add(s, elem, position, rates);
    if (status == UNDA_OK)
        *index = s->num_source - 1;
    return solver_leave(s, status);
}

unda_status unda_solver_clear_sources(unda_solver *s)
{
    TRY(solver_enter(s));
    sources_free_all(s);
    array_free(s->incident);
    s->incident = NULL;
    s->num_incident = 0;
    s->point_version++;
    return solver_leave(s, UNDA_OK);
}
