/* SPDX-License-Identifier: MIT */
/* On a machine without a GPU no operator of PyTorch launches anything. With this loaded, and
 * torch_launch_begin() called, each aten operator launches a kernel of its name as it begins; with
 * torch_launch_kernels(), those alone that do on a GPU, and as they end: when autograd's node has been made. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
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

/* What makes or looks at a tensor, or passes on to other operators. */
static bool has_no_kernel(const char *name)
{
	static const char *const all[] = {
		"view",         "t",          "transpose",
		"as_strided",   "detach",     "expand",
		"reshape",      "unsqueeze",  "_unsafe_view",
		"resolve_conj", "linear",     "matmul",
		"chunk",        "split",      "slice",
		"empty",        "empty_like", "empty_strided",
		"permute",      "detach_",    "unbind",
		"narrow",       "select",     "resolve_neg",
		"result_type",  "contiguous", "clone",
		"to",           "_to_copy",   "squeeze",
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i], name))
			return true;
	return false;
}

static void launch_for(const char *name)
{
	if (!strncmp(name, "aten::", 6) && strlen(name) < 60)
		launch(kernel_named(name), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void **begin(void **ret_context, const char *record)
{
	*ret_context = NULL;
	launch_for(name_of(record));
	return ret_context;
}

static void end(const char *record, void **context)
{
	(void)record;
	(void)context;
}

static void **begin_nothing(void **ret_context, const char *record)
{
	(void)record;
	*ret_context = NULL;
	return ret_context;
}

static void end_launching(const char *record, void **context)
{
	const char *name = name_of(record);

	(void)context;
	if (strlen(name) > 6 && !has_no_kernel(name + 6))
		launch_for(name);
}

static int find(struct dl_phdr_info *info, size_t size, void *ret_name)
{
	(void)size;
	*(const char **)ret_name = info->dlpi_name;
	return strstr(info->dlpi_name, "/libtorch_cpu.so") != NULL;
}

static int begin_with(struct torch_callback callback, const char *cuda)
{
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

__attribute__((visibility("default"))) int torch_launch_begin(const char *cuda);
int torch_launch_begin(const char *cuda)
{
	struct torch_callback callback = {begin, end, 1.0, {[TORCH_FUNCTION] = 1}, 0, 0, 0};

	return begin_with(callback, cuda);
}

__attribute__((visibility("default"))) int torch_launch_kernels(const char *cuda);
int torch_launch_kernels(const char *cuda)
{
	struct torch_callback callback = {
		begin_nothing, end_launching, 1.0, {[TORCH_FUNCTION] = 1}, 0, 0, 0};

	return begin_with(callback, cuda);
}
