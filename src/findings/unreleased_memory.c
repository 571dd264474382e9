/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/human.h"
#include "core/held.h"
#include "findings/rules.h"

/* Once is as it was meant, and a caching allocator keeps a few segments. */
#define LEAST_BLOCKS 8
#define LEAST_BYTES  1e6
#define TORCH_FILE   "libc10_cuda.so"

struct unreleased {
	double blocks, bytes;
	struct most most; /* bytes */
};

static int say(struct findings *f, const struct unreleased *u)
{
	struct finding *finding = finding_add(f, FINDING_UNRELEASED_MEMORY, FINDING_MAYBE, 0);
	char blocks[HUMAN_MAX], bytes[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_count(blocks, u->blocks);
	human_bytes(bytes, u->bytes);
	finding_say(finding, "%s blocks, %sB, were never released", blocks, bytes);
	finding_name_most(finding, &u->most);
	return 0;
}

/* PyTorch keeps what it has for later: what of it is too much, reserved says. */
static bool is_kept(const struct session *s, uint32_t node)
{
	const char *file = held_allocator(session_node_name(s, node));

	return is_of_tensors(s, node) || (file && !strncmp(file, TORCH_FILE, strlen(TORCH_FILE)));
}

static int find(const struct evidence *e, struct findings *f)
{
	struct unreleased u = {0};
	struct stepped of;
	double blocks, bytes;

	if (evidence_growing(e, &of)) /* that says it, and how fast */
		return 0;
	for (uint32_t i = 0; e->s->ended && i < e->s->n_nodes; i++) {
		if (session_node_kind(e->s, i) != FRAME_ALLOC || is_kept(e->s, i))
			continue;
		blocks = evidence_sum(e, i, METRIC_ALLOCS) - evidence_sum(e, i, METRIC_FREES);
		bytes = evidence_sum(e, i, METRIC_MEM_LIVE) + evidence_sum(e, i, METRIC_NOT_FREED);
		if (blocks < LEAST_BLOCKS || bytes < LEAST_BYTES)
			continue;
		u.blocks += blocks;
		u.bytes += bytes;
		most_insert(&u.most, i, bytes);
	}
	return u.most.n ? say(f, &u) : 0;
}

const struct rule rule_UNRELEASED_MEMORY = {
	.title = "memory is allocated again and again, and not released",
	.advice =
		"A program that goes on so has none left in the end: release it where it is no longer "
		"used. Allocators that keep memory for later, such as PyTorch's, do so on purpose.",
	.find = find,
};
