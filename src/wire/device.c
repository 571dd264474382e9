/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/device.h"
#include <string.h>

uint32_t wire_device_by_uuid(const struct session *s, const char *uuid)
{
	uint32_t id = strtab_find(s->strings, uuid, strlen(uuid)), i = 0;

	if (!*uuid || id == STRTAB_NONE)
		return SESSION_NONE;
	while (i < s->n_devices && s->devices[i].uuid != id)
		i++;
	return i < s->n_devices ? i : SESSION_NONE;
}
