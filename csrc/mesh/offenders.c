/* offenders.c: the ids named in an error: how many break a rule, and the lowest three of them.
 * The rules: checks.c, boundary.c, faces.c, periodic.c.
 * Next: checks.c. */
#include "internal.h"

#include <stdio.h>

void offenders_add(struct offenders *offenders, int64_t id)
{
    int64_t *first = offenders->first;
    offenders->count++;
    int at = 0;
    while (at < offenders->num_first && first[at] < id)
        at++;
    if (at == 3 || (at < offenders->num_first && first[at] == id))
        return;
    for (int i = 2; i > at; i--)
        first[i] = first[i - 1];
    first[at] = id;
    if (offenders->num_first < 3)
        offenders->num_first++;
}

struct offenders_text offenders_first(const struct offenders *offenders)
{
    struct offenders_text out = {"first"};
    int length = 5;
    for (int i = 0; i < offenders->num_first; i++)
        length += snprintf(out.text + length, sizeof out.text - (size_t)length, "%s %lld", i > 0 ? "," : "",
                           (long long)offenders->first[i]);
    return out;
}
