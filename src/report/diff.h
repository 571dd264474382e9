/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_DIFF_H
#define PROTON_REPORT_DIFF_H
/* A comparison as text, Markdown or JSON.
 *
 *        A        B        Δ       Δ%  STATUS   NAME
 *   12.3ms   14.3ms  +2.00ms    +16.3  changed  ROOT
 *        -    804us   +804us      new  new      forward › relu
 */
#include <stdbool.h>
#include <stdint.h>
#include "core/diff.h"
#include "format/out.h"
#include "report/runs.h"

enum diff_format { DIFF_TEXT = 0, DIFF_MARKDOWN, DIFF_JSON };

struct diff_print {
	const char *const *files[DIFF_N_SIDES];
	unsigned n_files[DIFF_N_SIDES];
	struct run_facts facts[DIFF_N_SIDES]; /* what was run; the caller's */
	const char *include, *exclude, *per;  /* expressions, as they were given; NULL: none */
	enum group group;
	bool graphs_differ; /* by nodes in one, whole in the other: compared is what they took in all */
	uint8_t format;     /* enum diff_format */
	uint8_t names;      /* enum name_mode */
	const struct naming *naming;
	bool flat; /* nodes are kernels, not paths */
	bool tree; /* in the order of the tree; false: by |delta| */
	bool all;  /* also what is the same */
	bool ascii, color;
	unsigned rows, depth, width; /* 0: any number; the root is a level of the depth */
	double least;                /* leave out changes below this, in the metric's unit … */
	double threshold;            /* … or below this share of the whole, 0..1 */
};

/* Is a node's change worth a line? Not when it is below the threshold. */
bool diff_is_shown(const struct diff *d, const struct diff_print *p, uint32_t id);
/* Smallest change that counts, in the metric's unit. */
double diff_least(const struct diff *d, const struct diff_print *p);
int diff_print(const struct diff *d, const struct diff_print *p, struct out *out);

#endif
