/* parcel.c: one item after another. */
#include "parcel.h"

#include <string.h>

/* Room for an item; where it stands, NULL while items are counted. */
static char *next(struct parcel *p, int64_t size)
{
    char *at = p->bytes ? p->bytes + p->num_byte : NULL;
    p->num_byte += (size + 7) / 8 * 8;
    return at;
}

void parcel_put(struct parcel *p, void *value, int64_t size)
{
    char *at = next(p, size);
    if (at)
        memcpy(p->owned ? value : at, p->owned ? at : value, (size_t)size);
}

unda_status parcel_array(struct parcel *p, void *array, int64_t count, int64_t size, const char *what)
{
    void *values = NULL;
    if (p->owned)
        TRY(array_own(p->owned, array, count, size, what));
    memcpy(&values, array, sizeof values);
    if (count)
        parcel_put(p, values, count * size);
    return UNDA_OK;
}
