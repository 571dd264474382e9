/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "findings/rules.h"

#define COPIES_SHARE 0.05

/* Where copies take longer than kernels, and by how much. */
struct excess {
	double copies_ns, kernels_ns, bytes; /* bytes 0: not said */
	uint32_t nodes[FINDING_NODES];
	unsigned n_nodes;
};

/* A copy over a link: what stays on a device keeps none busy. */
static bool is_over_link(const struct evidence *e, const struct own *own)
{
	return own->kind == FRAME_COPY && !strcasestr(session_node_name(e->s, own->node), "DtoD");
}

/* What the excess costs at most: no more than the time in which nothing but copies ran, where that is known. */
static double price_of(const struct evidence *e, const struct excess *x)
{
	double excess = x->copies_ns - x->kernels_ns, copies, hidden;

	if (!session_overlap(e->s, SESSION_NONE, &copies, &hidden) || copies - hidden >= excess)
		return excess;
	return evidence_matters(e, copies - hidden) ? copies - hidden : 0;
}

static int say(const struct evidence *e, struct findings *f, const struct excess *x)
{
	double price = price_of(e, x);
	char copies[HUMAN_MAX], kernels[HUMAN_MAX], bytes[HUMAN_MAX];
	struct finding *finding;

	if (!(price > 0))
		return 0;
	finding = finding_add(f, FINDING_COPIES, FINDING_MAYBE, price);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_time_ns(copies, x->copies_ns);
	human_time_ns(kernels, x->kernels_ns);
	finding_say(finding, "%s for copies", copies);
	if (x->bytes > 0) {
		human_bytes(bytes, x->bytes);
		finding_say(finding, " (%sB)", bytes);
	}
	finding_say(finding, ", %s for kernels", kernels);
	finding_say_hidden(finding, e);
	finding->n_nodes = x->n_nodes;
	for (unsigned i = 0; i < x->n_nodes; i++)
		finding->nodes[i] = x->nodes[i];
	return 0;
}

/* ---- of the whole run ---- */

static bool has_more_copies(const struct evidence *e)
{
	double copies_ns = e->picked[FINDING_COPIES].sums.time_ns;

	return copies_ns > evidence_computing(e) && copies_ns >= COPIES_SHARE * e->whole_ns;
}

static int find_whole(const struct evidence *e, struct findings *f)
{
	const struct picked *picked = &e->picked[FINDING_COPIES];
	struct excess x = {.copies_ns = picked->sums.time_ns,
			   .kernels_ns = evidence_computing(e),
			   .bytes = picked->sums.bytes,
			   .n_nodes = picked->n_longest};

	for (unsigned i = 0; i < picked->n_longest; i++)
		x.nodes[i] = picked->longest[i]->node;
	return say(e, f, &x);
}

/* ---- by context: a phase that moves data which little is computed of ---- */

/* Of a node and all below it. */
struct balance {
	double copies_ns, kernels_ns;
	bool is_told; /* a node below it is */
};

static void balance_add(struct balance *to, const struct balance *more)
{
	to->copies_ns += more->copies_ns;
	to->kernels_ns += more->kernels_ns;
	to->is_told |= more->is_told;
}

static void balance_own(const struct evidence *e, struct balance *of)
{
	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];

		if (own->kind == FRAME_KERNEL || own->kind == FRAME_GRAPH_RUN)
			of[own->node].kernels_ns += own->sums.time_ns;
		else if (is_over_link(e, own))
			of[own->node].copies_ns += own->sums.time_ns;
	}
}

/* Its copies are longer than the kernels that run there, too. */
static bool is_unbalanced(const struct evidence *e, const struct balance *b)
{
	return b->kernels_ns > 0 && b->copies_ns >= COPIES_SHARE * e->whole_ns &&
	       evidence_matters(e, b->copies_ns - b->kernels_ns);
}

/* Name those with the most copies, in their order. */
static void excess_name(struct excess *x, const struct balance *of, uint32_t node)
{
	unsigned at = x->n_nodes;

	while (at > 0 && of[x->nodes[at - 1]].copies_ns < of[node].copies_ns)
		at--;
	if (at == FINDING_NODES)
		return;
	x->n_nodes = MIN(x->n_nodes + 1, (unsigned)FINDING_NODES);
	memmove(&x->nodes[at + 1], &x->nodes[at], (x->n_nodes - 1 - at) * sizeof(x->nodes[0]));
	x->nodes[at] = node;
}

/* Children have larger numbers than their parents. The innermost such contexts are told. */
static void sum_up(const struct evidence *e, struct balance *of, struct excess *x)
{
	for (uint32_t i = e->s->n_nodes; i-- > 1;) {
		uint32_t parent = e->s->nodes[i].parent;

		if (!of[i].is_told && is_unbalanced(e, &of[i])) {
			x->copies_ns += of[i].copies_ns;
			x->kernels_ns += of[i].kernels_ns;
			excess_name(x, of, i);
			of[i].is_told = true;
		}
		balance_add(&of[parent], &of[i]);
	}
}

static int find_contexts(const struct evidence *e, struct findings *f)
{
	_cleanup_(freep) struct balance *of = NULL;
	struct excess x = {.copies_ns = 0};

	if (!(e->picked[FINDING_COPIES].sums.time_ns >= COPIES_SHARE * e->whole_ns))
		return 0;
	of = calloc(e->s->n_nodes, sizeof(*of));
	if (!of)
		return -ENOMEM;
	balance_own(e, of);
	sum_up(e, of, &x);
	return x.n_nodes ? say(e, f, &x) : 0;
}

/* More time goes into moving data than into computing with it. */
static int find(const struct evidence *e, struct findings *f)
{
	return has_more_copies(e) ? find_whole(e, f) : find_contexts(e, f);
}

const struct rule rule_COPIES = {
	.title = "copies take longer than kernels",
	.advice =
		"Keep data on the device between steps, copy less of it (smaller types), or copy the "
		"next part while this one is computed (streams).",
	.picks = is_over_link,
	.find = find,
};
