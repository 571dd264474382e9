/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_JOIN_H
#define PROTON_COLLECT_TORCH_JOIN_H
/* Which modules a forward operator of PyTorch was in, for the backward operator that comes of it. The two
 * have the number of the forward thread and a sequence number in common. */
#include <stdint.h>

struct torch_link {
	uint64_t thread, sequence;
};

/* Before the first keep. */
void torch_join_init(void);
/* The forward operator ran below this node. The newest counts; old ones are forgotten. */
void torch_join_keep(const struct torch_link *link, uint32_t node);
/* The node that the forward operator ran below; 0: not known, or the root. */
uint32_t torch_join_find(const struct torch_link *link);
/* The node below `node` for the same modules (and lines of Python, where they were read); `node` itself where
 * nothing is known. */
uint32_t torch_join_below(const struct torch_link *link, uint32_t node);

#endif
