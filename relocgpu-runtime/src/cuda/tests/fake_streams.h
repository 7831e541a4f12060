/* Streams and events of the fake driver. All commands are in one list; a stream's own run in their order, when somebody
   waits for it. A wait for an event runs what was on the event's stream when the event was recorded. */

enum { NON_BLOCKING = 1, WITHOUT_TIME = 2 };
struct stream { struct context *context; int alive, flags; };
struct event { struct context *context; int alive, flags; struct stream *stream; size_t upto; };
enum kind { COPY, SET, FREE, WAIT, LAUNCH };
struct command { enum kind kind; struct stream *stream; int done; ptr to, from; size_t n, width; uint32_t value; struct event event; struct launch *launch; void (*run)(struct launch *, struct context *); };
static struct command *commands;
static size_t command_count, commands_before;
/* The default stream of each context. */
static struct stream defaults[DEVICES + 16];

static struct stream *stream_of(struct stream *s) {
    /* Null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: the last is a blocking stream, one for all threads here. */
    if ((uintptr_t)s > 2) return s;
    struct context *c = current();
    struct stream *own = &defaults[c >= others && c < others + 16 ? DEVICES + (c - others) : c - primaries];
    *own = (struct stream){ .context = c, .alive = 1 };
    return own;
}
static int is_default(struct stream *s) { return s >= defaults && s < defaults + DEVICES + 16; }
/* The default stream and blocking streams of a context wait for one another. */
static int ordered(struct stream *a, struct stream *b) {
    return a == b || (a->context == b->context && ((is_default(a) && !(b->flags & NON_BLOCKING)) || (is_default(b) && !(a->flags & NON_BLOCKING))));
}
static void fault(struct command *c, const char *what) {
    note("# %s out of bounds", what);
    c->stream->context->sticky = ILLEGAL_ADDRESS;
}
static int is_host(ptr at) { return !block_of(at, 1); }
static int inside(ptr at, size_t n) { return is_host(at) || block_of(at, n); }


static void run_upto(struct stream *s, size_t upto);

/* Runs a command, and before it all that it is ordered behind. */
static void run(size_t i) {
    if (commands[i].done) return;
    commands[i].done = 1;
    for (size_t j = 0; j < i; j++)
        if (ordered(commands[j].stream, commands[i].stream)) run(j);
    struct command *c = &commands[i];
    if (c->stream->context->sticky) return;
    switch (c->kind) {
    case COPY:
        if (inside(c->to, c->n) && inside(c->from, c->n)) memcpy((void *)c->to, (void *)c->from, c->n);
        else fault(c, "copy");
        break;
    case SET:
        if (!block_of(c->to, c->n * c->width)) fault(c, "memset");
        else for (size_t k = 0; k < c->n; k++) memcpy((char *)c->to + k * c->width, &c->value, c->width);
        break;
    case FREE: if (!drop_block(c->to, POOL)) fault(c, "free"); break;
    case WAIT: if (c->event.stream) run_upto(c->event.stream, c->event.upto); break;
    case LAUNCH: c->run(c->launch, c->stream->context); free(c->launch); break;
    }
}
/* Whether somebody who waits for a stream waits for this command. */
static int awaited(struct command *c, struct stream *s) { return c->stream == s || (is_default(s) && ordered(c->stream, s)); }
static void run_upto(struct stream *s, size_t upto) {
    for (size_t i = 0; commands_before + i < upto && i < command_count; i++)
        if (awaited(&commands[i], s)) run(i);
}
static size_t now(void) { return commands_before + command_count; }
static int drain(struct stream *s) {
    run_upto(s, now());
    size_t left = 0;
    for (size_t i = 0; i < command_count; i++) left += !commands[i].done;
    if (!left) { commands_before += command_count; command_count = 0; }
    return s->context->sticky;
}
static int drain_context(struct context *c) {
    for (size_t i = 0; i < command_count; i++)
        if (commands[i].stream->context == c) run_upto(commands[i].stream, now());
    return c->sticky;
}
static int push(struct stream *s, struct command command) {
    s = stream_of(s);
    NEED(s->alive && s->context == current(), INVALID_HANDLE);
    commands = realloc(commands, (command_count + 1) * sizeof *commands);
    command.stream = s;
    commands[command_count++] = command;
    return 0;
}

#ifndef WITHOUT_STREAMS
int cuStreamCreate(struct stream **s, unsigned flags) {
    CALL(1);
    fake_streams_live++;
    *s = calloc(1, sizeof **s);
    **s = (struct stream){ .context = current(), .alive = 1, .flags = (int)flags };
    return 0;
}
int cuStreamCreateWithPriority(struct stream **s, unsigned flags, int priority) { (void)priority; return cuStreamCreate(s, flags); }
#endif
int cuStreamDestroy_v2(struct stream *s) { CALL(1); NEED(s->alive && s->context == current(), INVALID_HANDLE); s->alive = 0; fake_streams_live--; return 0; }
int cuStreamSynchronize(struct stream *s) { CALL(1); s = stream_of(s); NEED(s->alive && s->context == current(), INVALID_HANDLE); return drain(s); }
int cuStreamGetCtx(struct stream *s, struct context **c) { CALL(1); *c = stream_of(s)->context; return 0; }
int cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) {
    CALL(1);
    NEED(e->alive && !flags, INVALID_HANDLE);
    return push(s, (struct command){ .kind = WAIT, .event = *e });
}
int cuEventCreate(struct event **e, unsigned flags) {
    CALL(1);
    fake_events_live++;
    *e = calloc(1, sizeof **e);
    **e = (struct event){ .context = current(), .alive = 1, .flags = (int)flags };
    return 0;
}
int cuEventDestroy_v2(struct event *e) { CALL(1); NEED(e->alive, INVALID_HANDLE); e->alive = 0; fake_events_live--; return 0; }
int cuEventRecord(struct event *e, struct stream *s) {
    CALL(1);
    s = stream_of(s);
    NEED(e->alive && s->alive && e->context == s->context && s->context == current(), INVALID_HANDLE);
    e->stream = s;
    e->upto = now();
    return 0;
}
int cuEventSynchronize(struct event *e) {
    CALL(1);
    NEED(e->alive, INVALID_HANDLE);
    if (e->stream) run_upto(e->stream, e->upto);
    return e->context->sticky;
}
static int ended(struct event *e) {
    for (size_t i = 0; commands_before + i < e->upto && i < command_count; i++)
        if (!commands[i].done && awaited(&commands[i], e->stream)) return 0;
    return 1;
}
int cuEventElapsedTime(float *ms, struct event *a, struct event *b) {
    CALL(1);
    NEED(a->stream && b->stream && !((a->flags | b->flags) & WITHOUT_TIME), INVALID_HANDLE);
    NEED(ended(a) && ended(b), NOT_READY);
    *ms = 1.5f;
    return 0;
}

#ifndef WITHOUT_POOLS
int cuMemAllocAsync(ptr *at, size_t n, struct stream *s) { CALL(1); NEED(stream_of(s)->context == current(), INVALID_HANDLE); return allocate(at, n, POOL); }
int cuMemFreeAsync(ptr at, struct stream *s) { CALL(1); NEED(block_of(at, 1) && block_of(at, 1)->at == at, INVALID_VALUE); fake_blocks_live--; return push(s, (struct command){ .kind = FREE, .to = at }); }
#endif
static int copy(struct stream *s, ptr to, ptr from, size_t n) { return push(s, (struct command){ .kind = COPY, .to = to, .from = from, .n = n }); }
int cuMemcpyHtoDAsync_v2(ptr to, void *from, size_t n, struct stream *s) { CALL(1); note("HtoD %zu", n); NEED(block_of(to, n), INVALID_VALUE); return copy(s, to, (ptr)from, n); }
/* To memory that is not page-locked: it has ended when it returns, as the manual promises and cudarc relies on. */
int cuMemcpyDtoHAsync_v2(void *to, ptr from, size_t n, struct stream *s) { CALL(1); NEED(block_of(from, n), INVALID_VALUE); int code = copy(s, (ptr)to, from, n); if (!code) run_upto(stream_of(s), now()); return code; }
int cuMemcpyDtoDAsync_v2(ptr to, ptr from, size_t n, struct stream *s) { CALL(1); NEED(block_of(to, n) && block_of(from, n), INVALID_VALUE); return copy(s, to, from, n); }
/* The synchronous ones go through the default stream. */
int cuMemcpyHtoD_v2(ptr to, void *from, size_t n) { CALL(1); NEED(block_of(to, n), INVALID_VALUE); int code = copy(0, to, (ptr)from, n); return code ? code : drain(stream_of(0)); }
int cuMemcpyDtoH_v2(void *to, ptr from, size_t n) { CALL(1); NEED(block_of(from, n), INVALID_VALUE); int code = copy(0, (ptr)to, from, n); return code ? code : drain(stream_of(0)); }
static int set(struct stream *s, ptr at, uint32_t v, size_t width, size_t n) { return push(s, (struct command){ .kind = SET, .to = at, .value = v, .width = width, .n = n }); }
int cuMemsetD8Async(ptr at, unsigned char v, size_t n, struct stream *s) { CALL(1); NEED(block_of(at, n), INVALID_VALUE); return set(s, at, v, 1, n); }
int cuMemsetD32Async(ptr at, unsigned v, size_t n, struct stream *s) { CALL(1); NEED(block_of(at, 4 * n) && at % 4 == 0, INVALID_VALUE); return set(s, at, v, 4, n); }
