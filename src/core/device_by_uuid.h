/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DEVICE_BY_UUID_H
#define PROTON_CORE_DEVICE_BY_UUID_H
/* Which device of a session it is that a helper or a tape names by its uuid: they number devices otherwise. */
#include <stddef.h>
#include <stdint.h>

struct session;

/* uuid: text of up to `size` bytes, ended or not. SESSION_NONE: it is not known, or not yet. */
uint32_t device_by_uuid(const struct session *s, const char *uuid, size_t size);

#endif
