/* SPDX-License-Identifier: MIT */
/* Kernels with <proton/kernel.cuh>, whose warps this program is: collect_slices LIBCUDA CUBIN CASE, with the mock libcupti.
 * See tests/scripts/collect_slices.sh. */
#include "config.h" // IWYU pragma: keep
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "mocks/warp_take.h"
#include "programs/symbols.h"
#include "proton/proton.h"
#include "wire/control.h"

enum {
	LAUNCH_CALL = 307,
	DESTROY_CALL = 322,
	UNLOAD_CALL = 22,
	ADD_NODE_CALL = 689,
	HEAD = 80,
	UNIT = 16,
	MULTIPROCESSORS = 4
};
#define LEAVE 0x80000000u
#define POINT 0x20000000u
#define EVENT 0x40000000u
#define WHOLE 0x60000000u

static mock_call_fn *call;
static mock_module_fn *module_event;
static mock_context_fn *context_end;
static char cubin[1 << 16];
static struct abi_module_data module = {.cubin = cubin};
static const char *arena_symbol = WARP_ARENA_SYMBOL;
static char library, kernel[2]; /* of which only addresses matter */
static uint64_t variable[2];    /* of the library's module in each context */
static uint32_t context = 1;
static bool is_lazy;
static uint32_t n_blocks = 1;
static uint64_t block, lasts_ns = 1000; /* of the launch that runs */

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
	return strstr(name, arena_symbol) && (of == &library || of == &kernel[1])
		       ? &variable[context - 1]
		       : NULL;
}

/* ---- warps ---- */

static struct warp_arena *arena(void)
{
	return (struct warp_arena *)(uintptr_t)variable[context - 1];
}

/* What a warp wrote, as it is told. */
struct slice {
	uint64_t launch;
	uint32_t warp, n_units, n_lost, how;
	bool is_begun; /* and not over */
};

static void put_slice(const struct slice *s, const uint32_t (*units)[4])
{
	struct warp_arena *a = arena();
	uint64_t head[HEAD / 8] = {0,
				   (uint64_t)(s->n_units + s->n_lost) << 32 |
					   (HEAD + s->n_units * UNIT),
				   s->launch,
				   block,
				   (uint64_t)s->warp << 32,
				   1000,
				   900,
				   2000,
				   1200};
	uint64_t at;
	char *to;

	if (!a || !a->head.choice.is_on || !(a->head.choice.warps >> s->warp & 1))
		return;
	to = warp_take(a, (uint32_t)block % MULTIPROCESSORS, HEAD + s->n_units * UNIT, &at);
	if (!to)
		return;
	head[HEAD / 8 - 1] = 3 * s->how;
	for (int i = 1; i < HEAD / 8 - 1; i++)
		head[HEAD / 8 - 1] += (uint32_t)head[i] + 3 * (head[i] >> 32);
	for (uint32_t i = 0; i < s->n_units; i++) {
		memcpy(to + HEAD + (size_t)i * UNIT, units[i], UNIT);
		head[HEAD / 8 - 1] +=
			units[i][0] + 3 * units[i][1] + 5 * units[i][2] + 7 * units[i][3];
	}
	head[HEAD / 8 - 1] = (head[HEAD / 8 - 1] & UINT32_MAX) | (uint64_t)s->how << 32;
	memcpy(to + sizeof(*head), head + 1, HEAD - sizeof(*head));
	if (!s->is_begun)
		__atomic_store_n((uint64_t *)(void *)to, at + 1, __ATOMIC_RELEASE);
}

/* "load" of 20 cycles in "tile" of 100 */
static void warp(uint64_t launch, uint32_t index, bool whole)
{
	const uint32_t units[2][4] = {{WHOLE | hash("load") << 11, 1010, 1030, 1030},
				      {WHOLE | hash("tile") << 11, 1000, 1100, 1100}};

	put_slice(
		&(struct slice){.launch = launch, .warp = index, .n_units = 2, .is_begun = !whole},
		units);
}

static uint64_t running;

static void run_tiles(void)
{
	if (is_lazy)
		load(kernel);
	for (block = 0; block < n_blocks; block++) {
		warp(running, 0, true);
		warp(running, 1, true);
	}
	block = 0;
}

static void (*run)(void) = run_tiles;

/* Of two warps a block. */
static void launch_as(void *function, const char *name, uint64_t number, bool has_record)
{
	const struct abi_launch launch = {function, {{n_blocks, 1, 1}, {64, 1, 1}}};
	const struct mock_config config = {.grid = {n_blocks}, .block = {64}, .registers = 32};
	const struct mock_op op = {.kind = has_record ? ABI_KIND_CONCURRENT_KERNEL : 0,
				   .name = name,
				   .context = context,
				   .stream = 7,
				   .number = number,
				   .lasts_ns = lasts_ns,
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

/* Two marks and two values in "tile", one of each outside; an event begins in one warp and ends in the other, whose slice comes first, and
 * one that never ends. */
static void run_points(void)
{
	const uint32_t tile = hash("tile") << 11, load_id = hash("load") << 11;
	const uint32_t second[][4] = {{LEAVE | EVENT | load_id | 7, 1090, 0, 0}};
	const uint32_t first[][4] = {
		{tile, 1000, 0, 0},
		{POINT | hash("store") << 11, 1010, 0, 0},
		{POINT | 2 | hash("wait") << 11, 1020, (uint32_t)-5, 0},
		{EVENT | load_id | 7, 1030, 0, 0},
		{POINT | hash("store") << 11, 1040, 0, 0},
		{POINT | 6 | hash("wait") << 11, 1050, 0, 0x3fe00000}, /* 0.5 */
		{LEAVE | tile, 1060, 0, 0},
		{POINT | hash("store") << 11, 1070, 0, 0},
		{POINT | 1 | hash("wait") << 11, 1075, 40, 0},
		{EVENT | load_id | 8, 1080, 0, 0}};

	put_slice(&(struct slice){.launch = running, .warp = 1, .n_units = 1}, second);
	put_slice(&(struct slice){.launch = running, .n_units = 10}, first);
}

static void case_points(void)
{
	run = run_points;
	load_module();
	launch(1);
	launch(2);
}

/* As a warp that adds up by itself: "tile" twice, a mark in it, and two records that found no row. */
static void run_sums(void)
{
	const uint32_t units[][4] = {{POINT | 7 | hash("tile") << 11, UINT32_MAX, 2, 0},
				     {300, 0, 100, 0},
				     {200, 0, 0, 0},
				     {POINT | 7 | 1 << 3 | hash("store") << 11, 0, 5, 0},
				     {0},
				     {0},
				     {POINT | 7 | 3 << 3 | hash("load") << 11, UINT32_MAX, 1, 1},
				     {70, 0, 0, 0},
				     {0}};

	for (uint32_t i = 0; i < 2; i++)
		put_slice(
			&(struct slice){
				.launch = running, .warp = i, .n_units = 9, .n_lost = 2, .how = 2},
			units);
}

static void case_sums(void)
{
	run = run_sums;
	load_module();
	launch(1);
}

/* "load" and "tile", behind 98 records that are gone. */
static void run_full(void)
{
	const uint32_t units[2][4] = {{WHOLE | hash("load") << 11, 1010, 1030, 1030},
				      {WHOLE | hash("tile") << 11, 1000, 1100, 1100}};

	for (uint32_t i = 0; i < 2; i++)
		put_slice(&(struct slice){.launch = running, .warp = i, .n_units = 2, .n_lost = 98},
			  units);
}

static void case_full(void)
{
	run = run_full;
	load_module();
	launch(1);
}

static struct control_page *control(void)
{
	char path[256];
	void *page;
	int fd;

	snprintf(path, sizeof(path), "%s/control", getenv(CONTROL_ENV));
	fd = open(path, O_RDWR | O_CLOEXEC);
	page = mmap(NULL, sizeof(struct control_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page;
}

/* Until the device is told who records. */
static bool wait_until_on(bool on)
{
	const volatile uint32_t *is_on = &arena()->head.choice.is_on;
	time_t end = time(NULL) + 60;

	while (!*is_on == on && time(NULL) < end)
		sched_yield();
	return !*is_on != on;
}

/* Nobody records while it pauses; a launch whose warps had begun before they were told is not missed. */
static void case_paused(void)
{
	struct control_page *page = control();
	bool stops, goes_on;

	load_module();
	launch(1);
	atomic_store(&page->paused, 1);
	stops = wait_until_on(false);
	launch(2);
	arena()->head.choice.is_on = 1;
	launch(3);
	arena()->head.choice.is_on = 0;
	atomic_store(&page->paused, 0);
	goes_on = wait_until_on(true);
	launch(4);
	printf("%d %d\n", stops, goes_on);
}

/* Another module has a name of the same number. */
static void case_collision(void)
{
	char *name;

	load_module();
	while ((name = memmem(cubin, module.cubin_bytes, "\0store", sizeof("\0store"))))
		memcpy(name + 1, "stare", sizeof("stare"));
	load_module();
	launch(1);
}

/* More warps than the kernel was compiled for. */
static void case_beyond(void)
{
	load_module();
	launch(1);
	arena()->head.beyond += 3;
}

/* Who records, as the device is told. */
static void case_chosen(void)
{
	const struct warp_choice *c;

	load_module();
	launch(1);
	c = &arena()->head.choice;
	printf("%u %#x %u:%u %u:%u\n", c->is_on, c->warps, c->block_remainder, c->block_modulus,
	       c->multiprocessor_remainder, c->multiprocessor_modulus);
}

/* A node that a program adds to a graph by itself: its module is written into before it runs. */
static void case_node(void)
{
	const struct abi_kernel_node node = {.function = kernel};
	const struct abi_add_node params = {.params = &node};
	const struct mock_op add = {.params = &params, .context = 1};

	proton_has_kernel_scopes();
	is_lazy = true;
	call(ADD_NODE_CALL, &add);
	printf("%s\n", variable[0] ? "written" : "not written");
}

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
	arena()->seats[3].dropped += 7;
	warp(1, 0, false);
}

/* The last slice says that it goes on behind what was handed over. */
static void case_broken(void)
{
	load_module();
	launch(1);
	warp(1, 0, true);
	arena()->rooms[arena()->seats[0].ring].cursor -= UNIT;
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

/* The ninth is slow. */
static void case_many(void)
{
	load_module();
	for (uint64_t i = 1; i <= 18; i++) {
		lasts_ns = i == 9 ? 5000 : 1000 + i;
		launch(i);
	}
}

/* More warps than one launch may keep. */
static void case_large(void)
{
	load_module();
	n_blocks = 4096;
	launch(1);
}

/* Launches on end: as many, of as many blocks, as LAUNCHES and BLOCKS say. */
static void case_burst(void)
{
	const char *launches = getenv("LAUNCHES"), *blocks = getenv("BLOCKS");
	uint64_t n = launches ? strtoull(launches, NULL, 10) : 300;

	load_module();
	n_blocks = blocks ? (uint32_t)strtoul(blocks, NULL, 10) : 1;
	for (uint64_t i = 1; i <= n; i++) {
		lasts_ns = i == n / 2 ? 5000 : 1000;
		launch(i);
	}
}

/* Each has one of its own, and they have one together; the last is not finalized. */
static void case_sessions(void)
{
	int first, second;

	load_module();
	launch(1);
	first = proton_session_start("first", NULL);
	launch(2);
	second = proton_session_start("second", NULL);
	launch(3);
	printf("%d", proton_session_finalize(first, NULL));
	launch(4);
	printf(" %d\n", proton_session_finalize(second, NULL));
	proton_session_start("none", NULL);
	fflush(stdout);
}

static int is_kept(const struct dirent *e)
{
	return strstr(e->d_name, ".warps") != NULL;
}

/* Marks: slices as large as it takes. */
static void run_marks(void)
{
	enum { MARKS = 255, MIB = 1 << 20 };
	uint32_t units[MARKS][4];
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < MARKS; i++)
		memcpy(units[i], (uint32_t[4]){POINT | hash("store") << 11, 1000 + i, 0, 0}, UNIT);
	for (block = 0; bytes < (uint64_t)300 * MIB; block++, bytes += HEAD + sizeof(units))
		put_slice(&(struct slice){.launch = running, .n_units = MARKS},
			  (const uint32_t(*)[4])units);
	printf("%u\n", (uint32_t)block * MARKS);
	block = 0;
}

/* More than all rings have room for, while nobody reads, for a context may be on its end; and one more, once there is room again. */
static void case_overflow(void)
{
	const struct mock_op released = {.context = 1, .inside = run_marks};
	const volatile uint32_t *is_full;
	time_t end = time(NULL) + 60;

	load_module();
	launch(1);
	is_full = &arena()->seats[0].is_full;
	call(DESTROY_CALL, &released);
	while (*is_full && time(NULL) < end)
		sched_yield();
	launch(2);
	printf("%d\n", !*is_full);
}

/* Compiled with another header. */
static void case_older(void)
{
	for (char *at = cubin; (at = memmem(at, (size_t)(cubin + sizeof(cubin) - at),
					    WARP_ARENA_SYMBOL, strlen(WARP_ARENA_SYMBOL)));)
		at[strlen(WARP_ARENA_SYMBOL) - 1] = '1';
	arena_symbol = WARP_ARENA_FAMILY "1";
	load_module();
	launch(1);
	launch(2);
	printf("%s\n", variable[0] ? "written" : "not written");
}

/* In the middle of it all, once something is kept. */
static void case_killed(void)
{
	const char *session = getenv("PROTON_SESSION");
	struct dirent **entries;

	load_module();
	if (!session)
		return;
	for (uint64_t i = 1;; i++) {
		lasts_ns = 1000 + i;
		launch(i);
		if (scandir(session, &entries, is_kept, NULL) > 2)
			raise(SIGKILL);
	}
}

/* Until somebody has seen it. */
static void case_live(void)
{
	load_module();
	for (uint64_t i = 1; access("seen", F_OK) < 0; i++) {
		launch(i);
		poll(NULL, 0, 10);
	}
}

int main(int argc, char **argv)
{
	static const struct mock_functions functions = {library_of, load, global};
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"points", case_points},       {"sums", case_sums},
		     {"full", case_full},           {"paused", case_paused},
		     {"collision", case_collision}, {"beyond", case_beyond},
		     {"chosen", case_chosen},       {"node", case_node},
		     {"plain", case_plain},         {"untold", case_untold},
		     {"module", case_module},       {"contexts", case_contexts},
		     {"again", case_again},         {"released", case_released},
		     {"lost", case_lost},           {"forked", case_forked},
		     {"no memory", case_no_memory}, {"many", case_many},
		     {"large", case_large},         {"killed", case_killed},
		     {"live", case_live},           {"overflow", case_overflow},
		     {"older", case_older},         {"burst", case_burst},
		     {"broken", case_broken},       {"sessions", case_sessions}};
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
