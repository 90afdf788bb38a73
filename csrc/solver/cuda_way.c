/* cuda_way.c: chooses how messages go between CUDA devices of a process. The link is measured once for a pair of devices
 * (gpu/link.c), and only where no link at all would be too slow. Not here: the rule (hidden.h), messages (cuda_exchange.c). */
#include "cuda_way.h"

#include "../gpu/gpu.h"
#include "hidden.h"

/* A round through the host that none is faster than: four copies over PCIe and two events. */
static const struct hidden_link best_link = {.latency = 1e-5, .bytes_per_second = 1e12};

static void release(struct gpu **gpu)
{
    gpu_close(*gpu);
}
#define CLOSED __attribute__((cleanup(release)))

static bool are_here(const struct cuda_way *part, int32_t num_part)
{
    int32_t count = 0;
    bool here = unda_device_count(&count) == UNDA_OK;
    for (int32_t p = 0; p < num_part; p++)
        here = here && part[p].device < count;
    return here;
}

static unda_status find_reach(const struct cuda_way *part, int32_t num_part, bool *reached)
{
    *reached = true;
    for (int32_t p = 0; p < num_part; p++) {
        CLOSED struct gpu *gpu = NULL;
        TRY(gpu_open(&gpu, part[p].device));
        for (int32_t i = 0; i < part[p].num_neighbor && *reached; i++) {
            CLOSED struct gpu *other = NULL;
            TRY(gpu_open(&other, part[part[p].neighbor[i]].device));
            TRY(gpu_reach(gpu, other, reached));
        }
    }
    return UNDA_OK;
}

/* ---- whether it is hidden ---- */

static bool are_apart(const struct cuda_way *part, int32_t num_part)
{
    for (int32_t p = 0; p < num_part; p++)
        for (int32_t q = 0; q < p; q++)
            if (part[p].device == part[q].device)
                return false;
    return true;
}

static unda_status is_hidden(const struct cuda_way *part, int32_t num_part, int32_t p, bool *hidden)
{
    CLOSED struct gpu *gpu = NULL;
    TRY(gpu_open(&gpu, part[p].device));
    struct hidden_device device;
    gpu_memory_limits(gpu, &device.bytes_per_second, &device.l2_bytes);
    struct hidden_part own = {part[p].num_neighbor, num_part, part[p].bytes, part[p].inner};
    *hidden = hidden_is_sure(&own, &device, &best_link);
    for (int32_t i = 0; i < part[p].num_neighbor && *hidden; i++) {
        unda_link link = {.size_bytes = sizeof link};
        TRY(gpu_link_by_host(part[p].device, part[part[p].neighbor[i]].device, &link));
        *hidden = hidden_is_sure(&own, &device, &(struct hidden_link){link.latency, link.bytes_per_second});
    }
    return UNDA_OK;
}

unda_status cuda_way_choose(const struct cuda_way *part, int32_t num_part, int transport, bool *by_host)
{
    bool reached, hidden = true;
    *by_host = transport == UNDA_TRANSPORT_HOST;
    if (*by_host || !are_here(part, num_part))
        return UNDA_OK;
    TRY(find_reach(part, num_part, &reached));
    if (transport == UNDA_TRANSPORT_PEER && !reached)
        FAIL(UNDA_ERR_DEVICE,
             "transport is peer, but some devices cannot reach each other's memory; expected host or auto");
    *by_host = !reached;
    if (transport == UNDA_TRANSPORT_PEER || !reached || !are_apart(part, num_part))
        return UNDA_OK;
    for (int32_t p = 0; p < num_part && hidden; p++)
        TRY(is_hidden(part, num_part, p, &hidden));
    *by_host = hidden;
    return UNDA_OK;
}
