/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/name_pattern.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- how large it gets ---- */

/* The C library copies what is repeated: "((a+)+)+" has eight of it, "(a{99}){99}" ten thousand. And it
 * notes for each place where one may go on without a further character all such places that follow: nine
 * thousand alternatives would be 2 GB. */
#define SIZE_MAX_OF_PATTERN     20000.0
#define BRANCHES_MAX_OF_PATTERN 1500.0
#define NESTED_MAX              100

struct weight {
	double size, branches; /* branches: alternatives, and what may be left out */
};

struct weighing {
	struct weight
		sums[NESTED_MAX + 1]; /* of the groups that are open, and of what is in none */
	unsigned open;
	struct weight last; /* of what a repetition would repeat */
};

/* The last thing stands for itself; another one begins. */
static void settle(struct weighing *w, double next)
{
	w->sums[w->open].size += w->last.size;
	w->sums[w->open].branches += w->last.branches;
	w->last = (struct weight){.size = next};
}

/* "{2,5}": five and the rest, of which three may be left out. */
static void repeat(struct weight *w, const char *p)
{
	double least = strtod(p + 1, NULL), most = least;
	const char *comma = strchr(p, ',');

	if (comma && comma < p + strcspn(p, "}"))
		most = MAX(most, strtod(comma + 1, NULL));
	w->size *= most + 1;
	w->branches = w->branches * (most + 1) + most - least;
}

/* The "}" of a repetition, which the next one may follow: "a{9}{9}". Where it is none, the "{". */
static const char *skip_times(const char *p)
{
	const char *end = p + 1 + strspn(p + 1, "0123456789,");

	return *end == '}' ? end : p;
}

/* Behind a bracket expression. */
static const char *skip_bracket(const char *p)
{
	p++;
	p += *p == '^';
	p += *p == ']';
	return p + strcspn(p, "]");
}

/* Take what stands there; where it ends. */
static const char *weigh(struct weighing *w, const char *p)
{
	if (*p == '(' && w->open < NESTED_MAX) {
		settle(w, 0);
		w->sums[++w->open] = (struct weight){0};
	} else if (*p == ')' && w->open) {
		settle(w, 0);
		w->last = w->sums[w->open--];
		w->last.size += 1; /* "()" is something, too */
	} else if (*p == '+') {
		w->last.size *= 2;
		w->last.branches = w->last.branches * 2 + 1;
	} else if (*p == '*' || *p == '?') {
		w->last.size += 1;
		w->last.branches += 1;
	} else if (*p == '{') {
		repeat(&w->last, p);
		p = skip_times(p);
	} else {
		settle(w, *p == '(' ? HUGE_VAL : 1);
		w->last.branches = *p == '|';
		p = *p == '[' ? skip_bracket(p) : *p == '\\' && p[1] ? p + 1 : p;
	}
	return p + (*p != '\0');
}

static struct weight weight_so_far(const struct weighing *w)
{
	return (struct weight){w->last.size + w->sums[w->open].size,
			       w->last.branches + w->sums[w->open].branches};
}

static bool is_bearable(const struct weight *w)
{
	return w->size <= SIZE_MAX_OF_PATTERN && w->branches <= BRANCHES_MAX_OF_PATTERN;
}

/* Of a translated expression; where it is more than bearable, of a part of it. */
static struct weight weight_of(const char *p)
{
	struct weighing w = {0};
	struct weight so_far = {0};

	while (*p && is_bearable(&so_far)) {
		p = weigh(&w, p);
		so_far = weight_so_far(&w);
	}
	return so_far;
}

/* As much as it takes at most to compile one, by measurement: of 17,000 characters 5 MB, of 1,000
 * alternatives 24. */
static size_t bytes_of(const struct weight *w)
{
	return (size_t)(65536 + w->size * 1024 + w->branches * w->branches * 32);
}

/* Where memory runs out in it, the C library's compiler may write where it must not (glibc 2.36 frees
 * twice): it is not called unless there is enough. */
static int compile(regex_t *re, const char *text, int flags, size_t bytes)
{
	void *room = malloc(bytes);

	free(room);
	return room ? regcomp(re, text, flags) : REG_ESPACE;
}

static int pattern_init(struct name_pattern *p, const char *expression, const char *end,
			char *ret_why, size_t size)
{
	int flags = REG_EXTENDED | REG_NOSUB, r;
	_cleanup_(buf_done) struct buf text = {0};
	_cleanup_(freep) char *given = strdup(expression);
	struct weight weight;

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
	weight = weight_of(buf_str(&text));
	if (!is_bearable(&weight)) {
		snprintf(ret_why, size, "it is too large, or repeats too much");
		return -EINVAL;
	}
	p->bytes = 2 * bytes_of(&weight);
	r = compile(&p->re, buf_str(&text), flags, p->bytes);
	if (!r) {
		r = compile(&p->inside, buf_str(&text) + 1, flags, p->bytes / 2);
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
