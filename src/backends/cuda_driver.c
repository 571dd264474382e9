/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cuda_driver.h"
#include <dlfcn.h>
#include <string.h>

__thread unsigned cuda_driver_ours __attribute__((tls_model("initial-exec")));

bool cuda_driver_bind(void *api, const struct cuda_function *functions, size_t n)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

	bool has_needed = true;

	if (!library)
		return false;
	for (size_t i = 0; i < n; i++) {
		void *symbol = dlsym(library, functions[i].name);

		memcpy((char *)api + functions[i].offset, &symbol, sizeof(symbol));
		has_needed = has_needed && (symbol || !functions[i].is_needed);
	}
	dlclose(library); /* the application keeps it */
	return has_needed;
}
