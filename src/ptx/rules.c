/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/rules.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/bounded_regex.h"
#include "base/buf.h"
#include "base/near.h"
#include "base/said_rules.h"
#include "base/util.h"

enum { RULES_MOST = 256, SHOWN_MOST = 200 /* bytes of a value that is wrong */ };

/* What stands behind a rule's word. */
enum takes { TAKES_NONE, TAKES_LINES, TAKES_NAME, TAKES_REGEX, TAKES_COUNT };

/* One rule, as it is read. */
struct saying {
	struct ptx_rules *rules;
	const char *word, *value; /* value: "": none */
	struct buf *why;
};

static int complain(const struct saying *s, const char *what)
{
	buf_printf(s->why, "'%s%s%.*s%s': %s", s->word, *s->value ? " " : "", SHOWN_MOST, s->value,
		   strlen(s->value) > SHOWN_MOST ? "…" : "", what);
	return -EINVAL;
}

/* ---- what is probed ---- */

static bool read_number(const char **at, uint32_t *ret)
{
	char *end;
	unsigned long n;

	if (**at < '0' || **at > '9')
		return false;
	n = strtoul(*at, &end, 10);
	*at = end;
	*ret = (uint32_t)n;
	return n && n <= INT32_MAX;
}

/* FILE:LINE[-LINE] */
static int take_lines(const struct saying *s, struct ptx_rule *rule)
{
	const char *colon = strrchr(s->value, ':'), *at = colon ? colon + 1 : "";

	if (!colon || colon == s->value || !read_number(&at, &rule->first))
		return complain(s, "takes FILE:LINE or FILE:LINE-LINE");
	rule->last = rule->first;
	if (*at == '-' && (at++, !read_number(&at, &rule->last)))
		return complain(s, "takes FILE:LINE or FILE:LINE-LINE");
	if (*at || rule->last < rule->first)
		return complain(s, "these are no lines");
	rule->text = strndup(s->value, (size_t)(colon - s->value));
	return rule->text ? 0 : -ENOMEM;
}

static int take_name(const struct saying *s, struct ptx_rule *rule)
{
	if (!*s->value)
		return complain(s, "takes the name of a label");
	rule->text = strdup(s->value);
	return rule->text ? 0 : -ENOMEM;
}

static int take_regex(const struct saying *s, struct ptx_rule *rule)
{
	char why[128];
	int r;

	if (!*s->value)
		return complain(s, "takes a regular expression");
	r = bounded_regex(&rule->regex, s->value, REG_NOSUB, NULL, why, sizeof(why));
	if (r < 0)
		return r == -ENOMEM ? r : complain(s, why);
	rule->text = strdup(s->value);
	if (!rule->text)
		regfree(&rule->regex);
	return rule->text ? 0 : -ENOMEM;
}

static int take_none(const struct saying *s, struct ptx_rule *rule)
{
	(void)rule;
	return *s->value ? complain(s, "takes nothing") : 0;
}

static int add_rule(const struct saying *s, enum ptx_anchor anchor, enum takes takes)
{
	static int (*const take[])(const struct saying *, struct ptx_rule *) = {
		[TAKES_NONE] = take_none,
		[TAKES_LINES] = take_lines,
		[TAKES_NAME] = take_name,
		[TAKES_REGEX] = take_regex,
	};
	struct ptx_rule rule = {.anchor = anchor};
	int r;

	if (s->rules->n == RULES_MOST)
		return complain(s, "there are too many rules");
	if (ARRAY_ROOM(s->rules->rule, s->rules->cap, s->rules->n + 1) < 0)
		return -ENOMEM;
	r = take[takes](s, &rule);
	if (r == 0)
		s->rules->rule[s->rules->n++] = rule;
	return r;
}

/* ---- of which kernels, how many ---- */

static int add_pattern(const struct saying *s, char ***patterns, size_t *n, size_t *cap)
{
	if (!*s->value)
		return complain(s, "takes a pattern of names");
	if (*n == RULES_MOST)
		return complain(s, "there are too many rules");
	if (ARRAY_ROOM(*patterns, *cap, *n + 1) < 0)
		return -ENOMEM;
	(*patterns)[*n] = strdup(s->value);
	return (*patterns)[*n] ? (++*n, 0) : -ENOMEM;
}

static int add_only(const struct saying *s)
{
	return add_pattern(s, &s->rules->only, &s->rules->n_only, &s->rules->cap_only);
}

static int add_skip(const struct saying *s)
{
	return add_pattern(s, &s->rules->skip, &s->rules->n_skip, &s->rules->cap_skip);
}

static int set_limit(const struct saying *s)
{
	const char *at = s->value;

	return read_number(&at, &s->rules->limit) && !*at ? 0 : complain(s, "takes a number");
}

/* ---- words ---- */

static const struct {
	const char *word;
	enum takes takes;
	int (*other)(const struct saying *s); /* NULL: an anchor, of the same index */
} words[] = {
#define _(id, word, takes, what) {word, TAKES_##takes, NULL},
	PTX_ANCHORS(_)
#undef _
		{"kernel", TAKES_NAME, add_only},
	{"skip", TAKES_NAME, add_skip},
	{"limit", TAKES_COUNT, set_limit},
};

static void put_words(struct buf *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		buf_printf(why, "%s%s", i ? ", " : "; there are ", words[i].word);
}

static int complain_unknown(const struct saying *s)
{
	size_t len = strlen(s->word);
	unsigned best = (unsigned)(len + 2) / 3 + 1;
	const char *near = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		unsigned far =
			edit_distance(s->word, len, words[i].word, strlen(words[i].word), true);

		if (far >= best)
			continue;
		best = far;
		near = words[i].word;
	}
	buf_printf(s->why, "'%.64s' is no rule", s->word);
	if (near)
		buf_printf(s->why, "; did you mean '%s'?", near);
	else if (*s->value || !said_rules_hint(s->word, s->why))
		put_words(s->why);
	return -EINVAL;
}

static int take_saying(const struct saying *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(s->word, words[i].word) != 0)
			continue;
		return words[i].other ? words[i].other(s)
				      : add_rule(s, (enum ptx_anchor)i, words[i].takes);
	}
	return complain_unknown(s);
}

/* ---- text ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Of a regular expression commas and remarks are a part. */
static size_t item_length(const char *at, size_t n)
{
	const char *end = memchr(at, '\n', n);
	size_t line = end ? (size_t)(end - at) : n, i = 0;

	if (line > 5 && !strncmp(at, "match", 5) && (is_blank(at[5]) || at[5] == '='))
		return line;
	if (line && *at == '#')
		return line;
	while (i < line && at[i] != ',' && !(at[i] == '#' && is_blank(at[i - 1])))
		i++;
	return i;
}

/* item: without blanks around it; it is changed. */
static int take_item(char *item, struct ptx_rules *rules, struct buf *why)
{
	size_t len = strcspn(item, " \t=");
	char *value = item + len;

	if (*value) {
		*value++ = '\0';
		value += strspn(value, " \t");
	}
	return take_saying(&(struct saying){rules, item, value, why});
}

static int parse(const char *at, size_t n, struct ptx_rules *rules, struct buf *why)
{
	int r = 0;

	for (size_t len; n && r == 0; at += len, n -= len) {
		_cleanup_(freep) char *item = NULL;
		size_t shown;

		while (n && (is_blank(*at) || *at == ',' || *at == '\n')) {
			at++;
			n--;
		}
		len = shown = item_length(at, n);
		while (shown && is_blank(at[shown - 1]))
			shown--;
		if (!shown || *at == '#')
			continue;
		item = strndup(at, shown);
		r = item ? take_item(item, rules, why) : -ENOMEM;
	}
	return r;
}

int ptx_rules_parse(const char *text, size_t n, struct ptx_rules **ret, struct buf *ret_why)
{
	struct ptx_rules *rules = calloc(1, sizeof(*rules));
	int r;

	if (!rules)
		return -ENOMEM;
	rules->limit = PTX_LIMIT_USUAL;
	r = parse(text, n, rules, ret_why);
	if (r == 0 && !rules->n) /* of which kernels, but not what of them */
		r = parse(PTX_RULES_USUAL, strlen(PTX_RULES_USUAL), rules, ret_why);
	if (r == 0)
		*ret = rules;
	else
		ptx_rules_free(rules);
	return r;
}

int ptx_rules_said(const char *said, struct ptx_rules **ret, struct buf *ret_why)
{
	_cleanup_(buf_done) struct buf text = {0};
	int r = said_rules_read(said, &text, ret_why);

	return r < 0 ? r : ptx_rules_parse(buf_str(&text), text.len, ret, ret_why);
}

struct ptx_rules *ptx_rules_free(struct ptx_rules *rules)
{
	if (!rules)
		return NULL;
	for (size_t i = 0; i < rules->n; i++) {
		if (rules->rule[i].anchor == PTX_MATCH)
			regfree(&rules->rule[i].regex);
		free(rules->rule[i].text);
	}
	for (size_t i = 0; i < rules->n_only; i++)
		free(rules->only[i]);
	for (size_t i = 0; i < rules->n_skip; i++)
		free(rules->skip[i]);
	free(rules->rule);
	free(rules->only);
	free(rules->skip);
	free(rules);
	return NULL;
}

static bool is_any(char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

bool ptx_rules_want(const struct ptx_rules *rules, const char *kernel)
{
	return (!rules->n_only || is_any(rules->only, rules->n_only, kernel)) &&
	       !is_any(rules->skip, rules->n_skip, kernel);
}
