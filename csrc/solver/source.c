/* source.c: the list of point sources of a solver.
 * Not here: applying sources to the state (dg/points.c, fd/points.c), time functions
 * (python/unda/problem/timefunction.py). */
#include "solver.h"

#include <float.h>
#include <math.h>

void sources_free_all(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_source; i++)
        s->method->source_free(s->sources[i]);
    array_free(s->sources);
    s->sources = NULL;
    s->num_source = s->source_room = 0;
}

/* Refuses amplitudes outside the range of a field, which would overflow or vanish far from their cause. */
unda_status sources_check(const unda_solver *s, int64_t num_time, const double *amplitudes)
{
    double most = s->real_bytes == 4 ? FLT_MAX : DBL_MAX;
    for (int32_t i = 0; i < s->num_source; i++) {
        double unit = s->method->source_most ? s->method->source_most(s->sources[i]) : 1;
        for (int64_t k = 0; k < num_time; k++) {
            double a = fabs(amplitudes[k * s->num_source + i]);
            if (!(a <= most && a * unit <= most))
                FAIL(
                    UNDA_ERR_ARG,
                    "source %d has amplitude %.3g at time %lld of %lld of this call, of which a unit adds up "
                    "to %.3g to a field: beyond %s; use a smaller one, or other units%s",
                    i, a, (long long)k, (long long)num_time, unit, s->real_bytes == 4 ? "float32" : "float64",
                    s->real_bytes == 4 ? " or float64" : "");
        }
    }
    return UNDA_OK;
}

static unda_status check(const unda_solver *s, const unda_source *given)
{
    CHECK_SIZE(given, unda_source);
    if (given->node && (!s->method->takes_nodes || !given->field || !given->weight || given->places))
        FAIL(UNDA_ERR_ARG,
             "node of unda_source is given on %s; expected field and weight with it, no places, "
             "and a grid",
             s->method->name);
    if (given->num_cell < 1 || given->num_cell > INT32_MAX ||
        (!given->node && (!given->places || !given->rates)))
        FAIL(UNDA_ERR_ARG, "num_cell is %lld, expected 1 or more, or places or rates is NULL",
             (long long)given->num_cell);
    int64_t num = source_count(given);
    if (num < 1 || num > INT32_MAX / 2 - s->num_source)
        FAIL(UNDA_ERR_ARG, "num_source is %lld, expected 1 to %d beside the %d that there are",
             (long long)num, INT32_MAX / 2 - s->num_source, s->num_source);
    for (int64_t i = 0; given->first && i <= num; i++)
        if (i ? given->first[i] <= given->first[i - 1] : given->first[0] != 0)
            FAIL(UNDA_ERR_ARG, "first[%lld] of unda_source is %lld, expected 0, then more each time",
                 (long long)i, (long long)given->first[i]);
    if (given->first && given->first[num] != given->num_cell)
        FAIL(UNDA_ERR_ARG, "first[%lld] of unda_source is %lld, expected num_cell = %lld", (long long)num,
             (long long)given->first[num], (long long)given->num_cell);
    for (int64_t i = 0; given->places && i < 3 * given->num_cell; i++)
        if (!isfinite(given->places[i]))
            FAIL(UNDA_ERR_ARG, "coordinate %d of the source is %g, expected a finite number", (int)(i % 3),
                 given->places[i]);
    return UNDA_OK;
}

/* Room for so many more, at least twice as much as before. */
static unda_status grow(unda_solver *s, int64_t more)
{
    if (s->num_source + more <= s->source_room)
        return UNDA_OK;
    int64_t room = s->num_source + (more > s->num_source ? more : s->num_source) + 4;
    TRY(array_grow(&s->sources, s->num_source, room, sizeof *s->sources, "sources"));
    s->source_room = (int32_t)room;
    return UNDA_OK;
}

unda_status unda_solver_add_source(unda_solver *s, const unda_source *source, int32_t *index)
{
    if (!index)
        FAIL(UNDA_ERR_ARG, "index is NULL");
    ENTER(s);
    TRY(check(s, source));
    int64_t num = source_count(source);
    TRY(grow(s, num));
    void **made = s->sources + s->num_source;
    unda_status status = s->method->sources_new(s, made, source);
    for (int64_t i = 0; i < num && status != UNDA_OK; i++) {
        s->method->source_free(made[i]);
        made[i] = NULL;
    }
    TRY(status);
    *index = s->num_source;
    s->num_source += (int32_t)num;
    s->listed = false;
    return UNDA_OK;
}

unda_status unda_solver_clear_sources(unda_solver *s)
{
    ENTER(s);
    sources_free_all(s);
    if (s->method->clear_incident)
        s->method->clear_incident(s);
    s->listed = false;
    return UNDA_OK;
}
