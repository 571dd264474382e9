/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/vendors.h"
#include <string.h>
#include "base/util.h"

bool image_is_vendors(const char *path)
{
	static const char *const begins[] = {
		"libcublas",   "libcudnn",  "libcufft", "libcurand",  "libcusolver",  "libcusparse",
		"libcutensor", "libcuda.",  "libcupti", "libnvperf",  "libnccl",      "libnvshmem",
		"libnpp",      "libnvjpeg", "libnvrtc", "libnvinfer", "libnvJitLink", "libmagma",
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}
