/* SPDX-License-Identifier: MIT */
/* What surrounds a process that would be profiled: containers, variables, other processes. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "doctor/checks.h"

/* Is word in a list with commas? */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ",");

		if (n == len && !strncmp(p, word, n))
			return true;
		p += n + (p[n] != '\0');
	}
	return false;
}

/* ---- containers ---- */

static void say_seccomp(const struct doctor_host *host, struct buf *out)
{
	_cleanup_(buf_done) struct buf text = {0}, value = {0};
	const char *mode;

	if (view_read(host, "/proc/self/status", &text) < 0)
		return;
	mode = view_line(buf_str(&text), "Seccomp:", &value);
	if (mode && strcmp(mode, "0") != 0)
		buf_puts(out, ", system calls are filtered");
}

/* A container without GPUs, or with a part of the driver only, is mended where it is started. */
void check_container(struct doctor *d, struct doctor_finding *f)
{
	const char *container = view_container(d->host);
	const char *devices = view_env(d->host, "NVIDIA_VISIBLE_DEVICES");
	const char *parts = view_env(d->host, "NVIDIA_DRIVER_CAPABILITIES");
	long result;
	bool works = probe_number(doctor_ask(d, ASK_DRIVER), "init", &result) && result == 0;

	buf_puts(&f->seen, container ? container : "none");
	say_seccomp(d->host, &f->seen);
	if (!container || works)
		return;
	if (devices && (!*devices || !strcmp(devices, "void") || !strcmp(devices, "none"))) {
		f->state = DOCTOR_MISSING;
		buf_printf(&f->seen, ", NVIDIA_VISIBLE_DEVICES=%s", devices);
		buf_puts(&f->why, "that gives the container no GPU");
		buf_puts(&f->mend, "docker run --gpus all …");
	} else if (parts && *parts && !list_has(parts, "compute") && !list_has(parts, "all")) {
		f->state = DOCTOR_MISSING;
		buf_printf(&f->seen, ", NVIDIA_DRIVER_CAPABILITIES=%s", parts);
		buf_puts(&f->why, "without 'compute' the container has no libcuda.so.1");
		buf_puts(&f->mend,
			 "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …");
	}
}

/* ---- variables ---- */

void check_visible(struct doctor *d, struct doctor_finding *f)
{
	const char *value = view_env(d->host, "CUDA_VISIBLE_DEVICES");

	if (!value) {
		buf_puts(&f->seen, "all (CUDA_VISIBLE_DEVICES is not set)");
	} else if (!*value || !strncmp(value, "-1", 2) || !strcmp(value, "NoDevFiles")) {
		f->state = DOCTOR_MISSING;
		buf_printf(&f->seen, "none: CUDA_VISIBLE_DEVICES is '%s'", value);
		buf_puts(&f->why, "CUDA programs are shown no GPU");
		buf_puts(&f->mend, "unset CUDA_VISIBLE_DEVICES");
	} else {
		buf_printf(&f->seen, "CUDA_VISIBLE_DEVICES=%s", value);
	}
}

/* Variables of ours, and those by which other profilers say that they are at work. */
void check_variables(struct doctor *d, struct doctor_finding *f)
{
	static const struct {
		const char *name, *why;
	} known[] = {
		{"PROTON_FAKE", "records are invented beside those of the program"},
		{"PROTON_SESSION", "this is a program that proton runs"},
		{"NSYS_PROFILING_SESSION_ID", "this shell runs under Nsight Systems"},
		{"PROTON_CUPTI_PATH", NULL},
		{"PROTON_LIBRARY_PATH", NULL},
		{"PROTON_LOG", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const char *value = view_env(d->host, known[i].name);

		if (!value || !*value)
			continue;
		buf_printf(&f->seen, "%s%s=%s", f->seen.len ? ", " : "", known[i].name, value);
		if (!known[i].why)
			continue;
		buf_printf(&f->why, "%s%s: %s", f->state == DOCTOR_NOTE ? "; " : "", known[i].name,
			   known[i].why);
		f->state = DOCTOR_NOTE;
	}
	if (!f->seen.len)
		buf_puts(&f->seen, "none of proton's is set");
}

/* ---- who holds CUPTI ---- */

enum { HOLDERS_SHOWN = 4 };

/* "PID OURS NAME PATH" */
static void say_holder(const char *text, unsigned n, struct buf *out)
{
	char name[64] = "?";
	long pid = 0;
	int ours = 0;

	if (n >= HOLDERS_SHOWN || sscanf(text, "%ld %d %63s", &pid, &ours, name) != 3)
		return;
	buf_printf(out, "%s%s (pid %ld%s)", n ? ", " : "", name, pid, ours ? ", by proton" : "");
}

void check_holders(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p = doctor_ask(d, ASK_HOLDERS);
	_cleanup_(buf_done) struct buf scratch = {0};
	unsigned n = 0;
	const char *text;
	long unread = 0, all;

	for (; (text = probe_value(&scratch, p, "holder", n)); n++)
		say_holder(text, n, &f->seen);
	if (n > HOLDERS_SHOWN)
		buf_printf(&f->seen, " and %u more", n - HOLDERS_SHOWN);
	if (p->end != PROBE_ANSWERED || !probe_number(p, "processes", &all)) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, n ? "; " : "");
		probe_say_end(p, &f->seen);
		return;
	}
	probe_number(p, "unread", &unread);
	if (!n)
		buf_puts(&f->seen, "no process has it loaded");
	if (unread)
		buf_printf(&f->seen, "; %ld of %ld processes could not be read", unread, all);
	if (n) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->why, "CUPTI admits one profiler in each process; these have it "
				  "loaded, and do not disturb others");
	}
}
