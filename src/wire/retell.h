/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_RETELL_H
#define PROTON_WIRE_RETELL_H
/* A process of a session as frames of its instance: for readers who come when it cannot be asked to say all again. Ids
 * are those of the session. When its operations ran is not told, and counted as not read back.
 *   errors  -errno
 *   thread  one */
#include "core/session.h"

/* All of it, from hello to bye, frame by frame to emit(), which returns 0 or -errno. */
int wire_retell(const struct session *s, uint32_t process,
		int (*emit)(void *arg, const void *frame, size_t n), void *arg);

#endif
