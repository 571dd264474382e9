/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_EXPORT_H
#define PROTON_FORMAT_EXPORT_H
/* What the writers of flat and of picture formats share: inclusive values of a session's own
 * nodes, frames as lists of places, names as valid text.
 *
 * A parent's id is smaller than its children's, so one pass backwards adds up a tree.
 *   thread  one */
#include <float.h>
#include <math.h>
#include "core/derive.h"
#include "format/format.h"

/* One metric over all nodes. */
struct export_column {
	uint32_t metric;
	union metric_value *own, *inclusive;
	uint8_t *has; /* bits EXPORT_OWN and EXPORT_INCLUSIVE */
};
enum { EXPORT_OWN = 1, EXPORT_INCLUSIVE = 2 };

/* By metric: has any row a value of it? Malloc'd; NULL: out of memory. */
uint8_t *export_occurring(const struct session *s);
/* Does a Hatchet file list this metric for its nodes? Upstream has no shortest and longest time,
 * and would add them up. */
static inline bool export_is_column(uint32_t metric)
{
	return !metric_is_shortest(metric) && metric != METRIC_TIME_MAX && metric != METRIC_API_MAX;
}
/* Did the program ask for the time on the host of the scope that the row is of? Each scope's is measured; what was
 * asked for has a row without a count beside it (collect_scope_timed()). */
bool export_host_is_asked(const struct session *s, const struct session_row *row);
/* May a reader that knows nothing but sums add it up along the tree? */
static inline bool export_adds_up(const struct metric *m)
{
	return m->scope == METRIC_INCLUSIVE && m->type != METRIC_TEXT &&
	       metric_add_plain(m->add) == METRIC_SUM;
}

/* The columns of all metrics that a node has, in the order of their ids. 0 or -ENOMEM. */
int export_columns(const struct session *s, struct export_column **ret, size_t *ret_n);
void export_columns_free(struct export_column *columns, size_t n);
/* A value as text, whole numbers without a decimal point. Nothing for a text, a NaN or an
 * infinity. */
void export_put_value(struct out *out, const struct session *s, uint32_t metric,
		      union metric_value v);

/* The metric that stacks and pictures weigh by: options->metric, or the time; for derive_metric(),
 * since it may be METRIC_ANY_FLOPS. METRIC_NONE: the profile has no such metric, or it does not add
 * up. "time" finds "time (ns)". */
uint32_t export_metric(const struct session *s, const struct write_options *options);
/* Has the profile any value of it? METRIC_ANY_FLOPS: of any width. */
bool export_has_values(const struct session *s, uint32_t metric);
/* Can stacks and pictures weigh by it: is it a number, and does it add up? */
bool export_weighs(const struct session *s, uint32_t metric);
/* Names as options ask for them, each made once. */
struct export_names {
	const struct session *s;
	enum name_mode mode;
	struct frame_names *names;
};
/* options may be NULL and then names are raw. 0 or -ENOMEM. */
int export_names_init(struct export_names *names, const struct session *s,
		      const struct write_options *options);
void export_names_done(struct export_names *names);
/* The name of a node, never empty. Valid until the next call, or longer. */
const char *export_name(struct export_names *names, uint32_t node);
/* The raw name of a node, never empty. Valid as session_node_name() says. */
const char *export_raw_name(const struct session *s, uint32_t node);
/* The nodes from a child of the root down to `node`, which comes last; the path of the root is the
 * root. The next call uses the memory of *path again. 0 or -ENOMEM. */
struct export_path {
	uint32_t *nodes;
	size_t n, cap;
};
int export_path(const struct session *s, uint32_t node, struct export_path *path);

/* What writers of stacks and of pictures share. */
struct export_stacks {
	const struct session *s;
	uint32_t metric; /* export_metric() */
	/* By node: launch metadata, which is no work of the program. Weighs nothing. */
	uint8_t *hidden;
	/* Weights by node. What is absent, negative or no number weighs nothing. */
	double *own;
	uint32_t n_left_out;       /* nodes with a value below 0, or infinite */
	struct write_notes *notes; /* or NULL */
	double *total;             /* of the whole subtree; NULL before export_stacks_sum_up() */
	/* Own weights in units of 10^-decimals; NULL before export_stacks_round(). */
	uint64_t *whole;
	unsigned decimals;
	bool is_folded; /* by export_stacks_limit(): own weights are no values of the session */
	struct export_names names;
	struct export_path path; /* room for export_path() */
};
/* 0, -ENOMEM or -EINVAL (no such metric); in either case export_stacks_done() frees. */
int export_stacks_init(struct export_stacks *x, const struct session *s,
		       const struct write_options *options);
/* The same for a metric, and without names. */
int export_stacks_weigh(struct export_stacks *x, const struct session *s, uint32_t metric,
			const struct write_options *options);
void export_stacks_done(struct export_stacks *x);
int export_stacks_sum_up(struct export_stacks *x); /* 0 or -ENOMEM */
/* For formats in which each stack names all of its contexts: what lies too deep for that weighs where
 * stacks end, and the notes count it. v: of the same session, before they are rounded. 0 or -ENOMEM. */
int export_stacks_limit(struct export_stacks *v, size_t n);
/* The same for paths of all contexts: the most names of one; UINT32_MAX: all may be whole. */
int export_paths_limit(const struct session *s, struct write_notes *notes, uint32_t *ret);
/* The same for the paths of all executions of a trace. */
int export_events_limit(const struct session *s, struct write_notes *notes, uint32_t *ret);
/* Of two weights: a number, too, since no file has a place for an infinity. */
static inline double export_sum(double a, double b)
{
	return fmin(a + b, DBL_MAX);
}
/* Weights in whole numbers, which is all that some formats have. Fractions are counted in a power of
 * ten that keeps what is relevant of each, as far as the sum fits in 63 bits; whole numbers, and what
 * is larger anyway, are counted as they are. What the format cannot hold is `most`, and counted in the
 * notes. 0 or -ENOMEM. */
int export_stacks_round(struct export_stacks *x, uint64_t most);
/* The unit that x->whole counts, "1e-5", where x->decimals is not 0. Returns text. */
#define EXPORT_SCALE_MAX 16
const char *export_scale(const struct export_stacks *x, char text[EXPORT_SCALE_MAX]);

/* Weights of several metrics, for formats that have a place for more than one; without names. */
struct export_weights {
	struct export_stacks *v;
	size_t n, cap;
};
/* The metric that was asked for, or all that some context has and that add up; the time where there is
 * none. 0, -EINVAL (no such metric) or -ENOMEM; done() frees what there is, after a failure too. */
int export_weights_init(struct export_weights *x, const struct session *s,
			const struct write_options *options);
int export_weights_round(struct export_weights *x, uint64_t most); /* as export_stacks_round() */
void export_weights_done(struct export_weights *x);

/* The first node of each frame; SESSION_NONE: no node has it any more, since a symbol took its
 * place, or only hidden ones. Malloc'd; NULL: out of memory. */
uint32_t *export_frame_nodes(const struct session *s, const uint8_t *hidden);

/* The next character of *p as valid UTF-8: its bytes and their number. What is not UTF-8 is
 * U+FFFD. *p moves on. 0 at the end. */
size_t export_text_next(const char **p, const char *end, const char **ret);
/* Append a text as valid UTF-8. */
void export_put_text(struct buf *out, const char *text, size_t len);
/* A weight: a whole number without a decimal point. */
void export_put_weight(struct out *out, double v);

#endif
