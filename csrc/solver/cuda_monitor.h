/* cuda_monitor.h: accumulators of a monitor on a device. Next: cuda_monitor.c, cuda/common/monitor.cu. */
#ifndef UNDA_CUDA_MONITOR_H
#define UNDA_CUDA_MONITOR_H

#include "../gpu/gpu.h"
#include "monitor.h"

struct monitor_args;

/* Samples that are levels of the state which stay where they are (struct monitor, `level_bytes`). They are counted from 0
 * since none was left to add; of each the array and the waves are at its number modulo 2 `batch`. Planes are in parts, which
 * are added in turns, in a stream of their own: so adding fills what room steps leave on the device. */
struct monitor_levels {
    struct gpu_pool spare; /* arrays that take the next levels meanwhile, of the monitor */
    gpu_ptr *sample;
    double *wave;
    int64_t num,
        num_free;   /* samples; of so many the array may be written to, in the order of the engine's stream */
    int64_t *added; /* [num_part]: samples that each part has had, as queued */
    int32_t num_part;          /* 1, or `batch` */
    struct gpu_stream *beside; /* in which they are added */
    struct gpu_event *taken,
        *done[2];        /* the present level is there; the last two turns, the present one `turn` */
    int64_t num_done[2]; /* num_free once `done` is waited for */
    int32_t turn;
};

/* Makes those of a piece, whose samples are queued on a stream; defines: REAL, and of elements their layout; kind: where
 * values stand (cuda/common/monitor_args.h). */
unda_status cuda_monitor_new(struct monitor *m, struct monitor_piece *piece, struct gpu *gpu,
                             struct gpu_stream *stream, struct gpu_defines *defines, int kind);
void cuda_monitor_free(struct cuda_monitor *c);
/* Queues a sample; args: q and where values stand in it. */
unda_status cuda_monitor_take(const struct monitor_piece *piece, const struct monitor_sample *sample,
                              struct monitor_args *args);
/* Queues that samples are added which are states of elements, stride[0] values from one to the next; elem: the numbers of
 * rows' elements there, on the device; args: q, total and fields. */
unda_status cuda_monitor_add_kept(const struct monitor_piece *piece, const struct monitor_sample *sample,
                                  gpu_ptr elem, struct monitor_args *args);
/* The accumulators, for whoever takes samples in a kernel of his own. */
gpu_ptr cuda_monitor_sums(const struct monitor_piece *piece);
struct monitor_levels *cuda_monitor_levels(const struct monitor_piece *piece);
/* Queues beside the engine's stream that samples are added which are levels, to planes [begin, end) of the piece; args:
 * `level` and where values stand in each. */
unda_status cuda_monitor_add_levels(const struct monitor_piece *piece, const struct monitor_sample *sample,
                                    int32_t begin, int32_t end, struct monitor_args *args);
/* Bytes of the accumulators from `first` on, out or in. */
unda_status cuda_monitor_move(struct cuda_monitor *c, int64_t first, int64_t bytes, void *out,
                              const void *in);

#endif
