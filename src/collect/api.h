/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_API_H
#define PROTON_COLLECT_API_H
/* What libproton.so exports for programs: one table for proton/proton.h, and its functions by name
 * for ctypes and dlsym. They return as the inline functions of proton/proton.h do. */
#include <stddef.h>
#include <stdint.h>
#include "collect/collect.h"
#include "proton/proton.h"

EXPORT proton_get_api_fn proton_get_api;
EXPORT int proton_api_enter_scope(const char *name);
EXPORT int proton_api_exit_scope(void);
EXPORT void proton_api_metric_f64(const char *name, double value);
EXPORT void proton_api_metric_u64(const char *name, uint64_t value);
EXPORT void proton_api_property_f64(const char *name, double value);
EXPORT void proton_api_property_u64(const char *name, uint64_t value);
/* For Python: a text that describes the current calling context. Invalid UTF-8 is kept; thread: any. */
EXPORT void proton_api_property_text(const char *name, const char *text);
/* For Python: the time on the host of the innermost scope is asked for (cpu_timed_scope()); thread: any. */
EXPORT void proton_api_scope_timed(void);
/* … as proton_api_metric_f64() and proton_api_property_f64(), but never rounded: "NAME (float)", where the first of the
 * name was a whole number; thread: any. */
EXPORT void proton_api_metric_float(const char *name, double value);
/* For Python: as proton_api_metric_vector(), of n numbers in the memory of a CUDA device, or of one as a metric of
 * its own, each time that what `stream` is captured into runs; kind: enum cuda_value_kind. PROTON_INVALID: it is not
 * captured, or they cannot be read, which a note says; thread: any. */
EXPORT int proton_api_metric_device(const char *name, uint64_t device_memory, int kind, size_t n,
				    void *stream);
EXPORT int proton_api_active(void);
EXPORT void proton_api_metric_i64(const char *name, int64_t value);
EXPORT int proton_api_metric_vector(const char *name, const double *values, size_t n);
EXPORT int proton_api_metric_vector_i64(const char *name, const int64_t *values, size_t n);
EXPORT int proton_api_state_enter(const char *name);
EXPORT int proton_api_state_exit(void);
EXPORT int proton_api_launch_begin(const char *name);
EXPORT int proton_api_launch_end(void);
EXPORT int proton_api_session_start(const char *name, const struct proton_session_options *options);
EXPORT int proton_api_session_activate(int session);
EXPORT int proton_api_session_deactivate(int session, int flush);
EXPORT int proton_api_session_finalize(int session, const char *format);
EXPORT const char *proton_api_session_error(void);
EXPORT int proton_api_phase_advance(int session);
EXPORT int proton_api_phase_is_complete(int session, int phase);
EXPORT int proton_api_phase_clear(int session, int phase, int up_to);
EXPORT int proton_api_session_data(int session, int phase, const char *format, char **ret_data,
				   size_t *ret_size);
EXPORT void proton_api_data_free(char *data);
EXPORT int proton_api_context_depth(void);
/* As collect_session_flush() (sessions.h). */
EXPORT int proton_api_session_flush(int session);
EXPORT void proton_api_has_kernel_scopes(void);
/* Operations on memory one by one, from now on; PROTON_INVALID: they are not recorded. */
EXPORT int proton_api_memory_log(void);
/* As memory_log_read() (memory_log.h): how many. */
EXPORT int proton_api_memory_read(uint64_t *from, void *ret, size_t n);

#endif
