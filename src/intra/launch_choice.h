/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_LAUNCH_CHOICE_H
#define PROTON_INTRA_LAUNCH_CHOICE_H
/* Which launches of kernels are kept, where not all can be: of each kernel the first ones, the slowest and the last, a third
 * each, and what there is an odd number of in this order.
 *
 *     launches of a kernel, as they began   1 2 │ 5 11 │ 17 18        6 of 18
 *                                         first │ slow │ last
 *
 * There is a limit of bytes for all. Where it is reached, the kernel that has most of them has one launch less, its fastest
 * one but for the first.
 *   threads  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"

struct choice_launch {
	uint64_t id;
	uint64_t began_ns; /* they may be told in another order */
	uint64_t took_ns;
	uint64_t bytes; /* blocks of a file system are added to it */
};

struct choice_kernel {
	uint64_t key;
	struct choice_launch *kept; /* in the order in which they began */
	size_t n, cap;
	uint64_t bytes;
	uint64_t *latest; /* when those began that ran, as they follow: of the last ones at least */
	size_t n_latest, cap_latest;
};

/* One is not kept, or not any more. */
typedef void choice_gone_fn(void *ctx, uint64_t id);

struct launch_choice {
	uint32_t most; /* launches of a kernel */
	uint64_t bytes_most, bytes;
	choice_gone_fn *gone;
	void *ctx;
	struct choice_kernel *kernels;
	size_t n, cap;
	struct idindex index;
};

/* Of a kernel, of which there was one more launch. 0, or -ENOMEM: it is not kept, and nothing is said of it. */
int launch_choice_add(struct launch_choice *c, uint64_t kernel, const struct choice_launch *launch);

/* A launch of a kernel ran, whether or not it will be told; in any order. */
void launch_choice_ran(struct launch_choice *c, uint64_t kernel, uint64_t began_ns);
/* May one be kept that began then and took so long? Not what would make room for others in any case: what it recorded need not be
 * read. Of bytes it is taken to have as many as others of its kernel. */
bool launch_choice_may_keep(const struct launch_choice *c, uint64_t kernel, uint64_t began_ns,
			    uint64_t took_ns);
void launch_choice_done(struct launch_choice *c);

#endif
