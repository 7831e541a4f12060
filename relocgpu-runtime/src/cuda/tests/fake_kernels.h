/* What kernels do, by the start of their names or a part of it. Their memory is checked: outside of it lies a sticky error. */

struct launch { struct function *function; uint64_t threads; char params[32 << 10]; };

static void run_kernel(struct launch *l, struct context *context) {
    struct { float *data; uint64_t len; float by; } *p = (void *)l->params;
    struct { float *x; uint64_t x_len; float *y; uint64_t y_len; } *q = (void *)l->params;
    const char *name = l->function->name;
    struct module *module = l->function->module;
    size_t bytes = 0;
    uint64_t *slots = (void *)global(module, "relocgpu_slots", &bytes);
    int sound = module->alive;
    if (!strcmp(name, "scale") && (sound &= p->len == 0 || block_of((ptr)p->data, p->len * 4))) {
        for (uint64_t i = 0; i < p->len && i < l->threads; i++) p->data[i] *= p->by;
    } else if (!strcmp(name, "add_slots") && (sound &= !!block_of((ptr)p->data, p->len * 4))) {
        for (uint64_t i = 0; i < p->len; i++)
            for (size_t s = 0; s < bytes / 8; s++) p->data[i] += (float)slots[s];
    } else if (strstr(name, "__amplify_") && (sound &= slots && (!q->x_len || block_of((ptr)q->x, q->x_len * 4)) && (!q->y_len || block_of((ptr)q->y, q->y_len * 4)))) {
        /* Of the interop examples: `*y += host!(gain()) * x`. */
        float gain;
        memcpy(&gain, slots, 4);
        for (uint64_t i = 0; i < q->y_len && i < q->x_len && i < l->threads; i++) q->y[i] += gain * q->x[i];
    } else if (!strncmp(name, "panic", 5) && sound) {
        uint32_t *claim = (void *)global(module, "relocgpu_panic_claim", 0);
        char **record = (void *)global(module, "relocgpu_panic_record", 0);
        struct { uint32_t state, kind; uint64_t location, args[3]; uint32_t thread[3], block[3]; } *r = (void *)*record;
        if (!(sound &= !!block_of((ptr)r, sizeof *r))) context->sticky = ILLEGAL_ADDRESS;
        else if (!*claim) {
            *claim = 1;
            r->kind = 1;
            r->location = 1;
            r->args[0] = 9;
            r->args[1] = 4;
            r->thread[0] = 5;
            r->state = 1;
        }
    } else if (!strcmp(name, "trap")) context->sticky = 719;
    if (!sound) {
        note("# kernel %s out of bounds", name);
        context->sticky = ILLEGAL_ADDRESS;
    }
}
