/* SPDX-License-Identifier: MIT */
/* Kernels with <proton/kernel.cuh>, whose warps this program is: collect_slices LIBCUDA CUBIN CASE, with the mock libcupti.
 * See tests/scripts/collect_slices.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { LAUNCH_CALL = 307, DESTROY_CALL = 322, UNLOAD_CALL = 22, HEAD = 80, UNIT = 16 };
#define WHOLE 0x60000000u

/* As kernels have it. */
struct arena {
	uint64_t cursor, soft, dropped, ring, mask;
};

static mock_call_fn *call;
static mock_module_fn *module_event;
static mock_context_fn *context_end;
static char cubin[1 << 16];
static struct abi_module_data module = {.cubin = cubin};
static char library, kernel[2]; /* of which only addresses matter */
static uint64_t variable[2];    /* of the library's module in each context */
static uint32_t context = 1;
static bool is_lazy;

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return (h ^ h >> 18) & 0x3ffff;
}

/* ---- the driver ---- */

static void load_module(void)
{
	module_event(context, &module, true);
}

static void load(void *function)
{
	if (is_lazy && function == kernel)
		load_module();
	is_lazy = false;
}

static void *library_of(void *function)
{
	return function == kernel ? &library : NULL;
}

static uint64_t *global(void *of, const char *name)
{
	return strstr(name, "proton_kernel_arena_1") && (of == &library || of == &kernel[1])
		       ? &variable[context - 1]
		       : NULL;
}

/* ---- warps ---- */

static char *ring_at(const struct arena *a, uint64_t position)
{
	return (char *)(uintptr_t)a->ring + (position & a->mask);
}

static void put(const struct arena *a, uint64_t at, uint64_t value)
{
	memcpy(ring_at(a, at), &value, sizeof(value));
}

/* "load" of 20 cycles in "tile" of 100 */
static void warp(uint64_t launch, uint32_t index, bool whole)
{
	struct arena *a = (struct arena *)(uintptr_t)variable[context - 1];
	const uint32_t units[2][4] = {{WHOLE | hash("load") << 11, 1010, 1030, 1030},
				      {WHOLE | hash("tile") << 11, 1000, 1100, 1100}};
	uint64_t head[HEAD / 8] = {0,
				   (uint64_t)2 << 32 | (HEAD + 2 * UNIT),
				   launch,
				   0,
				   (uint64_t)index << 32,
				   1000,
				   900,
				   2000,
				   1200};
	uint64_t at;

	if (!a)
		return;
	at = a->cursor;
	a->cursor += HEAD + sizeof(units);
	for (int i = 1; i < HEAD / 8 - 1; i++)
		head[HEAD / 8 - 1] += (uint32_t)head[i] + 3 * (head[i] >> 32);
	for (int i = 0; i < 2; i++) {
		memcpy(ring_at(a, at + HEAD + (uint64_t)i * UNIT), units[i], UNIT);
		head[HEAD / 8 - 1] +=
			units[i][0] + 3 * units[i][1] + 5 * units[i][2] + 7 * units[i][3];
	}
	head[HEAD / 8 - 1] &= UINT32_MAX;
	for (uint64_t i = 1; i < HEAD / 8; i++)
		put(a, at + i * 8, head[i]);
	if (whole)
		__atomic_store_n((uint64_t *)(void *)ring_at(a, at), at + 1, __ATOMIC_RELEASE);
}

static uint64_t running;

static void run(void)
{
	if (is_lazy)
		load(kernel);
	warp(running, 0, true);
	warp(running, 1, true);
}

/* Of two warps. */
static void launch_as(void *function, const char *name, uint64_t number, bool has_record)
{
	const struct abi_launch launch = {function, {{1, 1, 1}, {64, 1, 1}}};
	const struct mock_config config = {.grid = {1}, .block = {64}, .registers = 32};
	const struct mock_op op = {.kind = has_record ? ABI_KIND_CONCURRENT_KERNEL : 0,
				   .name = name,
				   .context = context,
				   .stream = 7,
				   .number = number,
				   .config = &config,
				   .params = &launch,
				   .inside = function == kernel + 1 || function == kernel ? run
											  : NULL};

	running = number;
	call(LAUNCH_CALL, &op);
}

static void launch(uint64_t number)
{
	launch_as(kernel, "k", number, true);
}

/* ---- cases ---- */

static void end_context(void)
{
	context_end(context);
}

static void destroy(void)
{
	const struct mock_op op = {.context = context, .inside = end_context};

	call(DESTROY_CALL, &op);
	variable[context - 1] = 0;
}

static void case_plain(void)
{
	static char other;

	proton_has_kernel_scopes();
	is_lazy = true;
	launch_as(&other, "other", 1, true);
	proton_enter_scope("outer");
	launch(2);
	launch(3);
	proton_exit_scope();
}

static void case_untold(void)
{
	is_lazy = true;
	launch(1);
	launch(2);
}

static void case_module(void)
{
	load_module();
	launch_as(kernel + 1, "k", 1, true);
}

/* The same number in both; one is destroyed before anybody has read it, and another takes its place. */
static void case_contexts(void)
{
	load_module();
	for (context = 1; context <= 2; context++)
		launch(5);
	context = 1;
	destroy();
	launch(6);
}

static void case_again(void)
{
	const struct mock_op op = {.context = 1};

	load_module();
	launch(1);
	call(UNLOAD_CALL, &op);
	variable[0] = 0;
	load_module();
	launch(2);
}

/* What may be a context's end, and is not: it has other users. */
static void case_released(void)
{
	const struct mock_op released = {.context = 1};

	load_module();
	launch(1);
	call(DESTROY_CALL, &released);
	launch(2);
}

static void case_lost(void)
{
	load_module();
	launch(1);
	launch_as(kernel, "k", 2, false);
	((struct arena *)(uintptr_t)variable[0])->dropped += 7;
	warp(1, 0, false);
}

static void case_no_memory(void)
{
	load_module();
	for (uint64_t i = 1; i <= 3; i++)
		launch(i);
}

static void case_forked(void)
{
	pid_t child;

	load_module();
	launch(1);
	child = fork();
	if (!child) {
		variable[0] = 0;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	launch(2);
}

int main(int argc, char **argv)
{
	static const struct mock_functions functions = {library_of, load, global};
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"plain", case_plain},        {"untold", case_untold},
		     {"module", case_module},      {"contexts", case_contexts},
		     {"again", case_again},        {"released", case_released},
		     {"lost", case_lost},          {"forked", case_forked},
		     {"no memory", case_no_memory}};
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	mock_functions_fn *set = NULL;
	uint32_t (*init)(uint32_t) = NULL;
	FILE *f;

	if (argc < 4 || !cupti)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	*(void **)&set = find(argv[1], "mock_functions");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&module_event = find(cupti, "mock_module");
	*(void **)&context_end = find(cupti, "mock_context_end");
	set(&functions);
	f = fopen(argv[2], "re");
	module.cubin_bytes = f ? fread(cubin, 1, sizeof(cubin), f) : 0;
	if (f)
		fclose(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[3], cases[i].name))
			cases[i].run();
	return 0;
}
