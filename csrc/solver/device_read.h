/* device_read.h: fields from devices to an array on one of them (unda_solver_read_device). A solver, or each part of a team,
 * says where it has a field; what is done with that is the same for all methods. Next: device_read.c, cuda/common/read.cu;
 * dg/view.c, sem/view.c, fd/view.c (where fields are). */
#ifndef UNDA_DEVICE_READ_H
#define UNDA_DEVICE_READ_H

#include "../gpu/gpu.h"
#include "common/read_args.h"
#include "solver.h"

/* What a solver has of a field on its device. */
struct device_piece {
    struct gpu *gpu; /* NULL: the state is in the host's memory, or is not all here */
    struct gpu_stream *stream;
    int table; /* which of the engine's lists of rows (list_rows), or READ_BOX */
    int64_t num_row;
    int64_t first;         /* of a box: where its values begin in the array */
    struct read_args args; /* but for `to`, `num` and the lists */
};
enum { READ_BOX = -1, NUM_READ_TABLE = 2 };

/* Refuses fields that a state does not have. */
unda_status device_read_check(int32_t field, int32_t num_field);
void device_read_free(unda_solver *s);

#endif
