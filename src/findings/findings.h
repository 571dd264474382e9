/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FINDINGS_FINDINGS_H
#define PROTON_FINDINGS_FINDINGS_H
/* What in a profile costs time that it need not, as far as its sums show: a finding is a rule that
 * spoke, where, with the numbers that made it speak, what it costs, what to do, and how sure it is.
 *
 *     session ── one pass ──> struct evidence ── rules[] ──> findings, the most expensive first
 *
 * A rule that lacks what it needs (a wall time, ranks, bytes) says nothing.
 *   thread  one */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/peaks.h"
#include "core/session.h"

/* The rules in the order in which they are asked; each has a file of its own name.
 *        id                  word */
#define FINDING_RULES(_)                                                                           \
	_(LOSSES, "losses")                                                                        \
	_(IDLE, "idle")                                                                            \
	_(LAUNCHES, "launches")                                                                    \
	_(WAITS, "waits")                                                                          \
	_(STARTUP, "startup")                                                                      \
	_(LOADING, "loading")                                                                      \
	_(PAGEABLE, "pageable-copies")                                                             \
	_(SYNCHRONOUS, "synchronous-copies")                                                       \
	_(SMALL_COPIES, "small-copies")                                                            \
	_(REPEATED_COPIES, "repeated-copies")                                                      \
	_(ROUND_TRIPS, "round-trips")                                                              \
	_(GROWING_COPIES, "growing-copies")                                                        \
	_(UNIFIED_MEMORY, "unified-memory")                                                        \
	_(THRASHING, "thrashing")                                                                  \
	_(COPIES, "copies")                                                                        \
	_(MEMSETS, "memsets")                                                                      \
	_(ONE_KERNEL, "one-kernel")                                                                \
	_(TINY_KERNELS, "tiny-kernels")                                                            \
	_(LOW_OCCUPANCY, "low-occupancy")                                                          \
	_(TAIL, "tail")                                                                            \
	_(FEW_BLOCKS, "few-blocks")                                                                \
	_(LOCAL_MEMORY, "local-memory")                                                            \
	_(TENSOR_CORES, "tensor-cores")                                                            \
	_(MEMORY_BOUND, "memory-bound")                                                            \
	_(UNCOALESCED, "uncoalesced")                                                              \
	_(BANK_CONFLICTS, "bank-conflicts")                                                        \
	_(HOT_LINES, "hot-lines")                                                                  \
	_(STEPS, "steps")                                                                          \
	_(BETWEEN_STEPS, "between-steps")                                                          \
	_(UNEVEN, "uneven")                                                                        \
	_(COLLECTIVES, "collectives")                                                              \
	_(CLOCKS, "clocks")                                                                        \
	_(LINK, "link")                                                                            \
	_(MEMORY_FULL, "memory-full")                                                              \
	_(RESERVED, "reserved")                                                                    \
	_(REGROWN_POOLS, "regrown-pools")                                                          \
	_(LEFT_BEHIND, "left-behind")                                                              \
	_(GROWING_MEMORY, "growing-memory")                                                        \
	_(UNRELEASED_MEMORY, "unreleased-memory")                                                  \
	_(ALLOCATIONS, "allocations")                                                              \
	_(MEMORY_ERRORS, "memory-errors")                                                          \
	_(SHARED, "shared")                                                                        \
	_(GRAPH_NODES, "graph-nodes")

enum finding_rule {
#define _(id, word) FINDING_##id,
	FINDING_RULES(_)
#undef _
		FINDING_N_RULES
};

enum finding_sure {
	FINDING_MEASURED = 0, /* the price is what was measured */
	FINDING_LIKELY,       /* a usual cause, which the sums fit */
	FINDING_MAYBE,        /* sums cannot tell whether it is in the way */
};

#define FINDING_TEXT  240
#define FINDING_NODES 3

struct finding {
	enum finding_rule rule;
	enum finding_sure sure;
	double price_ns; /* NaN: it is about all numbers, and comes first; 0: not known in time */
	bool at_most;    /* it saves less, how much less is not known */
	uint32_t device; /* of the session; SESSION_NONE: no single one */
	uint32_t nodes[FINDING_NODES]; /* of the session: where most of it is */
	unsigned n_nodes;
	char evidence[FINDING_TEXT];
	const char *advice; /* what this profile lets it say; NULL: what the rule always says */
};

struct findings {
	struct finding *v;
	size_t n, cap;
	double whole_ns; /* of which prices are a part: the run's time without pauses, else that of devices */
	bool is_wall;
	bool nothing_measured; /* that no rule spoke says nothing then */
	bool host_alone;       /* nothing ran on a device: what rules are about is not there */
};

/* Finds all anew; peaks: NULL: nothing was measured. 0 or -ENOMEM (there are none then). Zeroed at first. */
int findings_make(struct findings *f, const struct session *s, const struct peaks *peaks);
void findings_done(struct findings *f);

/* Its price where that is known in time, else NaN. */
static inline double finding_told_ns(const struct finding *f)
{
	return f->price_ns > 0 ? f->price_ns : NAN;
}

const char *finding_word(enum finding_rule rule);      /* "idle", for programs */
const char *finding_title(enum finding_rule rule);     /* "the GPU waits for the host" */
const char *finding_advice(const struct finding *f);   /* what to do: a sentence or two */
const char *finding_sure_word(enum finding_sure sure); /* "measured" … */
/* The rule of a word, or -1. */
int finding_parse(const char *word);

#endif
