// emu_main SO ORDER DTS STEP ZB variable layer : random cases against a plain stepper
#include "/work/main/tests/emulator/runtime.h"
#include "fd/diamond_args.h"
#include <dlfcn.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>
using namespace std;
#ifndef REALT
#define REALT float
#endif
static mt19937 rng(1);
static REALT uni() { return (int)(rng() % 2000001 - 1000000) * 1e-6f; }
int main(int argc, char **argv) {
    int order = atoi(argv[2]), dts = atoi(argv[3]), step = atoi(argv[4]), zb = atoi(argv[5]), variable = atoi(argv[6]), layer = atoi(argv[7]);
    int V = atoi(argv[8]), G = atoi(argv[9]); int cases = argc > 10 ? atoi(argv[10]) : 6;
    int M = order / 2, H = step * dts;
    void *lib = dlopen(argv[1], RTLD_NOW);
    if (!lib) { puts(dlerror()); return 1; }
    emu_kernel *kernel = (emu_kernel *)dlsym(lib, "emu_kernel_fd_diamond"), *markk = (emu_kernel *)dlsym(lib, "emu_kernel_fd_diamond_mark");
    kernel->dynamic_limit = 1 << 20;
    const int SY = 64, NYP = 128, SX = SY * NYP, PX = 2 * H + 2 * M + 2, PY = 2 * H + 2 * M + 2;
    int bad = 0;
    for (int it = 0; it < cases; it++) {
        int nx = M + 1 + rng() % 40, ny = M + 1 + rng() % 40, nz = zb - (int)(rng() % (zb - M - 1 < 5 ? zb - M - 1 : 5)) / V * V, nt = 1 + rng() % 14;
        if (it == 0) nx = 37, ny = 30, nt = 13;
        long size = (long)(nx + 2 * PX) * SX;
        vector<REALT> A(size, 1e30f), B(size, 1e30f), K(size, 0.f);
        vector<REALT> gx(nx + 2 * PX, 1), gy(ny + 2 * PY, 1), gz(nz, 1);
        auto off = [&](long x, long y, long z) { return (x + PX) * SX + (y + PY) * SY + z + 8; };
        diamond_args a; memset(&a, 0, sizeof a);
        for (auto &s : a.sign) for (auto &v : s) v = rng() % 2 ? 1 : -1;
        a.w[0] = a.w_float[0] = 0.3f;
        for (int i = 1; i < 13; i++) a.w[i] = a.w_float[i] = 0.1f * uni();
        for (int x = 0; x < nx; x++) for (int y = 0; y < ny; y++) for (int z = 0; z < nz; z++) {
            A[off(x, y, z)] = uni(); B[off(x, y, z)] = uni(); K[off(x, y, z)] = 0.2f * uni() + .5f; }
        for (auto *v : {&A, &B}) for (int x = 0; x < nx; x++) for (int y = 0; y < ny; y++) for (int m = 1; m <= M; m++) {
            (*v)[off(x, y, -m)] = a.sign[2][0] * (*v)[off(x, y, m)];
            (*v)[off(x, y, nz - 1 + m)] = a.sign[2][1] * (*v)[off(x, y, nz - 1 - m)]; }
        a.layer[0][1] = nx; a.layer[1][1] = ny;
        if (layer) {
            for (auto &g : gz) if (rng() % 3 == 0) g = 1 - 0.1f * fabs(uni());
            int l = rng() % 4, h = rng() % 4; if (l + h > nx) l = h = 0;
            for (int x = 0; x < l; x++) gx[PX + x] = .9f + .01f * x;
            for (int x = nx - h; x < nx; x++) gx[PX + x] = .95f - .01f * (x % 7);
            a.layer[0][0] = l; a.layer[0][1] = nx - h;
            l = rng() % 4; h = rng() % 4; if (l + h > ny) l = h = 0;
            for (int x = 0; x < l; x++) gy[PY + x] = .9f + .01f * x;
            for (int x = ny - h; x < ny; x++) gy[PY + x] = .95f - .01f * (x % 7);
            a.layer[1][0] = l; a.layer[1][1] = ny - h;
        }
        // sources and recorded cells
        int nsrc = it % 3 == 2 ? 0 : 5, ncell = it % 3 == 2 ? 0 : 40;
        vector<vector<array<REALT,3>>> sl(nx * ny); vector<vector<pair<int,int>>> cl(nx * ny);
        for (int s = 0; s < nsrc; s++) for (int e = 0; e < 7; e++) {
            int x = rng() % nx, y = rng() % ny, z = rng() % nz; bool dup = false;
            for (auto &q : sl[x * ny + y]) dup |= q[0] == z && q[1] == s;
            if (!dup) sl[x * ny + y].push_back({(REALT)z, (REALT)s, uni()}); }
        for (int c = 0; c < ncell; c++) { int x = rng() % nx, y = rng() % ny; cl[x * ny + y].push_back({(int)(rng() % nz), c}); }
        vector<int> sf(1, 0), sz, si, cf(1, 0), cz, ci; vector<REALT> sw;
        for (auto &l : sl) { for (auto &q : l) { sz.push_back(q[0]); si.push_back(q[1]); sw.push_back(q[2]); } sf.push_back(sz.size()); }
        for (auto &l : cl) { for (auto &q : l) { cz.push_back(q.first); ci.push_back(q.second); } cf.push_back(cz.size()); }
        vector<REALT> amp(nt * (nsrc + 1)); for (auto &v : amp) v = uni();
        int every = 1 + rng() % 4, due = 1 + rng() % every;
        vector<REALT> rec((nt / every + 2) * (ncell + 1), 7.f), rec2 = rec;
        // plain
        vector<REALT> a0 = A, b0 = B;
        auto img = [&](int i, int n, int ax, REALT &s) { if (i < 0) { s *= a.sign[ax][0]; return -i; } if (i >= n) { s *= a.sign[ax][1]; return 2 * (n - 1) - i; } return i; };
        for (int n = 0; n < nt; n++) {
            vector<REALT> &u = n % 2 ? a0 : b0, &v = n % 2 ? b0 : a0; vector<REALT> w = v;
            for (int x = 0; x < nx; x++) for (int y = 0; y < ny; y++) for (int z = 0; z < nz; z++) {
                auto get = [&](int X, int Y, int Z) { REALT s = 1; X = img(X, nx, 0, s); Y = img(Y, ny, 1, s); Z = img(Z, nz, 2, s); REALT r = u[off(X, Y, Z)]; return s < 0 ? -r : r; };
                REALT p = get(x, y, z), acc = a.w_float[0] * p;
                for (int m = 1; m <= M; m++) acc = fma(a.w_float[m], get(x + m, y, z) + get(x - m, y, z), acc);
                for (int m = 1; m <= M; m++) acc = fma(a.w_float[M + m], get(x, y + m, z) + get(x, y - m, z), acc);
                for (int m = 1; m <= M; m++) acc = fma(a.w_float[2 * M + m], get(x, y, z + m) + get(x, y, z - m), acc);
                if (variable) acc = fma(K[off(x, y, z)], acc, p + p);
                REALT o = v[off(x, y, z)], g = (gx[PX + x] * gy[PY + y]) * gz[z];
                REALT r = layer ? g * fma(-g, o, acc) : acc - o;
                for (auto &q : sl[x * ny + y]) if ((int)q[0] == z) r = fma(q[2], amp[n * nsrc + (int)q[1]], r);
                w[off(x, y, z)] = r;
                int L = n + 1;
                if (L >= due && (L - due) % every == 0) for (auto &q : cl[x * ny + y]) if (q.first == z) rec2[(L - due) / every * ncell + q.second] = r;
            }
            v = w;
        }
        a.p[0] = &A[off(0, 0, 0)]; a.p[1] = &B[off(0, 0, 0)]; a.k = &K[off(0, 0, 0)];
        a.gx = &gx[PX]; a.gy = &gy[PY]; a.gz = &gz[0];
        a.nx = nx; a.ny = ny; a.nz = nz; a.num_level = nt;
        a.num_row = (nx - 1 + H) / (2 * H) + 1;
        int stages = (ny - M + H + M * nt + H - 1) / H;
        a.num_tower = stages * a.num_row;
        vector<int> progress(a.num_tower, 0); int ticket = 0; a.progress = progress.data(); a.ticket = &ticket;
        vector<unsigned char> mark((2 * a.num_row + 2) * (ny + 2 * H), 0);
        a.every = every; a.due = due; a.num_cell = ncell; a.num_source = nsrc; a.record = rec.data();
        if (nsrc) { a.mark = mark.data(); a.source_first = sf.data(); a.source_z = sz.data(); a.source_id = si.data(); a.source_w = sw.data(); a.amplitude = amp.data();
            a.cell_first = cf.data(); a.cell_z = cz.data(); a.cell_id = ci.data();
            emu_launch l = {markk, {(unsigned)(ny + 2 * H + 31) / 32, (unsigned)(2 * a.num_row + 1), 1}, {32, 1, 1}, 0, &a}; char d[300];
            if (emu_run(l, d, 300)) { printf("mark %s\n", d); return 1; } }
        int rows = step * (2 * dts - 1), tips = 0;
        int slots = 2 * H * H + 2 * M * rows;
        emu_launch l = {kernel, {1, 1, 1}, {(unsigned)(zb / V + 31) / 32 * 32 * G, 1, 1}, (unsigned)((2 * slots + 4 * M * H * 2) * (zb + 2 * M + 6) * sizeof(REALT)), &a}; char d[300];
        if (emu_run(l, d, 300)) { printf("kernel %s\n", d); return 1; }
        long wrong = 0; int fx = -1, fy = -1, fz = -1, fl = 0;
        for (int lev = 0; lev < 2; lev++) { auto &v = lev ? B : A; auto &r = lev ? b0 : a0;
            for (int x = 0; x < nx; x++) for (int y = 0; y < ny; y++) for (int z = 0; z < nz; z++)
                if (!(v[off(x, y, z)] == r[off(x, y, z)])) { if (!wrong) fx = x, fy = y, fz = z, fl = lev; wrong++; }
}
        long wr = 0; for (size_t i = 0; i < rec.size(); i++) wr += rec[i] != rec2[i];
        printf("%d: n %d %d %d nt %d every %d src %d: wrong %ld (first lev %d %d %d %d) rec wrong %ld\n", it, nx, ny, nz, nt, every, nsrc, wrong, fl, fx, fy, fz, wr);
        bad += wrong || wr;
    }
    return bad != 0;
}
