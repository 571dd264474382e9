/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_PPROF_TABLES_H
#define PROTON_FORMAT_PPROF_TABLES_H
/* What the two halves of reading a profile of pprof share: pprof_tables.c reads what samples refer to,
 * pprof_read.c the samples. Ids are any numbers; each must be there once.
 *   errors  0, or a negative errno with x->error set */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"
#include "core/session.h"
#include "format/pprof_input.h"

enum { PPROF_TYPES_MAX = 64 };

/* Rows begin with their id. */
struct pprof_table {
	const char *what;
	void *rows;
	size_t n, cap, size;
	struct idindex by_id;
};

struct pprof_function {
	uint64_t id;
	uint32_t frame;
};

struct pprof_mapping {
	uint64_t id, start, offset;
	uint32_t module;
};

struct pprof_location {
	uint64_t id;
	size_t first, n; /* in frames, the innermost first */
};

/* Where a location leads from a node: what both are, and the node that is reached. */
struct pprof_edge {
	uint32_t node, location, to;
};

struct pprof_type {
	uint32_t name, unit; /* string ids */
	uint32_t metric;
	uint64_t factor; /* from whole numbers of the file to those of the metric */
	double divisor;  /* the same for our own fractions */
};

/* What has no place in a profile. */
enum pprof_left_out { PPROF_LEFT_VALUES, PPROF_LEFT_NO_STACK, PPROF_LEFT_N };

#define PPROF_NAMED_MAX 8 /* threads whose names are told */

struct pprof {
	struct session *s;
	struct format_error *error;
	struct pprof_file file;
	bool ours;
	struct pprof_type types[PPROF_TYPES_MAX];
	uint32_t n_types, set;
	struct pprof_table functions, mappings, locations;
	uint32_t *frames; /* of locations */
	size_t n_frames, cap_frames;
	struct pprof_edge *edges;
	size_t n_edges, cap_edges;
	struct idindex by_edge;
	struct buf scratch;
	/* Of the sample that is read: */
	uint64_t n_samples; /* so far, and it */
	uint32_t *stack;    /* locations by index, the leaf first */
	size_t n_stack, cap_stack;
	int64_t values[PPROF_TYPES_MAX];
	uint32_t n_values;
	uint64_t thread;
	uint64_t n_left_out[PPROF_LEFT_N];
	uint32_t named[PPROF_NAMED_MAX + 1]; /* threads that have names, not numbers: string ids */
	uint32_t n_named;
};

int pprof_no_memory(struct pprof *x);
/* "not a profile of pprof: WHAT" */
int pprof_broken(struct pprof *x, const char *what);
/* A string of the file as one of the session. */
int pprof_text(struct pprof *x, uint64_t i, uint32_t *ret);
static inline const char *pprof_str(const struct pprof *x, uint32_t id)
{
	return strtab_str(x->s->strings, id);
}
/* The numbers of a message by their field, up to n; a field that is not there is 0. */
int pprof_numbers(struct pprof *x, struct pb_span message, const char *what, uint64_t *v,
		  unsigned n);
/* The row with an id, by index; IDINDEX_NONE: there is none. */
uint32_t pprof_find(const struct pprof_table *t, uint64_t id);
void pprof_table_done(struct pprof_table *t);

/* One message each. */
int pprof_read_function(struct pprof *x, struct pb_span message);
int pprof_read_mapping(struct pprof *x, struct pb_span message);
int pprof_read_location(struct pprof *x, struct pb_span message); /* after functions, mappings */
int pprof_read_type(struct pprof *x, struct pb_span message);
/* The metrics of all types, and the set of them. */
int pprof_make_set(struct pprof *x);

#endif
