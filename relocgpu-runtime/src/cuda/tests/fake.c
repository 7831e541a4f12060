/* A driver for tests: the functions that relocgpu, `cust` and `cudarc` call.

   It holds its callers to the manual. A call needs the right context on the calling thread's stack; streams, events and
   modules belong to a context; copies and kernels stay inside living memory. What is on a stream runs as late as it may:
   when somebody waits for it, and no other stream with it, but for what events and the default stream order.

   It runs no PTX: of a module it reads the declarations, or lines of `entry NAME THREADS`, `global NAME BYTES`, `bad TEXT`.
   What kernels do is written in `fake_kernels.h`, by their names.

   A process that finds it as its libcuda may set FAKE_DEVICES=N, and FAKE_FAULT=CALL:AFTER:CODE as for `fake_fault`.
   Compiled with -DWITHOUT_POOLS or -DWITHOUT_STREAMS it lacks newer or needed functions. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ptr;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, ALREADY_REGISTERED = 712 };
enum { DEVICES = 4, STACK = 16 };

/* ---- what tests set and read ---- */

int fake_devices = 1, fake_version = 12020, fake_major = 9, fake_minor = 0, fake_pools = 1, fake_native_atomics, fake_blocks_live, fake_pinned_live,
    fake_modules_live, fake_streams_live, fake_contexts_live, fake_events_live;
static char log_text[1 << 20];
static size_t log_used;
static struct { char call[64]; int after, code; } faults[16];

struct context { int device, alive, sticky; };
static struct context primaries[DEVICES], others[16];
static __thread struct context *stack[STACK];
static __thread int depth;
static struct context *current(void) { return depth ? stack[depth - 1] : 0; }

/* One lock around every call: held until the function that took it returns. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void unlock(int *held) { (void)held; pthread_mutex_unlock(&lock); }
#define LOCKED int held __attribute__((cleanup(unlock), unused)) = pthread_mutex_lock(&lock)

const char *fake_log(void) { return log_text; }
void fake_clear(void) { log_text[log_used = 0] = 0; }
/* Depth of the calling thread's stack of contexts, and its top. */
int fake_depth(void) { return depth; }
void *fake_current(void) { return current(); }
void fake_fault(const char *call, int after, int code) {
    for (int i = 0; i < 16; i++)
        if (!faults[i].call[0]) {
            snprintf(faults[i].call, sizeof faults[i].call, "%s", call);
            faults[i].after = after;
            faults[i].code = code;
            return;
        }
}

__attribute__((constructor)) static void from_environment(void) {
    const char *devices = getenv("FAKE_DEVICES"), *text = getenv("FAKE_FAULT");
    char call[64];
    int after, code;
    if (devices) fake_devices = atoi(devices);
    if (text && sscanf(text, "%63[^:]:%d:%d", call, &after, &code) == 3) fake_fault(call, after, code);
}

static void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_used += vsnprintf(log_text + log_used, sizeof log_text - log_used - 2, format, arguments);
    va_end(arguments);
    if (log_used > sizeof log_text - 256) log_used = sizeof log_text - 256;
    strcpy(log_text + log_used++, "\n");
}
/* Results after which a context takes no more work. */
static int is_sticky(int code) {
    static const short codes[] = { 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999 };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) if (codes[i] == code) return 1;
    return 0;
}
static int enter(const char *call, int needs_context) {
    note("%s", call);
    for (int i = 0; i < 16; i++)
        if (!strcmp(faults[i].call, call) && faults[i].after-- == 0) {
            faults[i].call[0] = 0;
            if (is_sticky(faults[i].code) && current()) current()->sticky = faults[i].code;
            return faults[i].code;
        }
    if (!needs_context) return SUCCESS;
    if (!current() || !current()->alive) return INVALID_CONTEXT;
    return current()->sticky;
}
#define CALL(needs_context) LOCKED; do { int code = enter(__func__, needs_context); if (code) return code; } while (0)
#define NEED(condition, code) do { if (!(condition)) { note("# %s: not " #condition, __func__); return code; } } while (0)

#include "fake_memory.h"
#include "fake_streams.h"

/* ---- the driver's functions ---- */

int cuInit(unsigned flags) { CALL(0); return flags; }
int cuDriverGetVersion(int *v) { CALL(0); *v = fake_version; return 0; }
int cuGetErrorString(int code, const char **text) { static char number[32]; snprintf(number, sizeof number, "error %d", code); *text = number; return 0; }
int cuGetErrorName(int code, const char **text) { return cuGetErrorString(code, text); }
int cuDeviceGetCount(int *n) { CALL(0); *n = fake_devices; return 0; }
int cuDeviceGet(int *d, int i) { CALL(0); NEED(i >= 0 && i < fake_devices, INVALID_DEVICE); *d = i; return 0; }
int cuDeviceGetName(char *name, int n, int d) { CALL(0); snprintf(name, n, "Fake %d", d); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
    CALL(0);
    NEED(d >= 0 && d < fake_devices, INVALID_DEVICE);
    switch (a) {
    case 1: case 2: case 3: *v = 1024; return 0;
    case 4: *v = 64; return 0;
    case 5: *v = 0x7fffffff; return 0;
    case 6: case 7: *v = 65535; return 0;
    case 8: *v = 49152; return 0;
    case 75: *v = fake_major; return 0;
    case 76: *v = fake_minor; return 0;
    case 86: *v = fake_native_atomics; return 0;
    case 115: *v = fake_pools; return 0;
    default: return INVALID_VALUE;
    }
}
int cuDevicePrimaryCtxRetain(struct context **c, int d) {
    CALL(0);
    NEED(d >= 0 && d < fake_devices, INVALID_DEVICE);
    fake_contexts_live++;
    primaries[d].device = d;
    primaries[d].alive++;
    *c = &primaries[d];
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int d) { CALL(0); NEED(primaries[d].alive, INVALID_CONTEXT); fake_contexts_live--; primaries[d].alive--; return 0; }
int cuCtxCreate_v2(struct context **c, unsigned flags, int d) {
    CALL(0);
    NEED(!flags && depth < STACK, INVALID_VALUE);
    for (int i = 0; i < 16; i++)
        if (!others[i].alive) {
            fake_contexts_live++;
            others[i] = (struct context){ .device = d, .alive = 1 };
            stack[depth++] = *c = &others[i];
            return 0;
        }
    return OUT_OF_MEMORY;
}
int cuCtxCreate_v3(struct context **c, void *affinity, int count, unsigned flags, int d) { (void)affinity; return count ? INVALID_VALUE : cuCtxCreate_v2(c, flags, d); }
int cuCtxDestroy_v2(struct context *c) {
    CALL(0);
    NEED(c && c->alive, INVALID_CONTEXT);
    c->alive = 0;
    fake_contexts_live--;
    if (current() == c) depth--;
    return 0;
}
int cuCtxPushCurrent_v2(struct context *c) {
    LOCKED;
    int code = enter("push", 0);
    if (code) return code;
    NEED(c && c->alive && depth < STACK, INVALID_CONTEXT);
    stack[depth++] = c;
    return 0;
}
int cuCtxPopCurrent_v2(struct context **c) { LOCKED; note("pop"); NEED(depth, INVALID_CONTEXT); *c = stack[--depth]; return 0; }
int cuCtxSetCurrent(struct context *c) {
    CALL(0);
    if (depth) depth--;
    if (c) stack[depth++] = c;
    return 0;
}
int cuCtxGetCurrent(struct context **c) { CALL(0); *c = current(); return 0; }
int cuCtxGetDevice(int *d) { CALL(1); *d = current()->device; return 0; }
int cuCtxSynchronize(void) { CALL(1); return drain_context(current()); }

struct module { struct context *context; int alive, count; char names[32][80]; char *globals[32]; size_t sizes[32]; };
struct function { struct module *module; char name[80]; int threads; };

static char *global(struct module *module, const char *name, size_t *bytes) {
    for (int i = 0; i < module->count; i++)
        if (!strcmp(module->names[i], name)) { if (bytes) *bytes = module->sizes[i]; return module->globals[i]; }
    return 0;
}
static void declare(struct module *module, const char *name, size_t bytes) {
    snprintf(module->names[module->count], 80, "%s", name);
    module->sizes[module->count] = bytes;
    module->globals[module->count++] = (char *)add_block(calloc(1, bytes), bytes, GLOBAL, module->context);
}
static void declare_entry(struct module *module, const char *name, int threads) {
    struct function *function = calloc(1, sizeof *function);
    *function = (struct function){ .module = module, .threads = threads };
    snprintf(function->name, sizeof function->name, "%s", name);
    snprintf(module->names[module->count], 80, "entry %.70s", name);
    module->globals[module->count++] = (char *)function;
}
/* A line of PTX such as `.visible .const .align 8 .b8 relocgpu_slots[16];`: words have 8 bytes in `.u64`, else 4. */
static void declare_variable(struct module *module, const char *line) {
    char text[256], *word, *last = 0;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n;="), line);
    size_t bytes = strstr(text, "64 ") ? 8 : 4;
    for (word = strtok(text, " \t"); word; word = strtok(0, " \t")) last = word;
    char *bracket = last ? strchr(last, '[') : 0;
    if (bracket) { bytes = strtoul(bracket + 1, 0, 10); *bracket = 0; }
    if (last) declare(module, last, bytes);
}
int cuModuleLoadDataEx(struct module **out, const char *text, unsigned n, int *names, void **values) {
    CALL(1);
    struct module *module = calloc(1, sizeof *module);
    module->context = current();
    module->alive = 1;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : 0) {
        char name[80];
        size_t bytes;
        NEED(module->count < 32, INVALID_VALUE);
        if (!strncmp(line, "bad ", 4)) {
            for (unsigned i = 0; i < n; i++)
                if (names[i] == 5) snprintf(values[i], 1024, "ptxas fatal: %s", line + 4);
            return 218;
        }
        if (sscanf(line, "global %79s %zu", name, &bytes) == 2) declare(module, name, bytes);
        else if (sscanf(line, "entry %79s %zu", name, &bytes) == 2) declare_entry(module, name, (int)bytes);
        else if (sscanf(line, ".visible .entry %79[A-Za-z0-9_$]", name) == 1) declare_entry(module, name, 1024);
        else if (!strncmp(line, ".visible .const ", 16) || !strncmp(line, ".visible .global ", 17)) declare_variable(module, line);
    }
    fake_modules_live++;
    *out = module;
    return 0;
}
int cuModuleUnload(struct module *m) {
    CALL(1);
    NEED(m->alive && m->context == current(), INVALID_HANDLE);
    m->alive = 0;
    for (int i = 0; i < m->count; i++)
        if (strncmp(m->names[i], "entry ", 6)) drop_block((ptr)m->globals[i], GLOBAL);
    fake_modules_live--;
    return 0;
}
int cuModuleGetGlobal_v2(ptr *at, size_t *bytes, struct module *m, const char *name) { CALL(1); NEED(m->alive, INVALID_HANDLE); *at = (ptr)global(m, name, bytes); return *at ? 0 : NOT_FOUND; }
int cuModuleGetFunction(struct function **f, struct module *m, const char *name) {
    char entry[80];
    CALL(1);
    NEED(m->alive, INVALID_HANDLE);
    snprintf(entry, sizeof entry, "entry %.70s", name);
    *f = (void *)global(m, entry, 0);
    return *f ? 0 : NOT_FOUND;
}
int cuFuncGetAttribute(int *v, int a, struct function *f) { CALL(1); NEED(a == 0, INVALID_VALUE); *v = f->threads; return 0; }

#include "fake_kernels.h"

int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, struct stream *s, void **params, void **extra) {
    CALL(1);
    NEED(f->module->alive && f->module->context == current(), INVALID_HANDLE);
    NEED(!params && !shared && gx && gy && gz && bx && by && bz, INVALID_VALUE);
    NEED(gx <= 0x7fffffff && gy <= 65535 && gz <= 65535 && bx <= 1024 && by <= 1024 && bz <= 64 && bx * by * bz <= 1024, INVALID_VALUE);
    NEED(bx * by * bz <= (unsigned)f->threads, 701);
    struct launch *launch = calloc(1, sizeof *launch);
    *launch = (struct launch){ .function = f, .threads = (uint64_t)gx * gy * gz * bx * by * bz };
    size_t bytes = 0;
    if (extra) {
        NEED((intptr_t)extra[0] == 1 && (intptr_t)extra[2] == 2 && !extra[4] && *(size_t *)extra[3] <= sizeof launch->params, INVALID_VALUE);
        memcpy(launch->params, extra[1], bytes = *(size_t *)extra[3]);
    }
    note("launch %s %ux%ux%u %ux%ux%u %zu", f->name, gx, gy, gz, bx, by, bz, bytes);
    return push(s, (struct command){ .kind = LAUNCH, .run = run_kernel, .launch = launch });
}
