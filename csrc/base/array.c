/* array.c: aligned, zeroed arrays whose size is checked for overflow.
 * No growing arrays: every size in this library is known before it is needed.
 * Next: base.h. */
#include "base.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN_BYTES = 64 };

void *array_new(int64_t count, int64_t size)
{
    int64_t bytes;
    if (count < 0 || size <= 0 || __builtin_mul_overflow(count, size, &bytes) ||
        bytes > INT64_MAX - ALIGN_BYTES)
        return NULL;
    int64_t padded = bytes / ALIGN_BYTES * ALIGN_BYTES + ALIGN_BYTES;
    void *array = aligned_alloc(ALIGN_BYTES, (size_t)padded);
    return array ? memset(array, 0, (size_t)padded) : NULL;
}

void array_free(void *array)
{
    free(array);
}

unda_status array_try(void *out, int64_t count, int64_t size, const char *what)
{
    void *array = array_new(count, size);
    if (!array)
        FAIL(UNDA_ERR_MEMORY, "no memory for %s: %lld x %lld bytes", what, (long long)count, (long long)size);
    memcpy(out, &array, sizeof array);
    return UNDA_OK;
}
