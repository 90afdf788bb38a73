/* streamed_plan.c: whether a grid is streamed, and the rows and levels of its window.
 * Not here: how the window passes over the grid (streamed.c). */
#include "streamed.h"

enum { MOST_LEVELS = 256 };

/* Rows for one window: its own rows and the next window's, those over which levels lean, and those above. */
static int64_t rows_of_window(const struct fd *fd, const struct streamed *w)
{
    return 2 * w->slab + w->reach + fd->half * w->levels + streamed_rows_above(fd, w);
}

static const char *refusal(const unda_solver *s, const struct scalar_cuda *t)
{
    const struct fd_axis *y = &fd_tables(s)->axis[1];
    if (y->total == 1)
        return "y, along which it passes, has one node";
    if (y->side[0] == SIDE_PERIODIC)
        return "y, along which it passes, is periodic";
    if (t->base.pitch * (y->total + 2 * t->pad_y) * s->real_bytes > INT32_MAX)
        return "a plane of y and z has 2^31 bytes or more";
    return NULL;
}

/* Bytes that a window may take: an eighth is left for sources and receivers. INT64_MAX / 2 without a
 * device. */
static int64_t free_bytes(const unda_solver *s)
{
    unda_device_info info = {.size_bytes = sizeof info};
    return unda_device_get_info(s->options.device, &info) == UNDA_OK ? info.free_bytes : INT64_MAX / 2;
}

/* Rounded down, so that a little more or less free memory does not lead to another kernel, whose strides
 * are constants. */
static int64_t rounded(int64_t rows)
{
    int64_t unit = 1;
    while (unit * 32 < rows)
        unit *= 2;
    return rows / unit * unit;
}

/* With more levels a pass, less is copied per step. The window has more rows than it needs, so that it
 * advances far before rows have to move up: as many more as the levels lean over. */
static unda_status fill_plan(const unda_solver *s, struct scalar_cuda *t, int64_t room, int64_t all)
{
    struct streamed *w = &t->streamed;
    int64_t half = fd_tables(s)->half, unit = w->reach > 0 ? w->reach : 1,
            given = kernel_part(&s->options, "levels");
    bool chosen = fd_tables(s)->options.window < 0;
    room = room >= all ? all : chosen ? rounded(room) : room;
    w->slab =
        chosen ? most(room / 16 / unit, 1) * unit
               : (least(fd_tables(s)->options.window, fd_tables(s)->axis[1].total) + unit - 1) / unit * unit;
    w->levels = given ? given : MOST_LEVELS;
    if (room < all) {
        int64_t fit = (room - w->reach - 4 * w->slab) / half - 2;
        if (room < 0 || fit < 1)
            FAIL(UNDA_ERR_DEVICE_MEMORY,
                 "a window with slabs of %lld rows takes %lld rows at least, %lld fit on device %d",
                 (long long)w->slab, (long long)(4 * w->slab + w->reach + 3 * half), (long long)most(room, 0),
                 s->options.device);
        w->levels = least(w->levels, chosen && !given ? least(fit, most(room / (2 * half), 1)) : fit);
    }
    w->rows = chosen ? room : least(room, rows_of_window(fd_tables(s), w) + most(w->slab, half * w->levels));
    return UNDA_OK;
}

unda_status streamed_choose(unda_solver *s, struct scalar_cuda *t, int64_t other_bytes)
{
    int64_t all = fd_tables(s)->axis[1].total + 2 * t->pad_y;
    int64_t bytes =
        streamed_arrays(s) * (fd_tables(s)->axis[0].total + 2 * t->pad_x) * t->base.pitch * s->real_bytes;
    if (fd_tables(s)->options.window == 0)
        return UNDA_OK;
    int64_t free = free_bytes(s);
    if (fd_tables(s)->options.window < 0 && other_bytes + all * bytes <= free)
        return UNDA_OK;
    const char *why = refusal(s, t);
    t->streamed.why_not = why;
    if (why && fd_tables(s)->options.window < 0)
        return UNDA_OK;
    if (why)
        FAIL(UNDA_ERR_ARG, "window is %d, expected 0: %s", fd_tables(s)->options.window, why);
    TRY(fill_plan(s, t, (free / 8 * 7 - other_bytes) / bytes, all));
    t->base.plane = t->base.pitch * t->streamed.rows;
    t->base.origin = t->pad_x * t->base.plane;
    t->base.by_row = true;
    /* a pass is one launch of kernel diamond, where that is in use */
    t->diamond.tile.levels = (int)t->streamed.levels;
    t->diamond.tile.fewest = (int)least(t->diamond.tile.fewest, t->streamed.levels);
    return UNDA_OK;
}
