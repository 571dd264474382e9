/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_FUTEX_H
#define PROTON_COLLECT_FUTEX_H
/* Waiting without locks that user code could hold. Within one process.
 *   thread  any */
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until the word is woken, at most; at once where it is not `value` any more. errno stays. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &ts, NULL, 0);
	errno = saved;
}

/* All that wait for the word, which the caller has changed. errno stays. */
static inline void futex_wake(_Atomic uint32_t *word)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	errno = saved;
}

/* A counter of events: changes it too. */
static inline void futex_ring(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	futex_wake(word);
}

#endif
