/* read_args.h: arguments of cuda/common/read.cu, shared by host and device. */
#ifndef UNDA_READ_ARGS_H
#define UNDA_READ_ARGS_H

#include "common/size.h"

enum { READ_VALUES = 4 }; /* of a thread, of boxes */

struct read_args {
    const void *from; /* the field's value (0, 0, 0) */
    void *to;         /* of this device or of another that it reaches */
    long long num;    /* values */
    long long stride[3];
    /* Rows of `width` values. node [row][width]: places of values, stride[0] apart, -1: none, which is 0. NULL: row r is
     * number r % lanes of block r / lanes. */
    const long long *row; /* [row]: which of `to` it is */
    const int *node;
    int width, lanes;
    /* Of a box [num_x][num_y][num_z]: places along an axis ascend by one from the first, but that of its last value, which
     * may be an image: ~place is minus the value there. */
    int first[3], last[3], num_axis[3];
    int unused;
};
SIZE_IS(read_args, 112);

#endif
