/* cuda_way.h: how messages go between CUDA devices of a process: by stores, or through memory of the host. */
#ifndef UNDA_CUDA_WAY_H
#define UNDA_CUDA_WAY_H

#include "../base/base.h"

/* A part, as far as it matters. */
struct cuda_way {
    int32_t device, num_neighbor;
    const int32_t *neighbor; /* [num_neighbor]: parts */
    int64_t bytes, inner;    /* struct exchange */
};

/* transport: a value of unda_transport; *by_host: through memory of the host. AUTO: that way if some neighbours do not
 * reach each other's memory, or if each part has a device of its own and hides it (hidden.h). Devices that are not here,
 * as a forecast may name, are taken to reach each other, and to hide nothing. */
unda_status cuda_way_choose(const struct cuda_way *part, int32_t num_part, int transport, bool *by_host);

#endif
