/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/name_pattern.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bounded_regex.h"
#include "base/buf.h"
#include "base/util.h"

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
	int flags = REG_NOSUB, r;
	_cleanup_(buf_done) struct buf text = {0};
	_cleanup_(freep) char *given = strdup(expression);
	size_t bytes;

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
	if (text.error || !given)
		return -ENOMEM;
	r = bounded_regex(&p->re, buf_str(&text), flags, &p->bytes, ret_why, size);
	if (r < 0)
		return r;
	r = bounded_regex(&p->inside, buf_str(&text) + 1, flags, &bytes, ret_why, size);
	if (r < 0) {
		regfree(&p->re);
		return r;
	}
	p->bytes += bytes;
	p->text = given;
	given = NULL;
	return 0;
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

/* ---- nodes ---- */

static bool regex_test(const char *name, const void *re)
{
	return !regexec(re, name, 0, NULL, 0);
}

static void matcher_init(struct name_matcher *m, struct snapshot *snap, const regex_t *re,
			 const char *text)
{
	const struct session *s = snapshot_session(snap);

	*m = (struct name_matcher){snap, snapshot_nodes(snap),      s->nodes, re,
				   text, calloc(s->n_frames + 1, 1)};
}

void name_matcher_init(struct name_matcher *m, struct snapshot *snap, const struct name_pattern *p)
{
	matcher_init(m, snap, &p->re, p->text);
}

void name_matcher_done(struct name_matcher *m)
{
	free(m->seen);
}

bool name_matcher_test(const struct name_matcher *m, uint32_t node)
{
	return snapshot_any_name(m->snap, node, regex_test, m->re) ||
	       (m->text && snapshot_could_be(m->snap, node, m->text));
}

bool name_pattern_is_inside(const struct name_pattern *p, struct snapshot *snap)
{
	struct name_matcher m;
	bool found = false;

	matcher_init(&m, snap, &p->inside, NULL);
	for (uint32_t i = 1; i < snapshot_n(snap) && !found; i++)
		found = !m.nodes[i].metadata && name_matcher_at(&m, i);
	name_matcher_done(&m);
	return found;
}
