// Runs block functions as the CPU device does: on a stack whose end is the context. For the programs of this folder.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef struct { uint32_t kind, reserved; uint64_t location, args[3]; const char *text; uint64_t text_len; uint32_t thread[3], block[3]; } Report;
typedef struct Context {
    uint32_t block_idx[3], block_dim[3], grid_dim[3], thread_idx[3];
    char *shared, *frames;
    uint64_t frame_stride;
    void (*panic)(struct Context *, const Report *);
    void (*drive)(struct Context *);
    void (*diverge)(struct Context *, uint64_t, uint64_t);
} Context;
typedef void (*Run)(const void *);
typedef void (*Resume)(void *);

#define STACK (1 << 20)
#define RESERVED 256
static char *stack;
static ucontext_t host, device;
static Report report;
static int panicked, diverged;

static void leave(void) { swapcontext(&device, &host); }
static void on_panic(Context *c, const Report *r) { (void)c; report = *r; panicked = 1; leave(); }
static void on_drive(Context *c) {
    uint64_t n = (uint64_t)c->block_dim[0] * c->block_dim[1] * c->block_dim[2], waiting = 0, i;
    for (i = 0; i < n; i++) waiting += *(Resume *)(c->frames + i * c->frame_stride) != 0;
    while (waiting == n) {
        for (waiting = i = 0; i < n; i++) {
            Resume *at = (Resume *)(c->frames + i * c->frame_stride);
            if (*at) (*at)(at);
            waiting += *at != 0;
        }
    }
    if (waiting) { diverged = 1; leave(); }
}

static void on_diverge(Context *c, uint64_t waiting, uint64_t ended) {
    diverged = waiting + ended == (uint64_t)c->block_dim[0] * c->block_dim[1] * c->block_dim[2];
    leave();
}

static Run now_run;
static const void *now_params;
static void body(void) { now_run(now_params); }

// Runs a whole grid; stops at the first panic or divergence.
static void launch(Run run, uint64_t frame_bytes, uint64_t shared_bytes, const uint32_t grid[3], const uint32_t block[3], const void *params) {
    Context *c = (Context *)(stack + STACK - RESERVED);
    uint64_t stride = (frame_bytes + 15) / 16 * 16;
    memset(c, 0, sizeof *c);
    c->shared = aligned_alloc(128, (shared_bytes + 255) / 128 * 128);
    c->frames = aligned_alloc(16, stride * block[0] * block[1] * block[2] + 16);
    c->frame_stride = stride, c->panic = on_panic, c->drive = on_drive, c->diverge = on_diverge;
    memcpy(c->grid_dim, grid, 12), memcpy(c->block_dim, block, 12);
    panicked = diverged = 0;
    now_run = run, now_params = params;
    for (uint32_t z = 0; z < grid[2]; z++) for (uint32_t y = 0; y < grid[1]; y++) for (uint32_t x = 0; x < grid[0]; x++) {
        if (panicked || diverged) break;
        c->block_idx[0] = x, c->block_idx[1] = y, c->block_idx[2] = z;
        getcontext(&device);
        device.uc_stack.ss_sp = stack, device.uc_stack.ss_size = STACK - RESERVED, device.uc_link = &host;
        makecontext(&device, body, 0);
        swapcontext(&host, &device);
    }
    free(c->shared), free(c->frames);
}

#define CHECK(condition, ...) do { if (!(condition)) { printf("%s: line %d: ", level, __LINE__); printf(__VA_ARGS__); puts(""); failures++; } } while (0)
static int failures;

typedef struct { void *data; uint64_t len; } Raw;
typedef struct { Run run; uint64_t frame, shared; } Kernel;

static char *memory_for_stacks(void) {
    char *memory = mmap(0, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (char *)(((uintptr_t)memory + STACK - 1) / STACK * STACK);
}
