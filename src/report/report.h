/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_REPORT_H
#define PROTON_REPORT_REPORT_H
/* A snapshot as text: what `proton report` prints and what a script greps.
 *
 *   TOTAL       %   CALLS     AVG   BYTES    GB/s  NAME
 *   12.3ms  100.0      34   361us   28.6G    1107  ROOT
 *    9.8ms   79.6       3  3.26ms       -       -  └─ forward
 *
 * Absent values print as "-". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/derive.h"
#include "core/filter.h"
#include "core/snapshot.h"
#include "format/out.h"

/*         name       bit  word         title */
#define REPORT_SECTIONS(_)                                                                         \
	_(SUMMARY, 0, "summary", "Summary")                                                        \
	_(TREE, 1, "tree", "Calling contexts")                                                     \
	_(KERNELS, 2, "kernels", "Kernels")                                                        \
	_(TRANSFERS, 3, "transfers", "Transfers")                                                  \
	_(DEVICES, 4, "devices", "Devices")                                                        \
	_(PROCESSES, 5, "processes", "Processes")                                                  \
	_(LOSSES, 6, "losses", "Losses")                                                           \
	_(NOTES, 7, "notes", "Notes")                                                              \
	_(RUN, 8, "run", "Run")

enum report_section {
#define _(name, bit, word, title) REPORT_##name = 1u << bit,
	REPORT_SECTIONS(_)
#undef _
		REPORT_ALL = 0x1ff
};
/* The bit of a word ("kernels"), REPORT_ALL for "all", 0 when unknown. */
unsigned report_section_parse(const char *word);
const char *report_section_word(unsigned i); /* NULL beyond the last */

struct report_options {
	unsigned
		sections; /* enum report_section bits; 0 = run, tree, kernels, transfers, losses, notes */
	unsigned width;    /* names are cut to fit; 0 = never (not a terminal) */
	unsigned depth;    /* of the tree; 0 = all */
	unsigned rows;     /* of a flat table; 0 = all */
	double threshold;  /* hide subtrees below this share of the total, 0..1 */
	const char *sort;  /* column; NULL = time; "" = order of arrival; "name" */
	uint8_t names;     /* enum name_mode */
	naming_fn *naming; /* of ranks; other sections have names of the snapshot */
	bool ascii;        /* no box-drawing characters */
	bool color;
	/* Columns of the tree, or where it is not printed of kernels and transfers: names of
	 * core/column.h, separated by commas; NULL = the usual ones that have values. */
	const char *columns;
	/* Which rows of the tree are shown; NULL and 0: all. */
	const struct name_pattern *include, *exclude;
	double least;              /* hide rows with less in the first column; 0 = none */
	bool least_is_time;        /* with less time than that, in nanoseconds, instead */
	uint8_t totals;            /* enum totals */
	uint8_t format;            /* enum name_format, of frames "file:line@function" */
	bool print_sorted;         /* after the tree: its nodes, by the first column */
	const struct peaks *peaks; /* for util and bound */
	/* The other side of a pair (core/pair.h): the tree shows the increase since it, and no
	 * other section may be asked for. NULL: plain values. */
	struct snapshot *before;
};

/* 0, -EINVAL (a column or metric that does not exist), -ENODATA (the filter leaves nothing) or
 * -ENOMEM; write errors stick in out. */
int report_text(struct snapshot *snap, const struct report_options *options, struct out *out);

#endif
