/* entries.c: public functions that not every method has: each calls an optional entry of struct method, or
 * reports that there is none. Not here: the entries (dg/method.c, fd/state.c, fd/material.c). */
#include "monitor.h"

unda_status solver_lacks(const unda_solver *s, const char *what)
{
    FAIL(UNDA_ERR_ARG, "%s has no %s", s->method->name, what);
}

/* Functions that only read, also while another thread runs the solver. */
static unda_status look(const unda_solver *s, const void *out, const char *what)
{
    TRY(fork_check());
    if (!s || !out)
        FAIL(UNDA_ERR_ARG, "solver or %s is NULL", what);
    return UNDA_OK;
}

unda_status unda_solver_element_dt(const unda_solver *s, double *dt)
{
    TRY(look(s, dt, "dt"));
    if (!s->method->element_dt)
        return solver_lacks(s, "elements");
    s->method->element_dt(s, dt);
    return UNDA_OK;
}

unda_status unda_solver_get_member(const unda_solver *s, int32_t which, unda_member *member)
{
    TRY(look(s, member, "member"));
    CHECK_SIZE(member, unda_member);
    return s->method->member ? s->method->member(s, which, member) : solver_lacks(s, "parts: it is no team");
}

unda_status unda_solver_exact_points(const unda_solver *s, double *points, int32_t *boundary)
{
    TRY(look(s, points, "points"));
    if (!s->method->exact_points)
        return solver_lacks(s, "elements");
    s->method->exact_points(s, points, boundary);
    return UNDA_OK;
}

unda_status unda_solver_get_history(const unda_solver *s, int32_t *history)
{
    TRY(look(s, history, "history"));
    *history = s->method->get_history ? s->method->get_history(s) : 0;
    return UNDA_OK;
}

unda_status unda_solver_add_incident(unda_solver *s, int64_t num_face, const int64_t *elem,
                                     const int32_t *face, const int32_t *sign, int32_t *index)
{
    if (!elem || !face || !sign || !index)
        FAIL(UNDA_ERR_ARG, "elem, face, sign or index is NULL");
    ENTER(s);
    return s->method->add_incident ? s->method->add_incident(s, num_face, elem, face, sign, index)
                                   : solver_lacks(s, "incident waves");
}

unda_status unda_solver_clear_state(unda_solver *s)
{
    ENTER(s);
    s->have_good = false;
    TRY(monitors_settle(s));
    return s->method->clear_state ? s->method->clear_state(s) : solver_lacks(s, "layers");
}

unda_status unda_solver_rest(unda_solver *s)
{
    ENTER(s);
    s->have_good = false;
    TRY(monitors_settle(s));
    return s->method->rest ? s->method->rest(s) : solver_lacks(s, "earlier level");
}

unda_status unda_solver_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row)
{
    unda_solver_info info = {.size_bytes = sizeof info};
    CHECK_SIZE(view, unda_view);
    TRY(unda_solver_get_info(s, &info));
    if (field < 0 || field >= info.num_field)
        FAIL(UNDA_ERR_ARG, "field is %d, expected 0..%d", field, info.num_field - 1);
    ENTER(s);
    if (!s->engine->view)
        FAIL(UNDA_ERR_ARG, "%s in parts or processes has no view of its whole state; expected one device",
             s->method->name);
    TRY(monitors_settle(s)); /* the state may go to where their samples stand */
    *view = (unda_view){.size_bytes = sizeof *view, .device = -1, .real_bytes = s->real_bytes};
    return s->engine->view(s, field, view, row);
}

unda_status unda_solver_array_shape(unda_solver *s, int32_t array, int64_t *shape)
{
    if (!shape)
        FAIL(UNDA_ERR_ARG, "shape is NULL, expected [3]");
    ENTER(s);
    return s->method->array_shape ? s->method->array_shape(s, array, shape)
                                  : solver_lacks(s, "arrays with layers");
}

unda_status unda_solver_set_material(unda_solver *s, int64_t first, int64_t count, const double *material)
{
    if (!material)
        FAIL(UNDA_ERR_ARG, "material is NULL");
    ENTER(s);
    return s->method->set_material ? s->method->set_material(s, first, count, material)
                                   : solver_lacks(s, "materials by planes");
}

unda_status unda_solver_medium_dt(unda_solver *s, double *dt, int32_t *again)
{
    if (!dt || !again)
        FAIL(UNDA_ERR_ARG, "dt or again is NULL");
    ENTER(s);
    return s->method->medium_dt ? s->method->medium_dt(s, dt, again) : solver_lacks(s, "materials by planes");
}

unda_status unda_solver_rhs(unda_solver *s, const unda_drive *drive)
{
    ENTER(s);
    if (!s->method->rhs)
        return solver_lacks(s, "right-hand side: it steps from levels to levels");
    TRY(solver_check_drive(s, 1, drive));
    s->have_good = false;
    TRY(solver_reserve(s, 1));
    TRY(s->engine->drive(s, drive));
    return s->method->rhs(s);
}

unda_status unda_solver_get_message(const unda_solver *s, int32_t which, unda_message *message)
{
    TRY(fork_check());
    if (!s)
        FAIL(UNDA_ERR_ARG, "solver is NULL");
    CHECK_SIZE(message, unda_message);
    return s->method->message ? s->method->message(s, which, message) : solver_lacks(s, "messages");
}

unda_status unda_solver_set_requests(unda_solver *s, const unda_requests *requests)
{
    ENTER(s);
    CHECK_SIZE(requests, unda_requests);
    return s->method->set_requests ? s->method->set_requests(s, requests) : solver_lacks(s, "messages");
}
