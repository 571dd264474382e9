/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff.h"
#include <stdlib.h>
#include "report/diff_impl.h"

int diff_print(const struct diff *d, const struct diff_print *p, struct out *out)
{
	struct diff_printer x = {.d = d, .p = p, .out = out};
	int r;

	x.several = diff_n_runs(d, DIFF_A) > 1 || diff_n_runs(d, DIFF_B) > 1;
	r = diff_choose_rows(&x);
	if (r == 0)
		r = diff_make_names(&x);
	if (r == 0)
		r = diff_measure(&x);
	if (r == 0 && p->format == DIFF_JSON)
		r = diff_print_json(&x);
	else if (r == 0 && p->format == DIFF_MARKDOWN)
		diff_print_markdown(&x);
	else if (r == 0)
		diff_print_text(&x);
	free(x.ids);
	free(x.nodes);
	free(x.widths);
	frame_names_free(x.names);
	session_free(x.frames);
	buf_done(&x.name);
	return r;
}
