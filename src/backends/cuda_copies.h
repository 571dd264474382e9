/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUDA_COPIES_H
#define PROTON_BACKENDS_CUDA_COPIES_H
/* What kernels leave in a device's memory, brought to the host behind them and read later: no thread waits for a stream.
 *
 *     stream   … kernel ── copy ── event ── what the program launches next …
 *     ring     │ taken │ copied │ being copied │ free …        in memory of the host, which copies run into by themselves
 *
 * Copies are taken in the order in which they were begun, so that one in a slow stream keeps those behind it waiting. The
 * memory that is read may be the program's again as soon as the stream is past the copy, as with allocators that work in the
 * order of streams.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose a copy is: handed on. */
struct cuda_copy_tag {
	void *what;
	uint32_t numbers[4];
};

struct cuda_copied {
	const void *data; /* until the function returns; NULL: it failed, or its context is gone */
	size_t size;
	int32_t device;
	struct cuda_copy_tag tag;
};

/* The bytes at `from`, behind what was launched into the stream.
 *   errors  -EAGAIN: there is room once some were taken; -EBUSY: the stream is being captured; -EINVAL: another reason, in
 *           *ret_why as with -EBUSY */
int cuda_copy_begin(void *stream, uint64_t from, size_t size, const struct cuda_copy_tag *tag,
		    const char **ret_why);
/* Hands those that are done to fn, and waits so long for the next one; no more than there are now, so that it ends where others
 * begin as many as are taken. True: there is none any more. Not from within fn. */
typedef void cuda_copied_fn(const struct cuda_copied *c);
bool cuda_copies_take(cuda_copied_fn *fn, uint32_t wait_ms);
/* How many were begun and not taken. */
size_t cuda_copies_pending(void);

/* Is this where copies go, which the driver was told of? It is no memory of the program. */
bool cuda_copies_owns(uint64_t address);
/* A context goes away: what has not been copied by now is lost. */
void cuda_copies_forget(void);
/* In a fork child: they are the parent's. */
void cuda_copies_forked(void);

#endif
