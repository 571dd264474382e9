/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/top_devices.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "cmd/commands.h"

struct top_devices {
	struct devices *devices;
	uint64_t start_ns;
	char title[120];
};

int devices_parse(const char *text, uint64_t *numbers)
{
	char *end;

	if (!strcmp(text, "all")) {
		*numbers = DEVICES_ALL;
		return 0;
	}
	for (;; text = end + 1) {
		unsigned long number;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		number = strtoul(text, &end, 10);
		if (number >= DEVICES_MOST || (*end && *end != ','))
			return -EINVAL;
		*numbers |= UINT64_C(1) << number;
		if (!*end)
			return 0;
	}
}

/* ---- for the loops ---- */

static int read_devices(void *data)
{
	struct top_devices *t = data;

	devices_read(t->devices);
	return 0;
}

static void finish(void *data)
{
	struct top_devices *t = data;

	devices_finish(t->devices);
}

static bool have_answered(void *data)
{
	struct top_devices *t = data;

	return devices_have_answered(t->devices);
}

static const char *tell_news(void *data)
{
	struct top_devices *t = data;

	return devices_news(t->devices);
}

static void tell_status(void *data, struct tui_status *ret)
{
	struct top_devices *t = data;

	ret->run = TUI_RUN_RUNNING;
	ret->target = t->title;
	ret->up_ns = clock_monotonic_ns() - t->start_ns;
}

/* "8 devices of node7" */
static void make_title(struct top_devices *t)
{
	size_t n = devices_session(t->devices)->n_devices;
	char host[65] = "";

	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	snprintf(t->title, sizeof(t->title), "%zu device%s%s%s", n, n == 1 ? "" : "s",
		 *host ? " of " : "", host);
}

int top_devices_run(const struct devices_options *of, const struct follow_options *options)
{
	static const struct followed followed = {.source = TUI_OF_DEVICES,
						 .is_endless = true,
						 .read = read_devices,
						 .finish = finish,
						 .has_begun = have_answered,
						 .news = tell_news,
						 .status = tell_status};
	_cleanup_(buf_done) struct buf why = {0};
	struct top_devices t = {.start_ns = clock_monotonic_ns()};
	int r = devices_new(of, &t.devices, &why);

	if (r == -ENOMEM) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	if (r < 0) {
		complain("--device: %s", buf_str(&why));
		return STATUS_USAGE;
	}
	make_title(&t);
	r = follow_run(options, &followed, &t, devices_session(t.devices));
	devices_free(t.devices);
	return r;
}
