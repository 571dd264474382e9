/* SPDX-License-Identifier: MIT */
/* Hardware counters of the device here: how often a kernel must run for a set of them, and who else may have them. */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "doctor/checks.h"

/* "GH100: gmp 6 passes, live 1 pass (13 of 16 metrics)". False: no set was told of. */
static bool say_sets(const struct probe *p, struct buf *out)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = probe_value(&scratch, p, "chip", 0);
	unsigned n = 0, passes, counted, of;
	char name[64];

	if (!text)
		return false;
	buf_puts(out, text);
	for (; (text = probe_value(&scratch, p, "set", n)); n++) {
		if (sscanf(text, "%u %u %u %63[^\n]", &passes, &counted, &of, name) != 4)
			continue;
		buf_printf(out, "%s %s %u pass%s", n ? "," : ":", name, passes,
			   passes == 1 ? "" : "es");
		if (counted < of)
			buf_printf(out, " (%u of %u metrics)", counted, of);
	}
	return n;
}

/* The first of the lines that say why there are no metrics; their words are sentences but for one. */
static bool say_why(const struct probe *p, struct buf *out)
{
	static const char *const keys[] = {"no-gpu", "failed", "no-chip"};
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys) && !text; i++)
		text = probe_value(&scratch, p, keys[i], 0);
	if (!text)
		return false;
	buf_printf(out, "%s%s", text,
		   i == ARRAY_SIZE(keys) ? ", which this CUPTI does not know" : "");
	return true;
}

bool has_gpu(struct doctor *d)
{
	const struct probe *driver = doctor_ask(d, ASK_DRIVER);
	long result;

	return driver->end == PROBE_ANSWERED && probe_number(driver, "init", &result) && !result;
}

/* Why no libcupti was found that knows of counters. */
static void say_no_library(const struct probe *p, struct buf *out)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *broken = probe_value(&scratch, p, "broken", 0);

	buf_puts(out, broken ? broken : "no libcupti of CUDA 12.6 or later");
}

void say_no_counters(const struct probe *p, struct buf *out)
{
	if (!say_why(p, out))
		say_no_library(p, out);
}

void check_metric_sets(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p;

	f->state = DOCTOR_NOTE;
	if (!has_gpu(d)) {
		buf_puts(&f->seen, "no GPU to count on; 'proton metrics --chips' names chips, "
				   "--chip CHIP lists what one counts");
		return;
	}
	p = doctor_ask(d, ASK_COUNTERS);
	if (p->end != PROBE_ANSWERED) {
		probe_say_end(p, &f->seen);
	} else if (say_sets(p, &f->seen)) {
		f->state = DOCTOR_OK;
		return;
	} else {
		say_no_counters(p, &f->seen);
	}
	buf_puts(&f->why, "hardware metrics are not known without it");
}

/* ---- who else ---- */

enum { USERS_SHOWN = 4 };

unsigned say_counter_users(struct doctor *d, struct buf *out)
{
	const struct probe *p = doctor_ask(d, ASK_HOLDERS);
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text;
	char name[32];
	unsigned n = 0;
	long pid;

	for (; (text = probe_value(&scratch, p, "counting", n)); n++)
		if (n < USERS_SHOWN && sscanf(text, "%ld %31s", &pid, name) == 2)
			buf_printf(out, "%s%s (pid %ld)", n ? ", " : "", name, pid);
	if (n > USERS_SHOWN)
		buf_printf(out, " and %u more", n - USERS_SHOWN);
	return n;
}

void check_counting(struct doctor *d, struct doctor_finding *f)
{
	if (!say_counter_users(d, &f->seen)) {
		buf_puts(&f->seen, "none of DCGM, ncu, nsys or another proton is seen");
		return;
	}
	f->state = DOCTOR_NOTE;
	buf_puts(&f->why, "by its name it may have the hardware counters, which one tool has at a "
			  "time");
}
