/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/devices.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "counters/asker.h"
#include "counters/counting.h"
#include "counters/driver.h"
#include "launch/probe.h"
#include "sensors/look.h"
#include "sensors/watch.h"

#define FIND_MS   20000 /* a driver with eight devices takes seconds to start */
#define ANSWER_NS (10 * NSEC_PER_SEC)

struct devices {
	struct session *s;
	struct watch sensors;
	struct counting counters;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	size_t n_told;     /* notes */
};

/* ---- which there are ---- */

/* By the management library; where that is not there, as in some containers, by the driver. */
static void find_devices(const void *ctx, int fd)
{
	struct look_found found[DEVICES_MOST];
	struct driver_device of;
	uint32_t n = 0;
	void *driver;

	(void)ctx;
	probe_tell(fd, "stage nvmlInit of libnvidia-ml.so.1");
	if (look_nvml.open())
		n = look_nvml.list(found, DEVICES_MOST);
	for (uint32_t i = 0; i < n; i++)
		probe_tell(fd, "device %s\t%s", found[i].uuid, found[i].name);
	if (n)
		return;
	driver_show_all();
	driver = asker_start_driver(fd);
	for (uint32_t i = 0; driver && i < MIN(driver_n_devices(driver), DEVICES_MOST); i++) {
		driver_device(driver, i, &of);
		probe_tell(fd, "device %s\t%s", of.uuid, of.name);
	}
}

/* "UUID\tNAME" */
static int add_device(struct session *s, int32_t number, const char *told)
{
	const char *name = strchr(told, '\t');
	struct session_device device = {.index = number};

	if (!name)
		return -EINVAL;
	device.type = strtab_adds(s->strings, "CUDA");
	device.uuid = strtab_add(s->strings, told, (size_t)(name - told));
	device.name = strtab_adds(s->strings, name + 1);
	return session_device_intern(s, &device) == SESSION_NONE ? -ENOMEM : 0;
}

static bool is_wanted(const struct devices_options *o, unsigned number)
{
	return o->numbers >> number & 1;
}

static int add_devices(struct devices *d, const struct devices_options *o, const struct probe *told,
		       struct buf *why)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	uint64_t left = o->numbers == DEVICES_ALL ? 0 : o->numbers;
	const char *line;
	unsigned n = 0;
	int r = 0;

	for (; r == 0 && n < DEVICES_MOST && (line = probe_value(&scratch, told, "device", n));
	     n++) {
		left &= ~(UINT64_C(1) << n);
		if (is_wanted(o, n))
			r = add_device(d->s, (int32_t)n, line);
	}
	if (r < 0 || (n && !left))
		return r;
	if (n)
		buf_printf(why,
			   n == 1 ? "this machine has device 0 alone"
				  : "this machine has devices 0 to %u",
			   n - 1);
	else if ((line = probe_value(&scratch, told, "no-gpu", 0)))
		buf_puts(why, line);
	else if (told->end != PROBE_ANSWERED)
		probe_say_end(told, why);
	else
		buf_puts(why, "the driver knows no device");
	return n ? -ENODEV : -ENXIO;
}

/* ---- what they say ---- */

int devices_new(const struct devices_options *options, struct devices **ret_devices,
		struct buf *why)
{
	struct devices *d = calloc(1, sizeof(*d));
	struct probe told;
	int r;

	if (!d || !(d->s = session_new())) {
		devices_free(d);
		return -ENOMEM;
	}
	probe_run(find_devices, NULL, FIND_MS, &told);
	r = add_devices(d, options, &told, why);
	probe_done(&told);
	if (r < 0) {
		devices_free(d);
		return r;
	}
	d->s->start_ns = clock_realtime_ns();
	d->begun_ns = clock_monotonic_ns();
	d->s->source = strtab_adds(d->s->strings, "devices");
	d->sensors = (struct watch){.off = options->no_sensors, .path = NULL};
	if (options->counters_ns)
		counting_begin_known(&d->counters, options->counters_ns, d->s);
	*ret_devices = d;
	return 0;
}

struct devices *devices_free(struct devices *d)
{
	if (!d)
		return NULL;
	watch_done(&d->sensors);
	counting_done(&d->counters);
	session_free(d->s);
	free(d);
	return NULL;
}

struct session *devices_session(struct devices *d)
{
	return d->s;
}

void devices_read(struct devices *d)
{
	watch_update(&d->sensors, d->s);
	(void)counting_update(&d->counters, d->s);
}

void devices_finish(struct devices *d)
{
	watch_finish(&d->sensors, d->s);
	counting_finish(&d->counters, d->s);
	d->s->ended = true;
	d->s->end_ns = clock_realtime_ns();
}

/* One who is asked has said something, or will not. */
bool devices_have_answered(const struct devices *d)
{
	bool sensors = d->sensors.off || !d->sensors.helper.pid || d->s->n_sensors;
	bool counters = !d->counters.child.pid || d->s->n_counters;

	return (sensors && counters) || clock_monotonic_ns() - d->begun_ns > ANSWER_NS;
}

const char *devices_news(struct devices *d)
{
	return d->n_told < d->s->n_notes ? session_text(d->s, d->s->notes[d->n_told++].text) : NULL;
}
