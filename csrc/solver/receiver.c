/* receiver.c: groups of receivers and their sample buffers on the host.
 * A sample is the interpolant of the element at the point, or a derivative of it. Engines fill the buffers
 * (engine.record). */
#include "solver.h"

#include <math.h>
#include <string.h>

static void group_free(struct receiver_group *group)
{
    if (!group)
        return;
    array_free(group->elem);
    array_free(group->field);
    array_free(group->derivative);
    array_free(group->weight);
    array_free(group->samples);
    array_free(group);
}

void receivers_free(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_group; i++)
        group_free(s->groups[i]);
    array_free(s->groups);
    s->groups = NULL;
    s->num_group = 0;
}

bool receiver_due(const struct receiver_group *group, int64_t step)
{
    return (step - group->first) % group->every == 0;
}

/* Room for sample 0 and for those of max_step steps. */
static unda_status reserve(unda_solver *s, struct receiver_group *group)
{
    int64_t room = s->max_step / group->every + 2;
    if (room <= group->room)
        return UNDA_OK;
    int64_t sample = group->num_point * group->num_field;
    void *grown;
    TRY(array_try(&grown, room * sample, s->real_bytes, "receiver samples"));
    if (group->held)
        memcpy(grown, group->samples, (size_t)(group->held * sample * s->real_bytes));
    array_free(group->samples);
    group->samples = grown;
    group->room = room;
    return UNDA_OK;
}

unda_status receivers_reserve(unda_solver *s)
{
    for (int32_t i = 0; i < s->num_group; i++)
        TRY(reserve(s, s->groups[i]));
    return UNDA_OK;
}

unda_status receivers_check(const unda_solver *s, const unda_receivers *r)
{
    CHECK_SIZE(r, unda_receivers);
    if (r->num_point < 0 || r->num_field < 1)
        FAIL(UNDA_ERR_ARG, "receivers: %lld points, %d fields; expected >= 0, >= 1", (long long)r->num_point,
             r->num_field);
    if (!r->fields || (r->num_point > 0 && (!r->points || !r->elem)))
        FAIL(UNDA_ERR_ARG, "points, elem or fields of unda_receivers is NULL");
    for (int64_t i = 0; i < 3 * r->num_point; i++)
        if (!isfinite(r->points[i]))
            FAIL(UNDA_ERR_ARG, "receiver %lld: coordinate %lld is %g, expected a finite number",
                 (long long)(i / 3), (long long)(i % 3), r->points[i]);
    for (int64_t i = 0; i < r->num_point; i++)
        if (r->elem[i] < 0 || r->elem[i] >= s->mesh->num_elem)
            FAIL(UNDA_ERR_ARG, "receiver %lld: element %lld, expected 0..%lld", (long long)i,
                 (long long)r->elem[i], (long long)s->mesh->num_elem - 1);
    for (int32_t i = 0; i < r->num_field; i++)
        if (r->fields[i] < 0 || r->fields[i] >= 4 * s->dg->physics->num_field)
            FAIL(UNDA_ERR_ARG, "receiver field %d, expected 0..%d", r->fields[i],
                 4 * s->dg->physics->num_field - 1);
    return UNDA_OK;
}

static unda_status fill(unda_solver *s, struct receiver_group *group, const unda_receivers *r)
{
    int num_node = s->dg->num_node, num_field = s->dg->physics->num_field;
    group->num_point = r->num_point;
    group->num_field = r->num_field;
    group->num_weight = 1;
    group->every = r->every;
    group->first = s->step;
    TRY(array_try(&group->elem, r->num_point, sizeof(int64_t), "receiver elements"));
    TRY(array_try(&group->field, r->num_field, sizeof(int32_t), "receiver fields"));
    TRY(array_try(&group->derivative, r->num_field, sizeof(int32_t), "receiver fields"));
    for (int32_t f = 0; f < r->num_field; f++) {
        group->field[f] = r->fields[f] % num_field;
        group->derivative[f] = r->fields[f] / num_field;
        if (group->derivative[f] > 0)
            group->num_weight = 4;
    }
    int64_t num_weight = (int64_t)group->num_weight * num_node;
    TRY(array_try(&group->weight, r->num_point * num_weight, sizeof(double), "receiver weights"));
    for (int64_t i = 0; i < r->num_point; i++) {
        double *weight = group->weight + i * num_weight;
        group->elem[i] = s->mesh->place[r->elem[i]];
        dg_basis(s->dg, s->mesh, group->elem[i], r->points + 3 * i, weight,
                 group->num_weight > 1 ? weight + num_node : NULL);
    }
    TRY(reserve(s, group));
    return s->engine->record(s, group);
}

static unda_status add(unda_solver *s, const unda_receivers *r)
{
    TRY(receivers_check(s, r));
    if (r->every < 1 || r->every > INT32_MAX)
        FAIL(UNDA_ERR_ARG, "receivers: every %lld steps, expected 1 to 2147483647", (long long)r->every);
    struct receiver_group *group, **grown;
    TRY(array_try(&group, 1, sizeof *group, "receivers"));
    unda_status status = fill(s, group, r);
    if (status == UNDA_OK)
        status = array_try(&grown, s->num_group + 1, sizeof *grown, "receiver groups");
    if (status != UNDA_OK) {
        group_free(group);
        return status;
    }
    for (int32_t i = 0; i < s->num_group; i++)
        grown[i] = s->groups[i];
    grown[s->num_group] = group;
    array_free(s->groups);
    s->groups = grown;
    s->num_group++;
    s->point_version++;
    return UNDA_OK;
}

unda_status unda_solver_add_receivers(unda_solver *s, const unda_receivers *receivers, int32_t *group)
{
    if (!group)
        FAIL(UNDA_ERR_ARG, "group is NULL");
    TRY(solver_enter(s));
    unda_status status = add(s, receivers);
    if (status == UNDA_OK)
        *group = s->num_group - 1;
    return solver_leave(s, status);
}

unda_status unda_solver_clear_receivers(unda_solver *s)
{
    TRY(solver_enter(s));
    receivers_free(s);
    s->point_version++;
    return solver_leave(s, UNDA_OK);
}

static unda_status take(unda_solver *s, int32_t index, int64_t max_sample, void *samples, int64_t *num_sample)
{
    if (index < 0 || index >= s->num_group)
        FAIL(UNDA_ERR_ARG, "receiver group is %d, expected 0..%d", index, s->num_group - 1);
    struct receiver_group *group = s->groups[index];
    int64_t count = group->held < max_sample ? group->held : max_sample;
    size_t bytes = (size_t)(group->num_point * group->num_field * s->real_bytes);
    char *buffer = group->samples;
    memcpy(samples, buffer, (size_t)count * bytes);
    memmove(buffer, buffer + (size_t)count * bytes, (size_t)(group->held - count) * bytes);
    group->held -= count;
    group->taken += count;
    *num_sample = count;
    return UNDA_OK;
}

unda_status unda_solver_take_samples(unda_solver *s, int32_t group, int64_t max_sample, void *samples,
                                     int64_t *num_sample)
{
    if (!samples || !num_sample || max_sample < 0)
        FAIL(UNDA_ERR_ARG, "samples or num_sample is NULL, or max_sample is %lld, expected >= 0",
             (long long)max_sample);
    TRY(solver_enter(s));
    return solver_leave(s, take(s, group, max_sample, samples, num_sample));
}

unda_status unda_solver_record(unda_solver *s, int32_t index)
{
    TRY(solver_enter(s));
    unda_status status = UNDA_OK;
    if (index < 0 || index >= s->num_group) {
        status = error_set(UNDA_ERR_ARG, __FILE__, __LINE__, "receiver group is %d, expected 0..%d", index,
                           s->num_group - 1);
    } else {
        struct receiver_group *group = s->groups[index];
        group->first = s->step;
        group->held = group->taken = 0;
        status = s->engine->record(s, group);
    }
    return solver_leave(s, status);
}
