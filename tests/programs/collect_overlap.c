/* SPDX-License-Identifier: MIT */
/* Copies beside other work, at known times on two devices: collect_overlap LIBCUDA, with the mock libcupti. See
 * tests/scripts/collect_overlap.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdlib.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"

enum { KERNEL_CALL = 307, COPY_CALL = 276, SET_CALL = 249 };

static mock_call_fn *call;

/* On a stream of its kind. Times in us since some moment. */
static void run(uint32_t cbid, uint32_t kind, uint32_t device, uint64_t start_us, uint64_t end_us)
{
	const struct mock_op op = {.kind = kind,
				   .name = "gemm",
				   .bytes = 4096,
				   .copy_kind = ABI_COPY_HTOD,
				   .src_kind = ABI_MEMORY_PINNED,
				   .dst_kind = ABI_MEMORY_DEVICE,
				   .device = device,
				   .context = device + 1,
				   .stream = 7 + kind,
				   .start_ns = 1000000000 + 1000 * start_us,
				   .end_ns = 1000000000 + 1000 * end_us};

	call(cbid, &op);
}

/* Of 1,200 us with copies, 500 are beside kernels and 100 beside a memset; one copy is beside another. Copies
 * come last, as those of another stream may. The other device has none. */
int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t);

	if (argc != 2 || !cupti)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	for (uint64_t at = 0; at < 1000; at += 200)
		run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 0, at, at + 100);
	run(SET_CALL, ABI_KIND_MEMSET, 0, 1000, 1100);
	run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 0, 1300, 1700);
	run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 1, 0, 5000);
	run(COPY_CALL, ABI_KIND_MEMCPY, 0, 0, 1200);
	run(COPY_CALL, ABI_KIND_MEMCPY, 0, 50, 150);
	return 0;
}
