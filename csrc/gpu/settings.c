/* settings.c: the folders of the CUDA engine (settings.h), and the API functions that set them.
 * Nothing is opened or checked here: a wrong folder is reported where it is used.
 * Next: sources.c (kernel folder), cache.c (cache folder), api.c (library folders). */
#include "settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIBRARY_DIR = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *kernel_dir, *cache_dir; /* NULL: not set */
static char *library_dir[MAX_LIBRARY_DIR];
static int num_library_dir;

static unda_status set(char **setting, const char *path)
{
    if (!path)
        FAIL(UNDA_ERR_ARG, "the path is NULL, expected a folder");
    char *copy = strdup(path);
    if (!copy)
        FAIL(UNDA_ERR_MEMORY, "out of memory for the path %s", path);
    pthread_mutex_lock(&lock);
    free(*setting);
    *setting = copy;
    pthread_mutex_unlock(&lock);
    return UNDA_OK;
}

unda_status unda_set_kernel_dir(const char *path)
{
    return set(&kernel_dir, path);
}

unda_status unda_set_cache_dir(const char *path)
{
    return set(&cache_dir, path);
}

unda_status unda_add_library_dir(const char *path)
{
    char *copy = NULL;
    TRY(set(&copy, path));
    pthread_mutex_lock(&lock);
    bool known = false;
    for (int i = 0; i < num_library_dir; i++)
        known = known || strcmp(library_dir[i], path) == 0;
    bool full = num_library_dir == MAX_LIBRARY_DIR;
    if (!known && !full)
        library_dir[num_library_dir++] = copy;
    else
        free(copy);
    pthread_mutex_unlock(&lock);
    if (!known && full)
        FAIL(UNDA_ERR_ARG, "%s is one library folder too many, expected at most %d", path, MAX_LIBRARY_DIR);
    return UNDA_OK;
}

static bool from_environment(const char *name, struct text *path)
{
    const char *value = getenv(name);
    if (value)
        text_add(path, "%s", value);
    return value != NULL;
}

void settings_kernel_dir(struct text *path)
{
    if (from_environment("UNDA_KERNEL_DIR", path))
        return;
    pthread_mutex_lock(&lock);
    text_add(path, "%s", kernel_dir ? kernel_dir : "");
    pthread_mutex_unlock(&lock);
}

/* The user's cache folder, by the XDG base directory specification. */
static void default_cache_dir(struct text *path)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        text_add(path, "%s/unda", cache);
    else if (home && home[0] == '/')
        text_add(path, "%s/.cache/unda", home);
}

void settings_cache_dir(struct text *path)
{
    const char *off = getenv("UNDA_CACHE");
    if (off && strcmp(off, "0") == 0)
        return;
    if (from_environment("UNDA_CACHE_DIR", path))
        return;
    pthread_mutex_lock(&lock);
    if (cache_dir)
        text_add(path, "%s", cache_dir);
    else
        default_cache_dir(path);
    pthread_mutex_unlock(&lock);
}

bool settings_library_dir(int index, struct text *path)
{
    pthread_mutex_lock(&lock);
    bool found = index < num_library_dir;
    if (found)
        text_add(path, "%s", library_dir[index]);
    pthread_mutex_unlock(&lock);
    return found;
}
