/* SPDX-License-Identifier: MIT */
/* Copies beside other work, at known times on two devices: collect_overlap LIBCUDA [lanes|many], with the mock libcupti. See
 * tests/scripts/collect_overlap.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"

enum {
	KERNEL_CALL = 307,
	COPY_CALL = 276,
	PEER_CALL = 318,
	SET_CALL = 249,
	BATCH_CALL = 796,
	N_BATCH = 20
};

static mock_call_fn *call;

/* On a stream of its kind. Times in us since some moment. */
static void run(uint32_t cbid, uint32_t kind, uint32_t device, uint64_t start_us, uint64_t end_us)
{
	const struct mock_op op = {.kind = kind,
				   .name = "gemm",
				   .bytes = 4096,
				   .n_copies = cbid == BATCH_CALL ? N_BATCH : 1,
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

/* On a stream, through a channel of the hardware. */
static void copy(uint32_t stream, uint32_t channel, uint8_t copy_kind, uint64_t start_us,
		 uint64_t end_us)
{
	bool is_peer = copy_kind == ABI_COPY_PTOP;
	const struct mock_op op = {.kind = is_peer ? ABI_KIND_MEMCPY2 : ABI_KIND_MEMCPY,
				   .bytes = 4096,
				   .copy_kind = copy_kind,
				   .src_kind = ABI_MEMORY_PINNED,
				   .dst_kind = ABI_MEMORY_DEVICE,
				   .channel_type = is_peer   ? ABI_CHANNEL_COMPUTE
						   : channel ? ABI_CHANNEL_ASYNC_MEMCPY
							     : 0,
				   .channel = channel,
				   .context = 1,
				   .stream = stream,
				   .start_ns = 1000000000 + 1000 * start_us,
				   .end_ns = 1000000000 + 1000 * end_us};

	call(is_peer ? PEER_CALL : COPY_CALL, &op);
}

/* One kernel takes 1,000 us; what overlaps among the copies of a stream counts once, and another direction or channel is
 * another place. */
static void run_lanes(void)
{
	copy(7, 12, ABI_COPY_HTOD, 500, 1500);
	copy(8, 13, ABI_COPY_DTOH, 0, 250);
	run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 0, 0, 1000);
	copy(8, 13, ABI_COPY_DTOH, 200, 400);
	copy(8, 14, ABI_COPY_DTOH, 900, 1100);
	copy(7, 3, ABI_COPY_PTOP, 1400, 1600);
	copy(9, 0, ABI_COPY_DTOD, 0, 100);
}

/* More places than are told apart. */
static void run_many(void)
{
	run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 0, 0, 1000);
	for (uint32_t i = 0; i < 240; i++)
		copy(100 + i % 60, 1 + i / 60, ABI_COPY_HTOD, 2 * i, 2 * i + 1);
}

/* Of 1,200 us with copies, 500 are beside kernels and 100 beside a memset; one copy, which is
 * many small ones of one call, is beside another. Copies come last, as those of another stream may. The other device has none. */
int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t);

	if (argc < 2 || !cupti)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	if (argc > 2) {
		if (!strcmp(argv[2], "many"))
			run_many();
		else
			run_lanes();
		return 0;
	}
	for (uint64_t at = 0; at < 1000; at += 200)
		run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 0, at, at + 100);
	run(SET_CALL, ABI_KIND_MEMSET, 0, 1000, 1100);
	run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 0, 1300, 1700);
	run(KERNEL_CALL, ABI_KIND_CONCURRENT_KERNEL, 1, 0, 5000);
	run(COPY_CALL, ABI_KIND_MEMCPY, 0, 0, 1200);
	run(BATCH_CALL, ABI_KIND_MEMCPY, 0, 50, 150);
	return 0;
}
