/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/column.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/near.h"
#include "base/util.h"
#include "core/hists.h"

/* What is made of a metric, as initializers of struct derived. */
#define MADE_VALUE     .op = DERIVED_VALUE, .inclusive = true, .plain = true, .factor = 1
#define MADE_VALUE_INC MADE_VALUE, .is_said = true
#define MADE_VALUE_EXC .op = DERIVED_VALUE, .is_said = true, .plain = true, .factor = 1
#define MADE_SHARE     .op = DERIVED_SHARE, .inclusive = true, .plain = true, .factor = 1
#define MADE_NOW       .op = DERIVED_NOW, .inclusive = true, .plain = true, .factor = 1
#define MADE_AVG       .op = DERIVED_AVG, .inclusive = true, .plain = true, .factor = 1
#define MADE_SAMPLED   .op = DERIVED_SAMPLED, .inclusive = true, .plain = true, .factor = 1
#define MADE_P(share_)                                                                             \
	.op = DERIVED_QUANTILE, .inclusive = true, .plain = true, .factor = 1, .share = share_
#define MADE_P50       MADE_P(0.5)
#define MADE_P90       MADE_P(0.9)
#define MADE_P99       MADE_P(0.99)
#define MADE_STDDEV    MADE_P(HISTS_DEVIATION)
#define MADE_GIGA_RATE .op = DERIVED_RATE, .inclusive = true, .factor = 1e9
#define MADE_TERA_RATE .op = DERIVED_RATE, .inclusive = true, .factor = 1e12

#define OWN_WIDTH      7 /* of a column that is not among the usual ones */

const struct column_spec usual_columns[USUAL_N] = {
#define _(id, title_, form_, width_, rank_, metric_, op_, help_)                                   \
	[USUAL_##id] = {.title = title_,                                                           \
			.help = help_,                                                             \
			.derived = {MADE_##op_, .metric = METRIC_##metric_},                       \
			.form = FORM_##form_,                                                      \
			.width = width_,                                                           \
			.priority = rank_},
	USUAL_COLUMNS(_)
#undef _
};

static bool is_blank(char c)
{
	return c == ' ' || c == '_';
}

bool column_is_titled(const char *title, const char *word, size_t len)
{
	for (; *title && len; title++, word++, len--)
		if (tolower((unsigned char)*title) != tolower((unsigned char)*word) &&
		    !(is_blank(*title) && is_blank(*word)))
			return false;
	return !*title && !len;
}

/* enum usual_column, or -1 */
static int usual_find(const char *word, size_t len)
{
	for (int i = 0; i < USUAL_N; i++)
		if (column_is_titled(usual_columns[i].title, word, len))
			return i;
	return -1;
}

uint8_t metric_form(const struct metric *m)
{
	if (!strcmp(m->unit, "ns"))
		return FORM_TIME;
	return !strcmp(m->unit, "B") ? FORM_BYTES : FORM_NUMBER;
}

static uint8_t form_of(const struct session *s, const struct derived *d)
{
	const struct metric *m = derive_metric(s, d->metric);

	if (derived_word(d, 0) || (m && m->type == METRIC_TEXT))
		return FORM_WORD;
	if (d->op == DERIVED_RATE && d->factor == 1)
		return FORM_RATE; /* of bytes, or of operations: these have prefixes of their own */
	if (!d->plain || d->op == DERIVED_RATE)
		return FORM_PLAIN;
	if (d->op == DERIVED_SHARE || d->op == DERIVED_OF_PARENT)
		return FORM_PERCENT;
	if (d->op == DERIVED_QUANTILE)
		return FORM_TIME;
	return m ? metric_form(m) : FORM_PLAIN;
}

int column_parse(const struct session *s, const char *word, size_t len, struct column_spec *ret)
{
	int usual = usual_find(word, len), r;

	if (usual >= 0 && derive_own(s, word, len) == METRIC_NONE) {
		*ret = usual_columns[usual];
		return 0;
	}
	*ret = (struct column_spec){.width = OWN_WIDTH};
	r = derive_parse(s, word, len, &ret->derived);
	if (r < 0)
		return r;
	ret->form = form_of(s, &ret->derived);
	return 0;
}

/* Does a list begin with a name, and does the word or its unit end there? */
static bool begins_with(const char *words, const char *name, size_t len)
{
	return !strncmp(words, name, len) && strchr(",/( ", words[len]); /* NUL, too */
}

size_t column_word_len(const struct session *s, const char *words)
{
	size_t len = strcspn(words, ","), longest = 0;

	if (!words[len])
		return len;
	for (uint32_t i = 0; i < metric_table_count(s->metrics); i++) {
		const char *name = metric_table_get(s->metrics, i)->name;
		const size_t lens[] = {strlen(name), metric_bare_len(name)};

		for (size_t k = 0; k < ARRAY_SIZE(lens); k++)
			if (lens[k] > MAX(len, longest) && begins_with(words, name, lens[k]))
				longest = lens[k];
	}
	return longest ? longest + strcspn(words + longest, ",") : len;
}

/* "p101", "time_p101/us" */
static bool is_beyond_100(const char *word, size_t len)
{
	size_t n = 0;

	if (len > 5 && !memcmp(word, "time_", 5)) {
		word += 5;
		len -= 5;
	}
	if (!len || *word != 'p')
		return false;
	while (1 + n < len && isdigit((unsigned char)word[1 + n]))
		n++;
	return n > 2 && (1 + n == len || word[1 + n] == '/') && strtoul(word + 1, NULL, 10) > 100;
}

bool column_is_hopeless(const char *word, size_t len)
{
	const char *slash = memrchr(word, '/', len);

	return is_beyond_100(word, len) || column_is_titled("CUM%", word, len) ||
	       (slash && usual_find(word, (size_t)(slash - word)) >= 0);
}

/* The unit that an amount has to have to be one of a column; AMOUNT_PLAIN: any number, without one. */
static enum amount_unit unit_of(const struct session *s, const struct derived *d)
{
	const struct metric *m = derive_metric(s, d->metric);

	switch (d->op) {
	case DERIVED_SHARE:
	case DERIVED_OF_PARENT:
	case DERIVED_SAMPLED:
		return AMOUNT_PERCENT;
	case DERIVED_QUANTILE:
		return AMOUNT_TIME;
	case DERIVED_RATE:
		return AMOUNT_SCALED;
	case DERIVED_VALUE:
	case DERIVED_AVG:
	case DERIVED_NOW:
		return !m                       ? AMOUNT_PLAIN
		       : !strcmp(m->unit, "ns") ? AMOUNT_TIME
		       : !strcmp(m->unit, "B")  ? AMOUNT_BYTES
						: AMOUNT_SCALED;
	default:
		return AMOUNT_PLAIN;
	}
}

int column_in_unit(struct column_spec *c, const struct session *s, const struct amount *amount)
{
	enum amount_unit unit = unit_of(s, &c->derived);

	if (c->form == FORM_WORD)
		return -EDOM;
	if (amount->unit == AMOUNT_PLAIN)
		return 0;
	if (amount->unit != unit && !(amount->unit == AMOUNT_SCALED && unit == AMOUNT_BYTES))
		return -EDOM;
	c->derived.factor = 1;
	return 0;
}

uint32_t column_metric(const struct session *s, const char *word)
{
	struct column_spec c;

	if (column_parse(s, word, strlen(word), &c) < 0 || c.derived.op != DERIVED_VALUE ||
	    !c.derived.plain)
		return METRIC_NONE;
	return c.derived.metric == METRIC_ANY_FLOPS ? derive_flops(s) : c.derived.metric;
}

void column_of_metric(const struct session *s, uint32_t metric, struct column_spec *ret,
		      size_t *ret_len)
{
	const struct metric *m = metric_table_get(s->metrics, metric);
	size_t n = metric_bare_len(m->name);

	*ret_len = n ? n : strlen(m->name);
	*ret = (struct column_spec){
		.title = m->name,
		.help = m->name,
		.derived = {MADE_VALUE, .metric = metric},
		.width = OWN_WIDTH,
		.priority = 20,
	};
	ret->derived.inclusive = m->scope == METRIC_INCLUSIVE;
	ret->form = form_of(s, &ret->derived);
}

/* ---- values ---- */

static void print_plain(double v, bool exact, char out[COLUMN_TEXT])
{
	char text[HUMAN_MAX];

	if (exact)
		snprintf(out, COLUMN_TEXT, fabs(v) < 1e15 ? "%.3f" : "%.6g", v);
	else if (fabs(v) >= 9999.5 && fabs(v) < 1e15)
		snprintf(out, COLUMN_TEXT, "%.0f", v);
	else if (fabs(v) >= 0.0005 && fabs(v) < 0.9995) /* as many digits as larger ones have */
		snprintf(out, COLUMN_TEXT, "%.3f", v);
	else {
		human_rate(text, v);
		snprintf(out, COLUMN_TEXT, "%s", text);
	}
}

static void print_number(char out[HUMAN_MAX], double v)
{
	if (v == floor(v) || fabs(v) >= 1e4)
		human_count(out, v);
	else
		human_rate(out, v);
}

static void print_percent(char out[HUMAN_MAX], double v)
{
	human_percent(out, v / 100);
}

static void (*const print[])(char[HUMAN_MAX], double) = {
	[FORM_TIME] = human_time_ns,  [FORM_BYTES] = human_bytes,     [FORM_COUNT] = human_count,
	[FORM_RATE] = human_rate,     [FORM_PERCENT] = print_percent, [FORM_NUMBER] = print_number,
	[FORM_TREND] = human_time_ns, [FORM_BAR] = print_percent,
};

void metric_print(char out[HUMAN_MAX], const struct metric *m, double v)
{
	print[metric_form(m)](out, v);
}

/* Cut between two characters, when it has to be. */
static void put_word(char out[COLUMN_TEXT], const char *word)
{
	static const char dots[] = "...";
	size_t n = strlen(word);

	if (n < COLUMN_TEXT) {
		memcpy(out, word, n + 1);
		return;
	}
	for (n = COLUMN_TEXT - sizeof(dots); n > 0 && (word[n] & 0xc0) == 0x80;)
		n--;
	memcpy(out, word, n);
	memcpy(out + n, dots, sizeof(dots));
}

const char *column_word(const struct column_spec *c, const struct session *s, double v)
{
	const char *word = derived_word(&c->derived, v);

	return word ? word : session_text(s, (uint32_t)v);
}

void column_print(const struct column_spec *c, const struct session *s, double v, bool exact,
		  char out[COLUMN_TEXT])
{
	if (!isfinite(v)) /* infinite: divided by zero, which means nothing to people */
		memcpy(out, "-", 2);
	else if (c->form == FORM_WORD)
		put_word(out, column_word(c, s, v));
	else if (c->form == FORM_PLAIN)
		print_plain(v, exact, out);
	else
		print[c->form](out, v);
}

/* ---- words that nobody knows ---- */

/* The name of a column, then of a metric; NULL: no more. */
static const char *name_at(const struct session *s, uint32_t i)
{
	const struct metric *m;

	if (i < USUAL_N)
		return usual_columns[i].title;
	m = metric_table_get(s->metrics, i - USUAL_N);
	return m ? m->name : NULL;
}

#define NEAR_MAX 5 /* names that are suggested for a word */

/* The distance of a word from a name. A name that begins with the word is just near enough. */
static unsigned how_far(const char *word, size_t len, const char *name, unsigned limit)
{
	size_t n = metric_bare_len(name);

	if (len >= 3 && n > len && !strncasecmp(word, name, len))
		return limit;
	return edit_distance(word, len, name, n, true);
}

/* Does an earlier name say the same, as a title may? */
static bool is_named_before(const struct session *s, uint32_t at)
{
	const char *name = name_at(s, at);
	size_t len = metric_bare_len(name);

	for (uint32_t i = 0; i < at; i++)
		if (metric_bare_len(name_at(s, i)) == len && !strncasecmp(name_at(s, i), name, len))
			return true;
	return false;
}

/* List the names that are near a word, the nearest first. */
static void find_near(const struct session *s, const char *word, size_t len, char *out, size_t size)
{
	unsigned limit, found = 0;
	size_t used = 0;
	const char *name;

	*out = '\0';
	len = MIN(len, strcspn(word, "/("));
	if (!len)
		return;
	limit = len < 4 ? 1 : 2;
	for (unsigned far = 0; far <= limit; far++)
		for (uint32_t i = 0; found < NEAR_MAX && (name = name_at(s, i)); i++) {
			int n = (int)metric_bare_len(name);

			if (!n || how_far(word, len, name, limit) != far ||
			    used + (size_t)n + 3 > size || is_named_before(s, i))
				continue;
			used += (size_t)snprintf(out + used, size - used, "%s%.*s",
						 found++ ? ", " : "", n, name);
		}
}

const char *column_unknown(const struct session *s, const char *words, size_t *ret_len,
			   int *ret_why, char *near, size_t near_size)
{
	struct column_spec spec;

	for (; *words; words += *ret_len + (words[*ret_len] == ',')) {
		*ret_len = column_word_len(s, words);
		*ret_why = column_parse(s, words, *ret_len, &spec);
		if (*ret_why == 0)
			continue;
		find_near(s, words, *ret_len, near, near_size);
		return words;
	}
	return NULL;
}
