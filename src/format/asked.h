/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_ASKED_H
#define PROTON_FORMAT_ASKED_H
/* Columns of a table that were asked for by their names, for writers:
 *
 *   "calls,avg,time/ms"  ── asked_make() ──>  a title and a value a node each
 *
 *   thread  one */
#include "core/column.h"
#include "format/format.h"

struct asked_column {
	char *title; /* says what is inclusive; a name of the column, too */
	struct column_spec spec;
	const double *v; /* by node of the snapshot */
};

struct asked {
	const struct session *s;
	struct asked_column *columns;
	size_t n, cap;
	struct snapshot *snap;
	struct derive *derive;
	uint32_t *nodes; /* of the snapshot, by node of the session */
};

/* The columns of options->metric. 0, -EINVAL (one of the words is no column) or -ENOMEM; in either
 * case asked_done() frees. */
int asked_make(struct asked *a, const struct session *s, const struct write_options *options);
void asked_done(struct asked *a);
/* A value of a node of the session; NaN: absent. */
double asked_value(const struct asked *a, size_t column, uint32_t node);
/* The same as a word, for columns of words (FORM_WORD). */
const char *asked_word(const struct asked *a, size_t column, uint32_t node);

#endif
