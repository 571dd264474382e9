/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_VIEWER_H
#define PROTON_REPORT_VIEWER_H
/* What Triton's proton-viewer prints, character by character, for scripts that read it:
 *
 *   614.400 ROOT
 *   ├─ 204.800 foo0
 *   └─ 204.800 foo1
 *
 * Siblings by name; values with three digits; absent ones are "nan". */
#include "core/filter.h"
#include "core/peaks.h"
#include "format/out.h"
#include "report/names.h"

struct viewer_options {
	const char *metrics; /* names, separated by commas */
	struct snapshot
		*before; /* values are what has been added to these, of a pair (core/pair.h);
				  * or NULL */
	const struct selector *include, *exclude; /* names alone; or NULL */
	const struct peaks *peaks;
	double threshold;  /* of the first metric; 0 = none */
	long depth;        /* levels drawn */
	uint8_t format;    /* enum name_format */
	bool print_sorted; /* a flat list after the tree */
};

/* 0; -ENOENT or -EINVAL: a metric or its unit does not exist; -ENXIO: no frame that is left has a value of
 * it; ret_word is where it begins in metrics then. -ENODATA: the filter leaves nothing; -ENOMEM. */
int viewer_text(struct snapshot *snap, const struct viewer_options *options, struct out *out,
		const char **ret_word);
/* The names of the metrics that a profile has. 0 or -ENOMEM. */
int viewer_list(const struct session *s, struct out *out);

#endif
