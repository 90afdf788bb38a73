// one thread a cell, index maps for images
extern "C" __global__ void plain(const float *u, float *v, const float *k, const float *gx, const float *gy, const float *gz,
    const float *w, const int *sign, int M, int nx, int ny, int nz, long long sx, long long sy, int variable, int layer,
    const int *first, const int *sz, const int *sid, const float *sw, const float *amp)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)nx * ny * nz) return;
    int z = i % nz, y = i / nz % ny, x = i / nz / ny;
    int n[3] = {nx, ny, nz}; long long s[3] = {sx, sy, 1}; int at[3] = {x, y, z};
    long long here = x * sx + y * sy + z;
    float p = u[here], acc = __fmul_rn(w[0], p);
    for (int a = 0; a < 3; a++)
        for (int m = 1; m <= M; m++) {
            float q[2];
            for (int e = 0; e < 2; e++) {
                int c = at[a] + (e ? -m : m); float f = 1;
                if (c < 0) { c = -c; f = sign[2 * a]; }
                if (c >= n[a]) { c = 2 * (n[a] - 1) - c; f = sign[2 * a + 1]; }
                q[e] = f * u[here + (c - at[a]) * s[a]];
            }
            acc = __fmaf_rn(w[1 + a * M + m - 1], __fadd_rn(q[0], q[1]), acc);
        }
    if (variable) acc = __fmaf_rn(k[here], acc, __fadd_rn(p, p));
    float old = v[here], r;
    if (layer) { float g = __fmul_rn(__fmul_rn(gx[x], gy[y]), gz[z]); r = __fmul_rn(g, __fmaf_rn(-g, old, acc)); }
    else r = __fsub_rn(acc, old);
    if (first) for (int e = first[(long long)x * ny + y]; e < first[(long long)x * ny + y + 1]; e++)
        if (sz[e] == z) r = __fmaf_rn(sw[e], amp[sid[e]], r);
    v[here] = r;
}
extern "C" __global__ void ghosts(float *v, const int *sign, int M, int nx, int ny, int nz, long long sx, long long sy)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)nx * ny) return;
    float *r = v + i / ny * sx + i % ny * sy;
    for (int m = 1; m <= M; m++) { r[-m] = sign[4] * r[m]; r[nz - 1 + m] = sign[5] * r[nz - 1 - m]; }
}
extern "C" __global__ void noise(float *v, long long n, unsigned seed)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        unsigned long long h = (i + seed * 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull; h ^= h >> 31; h *= 0x94D049BB133111EBull; h ^= h >> 29;
        v[i] = (int)(h & 0xffffff) * (2.f / 16777216) - 1;
    }
}
extern "C" __global__ void cells(const float *v, float *out, const int *x, const int *y, const int *z, int n, long long sx, long long sy)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = v[x[i] * sx + y[i] * sy + z[i]];
}
