/* SPDX-License-Identifier: MIT */
/* Memory that host and devices share: its pages move when they are missed. */
#include "config.h" // IWYU pragma: keep

#include <stdio.h>

#include "backends/cupti.h"
#include "base/util.h"

static const struct {
	uint8_t what;             /* enum unified_what */
	uint8_t is_at_source : 1; /* its device is the source, else the destination */
	uint8_t is_bytes : 1, is_count : 1;
} kinds[ABI_N_UNIFIED] = {
	[ABI_UNIFIED_HTOD] = {UNIFIED_TO_DEVICE, .is_bytes = 1},
	[ABI_UNIFIED_DTOH] = {UNIFIED_TO_HOST, .is_at_source = 1, .is_bytes = 1},
	[ABI_UNIFIED_DTOD] = {UNIFIED_TO_PEER, .is_bytes = 1},
	[ABI_UNIFIED_CPU_FAULT] = {UNIFIED_CPU_FAULT},
	[ABI_UNIFIED_GPU_FAULT] = {UNIFIED_GPU_FAULT, .is_at_source = 1, .is_count = 1},
	[ABI_UNIFIED_THRASHING] = {UNIFIED_THRASH, .is_bytes = 1},
	[ABI_UNIFIED_THROTTLING] = {UNIFIED_THROTTLE, .is_at_source = 1},
	[ABI_UNIFIED_REMOTE_MAP] = {UNIFIED_REMOTE, .is_bytes = 1},
};

/* ---- records ---- */

/* What several fight for, and what a processor of the host missed, is of no device. */
static int32_t device_of(const struct abi_unified_record *u)
{
	uint32_t device = kinds[u->what].is_at_source ? u->src : u->dst;

	if (u->what == ABI_UNIFIED_CPU_FAULT || u->what == ABI_UNIFIED_THRASHING ||
	    (u->what == ABI_UNIFIED_THROTTLING && u->flags & ABI_THROTTLED_IN_CPU))
		return DEVICE_HOST;
	return device < ABI_DEVICES_MAX ? (int32_t)device : DEVICE_HOST;
}

static uint8_t cause_of(const struct abi_unified_record *u)
{
	bool has_moved = u->what == ABI_UNIFIED_HTOD || u->what == ABI_UNIFIED_DTOH ||
			 u->what == ABI_UNIFIED_DTOD;

	if (has_moved && u->flags == ABI_MOVED_BY_USER)
		return UNIFIED_AS_ASKED;
	return has_moved && u->flags == ABI_MOVED_BY_EVICTION ? UNIFIED_EVICTED
							      : UNIFIED_FOR_ACCESS;
}

bool cupti_unified_translate(const void *record, struct memory_event *e)
{
	const struct abi_unified_record *u = record;

	if (!u->what || u->what >= ABI_N_UNIFIED)
		return false;
	*e = (struct memory_event){
		.operation = MEMORY_UNIFIED,
		.kind = MEMORY_MANAGED,
		.what = kinds[u->what].what,
		.cause = cause_of(u),
		.device = device_of(u),
		.at_ns = u->start_ns,
		.address = u->address,
		.bytes = kinds[u->what].is_bytes ? u->value : 0,
		.n = kinds[u->what].is_count ? MAX(u->value, UINT64_C(1)) : 1,
		.took_ns = u->end_ns > u->start_ns ? u->end_ns - u->start_ns : 0,
	};
	return true;
}

/* ---- on and off ---- */

static const char *why(uint32_t result)
{
	switch (result) {
	case ABI_NO_UNIFIED:
		return "CUPTI has no records of it on this system";
	case ABI_NO_UNIFIED_OF_DEVICE:
		return "CUPTI has no records of it on this device";
	case ABI_NO_UNIFIED_WITHOUT_PEERS:
		return "CUPTI has no records of it where devices cannot reach each other's memory";
	case ABI_NO_UNIFIED_WITH_MPS:
		return "CUPTI has no records of it under MPS";
	default:
		return "CUPTI refuses records of it";
	}
}

static uint32_t enable(struct cupti *c)
{
	struct abi_unified_config config[ABI_N_UNIFIED - 1];
	uint32_t result;

	for (uint32_t i = 0; i < ARRAY_SIZE(config); i++)
		config[i] = (struct abi_unified_config){ABI_UNIFIED_OF_DEVICE, i + 1, 0, 1};
	if (!c->api.cuptiActivityConfigureUnifiedMemoryCounter)
		return ABI_NO_UNIFIED;
	result = c->api.cuptiActivityConfigureUnifiedMemoryCounter(config, ARRAY_SIZE(config));
	/* A library does not know what came with later ones: between devices. */
	if (result == ABI_BAD_ARGUMENT)
		result = c->api.cuptiActivityConfigureUnifiedMemoryCounter(config,
									   ABI_UNIFIED_GPU_FAULT);
	return result == ABI_OK ? c->api.cuptiActivityEnable(ABI_KIND_UNIFIED) : result;
}

/* The driver must be there, and CUPTI must not be asked from within one of its callbacks: so at a flush. Not
 * initialised: the driver is not done yet, and it is tried again. */
void cupti_unified_settle(struct cupti *c)
{
	char text[192];
	uint32_t result;

	if (atomic_load(&c->unified) != CUPTI_UNIFIED_WANTED || !atomic_load(&c->connected))
		return;
	result = enable(c);
	if (result == ABI_NOT_INITIALIZED)
		return;
	atomic_store(&c->unified, result == ABI_OK ? CUPTI_UNIFIED_ON : CUPTI_UNIFIED_OFF);
	if (result == ABI_OK)
		return;
	snprintf(text, sizeof(text), "%s: %s (error %u)", NO_UNIFIED_EVENTS, why(result), result);
	c->sink->ops->note(c->sink, text);
}

/* What was recorded is still to come: it stays as it is. */
void cupti_unified_stop(struct cupti *c)
{
	if (atomic_load(&c->unified) == CUPTI_UNIFIED_ON)
		c->api.cuptiActivityDisable(ABI_KIND_UNIFIED);
}

void cupti_unified_again(struct cupti *c)
{
	int on = CUPTI_UNIFIED_ON;

	atomic_compare_exchange_strong(&c->unified, &on, CUPTI_UNIFIED_WANTED);
}

void cupti_unified_end(struct cupti *c)
{
	int wanted = CUPTI_UNIFIED_WANTED;

	atomic_compare_exchange_strong(&c->unified, &wanted, CUPTI_UNIFIED_OFF);
}
