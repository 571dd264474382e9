/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_totals.h"
#include <stdatomic.h>
#include <string.h>
#include "base/clock.h"

static struct {
	_Atomic uint64_t allocated, allocated_peak, peak_at_ns, reserved, reserved_peak;
	_Atomic bool is_changed;
} devices[TORCH_DEVICES_MAX];
static _Atomic bool any_changed, is_told;

void torch_totals_keep(unsigned device, uint64_t allocated, uint64_t reserved)
{
	_Atomic uint64_t *most = &devices[device].allocated_peak;

	atomic_store_explicit(&devices[device].allocated, allocated, memory_order_relaxed);
	atomic_store_explicit(&devices[device].reserved, reserved, memory_order_relaxed);
	if (allocated > atomic_load_explicit(most, memory_order_relaxed)) {
		atomic_store_explicit(most, allocated, memory_order_relaxed);
		atomic_store_explicit(&devices[device].peak_at_ns, clock_realtime_ns(),
				      memory_order_relaxed);
	}
	most = &devices[device].reserved_peak;
	if (reserved > atomic_load_explicit(most, memory_order_relaxed))
		atomic_store_explicit(most, reserved, memory_order_relaxed);
	if (!atomic_load_explicit(&devices[device].is_changed, memory_order_acquire)) {
		atomic_store(&devices[device].is_changed, true);
		atomic_store(&any_changed, true);
		atomic_store(&is_told, true);
	}
}

bool torch_totals_any(void)
{
	return atomic_load(&is_told);
}

bool torch_totals_changed(int32_t *at, struct torch_totals *ret)
{
	if (*at == 0 && !atomic_exchange(&any_changed, false))
		return false;
	for (; *at < TORCH_DEVICES_MAX; ++*at) {
		if (!atomic_exchange(&devices[*at].is_changed, false))
			continue;
		*ret = (struct torch_totals){
			.device = *at,
			.allocated = atomic_load(&devices[*at].allocated),
			.allocated_peak = atomic_load(&devices[*at].allocated_peak),
			.peak_at_ns = atomic_load(&devices[*at].peak_at_ns),
			.reserved = atomic_load(&devices[*at].reserved),
			.reserved_peak = atomic_load(&devices[*at].reserved_peak),
		};
		++*at;
		return true;
	}
	return false;
}

/* What the parent has is not the child's, which cannot use CUDA. */
void torch_totals_forked(void)
{
	memset(devices, 0, sizeof(devices));
	atomic_store(&any_changed, false);
	atomic_store(&is_told, false);
}
