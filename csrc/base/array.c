/* array.c: aligned, zeroed arrays whose size is checked for overflow.
 * Next: base.h. */
#include "base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Large arrays are aligned to huge pages and request them if the system has any: a node and its neighbours
 * along x and y would otherwise need as many small pages as a processor's TLB holds. */
enum { ALIGN_BYTES = 64, HUGE_BYTES = 2 << 20, LARGE_BYTES = 4 * HUGE_BYTES };

/* The address that calloc gave stands before the array, and before that the next array of its owner: calloc
 * aligns to 16 bytes, so there is room for both. New pages of the system are zero without being written; so the
 * threads that use a large array are the first to touch it. */
void *array_new(int64_t count, int64_t size)
{
    int64_t bytes;
    if (count < 0 || size <= 0 || __builtin_mul_overflow(count, size, &bytes) ||
        bytes > INT64_MAX - 3 * HUGE_BYTES)
        return NULL;
    int64_t align = bytes < LARGE_BYTES ? ALIGN_BYTES : HUGE_BYTES, padded = bytes / align * align + align;
    char *given = calloc((size_t)(padded + align), 1);
    if (!given)
        return NULL;
    void **array = (void **)(given + align - (int64_t)((uintptr_t)given % (uintptr_t)align));
    array[-1] = given;
#ifdef MADV_HUGEPAGE
    if (align == HUGE_BYTES)
        (void)madvise(array, (size_t)padded, MADV_HUGEPAGE); /* refused: small pages */
#endif
#ifdef __SANITIZE_ADDRESS__ /* it would count the padding as part of the array */
    __asan_poison_memory_region((char *)array + bytes, (size_t)(padded - bytes));
#endif
    return array;
}

void array_free(void *array)
{
    if (array)
        free(((void **)array)[-1]);
}

void array_free_at(void *pointer_to_array)
{
    void *array;
    memcpy(&array, pointer_to_array, sizeof array);
    array_free(array);
}

unda_status array_try(void *out, int64_t count, int64_t size, const char *what)
{
    void *array = array_new(count, size);
    if (!array)
        FAIL(UNDA_ERR_MEMORY, "no memory for %s: %lld x %lld bytes", what, (long long)count, (long long)size);
    memcpy(out, &array, sizeof array);
    return UNDA_OK;
}

unda_status array_grow(void *array, int64_t kept, int64_t count, int64_t size, const char *what)
{
    void *old, *grown = NULL;
    memcpy(&old, array, sizeof old);
    TRY(array_try(&grown, count, size, what));
    if (kept)
        memcpy(grown, old, (size_t)(kept * size));
    array_free(old);
    memcpy(array, &grown, sizeof grown);
    return UNDA_OK;
}

void array_give(void *to, const void *from, int64_t count, int64_t size)
{
    if (to && count > 0)
        memcpy(to, from, (size_t)(count * size));
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double array_median(double *array, int64_t count)
{
    qsort(array, (size_t)count, sizeof *array, by_value);
    return array[count / 2];
}

unda_status array_own(void **owner, void *out, int64_t count, int64_t size, const char *what)
{
    void **array = NULL;
    TRY(array_try(&array, count, size, what));
    array[-2] = *owner;
    *owner = array;
    memcpy(out, owner, sizeof *owner);
    return UNDA_OK;
}

void arrays_free(void **owner)
{
    while (*owner) {
        void *array = *owner;
        *owner = ((void **)array)[-2];
        array_free(array);
    }
}
