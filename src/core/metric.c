/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/metric.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"

struct metric_table {
	struct metric *metrics;
	size_t n, cap;
	struct idindex by_name;
};

static const struct metric builtin[METRIC_N_BUILTIN] = {
#define _(id, number, name, type, scope, add, unit, title)                                         \
	[METRIC_##id] = {name, unit, METRIC_##type, METRIC_##scope, METRIC_##add, METRIC_NONE},
	METRICS_BUILTIN(_)
#undef _
};

const char *metric_title(uint32_t id)
{
	static const char *const titles[METRIC_N_BUILTIN] = {
#define _(id, number, name, type, scope, add, unit, title) [METRIC_##id] = title,
		METRICS_BUILTIN(_)
#undef _
	};

	return id < METRIC_N_BUILTIN ? titles[id] : NULL;
}

static union metric_value combine_sum(const struct metric *m, union metric_value a,
				      union metric_value b)
{
	if (m->type == METRIC_F64)
		a.f64 += b.f64;
	else if (__builtin_add_overflow(a.u64, b.u64, &a.u64))
		a.u64 = UINT64_MAX; /* a wrong number must at least be large */
	return a;
}

static bool value_less(const struct metric *m, union metric_value a, union metric_value b)
{
	return m->type == METRIC_F64 ? a.f64 < b.f64 : a.u64 < b.u64;
}

static union metric_value combine_mean(const struct metric *m, union metric_value a, double wa,
				       union metric_value b, double wb)
{
	double w = wa + wb, mean;

	if (!(w > 0))
		return a;
	mean = (metric_number(m, a) * wa + metric_number(m, b) * wb) / w;
	if (m->type == METRIC_F64)
		a.f64 = mean;
	else
		a.u64 = (uint64_t)(mean + 0.5);
	return a;
}

union metric_value metric_combine(const struct metric *m, union metric_value a, double wa,
				  union metric_value b, double wb)
{
	if (m->type == METRIC_TEXT)
		return b;
	switch (metric_add_plain(m->add)) {
	case METRIC_SUM:
		return combine_sum(m, a, b);
	case METRIC_MIN:
		return value_less(m, b, a) ? b : a;
	case METRIC_MAX:
		return value_less(m, a, b) ? b : a;
	case METRIC_WMEAN:
		return combine_mean(m, a, wa, b, wb);
	default:
		return b;
	}
}

bool metric_convert(enum metric_type from, enum metric_type to, union metric_value *v)
{
	uint64_t whole;

	if (from == to)
		return true;
	if (from == METRIC_TEXT || to == METRIC_TEXT)
		return false;
	if (to == METRIC_F64) {
		v->f64 = (double)v->u64;
		return true;
	}
	if (!(v->f64 >= 0 && v->f64 < 0x1p64))
		return false;
	whole = (uint64_t)v->f64;
	v->u64 = whole + (v->f64 - (double)whole >= 0.5);
	return true;
}

struct metric_table *metric_table_new(void)
{
	struct metric_table *t = calloc(1, sizeof(*t));
	unsigned i;

	for (i = 0; t && i < METRIC_N_BUILTIN; i++)
		if (metric_table_add(t, &builtin[i]) == METRIC_NONE)
			return metric_table_free(t);
	return t;
}

struct metric_table *metric_table_free(struct metric_table *t)
{
	size_t i;

	if (!t)
		return NULL;
	for (i = 0; i < t->n; i++) {
		free((char *)t->metrics[i].name);
		free((char *)t->metrics[i].unit);
	}
	free(t->metrics);
	idindex_done(&t->by_name);
	free(t);
	return NULL;
}

/* A metric without a name would be a column without a title, which nobody could ask for. */
static const char *never_empty(const char *name)
{
	return *name ? name : "<unnamed>";
}

uint32_t metric_table_add(struct metric_table *t, const struct metric *m)
{
	uint32_t id = metric_table_find(t, m->name);
	struct metric copy = *m;

	if (id != METRIC_NONE)
		return id;
	/* The numbers of strings do not add up, whatever a file says. */
	if (copy.type == METRIC_TEXT) {
		copy.add = METRIC_LAST;
		copy.scope = METRIC_PROPERTY;
	}
	if (ARRAY_ROOM(t->metrics, t->cap, t->n + 1) < 0)
		return METRIC_NONE;
	copy.name = strdup(never_empty(m->name));
	copy.unit = strdup(m->unit ? m->unit : "");
	if (!copy.name || !copy.unit ||
	    idindex_add(&t->by_name, hash_bytes(copy.name, strlen(copy.name)), (uint32_t)t->n) <
		    0) {
		free((char *)copy.name);
		free((char *)copy.unit);
		return METRIC_NONE;
	}
	t->metrics[t->n] = copy;
	return (uint32_t)t->n++;
}

void metric_table_widen(struct metric_table *t, uint32_t id)
{
	if (id < t->n && t->metrics[id].type == METRIC_U64)
		t->metrics[id].type = METRIC_F64;
}

static bool metric_equal(const void *ctx, uint32_t id, const void *key)
{
	return !strcmp(((const struct metric_table *)ctx)->metrics[id].name, key);
}

uint32_t metric_table_find(const struct metric_table *t, const char *name)
{
	name = never_empty(name);
	return idindex_find(&t->by_name, hash_bytes(name, strlen(name)), metric_equal, t, name);
}

const struct metric *metric_table_get(const struct metric_table *t, uint32_t id)
{
	return id < t->n ? &t->metrics[id] : NULL;
}

uint32_t metric_table_count(const struct metric_table *t)
{
	return (uint32_t)t->n;
}

size_t metric_bare_len(const char *name)
{
	size_t n = strcspn(name, "(");

	while (n > 0 && name[n - 1] == ' ')
		n--;
	return n;
}

void metric_element_name(char out[METRIC_VECTOR_NAME_MAX + 16], const char *name, size_t i)
{
	size_t bare = metric_bare_len(name);

	snprintf(out, METRIC_VECTOR_NAME_MAX + 16, "%.*s[%zu]%s", (int)bare, name, i, name + bare);
}

static bool is_bare(const char *name, size_t len, const char *other)
{
	return len == metric_bare_len(other) && !strncasecmp(name, other, len);
}

bool metric_is_measured(const char *name)
{
	static const char *const places[] = {"device_id", "device_type"};
	static const bool is_given[METRIC_N_BUILTIN] = {
		[METRIC_BYTES] = true,   [METRIC_FLOPS] = true,   [METRIC_FLOPS8] = true,
		[METRIC_FLOPS16] = true, [METRIC_FLOPS32] = true, [METRIC_FLOPS64] = true,
	};
	size_t len = metric_bare_len(name);

	for (unsigned i = 0; i < METRIC_N_BUILTIN; i++)
		if (!is_given[i] && is_bare(name, len, builtin[i].name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (is_bare(name, len, places[i]))
			return true;
	return false;
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

void metric_guess(const char *name, enum metric_type type, struct metric *ret)
{
	unsigned i;

	for (i = 0; i < METRIC_N_BUILTIN; i++) {
		if (!strcmp(builtin[i].name, name)) {
			*ret = builtin[i];
			return;
		}
	}
	*ret = (struct metric){.name = name, .unit = "", .type = type, .weight = METRIC_NONE};
	if (has_suffix(name, "(ns)"))
		ret->unit = "ns";
	if (type == METRIC_TEXT || has_suffix(name, "(pty)")) {
		ret->scope = METRIC_PROPERTY;
		ret->add = METRIC_LAST;
	} else if (has_suffix(name, "(exc)")) {
		ret->scope = METRIC_EXCLUSIVE;
	}
}
