/* Memory of the fake driver: every block is known, and what is outside of one is out of bounds. */

enum block_kind { DEVICE, POOL, PINNED, GLOBAL, REGISTERED };
struct block { ptr at; size_t bytes; enum block_kind kind; struct context *context; };
static struct block *blocks;
static int block_count;

static ptr add_block(void *at, size_t bytes, enum block_kind kind, struct context *context) {
    blocks = realloc(blocks, (block_count + 1) * sizeof *blocks);
    blocks[block_count++] = (struct block){ (ptr)at, bytes, kind, context };
    return (ptr)at;
}
/* The block that holds all of these bytes. */
static struct block *block_of(ptr at, size_t bytes) {
    for (int i = block_count - 1; i >= 0; i--)
        if (at >= blocks[i].at && at - blocks[i].at <= blocks[i].bytes && bytes <= blocks[i].bytes - (at - blocks[i].at)) return &blocks[i];
    return 0;
}
/* Forgets a block by its start; false if there is none of the kind. */
static int drop_block(ptr at, enum block_kind kind) {
    for (int i = 0; i < block_count; i++)
        if (blocks[i].at == at && blocks[i].kind == kind) {
            memset((char *)at, 0xdd, blocks[i].bytes);
            free((void *)at);
            blocks[i] = blocks[--block_count];
            return 1;
        }
    return 0;
}
static int allocate(ptr *at, size_t n, enum block_kind kind) {
    if (n == 0) return INVALID_VALUE;
    void *block = n > (size_t)1 << 40 ? 0 : aligned_alloc(256, (n + 255) / 256 * 256);
    if (!block) return OUT_OF_MEMORY;
    memset(block, 0xcc, n);
    fake_blocks_live++;
    *at = add_block(block, n, kind, current());
    return 0;
}
int cuMemAlloc_v2(ptr *at, size_t n) { CALL(1); return allocate(at, n, DEVICE); }
int cuMemFree_v2(ptr at) { CALL(1); NEED(drop_block(at, DEVICE), INVALID_VALUE); fake_blocks_live--; return 0; }
int cuMemHostAlloc(void **at, size_t n, unsigned flags) { CALL(1); fake_pinned_live++; *at = (void *)add_block(malloc(n), n, PINNED, current()); return 0; }
int cuMemFreeHost(void *at) { CALL(1); NEED(drop_block((ptr)at, PINNED), INVALID_VALUE); fake_pinned_live--; return 0; }
/* For all contexts and mapped (1 | 2); whole pages, once. */
int cuMemHostRegister_v2(void *at, size_t n, unsigned flags) {
    CALL(1);
    NEED(flags == 3 && n && n % 4096 == 0 && (ptr)at % 4096 == 0, INVALID_VALUE);
    NEED(!block_of((ptr)at, 1), ALREADY_REGISTERED);
    add_block(at, n, REGISTERED, current());
    return 0;
}
int cuMemHostGetDevicePointer_v2(ptr *at, void *host, unsigned flags) { CALL(1); NEED(!flags && block_of((ptr)host, 1), INVALID_VALUE); *at = (ptr)host; return 0; }
int cuMemGetInfo_v2(size_t *available, size_t *total) { CALL(1); *available = *total = (size_t)1 << 40; return 0; }
int cuPointerGetAttribute(void *out, int a, ptr at) {
    CALL(1);
    struct block *block = block_of(at, 1);
    if (!block) return INVALID_VALUE;
    if (a == 1) *(void **)out = block->kind == POOL ? 0 : block->context;
    else if (a == 9) *(int *)out = block->context->device;
    else return INVALID_VALUE;
    return 0;
}
