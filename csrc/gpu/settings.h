/* settings.h: the folders of the CUDA engine: kernels, cache, libraries.
 * Set by unda_set_kernel_dir, unda_set_cache_dir and unda_add_library_dir; UNDA_KERNEL_DIR and UNDA_CACHE_DIR
 * in the environment win. Next: settings.c. */
#ifndef UNDA_GPU_SETTINGS_H
#define UNDA_GPU_SETTINGS_H

#include "text.h"

/* Appends the folder; nothing if it is unknown (kernels) or switched off (cache). */
void settings_kernel_dir(struct text *path);
void settings_cache_dir(struct text *path);
/* Appends library folder number `index`; false past the last one. */
bool settings_library_dir(int index, struct text *path);

#endif
