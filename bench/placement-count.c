// QEMU 7.2 TCG plugin for `bench/placement --fills`: tests/numa-lab/plugin/nodecount.c (which says what it models, and how a
// physical address tells its node), with two things more: loads and stores of user space and of the kernel are counted apart,
// and a program in the guest marks points in time by a store to MARK, at which the counts so far are written out.
//   gcc -O2 -shared -fPIC -o count.so placement-count.c         mark: gcc -O2 -DMARKER -o mark placement-count.c
#define MARK 0x600dca5e0000ull
#ifdef MARKER
#include <sys/mman.h>
int main(void) {
    char *page = mmap((void *)MARK, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (page == MAP_FAILED) return 1;
    *(volatile char *)page = 1;
    return 0;
}
#else
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { CPUS = 8, NODES = 8, LINES = 1 << 15 };  // 2 MiB, direct-mapped, for each CPU
typedef uint64_t plugin_id;
typedef uint32_t meminfo;
struct tb; struct insn; struct hw;
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct tb *));
extern size_t qemu_plugin_tb_n_insns(const struct tb *);
extern struct insn *qemu_plugin_tb_get_insn(const struct tb *, size_t);
extern void qemu_plugin_register_vcpu_mem_cb(struct insn *, void (*)(unsigned, meminfo, uint64_t, void *), int, int, void *);
extern struct hw *qemu_plugin_get_hwaddr(meminfo, uint64_t);
extern uint64_t qemu_plugin_hwaddr_phys_addr(const struct hw *);
extern bool qemu_plugin_hwaddr_is_io(const struct hw *);
int qemu_plugin_version = 1;
static uint64_t fills[2][CPUS][NODES], tags[CPUS][LINES], per_node = 512;
static const char *out = "/tmp/counts.txt";

// A line for each CPU and mode: mark, u or k, CPU, fills from each node.
static void write_out(void) {
    static int marks;
    FILE *file = fopen(out, marks ? "a" : "w");
    if (!file) return;
    for (int kernel = 0; kernel < 2; kernel++)
        for (int cpu = 0; cpu < CPUS; cpu++) {
            fprintf(file, "%d %c %d", marks, kernel ? 'k' : 'u', cpu);
            for (int node = 0; node < NODES; node++) fprintf(file, " %lu", fills[kernel][cpu][node]);
            fprintf(file, "\n");
        }
    marks++;
    fclose(file);
}

static void access_memory(unsigned cpu, meminfo info, uint64_t address, void *unused) {
    if (address == MARK) write_out();
    struct hw *hw = qemu_plugin_get_hwaddr(info, address);
    if (!hw || qemu_plugin_hwaddr_is_io(hw)) return;
    uint64_t physical = qemu_plugin_hwaddr_phys_addr(hw), line = physical >> 6;
    uint64_t *tag = &tags[cpu][line % LINES];
    if (*tag == line) return;
    *tag = line;
    unsigned node = (physical >> 20) / (2 * per_node);
    if (cpu < CPUS && node < NODES) fills[address >> 63][cpu][node]++;
}

static void translate(plugin_id id, struct tb *tb) {
    for (size_t i = 0, n = qemu_plugin_tb_n_insns(tb); i < n; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), access_memory, 0, 3, 0);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "mb=", 3)) per_node = atol(argv[i] + 3);
        if (!strncmp(argv[i], "out=", 4)) out = strdup(argv[i] + 4);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}
#endif
