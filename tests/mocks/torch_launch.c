/* SPDX-License-Identifier: MIT */
/* On a machine without a GPU no operator of PyTorch launches anything. With this loaded, and
 * torch_launch_begin() called, each aten operator launches a kernel of its name as it begins. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "collect/torch_abi.h"

typedef int launch_fn(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		      unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
		      void **extra);

static launch_fn *launch;
static const char *(*name_of)(const char *record);
static char names[256][64];

/* Kernels are known by the address of their name. */
static char *kernel_named(const char *name)
{
	for (unsigned i = 0; i < 255; i++) {
		if (!strcmp(names[i] + 2, name))
			return names[i];
		if (!*names[i]) {
			snprintf(names[i], sizeof(names[i]), "k_%s", name);
			return names[i];
		}
	}
	return NULL;
}

static void **begin(void **ret_context, const char *record)
{
	const char *name = name_of(record);

	*ret_context = NULL;
	if (!strncmp(name, "aten::", 6) && strlen(name) < 60)
		launch(kernel_named(name), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	return ret_context;
}

static int find(struct dl_phdr_info *info, size_t size, void *ret_name)
{
	(void)size;
	*(const char **)ret_name = info->dlpi_name;
	return strstr(info->dlpi_name, "/libtorch_cpu.so") != NULL;
}

static void end(const char *record, void **context)
{
	(void)record;
	(void)context;
}

__attribute__((visibility("default"))) int torch_launch_begin(const char *cuda);
int torch_launch_begin(const char *cuda)
{
	struct torch_callback callback = {begin, end, 1.0, {[TORCH_FUNCTION] = 1}, 0, 0, 0};
	const char *name = NULL;
	void *library = dl_iterate_phdr(find, &name) ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *driver = dlopen(cuda, RTLD_LAZY), *v;
	uint64_t (*add)(struct torch_callback);

	if (!library || !driver)
		return -1;
	v = dlsym(driver, "cuLaunchKernel");
	memcpy(&launch, &v, sizeof(v));
	v = dlsym(library, "_ZNK2at14RecordFunction4nameEv");
	memcpy(&name_of, &v, sizeof(v));
	v = dlsym(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
	memcpy(&add, &v, sizeof(v));
	if (!launch || !name_of || !add)
		return -1;
	add(callback);
	return 0;
}
