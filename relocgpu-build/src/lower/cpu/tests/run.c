// Runs the block functions of `kernels` as the CPU device does, and checks what they computed.
// kernels.h, which the test writes, lists them for each level; SLOTS, from the command line, names the slots.
#include "harness.h"

static void saxpy(const char *level, Kernel k) {
    enum { N = 3000 };
    static float x[N], y[N], was[N];
    for (int i = 0; i < N; i++) x[i] = i * 0.5f, was[i] = y[i] = i % 13;
    struct { Raw x, y; float a; } p = {{x, N}, {y, N}, 3.25f};
    launch(k.run, k.frame, k.shared, (uint32_t[]){12, 1, 1}, (uint32_t[]){256, 1, 1}, &p);
    CHECK(!panicked, "saxpy panics");
    for (int i = 0; i < N; i++) CHECK(y[i] == 3.25f * x[i] + was[i], "y[%d] = %f", i, y[i]);
    // An index out of bounds in the middle of a vector: those before it are done, those behind it are not.
    for (int len = 0; len < 300; len += 7) {
        memcpy(y, was, sizeof y);
        p.x.len = len;
        launch(k.run, k.frame, k.shared, (uint32_t[]){12, 1, 1}, (uint32_t[]){256, 1, 1}, &p);
        CHECK(panicked && report.args[0] == (uint64_t)len && report.args[1] == (uint64_t)len && report.location == 7, "len %d", len);
        CHECK(report.thread[0] == (uint32_t)len % 256 && report.block[0] == (uint32_t)len / 256, "thread %u of block %u", report.thread[0], report.block[0]);
        for (int i = 0; i < N; i++) CHECK(y[i] == (i < len ? 3.25f * x[i] + was[i] : was[i]), "len %d: y[%d] = %f", len, i, y[i]);
    }
}

static void indices(const char *level, Kernel k) {
    uint32_t grid[3] = {3, 2, 2}, block[3] = {5, 3, 2};
    uint64_t out[15 * 6 * 4] = {0};
    struct { Raw out; } p = {{out, 15 * 6 * 4}};
    launch(k.run, k.frame, k.shared, grid, block, &p);
    for (uint64_t z = 0; z < 4; z++) for (uint64_t y = 0; y < 6; y++) for (uint64_t x = 0; x < 15; x++) {
        uint64_t right = x | y << 16 | z << 32 | (3 + x % 5 % 7) << 48, is = out[(z * 6 + y) * 15 + x];
        CHECK(is == right, "(%lu, %lu, %lu) is %lx", x, y, z, is);
    }
}

static void cooperate(const char *level, Kernel k, uint64_t gain) {
    for (uint32_t n = 1; n <= 256; n *= 2) {
        uint64_t out[3 * 256] = {0};
        struct { Raw out; uint32_t stop; } p = {{out, 3 * n}, n};
        launch(k.run, k.frame, k.shared, (uint32_t[]){3, 1, 1}, (uint32_t[]){n, 1, 1}, &p);
        CHECK(!diverged && !panicked, "%u threads", n);
        for (uint64_t b = 0; b < 3; b++) {
            uint64_t sum = 0;
            for (uint64_t i = 0; i < n; i++) sum += (b * n + n - 1 - i) * gain + i;
            for (uint64_t i = 0; i < n; i++) {
                uint64_t right = (b * n + n - 1 - i) * gain + (sum << 32);
                CHECK(out[b * n + i] == right, "block %lu thread %lu of %u: %lx, not %lx", b, i, n, out[b * n + i], right);
            }
        }
        p.stop = n / 2;
        launch(k.run, k.frame, k.shared, (uint32_t[]){3, 1, 1}, (uint32_t[]){n, 1, 1}, &p);
        CHECK(diverged == (n > 1), "%u threads of which half leave: %d", n, diverged);
    }
}

static void panics(const char *level, Kernel k, int late) {
    enum { N = 200 };
    uint64_t x[N], out[N];
    for (int bad = -1; bad < N; bad += 23) {
        for (int i = 0; i < N; i++) x[i] = (uint64_t)i * 7 % N, out[i] = 0;
        if (bad >= 0) x[bad] = 1000;
        struct { Raw x, out; } p = {{x, N}, {out, N}};
        launch(k.run, k.frame, k.shared, (uint32_t[]){4, 1, 1}, (uint32_t[]){64, 1, 1}, &p);
        CHECK(panicked == (bad >= 0) && !diverged, "panicked: %d", panicked);
        if (bad >= 0) {
            CHECK(report.args[0] == 1000 && report.args[1] == N, "x[%lu] of %lu", report.args[0], report.args[1]);
            CHECK(report.thread[0] == (uint32_t)bad % 64 && report.block[0] == (uint32_t)bad / 64, "thread %u of block %u, not %d", report.thread[0], report.block[0], bad);
        }
        for (int i = 0; i < N; i++) {
            uint64_t right = bad < 0 || i < bad ? 2 + x[x[i]] : i == bad ? 1 : 0;
            CHECK(out[i] == right, "late %d, bad %d: out[%d] = %lu, not %lu", late, bad, i, out[i], right);
        }
    }
}

static void phases(const char *level, Kernel k) {
    uint32_t grid[3] = {3, 2, 1}, block[3] = {8, 4, 2};
    enum { N = 6 * 64 };
    uint64_t in[N], out[N] = {0};
    for (int i = 0; i < N; i++) in[i] = (uint64_t)i * i + 3;
    for (int less = 0; less < 2; less++) {
        struct { Raw in, out; uint32_t bound; } p = {{in, N - (less ? 5 : 0)}, {out, N}, 40};
        memset(out, 0, sizeof out);
        launch(k.run, k.frame, k.shared, grid, block, &p);
        CHECK(panicked == less && !diverged, "panicked: %d, diverged: %d", panicked, diverged);
        for (int i = 0; i < N; i++) {
            int b = i / 64, t = i % 64, mirror = b * 64 + 63 - t;
            uint64_t local = 0;
            for (int j = 0; j < 4; j++) local += (in[i] + j) * (j + 1);
            uint64_t right = in[i] + 2 * in[mirror] + local + (t < 40 ? in[b * 64 + (t + 1) % 64] : 0) + t % 8;
            if (less && b == 5) continue;
            CHECK(out[i] == right, "less %d: out[%d] = %lu, not %lu", less, i, out[i], right);
        }
    }
    struct { Raw in, out; uint32_t bound; } p = {{in, N}, {out, N}, 1000};
    launch(k.run, k.frame, k.shared, grid, block, &p);
    CHECK(diverged, "threads that leave before the second barrier are not noticed");
}

static void owned(const char *level, Kernel k) {
    enum { N = 100 };
    uint64_t out[N] = {0};
    struct { uint64_t words[5]; Raw out; uint32_t wait; } p = {{1, 20, 300, 4000, 50000}, {out, N}, 0};
    launch(k.run, k.frame, k.shared, (uint32_t[]){4, 1, 1}, (uint32_t[]){32, 1, 1}, &p);
    for (uint64_t i = 0; i < N; i++) CHECK(out[i] == 54321 + 5 * i + p.words[i % 5] + i, "out[%lu] = %lu", i, out[i]);
}

static void mixed(const char *level, Kernel k, int option) {
    enum { N = 120, T = 40 };
    uint64_t in[N], out[N];
    for (int i = 0; i < N; i++) in[i] = (uint64_t)i * 37 % 101;
    for (uint32_t mode = 0; mode < 3; mode++) {
        struct { Raw in, out; uint32_t mode; } p = {{in, N}, {out, N}, mode};
        memset(out, 0, sizeof out);
        launch(k.run, k.frame, k.shared, (uint32_t[]){N / T, 1, 1}, (uint32_t[]){T, 1, 1}, &p);
        CHECK(!panicked && !diverged, "mode %u", mode);
        for (int b = 0; b < N / T; b++) {
            uint64_t acc[T], line[T], sum[T], seen[T];
            for (int t = 0; t < T; t++) {
                uint8_t table[8] = {0};
                acc[t] = seen[t] = 0;
                for (int j = 0; j < t % 5 + 1; j++) acc[t] += in[(b * T + t + j) % N], table[j * 3 % 8] = acc[t] % 251;
                for (int j = t % 2 ? 3 : 0; j < (t % 2 ? 8 : 3); j++) seen[t] += table[j];
                line[t] = acc[t];
            }
            for (int t = 0; t < T; t++) {
                sum[t] = 0;
                for (int j = 0; j < T; j += 1 + acc[t] % 2) sum[t] += line[j] * (j + 1);
            }
            for (int t = 0; t < T; t++) {
                uint64_t more = option && mode == 2 ? line[(t + 1) % T] : 0;
                uint64_t right = sum[(t + 3) % T] + seen[t] + acc[t] % 2 * 1000 + (uint64_t)(acc[t] * 0.5f) + (acc[t] ^ 5) + t + acc[t] + more;
                if (mode == 1) right = 0;
                CHECK(out[b * T + t] == right, "option %d, mode %u: out[%d] = %lu, not %lu", option, mode, b * T + t, out[b * T + t], right);
            }
        }
    }
}

extern uint64_t SLOTS[];
uint64_t SLOTS[1] __attribute__((visibility("hidden")));

#include "kernels.h"

int main(void) {
    stack = memory_for_stacks();
    SLOTS[0] = 5;
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
        const Level *l = &levels[i];
        if (!l->supported()) {
            printf("%s skipped: this processor is of a lower level\n", l->name);
            continue;
        }
        cooperate(l->name, l->kernels[0], SLOTS[0]);
        indices(l->name, l->kernels[1]);
        mixed(l->name, l->kernels[2], 0);
        mixed(l->name, l->kernels[3], 1);
        saxpy(l->name, l->kernels[4]);
        owned(l->name, l->kernels[5]);
        owned(l->name, l->kernels[6]);
        panics(l->name, l->kernels[7], 0);
        panics(l->name, l->kernels[8], 1);
        phases(l->name, l->kernels[9]);
        saxpy(l->name, l->kernels[10]);
        printf("%s ran\n", l->name);
    }
    return failures != 0;
}
