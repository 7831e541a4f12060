// Loads the image of interiors.ll as the CPU device does, patches its words, and checks what the kernel reads. `levels.h`
// is made by the test: it names the image and says which levels this processor has.
#include "harness.h"
#include "levels.h"

// As relocgpu-runtime/src/contract has them.
typedef struct { uint64_t *slots; uint64_t slots_len; uint64_t **interiors; uint64_t interiors_len; const Kernel *entries; uint64_t levels_len, kernels_len; } CpuTable;
typedef struct { uint32_t schema, reserved; const char *container; uint64_t container_len; void **host_table; uint64_t host_table_len; const CpuTable *cpu; } RawImage;
extern const RawImage IMAGE __attribute__((visibility("hidden")));

int main(void) {
    const CpuTable *cpu = IMAGE.cpu;
    const char *level = "the image";
    stack = memory_for_stacks();
    CHECK(cpu->slots_len == 1 && cpu->interiors_len == 3 && cpu->levels_len == LEVELS && cpu->kernels_len == 1, "its numbers");
    cpu->slots[0] = 5;
    for (uint64_t l = 0; l < LEVELS; l++) {
        level = names[l];
        if (!supported(l)) {
            printf("%s skipped: this processor is of a lower level\n", level);
            continue;
        }
        // The records in manifest order: `table` at 8, `table` at 24, `word` at 0.
        for (uint64_t i = 0; i < 3; i++) *cpu->interiors[l * 3 + i] = 1000 * (l + 1) + i;
        uint64_t out[6] = {0}, right[6] = {10, 1000 * (l + 1), 30, 1000 * (l + 1) + 1, 1000 * (l + 1) + 2, 5};
        struct { uint64_t *out; } params = {out};
        const Kernel *k = cpu->entries + l;
        launch(k->run, k->frame, k->shared, (uint32_t[]){1, 1, 1}, (uint32_t[]){1, 1, 1}, &params);
        for (int i = 0; i < 6; i++) CHECK(out[i] == right[i], "word %d is %lu, not %lu", i, out[i], right[i]);
        printf("%s ran\n", level);
    }
    return failures != 0;
}
