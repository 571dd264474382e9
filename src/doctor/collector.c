/* SPDX-License-Identifier: MIT */
/* libproton.so, and the variables through which programs load it. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "doctor/checks.h"
#include "launch/target_env.h"

void check_collector(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *library = d->host->library, *error;
	const struct probe *p;
	long active = 0;

	f->state = DOCTOR_MISSING;
	if (!library) {
		buf_puts(&f->seen, d->host->library_why ? d->host->library_why : "not found");
		buf_puts(&f->why, "it is what records in the program");
		buf_puts(&f->mend, "export PROTON_LIBRARY_PATH=/path/to/libproton.so");
		return;
	}
	p = doctor_ask(d, ASK_COLLECTOR);
	error = probe_value(&scratch, p, "error", 0);
	if (p->end != PROBE_ANSWERED) {
		probe_say_end(p, &f->seen);
		buf_puts(&f->why, "a program under proton would do the same");
	} else if (error) {
		buf_puts(&f->seen, error);
		buf_puts(&f->why, "it is what records in the program");
	} else if (!probe_number(p, "active", &active) || !active) {
		buf_printf(&f->seen, "%s does not take up a session of proton " PACKAGE_VERSION,
			   library);
		buf_puts(&f->why, "the two are of different versions");
		buf_puts(&f->mend, view_env(d->host, "PROTON_LIBRARY_PATH")
					   ? "unset PROTON_LIBRARY_PATH"
					   : "make install");
	} else {
		f->state = DOCTOR_OK;
		buf_puts(&f->seen, library);
	}
}

/* What a run would say about a variable; "" when it just sets it. */
static void run_note(const struct doctor_host *host, const char *name, struct buf *ret)
{
	const struct target_env_options o = {.library = host->library, .session = "/"};
	struct target_env env;

	if (target_env_build(&o, host->env, &env) < 0)
		return;
	for (size_t i = 0; i < env.n_notes; i++)
		if (!strncmp(env.notes[i], name, strlen(name)))
			buf_puts(ret, env.notes[i]);
	target_env_done(&env);
}

/* A variable that can name one library only. */
static void check_door(struct doctor *d, const char *name, struct doctor_finding *f)
{
	const char *value = view_env(d->host, name);
	_cleanup_(buf_done) struct buf note = {0};

	if (d->host->library)
		run_note(d->host, name, &note);
	if (!value || !*value) {
		buf_printf(&f->seen, "%s is free", name);
	} else if (note.len) {
		f->state = DOCTOR_MISSING;
		buf_printf(&f->seen, "%s names %s", name, value);
		buf_puts(&f->why, "another tool stands where the collector would be loaded");
		buf_printf(&f->mend, "unset %s", name);
	} else {
		buf_printf(&f->seen, "%s names the collector", name);
	}
}

void check_injection(struct doctor *d, struct doctor_finding *f)
{
	check_door(d, "CUDA_INJECTION64_PATH", f);
}

void check_nvtx(struct doctor *d, struct doctor_finding *f)
{
	check_door(d, "NVTX_INJECTION64_PATH", f);
}

/* A runtime has one tool, if any. */
void check_openmp(struct doctor *d, struct doctor_finding *f)
{
	const char *switched = view_env(d->host, "OMP_TOOL");

	check_door(d, "OMP_TOOL_LIBRARIES", f);
	if (!switched || strcmp(switched, "disabled") != 0)
		return;
	f->state = DOCTOR_NOTE;
	buf_puts(&f->seen, ", OMP_TOOL=disabled");
	buf_puts(&f->why, "constructs of OpenMP are not seen then");
	buf_puts(&f->mend, "unset OMP_TOOL");
}

/* Preloaded libraries that hold CUPTI or open doors of their own. */
static bool is_profiler(const char *list)
{
	static const char *const words[] = {"nsys",           "nsight", "ncu",
					    "ToolsInjection", "cupti",  "cuda-injection"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(list, words[i]))
			return true;
	return false;
}

void check_preload(struct doctor *d, struct doctor_finding *f)
{
	const char *value = view_env(d->host, "LD_PRELOAD");
	_cleanup_(buf_done) struct buf note = {0};

	if (d->host->library)
		run_note(d->host, "LD_PRELOAD", &note);
	buf_printf(&f->seen, "LD_PRELOAD %s", value && *value ? value : "is not set");
	if (note.len) {
		f->state = DOCTOR_NOTE;
		buf_printf(&f->why, "%s; children that leave by _exit() may lose their end",
			   buf_str(&note));
	} else if (value && is_profiler(value)) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->why, "this looks like another profiler; CUPTI admits one a process");
		buf_puts(&f->mend, "unset LD_PRELOAD");
	}
}
