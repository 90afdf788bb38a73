/* parcel.h: numbers and arrays as one block of bytes, which travels between processes. One function that lists them serves
 * three passes: bytes NULL counts, owned NULL writes, else arrays are allocated there and read. */
#ifndef UNDA_PARCEL_H
#define UNDA_PARCEL_H

#include "../base/base.h"

struct parcel {
    char *bytes;
    int64_t num_byte; /* counted, written or read so far */
    void **owned;
};
void parcel_put(struct parcel *parcel, void *value, int64_t size);
/* array: the address of the pointer. Each begins at a multiple of 8 bytes. */
unda_status parcel_array(struct parcel *parcel, void *array, int64_t count, int64_t size, const char *what);
#define PARCEL_NUMBER(parcel, number) parcel_put(parcel, &(number), sizeof(number))
#define PARCEL_ARRAY(parcel, array, count, what)                                                             \
    TRY(parcel_array(parcel, &(array), (count), sizeof *(array), what))

#endif
