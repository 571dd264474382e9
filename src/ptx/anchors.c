/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/anchors.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

enum { WAITING_MOST = 8 /* instructions of a loop that does nothing but wait */ };

struct planner {
	const struct ptx_flow *flow;
	const struct ptx_rules *rules;
	struct ptx_plan *plan;
	uint8_t *
		is_within; /* by statement of the function: it stands in a group of wgmma that began before it; and one more */
	uint8_t *waits;    /* by block: of a loop that waits */
	uint32_t first, n; /* statements */
};

/* ---- kinds of instructions ---- */

/* Opcodes begin so; behind "!": are none, though they begin as one that follows. */
static const struct kind {
	unsigned gap; /* other instructions that may stand between two of a group */
	const char *opcodes[10];
} kinds[N_PTX_ANCHORS] = {
	[PTX_BAR] = {0,
		     {"bar.sync", "bar.red", "barrier.sync", "barrier.red", "barrier.cta.sync",
		      "barrier.cta.red", "barrier.cluster.wait", "barrier.cluster.arrive"}},
	[PTX_WAIT] = {0,
		      {"cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk.wait_group",
		       "wgmma.wait_group", "mbarrier.try_wait", "mbarrier.test_wait",
		       "tcgen05.wait", "griddepcontrol.wait"}},
	[PTX_MMA] = {4, {"mma", "wmma.mma"}},
	[PTX_TMA] = {8,
		     {"!cp.async.bulk.wait_group", "!cp.async.bulk.commit_group",
		      "!cp.async.bulk.prefetch", "cp.async.bulk", "cp.reduce.async.bulk"}},
	[PTX_LD] = {4, {"ld.global", "ld.volatile.global", "ld.relaxed.global"}},
	[PTX_ST] = {4, {"st.global", "st.volatile.global", "st.relaxed.global"}},
};

static bool is_opcode_of(const struct kind *kind, struct ptx_span opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind->opcodes) && kind->opcodes[i]; i++) {
		const char *begin = kind->opcodes[i];

		if (ptx_opcode_is(opcode, begin + (*begin == '!')))
			return *begin != '!';
	}
	return false;
}

static bool is_fence(const struct ptx_statement *s)
{
	return s->kind == PTX_IS_INSTRUCTION && ptx_opcode_is(s->opcode, "wgmma.fence");
}

static bool is_commit(const struct ptx_statement *s)
{
	return s->kind == PTX_IS_INSTRUCTION && ptx_opcode_is(s->opcode, "wgmma.commit_group");
}

/* ---- names ---- */

static struct ptx_span base_of(struct ptx_span path)
{
	const char *slash = path.n ? memrchr(path.at, '/', path.n) : NULL;

	return slash ? (struct ptx_span){slash + 1, (size_t)(path.at + path.n - slash - 1)} : path;
}

uint32_t ptx_source_of(const struct ptx_text *t, const struct ptx_statement *s,
		       struct ptx_span *ret_file)
{
	const struct ptx_source *p = s->place == PTX_NONE ? NULL : &t->place[s->place];

	if (!p)
		return 0;
	*ret_file = base_of(ptx_text_file(t, p->in_line ? p->in_file : p->file));
	return ret_file->n ? (p->in_line ? p->in_line : p->line) : 0;
}

static bool has_name(const struct planner *p, const char *name)
{
	for (size_t i = 0; i < p->plan->n_scopes; i++)
		if (!strcmp(p->plan->scope[i].name, name))
			return true;
	return false;
}

/* "loop@matmul.py:57"; "loop@ptx:123" where the source is not known. */
static char *name_at(const struct planner *p, const char *word, uint32_t statement)
{
	const struct ptx_statement *s = &p->flow->text->statement[statement];
	struct ptx_span file;
	uint32_t line = ptx_source_of(p->flow->text, s, &file);
	char *name;

	if (!line)
		file = (struct ptx_span){"ptx", strlen("ptx")};
	if (asprintf(&name, "%s@%.*s:%u", word, (int)MIN(file.n, 64), file.at,
		     line ? line : s->row) < 0)
		return NULL;
	return name;
}

/* Loops are told apart, though they may be of one line. Steals the name. */
static char *name_apart(const struct planner *p, char *name)
{
	char *other = name;

	for (unsigned i = 2; other && has_name(p, other); i++) {
		if (other != name)
			free(other);
		if (asprintf(&other, "%s#%u", name, i) < 0)
			other = NULL;
	}
	if (other != name)
		free(name);
	return other;
}

/* ---- scopes and points ---- */

/* Steals the name, which may be NULL: there is no memory. 1: the scope was added; 0: there are enough. */
static int add_scope(struct planner *p, enum ptx_anchor anchor, char *name, uint32_t statement)
{
	struct ptx_plan *plan = p->plan;

	if (name && plan->n_scopes == p->rules->limit) {
		plan->n_over++;
		free(name);
		return 0;
	}
	if (!name || ARRAY_ROOM(plan->scope, plan->cap_scopes, plan->n_scopes + 1) < 0) {
		free(name);
		return -ENOMEM;
	}
	plan->scope[plan->n_scopes++] = (struct ptx_scope){anchor, name, statement};
	return 1;
}

/* Of the last scope. */
static int add_point(struct planner *p, enum ptx_where where, uint32_t at, bool leaves)
{
	struct ptx_plan *plan = p->plan;

	if (ARRAY_ROOM(plan->point, plan->cap_points, plan->n_points + 1) < 0)
		return -ENOMEM;
	plan->point[plan->n_points++] =
		(struct ptx_point){where, at, (uint32_t)plan->n_scopes - 1, leaves};
	return 0;
}

static const struct ptx_rule *rule_of(const struct planner *p, enum ptx_anchor anchor)
{
	for (size_t i = 0; i < p->rules->n; i++)
		if (p->rules->rule[i].anchor == anchor)
			return &p->rules->rule[i];
	return NULL;
}

/* ---- groups of wgmma ---- */

/* Within a group at the begin of each block, if it is at the end of one that leads to it. */
static bool pass_on(struct planner *p, uint8_t *at_begin)
{
	const struct ptx_flow *f = p->flow;
	bool has_changed = false;

	for (uint32_t b = 0; b < f->n_blocks; b++) {
		const struct ptx_block *block = &f->block[b];
		uint8_t is = at_begin[b];

		for (uint32_t i = block->first; i < block->first + block->n; i++) {
			p->is_within[i - p->first] = is;
			is = is_fence(&f->text->statement[i]) ||
			     (is && !is_commit(&f->text->statement[i]));
		}
		for (uint32_t e = block->out; e < block->out + block->n_out; e++) {
			has_changed |= is && !at_begin[f->edge[e].to];
			at_begin[f->edge[e].to] |= is;
		}
	}
	return has_changed;
}

static int find_groups(struct planner *p)
{
	uint8_t *at_begin = calloc(p->flow->n_blocks + 1, 1);

	p->is_within = calloc((size_t)p->n + 1, 1);
	if (!at_begin || !p->is_within) {
		free(at_begin);
		return -ENOMEM;
	}
	while (pass_on(p, at_begin))
		;
	free(at_begin);
	return 0;
}

static bool is_within_before(const struct planner *p, uint32_t statement)
{
	return p->is_within[statement - p->first];
}

static bool is_within_behind(const struct planner *p, uint32_t statement)
{
	const struct ptx_statement *s = &p->flow->text->statement[statement];

	return is_fence(s) || (is_within_before(p, statement) && !is_commit(s));
}

/* Groups that it would cut it goes around. False: not within the block. */
static bool go_around(const struct planner *p, const struct ptx_block *block, uint32_t *from,
		      uint32_t *to)
{
	uint32_t end = block->first + block->n;

	while (*from > block->first && is_within_before(p, *from))
		--*from;
	while (*to + 1 < end && is_within_behind(p, *to))
		++*to;
	return !is_within_before(p, *from) && !is_within_behind(p, *to);
}

/* ---- loops ---- */

static bool is_left_by(const struct ptx_loop *l, const struct ptx_edge *e)
{
	return l->within[e->from] && !l->within[e->to];
}

static bool is_entered_by(const struct ptx_flow *f, const struct ptx_loop *l,
			  const struct ptx_edge *e)
{
	return e->to == l->header && !l->within[e->from] && f->block[e->from].above != PTX_NONE;
}

static bool is_back(const struct ptx_loop *l, const struct ptx_edge *e)
{
	return e->to == l->header && l->within[e->from];
}

static bool is_end_within(const struct planner *p, uint32_t block)
{
	const struct ptx_block *b = &p->flow->block[block];

	return is_within_behind(p, b->first + b->n - 1);
}

/* Can records stand on all of its edges? */
static bool is_cut_off(const struct planner *p, const struct ptx_loop *l, bool turns)
{
	const struct ptx_flow *f = p->flow;

	for (size_t i = 0; i < f->n_edges; i++) {
		const struct ptx_edge *e = &f->edge[i];

		if ((is_left_by(l, e) || is_entered_by(f, l, e) || (turns && is_back(l, e))) &&
		    (e->way == PTX_BY_TABLE || is_end_within(p, e->from)))
			return true;
	}
	return false;
}

static int add_thread_ends(struct planner *p, const struct ptx_loop *l)
{
	const struct ptx_flow *f = p->flow;
	int r = 0;

	for (uint32_t b = 0; b < f->n_blocks && r == 0; b++)
		if (l->within[b] && ptx_ends_thread(ptx_block_end(f, b)))
			r = add_point(p, PTX_AT_END, f->block[b].first + f->block[b].n - 1, true);
	return r;
}

/* The points of its edges: turns: of each turn, else of all of them. */
static int add_edges(struct planner *p, const struct ptx_loop *l, bool turns)
{
	const struct ptx_flow *f = p->flow;
	int r = 0;

	if (!turns && !l->header)
		r = add_point(p, PTX_AT_START, 0, false);
	for (uint32_t i = 0; i < f->n_edges && r == 0; i++) {
		const struct ptx_edge *e = &f->edge[i];

		if (!turns && is_entered_by(f, l, e))
			r = add_point(p, PTX_ON, i, false);
		else if (is_left_by(l, e) || (turns && is_back(l, e)))
			r = add_point(p, PTX_ON, i, true);
	}
	return r;
}

static int add_turns(struct planner *p, const struct ptx_loop *l)
{
	uint32_t first = p->flow->block[l->header].first;
	bool is_label = p->flow->text->statement[first].kind == PTX_IS_LABEL;
	int r = add_point(p, is_label ? PTX_BEHIND : PTX_BEFORE, first, false);

	return r < 0 ? r : add_edges(p, l, true);
}

/* The statement that tells where a loop is: its first with a place. */
static uint32_t begin_of(const struct planner *p, const struct ptx_loop *l)
{
	const struct ptx_block *b = &p->flow->block[l->header];

	for (uint32_t i = b->first; i < b->first + b->n; i++)
		if (p->flow->text->statement[i].kind == PTX_IS_INSTRUCTION)
			return i;
	return b->first;
}

static int add_loop(struct planner *p, const struct ptx_loop *l, enum ptx_anchor anchor,
		    const char *word)
{
	uint32_t begin = begin_of(p, l);
	bool turns = anchor == PTX_LOOP_ITER;
	char *name;
	int r;

	if (is_cut_off(p, l, turns) || (turns && is_within_before(p, begin))) {
		p->plan->n_within++;
		return 0;
	}
	name = name_at(p, word, begin);
	if (anchor != PTX_WAIT) /* as those that are no loops */
		name = name_apart(p, name);
	r = add_scope(p, anchor, name, begin);
	if (r == 1)
		r = turns ? add_turns(p, l) : add_edges(p, l, false);
	else
		return r;
	return r < 0 ? r : add_thread_ends(p, l);
}

/* Nothing but waiting for an mbarrier? */
static bool is_waiting(const struct planner *p, const struct ptx_loop *l)
{
	const struct ptx_flow *f = p->flow;
	unsigned n = 0, n_waits = 0;

	for (uint32_t b = 0; b < f->n_blocks; b++)
		for (uint32_t i = 0; l->within[b] && i < f->block[b].n; i++) {
			const struct ptx_statement *s = &f->text->statement[f->block[b].first + i];

			n += s->kind == PTX_IS_INSTRUCTION;
			n_waits += ptx_opcode_is(s->opcode, "mbarrier.try_wait") ||
				   ptx_opcode_is(s->opcode, "mbarrier.test_wait");
		}
	return n_waits && n <= WAITING_MOST;
}

static int add_loops(struct planner *p)
{
	const struct ptx_flow *f = p->flow;
	int r = 0;

	p->waits = calloc(f->n_blocks + 1, 1);
	if (!p->waits)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_loops && r == 0; i++) {
		const struct ptx_loop *l = &f->loop[i];
		bool waits = is_waiting(p, l);

		for (uint32_t b = 0; b < f->n_blocks && waits; b++)
			p->waits[b] |= l->within[b];
		if (waits && rule_of(p, PTX_WAIT))
			r = add_loop(p, l, PTX_WAIT, "wait");
		if (!waits && rule_of(p, PTX_LOOP))
			r = add_loop(p, l, PTX_LOOP, "loop");
		if (r == 0 && !waits && rule_of(p, PTX_LOOP_ITER))
			r = add_loop(p, l, PTX_LOOP_ITER, "iter");
	}
	return r;
}

/* ---- groups within a block ---- */

/* What a rule finds in a block. */
struct group {
	uint32_t from, to; /* statements */
	unsigned n_since;  /* instructions since `to` */
	bool is_open;
};

static bool is_of_file(struct ptx_span file, const char *asked)
{
	size_t n = strlen(asked);

	return file.n >= n && !memcmp(file.at + file.n - n, asked, n) &&
	       (file.n == n || file.at[file.n - n - 1] == '/');
}

static bool is_of_lines(const struct ptx_text *t, const struct ptx_statement *s,
			const struct ptx_rule *rule)
{
	const struct ptx_source *p = s->place == PTX_NONE ? NULL : &t->place[s->place];

	if (!p)
		return false;
	return (p->line >= rule->first && p->line <= rule->last &&
		is_of_file(ptx_text_file(t, p->file), rule->text)) ||
	       (p->in_line >= rule->first && p->in_line <= rule->last &&
		is_of_file(ptx_text_file(t, p->in_file), rule->text));
}

static bool is_matched(const struct ptx_statement *s, const struct ptx_rule *rule)
{
	char text[512];
	int n = (int)(s->operands.n ? (size_t)(s->operands.at + s->operands.n - s->opcode.at)
				    : s->opcode.n);

	snprintf(text, sizeof(text), "%.*s", n, s->opcode.at);
	return !regexec(&rule->regex, text, 0, NULL, 0);
}

static bool is_found(const struct planner *p, const struct ptx_statement *s,
		     const struct ptx_rule *rule)
{
	if (s->kind != PTX_IS_INSTRUCTION)
		return false;
	switch (rule->anchor) {
	case PTX_LOC:
		return is_of_lines(p->flow->text, s, rule);
	case PTX_MATCH:
		return is_matched(s, rule);
	case PTX_WGMMA:
		return ptx_opcode_is(s->opcode, "wgmma.fence") ||
		       ptx_opcode_is(s->opcode, "wgmma.mma_async") ||
		       ptx_opcode_is(s->opcode, "wgmma.commit_group");
	default:
		return is_opcode_of(&kinds[rule->anchor], s->opcode);
	}
}

static char *name_of_group(const struct planner *p, const struct ptx_rule *rule, uint32_t from)
{
	static const char *const words[] = {
#define _(id, word, takes, what) word,
		PTX_ANCHORS(_)
#undef _
	};
	struct ptx_span file =
		base_of((struct ptx_span){rule->text, rule->text ? strlen(rule->text) : 0});
	char *name;
	int n;

	if (rule->anchor == PTX_LABEL)
		return strdup(rule->text);
	if (rule->anchor != PTX_LOC)
		return name_at(p, words[rule->anchor], from);
	n = rule->first == rule->last
		    ? asprintf(&name, "%.*s:%u", (int)file.n, file.at, rule->first)
		    : asprintf(&name, "%.*s:%u-%u", (int)file.n, file.at, rule->first, rule->last);
	return n < 0 ? NULL : name;
}

static int close_group(struct planner *p, const struct ptx_block *block,
		       const struct ptx_rule *rule, struct group *g)
{
	uint32_t from = g->from, to = g->to;
	int r;

	if (!g->is_open)
		return 0;
	g->is_open = false;
	if (!go_around(p, block, &from, &to)) {
		p->plan->n_within++;
		return 0;
	}
	/* Where a branch ends it, it is left before. */
	while (to > from && ptx_ends_block(&p->flow->text->statement[to]))
		to--;
	if (ptx_ends_block(&p->flow->text->statement[to]))
		return 0;
	r = add_scope(p, rule->anchor, name_of_group(p, rule, g->from), from);
	if (r == 1)
		r = add_point(p, PTX_BEFORE, from, false);
	else
		return r;
	return r < 0 ? r : add_point(p, PTX_BEHIND, to, true);
}

/* Groups of what a rule finds, one after another. */
static int add_groups_of(struct planner *p, const struct ptx_block *block,
			 const struct ptx_rule *rule)
{
	const struct ptx_text *t = p->flow->text;
	/* Of lines, compilers mix what they made. */
	unsigned gap = rule->anchor == PTX_LOC ? UINT32_MAX : kinds[rule->anchor].gap;
	struct group g = {0};
	int r = 0;

	for (uint32_t i = block->first; i < block->first + block->n && r == 0; i++) {
		const struct ptx_statement *s = &t->statement[i];

		if (is_found(p, s, rule)) {
			if (!g.is_open)
				g.from = i;
			g.is_open = true;
			g.to = i;
			g.n_since = 0;
		} else if (s->kind == PTX_IS_INSTRUCTION && g.is_open && ++g.n_since > gap) {
			/* What lies between is of a group of wgmma. */
			if (rule->anchor != PTX_WGMMA || !is_within_before(p, i))
				r = close_group(p, block, rule, &g);
		}
		if (r == 0 && g.is_open && rule->anchor == PTX_WGMMA && is_commit(s))
			r = close_group(p, block, rule, &g);
	}
	return r < 0 ? r : close_group(p, block, rule, &g);
}

/* From a label to the end of its block. */
static int add_label(struct planner *p, const struct ptx_block *block, const struct ptx_rule *rule)
{
	struct group g = {
		.from = block->first + 1, .to = block->first + block->n - 1, .is_open = true};

	if (!ptx_span_is(p->flow->text->statement[block->first].opcode, rule->text) || block->n < 2)
		return 0;
	return close_group(p, block, rule, &g);
}

static int add_groups(struct planner *p, const struct ptx_rule *rule)
{
	const struct ptx_flow *f = p->flow;
	int r = 0;

	for (uint32_t b = 0; b < f->n_blocks && r == 0; b++) {
		if (rule->anchor == PTX_LABEL)
			r = add_label(p, &f->block[b], rule);
		else if (rule->anchor != PTX_WAIT || !p->waits[b])
			r = add_groups_of(p, &f->block[b], rule);
	}
	return r;
}

static bool is_of_loops(enum ptx_anchor anchor)
{
	return anchor == PTX_FUNC || anchor == PTX_LOOP || anchor == PTX_LOOP_ITER;
}

static int add_all(struct planner *p)
{
	int r = rule_of(p, PTX_FUNC) ? add_scope(p, PTX_FUNC, strdup("func"), PTX_NONE) : 0;

	p->plan->has_func = r == 1;
	if (r >= 0)
		r = find_groups(p);
	if (r == 0)
		r = add_loops(p);
	/* Those of lines are around others. */
	for (size_t i = 0; i < p->rules->n && r == 0; i++)
		if (p->rules->rule[i].anchor == PTX_LOC || p->rules->rule[i].anchor == PTX_LABEL)
			r = add_groups(p, &p->rules->rule[i]);
	for (size_t i = 0; i < p->rules->n && r == 0; i++)
		if (!is_of_loops(p->rules->rule[i].anchor) && p->rules->rule[i].anchor != PTX_LOC &&
		    p->rules->rule[i].anchor != PTX_LABEL)
			r = add_groups(p, &p->rules->rule[i]);
	return r;
}

int ptx_plan_make(const struct ptx_flow *flow, const struct ptx_rules *rules, struct ptx_plan *ret)
{
	struct planner p = {.flow = flow, .rules = rules, .plan = ret};
	int r;

	*ret = (struct ptx_plan){0};
	if (!flow->n_blocks)
		return 0;
	p.first = flow->block[0].first;
	p.n = flow->block[flow->n_blocks - 1].first + flow->block[flow->n_blocks - 1].n - p.first;
	r = add_all(&p);
	free(p.is_within);
	free(p.waits);
	return r;
}

void ptx_plan_done(struct ptx_plan *plan)
{
	for (size_t i = 0; i < plan->n_scopes; i++)
		free(plan->scope[i].name);
	free(plan->scope);
	free(plan->point);
	*plan = (struct ptx_plan){0};
}
