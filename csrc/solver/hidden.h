/* hidden.h: whether messages that go through memory of the host are sure to be there before inner cells are done. Then
 * they cost nothing, while stores into a neighbour's memory slow down all that a device does meanwhile (docs/scaling.md).
 * Their way is a chain of operations, each of which begins when the one before has ended: border cells, packing for each
 * of n neighbours, a copy to the host, a copy from it of each neighbour's message, unpacking. A round of struct link
 * has two of them, so that one takes half of its latency to begin,
 *
 *     chain  = (3 + 2 n) latency / 2 + bytes (D / 2) / bandwidth
 *
 * D: devices, of which a round has two, and which all share the host's memory. Inner cells take no less than what they
 * must read and write at full speed of the device's memory. What fits into the L2 cache may stay there from stage to
 * stage, and is spared when it is read and when it is written:
 *
 *     inside = (inner - 2 L2) / speed of memory
 *     hidden:  chain < inside / 2
 *
 * Half of it, since both devices of a round copy to the host first and from it then. In a stage one may copy to the host
 * while another one copies from it, so that they share its memory once more, and a copy takes up to twice as long.
 * Numbers alone, no device. Next: cuda_way.c, which asks for them. */
#ifndef UNDA_HIDDEN_H
#define UNDA_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

struct hidden_link {
    double latency;          /* of a round [s] */
    double bytes_per_second; /* each way */
};
struct hidden_device {
    double bytes_per_second; /* at most; 0: not known, and nothing is sure */
    int64_t l2_bytes;
};
struct hidden_part {
    int32_t num_neighbor, num_device; /* of the part; of all parts together */
    int64_t bytes;                    /* that it sends, or receives, in a stage */
    int64_t inner;                    /* that its inner cells read and write in a stage, no less */
};

/* Seconds that a message is on its way, and that inner cells take at least. */
static inline double hidden_chain(const struct hidden_part *part, const struct hidden_link *link)
{
    int32_t num_operation = 3 + 2 * part->num_neighbor;
    int32_t num_device = part->num_device > 2 ? part->num_device : 2;
    return num_operation * link->latency / 2 + (double)part->bytes * num_device / 2 / link->bytes_per_second;
}
static inline double hidden_inside(const struct hidden_part *part, const struct hidden_device *device)
{
    double bytes = (double)part->inner - 2 * (double)device->l2_bytes;
    return bytes > 0 && device->bytes_per_second > 0 ? bytes / device->bytes_per_second : 0;
}

static inline bool hidden_is_sure(const struct hidden_part *part, const struct hidden_device *device,
                                  const struct hidden_link *link)
{
    return hidden_chain(part, link) < hidden_inside(part, device) / 2;
}

#endif
