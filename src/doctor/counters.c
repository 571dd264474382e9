/* SPDX-License-Identifier: MIT */
/* Hardware metrics of the device here: how often a kernel must run for a set of them. */
#include "config.h" // IWYU pragma: keep
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

void check_metric_sets(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *driver = doctor_ask(d, ASK_DRIVER), *p;
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *broken;
	long result = -1;

	f->state = DOCTOR_NOTE;
	if (driver->end != PROBE_ANSWERED || !probe_number(driver, "init", &result) || result) {
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
		broken = probe_value(&scratch, p, "broken", 0);
		buf_puts(&f->seen, broken ? broken : "no libcupti of CUDA 12.6 or later");
	}
	buf_puts(&f->why, "hardware metrics are not known without it");
}
