/* SPDX-License-Identifier: MIT */
/* Names of metrics made of others: "tflop16/s", "avg_time/us", "time/%". */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include <strings.h>
#include "base/units.h"
#include "base/util.h"
#include "core/derive.h"
#include "core/hists.h"

static bool same(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !strncasecmp(word, name, len);
}

static bool starts(const char **word, size_t *len, const char *prefix)
{
	size_t n = strlen(prefix);

	if (*len < n || strncasecmp(*word, prefix, n) != 0)
		return false;
	*word += n;
	*len -= n;
	return true;
}

static bool ends(const char *word, size_t *len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (*len < n || strncasecmp(word + *len - n, suffix, n) != 0)
		return false;
	*len -= n;
	while (*len && word[*len - 1] == ' ')
		(*len)--;
	return true;
}

uint32_t derive_find(const struct session *s, const char *word, size_t len)
{
	/* From the strictest: names may differ in nothing but their case or their unit. */
	static const struct {
		bool any_case, bare;
	} rules[] = {{false, false}, {false, true}, {true, false}, {true, true}};
	uint32_t n = metric_table_count(s->metrics);

	for (size_t k = 0; k < ARRAY_SIZE(rules); k++)
		for (uint32_t i = 0; i < n; i++) {
			const char *name = metric_table_get(s->metrics, i)->name;
			size_t whole = rules[k].bare ? metric_bare_len(name) : strlen(name);

			if (whole == len && !(rules[k].any_case ? strncasecmp(word, name, len)
								: strncmp(word, name, len)))
				return i;
		}
	return METRIC_NONE;
}

bool derive_is_own(const struct session *s, uint32_t metric)
{
	const struct metric *m = metric_table_get(s->metrics, metric);

	return (metric >= METRIC_N_BUILTIN || metric_is_of_warps(metric)) && m &&
	       m->type != METRIC_TEXT && m->scope != METRIC_PROPERTY;
}

uint32_t derive_own(const struct session *s, const char *word, size_t len)
{
	uint32_t metric = derive_find(s, word, len);
	const char *name;

	if (!derive_is_own(s, metric))
		return METRIC_NONE;
	name = metric_table_get(s->metrics, metric)->name;
	return metric_bare_len(name) == len && !memcmp(name, word, len) ? metric : METRIC_NONE;
}

/* "M", "MB" or "MiB" of a metric of this unit. */
static int parse_unit(const char *unit, const char *word, size_t len, double *ret)
{
	enum unit_of of = !strcmp(unit, "ns")  ? UNIT_OF_TIME
			  : !strcmp(unit, "B") ? UNIT_OF_BYTES
					       : UNIT_OF_NUMBERS;

	return unit_factor(of, word, len, ret);
}

/* "flop16/s", "gbyte/s", "GB/s", "TiB/s"; -ENOENT: no rate. */
static int parse_rate(const char *word, size_t len, struct derived *ret)
{
	static const struct {
		const char *word;
		uint32_t metric;
	} things[] = {
		{"byte", METRIC_BYTES},     {"B", METRIC_BYTES},        {"flop", METRIC_FLOPS},
		{"flop8", METRIC_FLOPS8},   {"flop16", METRIC_FLOPS16}, {"flop32", METRIC_FLOPS32},
		{"flop64", METRIC_FLOPS64},
	};

	const char *prefix;
	double factor;

	if (!ends(word, &len, "/s"))
		return -ENOENT;
	for (size_t p = 0; (prefix = unit_prefix(p, &factor)); p++) {
		const char *rest = word;
		size_t rest_len = len;

		if (!starts(&rest, &rest_len, prefix))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(things); i++) {
			if (!same(rest, rest_len, things[i].word))
				continue;
			ret->op = DERIVED_RATE;
			ret->metric = things[i].metric;
			ret->factor = factor;
			return 0;
		}
	}
	return -ENOENT;
}

/* Parse "p99" or "stddev" at the beginning of *word and move behind it. */
static bool parse_share(const char **word, size_t *len, double *ret)
{
	unsigned n = 0;

	if (starts(word, len, "stddev")) {
		*ret = HISTS_DEVIATION;
		return true;
	}
	if (!starts(word, len, "p") || !*len || **word < '0' || **word > '9')
		return false;
	for (; *len && **word >= '0' && **word <= '9' && n <= 100; ++*word, --*len)
		n = n * 10 + (unsigned)(**word - '0');
	*ret = n / 100.0;
	return n <= 100;
}

/* "util", "bound", "source", "p99/us", "time_p99/us" and "stddev" */
static int parse_special(const char *word, size_t len, struct derived *ret)
{
	static const struct {
		const char *word;
		uint8_t op;
	} roofline[] = {
		{"util", DERIVED_UTIL}, {"bound", DERIVED_BOUND}, {"source", DERIVED_SOURCE}};

	for (size_t i = 0; i < ARRAY_SIZE(roofline); i++)
		if (same(word, len, roofline[i].word)) {
			ret->op = roofline[i].op;
			return 0;
		}
	starts(&word, &len, "time_");
	if (!parse_share(&word, &len, &ret->share) || (len && *word != '/'))
		return -ENOENT;
	ret->op = DERIVED_QUANTILE;
	if (!len)
		return 0;
	ret->plain = false;
	return parse_unit("ns", word + 1, len - 1, &ret->factor);
}

static int parse_metric(const struct session *s, const char *word, size_t len, struct derived *ret)
{
	const char *slash = memrchr(word, '/', len), *unit = NULL;
	size_t bare = len, unit_len = 0;

	ret->metric = derive_find(s, word, len);
	if (ret->metric != METRIC_NONE)
		return 0;
	if (slash) {
		bare = (size_t)(slash - word);
		unit = slash + 1;
		unit_len = len - bare - 1;
	}
	ret->metric = derive_find(s, word, bare);
	if (ret->metric == METRIC_NONE && starts(&word, &bare, "avg_")) {
		ret->metric = derive_find(s, word, bare);
		ret->op = DERIVED_AVG;
	}
	if (ret->metric == METRIC_NONE)
		return -ENOENT;
	if (metric_table_get(s->metrics, ret->metric)->type == METRIC_TEXT)
		return unit || ret->op == DERIVED_AVG ? -EINVAL : 0;
	if (!unit)
		return 0;
	if (ret->op == DERIVED_VALUE && same(unit, unit_len, "%")) {
		ret->op = DERIVED_SHARE;
		return 0;
	}
	if (ret->op == DERIVED_VALUE && same(unit, unit_len, "%parent")) {
		ret->op = DERIVED_OF_PARENT;
		return 0;
	}
	ret->plain = false;
	return parse_unit(metric_table_get(s->metrics, ret->metric)->unit, unit, unit_len,
			  &ret->factor);
}

/* A metric of the profile's own may be called like one made of others: then it is meant. */
static int parse_own(const struct session *s, const char *word, size_t len, struct derived *ret)
{
	ret->metric = derive_own(s, word, len);
	return ret->metric == METRIC_NONE ? -ENOENT : 0;
}

/* If nothing is said. Host time is exclusive in files, where it is elapsed time. */
static bool is_inclusive(const struct session *s, uint32_t metric)
{
	return metric == METRIC_CPU_TIME ||
	       metric_table_get(s->metrics, metric)->scope == METRIC_INCLUSIVE;
}

int derive_parse(const struct session *s, const char *word, size_t len, struct derived *ret)
{
	bool exc, inc;
	int r;

	*ret = (struct derived){.op = DERIVED_VALUE,
				.inclusive = true,
				.plain = true,
				.metric = METRIC_NONE,
				.factor = 1};
	while (len && *word == ' ') {
		word++;
		len--;
	}
	ends(word, &len, "");
	/* "(exc)" and the like may be a part of a metric's own name. */
	ret->metric = derive_find(s, word, len);
	exc = ret->metric == METRIC_NONE && ends(word, &len, "(exc)");
	inc = ret->metric == METRIC_NONE && !exc &&
	      (ends(word, &len, "(inc)") || ends(word, &len, "[inclusive]"));
	r = parse_own(s, word, len, ret);
	if (r == -ENOENT)
		r = parse_special(word, len, ret);
	if (r == -ENOENT)
		r = parse_rate(word, len, ret);
	if (r == -ENOENT)
		r = parse_metric(s, word, len, ret);
	if (r < 0)
		return r;
	ret->inclusive = !exc;
	ret->is_said = exc || inc;
	if (derived_is_roofline(ret))
		ret->inclusive = inc; /* upstream's util is of a kernel alone */
	else if (ret->metric != METRIC_NONE && !exc && !inc)
		ret->inclusive = is_inclusive(s, ret->metric);
	return 0;
}
