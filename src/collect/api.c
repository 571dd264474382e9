/* SPDX-License-Identifier: MIT */
/* The functions behind proton/proton.h: a versioned table for the header, and the same functions by
 * name for programs that load the library themselves (ctypes, dlsym). */
#include "config.h" // IWYU pragma: keep
#include "proton/proton.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include "backends/cuda_arena.h"
#include "base/util.h"
#include "collect/alone.h"
#include "collect/api.h"
#include "collect/collect.h"
#include "collect/device_metrics.h"
#include "collect/phases.h"
#include "collect/sessions.h"
#include "core/metric.h"
#include "wire/wire.h"

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
	if (!api_on()) {
		collect_scope_missed(true);
		return -1;
	}
	if (!name || !*name)
		name = "<scope>";
	return collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, strlen(name));
}

int proton_api_exit_scope(void)
{
	if (api_on())
		return collect_pop(COLLECT_TAG_SCOPE);
	collect_scope_missed(false);
	return -1;
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

void proton_api_property_text(const char *name, const char *text)
{
	if (api_on())
		collect_property_text(name, text);
}

void proton_api_scope_timed(void)
{
	if (api_on())
		collect_scope_timed();
}

void proton_api_metric_float(const char *name, double value)
{
	if (api_on() && isfinite(value))
		collect_metric_float(name, value);
}

int proton_api_active(void)
{
	return api_on();
}

/* Integers below 0 are numbers of floating point, exact to 53 bits. */
void proton_api_metric_i64(const char *name, int64_t value)
{
	if (value < 0)
		put_f64(name, (double)value, false);
	else
		put_u64(name, (uint64_t)value, false);
}

static int vector_status(const char *name, const void *values, size_t n)
{
	if (!api_on())
		return PROTON_NOBODY;
	return !name || !*name || !values ||
			       strnlen(name, METRIC_VECTOR_NAME_MAX + 1) > METRIC_VECTOR_NAME_MAX ||
			       !n || n > METRIC_VECTOR_MAX
		       ? PROTON_INVALID
		       : PROTON_OK;
}

int proton_api_metric_vector(const char *name, const double *values, size_t n)
{
	char element[METRIC_VECTOR_NAME_MAX + 16];
	int r = vector_status(name, values, n);

	for (size_t i = 0; r == PROTON_OK && i < n; i++) {
		metric_element_name(element, name, i);
		put_f64(element, values[i], false);
	}
	return r;
}

int proton_api_metric_vector_i64(const char *name, const int64_t *values, size_t n)
{
	char element[METRIC_VECTOR_NAME_MAX + 16];
	int r = vector_status(name, values, n);

	for (size_t i = 0; r == PROTON_OK && i < n; i++) {
		metric_element_name(element, name, i);
		proton_api_metric_i64(element, values[i]);
	}
	return r;
}

int proton_api_metric_device(const char *name, uint64_t device_memory, int kind, size_t n,
			     void *stream)
{
	if (!api_on())
		return PROTON_NOBODY;
	if (!name || !*name)
		return PROTON_INVALID;
	return collect_metric_device(WIRE_NONE, name,
				     &(struct device_numbers){device_memory, kind, n, stream}) == 0
		       ? PROTON_OK
		       : PROTON_INVALID;
}

int proton_api_state_enter(const char *name)
{
	if (!api_on())
		return PROTON_NOBODY;
	if (!name || !*name)
		name = "<state>";
	collect_state(name, strlen(name));
	return PROTON_OK;
}

int proton_api_state_exit(void)
{
	if (!api_on())
		return PROTON_NOBODY;
	collect_state(NULL, 0);
	return PROTON_OK;
}

int proton_api_launch_begin(const char *name)
{
	return api_on() && collect_launch_begin(name, name ? strlen(name) : 0) == 0 ? PROTON_OK
										    : PROTON_NOBODY;
}

int proton_api_launch_end(void)
{
	if (!api_on())
		return PROTON_NOBODY;
	return collect_launch_end() == 0 ? PROTON_OK : PROTON_UNKNOWN;
}

/* Does whoever receives what a program says of itself still live? */
static bool is_attended(void)
{
	if (!alone_is_on() || alone_is_attended())
		return true;
	collect_session_refuse("the proton that this program started is gone");
	return false;
}

int proton_api_session_start(const char *name, const struct proton_session_options *options)
{
	if (!api_on() && alone_start(options) < 0)
		return PROTON_NOBODY;
	if (!is_attended())
		return PROTON_NOBODY;
	if (alone_is_on())
		alone_begin(options);
	return collect_session_start(name, options);
}

int proton_api_session_activate(int session)
{
	return api_on() && is_attended() ? collect_session_activate(session) : PROTON_NOBODY;
}

int proton_api_session_deactivate(int session, int flush)
{
	return api_on() && is_attended() ? collect_session_deactivate(session, flush != 0)
					 : PROTON_NOBODY;
}

int proton_api_session_flush(int session)
{
	return api_on() && is_attended() ? collect_session_flush(session) : PROTON_NOBODY;
}

int proton_api_session_finalize(int session, const char *format)
{
	return api_on() ? collect_session_finalize(session, format) : PROTON_NOBODY;
}

const char *proton_api_session_error(void)
{
	if (api_on())
		return collect_session_error();
	return alone_error() ? alone_error() : "nobody is profiling this program";
}

int proton_api_phase_advance(int session)
{
	return api_on() ? collect_phase_advance(session) : PROTON_NOBODY;
}

int proton_api_phase_is_complete(int session, int phase)
{
	return api_on() ? collect_phase_is_complete(session, phase) : PROTON_NOBODY;
}

int proton_api_phase_clear(int session, int phase, int up_to)
{
	return api_on() ? collect_phase_clear(session, phase, up_to) : PROTON_NOBODY;
}

int proton_api_session_data(int session, int phase, const char *format, char **ret_data,
			    size_t *ret_size)
{
	if (!api_on())
		return PROTON_NOBODY;
	return ret_data && ret_size
		       ? collect_session_data(session, phase, format, ret_data, ret_size)
		       : PROTON_INVALID;
}

void proton_api_data_free(char *data)
{
	collect_data_free(data);
}

int proton_api_context_depth(void)
{
	return api_on() ? collect_context_depth() : PROTON_NOBODY;
}

void proton_api_has_kernel_scopes(void)
{
	cuda_arena_follow();
}

int proton_api_memory_log(void)
{
	if (!api_on())
		return PROTON_NOBODY;
	return collect_memory_log() ? PROTON_OK : PROTON_INVALID;
}

int proton_api_memory_read(uint64_t *from, void *ret, size_t n)
{
	if (!api_on())
		return PROTON_NOBODY;
	return from && ret ? (int)collect_memory_read(from, ret, MIN(n, (size_t)INT_MAX))
			   : PROTON_INVALID;
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
		.state_enter = proton_api_state_enter,
		.state_exit = proton_api_state_exit,
		.metric_i64 = proton_api_metric_i64,
		.metric_vector = proton_api_metric_vector,
		.metric_vector_i64 = proton_api_metric_vector_i64,
		.launch_begin = proton_api_launch_begin,
		.launch_end = proton_api_launch_end,
		.phase_advance = proton_api_phase_advance,
		.phase_is_complete = proton_api_phase_is_complete,
		.phase_clear = proton_api_phase_clear,
		.session_data = proton_api_session_data,
		.data_free = proton_api_data_free,
		.context_depth = proton_api_context_depth,
		.has_kernel_scopes = proton_api_has_kernel_scopes,
	};

	/* A later version has this table as its beginning, so only 0 is refused. */
	if (!version)
		return NULL;
	api_on();
	return &api;
}
