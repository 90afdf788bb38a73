/* partition.c: which part of a mesh each element belongs to: ranges of the space-filling curve, whose surfaces are
 * small because the curve stays close; the graph for programs that find other parts. Next: part.c. */
#include "internal.h"

#include <math.h>

/* Bits of the largest weight as a whole number: sums of 2^31 of them fit in 64 bits. */
enum { WEIGHT_BITS = 30 };

static unda_status check_whole(const struct unda_mesh *mesh)
{
    if (mesh->part.num_part)
        FAIL(UNDA_ERR_ARG, "the mesh is part %d of %d, expected a whole mesh", mesh->part.which,
             mesh->part.num_part);
    return UNDA_OK;
}

unda_status partition_check(const struct unda_mesh *mesh, int32_t num_part)
{
    TRY(check_whole(mesh));
    if (num_part < 1 || num_part > mesh->num_elem)
        FAIL(UNDA_ERR_ARG, "num_part is %d, expected 1 to %lld: every part has an element", num_part,
             (long long)mesh->num_elem);
    return UNDA_OK;
}

/* Weights in internal order as whole numbers, so that sums are exact. The scale is a power of two: weights that are
 * whole numbers below 2^30 keep their ratios. */
static unda_status count_weights(const struct unda_mesh *mesh, const double *weight, int64_t *count)
{
    struct offenders bad = {0};
    double most = 0;
    int power;
    for (int64_t elem = 0; weight && elem < mesh->num_elem; elem++) {
        if (!(weight[elem] > 0 && isfinite(weight[elem])))
            offenders_add(&bad, elem);
        most = fmax(most, weight[elem]);
    }
    if (bad.count)
        FAIL(UNDA_ERR_ARG, "%lld weights are not positive and finite, elements %s: found %g",
             (long long)bad.count, offenders_first(&bad).text, weight[bad.first[0]]);
    frexp(most, &power);
    for (int64_t place = 0; place < mesh->num_elem; place++)
        count[place] =
            weight ? (int64_t)fmax(1, rint(ldexp(weight[mesh->order[place]], WEIGHT_BITS - power))) : 1;
    return UNDA_OK;
}

/* Of n parts of W in all, part p ends where p + 1 out of n parts of W do: an element is behind it if its middle is.
 * Where elements are heavier than W / n, each still begins a part. */
static void cut_curve(const struct unda_mesh *mesh, int32_t num_part, const int64_t *count, int32_t *part)
{
    int64_t total = 0, before = 0, held = 0;
    int32_t now = 0;
    for (int64_t place = 0; place < mesh->num_elem; place++)
        total += count[place];
    for (int64_t place = 0; place < mesh->num_elem; place++) {
        __int128 middle = (__int128)(2 * before + count[place]) * num_part;
        __int128 end = (__int128)(2 * total) * (now + 1);
        int64_t left = mesh->num_elem - place, wanting = num_part - 1 - now;
        if (held > 0 && wanting > 0 && (middle >= end || left == wanting)) {
            now++;
            held = 0;
        }
        part[mesh->order[place]] = now;
        before += count[place];
        held++;
    }
}

unda_status unda_mesh_partition(const unda_mesh *mesh, int32_t num_part, const double *weight, int32_t *part)
{
    TRY(fork_check());
    if (!mesh || !part)
        FAIL(UNDA_ERR_ARG, "mesh or part is NULL");
    TRY(partition_check(mesh, num_part));
    SCRATCH int64_t *count = NULL;
    TRY(array_try(&count, mesh->num_elem, sizeof *count, "weights"));
    TRY(count_weights(mesh, weight, count));
    cut_curve(mesh, num_part, count, part);
    return UNDA_OK;
}

/* The elements beside one, ascending, and how many faces join each; returns their number. */
static int beside(const struct unda_mesh *mesh, int64_t elem, int64_t other[MAX_FACE],
                  int32_t shared[MAX_FACE])
{
    int num = 0, num_face = mesh->table->num_face;
    for (int face = 0; face < num_face; face++) {
        int64_t neighbor = mesh->neighbor[num_face * mesh->place[elem] + face];
        int64_t one = neighbor < 0 ? elem : mesh->order[neighbor / num_face];
        if (one == elem) /* a period may be one element long */
            continue;
        int at = 0;
        while (at < num && other[at] < one)
            at++;
        if (at < num && other[at] == one) {
            shared[at]++;
            continue;
        }
        for (int i = num++; i > at; i--) {
            other[i] = other[i - 1];
            shared[i] = shared[i - 1];
        }
        other[at] = one;
        shared[at] = 1;
    }
    return num;
}

unda_status unda_mesh_graph(const unda_mesh *mesh, int64_t *first, int64_t *other, int32_t *shared)
{
    TRY(fork_check());
    if (!mesh || !first)
        FAIL(UNDA_ERR_ARG, "mesh or first is NULL");
    TRY(check_whole(mesh));
    first[0] = 0;
    for (int64_t elem = 0; elem < mesh->num_elem; elem++) {
        int64_t here[MAX_FACE];
        int32_t joined[MAX_FACE];
        int num = beside(mesh, elem, here, joined);
        first[elem + 1] = first[elem] + num;
        for (int i = 0; i < num; i++) {
            if (other)
                other[first[elem] + i] = here[i];
            if (shared)
                shared[first[elem] + i] = joined[i];
        }
    }
    return UNDA_OK;
}
