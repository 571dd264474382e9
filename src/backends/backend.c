/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/backend.h"

const struct backend *backend_of(enum source source)
{
	static const struct backend *const backends[N_SOURCES] = {
#define _(id, name, ...) [SOURCE_##id] = &backend_##name,
		BACKENDS(_)
#undef _
	};

	return backends[source];
}
