/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/cupti_places.h"
#include <limits.h>
#include <string.h>
#include "base/util.h"

static const char *const libcupti_names[] = {
	"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7",
	"libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
	"libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so",
};

static bool in_folder(const char *folder, cupti_place_fn *fn, void *ctx)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(libcupti_names); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, libcupti_names[i]) >=
		    (int)sizeof(path))
			return false;
		if (fn(ctx, path, false))
			return true;
	}
	return false;
}

static bool below_folder(const char *folder, const char *below, cupti_place_fn *fn, void *ctx)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, below) < (int)sizeof(path) &&
	       in_folder(path, fn, ctx);
}

static bool in_toolkit(const char *root, cupti_place_fn *fn, void *ctx)
{
	static const char *const below[] = {"lib64", "extras/CUPTI/lib64",
					    "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		if (below_folder(root, below[i], fn, ctx))
			return true;
	return false;
}

bool cupti_places_listed(const char *list, cupti_place_fn *fn, void *ctx)
{
	while (*list) {
		size_t length = strcspn(list, ":");
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.*s", (int)MIN(length, sizeof(path) - 1), list);
		if (strstr(path, ".so") ? fn(ctx, path, true) : in_folder(path, fn, ctx))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

/* Layouts, seen from the folder of a CUDA library: the folder itself (toolkit, conda), pip
 * (nvidia/cuda_runtime/lib, nvidia/cu13/lib, torch/lib), CUPTI beside lib64 of a toolkit. */
bool cupti_places_near(const char *folder, cupti_place_fn *fn, void *ctx)
{
	static const char *const below[] = {
		".",
		"../../cuda_cupti/lib",
		"../../cu13/lib",
		"../../nvidia/cu13/lib",
		"../../nvidia/cuda_cupti/lib",
		"../extras/CUPTI/lib64",
		"../../../extras/CUPTI/lib64",
	};

	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		if (below_folder(folder, below[i], fn, ctx))
			return true;
	return false;
}

bool cupti_places_installed(cupti_place_fn *fn, void *ctx)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"};
	static const char *const roots[] = {"/usr/local/cuda",    "/usr/local/cuda-13",
					    "/usr/local/cuda-12", "/usr/local/cuda-11",
					    "/opt/cuda",          "/usr/lib/cuda"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *root = getenv(variables[i]);

		if (root && root[0] &&
		    (in_toolkit(root, fn, ctx) || below_folder(root, "lib", fn, ctx)))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (in_toolkit(roots[i], fn, ctx))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(libcupti_names); i++)
		if (fn(ctx, libcupti_names[i], false))
			return true;
	return false;
}

bool cupti_was_tried(struct cupti_tried *tried, void *library)
{
	for (size_t i = 0; i < tried->n; i++)
		if (tried->libraries[i] == library)
			return true;
	if (tried->n < ARRAY_SIZE(tried->libraries))
		tried->libraries[tried->n++] = library;
	return false;
}
