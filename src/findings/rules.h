/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FINDINGS_RULES_H
#define PROTON_FINDINGS_RULES_H
/* What rules look at, and how they speak. */
#include <string.h>
#include "base/util.h"
#include "core/activity.h"
#include "core/measured_work.h"
#include "core/stepped.h"
#include "findings/findings.h"

/* What is not worth a thousandth part of anybody's run is no finding: a share of the whole. */
#define LEAST_SHARE 0.01
/* Looks at sensors from which these say something: two seconds. */
#define LEAST_LOOKS 4

struct sums {
	double time_ns, count, bytes, async; /* async: executions for which the call did not wait */
	double graph_nodes;                  /* executions in CUDA graphs, each recorded */
	double idle_in_graphs_ns;            /* between these, which recording them may have made */
};

/* A node that has executions of its own. */
struct own {
	uint32_t node;
	enum frame_kind kind;
	struct sums sums; /* on all lanes */
};

/* Nodes that are alike. */
struct picked {
	struct sums sums;
	const struct own *longest[FINDING_NODES]; /* those with the longest times */
	unsigned n_longest;
};

/* Nodes that have the most of something, the first most of all. */
struct most {
	uint32_t nodes[FINDING_NODES];
	double values[FINDING_NODES];
	unsigned n;
};

void most_insert(struct most *most, uint32_t node, double value);

/* Put a node among those with the longest times, the longest first. Its sums are the caller's. */
void picked_insert(struct picked *picked, const struct own *own);

/* Sums of a profile that many rules need, from one pass over its nodes. */
struct evidence {
	const struct session *s;
	const struct peaks *peaks; /* NULL: nothing was measured */
	double wall_ns;            /* of the run; 0: not known */
	double whole_ns;           /* that without what was paused, else all device time */
	bool is_wall;              /* whole_ns: the first of these */
	double used_ns;      /* from the first to the last work, at the least; else the wall time */
	double blur_ns;      /* used_ns may be more by this */
	bool has_work_times; /* it is not the wall time */
	struct own *own;     /* of all nodes that have any; launch metadata left out */
	size_t n_own;
	struct picked picked[FINDING_N_RULES]; /* what each rule picks */
	struct sums *devices;  /* by device: kernels alone, but for what is about graphs */
	double launches_ratio; /* of kernels: 1 where each is launched by itself, less in graphs */
	struct sums kernels, copies, sets, graphs; /* graphs: those that are recorded whole */
	bool has_async; /* the profile says which copies were asynchronous */
	struct measured_metrics measured;
};

/* Was it measured what kernels do (record --metrics)? Then the run took as long as that did. */
static inline bool evidence_is_slowed(const struct evidence *e)
{
	return e->measured.time != METRIC_NONE;
}

/* Is a price worth telling? */
static inline bool evidence_matters(const struct evidence *e, double price_ns)
{
	return price_ns > 0 && price_ns >= LEAST_SHARE * e->whole_ns;
}

/* The sum of a metric over what is a node's own; 0: it has none. */
double evidence_sum(const struct evidence *e, uint32_t node, uint32_t metric);
/* … where they do not add up: the largest. */
double evidence_longest(const struct evidence *e, uint32_t node, uint32_t metric);
/* … on one device. */
double evidence_sum_on(const struct evidence *e, uint32_t node, uint32_t metric, uint32_t device);
/* Do pages of unified memory that were allocated there go to and fro? */
static inline bool evidence_thrashes(const struct evidence *e, uint32_t node)
{
	return evidence_sum(e, node, METRIC_THRASHES) > 0;
}

/* Tensors of a framework, within what its allocator keeps: they come and go at no price, and weights stay. */
static inline bool is_of_tensors(const struct session *s, uint32_t node)
{
	return !strncmp(session_node_name(s, node), ALLOC_TENSORS, strlen(ALLOC_TENSORS));
}

/* All that computes: what runs in graphs that are recorded whole is not told apart. */
static inline double evidence_computing(const struct evidence *e)
{
	return e->kernels.time_ns + e->graphs.time_ns;
}

/* The scope that leaves memory behind each time, and of several the one that holds most; SESSION_NONE: none does. */
uint32_t left_behind_node(const struct evidence *e);
/* A loop at the end of whose steps more and more memory is held. */
bool evidence_growing(const struct evidence *e, struct stepped *ret);
/* Over enough steps, by enough to be told? */
bool stepped_bytes_grow(const struct stepped_bytes *b);

/* A new finding about no device and no node; NULL: out of memory. price_ns: NaN where it is none. */
struct finding *finding_add(struct findings *f, enum finding_rule rule, enum finding_sure sure,
			    double price_ns);
void finding_say(struct finding *finding, const char *format, ...) _printf_(2, 3);
/* How much of the copies was hidden by other work; nothing where that is not known. */
void finding_say_hidden(struct finding *finding, const struct evidence *e);
/* By how much it grows, and with which steps. */
void finding_say_growth(struct finding *finding, const struct evidence *e, const struct stepped *of,
			const struct stepped_bytes *b);
/* Name those of the picked nodes that have the longest times. */
void finding_name_nodes(struct finding *finding, const struct picked *picked);
void finding_name_most(struct finding *finding, const struct most *most);
/* … the calling contexts that allocate from a pool and have the most of a metric. */
struct held;
void finding_name_of_pool(struct finding *finding, const struct evidence *e,
			  const struct held *pool, uint32_t metric);

/* Had others the device, too? Then what its own work left of the time may have been theirs. */
bool evidence_is_shared(const struct evidence *e, uint32_t device);

/* How long a device had no work between the first and the last work of the run, ns; where these are
 * not known, while the run went on. Without what lies between nodes of graphs, for recording these may have made
 * it. 0: not known, not worth a word, or others had it, too. */
double evidence_idle(const struct evidence *e, uint32_t device);
/* What launching its kernels one by one costs a host at the least that frameworks need, ns. */
double evidence_launching(const struct evidence *e, uint32_t device);

struct rule {
	const char *title, *advice;
	/* Is it about this node? NULL: it is about none. */
	bool (*picks)(const struct evidence *e, const struct own *own);
	/* Adds what it finds. 0 or -ENOMEM. */
	int (*find)(const struct evidence *e, struct findings *f);
	/* It is about when work ran: of no use where kernels were measured one after another, some again and again. */
	bool is_of_times;
	/* Without find(): the picked nodes are found, at the price of their time. */
	struct {
		double least_calls; /* of all that are picked */
		double least_share; /* of the whole; LEAST_SHARE where it is less */
		double above_ratio; /* of all calls of kernels: more than that */
		bool at_most, are_copies;
		void (*say)(struct finding *finding, const struct sums *sums);
	} nodes;
};

#define _(id, word_) extern const struct rule rule_##id;
FINDING_RULES(_)
#undef _

#endif
