/* SPDX-License-Identifier: MIT */
/* Metrics that the program gives: to the current calling context, or to the launch that it has begun. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "collect/graph_nodes.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/slots.h"
#include "wire/wire.h"

/* A number that is not kept is told of, once a metric. */
static void metric_complain(const char *name, uint32_t metric, const char *what)
{
	char text[256];

	if (atomic_exchange(&collector->metric[metric].named, true))
		return;
	snprintf(text, sizeof(text), "metric '%.64s' %s", name, what);
	collect_note(NOTE_WARNING, text);
}

static bool metric_takes_numbers(const char *name, uint32_t metric)
{
	if (collector->metric[metric].type != METRIC_TEXT)
		return true;
	metric_complain(name, metric, "began as a text: numbers of it are left out");
	return false;
}

/* A metric has the type of its first value, or that which the model knows for its name. Others are
 * converted; what cannot be (a negative number as an integer) is left out, as the reader would. */
static bool metric_take(const char *name, uint32_t metric, enum metric_type sent,
			union metric_value *v)
{
	enum metric_type type = collector->metric[metric].type;
	const union metric_value given = *v;
	bool kept = metric_convert(sent, type, v);

	if (!kept || (sent == METRIC_F64 && type == METRIC_U64 && (double)v->u64 != given.f64))
		metric_complain(name, metric,
				"began as a whole number: fractions of it are rounded, "
				"negative values left out");
	return kept;
}

static bool metric_takes_texts(const char *name, uint32_t metric)
{
	if (collector->metric[metric].type == METRIC_TEXT && metric >= METRIC_N_BUILTIN)
		return true;
	metric_complain(name, metric, "began as a number: texts of it are left out");
	return false;
}

/* Can the metric have this value, of the type that it then has? */
static bool metric_accept(const char *name, uint32_t metric, enum metric_type sent,
			  union metric_value *v)
{
	if (sent == METRIC_TEXT)
		return metric_takes_texts(name, metric);
	return metric_takes_numbers(name, metric) && metric_take(name, metric, sent, v);
}

enum { NAME_MAX_MARKED = 256 };

/* What stands behind a name says how it adds up, and is no part of it: "wait (ns)(exc)" is "wait (ns)" of
 * each context alone, "rate (pty)" a property. Returns the name without that, in `bare` where it is
 * shorter. */
static const char *metric_mark(const char *name, char bare[NAME_MAX_MARKED], uint8_t *ret_scope)
{
	size_t n = strnlen(name, NAME_MAX_MARKED);

	*ret_scope = METRIC_INCLUSIVE;
	if (n == NAME_MAX_MARKED || n <= 5)
		return name;
	if (!strcmp(name + n - 5, "(exc)"))
		*ret_scope = METRIC_EXCLUSIVE;
	else if (!strcmp(name + n - 5, "(pty)"))
		*ret_scope = METRIC_PROPERTY;
	else
		return name;
	for (n -= 5; n && name[n - 1] == ' '; n--)
		;
	memcpy(bare, name, n);
	bare[n] = '\0';
	return bare;
}

/* Does it add up as this one would, and is it a text or a number as this one? */
static bool is_alike(uint32_t metric, const struct metric *wanted)
{
	const struct metric_entry *m = &collector->metric[metric];

	return metric < METRIC_N_BUILTIN ||
	       (m->scope == wanted->scope &&
		(m->type == METRIC_TEXT) == (wanted->type == METRIC_TEXT));
}

/* A program may give "a" to one scope as a number and to another as a property or a text: they are metrics of
 * their own, and the later one is "a (pty)". */
static uint32_t metric_beside(const char *name, const struct metric *wanted, const char *word)
{
	char text[NAME_MAX_MARKED + 16];

	if (strnlen(name, NAME_MAX_MARKED) == NAME_MAX_MARKED)
		return WIRE_NONE;
	snprintf(text, sizeof(text), "%s (%s)", name, word);
	return metric_intern(text, wanted->unit, wanted->type, wanted->scope, wanted->add);
}

static const char *word_of(const struct metric *m)
{
	static const char *const words[] = {[METRIC_INCLUSIVE] = "number",
					    [METRIC_EXCLUSIVE] = "exc",
					    [METRIC_PROPERTY] = "pty"};

	return m->type == METRIC_TEXT ? "text" : words[m->scope];
}

/* Would it round this one? */
static bool is_whole(uint32_t metric, const struct metric *wanted)
{
	return metric >= METRIC_N_BUILTIN && collector->metric[metric].type == METRIC_U64 &&
	       wanted->type == METRIC_F64;
}

/* What the program gives under a name of what is measured is not added to that, here or by another reader of the
 * file: "time (ns)" is its own "user:time (ns)". */
static const char *metric_apart(const char *name, char own[NAME_MAX_MARKED])
{
	char text[2 * NAME_MAX_MARKED];

	if (_likely_(!metric_is_measured(name)))
		return name;
	snprintf(own, NAME_MAX_MARKED, "user:%.*s", NAME_MAX_MARKED - 8, name);
	snprintf(text, sizeof(text),
		 "metric '%.64s' is what proton measures: the program's own is '%.69s'", name, own);
	collect_note(NOTE_WARNING, text);
	return own;
}

/* The metric of this name, made for a value of this type when it is the first; WIRE_NONE: full. exact: fractions
 * are not rounded where the first was a whole number, but "a (float)". */
static uint32_t metric_of(const char *name, enum metric_type type, uint8_t scope, bool exact)
{
	struct metric guess;
	uint32_t metric;

	metric_guess(name, type, &guess);
	if (scope != METRIC_INCLUSIVE)
		guess.scope = scope;
	if (scope == METRIC_PROPERTY)
		guess.add = METRIC_LAST;
	metric = metric_intern(name, guess.unit, guess.type, guess.scope, guess.add);
	if (metric != WIRE_NONE && !is_alike(metric, &guess))
		metric = metric_beside(name, &guess, word_of(&guess));
	if (metric != WIRE_NONE && exact && is_whole(metric, &guess))
		metric = metric_beside(name, &guess, "float");
	return metric;
}

static void value_put(uint32_t node, uint32_t lane, uint32_t epoch, const struct launch_value *v)
{
	uint32_t set = set_intern_one(v->metric), slot;

	if (set == WIRE_NONE) {
		lose(LOSS_SLOTS_FULL, 1);
		return;
	}
	slot = slot_intern(node, lane, set, epoch);
	if (slot == WIRE_NONE)
		return;
	if (v->replace)
		slot_store(slot, 0, v->v.u64);
	else if (collector->metric[v->metric].type == METRIC_F64)
		slot_add_f64(slot, 0, v->taken_back ? -v->v.f64 : v->v.f64);
	else if (v->taken_back)
		slot_add_u64(slot, 0, -v->v.u64);
	else if (!slot_add_u64_capped(slot, 0, v->v.u64))
		metric_complain(collector->string[collector->metric[v->metric].name].s, v->metric,
				"adds up to more than 64 bits hold: its sum stays at 2^64 - 1");
	slot_touch(slot);
}

void metric_put_at(struct thread_state *t, uint32_t node, const struct launch_value *v)
{
	value_put(node, thread_lane(t), epoch_now(), v);
}

void metric_put_beside(uint32_t slot, uint32_t node, const struct launch_value *v)
{
	const struct slot_entry *e = &collector->slot[slot];

	value_put(node, e->lane, e->epoch, v);
}

bool metric_settle(struct launch_value *v, union metric_value given, enum metric_type sent)
{
	const char *name = collector->string[collector->metric[v->metric].name].s;

	v->v = given;
	v->computed = 0;
	if (sent == METRIC_F64 && !isfinite(given.f64)) {
		metric_complain(
			name, v->metric,
			"is not a finite number in some runs of a graph: they are left out");
		return false;
	}
	return metric_accept(name, v->metric, sent, &v->v);
}

/* What is said while a stream is captured is said of each time the graph runs. */
static void put_or_capture(struct thread_state *t, uint32_t node, const struct launch_value *v)
{
	if (_likely_(!atomic_load_explicit(&t->capture.n, memory_order_relaxed) && !v->computed))
		metric_put_at(t, node, v);
	else
		graph_value(t, node, v);
}

/* To the launch that was begun, as soon as it comes. False: there is no room to keep it. */
static bool launch_give(struct thread_state *t, const struct launch_value *v)
{
	struct launch_info *l = &t->launch;

	if (l->placed)
		put_or_capture(t, l->node, v);
	else if (l->n < ARRAY_SIZE(l->values))
		l->values[l->n++] = *v;
	else
		return false;
	return true;
}

/* Each element of a vector is a metric of its own. */
static void too_many(const char *name)
{
	static _Atomic bool told;
	char text[160];

	lose(LOSS_SLOTS_FULL, 1);
	if (atomic_exchange(&told, true))
		return;
	snprintf(text, sizeof(text),
		 "there are %d metrics, and no room for more: '%.64s' and others are left out",
		 MAX_METRICS, name);
	collect_note(NOTE_WARNING, text);
}

/* A value as the program gives it. */
struct given {
	const char *name;
	enum metric_type type;
	union metric_value v;
	bool replace, exact; /* exact: as metric_of() has it */
	uint32_t computed;   /* as that of a launch_value */
};

/* While collection pauses, but for what is said of runs of a graph that may be later. */
static bool is_not_wanted(void)
{
	return is_paused() &&
	       !atomic_load_explicit(&thread_state()->capture.n, memory_order_relaxed);
}

/* node: WIRE_NONE: where the thread is, or to the launch that it has begun. */
static void metric_put(uint32_t node, struct given g)
{
	char bare[NAME_MAX_MARKED], own[NAME_MAX_MARKED];
	struct thread_state *t;
	struct launch_value l;
	const char *name;
	uint32_t metric;
	uint8_t scope;

	if (!collect_on || !g.name || is_not_wanted())
		return;
	name = metric_mark(g.name, bare, &scope);
	if (!*name)
		return;
	name = metric_apart(name, own);
	g.replace = g.replace || scope == METRIC_PROPERTY;
	metric = metric_of(name, g.type, g.replace ? METRIC_PROPERTY : scope, g.exact);
	if (metric == WIRE_NONE) {
		too_many(name);
		return;
	}
	if (!metric_accept(name, metric, g.type, &g.v))
		return;
	t = thread_state();
	l = (struct launch_value){.v = g.v,
				  .metric = (uint16_t)metric,
				  .replace = g.replace,
				  .computed = (uint16_t)g.computed,
				  .is_whole = g.type == METRIC_U64};
	if (node != WIRE_NONE)
		put_or_capture(t, node, &l);
	else if (!t->launch.on || !launch_give(t, &l))
		put_or_capture(t, node_in_state(t, t->node), &l);
}

void scope_timed_at(uint32_t node)
{
	if (collect_on && !is_paused())
		metric_put_at(thread_state(), node,
			      &(struct launch_value){.metric = METRIC_CPU_TIME});
}

void collect_scope_timed(void)
{
	if (collect_on)
		scope_timed_at(thread_state()->node);
}

void collect_metric_f64(const char *name, double v, bool replace)
{
	metric_put(
		WIRE_NONE,
		(struct given){.name = name, .type = METRIC_F64, .v.f64 = v, .replace = replace});
}

void collect_metric_float(const char *name, double v)
{
	collect_metric_at(WIRE_NONE, name, METRIC_F64, (union metric_value){.f64 = v});
}

void collect_metric_u64(const char *name, uint64_t v, bool replace)
{
	metric_put(
		WIRE_NONE,
		(struct given){.name = name, .type = METRIC_U64, .v.u64 = v, .replace = replace});
}

void collect_property_text(const char *name, const char *text)
{
	uint32_t id;

	if (!collect_on || !text)
		return;
	id = string_intern(text, strlen(text));
	if (id == WIRE_NONE)
		lose(LOSS_STRINGS_FULL, 1);
	else
		metric_put(WIRE_NONE, (struct given){.name = name,
						     .type = METRIC_TEXT,
						     .v.u64 = id,
						     .replace = true});
}

void collect_metric_at(uint32_t node, const char *name, enum metric_type type, union metric_value v)
{
	metric_put(node, (struct given){.name = name,
					.type = type,
					.v = v,
					.replace = type == METRIC_TEXT,
					.exact = true});
}

void collect_metric_computed(uint32_t node, const char *name, bool is_whole, uint32_t computed)
{
	metric_put(node, (struct given){.name = name,
					.type = is_whole ? METRIC_U64 : METRIC_F64,
					.exact = true,
					.computed = computed});
}
