/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/collective.h"
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

bool collective_is_name(const char *name)
{
	static const char *const parts[] = {"ncclDevKernel",
					    "ncclKernel",
					    "ncclSymkDevKernel",
					    "rcclGenericKernel",
					    "cross_device_reduce", /* vLLM */
					    "shot_all_reduce_kernel",
					    "multimem_all_reduce_kernel",
					    "multimem_all_gather_kernel"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

uint8_t *collective_nodes(const struct session *s)
{
	uint8_t *nodes = calloc(s->n_nodes, 1);

	for (uint32_t i = 0; nodes && i < s->n_nodes; i++)
		nodes[i] = session_node_kind(s, i) == FRAME_KERNEL &&
			   collective_is_name(session_node_name(s, i));
	return nodes;
}
