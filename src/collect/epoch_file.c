/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/epoch_file.h"
#include <inttypes.h>
#include <stdio.h>
#include "collect/internal.h"
#include "collect/whole_file.h"
#include "wire/wire.h"

/* As much as a buffer of Triton's own collector may have, in a directory that is memory as a rule. */
#define BYTES_MOST (UINT64_C(1) << 30)
_Static_assert(WIRE_WARPS_FILE_MAX <= WHOLE_FILE_NAME_MAX, "names of files");

static void file_name(uint32_t epoch, enum epoch_file kind, char name[WHOLE_FILE_NAME_MAX])
{
	switch (kind) {
	case EPOCH_FILE_SCOPES:
		snprintf(name, WHOLE_FILE_NAME_MAX, WIRE_WARPS_FILE, collector->instance, epoch);
		break;
	case EPOCH_FILE_KEPT:
		snprintf(name, WHOLE_FILE_NAME_MAX, WIRE_KEPT_FILE, collector->instance, epoch);
		break;
	}
}

int epoch_file_append(uint32_t epoch, enum epoch_file kind, const void *data, size_t size)
{
	char name[WHOLE_FILE_NAME_MAX];

	file_name(epoch, kind, name);
	return whole_file_append(name, data, size, BYTES_MOST);
}

void epoch_file_remove(uint32_t epoch, enum epoch_file kind)
{
	char name[WHOLE_FILE_NAME_MAX];

	file_name(epoch, kind, name);
	whole_file_remove(name);
}
