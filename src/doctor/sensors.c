/* SPDX-License-Identifier: MIT */
/* Clock, power, heat and memory of the devices: which management library tells them. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "doctor/checks.h"

#define NEWEST_AMDSMI 26 /* whose clock and power are read: sensors/amdsmi.c */

enum { NO_SENSORS, SENSORS_BROKEN, SENSORS_WORK };

/* One library's answer, as words behind those of the one before. */
static int say_library(const struct probe *p, const char *name, struct buf *out)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	long result;

	if (p->end == PROBE_ANSWERED && probe_value(&scratch, p, "error", 0))
		return NO_SENSORS;
	if (out->len)
		buf_puts(out, "; ");
	if (p->end != PROBE_ANSWERED) {
		probe_say_end(p, out);
		return SENSORS_BROKEN;
	}
	if (!probe_number(p, "init", &result) || result) {
		buf_printf(out, "%s does not start", name);
		return SENSORS_BROKEN;
	}
	buf_puts(out, name);
	return SENSORS_WORK;
}

static int say_nvml(struct doctor *d, struct buf *out)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const struct probe *p;
	unsigned n = 0;
	int r;

	if (!d->has_driver)
		return NO_SENSORS;
	p = doctor_ask(d, ASK_NVML);
	r = say_library(p, "NVML (libnvidia-ml.so.1)", out);
	while (r == SENSORS_WORK && probe_value(&scratch, p, "device", n))
		n++;
	if (r == SENSORS_WORK)
		buf_printf(out, ", %u device%s", n, n == 1 ? "" : "s");
	return r;
}

/* A version that is too new is used for what no version has changed. */
static int say_amdsmi(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const struct probe *p = doctor_ask(d, ASK_AMDSMI);
	int r = say_library(p, "AMD SMI (libamd_smi.so)", &f->seen);
	long n, major = 0;
	const char *text;

	if (r != SENSORS_WORK)
		return r;
	text = probe_value(&scratch, p, "version", 0);
	if (text && strchr(text, ' ')) {
		major = strtol(text, NULL, 10);
		buf_printf(&f->seen, " %s", strchr(text, ' ') + 1);
	}
	if (probe_number(p, "devices", &n))
		buf_printf(&f->seen, ", %ld device%s", n, n == 1 ? "" : "s");
	if (major > NEWEST_AMDSMI)
		buf_printf(&f->why,
			   "AMD SMI is newer than %d, the newest that is known here: neither "
			   "clock nor power is read of it",
			   NEWEST_AMDSMI);
	return r;
}

void check_sensors(struct doctor *d, struct doctor_finding *f)
{
	int nvml = say_nvml(d, &f->seen), amdsmi = say_amdsmi(d, f);

	if (MIN(nvml, amdsmi) == SENSORS_BROKEN || MAX(nvml, amdsmi) != SENSORS_WORK || f->why.len)
		f->state = DOCTOR_NOTE;
	if (MAX(nvml, amdsmi) == NO_SENSORS)
		buf_puts(&f->seen, "no libnvidia-ml.so.1, no libamd_smi.so");
	if (MAX(nvml, amdsmi) != SENSORS_WORK)
		buf_puts(&f->why, "clock, power, temperature and memory of the devices are not "
				  "shown, nor what follows from them");
}
