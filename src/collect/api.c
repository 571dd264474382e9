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
#include "collect/sessions.h"

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

int proton_api_session_start(const char *name, const struct proton_session_options *options)
{
	return api_on() ? collect_session_start(name, options) : PROTON_NOBODY;
}

int proton_api_session_activate(int session)
{
	return api_on() ? collect_session_activate(session) : PROTON_NOBODY;
}

int proton_api_session_deactivate(int session, int flush)
{
	return api_on() ? collect_session_deactivate(session, flush != 0) : PROTON_NOBODY;
}

int proton_api_session_finalize(int session, const char *format)
{
	return api_on() ? collect_session_finalize(session, format) : PROTON_NOBODY;
}

const char *proton_api_session_error(void)
{
	return api_on() ? collect_session_error() : "nobody is profiling this program";
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
		.session_start = proton_api_session_start,
		.session_activate = proton_api_session_activate,
		.session_deactivate = proton_api_session_deactivate,
		.session_finalize = proton_api_session_finalize,
		.session_error = proton_api_session_error,
	};

	/* A later version has this table as its beginning, so only 0 is refused. */
	if (!version)
		return NULL;
	api_on();
	return &api;
}
