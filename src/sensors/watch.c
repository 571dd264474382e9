/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "sensors/watch.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "sensors/look.h"
#include "sensors/watcher.h"

#define PERIOD_NS (NSEC_PER_SEC / 4)

_Static_assert(ARRAY_SIZE(((struct watch *)0)->devices) == WATCH_DEVICES,
	       "a place for each device");

/* Once: where it fails there are no numbers, and nobody is told. */
static void start(struct watch *w)
{
	pid_t parent = getpid();
	void *page = mmap(NULL, sizeof(*w->page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		w->off = true;
		return;
	}
	w->page = page;
	w->pid = fork();
	if (w->pid == 0)
		watcher_main(w->page, parent, w->path);
	w->off = w->pid < 0;
	w->pid = MAX(w->pid, 0);
}

static bool is_watched(const struct watch *w, uint32_t device)
{
	uint32_t n = w->page ? atomic_load_explicit(&w->page->n, memory_order_relaxed) : 0;

	for (uint32_t i = 0; i < n; i++)
		if (w->devices[i] == device)
			return true;
	return false;
}

static void add_device(struct watch *w, uint32_t device, const char *uuid)
{
	uint32_t n;

	if (!w->page)
		start(w);
	if (w->off)
		return;
	n = atomic_load_explicit(&w->page->n, memory_order_relaxed);
	if (n == WATCH_DEVICES)
		return;
	memcpy(w->page->devices[n].uuid, uuid, strlen(uuid) + 1);
	w->devices[n] = device;
	atomic_store_explicit(&w->page->n, n + 1, memory_order_release);
}

static void find_devices(struct watch *w, const struct session *s)
{
	for (uint32_t i = 0; i < s->n_devices && !w->off; i++) {
		const char *uuid = strtab_str(s->strings, s->devices[i].uuid);
		const char *type = strtab_str(s->strings, s->devices[i].type);

		if (*uuid && strlen(uuid) < sizeof(w->page->devices->uuid) &&
		    !strcmp(type, look_nvml.type) && !is_watched(w, i))
			add_device(w, i, uuid);
	}
}

static void take(struct watch *w, struct session *s)
{
	uint32_t n = atomic_load_explicit(&w->page->n, memory_order_relaxed);
	struct sensors now, *known;

	for (uint32_t i = 0; i < n; i++) {
		if (!watched_read(w->page, i, &now))
			continue;
		known = session_sensors_of(s, w->devices[i]);
		if (known)
			*known = now;
	}
}

/* As process 1 of a container we reap all processes elsewhere: the number may be another's then. */
static bool has_left(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) != 0;
}

void watch_update(struct watch *w, struct session *s)
{
	uint64_t now = clock_monotonic_ns();

	if (w->off || now < w->next_ns)
		return;
	w->next_ns = now + PERIOD_NS;
	find_devices(w, s);
	if (w->page)
		take(w, s);
	if (w->pid && has_left(w->pid))
		w->pid = 0;
}

void watch_finish(struct watch *w, struct session *s)
{
	if (w->page)
		take(w, s);
	watch_done(w);
}

void watch_done(struct watch *w)
{
	if (w->pid && !has_left(w->pid)) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	w->pid = 0;
	if (w->page)
		munmap(w->page, sizeof(*w->page));
	w->page = NULL;
	w->off = true;
}
