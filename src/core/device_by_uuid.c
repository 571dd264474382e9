/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/device_by_uuid.h"
#include <string.h>
#include "core/session.h"

uint32_t device_by_uuid(const struct session *s, const char *uuid, size_t size)
{
	size_t len = strnlen(uuid, size), i = 0;
	uint32_t id = strtab_find(s->strings, uuid, len);

	if (!len || id == STRTAB_NONE)
		return SESSION_NONE;
	while (i < s->n_devices && s->devices[i].uuid != id)
		i++;
	return i < s->n_devices ? (uint32_t)i : SESSION_NONE;
}
