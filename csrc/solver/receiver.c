/* receiver.c: groups of receivers and their sample buffers on the host, which engines fill as they step.
 * Not here: computing samples from the state (dg/points.c, fd/points.c). */
#include "solver.h"

#include <math.h>
#include <string.h>

static void group_free(unda_solver *s, struct receiver_group *group)
{
    if (group->points)
        s->method->points_free(group->points);
    array_free(group->samples);
    array_free(group);
}

void receivers_free(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_group; i++)
        group_free(s, s->groups[i]);
    array_free(s->groups);
    s->groups = NULL;
    s->num_group = 0;
}

bool receiver_due(const struct receiver_group *group, int64_t step)
{
    return (step - group->first) % group->every == 0;
}

int64_t receiver_num_since(const struct receiver_group *group, int64_t begin, int64_t step)
{
    return (step - group->first) / group->every - (begin - group->first) / group->every;
}

void receivers_advance(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_group; i++)
        s->groups[i]->held += receiver_num_since(s->groups[i], s->begin, s->step);
}

static unda_status begin_integrals(unda_solver *s, struct receiver_group *group)
{
    return s->method->begin_integrals ? s->method->begin_integrals(s, group->points) : UNDA_OK;
}

void receivers_keep(unda_solver *s, bool back)
{
    for (int32_t i = 0; i < s->num_group && s->method->keep_integrals; i++)
        s->method->keep_integrals(s->groups[i]->points, back);
}

/* A sample of a group at once, outside a run. */
static unda_status record(unda_solver *s, struct receiver_group *group)
{
    int64_t num = group->num_point * group->num_field;
    SCRATCH double *values = NULL;
    TRY(array_try(&values, num, sizeof *values, "receivers"));
    TRY(s->method->sample(s, group->points, values));
    real_copy(s, (char *)group->samples + group->held++ * num * s->real_bytes, values, num);
    return UNDA_OK;
}

/* Room for sample 0 and those of max_step steps, twice: samples of the previous call stay until they are
 * dropped. */
static unda_status reserve(unda_solver *s, struct receiver_group *group)
{
    int64_t room = 2 * (s->max_step / group->every) + 3;
    if (room <= group->room)
        return UNDA_OK;
    int64_t sample = receiver_sample_reals(s, group);
    TRY(array_grow(&group->samples, group->held * sample, room * sample, s->real_bytes, "receiver samples"));
    group->room = room;
    return UNDA_OK;
}

unda_status receivers_reserve(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_group; i++)
        TRY(reserve(s, s->groups[i]));
    return UNDA_OK;
}

static unda_status check(const unda_solver *s, const unda_receivers *r)
{
    CHECK_SIZE(r, unda_receivers);
    if (r->num_point < 0 || r->num_field < 1)
        FAIL(UNDA_ERR_ARG, "receivers: %lld points, %d fields; expected >= 0, >= 1", (long long)r->num_point,
             r->num_field);
    if (!r->fields || (r->num_point > 0 && !r->points) || (r->first && !r->weights))
        FAIL(UNDA_ERR_ARG, "points, fields, or with first weights, of unda_receivers is NULL");
    for (int64_t i = 0; r->first && i <= r->num_point; i++)
        if (i ? r->first[i] <= r->first[i - 1] : r->first[0] != 0)
            FAIL(UNDA_ERR_ARG, "first[%lld] of unda_receivers is %lld, expected 0, then more each time",
                 (long long)i, (long long)r->first[i]);
    for (int64_t i = 0; i < 3 * receivers_num_cell(r); i++)
        if (!isfinite(r->points[i]) || (r->first && !isfinite(r->weights[i / 3])))
            FAIL(UNDA_ERR_ARG, "receivers: coordinate %lld of place %lld is %g, or its weight is not finite",
                 (long long)(i % 3), (long long)(i / 3), r->points[i]);
    return s->method->points_check(s, r);
}

static unda_status fill(unda_solver *s, struct receiver_group *group, const unda_receivers *r)
{
    group->num_point = r->num_point;
    group->num_field = r->num_field;
    group->every = r->every;
    group->first = s->step;
    TRY(s->method->points_new(s, &group->points, r));
    TRY(reserve(s, group));
    TRY(begin_integrals(s, group));
    return record(s, group);
}

unda_status unda_solver_add_receivers(unda_solver *s, const unda_receivers *receivers, int32_t *index)
{
    if (!index)
        FAIL(UNDA_ERR_ARG, "group is NULL");
    ENTER(s);
    TRY(check(s, receivers));
    if (receivers->every < 1 || receivers->every > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "receivers: every %lld steps, expected 1 to 2147483647",
             (long long)receivers->every);
    struct receiver_group *group;
    TRY(array_grow(&s->groups, s->num_group, s->num_group + 1, sizeof group, "receiver groups"));
    TRY(array_try(&group, 1, sizeof *group, "receivers"));
    unda_status status = fill(s, group, receivers);
    if (status != UNDA_OK)
        group_free(s, group);
    TRY(status);
    s->groups[s->num_group] = group;
    s->listed = false;
    *index = s->num_group++;
    return UNDA_OK;
}

unda_status unda_solver_clear_receivers(unda_solver *s)
{
    ENTER(s);
    receivers_free(s);
    s->listed = false;
    return UNDA_OK;
}

/* Samples of steps from `first` to before `step`. */
static int64_t num_before(const struct receiver_group *group, int64_t step)
{
    return step > group->first ? (step - group->first - 1) / group->every + 1 : 0;
}

unda_status receivers_set_clock(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_group; i++) {
        s->groups[i]->held = 0;
        s->groups[i]->taken = num_before(s->groups[i], s->step + 1);
        TRY(begin_integrals(s, s->groups[i]));
    }
    return UNDA_OK;
}

static void drop(struct receiver_group *group, int64_t num, size_t bytes)
{
    char *buffer = group->samples;
    num = num < group->held ? num : group->held;
    if (num <= 0)
        return;
    memmove(buffer, buffer + (size_t)num * bytes, (size_t)(group->held - num) * bytes);
    group->held -= num;
    group->taken += num;
}

static unda_status find(const unda_solver *s, int32_t index, struct receiver_group **group)
{
    if (index < 0 || index >= s->num_group)
        FAIL(UNDA_ERR_ARG, "receiver group is %d, expected 0..%d", index, s->num_group - 1);
    *group = s->groups[index];
    return UNDA_OK;
}

unda_status unda_solver_take_samples(unda_solver *s, int32_t index, int64_t *step, int64_t max_sample,
                                     void *samples, int64_t *num_sample)
{
    if (!step || !num_sample || max_sample < 0)
        FAIL(UNDA_ERR_ARG, "step or num_sample is NULL, or max_sample is %lld, expected >= 0",
             (long long)max_sample);
    struct receiver_group *group = NULL;
    ENTER(s);
    TRY(find(s, index, &group));
    size_t bytes = (size_t)(group->num_point * group->num_field * s->real_bytes);
    drop(group, num_before(group, *step) - group->taken, bytes);
    *step = group->first + group->taken * group->every;
    *num_sample = group->held;
    if (samples) {
        *num_sample = group->held < max_sample ? group->held : max_sample;
        memcpy(samples, group->samples, (size_t)*num_sample * bytes);
    }
    return UNDA_OK;
}

unda_status unda_solver_record(unda_solver *s, int32_t index)
{
    struct receiver_group *group = NULL;
    ENTER(s);
    TRY(find(s, index, &group));
    group->first = s->step;
    group->held = group->taken = 0;
    TRY(begin_integrals(s, group));
    return record(s, group);
}

/* Values of integrals that a group has. */
static int64_t num_integral(const unda_solver *s, const struct receiver_group *group)
{
    return s->method->num_integral ? 3 * s->method->num_integral(group->points) : 0;
}

unda_status unda_solver_read_integrals(unda_solver *s, int32_t index, double *values, int64_t *num_value)
{
    struct receiver_group *group = NULL;
    if (!num_value)
        FAIL(UNDA_ERR_ARG, "num_value is NULL");
    ENTER(s);
    TRY(find(s, index, &group));
    *num_value = num_integral(s, group);
    return values && *num_value ? s->method->move_integrals(s, group->points, values, NULL) : UNDA_OK;
}

unda_status unda_solver_write_integrals(unda_solver *s, int32_t index, const double *values,
                                        int64_t num_value)
{
    struct receiver_group *group = NULL;
    if (!values)
        FAIL(UNDA_ERR_ARG, "values is NULL");
    ENTER(s);
    TRY(find(s, index, &group));
    int64_t num = num_integral(s, group);
    if (num_value != num)
        FAIL(UNDA_ERR_ARG, "num_value is %lld, expected %lld: three for each integral over time at a place",
             (long long)num_value, (long long)num);
    return num ? s->method->move_integrals(s, group->points, NULL, values) : UNDA_OK;
}

static unda_status no_integrals_now(void)
{
    FAIL(UNDA_ERR_ARG, "fields of unda_receivers has an integral over time, expected values or derivatives: "
                       "those are of receivers that are added");
}

unda_status unda_solver_sample(unda_solver *s, const unda_receivers *receivers, double *values)
{
    if (!values)
        FAIL(UNDA_ERR_ARG, "values is NULL");
    void *points = NULL;
    ENTER(s);
    unda_status status = check(s, receivers);
    if (status == UNDA_OK)
        status = s->method->points_new(s, &points, receivers);
    if (status == UNDA_OK && s->method->num_integral && s->method->num_integral(points) > 0)
        status = no_integrals_now();
    if (status == UNDA_OK)
        status = s->method->sample(s, points, values);
    s->method->points_free(points);
    return status;
}
