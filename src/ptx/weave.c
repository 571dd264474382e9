/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/weave.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* At one place, what comes first. */
enum order {
	LEFT_BEHIND,   /* scopes that end with a statement */
	OF_EDGES_HERE, /* … of all edges that lead here */
	ENTERED_BEHIND,
	ENTERED_BEFORE,
	OF_EDGES_OUT,
	AT_THE_END,
	WAY_ROUND,
};

/* The points of an edge, some of which stand before the branch already. */
struct ends {
	uint32_t first, n;
	uint32_t n_done;
};

struct weaver {
	struct ptx_weave *to;
	const struct ptx_flow *flow;
	const struct ptx_function *f;
	const struct ptx_plan *plan;
	const struct ptx_recorder *r;
	const uint32_t *scopes;
	struct ptx_point *on_edges; /* by edge, in their order */
	struct ends *ends;          /* by edge */
	uint32_t n_ends, n_ways;    /* of threads; round */
	size_t begun;               /* of the text, the stitch */
};

/* ---- stitches ---- */

static struct buf *begin(struct weaver *w)
{
	w->begun = w->to->text.len;
	return &w->to->text;
}

static int end_at(struct weaver *w, size_t at, size_t cut, enum order order)
{
	struct ptx_weave *to = w->to;

	if (to->text.error || ARRAY_ROOM(to->stitch, to->cap, to->n + 1) < 0)
		return -ENOMEM;
	to->stitch[to->n++] =
		(struct ptx_stitch){at, cut, order, w->begun, to->text.len - w->begun};
	return 0;
}

static void put_point(struct weaver *w, const struct ptx_point *p)
{
	/* The kernel has no clock in a register. */
	uint32_t clock = p->scope;

	if (p->leaves)
		ptx_recorder_leave(&w->to->text, w->r, clock, w->scopes[p->scope]);
	else
		ptx_recorder_enter(&w->to->text, w->r, clock);
}

/* ---- points in their order: those that are left first, inner ones before outer ones; then those that are entered ---- */

static int compare_points(const void *x, const void *y)
{
	const struct ptx_point *a = x, *b = y;

	if (a->at != b->at)
		return COMPARE(a->at, b->at);
	if (a->leaves != b->leaves)
		return a->leaves ? -1 : 1;
	return a->leaves ? COMPARE(b->scope, a->scope) : COMPARE(a->scope, b->scope);
}

static int sort_edges(struct weaver *w)
{
	const struct ptx_plan *plan = w->plan;
	uint32_t n = 0;

	w->on_edges = calloc(plan->n_points + 1, sizeof(*w->on_edges));
	w->ends = calloc(w->flow->n_edges + 1, sizeof(*w->ends));
	if (!w->on_edges || !w->ends)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n_points; i++)
		if (plan->point[i].where == PTX_ON)
			w->on_edges[n++] = plan->point[i];
	qsort(w->on_edges, n, sizeof(*w->on_edges), compare_points);
	for (uint32_t i = 0; i < n; i++) {
		struct ends *e = &w->ends[w->on_edges[i].at];

		if (!e->n++)
			e->first = i;
	}
	return 0;
}

/* How many of the points that two edges begin with are the same. */
static uint32_t n_alike(const struct weaver *w, const struct ends *a, const struct ends *b)
{
	const struct ptx_point *x = w->on_edges + a->first + a->n_done,
			       *y = w->on_edges + b->first + b->n_done;
	uint32_t n = 0, most = MIN(a->n - a->n_done, b->n - b->n_done);

	while (n < most && x[n].scope == y[n].scope && x[n].leaves == y[n].leaves)
		n++;
	return n;
}

static bool are_alike(const struct weaver *w, const struct ends *a, const struct ends *b)
{
	uint32_t n = a->n - a->n_done;

	return n == b->n - b->n_done && n_alike(w, a, b) == n;
}

static void put_points(struct weaver *w, struct ends *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put_point(w, &w->on_edges[e->first + e->n_done + i]);
}

/* ---- edges ---- */

/* Are its edges all that comes behind the branch at its end? */
static bool is_by_branch(const struct weaver *w, const struct ptx_block *b)
{
	enum ptx_way way = b->n_out ? w->flow->edge[b->out].way : PTX_FALLS;

	return way == PTX_JUMPS || (way == PTX_BRANCHES && b->n_out == 2);
}

/* Before the branch at a block's end. */
static int put_out(struct weaver *w, uint32_t block)
{
	const struct ptx_block *b = &w->flow->block[block];
	struct ends *e = &w->ends[b->out];
	uint32_t n = is_by_branch(w, b) ? e->n : 0;

	for (uint32_t i = 1; i < b->n_out; i++)
		n = MIN(n, n_alike(w, e, e + i));
	if (!n)
		return 0;
	begin(w);
	put_points(w, e, n);
	for (uint32_t i = 0; i < b->n_out; i++)
		e[i].n_done = n;
	return end_at(w, ptx_block_end(w->flow, block)->begin, 0, OF_EDGES_OUT);
}

/* in: by block, an edge that leads there, and whether all others have the same points. */
struct led {
	uint32_t edge;
	bool differ;
};

static void look_at_edge(const struct weaver *w, struct led *in, uint32_t edge)
{
	struct led *l = &in[w->flow->edge[edge].to];

	if (l->edge == PTX_NONE)
		l->edge = edge;
	else if (!are_alike(w, &w->ends[l->edge], &w->ends[edge]))
		l->differ = true;
}

/* Behind a block's label. */
static int put_in(struct weaver *w, uint32_t block, const struct led *in)
{
	const struct ptx_statement *s = &w->flow->text->statement[w->flow->block[block].first];
	struct ends *e = in->edge == PTX_NONE ? NULL : &w->ends[in->edge];

	if (!e || in->differ || !block || e->n == e->n_done || s->kind != PTX_IS_LABEL)
		return 0;
	begin(w);
	put_points(w, e, e->n - e->n_done);
	for (size_t i = 0; i < w->flow->n_edges; i++)
		if (w->flow->edge[i].to == block)
			w->ends[i].n_done = w->ends[i].n;
	return end_at(w, s->end, 0, OF_EDGES_HERE);
}

/* By a label at the kernel's end: the branch is led there. */
static int put_way_round(struct weaver *w, const struct ptx_statement *branch, struct ends *e)
{
	struct ptx_span to = branch->operands;
	uint32_t way = w->n_ways++;
	int r;

	while (to.n && strchr(" \t\r\n", to.at[to.n - 1]))
		to.n--;
	buf_printf(begin(w), "$proton_to_%u_%u", w->r->kernel, way);
	r = end_at(w, (size_t)(to.at - w->flow->text->at), to.n, OF_EDGES_OUT);
	if (r < 0)
		return r;
	buf_printf(begin(w), "$proton_to_%u_%u:\n", w->r->kernel, way);
	put_points(w, e, e->n - e->n_done);
	buf_printf(&w->to->text, "\tbra %.*s;\n", (int)to.n, to.at);
	return end_at(w, w->f->close, 0, WAY_ROUND);
}

/* Before the branch, and only where it is taken: what is within braces has no name at the kernel's end. */
static int put_if_taken(struct weaver *w, const struct ptx_statement *branch, struct ends *e)
{
	bool is_not = branch->guard.n && *branch->guard.at == '!';
	uint32_t way = w->n_ways++;
	int r;

	buf_printf(begin(w), "@%s%.*s bra $proton_by_%u_%u;\n", is_not ? "" : "!",
		   (int)branch->guard.n - is_not, branch->guard.at + is_not, w->r->kernel, way);
	put_points(w, e, e->n - e->n_done);
	r = end_at(w, branch->begin, 0, OF_EDGES_OUT);
	if (r < 0)
		return r;
	buf_printf(begin(w), "\n$proton_by_%u_%u:\n", w->r->kernel, way);
	return end_at(w, branch->end, 0, LEFT_BEHIND);
}

static int put_edge(struct weaver *w, uint32_t edge)
{
	const struct ptx_edge *e = &w->flow->edge[edge];
	const struct ptx_statement *s = ptx_block_end(w->flow, e->from);
	struct ends *ends = &w->ends[edge];

	if (ends->n == ends->n_done)
		return 0;
	if (e->way == PTX_BRANCHES)
		return s->scope == PTX_NONE ? put_way_round(w, s, ends) : put_if_taken(w, s, ends);
	buf_puts(begin(w), "\n");
	put_points(w, ends, ends->n - ends->n_done);
	return end_at(w, s->end, 0, OF_EDGES_OUT);
}

static int put_edges(struct weaver *w)
{
	const struct ptx_flow *f = w->flow;
	_cleanup_(freep) struct led *in = calloc(f->n_blocks + 1, sizeof(*in));
	int r = in ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < f->n_blocks && r == 0; i++)
		r = put_out(w, i);
	for (uint32_t i = 0; i < f->n_blocks && r == 0; i++)
		in[i].edge = PTX_NONE;
	for (uint32_t i = 0; i < f->n_edges && r == 0; i++)
		look_at_edge(w, in, i);
	for (uint32_t i = 0; i < f->n_blocks && r == 0; i++)
		r = put_in(w, i, &in[i]);
	for (uint32_t i = 0; i < f->n_edges && r == 0; i++)
		r = put_edge(w, i);
	return r;
}

/* ---- what is at statements ---- */

static int put_at_statement(struct weaver *w, const struct ptx_point *p)
{
	const struct ptx_statement *s = &w->flow->text->statement[p->at];
	/* Outer scopes are entered first and left last. */
	bool is_before = p->where == PTX_BEFORE;

	buf_puts(begin(w), is_before ? "" : "\n");
	put_point(w, p);
	return end_at(w, is_before ? s->begin : s->end, 0,
		      is_before   ? ENTERED_BEFORE
		      : p->leaves ? LEFT_BEHIND
				  : ENTERED_BEHIND);
}

static int put_statements(struct weaver *w)
{
	const struct ptx_plan *plan = w->plan;
	int r = 0;

	for (size_t i = plan->n_points; i-- > 0 && r == 0;) /* inner ones are left first */
		if (plan->point[i].where == PTX_BEHIND && plan->point[i].leaves)
			r = put_at_statement(w, &plan->point[i]);
	for (size_t i = 0; i < plan->n_points && r == 0; i++)
		if ((plan->point[i].where == PTX_BEFORE || plan->point[i].where == PTX_BEHIND) &&
		    !plan->point[i].leaves)
			r = put_at_statement(w, &plan->point[i]);
	return r;
}

/* ---- where threads begin and end ---- */

static int put_begin(struct weaver *w)
{
	const struct ptx_plan *plan = w->plan;

	buf_puts(begin(w), "\n");
	ptx_recorder_begin(&w->to->text, w->r);
	for (size_t i = 0; i < plan->n_points; i++)
		if (plan->point[i].where == PTX_AT_START)
			put_point(w, &plan->point[i]);
	return end_at(w, w->f->body, 0, LEFT_BEHIND);
}

/* What is left there, and the end of it all. */
static void put_thread_end(struct weaver *w, uint32_t statement)
{
	const struct ptx_plan *plan = w->plan;

	for (size_t i = plan->n_points; i-- > 0;)
		if (plan->point[i].where == PTX_AT_END && plan->point[i].at == statement)
			put_point(w, &plan->point[i]);
	ptx_recorder_end(&w->to->text, w->r, w->n_ends++);
}

static int put_end_before(struct weaver *w, uint32_t statement)
{
	const struct ptx_statement *s = &w->flow->text->statement[statement];
	bool is_not = s->guard.n && *s->guard.at == '!';
	uint32_t way = w->n_ways;
	int r;

	begin(w);
	if (s->guard.n)
		buf_printf(&w->to->text, "@%s%.*s bra $proton_by_%u_%u;\n", is_not ? "" : "!",
			   (int)s->guard.n - is_not, s->guard.at + is_not, w->r->kernel, way);
	put_thread_end(w, statement);
	buf_puts(&w->to->text, "\t");
	r = end_at(w, s->begin, 0, AT_THE_END);
	if (r < 0 || !s->guard.n)
		return r;
	w->n_ways++;
	buf_printf(begin(w), "\n$proton_by_%u_%u:\n", w->r->kernel, way);
	return end_at(w, s->end, 0, LEFT_BEHIND);
}

/* A kernel may end with its last brace. */
static int put_end_behind(struct weaver *w)
{
	const struct ptx_flow *f = w->flow;
	const struct ptx_statement *s = ptx_block_end(f, (uint32_t)f->n_blocks - 1);

	if (ptx_ends_block(s) && !s->guard.n)
		return 0;
	begin(w);
	put_thread_end(w, PTX_NONE);
	buf_puts(&w->to->text, "\tret;\n");
	return end_at(w, w->f->close, 0, AT_THE_END);
}

static int put_ends(struct weaver *w)
{
	int r = 0;

	for (uint32_t i = w->f->first; i < w->f->first + w->f->n && r == 0; i++)
		if (ptx_ends_thread(&w->flow->text->statement[i]))
			r = put_end_before(w, i);
	return r < 0 ? r : put_end_behind(w);
}

int ptx_weave_kernel(struct ptx_weave *weave, const struct ptx_flow *flow,
		     const struct ptx_function *f, const struct ptx_plan *plan,
		     const struct ptx_recorder *r, const uint32_t *scopes)
{
	struct weaver w = {
		.to = weave, .flow = flow, .f = f, .plan = plan, .r = r, .scopes = scopes};
	int e = sort_edges(&w);

	if (e == 0)
		e = put_begin(&w);
	if (e == 0)
		e = put_statements(&w);
	if (e == 0)
		e = put_edges(&w);
	if (e == 0)
		e = put_ends(&w);
	free(w.on_edges);
	free(w.ends);
	return e;
}

/* ---- all of it ---- */

static int compare_stitches(const void *x, const void *y)
{
	const struct ptx_stitch *a = x, *b = y;

	if (a->at != b->at)
		return COMPARE(a->at, b->at);
	return a->order != b->order ? COMPARE(a->order, b->order) : COMPARE(a->text, b->text);
}

int ptx_weave_write(struct ptx_weave *weave, const struct ptx_text *text, struct buf *to)
{
	size_t at = 0;

	if (weave->n)
		qsort(weave->stitch, weave->n, sizeof(*weave->stitch), compare_stitches);
	for (size_t i = 0; i < weave->n; i++) {
		const struct ptx_stitch *s = &weave->stitch[i];

		/* Of statements that are none, one may lie where another one is cut out. */
		if (s->at < at)
			return -EBADMSG;
		buf_put(to, text->at + at, s->at - at);
		buf_put(to, weave->text.data + s->text, s->n_text);
		at = s->at + s->cut;
	}
	buf_put(to, text->at + at, text->n - at);
	return to->error ? -ENOMEM : 0;
}

void ptx_weave_done(struct ptx_weave *weave)
{
	free(weave->stitch);
	buf_done(&weave->text);
	*weave = (struct ptx_weave){0};
}
