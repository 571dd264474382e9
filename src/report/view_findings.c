/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What costs time that it need not, of the whole profile. */
#include "report/findings.h"
#include "report/report_impl.h"

int view_findings(struct report *r)
{
	struct findings findings = {0};
	int e = findings_make(&findings, r->s, r->o->peaks);

	if (e == 0)
		e = report_findings(r->s, &findings, FINDINGS_TEXT, r->o, r->out);
	findings_done(&findings);
	return e;
}
