/* SPDX-License-Identifier: MIT */
/* The functions behind proton/proton.h: a versioned table for the header, and the same functions by
 * name for programs that load the library themselves (ctypes, dlsym). */
#include "config.h" // IWYU pragma: keep
#include "proton/proton.h"
#include <math.h>
#include <string.h>
#include "base/util.h"
#include "collect/api.h"
#include "collect/collect.h"

/* A program may load the library without any of the doors that start it. */
static bool api_on(void)
{
	return _likely_(collect_on) || (collect_start(DOOR_API) == 0 && collect_on);
}

static void put_f64(const char *name, double value, bool replace)
{
	if (api_on() && isfinite(value))
		collect_metric_f64(name, value, replace);
}

static void put_u64(const char *name, uint64_t value, bool replace)
{
	if (api_on())
		collect_metric_u64(name, value, replace);
}

int proton_api_enter_scope(const char *name)
{
	if (!api_on())
		return -1;
	if (!name || !*name)
		name = "<scope>";
	return collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, strlen(name));
}

int proton_api_exit_scope(void)
{
	return api_on() ? collect_pop(COLLECT_TAG_SCOPE) : -1;
}

void proton_api_metric_f64(const char *name, double value)
{
	put_f64(name, value, false);
}

void proton_api_metric_u64(const char *name, uint64_t value)
{
	put_u64(name, value, false);
}

void proton_api_property_f64(const char *name, double value)
{
	put_f64(name, value, true);
}

void proton_api_property_u64(const char *name, uint64_t value)
{
	put_u64(name, value, true);
}

int proton_api_active(void)
{
	return api_on();
}

const struct proton_api_v1 *proton_get_api(uint32_t version)
{
	static const struct proton_api_v1 api = {
		.version = PROTON_API_VERSION,
		.size = sizeof(api),
		.enter_scope = proton_api_enter_scope,
		.exit_scope = proton_api_exit_scope,
		.metric_f64 = proton_api_metric_f64,
		.metric_u64 = proton_api_metric_u64,
		.property_f64 = proton_api_property_f64,
		.property_u64 = proton_api_property_u64,
		.active = proton_api_active,
	};

	/* A later version has this table as its beginning, so only 0 is refused. */
	if (!version)
		return NULL;
	api_on();
	return &api;
}
