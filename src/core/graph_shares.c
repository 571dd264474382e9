/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/graph_shares.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"

enum { PATH_MAX_FRAMES = 4096, NOTES_MAX = 8 };
#define FORM_MIXED  UINT64_MAX
#define FORM_UNTOLD (UINT64_MAX - 1)

/* What has records of its own within a graph. */
enum part_kind { PART_KERNEL, PART_COPY, PART_SET, PART_N };

/* What a graph holds, once. */
struct content {
	uint64_t n[PART_N];
};

/* A node below a whole graph: how much of it. */
struct part {
	uint32_t node;
	uint64_t time;  /* by nodes */
	uint64_t times; /* how often it runs in one launch of the graph */
};

/* A graph of the session that is joined. */
struct whole {
	uint32_t node;
	bool is_looked_up; /* then: no parts, it stays whole */
	uint64_t form;     /* … as what */
	size_t first, n;   /* of parts */
	uint64_t time;     /* of all parts */
};

struct graph_shares {
	struct session *of; /* by nodes */
	char *file;
	/* By node of it. */
	uint32_t *
		captured_at; /* the frame that says so, above it or itself; SESSION_NONE: there is none */
	uint64_t *time, *count,
		*launches; /* its own; of work in graphs, of where graphs were captured */
	uint64_t *form;    /* … beside launches: see own_form() */
	uint32_t *
		within; /* the frame of the form that it is of, above it; SESSION_NONE: of the first */
	bool has_forms;
	uint32_t *places; /* nodes that are such frames */
	uint32_t n_places;
	/* Of the session that is joined. */
	struct whole *graphs;
	struct part *parts;
	size_t n_graphs, cap_graphs, n_parts, cap_parts;
	uint32_t n_nodes; /* that were looked at */
	uint32_t set;     /* SESSION_NONE: not made yet */
	unsigned n_told;
	bool has_joined;
	bool is_settled; /* no more comes */
};

/* ---- the profile by nodes ---- */

static bool is_called(const struct session *s, uint32_t node, const char *name)
{
	return !strcmp(session_node_name(s, node), name);
}

/* Where it is not told what frames are, they have other kinds. */
static bool is_captured_at(const struct session *s, uint32_t node)
{
	return is_called(s, node, CAPTURED_AT);
}

bool graph_shares_is_estimated(const struct session *s, uint32_t node)
{
	for (; node != SESSION_ROOT; node = s->nodes[node].parent)
		if (session_node_kind(s, node) == FRAME_GRAPH &&
		    is_called(s, node, ESTIMATED_FRAME))
			return true;
	return false;
}

static uint64_t own_sum(const struct session *s, uint32_t node, uint32_t metric)
{
	double sum = 0, v;

	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		v = session_row_number(s, &s->rows[row], metric);
		sum += v > 0 ? v : 0;
	}
	return (uint64_t)sum;
}

/* METRIC_GRAPH_FORM at a node. 0: told to be not known; FORM_UNTOLD; FORM_MIXED: processes have several. */
static uint64_t own_form(const struct session *s, uint32_t node)
{
	uint64_t form = FORM_UNTOLD;
	double v;

	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		v = session_row_number(s, &s->rows[row], METRIC_GRAPH_FORM);
		if (isnan(v))
			continue;
		if (form != FORM_UNTOLD && form != (uint64_t)v)
			return FORM_MIXED;
		form = (uint64_t)v;
	}
	return form;
}

static bool is_form_frame(const struct session *s, uint32_t node)
{
	return frame_is_form(session_node_kind(s, node), session_node_name(s, node));
}

/* Another program's file has no kinds: leaves with a time are work. */
static bool is_work(const struct session *s, uint32_t node)
{
	switch (session_node_kind(s, node)) {
	case FRAME_KERNEL:
	case FRAME_COPY:
	case FRAME_SET:
		return true;
	default:
		return session_node_kind(s, node) == FRAME_FUNCTION &&
		       s->nodes[node].first_child == SESSION_NONE;
	}
}

/* Nodes come after what they stand below. True: it is work within a graph. */
static bool learn_node(struct graph_shares *g, uint32_t node)
{
	const struct session *s = g->of;
	uint32_t above =
		node == SESSION_ROOT ? SESSION_NONE : g->captured_at[s->nodes[node].parent];

	g->captured_at[node] = above;
	g->within[node] = SESSION_NONE;
	if (node == SESSION_ROOT)
		return false;
	g->within[node] = is_form_frame(s, node) ? node : g->within[s->nodes[node].parent];
	if (is_captured_at(s, node)) {
		g->captured_at[node] = node;
		g->places[g->n_places++] = node;
	}
	if (is_called(s, node, ESTIMATED_FRAME))
		g->captured_at[node] = SESSION_NONE; /* nor what is below it */
	if (g->captured_at[node] == SESSION_NONE)
		return false;
	g->launches[node] = own_sum(s, node, METRIC_GRAPH_LAUNCHES);
	g->form[node] = own_form(s, node);
	g->has_forms |= g->form[node] != FORM_UNTOLD;
	if (!is_work(s, node))
		return false;
	g->time[node] = own_sum(s, node, METRIC_TIME);
	g->count[node] = own_sum(s, node, METRIC_COUNT);
	return g->time[node] && g->count[node];
}

static int learn(struct graph_shares *g)
{
	size_t n = g->of->n_nodes;
	bool any = false;

	g->captured_at = malloc(n * sizeof(*g->captured_at));
	g->places = malloc(n * sizeof(*g->places));
	g->time = calloc(n, sizeof(*g->time));
	g->count = calloc(n, sizeof(*g->count));
	g->launches = calloc(n, sizeof(*g->launches));
	g->form = calloc(n, sizeof(*g->form));
	g->within = malloc(n * sizeof(*g->within));
	if (!g->captured_at || !g->places || !g->time || !g->count || !g->launches || !g->form ||
	    !g->within)
		return -ENOMEM;
	for (uint32_t node = 0; node < n; node++)
		any |= learn_node(g, node);
	return any ? 0 : -ENODATA;
}

int graph_shares_new(struct session *by_nodes, const char *file, struct graph_shares **ret)
{
	struct graph_shares *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	g->of = by_nodes;
	g->set = SESSION_NONE;
	g->n_nodes = 1;
	g->file = strdup(file);
	r = g->file ? learn(g) : -ENOMEM;
	if (r == 0) {
		*ret = g;
		return 0;
	}
	g->of = NULL;
	graph_shares_free(g);
	return r;
}

struct graph_shares *graph_shares_free(struct graph_shares *g)
{
	if (!g)
		return NULL;
	session_free(g->of);
	free(g->file);
	free(g->captured_at);
	free(g->time);
	free(g->count);
	free(g->launches);
	free(g->form);
	free(g->within);
	free(g->places);
	free(g->graphs);
	free(g->parts);
	free(g);
	return NULL;
}

/* ---- what graphs hold ---- */

static enum part_kind kind_of(const struct session *s, uint32_t node)
{
	enum frame_kind kind = session_node_kind(s, node);

	return kind == FRAME_COPY ? PART_COPY : kind == FRAME_SET ? PART_SET : PART_KERNEL;
}

/* "300 kernels" or "1 copy": which of them; PART_N: something else. */
static enum part_kind parse_kind(const char *word)
{
	static const char *const begins[PART_N] = {"kernel", "cop", "set"};
	unsigned i = 0;

	while (i < PART_N && strncmp(word, begins[i], strlen(begins[i])) != 0)
		i++;
	return (enum part_kind)i;
}

/* "<graph 2: 300 kernels, 1 copy>". False: it does not say. */
static bool parse_content(const char *name, struct content *ret)
{
	const char *p = strstr(name, ": ");
	char *end;
	uint64_t n;
	enum part_kind kind;

	*ret = (struct content){{0}};
	for (; p; p = strstr(p, ", ")) {
		n = strtoull(p + 2, &end, 10);
		if (end == p + 2 || *end != ' ')
			return false;
		kind = parse_kind(end + 1);
		if (kind < PART_N)
			ret->n[kind] = n;
		p = end;
	}
	return ret->n[PART_KERNEL] + ret->n[PART_COPY] + ret->n[PART_SET] > 0;
}

/* "2 kernels, 1 copy" */
static void put_content(const struct content *c, struct buf *out)
{
	static const char *const words[PART_N][2] = {
		{"kernel", "kernels"}, {"copy", "copies"}, {"set", "sets"}};
	const char *between = "";

	for (unsigned i = 0; i < PART_N; i++) {
		if (!c->n[i])
			continue;
		buf_printf(out, "%s%" PRIu64 " %s", between, c->n[i], words[i][c->n[i] != 1]);
		between = ", ";
	}
}

/* The node that comes after this one in the walk through all that is below top; SESSION_NONE: no more. */
static uint32_t next_below(const struct session *s, uint32_t node, uint32_t top)
{
	if (s->nodes[node].first_child != SESSION_NONE)
		return s->nodes[node].first_child;
	while (node != top && s->nodes[node].next_sibling == SESSION_NONE)
		node = s->nodes[node].parent;
	return node == top ? SESSION_NONE : s->nodes[node].next_sibling;
}

/* Graphs of one form that were captured in one place of the profile by nodes. */
struct place {
	uint32_t node;
	uint32_t frame; /* of the form, below it; SESSION_NONE: the first */
	uint64_t launches, form;
};

/* Is a node below a place of the form that is meant? Frames of one form have the same name, wherever they are. */
static bool is_of(const struct graph_shares *g, uint32_t node, const struct place *at)
{
	uint32_t within = g->within[node];

	if (within == SESSION_NONE || at->frame == SESSION_NONE)
		return within == at->frame;
	return is_called(g->of, within, session_node_name(g->of, at->frame));
}

/* The next node with work of it, in the walk through all that is below; SESSION_NONE: no more. */
static uint32_t next_work(const struct graph_shares *g, uint32_t node, const struct place *at)
{
	do
		node = next_below(g->of, node, at->node);
	while (node != SESSION_NONE && !(g->count[node] && is_of(g, node, at)));
	return node;
}

/* All that ran there. */
static struct content content_of(const struct graph_shares *g, const struct place *at)
{
	struct content c = {{0}};

	for (uint32_t node = next_work(g, at->node, at); node != SESSION_NONE;
	     node = next_work(g, node, at))
		c.n[kind_of(g->of, node)] += g->count[node];
	return c;
}

/* How often it runs in one of so many launches; of some that ran no record may have come. 0: not the same in each. */
static uint64_t times_in(uint64_t n, uint64_t launches)
{
	uint64_t times = (n + launches / 2) / launches;
	uint64_t off = n > times * launches ? n - times * launches : times * launches - n;

	return off <= launches / 20 ? times : 0;
}

/* ---- a graph is looked up ---- */

enum verdict { JOINED, NOT_THERE, OTHER_NODES, NOT_TOLD_APART, OTHER_FORM, NOT_KNOWN };

/* What is known of it there. */
struct lookup {
	struct graph_shares *g;
	struct session *s;
	uint32_t graph; /* its node */
	uint32_t path
		[PATH_MAX_FRAMES]; /* of the session: from its "<captured_at>" to what it stands below */
	uint32_t n;
	uint64_t form;    /* own_form() */
	struct place *at; /* where such graphs were captured */
	size_t n_at, cap_at;
	size_t n_others; /* … of another form, and the last of them */
	struct place another;
	struct content holds, other; /* other: what it holds there, where that is told */
};

static uint32_t find_child(const struct session *s, uint32_t node, const char *name)
{
	uint32_t child = s->nodes[node].first_child;

	while (child != SESSION_NONE && !is_called(s, child, name))
		child = s->nodes[child].next_sibling;
	return child;
}

/* The path, which is found from its end on. False: it was not captured, or is too deep. */
static bool find_path(struct lookup *l)
{
	const struct session *s = l->s;
	uint32_t at = PATH_MAX_FRAMES, node;

	for (node = s->nodes[l->graph].parent; node != SESSION_ROOT && at;
	     node = s->nodes[node].parent) {
		l->path[--at] = node;
		if (is_captured_at(s, node))
			break;
	}
	if (at == PATH_MAX_FRAMES || !is_captured_at(s, l->path[at]))
		return false;
	l->n = PATH_MAX_FRAMES - at;
	memmove(l->path, l->path + at, l->n * sizeof(*l->path));
	return true;
}

/* The same launch, by all that it stands below. */
static uint32_t find_launch(const struct lookup *l)
{
	uint32_t up[PATH_MAX_FRAMES], n = 0, at = SESSION_ROOT;

	for (uint32_t node = l->path[0]; node != SESSION_ROOT && n < PATH_MAX_FRAMES;
	     node = l->s->nodes[node].parent)
		up[n++] = node;
	while (n && at != SESSION_NONE)
		at = find_child(l->g->of, at, session_node_name(l->s, up[--n]));
	return at;
}

/* Where it was captured, below such a "<captured_at>"; SESSION_NONE: elsewhere. */
static uint32_t find_below(const struct lookup *l, uint32_t node)
{
	for (uint32_t i = 1; i < l->n && node != SESSION_NONE; i++)
		node = find_child(l->g->of, node, session_node_name(l->s, l->path[i]));
	return node;
}

/* What has its form is it, and nothing else; what has none may be what has none, as where no record said how often that
 * was launched. Where a file is of before there were forms, all may be. */
static bool may_be(const struct lookup *l, uint64_t form)
{
	if (l->form == FORM_UNTOLD || l->form == FORM_MIXED || !l->g->has_forms)
		return true;
	return l->form ? form == l->form : !form || form == FORM_UNTOLD;
}

/* A place in which no work is is none. There may be very many forms: what each holds is not looked at. */
static int add_form(struct lookup *l, uint32_t node, uint32_t frame)
{
	static const struct content nothing;
	uint32_t told = frame == SESSION_NONE ? node : frame;
	const struct place at = {node, frame, l->g->launches[told], l->g->form[told]};
	struct content ran;

	if (!may_be(l, at.form)) {
		l->another = at;
		l->n_others++;
		return 0;
	}
	ran = content_of(l->g, &at);
	if (!memcmp(&ran, &nothing, sizeof(ran)))
		return 0;
	if (ARRAY_ROOM(l->at, l->cap_at, l->n_at + 1) < 0)
		return -ENOMEM;
	l->at[l->n_at++] = at;
	return 0;
}

/* Each form that was captured there. */
static int add_place(struct lookup *l, uint32_t node)
{
	const struct session *s = l->g->of;
	int r = add_form(l, node, SESSION_NONE);

	for (uint32_t child = s->nodes[node].first_child; child != SESSION_NONE && r == 0;
	     child = s->nodes[child].next_sibling)
		if (is_form_frame(s, child))
			r = add_form(l, node, child);
	return r;
}

/* As it was launched there, else wherever that was launched. */
static int find_places(struct lookup *l)
{
	uint32_t at = find_launch(l), node;
	int r = 0;

	node = at == SESSION_NONE ? SESSION_NONE : find_below(l, at);
	if (node != SESSION_NONE)
		return add_place(l, node);
	for (uint32_t i = 0; i < l->g->n_places && r == 0; i++) {
		node = find_below(l, l->g->places[i]);
		if (node != SESSION_NONE)
			r = add_place(l, node);
	}
	return r;
}

/* Of a file that does not say how often graphs were launched: by what they would hold. 0: that does not fit. */
static uint64_t launches_by(const struct content *holds, const struct content *ran)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < PART_N && !n; i++)
		n = holds->n[i] ? ran->n[i] / holds->n[i] : 0;
	for (unsigned i = 0; i < PART_N; i++)
		if (holds->n[i] * n != ran->n[i])
			return 0;
	return n;
}

/* Are there as many in a launch, on average? Records of some may be lost. */
static bool holds_as_many(struct lookup *l, const struct content *ran, uint64_t launches)
{
	for (unsigned i = 0; i < PART_N; i++)
		l->other.n[i] = (ran->n[i] + launches / 2) / launches;
	return !memcmp(&l->other, &l->holds, sizeof(l->other));
}

static bool runs_as_often(const struct lookup *l, const struct place *at)
{
	const struct graph_shares *g = l->g;

	for (uint32_t node = next_work(g, at->node, at); node != SESSION_NONE;
	     node = next_work(g, node, at))
		if (!times_in(g->count[node], at->launches))
			return false;
	return true;
}

static enum verdict judge_place(struct lookup *l, struct place *at)
{
	struct content ran = content_of(l->g, at);
	bool is_told = at->launches;

	if (!is_told)
		at->launches = launches_by(&l->holds, &ran);
	if (!at->launches || (is_told && !holds_as_many(l, &ran, at->launches)))
		return OTHER_NODES;
	if (runs_as_often(l, at))
		return JOINED;
	return is_told ? NOT_TOLD_APART : OTHER_NODES;
}

/* Those of them that stay. */
static void keep(struct lookup *l, bool (*is_kept)(const struct lookup *l, const struct place *at))
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_at; i++)
		if (is_kept(l, &l->at[i]))
			l->at[n++] = l->at[i];
	l->n_at = n;
}

static bool is_as_large(const struct lookup *l, const struct place *at)
{
	struct content ran = content_of(l->g, at);

	if (!at->launches)
		return launches_by(&l->holds, &ran) != 0;
	for (unsigned i = 0; i < PART_N; i++)
		ran.n[i] = (ran.n[i] + at->launches / 2) / at->launches;
	return !memcmp(&ran, &l->holds, sizeof(ran));
}

static bool is_one_a_place(const struct lookup *l)
{
	for (size_t i = 1; i < l->n_at; i++)
		if (l->at[i].node == l->at[i - 1].node)
			return false;
	return true;
}

/* Why none of what was captured there may be it. */
static enum verdict judge_others(struct lookup *l)
{
	static const struct content nothing;
	struct content ran;

	if (!l->n_others)
		return NOT_THERE;
	if (l->n_others > 1)
		return OTHER_FORM;
	ran = content_of(l->g, &l->another);
	if (!memcmp(&ran, &nothing, sizeof(ran)))
		return NOT_THERE;
	return judge_place(l, &l->another) == OTHER_NODES ? OTHER_NODES : OTHER_FORM;
}

/* What has no form is known by its place and by what it holds. */
static enum verdict choose(struct lookup *l)
{
	if (!l->n_at)
		return judge_others(l);
	if (l->form == FORM_MIXED)
		return NOT_TOLD_APART;
	if (l->g->has_forms && l->form && l->form != FORM_UNTOLD)
		return JOINED;
	if (!is_one_a_place(l))
		keep(l, is_as_large);
	return !l->n_at ? OTHER_NODES : is_one_a_place(l) ? JOINED : NOT_TOLD_APART;
}

static enum verdict judge(struct lookup *l)
{
	enum verdict v = choose(l);

	for (size_t i = 0; i < l->n_at && v == JOINED; i++)
		v = judge_place(l, &l->at[i]);
	return v;
}

/* ---- notes ---- */

static void put_reason(const struct lookup *l, enum verdict v, struct buf *out)
{
	const struct content nothing = {{0}};

	switch (v) {
	case OTHER_NODES:
		buf_printf(out, "graphs captured there hold other nodes in '%s'", l->g->file);
		if (!memcmp(&l->other, &nothing, sizeof(nothing)))
			break;
		buf_puts(out, ": ");
		put_content(&l->other, out);
		break;
	case NOT_KNOWN:
		buf_puts(out, "it is not known what it holds");
		break;
	case OTHER_FORM:
		buf_printf(out,
			   "graphs captured there run other kernels, or with other grids, in '%s'",
			   l->g->file);
		break;
	case NOT_TOLD_APART:
		buf_printf(out, "'%s' does not tell several graphs apart that were captured there",
			   l->g->file);
		break;
	default:
		buf_printf(out, "'%s' has no nodes of a graph that was captured there", l->g->file);
		break;
	}
}

static int tell_stays(const struct lookup *l, enum verdict v)
{
	_cleanup_(buf_done) struct buf text = {0};
	const struct session *s = l->s;

	if (l->g->n_told++ == NOTES_MAX)
		buf_puts(&text, "more CUDA graphs stay whole");
	else if (l->g->n_told > NOTES_MAX)
		return 0;
	if (l->g->n_told <= NOTES_MAX) {
		buf_printf(&text, "%.200s in '", session_node_name(s, l->graph));
		buf_printf(&text, "%.200s' stays whole: ",
			   session_node_name(s, s->nodes[l->graph].parent));
		put_reason(l, v, &text);
	}
	return text.error ? text.error
			  : session_note(l->s, SESSION_NONE, NOTE_WARNING, buf_str(&text));
}

static int tell_joined(struct graph_shares *g, struct session *s)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (g->has_joined)
		return 0;
	g->has_joined = true;
	buf_printf(&text,
		   "times below " ESTIMATED_FRAME
		   " are no measurements: what whole CUDA graphs took, by the shares that their "
		   "nodes have in '%s'",
		   g->file);
	return text.error ? text.error : session_note(s, SESSION_NONE, NOTE_INFO, buf_str(&text));
}

/* ---- parts ---- */

/* The frame of a node of the profile by nodes, below one of the session. */
static uint32_t copy_node(const struct lookup *l, uint32_t above, uint32_t node)
{
	return session_node(l->s, above, session_node_kind(l->g->of, node),
			    session_node_name(l->g->of, node));
}

/* The node of the session for one below a place; the place's own is `top`. */
static uint32_t copy_path(const struct lookup *l, uint32_t top, uint32_t place, uint32_t node)
{
	uint32_t path[PATH_MAX_FRAMES], n = 0, at = top;

	for (; node != place && n < PATH_MAX_FRAMES; node = l->g->of->nodes[node].parent)
		if (!is_form_frame(l->g->of, node))
			path[n++] = node;
	while (n && at != SESSION_NONE)
		at = copy_node(l, at, path[--n]);
	return at;
}

static int add_part(const struct lookup *l, uint32_t top, const struct place *at, uint32_t node)
{
	struct graph_shares *g = l->g;
	uint32_t to = copy_path(l, top, at->node, node);

	if (to == SESSION_NONE || ARRAY_ROOM(g->parts, g->cap_parts, g->n_parts + 1) < 0)
		return -ENOMEM;
	g->parts[g->n_parts++] = (struct part){
		.node = to, .time = g->time[node], .times = times_in(g->count[node], at->launches)};
	return 0;
}

static int add_parts(const struct lookup *l, uint32_t top, const struct place *at)
{
	const struct graph_shares *g = l->g;
	int r = 0;

	for (uint32_t node = next_work(g, at->node, at); node != SESSION_NONE && r == 0;
	     node = next_work(g, node, at))
		r = add_part(l, top, at, node);
	return r;
}

static int by_node(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* The same one, launched at several places, is one. */
static void unite_parts(struct graph_shares *g, struct whole *w)
{
	struct part *parts = g->parts + w->first;
	size_t n = 0;

	w->n = g->n_parts - w->first;
	qsort(parts, w->n, sizeof(*parts), by_node);
	for (size_t i = 0; i < w->n; i++) {
		w->time += parts[i].time;
		if (n && parts[n - 1].node == parts[i].node)
			parts[n - 1].time += parts[i].time;
		else
			parts[n++] = parts[i];
	}
	w->n = n;
	g->n_parts = w->first + n;
}

static int take_parts(const struct lookup *l, struct whole *w)
{
	uint32_t top = session_node(l->s, w->node, FRAME_GRAPH, ESTIMATED_FRAME);
	int r = top == SESSION_NONE ? -ENOMEM : tell_joined(l->g, l->s);

	w->first = l->g->n_parts;
	for (size_t i = 0; i < l->n_at && r == 0; i++)
		r = add_parts(l, top, &l->at[i]);
	if (r < 0)
		l->g->n_parts = w->first;
	else
		unite_parts(l->g, w);
	return r;
}

static int look_up(struct graph_shares *g, struct session *s, struct whole *w)
{
	_cleanup_(freep) struct lookup *l = calloc(1, sizeof(*l));
	enum verdict v = NOT_THERE;
	int r = 0;

	if (!l)
		return -ENOMEM;
	l->g = g;
	l->s = s;
	l->graph = w->node;
	l->form = w->form;
	if (find_path(l)) {
		v = NOT_KNOWN;
		if (parse_content(session_node_name(s, w->node), &l->holds)) {
			r = find_places(l);
			v = judge(l);
		}
	}
	if (r == 0)
		r = v == JOINED ? take_parts(l, w) : tell_stays(l, v);
	w->is_looked_up = r == 0;
	free(l->at);
	return r;
}

/* ---- times ---- */

static int make_set(struct graph_shares *g, struct session *s)
{
	static const uint32_t metrics[] = {METRIC_TIME, METRIC_ESTIMATED, METRIC_ESTIMATED_RUNS};

	if (g->set == SESSION_NONE)
		g->set = session_set_intern(s, metrics, ARRAY_SIZE(metrics));
	return g->set == SESSION_NONE ? -ENOMEM : 0;
}

/* How much of t is in parts of so much of all. */
static uint64_t share_of(uint64_t t, uint64_t parts, uint64_t all)
{
	return (uint64_t)(__extension__(unsigned __int128) t * parts / all);
}

/* The rows of the parts come first: with no memory for one, the graph keeps what it has. */
static int make_rows(const struct graph_shares *g, struct session *s, const struct whole *w,
		     uint32_t row)
{
	for (size_t i = 0; i < w->n; i++)
		if (session_row_intern(s, g->parts[w->first + i].node, s->rows[row].lane,
				       s->rows[row].epoch, g->set) == SESSION_NONE)
			return -ENOMEM;
	return 0;
}

static int give_row(const struct graph_shares *g, struct session *s, const struct whole *w,
		    uint32_t row)
{
	uint32_t at = session_row_place(s, &s->rows[row], METRIC_TIME), to;
	uint64_t t, launches, sum = 0, given = 0, up_to;
	int r;

	if (at == SESSION_NONE || !s->present[at])
		return 0;
	r = make_rows(g, s, w, row);
	if (r < 0)
		return r;
	t = s->values[at].u64;
	launches = (uint64_t)fmax(session_row_number(s, &s->rows[row], METRIC_COUNT), 0);
	for (size_t i = 0; i < w->n; i++) {
		const struct part *p = &g->parts[w->first + i];

		sum += p->time;
		up_to = share_of(t, sum, w->time);
		to = session_row_intern(s, p->node, s->rows[row].lane, s->rows[row].epoch, g->set);
		session_row_set(s, to, 0, (union metric_value){.u64 = up_to - given});
		session_row_set(s, to, 1, (union metric_value){.u64 = up_to - given});
		session_row_set(s, to, 2, (union metric_value){.u64 = p->times * launches});
		given = up_to;
	}
	session_row_unset(s, row, at - s->rows[row].values);
	return 0;
}

static bool has_time(const struct session *s, uint32_t node)
{
	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row))
		if (session_row_number(s, &s->rows[row], METRIC_TIME) > 0)
			return true;
	return false;
}

/* What was given is its own again, for all processes: one of them has another graph there. */
static void take_back_row(const struct graph_shares *g, struct session *s, const struct whole *w,
			  uint32_t row)
{
	uint32_t at = session_row_place(s, &s->rows[row], METRIC_TIME), from;
	uint64_t t = 0;

	if (at == SESSION_NONE || s->present[at])
		return;
	for (size_t i = 0; i < w->n; i++) {
		from = session_row_intern(s, g->parts[w->first + i].node, s->rows[row].lane,
					  s->rows[row].epoch, g->set);
		if (from == SESSION_NONE)
			return;
		t += (uint64_t)fmax(session_row_number(s, &s->rows[from], METRIC_TIME), 0);
		for (uint32_t k = 0; k < 3; k++)
			session_row_unset(s, from, k);
	}
	at = session_row_place(s, &s->rows[row], METRIC_TIME);
	if (t)
		session_row_set(s, row, at - s->rows[row].values, (union metric_value){.u64 = t});
}

static void take_back(const struct graph_shares *g, struct session *s, struct whole *w)
{
	for (uint32_t row = session_first_row(s, w->node); row != SESSION_NONE;
	     row = session_next_row(s, row))
		take_back_row(g, s, w, row);
	w->n = 0;
	w->is_looked_up = false;
}

/* Its form comes beside its time, in another frame of the stream perhaps. */
static bool is_early(const struct graph_shares *g, const struct whole *w)
{
	return w->form == FORM_UNTOLD && g->has_forms && !g->is_settled;
}

static int give(struct graph_shares *g, struct session *s, struct whole *w)
{
	uint64_t form;
	int r = 0;

	if (!has_time(s, w->node))
		return 0;
	form = own_form(s, w->node);
	if (w->n && form != w->form)
		take_back(g, s, w);
	w->form = form;
	if (!w->is_looked_up && !is_early(g, w))
		r = look_up(g, s, w);
	for (uint32_t row = session_first_row(s, w->node); w->n && row != SESSION_NONE && r == 0;
	     row = session_next_row(s, row))
		r = give_row(g, s, w, row);
	return r;
}

static int find_graphs(struct graph_shares *g, const struct session *s)
{
	for (; g->n_nodes < s->n_nodes; g->n_nodes++) {
		if (session_node_kind(s, g->n_nodes) != FRAME_GRAPH_RUN)
			continue;
		if (ARRAY_ROOM(g->graphs, g->cap_graphs, g->n_graphs + 1) < 0)
			return -ENOMEM;
		g->graphs[g->n_graphs++] = (struct whole){.node = g->n_nodes};
	}
	return 0;
}

int graph_shares_apply(struct graph_shares *g, struct session *s)
{
	int r = find_graphs(g, s);

	if (r == 0)
		r = make_set(g, s);
	for (size_t i = 0; i < g->n_graphs && r == 0; i++)
		r = give(g, s, &g->graphs[i]);
	return r;
}

/* How much of what graphs took is divided now, and how much is not. */
static int tell_all(const struct graph_shares *g, struct session *s)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint64_t given = 0, kept = 0;
	size_t n = 0;

	for (size_t i = 0; i < g->n_graphs; i++) {
		const struct whole *w = &g->graphs[i];

		n += w->n != 0;
		kept += own_sum(s, w->node, METRIC_TIME);
		for (size_t k = 0; k < w->n; k++)
			given += own_sum(s, g->parts[w->first + k].node, METRIC_ESTIMATED);
	}
	if (!g->n_graphs)
		buf_printf(&text, "no CUDA graph was recorded whole: '%s' is joined with nothing",
			   g->file);
	else if (given + kept)
		buf_printf(&text,
			   "'%s' divides %zu of %zu rows of whole CUDA graphs: %.1f %% of what "
			   "they took",
			   g->file, n, g->n_graphs, 100.0 * (double)given / (double)(given + kept));
	else
		return 0;
	return text.error ? text.error
			  : session_note(s, SESSION_NONE, g->n_graphs ? NOTE_INFO : NOTE_WARNING,
					 buf_str(&text));
}

int graph_shares_settle(struct graph_shares *g, struct session *s)
{
	int r;

	g->is_settled = true;
	r = graph_shares_apply(g, s);
	return r < 0 ? r : tell_all(g, s);
}
