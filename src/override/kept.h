/* SPDX-License-Identifier: MIT */
#ifndef PROTON_OVERRIDE_KEPT_H
#define PROTON_OVERRIDE_KEPT_H
/* Modules that were rewritten before, with what there was to say of them: a file each in $XDG_CACHE_HOME/proton/modules, named by
 * the hash of all that they depend on, as core/rewritten.h has it.
 *
 * Files are written beside their place and moved there, so that nobody reads half of one, whoever else writes it; a sum at their
 * end tells those that something happened to. When all together have more than KEPT_MOST bytes, those go that were not read for
 * the longest time. What cannot be kept is made again.
 *   thread  one; any number of processes */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/buf.h"

#define KEPT_MOST (UINT64_C(512) << 20)

/* Two hashes of the same: that two modules have both is not going to happen. */
struct kept_key {
	uint64_t a, b;
};
struct kept_key kept_key(void);
void kept_key_add(struct kept_key *key, const void *data, size_t n);

/* What was written, or -errno; -EBADMSG: it is not what was written; -EPERM: somebody else may have written it. */
int kept_read(const struct kept_key *key, struct buf *ret);
/* 0 or -errno. */
int kept_write(const struct kept_key *key, const struct iovec *parts, int n);

#endif
