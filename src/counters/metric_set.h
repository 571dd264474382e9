/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_METRIC_SET_H
#define PROTON_COUNTERS_METRIC_SET_H
/* Metrics that are asked for together, under a name. Those of data/metric-sets/ are built in; a file has
 * the same form:
 *
 *   # a comment
 *   about    what it is for, in half a line
 *   counting range                                       or pm (counters/cupti_host.h); else range
 *   passes   1                                           at most; else as many as it takes
 *   dram__bytes_read.sum dram__bytes_op_read.sum         a line a metric: the first that the chip has
 *
 * Where it says how many passes it may take, metrics stand in the order of importance: each is taken if it
 * fits in beside those before it (counters/plan.h).
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include "counters/cupti_host.h"

struct metric_choice {
	const char **names; /* one of these, the first is the best */
	size_t n;
};

struct metric_set {
	const char *name, *about;
	enum counting_kind counting;
	size_t most_passes; /* 0: as many as it takes */
	struct metric_choice *choices;
	size_t n, cap;
	char *text; /* that all the names are in */
};

/* -EINVAL: *ret_line is no line of a set, or 0: there is no metric in it. */
int metric_set_parse(const char *name, const char *text, struct metric_set **ret,
		     unsigned *ret_line);
/* Of a file. */
int metric_set_load(const char *path, struct metric_set **ret, unsigned *ret_line);
/* One that is built in; -ENOENT: there is none of this name. */
int metric_set_find(const char *name, struct metric_set **ret);
/* The names of these, in order; NULL after the last. */
const char *metric_set_name(unsigned i);
/* Some metrics of no set. Names are borrowed. NULL: no memory. */
struct metric_set *metric_set_of(const char *const *names, size_t n, enum counting_kind counting);
/* One more, borrowed. 0 or -ENOMEM */
int metric_set_add(struct metric_set *set, const char *name);

/* Without these names, and without metrics that have no other; how many such there were. */
size_t metric_set_leave_out(struct metric_set *set, bool (*is_out)(const char *name));

struct metric_set *metric_set_free(struct metric_set *set);
static inline void metric_set_freep(struct metric_set **p)
{
	*p = metric_set_free(*p);
}

#endif
