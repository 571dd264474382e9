/* SPDX-License-Identifier: MIT */
/* Kernels that are long enough for samples of hardware counters, until a file is gone: collect_counted LIBCUDA FILE, with
 * the mock libcupti. Each round: gemm by itself, conv with something beside it all the time, short ones. With "after" and
 * the name of another file behind it no round begins before that is there; with "once" there is one in any case; with "neighbour" one kernel runs to the
 * end from when it is there, and FILE2.on is made when it does. See tests/scripts/collect_counted.sh. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

#define LASTING_NS 600000000000 /* longer than any test */
enum { KERNEL_CALL = 307, LONG_NS = 60000000, SHORT_NS = 100000 };

static mock_call_fn *call;
static mock_auto_fn *complete_at_once;
static mock_complete_fn *complete;

/* From now on. */
static void kernel(const char *name, uint32_t stream, uint64_t ns)
{
	call(KERNEL_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
					    .name = name,
					    .context = 1,
					    .stream = stream,
					    .lasts_ns = ns});
}

static void pass(long ns)
{
	struct timespec left = {0, ns};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void go_round(void)
{
	proton_enter_scope("alone");
	kernel("gemm", 7, LONG_NS);
	proton_exit_scope();
	pass(LONG_NS);
	proton_enter_scope("beside");
	kernel("copying", 8, LONG_NS + LONG_NS / 2);
	kernel("conv", 7, LONG_NS);
	proton_exit_scope();
	pass(LONG_NS + LONG_NS / 2);
	kernel("short", 7, SHORT_NS);
	pass(SHORT_NS);
}

static bool is_there(const char *file)
{
	return access(file, F_OK) == 0;
}

static void be_neighbour(const char *going, const char *since)
{
	char on[4096];
	FILE *f;

	while (is_there(going) && !is_there(since)) {
		kernel("hello", 7, LONG_NS);
		pass(LONG_NS);
	}
	snprintf(on, sizeof(on), "%s.on", since);
	complete_at_once(false); /* as with a device: nobody knows of it before it ends */
	kernel("lasting", 7, LASTING_NS);
	f = fopen(on, "w");
	if (f)
		fclose(f);
	while (is_there(going))
		pass(LONG_NS);
	complete(1, false);
}

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t);

	if ((argc < 3 || argc > 5) || !cupti) {
		fputs("usage: collect_counted LIBCUDA FILE [once | after|neighbour FILE2]\n",
		      stderr);
		return 2;
	}
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&complete_at_once = find(cupti, "mock_auto");
	*(void **)&complete = find(cupti, "mock_complete");
	if (argc == 5 && !strcmp(argv[3], "neighbour"))
		be_neighbour(argv[2], argv[4]);
	while (argc == 5 && is_there(argv[2]) && !is_there(argv[4]))
		pass(LONG_NS);
	if (argc == 4 && !strcmp(argv[3], "once"))
		go_round();
	while (is_there(argv[2]))
		go_round();
	return 0;
}
