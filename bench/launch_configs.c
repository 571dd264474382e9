/* SPDX-License-Identifier: MIT */
/* What the collector pays for a record of a kernel, and of that for how it was launched (collect/launch_configs.h):
 * bench/launch_configs N [ROUNDS]. Ways take turns; time is the processor's, so that other work on the machine does not
 * count. Nobody reads what is sent. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "by_turns.h"
#include "collect/collect.h"
#include "collect/internal.h"
#include "launch/session_dir.h"

static uint32_t n_records;
static unsigned n_ways; /* in which the kernel is launched, by turns; 0: it is not known */
static struct activity kernel;

static void run(void)
{
	struct activity_sink *sink = collect_sink(0);

	for (uint32_t i = 0; i < n_records; i++) {
		kernel.start_ns += 1000;
		kernel.end_ns = kernel.start_ns + 700 + i % 64;
		if (n_ways)
			kernel.config.shape.grid[0] = 1 + i % n_ways;
		sink->ops->record(sink, &kernel);
	}
}

/* Each way has a kernel of its own. */
static void prepare(unsigned n)
{
	static const char *const names[] = {"unknown", "one", "two", "many", "too many"};

	n_ways = n;
	kernel.name = names[n == 0 ? 0 : n == 1 ? 1 : n == 2 ? 2 : n <= MAX_SLOT_CONFIGS ? 3 : 4];
	kernel.config =
		n ? (struct launch_config){.shape = {{1, 1, 1}, {256, 1, 1}}, .registers = 40}
		  : (struct launch_config){.registers = 0};
}

static const struct way ways[] = {
	{"not known", run, prepare, 0},
	{"as before", run, prepare, 1},
	{"two ways by turns", run, prepare, 2},
	{"32 ways by turns", run, prepare, MAX_SLOT_CONFIGS},
	{"100 ways, not told apart", run, prepare, 100},
};

int main(int argc, char **argv)
{
	struct session_dir *dir;
	unsigned rounds;

	if (!by_turns_options(argc, argv, &n_records, &rounds))
		return 2;
	if (session_dir_new(&dir) < 0)
		return 1;
	setenv(CONTROL_ENV, dir->path, 1);
	if (collect_start(DOOR_API) < 0)
		return 1;
	kernel = (struct activity){
		.kind = ACTIVITY_KERNEL, .context = 1, .stream = 7, .uncounted = true};
	kernel.start_ns = UINT64_C(1700000000000000000);
	by_turns(ways, ARRAY_SIZE(ways), rounds, n_records);
	session_dir_remove(dir->path);
	return 0;
}
