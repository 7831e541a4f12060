/* A driver for unit tests. It has memory, and runs what is on a stream as late as the manual allows: when somebody
   waits. "PTX" is lines of `entry NAME THREADS`, `global NAME BYTES` and `bad TEXT`. Kernels are named below.
   Compiled with -DWITHOUT_POOLS or -DWITHOUT_STREAMS it lacks newer or needed functions. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ptr;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, NOT_FOUND = 500 };

/* ---- what tests set and read ---- */

int fake_devices = 1, fake_version = 12020, fake_major = 9, fake_minor = 0, fake_pools = 1, fake_blocks_live, fake_pinned_live,
    fake_modules_live, fake_streams_live, fake_contexts_live, fake_events_live;
__thread int fake_depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 20];
static struct { char call[64]; int after, code; } faults[16];
static int sticky;

const char *fake_log(void) { return log_text; }
void fake_clear(void) { log_text[0] = 0; }
void fake_fault(const char *call, int after, int code) {
    for (int i = 0; i < 16; i++)
        if (!faults[i].call[0]) {
            snprintf(faults[i].call, sizeof faults[i].call, "%s", call);
            faults[i].after = after;
            faults[i].code = code;
            return;
        }
}

static void note(const char *call) {
    pthread_mutex_lock(&lock);
    size_t used = strlen(log_text);
    if (used + strlen(call) + 2 < sizeof log_text) sprintf(log_text + used, "%s\n", call);
    pthread_mutex_unlock(&lock);
}
static int enter(const char *call, int needs_context) {
    note(call);
    for (int i = 0; i < 16; i++)
        if (!strcmp(faults[i].call, call) && faults[i].after-- == 0) {
            faults[i].call[0] = 0;
            if (faults[i].code >= 700 && faults[i].code != 701) sticky = faults[i].code;
            return faults[i].code;
        }
    if (needs_context && fake_depth < 1) return INVALID_CONTEXT;
    return needs_context ? sticky : SUCCESS;
}
#define CALL(needs_context) do { int code = enter(__func__, needs_context); if (code) return code; } while (0)

/* ---- modules ---- */

struct module { char names[32][80]; char *globals[32]; size_t sizes[32]; int count; };
struct function { struct module *module; char name[64]; int threads; };

static char *global(struct module *module, const char *name, size_t *bytes) {
    for (int i = 0; i < module->count; i++)
        if (!strcmp(module->names[i], name)) { if (bytes) *bytes = module->sizes[i]; return module->globals[i]; }
    return 0;
}

/* ---- streams: a list of what is to be done ---- */

enum kind { COPY, SET8, SET32, LAUNCH, FREE };
struct command { enum kind kind; char *to; const char *from; size_t n; uint32_t value; struct function *function; unsigned grid, block; char params[4096]; };
static struct command *commands;
static int command_count;

static void run(struct command *c) {
    switch (c->kind) {
    case COPY: memcpy(c->to, c->from, c->n); break;
    case SET8: memset(c->to, (int)c->value, c->n); break;
    case SET32: for (size_t i = 0; i < c->n; i++) ((uint32_t *)c->to)[i] = c->value; break;
    case FREE: memset(c->to, 0xdd, 1); free(c->to - 256); break;
    case LAUNCH: {
        struct { float *data; uint64_t len; float by; } *p = (void *)c->params;
        char *name = c->function->name;
        if (!strcmp(name, "scale"))
            for (uint64_t i = 0; i < p->len && i < (uint64_t)c->grid * c->block; i++) p->data[i] *= p->by;
        else if (!strcmp(name, "add_slots")) {
            size_t bytes = 0;
            uint64_t *slots = (void *)global(c->function->module, "relocgpu_slots", &bytes);
            for (uint64_t i = 0; i < p->len; i++)
                for (size_t s = 0; s < bytes / 8; s++) p->data[i] += (float)slots[s];
        } else if (!strncmp(name, "panic", 5)) {
            uint32_t *claim = (void *)global(c->function->module, "relocgpu_panic_claim", 0);
            char **record = (void *)global(c->function->module, "relocgpu_panic_record", 0);
            if (!*claim) {
                struct { uint32_t state, kind; uint64_t location, args[3]; uint32_t thread[3], block[3]; } *r = (void *)*record;
                *claim = 1;
                r->kind = 1;
                r->location = 1;
                r->args[0] = 9;
                r->args[1] = 4;
                r->thread[0] = 5;
                r->state = 1;
            }
        } else if (!strcmp(name, "trap")) sticky = 719;
    }
    }
}
static int drain(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < command_count; i++) if (!sticky) run(&commands[i]);
    command_count = 0;
    pthread_mutex_unlock(&lock);
    return sticky;
}
static int push(struct command command) {
    pthread_mutex_lock(&lock);
    commands = realloc(commands, (command_count + 1) * sizeof *commands);
    commands[command_count++] = command;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- the driver's functions ---- */

int cuInit(unsigned flags) { CALL(0); return flags; }
int cuDriverGetVersion(int *v) { CALL(0); *v = fake_version; return 0; }
int cuDeviceGetCount(int *n) { CALL(0); *n = fake_devices; return 0; }
int cuDeviceGet(int *d, int i) { CALL(0); *d = i; return 0; }
int cuDeviceGetName(char *name, int n, int d) { CALL(0); snprintf(name, n, "Fake %d", d); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
    CALL(0);
    switch (a) {
    case 1: *v = 1024; break;
    case 2: case 3: *v = 1024; break;
    case 4: *v = 64; break;
    case 5: *v = 0x7fffffff; break;
    case 6: case 7: *v = 65535; break;
    case 8: *v = 49152; break;
    case 75: *v = fake_major; break;
    case 76: *v = fake_minor; break;
    case 115: *v = fake_pools; break;
    default: return INVALID_VALUE;
    }
    return d < fake_devices ? 0 : 101;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { CALL(0); fake_contexts_live++; *c = (void *)(intptr_t)(100 + d); return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { CALL(0); fake_contexts_live--; return 0; }
int cuCtxPushCurrent_v2(void *c) { int code = enter("push", 0); if (code) return code; fake_depth++; return 0; }
int cuCtxPopCurrent_v2(void **c) { fake_depth--; note("pop"); return 0; }
int cuCtxGetDevice(int *d) { CALL(1); *d = 0; return 0; }
int cuStreamGetCtx(void *s, void **c) { CALL(1); *c = (void *)(intptr_t)((intptr_t)s == 21 ? 101 : 100); return 0; }
int cuPointerGetAttribute(void *out, int a, ptr at) {
    CALL(1);
    /* 0x1000 is of another context, 0x2000 of a pool of device 0, 0x3000 of a pool of device 1, below that unknown. */
    if (at < 0x1000) return INVALID_VALUE;
    if (a == 1) *(void **)out = at == 0x1000 ? (void *)101 : at <= 0x3000 ? 0 : (void *)100;
    else *(int *)out = at == 0x3000;
    return 0;
}
#ifndef WITHOUT_STREAMS
int cuStreamCreate(void **s, unsigned flags) { CALL(1); fake_streams_live++; *s = (void *)7; return 0; }
#endif
int cuStreamDestroy_v2(void *s) { CALL(1); fake_streams_live--; return 0; }
int cuStreamSynchronize(void *s) { CALL(1); return drain(); }
int cuStreamWaitEvent(void *s, void *e, unsigned flags) { CALL(1); return 0; }
int cuEventCreate(void **e, unsigned flags) { CALL(1); fake_events_live++; *e = (void *)9; return 0; }
int cuEventDestroy_v2(void *e) { CALL(1); fake_events_live--; return 0; }
int cuEventRecord(void *e, void *s) { CALL(1); return 0; }
int cuEventSynchronize(void *e) { CALL(1); return drain(); }
int cuEventElapsedTime(float *ms, void *a, void *b) { CALL(1); *ms = 1.5f; return 0; }

static int allocate(ptr *at, size_t n) {
    char *block = malloc(n + 256);
    if (n > (size_t)1 << 40 || !block) return OUT_OF_MEMORY;
    memset(block, 0xcc, n + 256);
    fake_blocks_live++;
    *at = (ptr)(block + 256);
    return 0;
}
int cuMemAlloc_v2(ptr *at, size_t n) { CALL(1); return allocate(at, n); }
int cuMemFree_v2(ptr at) { CALL(1); fake_blocks_live--; free((char *)at - 256); return 0; }
#ifndef WITHOUT_POOLS
int cuMemAllocAsync(ptr *at, size_t n, void *s) { CALL(1); return allocate(at, n); }
int cuMemFreeAsync(ptr at, void *s) { CALL(1); fake_blocks_live--; return push((struct command){ .kind = FREE, .to = (char *)at }); }
#endif
int cuMemHostAlloc(void **at, size_t n, unsigned flags) { CALL(1); fake_pinned_live++; *at = malloc(n); return 0; }
int cuMemFreeHost(void *at) { CALL(1); fake_pinned_live--; free(at); return 0; }
int cuMemHostGetDevicePointer_v2(ptr *at, void *host, unsigned flags) { CALL(1); *at = (ptr)host; return 0; }
static int copy(ptr to, ptr from, size_t n) { return push((struct command){ .kind = COPY, .to = (char *)to, .from = (char *)from, .n = n }); }
int cuMemcpyHtoDAsync_v2(ptr to, void *from, size_t n, void *s) {
    char text[64];
    snprintf(text, sizeof text, "HtoD %zu", n);
    note(text);
    CALL(1);
    return copy(to, (ptr)from, n);
}
int cuMemcpyDtoHAsync_v2(void *to, ptr from, size_t n, void *s) { CALL(1); return copy((ptr)to, from, n); }
int cuMemcpyDtoDAsync_v2(ptr to, ptr from, size_t n, void *s) { CALL(1); return copy(to, from, n); }
int cuMemsetD8Async(ptr at, unsigned char v, size_t n, void *s) { CALL(1); return push((struct command){ .kind = SET8, .to = (char *)at, .value = v, .n = n }); }
int cuMemsetD32Async(ptr at, unsigned v, size_t n, void *s) { CALL(1); return push((struct command){ .kind = SET32, .to = (char *)at, .value = v, .n = n }); }

int cuModuleLoadDataEx(struct module **out, const char *text, unsigned n, int *names, void **values) {
    CALL(1);
    struct module *module = calloc(1, sizeof *module);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : 0) {
        char name[64];
        size_t bytes;
        if (!strncmp(line, "bad ", 4)) {
            for (unsigned i = 0; i < n; i++)
                if (names[i] == 5) snprintf(values[i], 1024, "ptxas fatal: %s", line + 4);
            free(module);
            return 218;
        }
        if (sscanf(line, "global %63s %zu", name, &bytes) == 2) {
            strcpy(module->names[module->count], name);
            module->sizes[module->count] = bytes;
            module->globals[module->count++] = calloc(1, bytes);
        } else if (sscanf(line, "entry %63s %zu", name, &bytes) == 2) {
            struct function *function = calloc(1, sizeof *function);
            function->module = module;
            strcpy(function->name, name);
            function->threads = (int)bytes;
            snprintf(module->names[module->count], 80, "entry %s", name);
            module->globals[module->count++] = (char *)function;
        }
    }
    fake_modules_live++;
    *out = module;
    return 0;
}
int cuModuleUnload(struct module *m) {
    CALL(1);
    for (int i = 0; i < m->count; i++) free(m->globals[i]);
    free(m);
    fake_modules_live--;
    return 0;
}
int cuModuleGetGlobal_v2(ptr *at, size_t *bytes, struct module *m, const char *name) { CALL(1); *at = (ptr)global(m, name, bytes); return *at ? 0 : NOT_FOUND; }
int cuModuleGetFunction(struct function **f, struct module *m, const char *name) {
    char entry[80];
    CALL(1);
    snprintf(entry, sizeof entry, "entry %s", name);
    *f = (void *)global(m, entry, 0);
    return *f ? 0 : NOT_FOUND;
}
int cuFuncGetAttribute(int *v, int a, struct function *f) { CALL(1); *v = f->threads; return 0; }
int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **params, void **extra) {
    CALL(1);
    if (params || shared || !gx || !bx) return INVALID_VALUE;
    struct command c = { .kind = LAUNCH, .function = f, .grid = gx * gy * gz, .block = bx * by * bz };
    if (extra) {
        if ((intptr_t)extra[0] != 1 || (intptr_t)extra[2] != 2 || extra[4] || *(size_t *)extra[3] > sizeof c.params) return INVALID_VALUE;
        memcpy(c.params, extra[1], *(size_t *)extra[3]);
    }
    return push(c);
}
