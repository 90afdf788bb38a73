/* state.c: the state of finite differences in the user's numbering: fields without layers, whole arrays with
 * them, the position of a blow-up. Not here: the engines' arrays, materials (material.c). */
#include "fd.h"

unda_status fd_check_planes(int64_t first, int64_t count, int64_t num)
{
    if (first < 0 || count < 0 || first > num - count)
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected planes within 0..%lld", (long long)first,
             (long long)count, (long long)num - 1);
    return UNDA_OK;
}

/* The user's part of a plane with layers. Half a cell beyond a wall a field is an image, whatever an engine
 * stores there; sign: of the plane. */
static void crop(const unda_solver *s, int array, int sign, const void *whole, void *out)
{
    const struct fd_axis *ay = &fd_tables(s)->axis[1], *az = &fd_tables(s)->axis[2];
    const struct fd_field *f = &fd_tables(s)->field[array];
    for (int64_t i = 0; i < ay->num * az->num; i++) {
        int sign_y, sign_z;
        int64_t y = fd_mirror(ay, f->half[1], f->sign[1], ay->first + i / az->num, &sign_y);
        int64_t z = fd_mirror(az, f->half[2], f->sign[2], az->first + i % az->num, &sign_z);
        real_put(s, out, i, sign * sign_y * sign_z * real_get(s, whole, y * az->total + z));
    }
}

static unda_status read_field(unda_solver *s, int array, int64_t first, int64_t count, char *out)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    int64_t bytes = axis[1].num * axis[2].num * s->real_bytes;
    SCRATCH char *whole = NULL;
    TRY(array_try(&whole, axis[1].total * axis[2].total, s->real_bytes, "planes"));
    for (int64_t i = 0; i < count; i++) {
        const struct fd_field *f = &fd_tables(s)->field[array];
        int sign;
        int64_t from = fd_mirror(&axis[0], f->half[0], f->sign[0], axis[0].first + first + i, &sign);
        TRY(fd_planes(s, array, from, 1, whole, NULL));
        crop(s, array, sign, whole, out + i * bytes);
    }
    return UNDA_OK;
}

/* A field that is odd about a side is zero there, whatever is written: the outermost nodes of a box along
 * `a`. */
static unda_status zero_pinned(unda_solver *s, int array, const struct fd_box *all, int a)
{
    for (int side = 0; side < 2; side++) {
        struct fd_box box = *all;
        box.first[a] += side ? box.num[a] - 1 : 0;
        box.num[a] = 1;
        if (!fd_pinned(fd_tables(s), array, a, box.first[a]))
            continue;
        SCRATCH void *zero = NULL;
        TRY(array_try(&zero, box.num[0] * box.num[1] * box.num[2], s->real_bytes, "planes"));
        TRY(fd_engine(s)->box(s, array, &box, NULL, zero));
    }
    return UNDA_OK;
}

static unda_status write_field(unda_solver *s, int array, int64_t first, int64_t count, const void *in)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    struct fd_box box = {{axis[0].first + first, axis[1].first, axis[2].first},
                         {count, axis[1].num, axis[2].num}};
    if (count == 0)
        return UNDA_OK;
    TRY(fd_engine(s)->box(s, array, &box, NULL, in));
    for (int a = 0; a < 3; a++)
        TRY(zero_pinned(s, array, &box, a));
    return UNDA_OK;
}

unda_status fd_move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out, const void *in)
{
    const struct fd *fd = fd_tables(s);
    int num = fd->num_array;
    int64_t memory = (int64_t)array - UNDA_WHOLE - num; /* of any number that a user gives */
    if (array >= UNDA_FIELD && array < UNDA_FIELD + num) {
        TRY(fd_check_planes(first, count, fd->axis[0].num));
        return out ? read_field(s, array - UNDA_FIELD, first, count, out)
                   : write_field(s, array - UNDA_FIELD, first, count, in);
    }
    if (memory >= 0 && memory < fd->num_memory) {
        TRY(fd_check_planes(first, count, fd->memory[memory].num[0]));
        return fd_engine(s)->memory(s, (int)memory, first, count, out, in);
    }
    if (array < UNDA_WHOLE || memory >= 0)
        FAIL(UNDA_ERR_ARG, "array is %d, expected one of unda_array that this solver has", array);
    TRY(fd_check_planes(first, count, fd->axis[0].total));
    return fd_planes(s, array - UNDA_WHOLE, first, count, out, in);
}

unda_status fd_blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    int64_t at[3], elem = 0;
    blowup->field = (int32_t)(index / fd_tables(s)->num_node);
    fd_coordinates(fd_tables(s), index % fd_tables(s)->num_node, at);
    s->have_good = false;
    for (int a = 0; a < 3; a++) {
        if (at[a] < axis[a].first || at[a] >= axis[a].first + axis[a].num)
            return UNDA_OK;
        elem = elem * axis[a].num + at[a] - axis[a].first;
    }
    blowup->elem = elem;
    return UNDA_OK;
}

unda_status fd_array_shape(const unda_solver *s, int32_t array, int64_t *shape)
{
    const struct fd *fd = fd_tables(s);
    int num = fd->num_array;
    int64_t number = (int64_t)array - UNDA_WHOLE;
    if (number < 0 || number >= num + fd->num_memory)
        FAIL(UNDA_ERR_ARG, "array is %d, expected %d..%d", array, UNDA_WHOLE,
             UNDA_WHOLE + num + fd->num_memory - 1);
    for (int a = 0; a < 3; a++)
        shape[a] = number < num ? fd->axis[a].total : fd->memory[number - num].num[a];
    return UNDA_OK;
}
