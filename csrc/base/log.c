/* log.c: a queue of the newest messages, drained by the caller (Python's
 * logging). Nothing is ever printed here. Next: error.c (failures), unda.h
 * (unda_log_pop). */
#include "base.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

enum { NUM_MESSAGE = 256, TEXT_BYTES = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int32_t level;
    char text[TEXT_BYTES];
} queue[NUM_MESSAGE]; /* a ring: message i is at i % NUM_MESSAGE */
static int64_t first, end;

void log_add(unda_log_level level, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pthread_mutex_lock(&lock);
    queue[end % NUM_MESSAGE].level = level;
    snprintf(queue[end % NUM_MESSAGE].text, TEXT_BYTES, "%s", text);
    end++;
    if (end - first > NUM_MESSAGE)
        first = end - NUM_MESSAGE;
    pthread_mutex_unlock(&lock);
}

int32_t unda_log_pop(int32_t *level, char *text, int64_t size_bytes)
{
    pthread_mutex_lock(&lock);
    bool found = first < end;
    if (found) {
        if (level)
            *level = queue[first % NUM_MESSAGE].level;
        if (text && size_bytes > 0)
            snprintf(text, (size_t)size_bytes, "%s", queue[first % NUM_MESSAGE].text);
        first++;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
