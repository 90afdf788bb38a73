/* cublas.cpp: a stand-in for libcublas: products of matrices by plain loops, queued on a stream of the stand-in driver.
 * As strict as the manual: a handle needs its stream, then its workspace; leading dimensions hold what they lead; all
 * matrices lie in device memory; arithmetic has to be named. TF32 cuts factors to eleven binary digits.
 * UNDA_EMULATOR_FAIL_PRODUCT=n: the n-th product fails. Next: driver.cpp. */
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {
enum { SUCCESS, NOT_INITIALIZED, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { PEDANTIC_MATH = 2, TF32_MATH = 3, COMPUTE_32_PEDANTIC = 69, COMPUTE_64_PEDANTIC = 71, COMPUTE_32_TF32 = 77 };
const size_t workspace_bytes = 4 << 20; /* less would make it slow, or fail in a graph */
struct handle {
    void *stream, *workspace;
    int mode;
};
typedef long long i64;

/* A function of the stand-in driver, which this process has loaded. */
template <class F> F *driver(const char *name) {
    const char *path = getenv("UNDA_LIBCUDA");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    return library ? (F *)dlsym(library, name) : nullptr;
}
/* One is the last real of so many columns. */
bool inside(const void *at, i64 lead, i64 rows, i64 columns, i64 step, i64 count, int bytes) {
    auto *check = driver<bool(uint64_t, size_t)>("emu_inside");
    i64 reals = step * (count - 1) + lead * (columns - 1) + rows;
    return (uint64_t)at % bytes == 0 && check && check((uint64_t)at, reals * bytes);
}
template <class T> struct product {
    i64 m, n, k, lda, step_a, ldb, step_b, ldc, step_c, count;
    const T *a, *b;
    T *c, alpha, beta;
    bool rounded;

    T factor(T x) const {
        if (!rounded || sizeof(T) != 4)
            return x;
        uint32_t bits;
        memcpy(&bits, &x, 4);
        bits &= ~0x1fffu;
        memcpy(&x, &bits, 4);
        return x;
    }
    void run() const {
        for (i64 i = 0; i < count * n * m; i++) {
            i64 row = i % m, column = i / m % n, one = i / m / n;
            const T *left = a + one * step_a + row * lda, *right = b + one * step_b + column * ldb;
            T sum = 0, *to = c + one * step_c + column * ldc + row;
            for (i64 j = 0; j < k; j++)
                sum += factor(left[j]) * factor(right[j]);
            *to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;
        }
    }
};
template <class T>
int queue(const handle &h, product<T> p, const void *a, const void *alpha, const void *b, const void *beta, void *c) {
    if (p.lda < p.k || p.ldb < p.k || p.ldc < p.m || !inside(a, p.lda, p.k, p.m, p.step_a, p.count, sizeof(T)) ||
        !inside(b, p.ldb, p.k, p.n, p.step_b, p.count, sizeof(T)) ||
        !inside(c, p.ldc, p.m, p.n, p.step_c, p.count, sizeof(T)))
        return INVALID_VALUE;
    p.a = (const T *)a, p.b = (const T *)b, p.c = (T *)c;
    p.alpha = *(const T *)alpha, p.beta = *(const T *)beta;
    std::function<int()> work = [p] { return p.run(), 0; };
    auto *add = driver<int(void *, std::function<int()> *, const uint64_t *, int)>("emu_queue");
    const uint64_t touches[] = {(uint64_t)a, (uint64_t)b, (uint64_t)c};
    return add && add(h.stream, &work, touches, 3) == 0 ? SUCCESS : EXECUTION_FAILED;
}
} // namespace

API cublasGetProperty(int which, int *value) {
    const char *version = getenv("UNDA_EMULATOR_CUBLAS");
    return *value = which == 0 ? version ? atoi(version) : 13 : 0, SUCCESS;
}
API cublasCreate_v2(void **h) { return *h = new handle{nullptr, nullptr, 0}, SUCCESS; }
API cublasDestroy_v2(void *h) { return delete (handle *)h, SUCCESS; }
API cublasSetStream_v2(void *h, void *stream) { /* the workspace is a pool of its own again */
    return ((handle *)h)->stream = stream, ((handle *)h)->workspace = nullptr, SUCCESS;
}
API cublasSetWorkspace_v2(void *h, void *workspace, size_t bytes) {
    if ((uint64_t)workspace % 256 || bytes < workspace_bytes || !inside(workspace, bytes, bytes, 1, 0, 1, 1))
        return INVALID_VALUE;
    return ((handle *)h)->workspace = workspace, SUCCESS;
}
API cublasSetMathMode(void *h, int mode) { return ((handle *)h)->mode = mode, SUCCESS; }
API cublasGemmStridedBatchedEx(void *of, int turn_a, int turn_b, int m, int n, int k, const void *alpha, const void *a,
                               int type_a, int lda, i64 step_a, const void *b, int type_b, int ldb, i64 step_b,
                               const void *beta, void *c, int type_c, int ldc, i64 step_c, int count, int compute,
                               int algorithm) {
    static int num;
    const handle &h = *(handle *)of;
    const char *fail = getenv("UNDA_EMULATOR_FAIL_PRODUCT");
    if (fail && ++num == atoi(fail))
        return EXECUTION_FAILED;
    if (!h.stream || !h.workspace)
        return NOT_INITIALIZED;
    bool wide = type_a == 1, rounded = compute == COMPUTE_32_TF32;
    if (turn_a != 1 || turn_b != 0 || algorithm != -1 || type_a != type_b || type_a != type_c ||
        h.mode != (rounded ? TF32_MATH : PEDANTIC_MATH) ||
        (wide ? compute != COMPUTE_64_PEDANTIC : !rounded && compute != COMPUTE_32_PEDANTIC))
        return NOT_SUPPORTED;
    if (m < 1 || n < 1 || k < 1 || count < 1)
        return INVALID_VALUE;
    auto all = [&](auto p) {
        p.m = m, p.n = n, p.k = k, p.lda = lda, p.ldb = ldb, p.ldc = ldc, p.count = count;
        p.step_a = step_a, p.step_b = step_b, p.step_c = step_c, p.rounded = rounded;
        return queue(h, p, a, alpha, b, beta, c);
    };
    return wide ? all(product<double>()) : all(product<float>());
}
