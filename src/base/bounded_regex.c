/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/bounded_regex.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

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

/* Of an expression; where it is more than bearable, of a part of it. */
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

/* ---- compiling ---- */

/* Where memory runs out in it, the C library's compiler may write where it must not (glibc 2.36 frees
 * twice): it is not called unless there is enough. */
static int compile(regex_t *re, const char *text, int flags, size_t bytes)
{
	void *room = malloc(bytes);

	free(room);
	return room ? regcomp(re, text, flags) : REG_ESPACE;
}

int bounded_regex(regex_t *re, const char *expression, int flags, size_t *ret_bytes, char *ret_why,
		  size_t size)
{
	struct weight weight = weight_of(expression);
	int r;

	if (!is_bearable(&weight)) {
		snprintf(ret_why, size, "it is too large, or repeats too much");
		return -EINVAL;
	}
	r = compile(re, expression, REG_EXTENDED | flags, bytes_of(&weight));
	if (r == 0) {
		if (ret_bytes)
			*ret_bytes = bytes_of(&weight);
		return 0;
	}
	regerror(r, NULL, ret_why, size);
	return r == REG_ESPACE ? -ENOMEM : -EINVAL;
}
