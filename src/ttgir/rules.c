/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "ttgir/rules.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounded_regex.h"
#include "base/util.h"

/* A rule on its way. */
struct parser {
	struct ttgir_rule rule;
	char *why;
	size_t size;
};

/* As Triton 3.4 to 3.7 name them. */
static const struct {
	const char *word, *expression;
} sorts[] = {
	{"ld", "tt\\.(load|descriptor_load|descriptor_gather)|ttg\\.async_copy_global_to_local|"
	       "ttng\\.async_tma_(copy_global_to_local|gather)"},
	{"st", "tt\\.(store|descriptor_store|descriptor_scatter|descriptor_reduce)|"
	       "ttng\\.async_tma_(copy_local_to_global|scatter|reduce)"},
	{"mma", "tt\\.dot(_scaled)?|ttng\\.(warp_group_dot|tc_gen5_mma|tc_gen5_mma_scaled)"},
	{"wgmma", "ttng\\.warp_group_dot"},
	{"wait", "ttg\\.async_wait|ttng\\.(wait_barrier|warp_group_dot_wait|async_tma_store_wait)"},
	{"tma", "ttng\\.async_tma_(copy|gather|scatter|reduce).*|tt\\.descriptor_.*"},
	{"bar", "gpu\\.barrier|ttg\\.(local_)?barrier"},
	{"atomic", "tt\\.atomic_.*"},
	{"reduce", "tt\\.(reduce|scan)"},
};

const char *ttgir_rule_word(unsigned i, const char **ret_expression)
{
	if (i >= ARRAY_SIZE(sorts))
		return NULL;
	*ret_expression = sorts[i].expression;
	return sorts[i].word;
}

/* ---- what a word takes ---- */

static int take_nothing(struct parser *p, const char *text)
{
	if (!*text)
		return 0;
	snprintf(p->why, p->size, "'%s' says more than this rule takes", text);
	return -EINVAL;
}

static int take_pattern(struct parser *p, const char *text)
{
	p->rule.text = strdup(text);
	return p->rule.text ? 0 : -ENOMEM;
}

/* "x{1000}": a few of these are more than memory holds. */
static bool repeats_by_number(const char *expression)
{
	for (const char *p = expression; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '{')
			return true;
	}
	return false;
}

static int compile(struct parser *p, const char *expression, const char *written)
{
	char told[64];
	int r;

	if (repeats_by_number(expression)) {
		p->rule.kind = TTGIR_RULE_FUNCTION; /* of which there is no expression to free */
		snprintf(p->why, p->size, "'%s' has a {, which expressions of rules do not take",
			 written);
		return -EINVAL;
	}
	r = bounded_regex(&p->rule.regex, expression, REG_NOSUB, NULL, told, sizeof(told));
	if (r == 0)
		return 0;
	p->rule.kind = TTGIR_RULE_FUNCTION;
	if (r == -ENOMEM)
		return r;
	snprintf(p->why, p->size, "'%s' is no regular expression: %s", written, told);
	return -EINVAL;
}

static int take_expression(struct parser *p, const char *text)
{
	return compile(p, text, text);
}

/* A whole name. */
static int take_operation(struct parser *p, const char *text)
{
	char *whole;
	int r;

	if (asprintf(&whole, "^(%s)$", text) < 0) {
		p->rule.kind = TTGIR_RULE_FUNCTION;
		return -ENOMEM;
	}
	r = compile(p, whole, text);
	free(whole);
	return r;
}

static bool read_number(const char **p, uint32_t *ret)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	n = strtoul(*p, &end, 10);
	*p = end;
	*ret = (uint32_t)n;
	return !errno && n && n < UINT32_MAX;
}

/* LINE[-LINE] */
static bool read_lines(const char *p, uint32_t *ret_first, uint32_t *ret_last)
{
	if (!read_number(&p, ret_first))
		return false;
	*ret_last = *ret_first;
	if (*p == '-') {
		p++;
		if (!read_number(&p, ret_last))
			return false;
	}
	return !*p && *ret_first <= *ret_last;
}

static int take_lines(struct parser *p, const char *text)
{
	const char *colon = strrchr(text, ':');

	if (colon && colon > text && read_lines(colon + 1, &p->rule.first, &p->rule.last)) {
		p->rule.text = strndup(text, (size_t)(colon - text));
		return p->rule.text ? 0 : -ENOMEM;
	}
	snprintf(p->why, p->size, "'%s' is not FILE:LINE or FILE:LINE-LINE", text);
	return -EINVAL;
}

static const struct {
	const char *word;
	int (*take)(struct parser *p, const char *text);
	bool needs_more;
} words[] = {
	[TTGIR_RULE_FUNCTION] = {"func", take_nothing, false},
	[TTGIR_RULE_LOOP] = {"loop", take_nothing, false},
	[TTGIR_RULE_ITERATION] = {"loop:iter", take_nothing, false},
	[TTGIR_RULE_LINES] = {"loc", take_lines, true},
	[TTGIR_RULE_OPERATION] = {"op", take_operation, true},
	[TTGIR_RULE_MATCH] = {"match", take_expression, true},
	[TTGIR_RULE_KERNEL] = {"kernel", take_pattern, true},
	[TTGIR_RULE_SKIP] = {"skip", take_pattern, true},
};

/* ---- a rule ---- */

static int take_word(struct parser *p, const char *word, size_t len, const char *more)
{
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i].word) != len || memcmp(word, words[i].word, len) != 0)
			continue;
		if (words[i].needs_more && !*more) {
			snprintf(p->why, p->size, "'%s' needs something behind it", words[i].word);
			return -EINVAL;
		}
		p->rule.kind = (enum ttgir_rule_kind)i;
		return words[i].take(p, more);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(sorts); i++)
		if (strlen(sorts[i].word) == len && !memcmp(word, sorts[i].word, len) && !*more) {
			p->rule.kind = TTGIR_RULE_OPERATION;
			return take_operation(p, sorts[i].expression);
		}
	if (memchr(word, '.', len) && !*more) {
		p->rule.kind = TTGIR_RULE_OPERATION;
		return take_operation(p, word);
	}
	snprintf(
		p->why, p->size,
		"'%.*s' is no rule: there are func, loop, loop:iter, loc, op, match, kernel, skip, and "
		"of operations ld, st, mma, wgmma, wait, tma, bar, atomic and reduce",
		(int)MIN(len, (size_t)80), word);
	return -EINVAL;
}

/* "RULE as NAME": cuts the text before that. */
static int take_name(struct parser *p, char *text)
{
	static const char as[] = " as ";
	char *name = strstr(text, as), *end;

	if (!name)
		return 0;
	p->rule.name = strdup(name + sizeof(as) - 1 + strspn(name + sizeof(as) - 1, " "));
	if (!p->rule.name)
		return -ENOMEM;
	for (end = name; end > text && end[-1] == ' '; end--)
		;
	*end = '\0';
	if (*p->rule.name && end > text)
		return 0;
	snprintf(p->why, p->size, "'as' is between a rule and a name");
	return -EINVAL;
}

static void rule_done(struct ttgir_rule *rule)
{
	if (rule->kind == TTGIR_RULE_OPERATION || rule->kind == TTGIR_RULE_MATCH)
		regfree(&rule->regex);
	free(rule->text);
	free(rule->name);
}

/* One of them, without blanks around it; it is written to. */
static int take_rule(struct ttgir_rules *rules, char *text, char *why, size_t size)
{
	struct parser p = {.why = why, .size = size};
	int r = take_name(&p, text);
	size_t len = strcspn(text, " =");
	const char *more = text + len + strspn(text + len, " =");

	if (r == 0 && ARRAY_ROOM(rules->v, rules->cap, rules->n + 1) < 0)
		r = -ENOMEM;
	if (r == 0)
		r = take_word(&p, text, len, more);
	if (r < 0)
		rule_done(&p.rule);
	else
		rules->v[rules->n++] = p.rule;
	return r;
}

/* ---- all of them ---- */

/* To where a rule ends: commas within brackets belong to expressions. */
static size_t rule_len(const char *p)
{
	int depth = 0;
	size_t i;

	for (i = 0; p[i] && p[i] != '\n'; i++) {
		if (strchr("([{", p[i]))
			depth++;
		else if (strchr(")]}", p[i]))
			depth--;
		else if ((p[i] == ',' && depth <= 0) || p[i] == '#')
			break;
	}
	return i;
}

static int take_between(struct ttgir_rules *rules, const char *from, const char *to, char *why,
			size_t size)
{
	char *text;
	int r;

	while (from < to && isspace((unsigned char)*from))
		from++;
	while (from < to && isspace((unsigned char)to[-1]))
		to--;
	if (from == to)
		return 0;
	text = strndup(from, (size_t)(to - from));
	r = text ? take_rule(rules, text, why, size) : -ENOMEM;
	free(text);
	return r;
}

static bool has_records(const struct ttgir_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->v[i].kind != TTGIR_RULE_KERNEL && rules->v[i].kind != TTGIR_RULE_SKIP)
			return true;
	return false;
}

int ttgir_rules_parse(struct ttgir_rules *rules, const char *text, char *ret_why, size_t size)
{
	int r = 0;

	*rules = (struct ttgir_rules){0};
	while (r == 0 && *text) {
		const char *end = text + rule_len(text);

		r = take_between(rules, text, end, ret_why, size);
		if (*end == '#')
			end += strcspn(end, "\n");
		text = end + (*end != '\0');
	}
	if (r == 0 && !has_records(rules)) {
		snprintf(ret_why, size, "no rule says where records are wanted");
		r = -EINVAL;
	}
	if (r < 0)
		ttgir_rules_done(rules);
	return r;
}

void ttgir_rules_done(struct ttgir_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		rule_done(&rules->v[i]);
	free(rules->v);
	*rules = (struct ttgir_rules){0};
}

bool ttgir_rules_want(const struct ttgir_rules *rules, const char *kernel)
{
	bool is_only = false, is_chosen = false;

	for (size_t i = 0; i < rules->n; i++) {
		const struct ttgir_rule *rule = &rules->v[i];

		if (rule->kind == TTGIR_RULE_SKIP && fnmatch(rule->text, kernel, 0) == 0)
			return false;
		if (rule->kind != TTGIR_RULE_KERNEL)
			continue;
		is_only = true;
		is_chosen = is_chosen || fnmatch(rule->text, kernel, 0) == 0;
	}
	return !is_only || is_chosen;
}
