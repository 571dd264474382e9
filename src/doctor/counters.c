/* SPDX-License-Identifier: MIT */
/* Hardware counters of the device here: how often a kernel must run for a set of them, whether they count when they are
 * asked to, and who else may have them. */
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

static bool has_gpu(struct doctor *d)
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

void check_metric_sets(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p;

	f->state = DOCTOR_NOTE;
	if (!has_gpu(d)) {
		buf_puts(&f->seen, "no GPU to count on; 'proton metrics --chip' knows all chips");
		return;
	}
	p = doctor_ask(d, ASK_COUNTERS);
	if (p->end != PROBE_ANSWERED) {
		probe_say_end(p, &f->seen);
	} else if (say_sets(p, &f->seen)) {
		f->state = DOCTOR_OK;
		return;
	} else if (!say_why(p, &f->seen)) {
		say_no_library(p, &f->seen);
	}
	buf_puts(&f->why, "hardware metrics are not known without it");
}

/* ---- who else ---- */

enum { USERS_SHOWN = 4 };

/* "nv-hostengine (pid 812), ncu (pid 913)"; how many. */
static unsigned say_users(struct doctor *d, struct buf *out)
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
	if (!say_users(d, &f->seen)) {
		buf_puts(&f->seen, "none of DCGM, ncu, nsys or another proton is seen");
		return;
	}
	f->state = DOCTOR_NOTE;
	buf_puts(&f->why, "by its name it may have the hardware counters, which one tool has at a "
			  "time");
}

/* ---- do they count ---- */

/* A trial that CUPTI refused: "RESULT TEXT". */
static void find_counters_refused(struct doctor *d, const char *text, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf users = {0};
	int result = 0, at = 0;

	(void)sscanf(text, "%d %n", &result, &at);
	buf_puts(&f->seen, text + at);
	if (result == CUPTI_BUSY && say_users(d, &users))
		buf_printf(&f->why, "%s may have them; ", buf_str(&users));
	if (result == CUPTI_NO_PRIVILEGE)
		mend_privilege(&f->mend);
}

/* "BEGAN_US BACK_US TEXT" */
static void find_counting(const char *text, const char *device, struct doctor_finding *f)
{
	char began[HUMAN_MAX], back[HUMAN_MAX];
	unsigned long long began_us = 0, back_us = 0;
	int at = 0;

	(void)sscanf(text, "%llu %llu %n", &began_us, &back_us, &at);
	human_time_ns(began, (double)began_us * 1e3);
	human_time_ns(back, (double)back_us * 1e3);
	f->state = DOCTOR_OK;
	buf_printf(&f->seen, "permitted on %s: %s; begun in %s, given back in %s", device,
		   text + at, began, back);
}

/* The driver that hung in one trial would in the next. */
static bool has_hung(const struct doctor *d)
{
	for (int q = ASK_SAMPLES; q <= ASK_CODE; q++)
		if (d->asked[q] && d->answers[q].end == PROBE_HUNG)
			return true;
	return false;
}

/* What became of a trial. */
static void find_trial(struct doctor *d, const struct probe *p, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf of = {0}, scratch = {0};
	const char *device = probe_value(&of, p, "device", 0), *text;

	if (p->end == PROBE_ANSWERED && (text = probe_value(&scratch, p, "worked", 0))) {
		find_counting(text, device ? device : "a GPU", f);
		return;
	}
	if (device)
		buf_printf(&f->seen, "%s: ", device);
	if (p->end != PROBE_ANSWERED)
		probe_say_end(p, &f->seen);
	else if ((text = probe_value(&scratch, p, "refused", 0)))
		find_counters_refused(d, text, f);
	else if ((text = probe_value(&scratch, p, "untried", 0)))
		buf_printf(&f->seen, "not tried: %s", text);
	else if (!say_why(p, &f->seen))
		say_no_library(p, &f->seen);
}

/* without: what has nothing to show where it does not. */
static void try_counters(struct doctor *d, struct doctor_finding *f, enum doctor_question question,
			 const char *without)
{
	f->state = DOCTOR_NOTE;
	if (!has_gpu(d)) {
		buf_puts(&f->seen, "no GPU to count on");
		return;
	}
	if (has_hung(d))
		buf_puts(&f->seen, "not tried: the driver hung above");
	else
		find_trial(d, doctor_ask(d, question), f);
	if (f->state != DOCTOR_OK)
		buf_printf(&f->why,
			   "%s has nothing to show without it; times are recorded all the same",
			   without);
}

void check_samples(struct doctor *d, struct doctor_finding *f)
{
	try_counters(d, f, ASK_SAMPLES, "--counters");
}

void check_ranges(struct doctor *d, struct doctor_finding *f)
{
	try_counters(d, f, ASK_RANGES, "--metrics");
}

void check_code(struct doctor *d, struct doctor_finding *f)
{
	try_counters(d, f, ASK_CODE, "--pc-sampling");
}
