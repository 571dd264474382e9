/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/filter.h"
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"

/* ---- expressions ---- */

static const char *class_of(char c)
{
	switch (c) {
	case 'd':
		return "[:digit:]";
	case 'w':
		return "[:alnum:]_";
	case 's':
		return "[:space:]";
	}
	return NULL;
}

/* A bracket expression; backslashes, literal in POSIX, escape in Python. Returns what follows. */
static const char *put_bracket(struct buf *out, const char *p)
{
	bool closing = false, dash = false;

	buf_putc(out, *p++);
	if (*p == '^')
		buf_putc(out, *p++);
	if (*p == ']')
		buf_putc(out, *p++);
	while (*p && *p != ']') {
		const char *class = *p == '\\' && p[1] ? class_of(p[1]) : NULL;

		if (*p == '[' && p[1] == ':' && strstr(p, ":]")) {
			const char *end = strstr(p, ":]") + 2;

			buf_put(out, p, (size_t)(end - p));
			p = end;
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		if (class)
			buf_puts(out, class);
		else if (p[-1] == '\\' && *p == '-')
			dash = true;
		else if (p[-1] == '\\' && *p == ']')
			closing = true;
		else
			buf_putc(out, *p);
		p++;
	}
	/* ']' is literal only in front, '-' only at the end. */
	if (dash)
		buf_putc(out, '-');
	if (*p)
		buf_putc(out, *p++);
	return closing ? NULL : p;
}

/* Translate from Python's to POSIX syntax; false: POSIX cannot express it. */
static bool translate(const char *p, struct buf *out)
{
	while (p && *p) {
		if (*p == '[') {
			p = put_bracket(out, p);
		} else if (*p == '\\' && p[1] == 'd') {
			buf_puts(out, "[0-9]");
			p += 2;
		} else if (*p == '\\' && p[1] == 'D') {
			buf_puts(out, "[^0-9]");
			p += 2;
		} else if (*p == '\\' && p[1]) {
			buf_put(out, p, 2);
			p += 2;
		} else if (*p == '(' && p[1] == '?') {
			if (p[2] != ':')
				return false;
			buf_putc(out, '(');
			p += 3;
		} else {
			buf_putc(out, *p);
			/* Leave out the "?" of a lazy quantifier: laziness does not change whether
			 * a name matches. */
			if ((*p == '*' || *p == '+' || *p == '?' || *p == '}') && p[1] == '?')
				p++;
			p++;
		}
	}
	return p != NULL;
}

static int pattern_init(struct name_pattern *p, const char *expression, const char *end,
			char *ret_why, size_t size)
{
	int flags = REG_EXTENDED | REG_NOSUB, r;
	_cleanup_(buf_done) struct buf text = {0};
	_cleanup_(freep) char *given = strdup(expression);

	if (!strncmp(expression, "(?i)", 4)) {
		flags |= REG_ICASE;
		expression += 4;
	}
	buf_puts(&text, "^(");
	if (!translate(expression, &text)) {
		snprintf(ret_why, size, "look-around, named groups and '\\]' are not supported");
		return -EINVAL;
	}
	buf_puts(&text, end);
	r = text.error || !given ? REG_ESPACE : regcomp(&p->re, buf_str(&text), flags);
	if (!r) {
		r = regcomp(&p->inside, buf_str(&text) + 1, flags);
		if (!r) {
			p->text = given;
			given = NULL;
			return 0;
		}
		regfree(&p->re);
	}
	regerror(r, NULL, ret_why, size);
	return r == REG_ESPACE ? -ENOMEM : -EINVAL;
}

int name_pattern_init(struct name_pattern *p, const char *expression, char *ret_why, size_t size)
{
	return pattern_init(p, expression, ")", ret_why, size);
}

int name_pattern_init_whole(struct name_pattern *p, const char *expression, char *ret_why,
			    size_t size)
{
	return pattern_init(p, expression, ")$", ret_why, size);
}

void name_pattern_done(struct name_pattern *p)
{
	regfree(&p->re);
	regfree(&p->inside);
	free(p->text);
}

static bool regex_test(const char *name, const void *re)
{
	return !regexec(re, name, 0, NULL, 0);
}

/* ---- masks ---- */

/* Nodes with the same frame have the same name: each name is matched once. */
struct matcher {
	const regex_t *re;
	const char
		*text; /* a name that is shown is found, whatever its signs mean in `re`; or NULL */
	struct snapshot *snap;
	const struct snap_node *nodes;
	const struct session_node *session_nodes;
	const struct tick *tick;
	uint8_t *seen; /* by session frame; NULL: out of memory, each node is matched */
};

enum { SEEN_NO = 1, SEEN_YES = 2 };

static struct matcher matcher_make(struct snapshot *snap, const regex_t *re, const char *text)
{
	const struct session *s = snapshot_session(snap);

	return (struct matcher){re,
				text,
				snap,
				snapshot_nodes(snap),
				s->nodes,
				snapshot_tick(snap),
				calloc(s->n_frames + 1, 1)};
}

static bool is_match(const struct matcher *m, uint32_t node)
{
	return snapshot_any_name(m->snap, node, regex_test, m->re) ||
	       (m->text && snapshot_could_be(m->snap, node, m->text));
}

static bool matches(const struct matcher *m, uint32_t node)
{
	uint32_t id = m->nodes[node].session_node;
	uint8_t *seen;

	if (!m->seen || id == SESSION_NONE)
		return is_match(m, node);
	seen = &m->seen[m->session_nodes[id].frame];
	if (!*seen)
		*seen = is_match(m, node) ? SEEN_YES : SEEN_NO;
	return *seen == SEEN_YES;
}

uint8_t *filter_all(const struct snapshot *snap)
{
	const struct snap_node *nodes = snapshot_nodes(snap);
	uint32_t n = snapshot_n(snap);
	uint8_t *mask = malloc(n ? n : 1);

	for (uint32_t i = 0; mask && i < n; i++)
		mask[i] = !nodes[i].metadata;
	return mask;
}

/* Flags in a mask while it is computed. A parent's id is smaller than its children's, so one pass
 * up and one pass down the ids reach all nodes below and above. */
enum { BELOW = 2, ABOVE = 4, PARENT = 8 };

bool name_pattern_is_inside(const struct name_pattern *p, struct snapshot *snap)
{
	struct matcher m = matcher_make(snap, &p->inside, NULL);
	bool found = false;

	for (uint32_t i = 1; i < snapshot_n(snap) && !found; i++)
		found = !m.nodes[i].metadata && matches(&m, i);
	free(m.seen);
	return found;
}

uint8_t *filter_matching(struct snapshot *snap, const struct name_pattern *p)
{
	struct matcher m = matcher_make(snap, &p->re, p->text);
	uint32_t n = snapshot_n(snap);
	uint8_t *mask = malloc(n ? n : 1);

	for (uint32_t i = 0; mask && i < n; i++)
		mask[i] = !m.nodes[i].hidden && matches(&m, i);
	free(m.seen);
	return mask;
}

int filter_include(uint8_t *mask, struct snapshot *snap, const struct name_pattern *p)
{
	const uint32_t *parents = snapshot_parents(snap);
	struct matcher m = matcher_make(snap, &p->re, p->text);
	uint32_t n = snapshot_n(snap), i;
	bool stopped;

	for (i = 0; i < n && tick_at(m.tick, i, n); i++) {
		uint32_t parent = parents[i];

		if (mask[i] && ((parent != SNAP_NONE && (mask[parent] & BELOW)) || matches(&m, i)))
			mask[i] |= BELOW | ABOVE;
	}
	stopped = i < n;
	for (i = n; i-- > 1;)
		if (mask[i] & ABOVE)
			mask[parents[i]] |= ABOVE;
	for (i = 0; i < n; i++)
		mask[i] = (mask[i] & ABOVE) != 0;
	free(m.seen);
	return stopped ? -ECANCELED : 0;
}

int filter_exclude(uint8_t *mask, struct snapshot *snap, const struct name_pattern *p)
{
	const uint32_t *parents = snapshot_parents(snap);
	struct matcher m = matcher_make(snap, &p->re, p->text);
	uint32_t n = snapshot_n(snap), i;

	for (i = 0; i < n && tick_at(m.tick, i, n); i++) {
		uint32_t parent = parents[i];

		if (mask[i] && ((parent != SNAP_NONE && !mask[parent]) || matches(&m, i)))
			mask[i] = 0;
	}
	free(m.seen);
	return i < n ? -ECANCELED : 0;
}

uint8_t *filter_names(struct snapshot *snap, const struct name_pattern *include,
		      const struct name_pattern *exclude)
{
	uint8_t *mask = filter_all(snap);

	if (mask && include)
		filter_include(mask, snap, include);
	if (mask && exclude)
		filter_exclude(mask, snap, exclude);
	return mask;
}

void filter_at_least(uint8_t *mask, const struct snapshot *snap, const double *values, double least)
{
	for (uint32_t i = snapshot_n(snap); i-- > 0;) {
		uint32_t parent = snapshot_node(snap, i)->parent;

		if (mask[i] && (values[i] >= least || (mask[i] & ABOVE))) {
			mask[i] |= BELOW;
			if (parent != SNAP_NONE)
				mask[parent] |= ABOVE;
		}
	}
	for (uint32_t i = snapshot_n(snap); i-- > 0;)
		mask[i] = (mask[i] & BELOW) != 0;
}

void filter_empty(uint8_t *mask, const struct snapshot *snap, const uint8_t *present)
{
	const struct session *s = snapshot_session(snap);
	uint32_t i, n = snapshot_n(snap);

	/* ABOVE: a child is shown, PARENT: there is one. From the end, so children are settled
	 * before their parents. */
	for (i = n; i-- > 0;) {
		const struct snap_node *node = snapshot_node(snap, i);
		bool bare = node->session_node != SESSION_NONE &&
			    session_first_row(s, node->session_node) == SESSION_NONE;
		bool there = !present || present[i];

		if (!there || (mask[i] & PARENT ? !(mask[i] & ABOVE) : bare && i))
			mask[i] = 0;
		mask[i] &= 1;
		if (i && there)
			mask[node->parent] |= (uint8_t)(PARENT | (mask[i] ? ABOVE : 0));
	}
}
