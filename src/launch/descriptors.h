/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_DESCRIPTORS_H
#define PROTON_LAUNCH_DESCRIPTORS_H
/* Letting go of the user's descriptors once the target has them: who reads a pipe waits until all
 * writers are gone, who writes one learns late that nobody reads, and neither shall wait for us.
 *
 *   errors  none: what cannot be closed stays open
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>

/* Close all but these. A standard descriptor becomes /dev/null. */
void descriptors_keep(const int *kept, size_t n);

/* Close what we were started with and the target has too, but where keep() says true. Ours are told
 * from these by FD_CLOEXEC, which all of ours have. A file on which this process holds a record lock
 * stays open: closing it would give the lock up (flock() and OFD locks live on in the target). */
void descriptors_release(bool (*keep)(int fd, const void *ctx), const void *ctx);

#endif
