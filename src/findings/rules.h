/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FINDINGS_RULES_H
#define PROTON_FINDINGS_RULES_H
/* What rules look at, and how they speak. */
#include "base/util.h"
#include "findings/findings.h"

/* What is not worth a thousandth part of anybody's run is no finding: a share of the whole. */
#define LEAST_SHARE 0.01

struct sums {
	double time_ns, count, bytes, async; /* async: executions for which the call did not wait */
};

/* Sums of a profile that many rules need, from one pass over its rows. */
struct evidence {
	const struct session *s;
	double wall_ns;     /* of the run; 0: not known */
	double whole_ns;    /* that, else all device time */
	double used_ns;     /* from the first to the last work, at the least; else the wall time */
	struct sums *nodes; /* by node: its own, on all lanes; launch metadata left out */
	struct sums *devices; /* by device: kernels alone */
	struct sums kernels, copies, sets;
	bool has_async; /* the profile says which copies were asynchronous */
};

/* The own sums of a node, and whether it is of a kind and has any. */
static inline bool evidence_is(const struct evidence *e, uint32_t node, enum frame_kind kind)
{
	return e->nodes[node].count > 0 && session_node_kind(e->s, node) == kind;
}

/* Is a price worth telling? */
static inline bool evidence_matters(const struct evidence *e, double price_ns)
{
	return price_ns > 0 && price_ns >= LEAST_SHARE * e->whole_ns;
}

/* A new finding about no device and no node; NULL: out of memory. price_ns: NaN where it is none. */
struct finding *finding_add(struct findings *f, enum finding_rule rule, enum finding_sure sure,
			    double price_ns);
void finding_say(struct finding *finding, const char *format, ...) _printf_(2, 3);
/* Name the nodes with the longest times for which is() holds. NULL is taken. */
void finding_name_nodes(struct finding *finding, const struct evidence *e,
			bool (*is)(const struct evidence *e, uint32_t node));
/* Add up the nodes for which it holds. */
struct sums evidence_sum(const struct evidence *e,
			 bool (*is)(const struct evidence *e, uint32_t node));

/* How long a device had no work between the first and the last work of the run, ns; where these are
 * not known, while the run went on. 0: not known, or not worth a word. */
double evidence_idle(const struct evidence *e, uint32_t device);
/* What launching its kernels one by one costs a host at the least that frameworks need, ns. */
double evidence_launching(const struct evidence *e, uint32_t device);

struct rule {
	const char *title, *advice;
	/* Adds what it finds. 0 or -ENOMEM. */
	int (*find)(const struct evidence *e, struct findings *f);
};

#define _(id, word_) extern const struct rule rule_##id;
FINDING_RULES(_)
#undef _

#endif
