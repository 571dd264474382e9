/* SPDX-License-Identifier: MIT */
/* Kernels that are long enough for samples of hardware counters, until a file is gone: collect_counted LIBCUDA FILE, with
 * the mock libcupti. Each round: gemm by itself, conv with something beside it all the time, short ones. See
 * tests/scripts/collect_counted.sh. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { KERNEL_CALL = 307, LONG_NS = 60000000, SHORT_NS = 100000 };

static mock_call_fn *call;

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

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t);

	if (argc != 3 || !cupti) {
		fputs("usage: collect_counted LIBCUDA FILE\n", stderr);
		return 2;
	}
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	while (access(argv[2], F_OK) == 0)
		go_round();
	return 0;
}
