/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/progress.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"

#define PATIENCE_NS (NSEC_PER_SEC / 2)
#define AGAIN_NS    (NSEC_PER_SEC / 10)

void progress_at(struct progress *p, uint64_t i)
{
	uint64_t now = clock_monotonic_ns();

	if (!p->begin_ns)
		p->begin_ns = now;
	if (now - p->begin_ns < PATIENCE_NS || now - p->shown_ns < AGAIN_NS ||
	    !isatty(STDERR_FILENO))
		return;
	p->shown_ns = now;
	fprintf(stderr, "\r\033[K%s: %" PRIu64 " of %" PRIu64 "%s", p->what, i, p->n,
		p->unit ? p->unit : "");
}

void progress_done(struct progress *p)
{
	if (p->shown_ns)
		fputs("\r\033[K", stderr);
	p->shown_ns = 0;
}
