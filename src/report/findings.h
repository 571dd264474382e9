/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_FINDINGS_H
#define PROTON_REPORT_FINDINGS_H
/* Findings as text, Markdown or JSON.
 *
 *      PRICE  OF RUN  SURE      FINDING
 *     ≤1.23s    12.3  likely    the GPU waits for launches (launches)
 *                               GPU 0: no work for 1.23s, beside 120K kernels of 3.2us each …
 */
#include "findings/findings.h"
#include "report/report.h"

enum findings_format { FINDINGS_TEXT = 0, FINDINGS_MARKDOWN, FINDINGS_JSON };

/* Of the options only width, names, naming, ascii and color are used. 0 or -ENOMEM; write errors stick
 * in out. */
int report_findings(const struct session *s, const struct findings *f, enum findings_format format,
		    const struct report_options *o, struct out *out);

#endif
