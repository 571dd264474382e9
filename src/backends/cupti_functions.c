/* SPDX-License-Identifier: MIT */
/* Names of kernels by the driver's handles, as the program asked for them: of a kernel node that it adds to a graph by
 * itself nobody says more than the handle, and the driver may not be called from a callback.
 *
 * The handle of a kernel of a module that is gone may be another's, which the driver may have given without a call that
 * is seen here: when one goes, all are forgotten. */
#include "config.h" // IWYU pragma: keep

#include <string.h>

#include "backends/cupti.h"
#include "backends/ptrmap.h"
#include "base/hash.h"

static struct {
	struct ptrmap names; /* handle -> hash of the name, to go on with */
	atomic_bool is_used; /* … since all were forgotten */
} functions;

static bool has_worked(const struct abi_call *call)
{
	return call->site == ABI_EXIT && call->params &&
	       (!call->result || *(const uint32_t *)call->result == ABI_CALL_OK);
}

static void put(const void *handle, uint64_t name)
{
	uint64_t old;

	if (ptrmap_get(&functions.names, handle, &old) && old == name)
		return;
	while (ptrmap_take(&functions.names, handle, &old))
		;
	if (name && handle && ptrmap_add(&functions.names, handle, name))
		atomic_store(&functions.is_used, true);
}

void cupti_functions_named(const struct abi_call *call)
{
	const struct abi_get_function *get = call->params;

	if (has_worked(call) && get->ret && get->name)
		put(*get->ret, stable_hash(STABLE_HASH_BEGIN, get->name, strlen(get->name) + 1));
}

void cupti_functions_same(const struct abi_call *call)
{
	const struct abi_get_function *get = call->params;

	if (has_worked(call) && get->ret)
		put(*get->ret, cupti_functions_name(get->of));
}

void cupti_functions_unload(const struct abi_call *call)
{
	if (call->site == ABI_ENTER && atomic_exchange(&functions.is_used, false))
		ptrmap_clear(&functions.names);
}

uint64_t cupti_functions_name(const void *handle)
{
	uint64_t name;

	return handle && ptrmap_get(&functions.names, handle, &name) ? name : 0;
}
