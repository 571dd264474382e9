/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/amdsmi_places.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"

static const char *const libraries[] = {"libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24",
					"libamd_smi.so.23", "libamd_smi.so"};
#define ROCM "/opt/rocm"

/* By ld.so, in the ROCm that the user names, in that of the packages. */
const char *amdsmi_place(size_t i, char *path, size_t size)
{
	const char *rocm = getenv("ROCM_PATH");

	if (i < ARRAY_SIZE(libraries))
		return libraries[i];
	if (i > ARRAY_SIZE(libraries) + 1)
		return NULL;
	if (i > ARRAY_SIZE(libraries) || !rocm || !*rocm)
		rocm = ROCM;
	snprintf(path, size, "%s/lib/libamd_smi.so", rocm);
	return path;
}
