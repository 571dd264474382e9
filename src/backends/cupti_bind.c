/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_bind.h"
#include <dlfcn.h>
#include <string.h>
#include "base/util.h"

enum need { OPTIONAL, REQUIRED };

const char *cupti_bind(void *library, struct cupti_api *ret)
{
	static const struct {
		const char *name;
		size_t offset;
		enum need need;
	} functions[] = {
#define _(need, name, parameters) {#name, offsetof(struct cupti_api, name), need},
		ABI_CUPTI_FUNCTIONS(_)
#undef _
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = dlsym(library, functions[i].name);

		if (!symbol && functions[i].need == REQUIRED)
			return functions[i].name;
		memcpy((char *)ret + functions[i].offset, &symbol, sizeof(symbol));
	}
	return NULL;
}
