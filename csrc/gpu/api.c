/* api.c: opens libcuda, libnvrtc, libcublas and libnccl at run time and fills the tables of their functions.
 * Search order: an environment variable (then nothing else), what the process has loaded already, the folders
 * of unda_add_library_dir (pip wheels), the loader's path, /usr/local/cuda. Not here: what results mean
 * (result.c). Next: api_list.h, device.c. */
#define _GNU_SOURCE
#include "api.h"
#include "settings.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct cuda_api cuda;
struct nvrtc_api nvrtc;
struct cublas_api cublas;
struct nccl_api nccl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *cuda_handle; /* libcuda, open though perhaps not initialised */
static atomic_bool cuda_ready, nvrtc_ready, cublas_ready, nccl_ready;
static struct text cuda_lines, nvrtc_lines, cublas_lines, nccl_lines; /* what was tried, under the lock */

/* The file that a function lives in. */
static const char *file_of(const void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "(unknown file)";
}

/* dlopen with a line in the report on failure; a library that is not loaded yet fails silently there. */
static void *open_library(const char *path, int flags, struct text *lines)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    const char *reason = dlerror();
    if (!handle && !(flags & RTLD_NOLOAD))
        text_add(lines, "\n  %s", reason ? reason : path);
    return handle;
}

/* ---- libcuda ---- */

static void *find_cuda(void)
{
    const char *chosen = getenv("UNDA_LIBCUDA");
    text_clear(&cuda_lines);
    if (chosen)
        return open_library(chosen, 0, &cuda_lines);
    void *handle = open_library("libcuda.so.1", RTLD_NOLOAD, &cuda_lines);
    return handle ? handle : open_library("libcuda.so.1", 0, &cuda_lines);
}

/* Opens libcuda and reads its version, which needs no device. A function that is missing stays NULL and fails
 * only when it is called. */
static bool open_cuda(void)
{
    if (cuda_handle)
        return true;
    cuda_handle = find_cuda();
    if (!cuda_handle)
        return false;
#define FILL(name, symbol, arguments) *(void **)&cuda.name = dlsym(cuda_handle, #symbol);
    CUDA_LIST(FILL)
#undef FILL
    if (!cuda.cuDriverGetVersion || cuda.cuDriverGetVersion(&cuda.version))
        cuda.version = 0;
    text_add(&cuda_lines, "\n  %s: version %d.%d", file_of(*(void **)&cuda.cuInit), cuda.version / 1000,
             cuda.version % 1000 / 10);
    return true;
}

static unda_status init_cuda(void)
{
    if (!open_cuda())
        FAIL(UNDA_ERR_NO_DEVICE, "the NVIDIA driver was not found:%s", text_of(&cuda_lines));
    char text[384];
    int result = CU_RESULT(cuInit, 0);
    if (result == CUDA_MISSING || result == CUDA_LOST)
        return cuda_status(result, "cuInit", __FILE__, __LINE__);
    if (result)
        FAIL(UNDA_ERR_NO_DEVICE, "the NVIDIA driver does not start: cuInit: %s",
             cuda_result_text(result, text, sizeof text));
    fork_mark();
    atomic_store(&cuda_ready, true);
    return UNDA_OK;
}

unda_status cuda_load(void)
{
    TRY(fork_check());
    if (atomic_load(&cuda_ready))
        return UNDA_OK;
    pthread_mutex_lock(&lock);
    unda_status status = init_cuda();
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- where libraries are looked for ---- */

/* A library that releases of CUDA bring. */
struct library {
    const char *variable; /* of the environment, which names the file */
    const char *names[2]; /* of the releases that the engine knows, the newest first; or NULL */
    bool (*try)(const char *path, int flags); /* opens it if it can be used; a line in the report */
    struct text *lines;
};

/* Folder "" means the loader's path. */
static bool try_folder(const struct library *library, const char *folder, int flags)
{
    bool found = false;
    for (int i = 0; i < 2 && library->names[i] && !found; i++) {
        TEXT struct text path = {0};
        text_add(&path, "%s%s%s", folder, folder[0] ? "/" : "", library->names[i]);
        found = library->try(text_of(&path), flags);
    }
    return found;
}

static bool find_library(const struct library *library)
{
    const char *chosen = getenv(library->variable);
    text_clear(library->lines);
    if (chosen)
        return library->try(chosen, 0);
    if (try_folder(library, "", RTLD_NOLOAD))
        return true;
    bool found = false, more = true;
    for (int i = 0; more && !found; i++) {
        TEXT struct text folder = {0};
        more = settings_library_dir(i, &folder);
        found = more && try_folder(library, text_of(&folder), 0);
    }
    return found || try_folder(library, "", 0) || try_folder(library, "/usr/local/cuda/lib64", 0);
}

static unda_status load_once(atomic_bool *ready, unda_status (*open)(void))
{
    if (atomic_load(ready))
        return UNDA_OK;
    pthread_mutex_lock(&lock);
    unda_status status = atomic_load(ready) ? UNDA_OK : open();
    pthread_mutex_unlock(&lock);
    return status;
}

/* What a newer major release than the driver's makes is refused by the driver. */
static bool suits_driver(const char *path, int version, struct text *lines)
{
    if (cuda.version == 0 || version / 1000 <= cuda.version / 1000)
        return true;
    text_add(lines, "\n  %s: version %d.%d is too new for the driver, which has %d.%d", path, version / 1000,
             version % 1000 / 10, cuda.version / 1000, cuda.version % 1000 / 10);
    return false;
}

/* ---- libnvrtc ---- */

/* NVRTC opens libnvrtc-builtins by its bare name: loaded from beside it beforehand, it cannot come from
 * elsewhere. */
static void preload_builtins(const char *library)
{
    TEXT struct text pattern = {0};
    const char *slash = strrchr(library, '/');
    text_add(&pattern, "%.*slibnvrtc-builtins.so.%d*", slash ? (int)(slash - library) + 1 : 0, library,
             nvrtc.version / 1000);
    glob_t found;
    if (glob(text_of(&pattern), 0, NULL, &found) == 0) {
        if (found.gl_pathc > 0)
            dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
    }
}

static bool try_nvrtc(const char *path, int flags)
{
    void *handle = open_library(path, flags, &nvrtc_lines);
    if (!handle)
        return false;
#define FILL(name, symbol, arguments) *(void **)&nvrtc.name = dlsym(handle, #symbol);
    NVRTC_LIST(FILL)
#undef FILL
    int major = 0, minor = 0;
    if (NVRTC_RESULT(nvrtcVersion, &major, &minor)) {
        text_add(&nvrtc_lines, "\n  %s: is not NVRTC (no nvrtcVersion)", path);
        return dlclose(handle), false;
    }
    nvrtc.version = 1000 * major + 10 * minor;
    const char *file = file_of(*(void **)&nvrtc.nvrtcVersion);
    if (!suits_driver(file, nvrtc.version, &nvrtc_lines))
        return dlclose(handle), false;
    text_add(&nvrtc_lines, "\n  %s: version %d.%d", file, major, minor);
    preload_builtins(file);
    return true;
}

static const struct library nvrtc_library = {
    "UNDA_LIBNVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"}, try_nvrtc, &nvrtc_lines};

static unda_status open_nvrtc(void)
{
    open_cuda();
    if (!find_library(&nvrtc_library))
        FAIL(UNDA_ERR_NO_DEVICE,
             "no usable NVRTC was found; install unda-waves[cuda] (driver 13 or newer) or "
             "unda-waves[cuda12]:%s",
             text_of(&nvrtc_lines));
    atomic_store(&nvrtc_ready, true);
    return UNDA_OK;
}

unda_status nvrtc_load(void)
{
    return load_once(&nvrtc_ready, open_nvrtc);
}

/* ---- libcublas ---- */

static bool try_cublas(const char *path, int flags)
{
    enum { MAJOR, MINOR }; /* libraryPropertyType */
    void *handle = open_library(path, flags, &cublas_lines);
    if (!handle)
        return false;
#define FILL(name, symbol, arguments) *(void **)&cublas.name = dlsym(handle, #symbol);
    CUBLAS_LIST(FILL)
#undef FILL
    int major = 0, minor = 0;
    if (!cublas.cublasGetProperty || cublas.cublasGetProperty(MAJOR, &major) ||
        cublas.cublasGetProperty(MINOR, &minor)) {
        text_add(&cublas_lines, "\n  %s: is not cuBLAS (no cublasGetProperty)", path);
        return dlclose(handle), false;
    }
    cublas.version = 1000 * major + 10 * minor;
    const char *file = file_of(*(void **)&cublas.cublasGetProperty);
    if (!suits_driver(file, cublas.version, &cublas_lines))
        return dlclose(handle), false;
    text_add(&cublas_lines, "\n  %s: version %d.%d", file, major, minor);
    return true;
}

static const struct library cublas_library = {
    "UNDA_LIBCUBLAS", {"libcublas.so.13", "libcublas.so.12"}, try_cublas, &cublas_lines};

static unda_status open_cublas(void)
{
    open_cuda();
    if (!find_library(&cublas_library))
        FAIL(UNDA_ERR_NO_DEVICE,
             "no usable cuBLAS was found, which kernel gemm needs; install unda-waves[cuda] (driver 13 or "
             "newer) or unda-waves[cuda12], or choose another kernel:%s",
             text_of(&cublas_lines));
    atomic_store(&cublas_ready, true);
    return UNDA_OK;
}

unda_status cublas_load(void)
{
    return load_once(&cublas_ready, open_cublas);
}

/* ---- libnccl ---- */

static bool try_nccl(const char *path, int flags)
{
    enum { LIMITS_BLOCKS = 21700 };
    char version[32];
    void *handle = open_library(path, flags, &nccl_lines);
    if (!handle)
        return false;
#define FILL(name, symbol, arguments) *(void **)&nccl.name = dlsym(handle, #symbol);
    NCCL_LIST(FILL)
#undef FILL
    *(void **)&nccl.ncclGetErrorString = dlsym(handle, "ncclGetErrorString");
    *(void **)&nccl.ncclGetLastError = dlsym(handle, "ncclGetLastError");
    if (!nccl.ncclGetVersion || nccl.ncclGetVersion(&nccl.version)) {
        text_add(&nccl_lines, "\n  %s: is not NCCL (no ncclGetVersion)", path);
        return dlclose(handle), false;
    }
    const char *file = file_of(*(void **)&nccl.ncclGetVersion);
    nccl_version_text(nccl.version, version, sizeof version);
    bool usable = nccl.version >= LIMITS_BLOCKS;
    text_add(&nccl_lines, "\n  %s: version %s%s", file, version, usable ? "" : ", expected 2.17 or newer");
    return usable || (dlclose(handle), false);
}

static const struct library nccl_library = {"UNDA_LIBNCCL", {"libnccl.so.2"}, try_nccl, &nccl_lines};

static unda_status open_nccl(void)
{
    if (!find_library(&nccl_library))
        FAIL(UNDA_ERR_NO_DEVICE,
             "no usable NCCL was found, which transport nccl needs; install unda-waves[nccl] (driver 13 or "
             "newer) or unda-waves[nccl12], or choose another transport:%s",
             text_of(&nccl_lines));
    atomic_store(&nccl_ready, true);
    return UNDA_OK;
}

unda_status nccl_load(void)
{
    return load_once(&nccl_ready, open_nccl);
}

void libraries_report(struct text *text)
{
    pthread_mutex_lock(&lock);
    text_add(text, "driver (libcuda):%s\ncompiler (libnvrtc):%s\n", text_of(&cuda_lines),
             text_of(&nvrtc_lines));
    text_add(text, "matrix products (libcublas, for kernel gemm):%s\n", text_of(&cublas_lines));
    text_add(text, "messages of processes (libnccl, for transport nccl):%s\n", text_of(&nccl_lines));
    pthread_mutex_unlock(&lock);
}
