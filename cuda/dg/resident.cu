/* resident.cu: many steps of a small problem in one launch. Kernel fused reads and writes all fields each stage, and a
 * launch takes longer than the stage itself; here a block keeps its elements from the first step to the last.
 *
 * block = TILE elements x all nodes, and all blocks are on the device at once. A thread owns ROWS nodes of an element:
 * their state and residuals stay in its registers, and for low degrees (HELD) its rows of the matrices as well.
 * After each stage a thread sends the state of its nodes on faces to mailboxes in memory, one of each face node, and
 * multiplies by the derivatives, for which it needs its own element alone; then it takes what neighbours sent. Each
 * word has the number of its stage beside it (async.h): there are neither flags nor barriers between blocks. Two
 * mailboxes take turns. What is in one has been read when it is written again: a block sends stage n + 2 after it has
 * taken stage n + 1 of a neighbour, and that neighbour sent it after it had taken stage n. Relaxed loads and stores
 * will do: a load is over once its tag has been looked at, and all threads of a block wait for each other in between.
 *
 * Operations and their order are those of fused.cu, so the bits are the same. Elements with receivers also store their
 * state after each step (history), from which common/state.cu computes samples; after each stage where it integrates.
 * Those with monitors (SAMPLED) store it every so many steps, from which common/monitor.cu adds samples.
 *
 * Defines: REAL, DEGREE, PHYSICS, SPACE, LAYOUT, FLUX_CENTRAL, MATERIAL_NODES, UPDATE (LSRK or AB3), TILE, ROWS, HELD,
 * SHARED_BYTES (dynamic), LOCAL, INCIDENT, SAMPLED. Matrix packing: derivative [quad of nodes][3][row][4], then lift
 * [NUM_FACE][quad of face nodes][row][4]; what fills a quad up is zero. */
#if !defined(REAL) || !defined(DEGREE) || !defined(PHYSICS) || !defined(ROWS) || !defined(TILE) ||           \
    !defined(HELD)
#error "resident.cu needs REAL, DEGREE, PHYSICS, FLUX_CENTRAL, MATERIAL_NODES, UPDATE, ROWS, TILE, HELD"
#endif

#include "dg/record.h"

#include "common/async.h"
#include "dg/update.h"
#include "dg/wave.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

enum {
    ROW_GROUPS = (NP + ROWS - 1) / ROWS,
    THREADS = ROW_GROUPS * TILE,
    QUADS = (NP + 3) / 4,
    FACE_QUADS = (NFP + 3) / 4,
    VECTOR = 16 / sizeof(REAL),
    PITCH = (NUM_REF + VECTOR - 1) / VECTOR * VECTOR,
    JUMPS = 4 * FACE_QUADS * NUM_JUMP, /* of a face */
    JOBS = (TILE * NUM_FACE * NFP + THREADS - 1) / THREADS,
    MOST_FACES = NUM_FACE - 1, /* on which a node lies */
    PACKET = VECTOR / 2,       /* reals that are sent at once */
    PACKETS = (NUM_FIELD + PACKET - 1) / PACKET,
    AT_ONCE = PACKETS < 12 ? LEAST(12 / PACKETS, JOBS) : 1, /* jobs whose packets are asked for together */
    NUM_STAGE = UPDATE == UPDATE_LSRK ? 5 : 1,
    UNROLL_VOLUME = HELD ? QUADS : 2,
    UNROLL_LIFT = HELD ? FACE_QUADS : 2
};

struct tile {
    __align__(16) REAL u[TILE * NP * PITCH];       /* [elem][node][NUM_REF], in reference components */
    __align__(16) REAL s[TILE * NUM_FACE * JUMPS]; /* [elem][face][face node][NUM_JUMP] */
    __align__(16) REAL record[TILE][WORDS];
    REAL frame[TILE * NUM_FACE][NUM_FRAME], coef[TILE * NUM_FACE][NUM_FACE_COEF],
        lift[TILE * NUM_FACE][NUM_LIFT_COEF];
    int neighbor[TILE * NUM_FACE];
};
static_assert(sizeof(tile) <= SHARED_BYTES, "the host counts the same");

/* A thread's rows of the matrices. */
struct rows {
    REAL derivative[QUADS][3][ROWS][4], lift[NUM_FACE][FACE_QUADS][ROWS][4];
};

DEVICE void load_rows(const REAL *matrix, int column, int group, REAL to[ROWS][4])
{
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        load_constant<4>(to[r], matrix + (column * (ROWS * ROW_GROUPS) + group + r * ROW_GROUPS) * 4);
}

DEVICE void hold_rows(const REAL *matrix, int group, rows &held)
{
#pragma unroll
    for (int k = 0; k < QUADS; k++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            load_rows(matrix, 3 * k + j, group, held.derivative[k][j]);
#pragma unroll
    for (int k = 0; k < NUM_FACE * FACE_QUADS; k++)
        load_rows(matrix, 3 * QUADS + k, group, held.lift[k / FACE_QUADS][k % FACE_QUADS]);
}

/* acc += derivative products of element e. */
DEVICE void volume_products(const REAL *matrix, const rows &held, const tile &s, int group, int e,
                            REAL acc[ROWS][NUM_ACC])
{
#pragma unroll(UNROLL_VOLUME)
    for (int k = 0; k < QUADS; k++) {
        REAL d[3][ROWS][4];
#pragma unroll
        for (int j = 0; j < 3; j++)
            if (HELD) {
#pragma unroll
                for (int i = 0; i < 4 * ROWS; i++)
                    d[j][i / 4][i % 4] = held.derivative[k][j][i / 4][i % 4];
            } else
                load_rows(matrix, 3 * k + j, group, d[j]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            REAL u[PITCH];
            if (NP % 4 && 4 * k + i >= NP)
                break;
            load_vector<PITCH>(u, s.u + (e * NP + 4 * k + i) * PITCH);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                REAL d1[3] = {d[0][r][i], d[1][r][i], d[2][r][i]};
                volume(d1, u, acc[r]);
            }
        }
    }
}

/* acc += lifted jumps, one face after the other. */
DEVICE void lift_jumps(const REAL *matrix, const rows &held, const tile &s, int group, int e,
                       REAL acc[ROWS][NUM_ACC])
{
#pragma unroll
    for (int face = 0; face < NUM_FACE; face++) {
        REAL y[ROWS][NUM_JUMP] = {};
#pragma unroll(UNROLL_LIFT)
        for (int k = 0; k < FACE_QUADS; k++) {
            REAL l[ROWS][4], jumps[4 * NUM_JUMP];
            if (HELD) {
#pragma unroll
                for (int i = 0; i < 4 * ROWS; i++)
                    l[i / 4][i % 4] = held.lift[face][k][i / 4][i % 4];
            } else
                load_rows(matrix, 3 * QUADS + face * FACE_QUADS + k, group, l);
            load_vector<4 * NUM_JUMP>(jumps, s.s + (e * NUM_FACE + face) * JUMPS + 4 * NUM_JUMP * k);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                if (NFP % 4 && 4 * k + i >= NFP)
                    break;
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int j = 0; j < NUM_JUMP; j++)
                        y[r][j] += l[r][i] * jumps[i * NUM_JUMP + j];
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            apply_lift(y[r], face, s.lift[e * NUM_FACE + face], acc[r]);
    }
}

/* ---- mailboxes ---- */

/* box: NFP (NUM_FACE elem + face) + face node, of the sender. */
DEVICE unsigned long long *mailbox(const dg_resident_args &given, int box, unsigned tag)
{
    long long boxes = given.stage.num_elem * NUM_FACE * NFP;
    return given.mailbox + ((tag & 1) * boxes + box) * (2 * PACKETS);
}

DEVICE void send(const dg_resident_args &given, const int box[MOST_FACES], unsigned tag, const REAL *q)
{
    REAL padded[PACKETS * PACKET] = {};
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        padded[f] = q[f];
#pragma unroll
    for (int i = 0; i < MOST_FACES; i++)
        if (box[i] >= 0) {
            unsigned long long *to = mailbox(given, box[i], tag);
#pragma unroll
            for (int k = 0; k < PACKETS; k++)
                store_tagged<PACKET>(to + 2 * k, padded + k * PACKET, tag);
        }
}

/* What is in a mailbox so far. */
struct letter {
    unsigned long long words[PACKETS][2];
};

DEVICE void ask(const dg_resident_args &given, int box, unsigned tag, letter &found)
{
    const unsigned long long *from = mailbox(given, box, tag);
#pragma unroll
    for (int k = 0; k < PACKETS; k++)
        load_words(found.words[k], from + 2 * k);
}

DEVICE bool is_whole(const letter &found, unsigned tag)
{
    bool whole = true;
#pragma unroll
    for (int k = 0; k < PACKETS; k++)
        whole = whole && has_tag(found.words[k], tag);
    return whole;
}

DEVICE void read(const letter &found, REAL *q)
{
    REAL padded[PACKETS * PACKET];
#pragma unroll
    for (int k = 0; k < PACKETS; k++)
        read_tagged<PACKET>(padded + k * PACKET, found.words[k]);
#pragma unroll
    for (int f = 0; f < NUM_FIELD; f++)
        q[f] = padded[f];
}

/* The mailboxes of a node of element elem: of its faces that have a neighbour; -1: no more. */
DEVICE void find_boxes(const dg_args &a, const tile &s, int e, long long elem, int node, int box[MOST_FACES])
{
    int num = 0;
#pragma unroll
    for (int i = 0; i < MOST_FACES; i++)
        box[i] = -1;
    for (int i = 0; i < NUM_FACE * NFP; i++)
        if (__ldg(a.face_node + i) == node && s.neighbor[e * NUM_FACE + i / NFP] >= 0) {
#pragma unroll
            for (int k = 0; k < MOST_FACES; k++)
                if (k == num)
                    box[k] = (int)elem * NUM_FACE * NFP + i;
            num++;
        }
}

/* ---- jumps ---- */

/* A face node of the tile: where its own state and its jumps stand, and where the outer state comes from. */
struct job {
    int side, own, to, box, node; /* side: NUM_FACE e + face, -1: none; box: of the neighbour, -1: none */
};

DEVICE job find_job(const dg_args &a, const tile &s, int i, int count)
{
    int side = i / NFP, m = i % NFP, e = side / NUM_FACE, face = side % NUM_FACE;
    if (e >= count)
        return {-1, 0, 0, -1};
    int neighbor = s.neighbor[side];
    int box = neighbor < 0 ? -1 : (NEIGHBOR_ELEM(neighbor) * NUM_FACE + NEIGHBOR_SIDE(neighbor)) * NFP + m;
    return {side, (e * NP + __ldg(a.face_node + face * NFP + m)) * PITCH, side * JUMPS + m * NUM_JUMP, box,
            m};
}

/* Adds what incident waves give. Few blocks have any. face: NUM_FACE elem + face. */
DEVICE void add_incident(const dg_args &a, tile &s, const job &j, int face)
{
    for (int i = a.incident_range[blockIdx.x]; i < a.incident_range[blockIdx.x + 1]; i++)
        if (a.incident[i].face == face) {
            face_side side;
            REAL jumps[NUM_JUMP];
            load_side(a, face, side);
            load_side_node(a, face, j.node, side);
            wave_jumps(a, a.incident[i], side, j.node, jumps);
            for (int k = 0; k < NUM_JUMP; k++)
                s.s[j.to + k] += jumps[k];
        }
}

/* The outer state comes from a neighbour, from exact data, or from the state inside. */
DEVICE void jump_at(const dg_args &a, tile &s, const job &j, long long first, const letter &found)
{
    int neighbor = s.neighbor[j.side], face = j.side % NUM_FACE;
    bool inside = j.box >= 0, exact = neighbor <= -1 - BOUNDARY_EXACT;
    REAL q[NUM_FIELD] = {}, in[NUM_TRACE], out[NUM_TRACE], jumps[NUM_JUMP], coef[NUM_FACE_COEF];
    const REAL *frame1 = s.frame[j.side];
    REAL upwind = ALWAYS_UPWIND || neighbor == -1 - BOUNDARY_ABSORBING;
    if (BY_NODE)
        load_groups<NUM_FACE_COEF>(coef, (const REAL *)a.face_coef, a.num_coef_face,
                                   (NUM_FACE * first + j.side) * NFP + j.node);
    else
#pragma unroll
        for (int i = 0; i < NUM_FACE_COEF; i++)
            coef[i] = s.coef[j.side][i];
    if (exact)
        load_constant<NUM_FIELD>(
            q,
            (const REAL *)a.exact +
                (((*a.clock + a.time) * a.num_exact_face + (-1 - BOUNDARY_EXACT - neighbor)) * NFP + j.node) *
                    NUM_FIELD);
    trace_reference(s.u + j.own, face, in);
    if (inside)
        read(found, q);
    trace(q, frame1, out);
    if (!inside && !exact) {
        REAL weight[NUM_MIRROR];
        mirror(-1 - neighbor, weight);
        reflect(in, frame1, coef, weight, out);
    }
    jump(in, out, frame1, coef, upwind, jumps);
#pragma unroll
    for (int k = 0; k < NUM_JUMP; k++)
        s.s[j.to + k] = jumps[k];
#if INCIDENT
    add_incident(a, s, j, (int)(NUM_FACE * first) + j.side);
#endif
}

/* All of a thread, which asks for several letters until all are there: one after the other would wait for memory as
 * often as there are words. */
DEVICE void all_jumps(const dg_resident_args &given, const dg_args &a, tile &s, const job jobs[JOBS],
                      long long first, unsigned tag)
{
#pragma unroll
    for (int from = 0; from < JOBS; from += AT_ONCE) {
        letter found[AT_ONCE];
        for (bool whole = false; !whole;) {
            whole = true;
#pragma unroll
            for (int i = 0; i < AT_ONCE && from + i < JOBS; i++)
                if (jobs[from + i].box >= 0)
                    ask(given, jobs[from + i].box, tag, found[i]);
#pragma unroll
            for (int i = 0; i < AT_ONCE && from + i < JOBS; i++)
                whole = whole && (jobs[from + i].box < 0 || is_whole(found[i], tag));
            if (!whole)
                look_again();
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE && from + i < JOBS; i++)
            if (jobs[from + i].side >= 0)
                jump_at(a, s, jobs[from + i], first, found[i]);
    }
}

/* ---- the history ---- */

/* State number `level` of a node of an element that has slot number `slot`. */
DEVICE void remember(const dg_resident_args &given, int level, int slot, int node, const REAL *q)
{
    if (slot >= 0)
        store_node<NUM_FIELD>((REAL *)given.history + (long long)level * given.num_slot * (NP * NUM_FIELD),
                              given.num_slot * NP, (long long)slot * NP + node, q);
}

/* The present sample, after so many steps, of a node of an element that may have a monitor. Nothing of it is in registers
 * meanwhile. */
DEVICE void keep_sample(const dg_resident_args &given, int num_step, long long elem, int node, const REAL *q)
{
    const int slot = given.sample_slot[elem], number = (num_step - given.sample_wait) / given.sample_every;
    if (slot >= 0)
        store_node<NUM_FIELD>((REAL *)given.samples +
                                  (long long)number * given.num_sample_slot * (NP * NUM_FIELD),
                              given.num_sample_slot * NP, (long long)slot * NP + node, q);
}

/* ---- the launch ---- */

/* Records, and what jumps and lifts need of faces. */
DEVICE void load_tables(const dg_args &a, tile &s, long long first, int count)
{
    for (int i = threadIdx.x; i < count * WORDS; i += THREADS)
        s.record[i / WORDS][i % WORDS] =
            __ldg((const REAL *)a.record + RECORD * (first + i / WORDS) + i % WORDS);
    __syncthreads();
    for (int i = threadIdx.x; i < count * NUM_FACE; i += THREADS) {
        frame(s.record[i / NUM_FACE], i % NUM_FACE, s.frame[i]);
        if (!BY_NODE) {
            load_groups<NUM_FACE_COEF>(s.coef[i], (const REAL *)a.face_coef, a.num_coef_face,
                                       NUM_FACE * first + i);
            lift_coefficients(s.frame[i], s.coef[i], s.lift[i]);
        }
        s.neighbor[i] = __ldg(a.neighbor + NUM_FACE * first + i);
    }
}

/* State of a node, in reference components, into shared memory. */
DEVICE void keep(tile &s, int e, int node, const REAL *q)
{
    REAL g[WORDS], u[PITCH] = {};
    load_vector<WORDS>(g, s.record[e]);
    to_reference(q, g, u);
#pragma unroll
    for (int f = 0; f < PITCH; f += VECTOR) {
        quad part;
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            part.v[k] = u[f + k];
        *(quad *)(s.u + (e * NP + node) * PITCH + f) = part;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    dg_resident(const __grid_constant__ dg_resident_args given)
{
    extern __shared__ __align__(16) unsigned char memory[];
    tile &s = *(tile *)memory;
    dg_args a = given.stage;
    long long first = (long long)blockIdx.x * TILE, left = a.num_elem - first, total = a.num_total * NP;
    int count = left < TILE ? (int)left : TILE, e = threadIdx.x / ROW_GROUPS,
        group = threadIdx.x % ROW_GROUPS;
    bool owner = e < count;
    long long elem = first + e, at = place(elem, group);
    const REAL *matrix = (const REAL *)a.matrix;
    unsigned tag = given.tag;
    rows held;
    old_state old[ROWS];
    int box[ROWS][MOST_FACES], slot = -1, source_begin = 0, source_end = 0;
    int sample_step = SAMPLED ? given.sample_wait : 0; /* steps before the next sample */
    job jobs[JOBS];

    load_tables(a, s, first, count);
    if (HELD)
        hold_rows(matrix, group, held);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < JOBS; i++)
        jobs[i] = find_job(a, s, (int)threadIdx.x + i * THREADS, count);
    if (owner) {
        slot = given.slot ? given.slot[elem] : -1;
        source_end = source_begin = a.source_range[blockIdx.x];
        while (source_end < a.source_range[blockIdx.x + 1] && a.source_elem[source_end] <= elem) {
            source_begin += a.source_elem[source_end] < elem;
            source_end++;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int node = group + r * ROW_GROUPS;
        if (!owner || (NP % ROWS && node >= NP))
            continue;
        find_boxes(a, s, e, elem, node, box[r]);
        load_own_node<NUM_FIELD>(old[r].q, (const REAL *)a.q, total, at + r * ROW_GROUPS);
        load_own_node<NUM_FIELD>(old[r].r, (const REAL *)a.r, total, at + r * ROW_GROUPS);
        if (UPDATE == UPDATE_AB3)
            load_own_node<NUM_FIELD>(old[r].r1, (const REAL *)a.r1, total, at + r * ROW_GROUPS);
        send(given, box[r], tag, old[r].q);
        keep(s, e, node, old[r].q);
        remember(given, 0, slot, node, old[r].q);
    }
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < given.num_step; step++)
#pragma unroll 1
        for (int stage = 0; stage < NUM_STAGE; stage++, tag++, a.time++) {
            bool has_source = source_begin < source_end;
            REAL acc[ROWS][NUM_ACC] = {}, amplitude = has_source ? source_amplitude(a, source_begin) : 0;
            if (UPDATE == UPDATE_LSRK) {
                a.a = given.a[stage];
                a.b = given.b[stage];
            }
            if (owner)
                volume_products(matrix, held, s, group, e, acc);
            all_jumps(given, a, s, jobs, first, tag);
            __syncthreads();
            bool step_ends = stage == NUM_STAGE - 1, last = step_ends && step == given.num_step - 1;
            if (owner) {
                REAL g[WORDS];
                factors by = factors_of(a);
                lift_jumps(matrix, held, s, group, e, acc);
                load_vector<WORDS>(g, s.record[e]);
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    int node = group + r * ROW_GROUPS;
                    REAL rhs[NUM_FIELD];
                    if (NP % ROWS && node >= NP)
                        break;
                    const REAL *coef = coef_at(a, elem, node, g);
                    from_reference(acc[r], g, coef, rhs);
                    add_local(old[r], coef + NUM_COEF - NUM_LOCAL, rhs);
                    if (has_source) {
                        add_source(a, source_begin, node, amplitude, rhs);
                        add_sources(a, elem, node, source_begin + 1, source_end, rhs);
                    }
                    advance(a, by, old[r], rhs);
                    if (!last) {
                        send(given, box[r], tag + 1, old[r].q);
                        keep(s, e, node, old[r].q);
                    }
                    if (UPDATE == UPDATE_AB3)
#pragma unroll
                        for (int f = 0; f < NUM_FIELD; f++) {
                            old[r].r[f] = old[r].r1[f];
                            old[r].r1[f] = rhs[f];
                        }
                    if (step_ends)
                        remember(given, (step + 1) * given.num_level, slot, node, old[r].q);
                    else if (given.num_level > 1)
                        remember(given, step * NUM_STAGE + stage + 1, slot, node, old[r].q);
                    if (SAMPLED && step_ends && step + 1 == sample_step)
                        keep_sample(given, step + 1, elem, node, old[r].q);
                }
            }
            if (SAMPLED && step_ends && step + 1 == sample_step)
                sample_step += given.sample_every;
            __syncthreads();
        }

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!owner || !a.q_new || (NP % ROWS && group + r * ROW_GROUPS >= NP))
            continue;
        store_node<NUM_FIELD>((REAL *)a.q_new, total, at + r * ROW_GROUPS, old[r].q);
        store_node<NUM_FIELD>((REAL *)a.r, total, at + r * ROW_GROUPS, old[r].r);
        if (UPDATE == UPDATE_AB3)
            store_node<NUM_FIELD>((REAL *)a.r1, total, at + r * ROW_GROUPS, old[r].r1);
    }
}
