/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/rules.h"

/* Once is as it was meant, and a caching allocator keeps a few segments. */
#define LEAST_BLOCKS 8
#define LEAST_BYTES  1e6

struct unreleased {
	double blocks, bytes;
	uint32_t nodes[FINDING_NODES]; /* those with the most bytes */
	double most[FINDING_NODES];
	unsigned n;
};

static double or_nothing(double v)
{
	return isnan(v) ? 0 : v;
}

/* What was allocated at a node and not released. */
static void add_up(const struct session *s, uint32_t node, double *blocks, double *bytes)
{
	*blocks = *bytes = 0;
	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		const struct session_row *r = &s->rows[row];

		*blocks += or_nothing(session_row_number(s, r, METRIC_ALLOCS)) -
			   or_nothing(session_row_number(s, r, METRIC_FREES));
		*bytes += or_nothing(session_row_number(s, r, METRIC_MEM_LIVE)) +
			  or_nothing(session_row_number(s, r, METRIC_NOT_FREED));
	}
}

static void name_node(struct unreleased *u, uint32_t node, double bytes)
{
	unsigned at = MIN(u->n, (unsigned)FINDING_NODES - 1);

	if (u->n == FINDING_NODES && u->most[at] >= bytes)
		return;
	for (; at > 0 && u->most[at - 1] < bytes; at--) {
		u->most[at] = u->most[at - 1];
		u->nodes[at] = u->nodes[at - 1];
	}
	u->most[at] = bytes;
	u->nodes[at] = node;
	u->n = MIN(u->n + 1, (unsigned)FINDING_NODES);
}

static int say(struct findings *f, const struct unreleased *u)
{
	struct finding *finding = finding_add(f, FINDING_UNRELEASED_MEMORY, FINDING_MAYBE, 0);
	char blocks[HUMAN_MAX], bytes[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_count(blocks, u->blocks);
	human_bytes(bytes, u->bytes);
	finding_say(finding, "%s blocks, %sB, were never released", blocks, bytes);
	for (unsigned i = 0; i < u->n; i++)
		finding->nodes[i] = u->nodes[i];
	finding->n_nodes = u->n;
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct unreleased u = {0};
	double blocks, bytes;

	for (uint32_t i = 0; e->s->ended && i < e->s->n_nodes; i++) {
		if (session_node_kind(e->s, i) != FRAME_ALLOC)
			continue;
		add_up(e->s, i, &blocks, &bytes);
		if (blocks < LEAST_BLOCKS || bytes < LEAST_BYTES)
			continue;
		u.blocks += blocks;
		u.bytes += bytes;
		name_node(&u, i, bytes);
	}
	return u.n ? say(f, &u) : 0;
}

const struct rule rule_UNRELEASED_MEMORY = {
	.title = "memory is allocated again and again, and not released",
	.advice =
		"A program that goes on so has none left in the end: release it where it is no longer "
		"used. Allocators that keep memory for later, such as PyTorch's, do so on purpose.",
	.find = find,
};
