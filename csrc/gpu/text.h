/* text.h: growing strings: paths, reports, options, compiled code.
 * text_done reports, once at the end, if memory ran out.
 * Next: text.c. */
#ifndef UNDA_GPU_TEXT_H
#define UNDA_GPU_TEXT_H

#include "../base/base.h"

struct text {   /* all zero: empty */
    char *data; /* [size_bytes + 1], ends in 0; NULL when empty */
    int64_t size_bytes, room_bytes;
    bool failed;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_append(struct text *text, const void *data, int64_t bytes);
unda_status text_done(const struct text *text); /* UNDA_ERR_MEMORY if something was left out */
const char *text_of(const struct text *text);   /* never NULL */
void text_clear(struct text *text);             /* frees */
/* `TEXT struct text path = {0};` frees the text where its name goes out of scope. */
#define TEXT __attribute__((cleanup(text_clear)))
/* Appends a whole file; false with errno set if it cannot be read, EINVAL if it is no regular one. */
bool text_read_file(struct text *text, const char *path);

#endif
