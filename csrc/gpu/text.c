/* text.c: growing strings (text.h). Arrays of numbers: base/array.c.
 * Next: sources.c and cache.c, the users. */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool reserve(struct text *text, int64_t bytes)
{
    int64_t want = text->size_bytes + bytes + 1;
    if (text->failed || want <= text->room_bytes)
        return !text->failed;
    int64_t room = want > 2 * text->room_bytes ? want : 2 * text->room_bytes;
    char *data = realloc(text->data, (size_t)room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room_bytes = room;
    return true;
}

void text_append(struct text *text, const void *data, int64_t bytes)
{
    if (!reserve(text, bytes))
        return;
    if (bytes > 0)
        memcpy(text->data + text->size_bytes, data, (size_t)bytes);
    text->size_bytes += bytes;
    text->data[text->size_bytes] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int bytes = vsnprintf(NULL, 0, format, list);
    if (bytes >= 0 && reserve(text, bytes)) {
        vsnprintf(text->data + text->size_bytes, (size_t)bytes + 1, format, again);
        text->size_bytes += bytes;
    }
    va_end(again);
    va_end(list);
}

unda_status text_done(const struct text *text)
{
    if (text->failed)
        FAIL(UNDA_ERR_MEMORY, "out of memory for a text of %lld bytes", (long long)text->size_bytes);
    return UNDA_OK;
}

const char *text_of(const struct text *text)
{
    return text->data ? text->data : "";
}

void text_clear(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

bool text_read_file(struct text *text, const char *path)
{
    /* Opening a FIFO or a device would wait for its other end. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    struct stat found;
    char part[8192];
    ssize_t bytes = 0;
    bool regular = fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    while (regular && (bytes = read(file, part, sizeof part)) > 0)
        text_append(text, part, bytes);
    int error = !regular ? EINVAL : bytes < 0 ? errno : 0;
    close(file);
    errno = error;
    return error == 0;
}
