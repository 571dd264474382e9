/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_DESCRIPTORS_H
#define PROTON_LAUNCH_DESCRIPTORS_H
/* Letting go of the user's descriptors once the target has them. The reader of a pipe waits
 * until all its writers are gone, and a writer is not told that nobody reads while a reader is
 * left: neither shall wait for us.
 *
 *   errors  none: what cannot be closed stays open
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>

/* Close all but these. A standard descriptor becomes /dev/null. */
void descriptors_keep(const int *kept, size_t n);

/* Close what we were started with and the target has too, but where keep() says true.
 * Descriptors that we opened ourselves are left: all of ours have FD_CLOEXEC. A file on which
 * this process holds a record lock stays open: closing it would give the lock up (flock() and
 * OFD locks live on in the target). */
void descriptors_release(bool (*keep)(int fd, const void *ctx), const void *ctx);

#endif
