/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_totals.h"
#include <stdatomic.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"

static struct {
	_Atomic uint64_t reserved, used, used_at_ns;
	_Atomic uint64_t reserved_peak, used_peak, unused; /* as in struct pool_peaks */
	_Atomic bool is_known, is_changed;
} devices[TORCH_DEVICES_MAX];
static _Atomic bool any_changed, is_told;

static uint64_t get(const _Atomic uint64_t *at)
{
	return atomic_load_explicit(at, memory_order_relaxed);
}

static void set(_Atomic uint64_t *at, uint64_t value)
{
	atomic_store_explicit(at, value, memory_order_relaxed);
}

static struct pool_level level_of(unsigned device)
{
	return (struct pool_level){
		get(&devices[device].reserved), get(&devices[device].used),
		atomic_load_explicit(&devices[device].is_known, memory_order_relaxed)};
}

static struct pool_peaks peaks_of(unsigned device)
{
	return (struct pool_peaks){get(&devices[device].reserved_peak),
				   get(&devices[device].used_peak), get(&devices[device].unused)};
}

static void keep_peaks(unsigned device, const struct pool_level *now)
{
	struct pool_peaks peaks = peaks_of(device);

	if (_likely_(now->used <= peaks.used && now->reserved <= peaks.reserved))
		return;
	if (now->used > peaks.used)
		set(&devices[device].used_at_ns, clock_realtime_ns());
	pool_peaks_add(&peaks, now);
	set(&devices[device].reserved_peak, peaks.reserved);
	set(&devices[device].used_peak, peaks.used);
	set(&devices[device].unused, peaks.unused);
}

struct pool_growth torch_totals_keep(unsigned device, uint64_t bytes, uint64_t used,
				     uint64_t reserved)
{
	const struct pool_level before = level_of(device), now = {reserved, used, true};

	set(&devices[device].reserved, reserved);
	set(&devices[device].used, used);
	atomic_store_explicit(&devices[device].is_known, true, memory_order_relaxed);
	keep_peaks(device, &now);
	if (!atomic_load_explicit(&devices[device].is_changed, memory_order_acquire)) {
		atomic_store(&devices[device].is_changed, true);
		atomic_store(&any_changed, true);
		atomic_store(&is_told, true);
	}
	return pool_growth(&before, &now, bytes);
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
		*ret = (struct torch_totals){.device = *at,
					     .now = level_of((unsigned)*at),
					     .peaks = peaks_of((unsigned)*at),
					     .used_at_ns = get(&devices[*at].used_at_ns)};
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
