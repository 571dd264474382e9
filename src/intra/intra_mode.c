/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/intra_mode.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/near.h"
#include "base/util.h"

/* What stands between two separators. */
struct part {
	const char *at;
	size_t len;
};

struct parsed {
	struct intra_mode mode;
	uint32_t selected;     /* warps */
	uint32_t is_selective; /* … and they are meant */
	char *why;
};

struct word {
	const char *word;
	uint32_t value;
};

#define SHOWN(part) (int)MIN((part).len, (size_t)60), (part).at

static bool is_word(struct part p, const char *word)
{
	return strlen(word) == p.len && !strncasecmp(word, p.at, p.len);
}

/* The part up to the next separator, and what stands behind that. */
static struct part cut(struct part *rest, char separator)
{
	const char *end = memchr(rest->at, separator, rest->len);
	struct part first = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
	size_t gone = first.len + (end != NULL);

	*rest = (struct part){rest->at + gone, rest->len - gone};
	return first;
}

static struct part trim(struct part p)
{
	while (p.len && isspace((unsigned char)*p.at))
		p = (struct part){p.at + 1, p.len - 1};
	while (p.len && isspace((unsigned char)p.at[p.len - 1]))
		p.len--;
	return p;
}

/* "SamplingStrategy" of "SamplingStrategy.SELECTIVE" says nothing new. */
static struct part without_type(struct part p)
{
	const char *dot = memrchr(p.at, '.', p.len);

	return dot ? (struct part){dot + 1, p.len - (size_t)(dot + 1 - p.at)} : p;
}

static int find(struct part p, const struct word *words, uint32_t *ret)
{
	for (; words->word; words++)
		if (is_word(p, words->word)) {
			*ret = words->value;
			return 0;
		}
	return -EINVAL;
}

/* The word that was meant, or all that there are. */
static void say_words(struct parsed *o, size_t n, struct part p, const struct word *words)
{
	unsigned least = 3, far;
	const char *near = NULL;

	for (const struct word *w = words; w->word; w++) {
		far = edit_distance(p.at, p.len, w->word, strlen(w->word), true);
		if (far < least) {
			least = far;
			near = w->word;
		}
	}
	if (near) {
		snprintf(o->why + n, INTRA_WHY_MAX - n, "; did you mean '%s'?", near);
		return;
	}
	for (const struct word *w = words; w->word && n < INTRA_WHY_MAX; w++)
		n += (size_t)snprintf(o->why + n, INTRA_WHY_MAX - n, "%s%s",
				      w == words ? ": there is " : ", ", w->word);
}

static int refuse(struct parsed *o, const char *what, struct part p, const struct word *words)
{
	int n = snprintf(o->why, INTRA_WHY_MAX, "'%.*s' is no %s", SHOWN(p), what);

	if (words)
		say_words(o, (size_t)n, p, words);
	return -EINVAL;
}

/* ---- values ---- */

static const struct word buffers[] = {
	{"shared", INTRA_SHARED}, {"shared_mem", INTRA_SHARED}, {"global", INTRA_GLOBAL}, {0}};
static const struct word strategies[] = {{"none", false}, {"selective", true}, {0}};
static const struct word optimizations[] = {{"time_shift", INTRA_TIME_SHIFT},
					    {"sched_stores", INTRA_SCHED_STORES},
					    {"sched_barriers", INTRA_SCHED_BARRIERS},
					    {"clock32", INTRA_CLOCK32},
					    {0}};
/* Of which there is one: Triton's Proton has names of more, and nothing behind them. */
static const struct word metrics[] = {{"cycle", 0}, {0}};
static const struct word buffer_strategies[] = {{"circular", 0}, {0}};
static const struct word granularities[] = {{"warp", 0}, {0}};

static int parse_number(struct part p, uint32_t max, uint32_t *ret)
{
	uint64_t n = 0;

	if (!p.len)
		return -EINVAL;
	for (size_t i = 0; i < p.len; i++) {
		if (!isdigit((unsigned char)p.at[i]))
			return -EINVAL;
		n = n * 10 + (uint64_t)(p.at[i] - '0');
		if (n > max)
			return -EINVAL;
	}
	*ret = (uint32_t)n;
	return 0;
}

static int parse_size(struct parsed *o, struct part p)
{
	if (parse_number(p, INT32_MAX, &o->mode.buffer_bytes) < 0)
		return refuse(o, "size of a buffer in bytes", p, NULL);
	return 0;
}

static int parse_warps(struct parsed *o, struct part list)
{
	while (list.len) {
		struct part p = trim(cut(&list, ','));

		if (warp_set_add(p.at, p.len, &o->selected) == 0)
			continue;
		snprintf(o->why, INTRA_WHY_MAX, WARP_SET_WHY, SHOWN(p));
		return -EINVAL;
	}
	return 0;
}

static int parse_optimizations(struct parsed *o, struct part list)
{
	uint32_t bit;

	while (list.len) {
		struct part p = without_type(trim(cut(&list, ',')));

		if (find(p, optimizations, &bit) < 0)
			return refuse(o, "optimization", p, optimizations);
		o->mode.optimizations |= bit;
	}
	return 0;
}

/* ---- keys ---- */

#define CHOICE(key, title, words_, field)                                                          \
	{                                                                                          \
		.word = key, .what = title, .words = words_, .at = offsetof(struct parsed, field)  \
	}
#define NO_CHOICE SIZE_MAX
static const struct key {
	const char *word, *what;
	const struct word *words; /* of which it is one */
	size_t at;                /* … kept here */
	int (*parse)(struct parsed *o, struct part p);
} keys[] = {
	{"metric_type", "metric_type", metrics, NO_CHOICE, NULL},
	CHOICE("buffer_type", "buffer_type", buffers, mode.buffer),
	{"buffer_size", NULL, NULL, NO_CHOICE, parse_size},
	{"buffer_strategy", "buffer_strategy that is implemented", buffer_strategies, NO_CHOICE,
	 NULL},
	{"granularity", "granularity that is implemented", granularities, NO_CHOICE, NULL},
	CHOICE("sampling_strategy", "sampling_strategy", strategies, is_selective),
	{"sampling_options", NULL, NULL, NO_CHOICE, parse_warps},
	{"optimizations", NULL, NULL, NO_CHOICE, parse_optimizations},
};

/* An empty one is what it is by itself. */
static int take_value(struct parsed *o, const struct key *key, struct part value)
{
	uint32_t chosen;

	if (key->parse)
		return key->parse(o, value);
	value = without_type(value);
	if (!value.len)
		return 0;
	if (find(value, key->words, &chosen) < 0)
		return refuse(o, key->what, value, key->words);
	if (key->at != NO_CHOICE)
		memcpy((char *)o + key->at, &chosen, sizeof(chosen));
	return 0;
}

static int refuse_key(struct parsed *o, struct part key)
{
	struct word words[ARRAY_SIZE(keys) + 1] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		words[i].word = keys[i].word;
	return refuse(o, "option of a mode", key, words);
}

static int take_option(struct parsed *o, struct part option)
{
	struct part value = option, key;

	if (!memchr(option.at, '=', option.len))
		return refuse(o, "option of a mode: they are written key=value", option, NULL);
	key = trim(cut(&value, '='));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (is_word(key, keys[i].word))
			return take_value(o, &keys[i], trim(value));
	return refuse_key(o, key);
}

int intra_mode_parse(const char *text, struct intra_mode *ret, char why[INTRA_WHY_MAX])
{
	static const struct word names[] = {{"default", 0}, {"mma", 0}, {0}};
	struct parsed o = {.why = why};
	struct part rest = {text ? text : "", text ? strlen(text) : 0},
		    name = trim(cut(&rest, ':'));
	uint32_t unused;

	if (name.len && find(name, names, &unused) < 0)
		return refuse(&o, "mode", name, names);
	while (rest.len)
		if (take_option(&o, cut(&rest, ':')) < 0)
			return -EINVAL;
	if (o.is_selective && !o.selected) {
		snprintf(why, INTRA_WHY_MAX,
			 "sampling_strategy=selective wants sampling_options, such as 0,1");
		return -EINVAL;
	}
	o.mode.warps = o.is_selective ? o.selected : INTRA_ALL_WARPS;
	*ret = o.mode;
	return 0;
}

bool intra_mode_ignored(const struct intra_mode *mode, char ret[INTRA_WHY_MAX])
{
	static const struct word said[] = {
		{"sched_stores changes nothing: a scope is written where it ends in any case",
		 INTRA_SCHED_STORES},
		{"sched_barriers is for GPUs of AMD and does nothing here", INTRA_SCHED_BARRIERS},
	};
	size_t n = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		if (mode->optimizations & said[i].value)
			n += (size_t)snprintf(ret + n, INTRA_WHY_MAX - n, "%s%s", n ? "; " : "",
					      said[i].word);
	return n;
}
