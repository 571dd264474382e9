/* SPDX-License-Identifier: MIT */
/* Whether the devices count when they are asked to: each way on each of those that programs see, all at once. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "base/human.h"
#include "doctor/checks.h"

/* What became of a trial on a device. */
struct outcome {
	struct buf device;                    /* its name; "": not told */
	struct buf text;                      /* "a sample each 10ms", or why not */
	unsigned long long began_us, back_us; /* how long it took to begin, and to give back */
	int result;                           /* of CUPTI, where it refused */
	bool worked;
};

static void outcome_done(struct outcome *o)
{
	buf_done(&o->device);
	buf_done(&o->text);
}

/* ---- one device ---- */

static void read_outcome(const struct probe *p, struct outcome *o)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = probe_value(&scratch, p, "device", 0);
	int at = 0;

	if (text)
		buf_puts(&o->device, text);
	if (p->end != PROBE_ANSWERED) {
		probe_say_end(p, &o->text);
	} else if ((text = probe_value(&scratch, p, "worked", 0))) {
		o->worked = true;
		(void)sscanf(text, "%llu %llu %n", &o->began_us, &o->back_us, &at);
		buf_puts(&o->text, text + at);
	} else if ((text = probe_value(&scratch, p, "refused", 0))) {
		(void)sscanf(text, "%d %n", &o->result, &at);
		buf_puts(&o->text, text + at);
	} else if ((text = probe_value(&scratch, p, "untried", 0))) {
		buf_printf(&o->text, "not tried: %s", text);
	} else {
		say_no_counters(p, &o->text);
	}
}

/* "permitted on NVIDIA H200: a sample each 10ms; begun in 212ms, given back in 3.00ms" */
static void say_outcome(struct outcome *o, const char *of, struct buf *out)
{
	char began[HUMAN_MAX], back[HUMAN_MAX];

	if (!o->worked) {
		buf_printf(out, "%s%s%s", of, *of ? ": " : "", buf_str(&o->text));
		return;
	}
	human_time_ns(began, (double)o->began_us * 1e3);
	human_time_ns(back, (double)o->back_us * 1e3);
	buf_printf(out, "permitted on %s: %s; begun in %s, given back in %s", *of ? of : "a GPU",
		   buf_str(&o->text), began, back);
}

/* ---- all of them ---- */

static bool is_same(struct buf *a, struct buf *b)
{
	return !strcmp(buf_str(a), buf_str(b));
}

static bool agree(struct outcome o[], size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (o[i].worked != o[0].worked || !is_same(&o[i].text, &o[0].text))
			return false;
	return true;
}

/* "permitted on all 8 GPUs (NVIDIA H200): …": the longest times stand for all. */
static void say_alike(struct outcome o[], size_t n, struct buf *out)
{
	_cleanup_(buf_done) struct buf of = {0};
	bool one_name = true;

	for (size_t i = 1; i < n; i++) {
		one_name = one_name && is_same(&o[i].device, &o[0].device);
		o[0].began_us = MAX(o[0].began_us, o[i].began_us);
		o[0].back_us = MAX(o[0].back_us, o[i].back_us);
	}
	if (n > 1)
		buf_printf(&of, "all %zu GPUs", n);
	if (one_name && o[0].device.len)
		buf_printf(&of, n > 1 ? " (%s)" : "%s", buf_str(&o[0].device));
	say_outcome(&o[0], buf_str(&of), out);
}

/* A line a device. */
static void say_each(struct outcome o[], size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_(buf_done) struct buf of = {0};

		buf_printf(&of, "GPU%zu", i);
		if (o[i].device.len)
			buf_printf(&of, " (%s)", buf_str(&o[i].device));
		buf_puts(out, i ? "\n" : "");
		say_outcome(&o[i], buf_str(&of), out);
	}
}

/* ---- the checks ---- */

/* Those that programs see. */
static size_t n_devices(struct doctor *d)
{
	long n;

	if (!probe_number(doctor_ask(d, ASK_DRIVER), "devices", &n) || n < 1)
		return 1;
	return MIN((size_t)n, (size_t)PROBES_MAX);
}

static const struct probe *try_devices(struct doctor *d, enum doctor_question question,
				       size_t *ret_n)
{
	size_t *n = &d->n_tried[question - ASK_SAMPLES];
	struct probe *trials = d->trials[question - ASK_SAMPLES];

	if (!*n) {
		*n = n_devices(d);
		d->host->ask_devices(d->host, question, *n, trials);
	}
	*ret_n = *n;
	return trials;
}

/* The driver that hung in one trial would in the next. */
static bool has_hung(const struct doctor *d)
{
	for (size_t q = 0; q < N_DOCTOR_TRIALS; q++)
		for (size_t i = 0; i < d->n_tried[q]; i++)
			if (d->trials[q][i].end == PROBE_HUNG)
				return true;
	return false;
}

static bool has_result(const struct outcome o[], size_t n, int result)
{
	for (size_t i = 0; i < n; i++)
		if (o[i].result == result)
			return true;
	return false;
}

static void find_trials(struct doctor *d, enum doctor_question question, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf users = {0};
	struct outcome outcomes[PROBES_MAX] = {{.worked = false}};
	const struct probe *trials;
	size_t n, n_worked = 0;

	trials = try_devices(d, question, &n);
	for (size_t i = 0; i < n; i++) {
		read_outcome(&trials[i], &outcomes[i]);
		n_worked += outcomes[i].worked;
	}
	if (agree(outcomes, n))
		say_alike(outcomes, n, &f->seen);
	else
		say_each(outcomes, n, &f->seen);
	if (n_worked == n)
		f->state = DOCTOR_OK;
	if (has_result(outcomes, n, CUPTI_BUSY) && say_counter_users(d, &users))
		buf_printf(&f->why, "%s may have them; ", buf_str(&users));
	if (has_result(outcomes, n, CUPTI_NO_PRIVILEGE))
		mend_privilege(&f->mend);
	for (size_t i = 0; i < n; i++)
		outcome_done(&outcomes[i]);
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
		find_trials(d, question, f);
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
