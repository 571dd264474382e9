/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/live.h"
#include <string.h>
#include "base/util.h"

/* Names without what units of the hardware stand before them, and the submetric behind. */
static const struct {
	const char *base;
	bool is_sum; /* over the sample */
} metrics[COUNTED_N] = {
	[COUNTED_BLOCKS] = {"gr__ctas_launched_realtime", true},
	[COUNTED_DRAM_READ] = {"dram__read_throughput", false},
	[COUNTED_DRAM_WRITE] = {"dram__write_throughput", false},
	[COUNTED_FMA] = {"sm__inst_executed_pipe_fma_realtime", false},
	[COUNTED_GPC_CLOCK] = {"gpc__cycles_elapsed", false},
	[COUNTED_ENGINE] = {"gr__cycles_active", false},
	[COUNTED_L2_HIT] = {"lts__average_t_sector_hit_rate_realtime", false},
	[COUNTED_NVLINK_RX] = {"nvlrx__bytes", true},
	[COUNTED_NVLINK_TX] = {"nvltx__bytes", true},
	[COUNTED_PCIE_READ] = {"pcie__read_bytes", true},
	[COUNTED_PCIE_WRITE] = {"pcie__write_bytes", true},
	[COUNTED_SM_ACTIVE] = {"sm__cycles_active", false},
	[COUNTED_SM_ISSUE] = {"sm__inst_executed_realtime", false},
	[COUNTED_SYS_CLOCK] = {"sys__cycles_elapsed", false},
	[COUNTED_TENSOR] = {"sm__pipe_tensor_cycles_active_realtime", false},
	[COUNTED_WARPS] = {"tpc__warps_active_realtime", false},
};

enum counter_id live_counter(const char *metric)
{
	const char *names = strstr(metric, "__"), *base = names;
	unsigned i = 0;

	while (base && base > metric && base[-1] != '.')
		base--;
	for (; base && i < COUNTED_N; i++) {
		size_t len = strlen(metrics[i].base);

		if (!strncmp(base, metrics[i].base, len) && (!base[len] || base[len] == '.'))
			return (enum counter_id)i;
	}
	return COUNTED_N;
}

double live_value(enum counter_id id, double value, uint64_t sample_ns)
{
	return metrics[id].is_sum ? value * (double)NSEC_PER_SEC / (double)sample_ns : value;
}
