/* order.c: the internal order of the elements: their centroids along a Hilbert curve.
 * Neighbours are then close in memory. Users never see this order.
 * Next: mesh.c. */
#include "internal.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

enum { CURVE_BITS = 21, DIGIT_BITS = 11, NUM_DIGIT = 1 << DIGIT_BITS };

/* Place along the Hilbert curve of a cell of the 2^21 cube (Skilling 2004, AIP Conf. Proc. 707,
 * 381): undo the rotation of each level, then Gray decode and interleave the bits. */
static uint64_t hilbert(uint32_t x[3])
{
    for (uint32_t bit = 1u << (CURVE_BITS - 1); bit > 1; bit >>= 1)
        for (int i = 0; i < 3; i++) {
            uint32_t low = bit - 1;
            uint32_t swap = x[i] & bit ? 0 : (x[0] ^ x[i]) & low;
            if (x[i] & bit)
                x[0] ^= low;
            x[0] ^= swap;
            x[i] ^= swap;
        }
    x[1] ^= x[0];
    x[2] ^= x[1];
    uint32_t flip = 0;
    for (uint32_t bit = 1u << (CURVE_BITS - 1); bit > 1; bit >>= 1)
        if (x[2] & bit)
            flip ^= bit - 1;
    uint64_t key = 0;
    for (int bit = CURVE_BITS - 1; bit >= 0; bit--)
        for (int i = 0; i < 3; i++)
            key = key << 1 | ((x[i] ^ flip) >> bit & 1);
    return key;
}

static uint64_t centroid_key(const struct unda_mesh *mesh, int64_t elem, double scale)
{
    int num_vertex = mesh->table->num_vertex;
    const int64_t *cell = mesh->cells + elem * num_vertex;
    const double most = (1u << CURVE_BITS) - 1;
    uint32_t x[3];
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int v = 0; v < num_vertex; v++)
            sum += mesh->vertices[3 * cell[v] + i] - mesh->info.lower[i];
        x[i] = (uint32_t)fmin(fmax(sum / num_vertex * scale, 0), most);
    }
    return hilbert(x);
}

struct item {
    uint64_t key;
    int64_t elem;
};

/* One stable pass of a radix sort; false if all items have the same digit and nothing moved. */
static bool sort_by_digit(const struct item *from, struct item *to, int64_t count, int shift)
{
    int64_t start[NUM_DIGIT + 1] = {0};
    for (int64_t i = 0; i < count; i++)
        start[(from[i].key >> shift & (NUM_DIGIT - 1)) + 1]++;
    for (int digit = 0; digit < NUM_DIGIT; digit++) {
        if (start[digit + 1] == count)
            return false;
        start[digit + 1] += start[digit];
    }
    for (int64_t i = 0; i < count; i++)
        to[start[from[i].key >> shift & (NUM_DIGIT - 1)]++] = from[i];
    return true;
}

struct keys {
    const struct unda_mesh *mesh;
    struct item *items;
    double scale;
};

static void fill_keys(void *user, int64_t begin, int64_t end)
{
    const struct keys *keys = user;
    for (int64_t elem = begin; elem < end; elem++)
        keys->items[elem] = (struct item){centroid_key(keys->mesh, elem, keys->scale), elem};
}

unda_status order_elements(struct unda_mesh *mesh)
{
    int64_t count = mesh->num_elem;
    double extent = 0;
    for (int i = 0; i < 3; i++)
        extent = fmax(extent, mesh->info.upper[i] - mesh->info.lower[i]);
    SCRATCH struct item *items = NULL;
    TRY(array_try(&items, 2 * count, sizeof *items, "element order"));
    struct item *from = items, *to = items + count;
    parallel_parts(parallel_parts_worth(count, 200), count, fill_keys,
                   &(struct keys){mesh, from, (1u << CURVE_BITS) / extent});
    for (int shift = 0; shift < 3 * CURVE_BITS; shift += DIGIT_BITS)
        if (sort_by_digit(from, to, count, shift)) {
            struct item *sorted = to;
            to = from;
            from = sorted;
        }
    for (int64_t place = 0; place < count; place++) {
        mesh->order[place] = from[place].elem;
        mesh->place[from[place].elem] = place;
    }
    return UNDA_OK;
}
