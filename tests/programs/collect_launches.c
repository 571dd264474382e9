/* SPDX-License-Identifier: MIT */
/* Kernels that are launched in ways that are known, on a device with 132 multiprocessors of capability 9.0:
 * collect_launches LIBCUDA [CUBIN...], with the mock libcupti. See tests/scripts/collect_launches.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "programs/mock_graphs.h"

static void launch(const char *name, struct mock_config config, uint64_t lasts_ns, unsigned times)
{
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				   .name = name,
				   .context = 1,
				   .stream = 7,
				   .lasts_ns = lasts_ns,
				   .config = &config};

	while (times--)
		call(KERNEL_CALL, &op);
}

/* More ways than are told apart. */
static void launch_many(void)
{
	for (uint32_t i = 1; i <= 40; i++)
		launch("many", (struct mock_config){{i}, {32}, .registers = 16}, 1000, 3);
}

/* Of a graph: its records say how it was launched as well as others do. */
static void replay(void)
{
	const struct mock_config config = {{264}, {512}, .registers = 40};
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				   .name = "node",
				   .context = 1,
				   .stream = 7,
				   .graph = 3,
				   .graph_node =
					   capture_node(3, ABI_KIND_CONCURRENT_KERNEL, "node", 264),
				   .executable = handle(3),
				   .lasts_ns = 5000,
				   .config = &config};

	for (unsigned i = 0; i < 4; i++)
		call(GRAPH_CALL, &op);
}

/* The first and the last: a file has them side by side, and numbers those between them anew. */
static void launch_in_scope(const char *name)
{
	proton_enter_scope("scope");
	launch(name, (struct mock_config){{264}, {512}, .registers = 40}, 5000, 2);
	proton_exit_scope();
}

static void load(const char *path)
{
	static char cubin[1 << 16];
	FILE *f = fopen(path, "re");
	const struct abi_module_data module = {1, f ? fread(cubin, 1, sizeof(cubin), f) : 0, cubin};
	mock_module_fn *loaded = NULL;

	*(void **)&loaded = find(getenv("PROTON_CUPTI_PATH"), "mock_module");
	if (f)
		fclose(f);
	loaded(1, &module, true);
}

/* Kernels of tests/cubins/stacks.cu, of which records do not say how much local memory they have, and one that is of no module. */
static void launch_stacks(void)
{
	static const char *const names[] = {"none", "array", "calls", "twice", "elsewhere"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		launch(names[i],
		       (struct mock_config){{264}, {256}, .registers = 32, .local_total = 1 << 20},
		       1000000, 10);
}

int main(int argc, char **argv)
{
	struct mock_config both = {{1056}, {256}, .registers = 32};

	if (argc < 2)
		return 2;
	start(argv[1]);
	if (argc > 2) {
		for (int i = 2; i < argc; i++)
			load(argv[i]);
		launch_stacks();
		return 0;
	}
	launch_in_scope("below");
	/* 32 of 64 warps; 528 blocks are a wave. */
	launch("registers", (struct mock_config){{600}, {256}, .registers = 64}, 20000, 10);
	/* 5 blocks of 4 warps each; 660 are a wave. */
	launch("shared",
	       (struct mock_config){{660, 2},
				    {128},
				    .registers = 32,
				    .static_shared = 8192,
				    .dynamic_shared = 32768},
	       10000, 5);
	for (unsigned i = 0; i < 6; i++) {
		both.grid[0] = i % 2 ? 33 : 1056;
		both.local = i % 2 ? 0 : 128;
		launch("both", both, i % 2 ? 1000 : 3000, 2);
	}
	launch("clusters", (struct mock_config){{132}, {1024}, {2, 1, 1}, .registers = 32}, 7000,
	       1);
	launch("alone",
	       (struct mock_config){
		       {8}, {1024}, {1, 1, 1}, .registers = 32, .local_total = 1 << 20},
	       6000, 1);
	launch_many();
	replay();
	launch_in_scope("last");
	return 0;
}
