/* cuda_record.h: where CUDA engines of methods on meshes put the samples of receivers in a call, and their way to
 * the host. Next: cuda_record.c; common/state.cu, sem/nodes.cu (the kernels). */
#ifndef UNDA_CUDA_RECORD_H
#define UNDA_CUDA_RECORD_H

#include "../gpu/gpu.h"
#include "common/args.h"
#include "solver.h"

struct cuda_record {
    struct record_group *groups; /* [group]: host, of a call */
    gpu_ptr group, out;          /* on the device: the same, samples of a call */
};

/* Of s->num_group groups; the device's from the pool. */
unda_status cuda_record_list(unda_solver *s, struct cuda_record *record, struct gpu *gpu,
                             struct gpu_pool *pool);
/* Room for calls of max_step steps. */
unda_status cuda_record_reserve(unda_solver *s, struct cuda_record *record, struct gpu *gpu,
                                struct gpu_pool *pool);
/* Where each group's samples of this call go: its first one to the beginning of its room. */
unda_status cuda_record_begin(unda_solver *s, struct cuda_record *record, struct gpu_stream *stream);
/* After the last step. */
unda_status cuda_record_fetch(unda_solver *s, struct cuda_record *record, struct gpu_stream *stream);

#endif
