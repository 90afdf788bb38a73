/* blocks.c: finds the orbits of the nodes of a tetrahedron by their places and sums its matrices over them. What the
 * words mean: blocks.h. */
#include "blocks.h"

#include <math.h>
#include <string.h>

/* ---- sizes ---- */

/* (-1)^(bits that both have). */
static int character(int s, int g)
{
    return (s & g) == 1 || (s & g) == 2 ? -1 : 1;
}

/* A sum over V has so many sums of a character as the mean of chi(g) times the points that g leaves alone. */
struct block_sizes blocks_sizes(int degree)
{
    int nodes[4] = {0}, faces[4] = {0};
    for (int i = 0; i <= degree; i++)
        for (int j = 0; i + j <= degree; j++)
            for (int k = 0; i + j + k <= degree; k++) {
                int last = degree - i - j - k; /* of vertices 0 to 3: i, j, k, last */
                for (int g = 0; g < 4; g++) {
                    bool kept = (!(g & 1) || i == j) && (!(g & 2) || k == last);
                    nodes[g] += kept;
                    faces[g] += kept && i == 0 && !(g & 1) ? 2 : 0;
                }
            }
    struct block_sizes sizes = {{0}, {0}};
    for (int s = 0; s < NUM_BLOCK; s++)
        for (int g = 0; g < 4; g++) {
            sizes.nodes[s] += character(s, g) * nodes[g];
            sizes.faces[s] += character(s, g) * faces[g];
        }
    for (int s = 0; s < NUM_BLOCK; s++) {
        sizes.nodes[s] /= 4;
        sizes.faces[s] /= 4;
    }
    return sizes;
}

/* ---- orbits ---- */

/* Where vertex v goes to vertex image[v], in node numbers. */
static unda_status move_nodes(const struct element *el, const int image[4], int *moved)
{
    for (int n = 0; n < el->num_node; n++) {
        const double *r = el->nodes + 3 * n;
        double from[4] = {1 - r[0] - r[1] - r[2], r[0], r[1], r[2]}, to[4], least = 1;
        for (int v = 0; v < 4; v++)
            to[image[v]] = from[v];
        for (int other = 0; other < el->num_node; other++) {
            const double *at = el->nodes + 3 * other;
            double apart = fmax(fmax(fabs(at[0] - to[1]), fabs(at[1] - to[2])), fabs(at[2] - to[3]));
            if (apart < least) {
                least = apart;
                moved[n] = other;
            }
        }
        if (least > 1e-12)
            FAIL(UNDA_ERR_ARG,
                 "nodes of degree %d: the image of node %d is %g away from any, expected nodes that are "
                 "symmetric",
                 el->degree, n, least);
    }
    return UNDA_OK;
}

/* The same of face nodes. */
static void move_face_nodes(const struct element *el, const int image[4], const int *moved, int *face_moved)
{
    int num = el->num_face_node;
    for (int i = 0; i < el->num_face * num; i++) {
        int face = image[i / num];
        for (int m = 0; m < num; m++)
            if (el->face_node[face * num + m] == moved[el->face_node[i]])
                face_moved[i] = face * num + m;
    }
}

struct moves {
    int q[MOST_BLOCK_NODE], p[MOST_BLOCK_NODE], shift[MOST_BLOCK_NODE];
};

/* Of count points; returns how many orbits there are, and counts the sums of each character. */
static int find_orbits(const struct moves *move, int count, struct orbit *orbit, int sums[NUM_BLOCK])
{
    int num = 0;
    for (int o = 0; o < count; o++) {
        int member[4] = {o, move->q[o], move->p[o], move->q[move->p[o]]};
        if (member[1] < o || member[2] < o || member[3] < o)
            continue;
        struct orbit *one = &orbit[num++];
        for (int g = 0; g < 4; g++)
            for (int j = 0, at = member[g]; j < 3; j++, at = move->shift[at])
                one->member[j][g] = at;
        for (int s = 0; s < NUM_BLOCK; s++) {
            bool kept = true; /* chi(g) = 1 for all g that leave o alone */
            for (int g = 1; g < 4; g++)
                kept = kept && (member[g] != o || character(s, g) == 1);
            one->sum[s] = kept ? sums[s]++ : -1;
        }
    }
    return num;
}

static const int shift[4] = {0, 2, 3, 1};

unda_status blocks_turn(const struct element *el, int node[MOST_BLOCK_NODE],
                        int face_node[4 * MOST_BLOCK_FACE_NODE])
{
    TRY(move_nodes(el, shift, node));
    move_face_nodes(el, shift, node, face_node);
    return UNDA_OK;
}

static unda_status find_all_orbits(struct blocks *b, const struct element *el)
{
    static const int swap_q[4] = {1, 0, 2, 3}, swap_p[4] = {0, 1, 3, 2};
    struct moves node, face;
    TRY(move_nodes(el, swap_q, node.q));
    TRY(move_nodes(el, swap_p, node.p));
    TRY(move_nodes(el, shift, node.shift));
    move_face_nodes(el, swap_q, node.q, face.q);
    move_face_nodes(el, swap_p, node.p, face.p);
    move_face_nodes(el, shift, node.shift, face.shift);
    b->num_orbit = find_orbits(&node, el->num_node, b->orbit, b->sizes.nodes);
    b->num_face_orbit = find_orbits(&face, 2 * el->num_face_node, b->face_orbit, b->sizes.faces);
    for (int o = 0; o < b->num_orbit; o++)
        for (int j = 0; j < 3; j++)
            for (int g = 3; g >= 0; g--) {
                b->of_node[j][b->orbit[o].member[j][g]] = o;
                b->g_of_node[j][b->orbit[o].member[j][g]] = g;
            }
    return UNDA_OK;
}

/* ---- matrices ---- */

/* Nodes of an orbit are counted once for each g that leaves its first one alone. */
static int times_counted(const struct orbit *orbit)
{
    int times = 0;
    for (int g = 0; g < 4; g++)
        times += orbit->member[0][g] == orbit->member[0][0];
    return times;
}

/* What a sum of character `from` gives that of `block`, by derivative or lift: entry(row, column). */
static double sum_over(const struct element *el, bool face, const struct orbit *row, int block,
                       const struct orbit *column, int from)
{
    double sum = 0;
    int num = el->num_face_node;
    for (int g = 0; g < 4; g++)
        for (int h = 0; h < 4; h++) {
            int i = row->member[0][g], k = column->member[0][h];
            double entry = face ? el->lift[((int64_t)(k / num) * el->num_node + i) * num + k % num]
                                : el->derivative[(int64_t)i * el->num_node + k];
            sum += character(block, g) * character(from, h) * entry;
        }
    return sum / (16 * times_counted(column));
}

static void fill_columns(struct blocks *b, const struct element *el, int block, bool face)
{
    int num = face ? b->num_face_orbit : b->num_orbit, width = block_columns(&b->sizes, block);
    int from = face ? block : block ^ 1, first = face ? b->sizes.nodes[block ^ 1] : 0;
    const struct orbit *columns = face ? b->face_orbit : b->orbit;
    for (int o = 0; o < b->num_orbit; o++)
        for (int c = 0; c < num; c++)
            if (b->orbit[o].sum[block] >= 0 && columns[c].sum[from] >= 0)
                b->matrix[block][b->orbit[o].sum[block] * width + first + columns[c].sum[from]] =
                    sum_over(el, face, &b->orbit[o], block, &columns[c], from);
}

static unda_status fill(struct blocks *b, const struct element *el)
{
    TRY(find_all_orbits(b, el));
    for (int block = 0; block < NUM_BLOCK; block++) {
        int64_t count = (int64_t)b->sizes.nodes[block] * block_columns(&b->sizes, block);
        TRY(array_own(&b->owned, &b->matrix[block], count, sizeof(double), "blocks of a reference element"));
        fill_columns(b, el, block, false);
        fill_columns(b, el, block, true);
    }
    return UNDA_OK;
}

unda_status blocks_new(struct blocks **out, const struct element *el)
{
    struct blocks *b;
    *out = NULL;
    TRY(array_try(&b, 1, sizeof *b, "blocks of a reference element"));
    return COMPLETE(out, b, blocks_free, fill(b, el));
}

void blocks_free(struct blocks *b)
{
    if (b)
        arrays_free(&b->owned);
    array_free(b);
}
