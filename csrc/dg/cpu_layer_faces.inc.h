/* cpu_layer_faces.inc.h: faces of a tetrahedron in the pass over layers on the CPU, included by cpu_layer.inc.h. Lanes are
 * nodes of a face, filled up; what is beyond the last is not lifted. The equations: layer.c, cuda/dg/stretch.h. */

/* Rows that a face lifts: what it corrects of the fields, then jumps of the traces of the cell's items; [row][face node]. */
enum { FN(face_rows) = NUM_FIELD + 3 * NUM_TRACE, FN(face_room) = (MAX_FACE_NODE + LANES - 1) / LANES };

/* A face of a cell; at LANES nodes of it, from node `from` on, the states on both sides and coefficients. */
struct FN(layer_face) {
    const REAL *row; /* [FACE_NUMBER] */
    int kind, neighbor;
    VEC in[NUM_FIELD], out[NUM_FIELD], coef[NUM_FACE_COEF];
};

INLINE void FN(face_load)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t side, int from,
                          const struct FN(layer_room) * room, struct FN(layer_face) * face)
{
    const int *node = a->face_node + side % NUM_FACE * t->num_face_node, *other = node;
    const REAL *coef =
        (const REAL *)a->face_coef + side * NUM_FACE_COEF * (a->face_nodes ? t->num_face_node : 1);
    if (face->neighbor >= 0)
        other = a->face_node + NEIGHBOR_SIDE(face->neighbor) * t->num_face_node;
    for (int l = 0; l < LANES; l++) {
        int m = from + l < t->num_face_node ? from + l : 0;
        for (int f = 0; f < NUM_FIELD; f++) {
            face->in[f][l] = ((const REAL *)room->q)[f * a->pitch + node[m]];
            face->out[f][l] =
                face->neighbor < 0
                    ? face->in[f][l]
                    : ((const REAL *)a->q)[FN(at)(t, NEIGHBOR_ELEM(face->neighbor), other[m], f)];
        }
        for (int i = 0; i < NUM_FACE_COEF; i++)
            face->coef[i][l] = coef[a->face_nodes ? m * NUM_FACE_COEF + i : i];
    }
}

/* Traces across an axis on both sides; walls have the mirror image. */
INLINE void FN(face_traces)(const struct FN(layer_face) * face, int axis, VEC *in, VEC *out)
{
    VEC frame[NUM_FRAME], normal[3];
    FN(axis_frame)(axis, frame);
    FN(trace)(face->in, frame, in);
    FN(trace)(face->out, frame, out);
    for (int i = 0; i < 3; i++)
        normal[i] = all_lanes(face->row[FACE_NORMAL + i]);
    if (face->neighbor < 0)
        FN(axis_reflect)(-1 - face->neighbor, in, normal, out);
}

/* Takes off what the stage computed with the face's own upwind flux, and leaves what `rates` takes of the rest. */
INLINE void FN(face_fix)(const struct FN(layer_face) * face, VEC *acc, VEC *fix)
{
    VEC frame[NUM_FRAME], in[NUM_TRACE], out[NUM_TRACE], z[NUM_TRACE];
    FN(face_frame)(face->row, frame);
    FN(trace)(face->in, frame, in);
    FN(trace)(face->out, frame, out);
    FN(face_flux)(in, out, frame, face->coef, 1, z);
    FN(frame_add)(frame, -1, z, acc);
    FN(unit_rates)(acc, fix);
    for (int f = 0; f < NUM_FIELD; f++)
        fix[f] *= face->row[FACE_LENGTH];
}

/* What LANES nodes of a face lift; slot: the item of an axis, -1 none. rows: a VEC every `step`. */
INLINE void FN(face_jumps)(const struct FN(layer_face) * face, const int slot[3], VEC *rows, int step)
{
    VEC acc[NUM_ACC] = {{0}}, fix[NUM_FIELD], in[NUM_TRACE], out[NUM_TRACE], z[NUM_TRACE], jump[NUM_TRACE];
    for (int axis = 0; axis < 3; axis++) {
        REAL n = face->row[FACE_NORMAL + axis], sign = n < 0 ? -1 : 1, size = sign * n;
        if (n == 0 || (slot[axis] < 0 && face->kind != FACE_SPLIT))
            continue;
        FN(face_traces)(face, axis, in, out);
        if (face->kind == FACE_MEAN)
            for (int i = 0; i < NUM_TRACE; i++)
                jump[i] = (REAL)0.5 * n * (out[i] - in[i]);
        else {
            FN(axis_flux)(axis, sign, size, in, out, face->coef, z);
            FN(axis_jump)(sign, size, z, jump);
        }
        if (face->kind == FACE_SPLIT) {
            VEC frame[NUM_FRAME];
            FN(axis_side)(axis, sign, frame);
            FN(frame_add)(frame, size, z, acc);
        }
        for (int i = 0; slot[axis] >= 0 && i < NUM_TRACE; i++)
            rows[(NUM_FIELD + slot[axis] * NUM_TRACE + i) * step] = face->row[FACE_LENGTH] * jump[i];
    }
    if (face->kind == FACE_SPLIT) {
        FN(face_fix)(face, acc, fix);
        for (int f = 0; f < NUM_FIELD; f++)
            rows[f * step] = fix[f];
    }
}

/* to [count][vec] += lift of rows [count][step] of a face, four rows at a time; PARTs as in layer_volume. */
INLINE void FN(face_lift)(const struct dg_cpu *t, const struct dg_layer_args *a, int face, const VEC *rows,
                          int count, int step, VEC *to)
{
    enum { ROWS_AT_ONCE = 4 };
    int num_part = a->pitch / PART_LANES, num = t->num_face_node;
    const PART *lift = (const PART *)a->matrix + (int64_t)(3 * t->num_node + face * num) * num_part;
    for (int i = 0; i < count; i += ROWS_AT_ONCE)
        for (int p = 0; p < num_part; p++) {
            const REAL *row[ROWS_AT_ONCE];
            PART sum[ROWS_AT_ONCE] = {{0}};
            for (int k = 0; k < ROWS_AT_ONCE; k++)
                row[k] = (const REAL *)(rows + (i + k < count ? i + k : i) * step);
            for (int m = 0; m < num; m++) {
                PART d = lift[m * num_part + p];
#pragma GCC unroll 4
                for (int k = 0; k < ROWS_AT_ONCE; k++)
                    sum[k] += d * row[k][m];
            }
            for (int k = 0; k < ROWS_AT_ONCE && i + k < count; k++)
                ((PART *)to)[(i + k) * num_part + p] += sum[k];
        }
}

/* Adds to the slopes of a cell's items, and to `fix`, what its faces lift. */
INLINE void FN(layer_faces)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t elem, int64_t cell,
                            const int *axes, int num_item, struct FN(layer_room) * room)
{
    VEC rows[FN(face_rows) * FN(face_room)];
    int slot[3] = {-1, -1, -1}, step = (t->num_face_node + LANES - 1) / LANES, num_vec = a->pitch / LANES;
    for (int i = 0; i < num_item; i++)
        slot[axes[i]] = i;
    memset(room->fix, 0, sizeof(VEC) * (size_t)(NUM_FIELD * num_vec));
    for (int side = 0; side < NUM_FACE; side++) {
        int64_t at = NUM_FACE * cell + side;
        struct FN(layer_face) face = {.row = (const REAL *)a->face + at * FACE_NUMBER,
                                      .neighbor = a->neighbor[NUM_FACE * elem + side]};
        face.kind = (int)face.row[FACE_KIND];
        for (int v = 0; v < step; v++) {
            FN(face_load)(t, a, at, v * LANES, room, &face);
            FN(face_jumps)(&face, slot, rows + v, step);
        }
        if (face.kind == FACE_SPLIT)
            FN(face_lift)(t, a, side, rows, NUM_FIELD, step, room->fix);
        for (int i = 0; i < num_item; i++) {
            const VEC *jumps = rows + (NUM_FIELD + i * NUM_TRACE) * step;
            if (face.row[FACE_NORMAL + axes[i]] != 0)
                FN(face_lift)(t, a, side, jumps, NUM_TRACE, step, room->slope[i]);
        }
    }
}

/* What faces correct becomes rates. */
INLINE void FN(layer_fix)(const struct dg_layer_args *a, const REAL *coef, struct FN(layer_room) * room)
{
    int num_vec = a->pitch / LANES;
    for (int v = 0; v < num_vec; v++) {
        VEC at[NUM_COEF], fix[NUM_FIELD], rates[NUM_FIELD];
        for (int i = 0; i < NUM_COEF; i++)
            at[i] = FN(by_node)(coef, a->coef_nodes, i, v, num_vec);
        for (int f = 0; f < NUM_FIELD; f++)
            fix[f] = room->fix[f * num_vec + v];
        FN(rates)(fix, at, rates);
        for (int f = 0; f < NUM_FIELD; f++)
            room->rhs[f * num_vec + v] += rates[f];
    }
}
