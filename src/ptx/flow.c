/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/flow.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "ptx/dominators.h"

/* Beyond it loops are not looked for: blocks times loops. */
#define WITHIN_MOST ((size_t)64 << 20)

struct label {
	struct ptx_span name;
	uint32_t statement, block, scope;
};

struct labels {
	struct label *v; /* by name, scope and statement */
	size_t n, cap;
};

/* ---- statements ---- */

bool ptx_ends_thread(const struct ptx_statement *s)
{
	return s->kind == PTX_IS_INSTRUCTION &&
	       (ptx_opcode_is(s->opcode, "ret") || ptx_opcode_is(s->opcode, "exit"));
}

static bool is_branch(const struct ptx_statement *s)
{
	return s->kind == PTX_IS_INSTRUCTION &&
	       (ptx_opcode_is(s->opcode, "bra") || ptx_opcode_is(s->opcode, "brx"));
}

bool ptx_ends_block(const struct ptx_statement *s)
{
	return is_branch(s) || ptx_ends_thread(s) ||
	       (s->kind == PTX_IS_INSTRUCTION && ptx_opcode_is(s->opcode, "trap"));
}

const struct ptx_statement *ptx_block_end(const struct ptx_flow *f, uint32_t block)
{
	return &f->text->statement[f->block[block].first + f->block[block].n - 1];
}

/* ---- labels ---- */

static int compare_spans(struct ptx_span a, struct ptx_span b)
{
	int r = memcmp(a.at, b.at, MIN(a.n, b.n));

	return r ? r : COMPARE(a.n, b.n);
}

static int compare_places(const struct label *a, struct ptx_span name, uint32_t scope)
{
	int r = compare_spans(a->name, name);

	return r ? r : COMPARE(a->scope, scope);
}

static int compare_labels(const void *x, const void *y)
{
	const struct label *a = x, *b = y;
	int r = compare_places(a, b->name, b->scope);

	return r ? r : COMPARE(a->statement, b->statement);
}

static int add_label(struct labels *labels, const struct ptx_flow *f, uint32_t statement)
{
	if (ARRAY_ROOM(labels->v, labels->cap, labels->n + 1) < 0)
		return -ENOMEM;
	labels->v[labels->n++] = (struct label){.name = f->text->statement[statement].opcode,
						.statement = statement,
						.block = (uint32_t)f->n_blocks - 1,
						.scope = f->text->statement[statement].scope};
	return 0;
}

/* Braces have names of their own: that of the innermost one around a branch is meant. NULL: there is none. */
static const struct label *find_label(const struct labels *labels, const struct ptx_text *t,
				      struct ptx_span name, uint32_t scope)
{
	for (;; scope = t->statement[scope].scope) {
		size_t low = 0;

		BISECT(low, labels->n, i, compare_places(&labels->v[i], name, scope) < 0);
		if (low < labels->n && !compare_places(&labels->v[low], name, scope))
			return &labels->v[low];
		if (scope == PTX_NONE)
			return NULL;
	}
}

/* ---- blocks ---- */

static int add_block(struct ptx_flow *f, uint32_t first)
{
	if (ARRAY_ROOM(f->block, f->cap_blocks, f->n_blocks + 1) < 0)
		return -ENOMEM;
	f->block[f->n_blocks++] = (struct ptx_block){.first = first, .above = PTX_NONE};
	return 0;
}

static int find_blocks(struct ptx_flow *f, const struct ptx_function *fn, struct labels *labels)
{
	bool begins = true;
	int r = 0;

	for (uint32_t i = fn->first; i < fn->first + fn->n && r == 0; i++) {
		const struct ptx_statement *s = &f->text->statement[i];

		if (begins || s->kind == PTX_IS_LABEL)
			r = add_block(f, i);
		if (r == 0 && s->kind == PTX_IS_LABEL)
			r = add_label(labels, f, i);
		if (r == 0)
			f->block[f->n_blocks - 1].n++;
		begins = ptx_ends_block(s);
	}
	if (labels->n)
		qsort(labels->v, labels->n, sizeof(*labels->v), compare_labels);
	return r;
}

/* ---- edges ---- */

static int add_edge(struct ptx_flow *f, uint32_t from, uint32_t to, enum ptx_way way)
{
	if (ARRAY_ROOM(f->edge, f->cap_edges, f->n_edges + 1) < 0)
		return -ENOMEM;
	f->edge[f->n_edges++] = (struct ptx_edge){from, to, way};
	f->block[from].n_out++;
	return 0;
}

static bool is_blank_or_comma(char c)
{
	return isspace((unsigned char)c) || c == ',';
}

/* The next word of some operands, which get shorter by it; n is 0 behind the last. */
static struct ptx_span next_word(struct ptx_span *in)
{
	struct ptx_span word;

	while (in->n && is_blank_or_comma(*in->at)) {
		in->at++;
		in->n--;
	}
	word = (struct ptx_span){in->at, 0};
	while (in->n && !is_blank_or_comma(*in->at)) {
		in->at++;
		in->n--;
		word.n++;
	}
	return word;
}

static int add_edges_to(struct ptx_flow *f, const struct labels *labels, uint32_t from,
			struct ptx_span names, enum ptx_way way)
{
	const struct ptx_statement *s = ptx_block_end(f, from);
	int r = 0;

	for (struct ptx_span name; r == 0 && (name = next_word(&names)).n;) {
		const struct label *to = find_label(labels, f->text, name, s->scope);

		if (to)
			r = add_edge(f, from, to->block, way);
		else
			f->n_unclear++;
	}
	return r;
}

/* TABLE: .branchtargets A, B, …; */
static int add_edges_of_table(struct ptx_flow *f, const struct labels *labels, uint32_t from)
{
	const struct ptx_statement *s = ptx_block_end(f, from), *targets;
	struct ptx_span operands = s->operands, name;
	const struct label *table;

	next_word(&operands);
	name = next_word(&operands);
	table = find_label(labels, f->text, name, s->scope);
	targets = table && table->statement + 1 < f->text->n_statements
			  ? &f->text->statement[table->statement + 1]
			  : NULL;
	if (!targets || !ptx_span_is(targets->opcode, ".branchtargets")) {
		f->n_unclear++;
		return 0;
	}
	return add_edges_to(f, labels, from, targets->operands, PTX_BY_TABLE);
}

static int add_edges(struct ptx_flow *f, const struct labels *labels, uint32_t from)
{
	const struct ptx_statement *s = ptx_block_end(f, from);
	bool falls = !ptx_ends_block(s) || s->guard.n;
	int r = 0;

	f->block[from].out = (uint32_t)f->n_edges;
	if (is_branch(s) && ptx_opcode_is(s->opcode, "brx"))
		r = add_edges_of_table(f, labels, from);
	else if (is_branch(s))
		r = add_edges_to(f, labels, from, s->operands,
				 s->guard.n ? PTX_BRANCHES : PTX_JUMPS);
	if (r == 0 && falls && from + 1 < f->n_blocks)
		r = add_edge(f, from, from + 1, PTX_FALLS);
	return r;
}

/* ---- dominators ---- */

/* Blocks as a search in depth comes to them, and what it finds. in: where edges to a block come from. */
struct tree {
	uint32_t n;
	uint32_t *block, *from; /* by number */
	uint32_t *number;       /* by block; PTX_NONE: it does not come there */
	uint32_t *in, *in_at;
	struct dominators dominators;
	uint32_t *room;
};

static int tree_make(const struct ptx_flow *f, struct tree *t)
{
	size_t n = f->n_blocks;

	t->room = calloc(4 * n + 1 + f->n_edges, sizeof(*t->room));
	if (!t->room)
		return -ENOMEM;
	t->block = t->room;
	t->from = t->block + n;
	t->number = t->from + n;
	t->in_at = t->number + n;
	t->in = t->in_at + n + 1;
	for (size_t i = 0; i < n; i++)
		t->number[i] = PTX_NONE;
	return 0;
}

static void tree_done(struct tree *t)
{
	dominators_done(&t->dominators);
	free(t->room);
}

static void come_to(struct tree *t, uint32_t block, uint32_t from)
{
	t->number[block] = t->n;
	t->from[t->n] = from;
	t->block[t->n++] = block;
}

/* Ranks are given as blocks are left, the last one's first. next: of each block, by how many edges it was left. */
static void search_blocks(struct ptx_flow *f, struct tree *t, uint32_t *stack, uint32_t *next)
{
	uint32_t rank = (uint32_t)f->n_blocks;
	size_t depth = 0;

	come_to(t, 0, 0);
	for (stack[depth++] = 0; depth;) {
		uint32_t b = stack[depth - 1], to;

		if (next[b] == f->block[b].n_out) {
			f->block[b].rank = --rank;
			depth--;
			continue;
		}
		to = f->edge[f->block[b].out + next[b]++].to;
		if (t->number[to] == PTX_NONE) {
			come_to(t, to, t->number[b]);
			stack[depth++] = to;
		}
	}
}

/* Edges by where they lead, of blocks that are come to. */
static void turn_round(const struct ptx_flow *f, struct tree *t)
{
	const struct ptx_edge *e;

	for (size_t i = 0; i < f->n_edges; i++)
		if (t->number[f->edge[i].from] != PTX_NONE)
			t->in_at[t->number[f->edge[i].to]]++;
	for (uint32_t i = 0; i < t->n; i++)
		t->in_at[i + 1] += t->in_at[i];
	for (size_t i = f->n_edges; i-- > 0;) {
		e = &f->edge[i];
		if (t->number[e->from] != PTX_NONE)
			t->in[--t->in_at[t->number[e->to]]] = t->number[e->from];
	}
}

static int find_dominators(struct ptx_flow *f, struct tree *t)
{
	uint32_t *room = calloc(f->n_blocks, 2 * sizeof(*room));
	int r;

	if (!room)
		return -ENOMEM;
	search_blocks(f, t, room, room + f->n_blocks);
	free(room);
	turn_round(f, t);
	r = dominators_find(
		&(struct search){.n = t->n, .from = t->from, .in_at = t->in_at, .in = t->in},
		&t->dominators);
	for (uint32_t i = 0; i < t->n && r == 0; i++)
		f->block[t->block[i]].above = t->block[t->dominators.above[i]];
	return r;
}

/* ---- loops ---- */

static struct ptx_loop *loop_of(struct ptx_flow *f, uint32_t header)
{
	struct ptx_loop *l;

	for (size_t i = 0; i < f->n_loops; i++)
		if (f->loop[i].header == header)
			return &f->loop[i];
	if (ARRAY_ROOM(f->loop, f->cap_loops, f->n_loops + 1) < 0)
		return NULL;
	l = &f->loop[f->n_loops];
	*l = (struct ptx_loop){.header = header, .within = calloc(f->n_blocks, 1)};
	if (!l->within)
		return NULL;
	f->n_loops++;
	l->within[header] = 1;
	l->n_blocks = 1;
	return l;
}

static void put_within(struct ptx_loop *l, uint32_t block, uint32_t *stack, size_t *depth)
{
	if (l->within[block])
		return;
	l->within[block] = 1;
	l->n_blocks++;
	stack[(*depth)++] = block;
}

static void fill(const struct tree *t, struct ptx_loop *l, uint32_t from, uint32_t *stack)
{
	size_t depth = 0;

	for (put_within(l, from, stack, &depth); depth;) {
		uint32_t b = t->number[stack[--depth]];

		for (uint32_t i = t->in_at[b]; i < t->in_at[b + 1]; i++)
			put_within(l, t->block[t->in[i]], stack, &depth);
	}
}

static int find_loops(struct ptx_flow *f, const struct tree *t, uint32_t *stack)
{
	for (size_t i = 0; i < f->n_edges; i++) {
		const struct ptx_edge *e = &f->edge[i];
		struct ptx_loop *l;

		if (f->block[e->from].above == PTX_NONE ||
		    f->block[e->to].rank > f->block[e->from].rank)
			continue;
		if (!dominates(&t->dominators, t->number[e->to], t->number[e->from])) {
			f->n_unclear++;
			continue;
		}
		if (f->n_loops * f->n_blocks > WITHIN_MOST)
			return -E2BIG;
		l = loop_of(f, e->to);
		if (!l)
			return -ENOMEM;
		fill(t, l, e->from, stack);
	}
	return 0;
}

static int compare_loops(const void *x, const void *y)
{
	const struct ptx_loop *a = x, *b = y;

	return a->n_blocks != b->n_blocks ? COMPARE(b->n_blocks, a->n_blocks)
					  : COMPARE(a->header, b->header);
}

static int add_loops(struct ptx_flow *f, const struct tree *t)
{
	_cleanup_(freep) uint32_t *stack = calloc(f->n_blocks, sizeof(*stack));
	int r = stack ? find_loops(f, t, stack) : -ENOMEM;

	if (f->n_loops)
		qsort(f->loop, f->n_loops, sizeof(*f->loop), compare_loops);
	return r;
}

static int find_shape(struct ptx_flow *f)
{
	struct tree t = {0};
	int r = tree_make(f, &t);

	if (r == 0)
		r = find_dominators(f, &t);
	if (r == 0)
		r = add_loops(f, &t);
	tree_done(&t);
	return r;
}

int ptx_flow_read(const struct ptx_text *text, const struct ptx_function *fn, struct ptx_flow *ret)
{
	struct labels labels = {0};
	int r;

	*ret = (struct ptx_flow){.text = text};
	r = find_blocks(ret, fn, &labels);
	for (uint32_t i = 0; i < ret->n_blocks && r == 0; i++)
		r = add_edges(ret, &labels, i);
	free(labels.v);
	if (r == 0 && ret->n_blocks)
		r = find_shape(ret);
	return r;
}

void ptx_flow_done(struct ptx_flow *f)
{
	for (size_t i = 0; i < f->n_loops; i++)
		free(f->loop[i].within);
	free(f->loop);
	free(f->edge);
	free(f->block);
	*f = (struct ptx_flow){0};
}
