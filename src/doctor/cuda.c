/* SPDX-License-Identifier: MIT */
/* What NVIDIA's libraries answered (ask_cuda.c), and what it means. */
#include "config.h" // IWYU pragma: keep
#include <limits.h>
#include <string.h>
#include "doctor/checks.h"

/* ---- libcuda ---- */

enum { NO_DEVICE = 100 }; /* of cuInit */

/* Results of cuInit that say what is wrong. */
static const struct {
	int result;
	const char *seen, *why, *mend;
} init_results[] = {
	{34, "it is the stub of the toolkit, not the driver's", "LD_LIBRARY_PATH names it first",
	 "unset LD_LIBRARY_PATH"},
	{NO_DEVICE, "no device", "no GPU is to be seen from here", "nvidia-smi -L"},
	{304, "the system refused a call", "a sandbox or missing device nodes are the usual reason",
	 ""},
	{802, "the system is not ready", "NVSwitch machines need their fabric manager",
	 "sudo systemctl enable --now nvidia-fabricmanager"},
	{803, "the kernel module and libcuda.so.1 are of different versions",
	 "the driver was updated and the old module is still loaded", "sudo reboot"},
	{804, "this forward compatible libcuda does not support the GPU",
	 "LD_LIBRARY_PATH names a 'compat' folder of a toolkit", "unset LD_LIBRARY_PATH"},
	{805, "MPS does not answer", "its control daemon or server is stuck",
	 "echo quit | nvidia-cuda-mps-control"},
	{999, "unknown error", "nvidia-uvm not being loaded is the usual reason",
	 "sudo modprobe nvidia-uvm"},
};

static void find_init_error(const struct doctor *d, struct doctor_finding *f, long result)
{
	bool is_limited = view_env(d->host, "CUDA_VISIBLE_DEVICES");

	buf_printf(&f->seen, "cuInit fails with %ld", result);
	for (size_t i = 0; i < ARRAY_SIZE(init_results); i++) {
		if (init_results[i].result != result)
			continue;
		buf_printf(&f->seen, ": %s", init_results[i].seen);
		buf_puts(&f->why, init_results[i].why);
		buf_puts(&f->mend, result == NO_DEVICE && is_limited ? "unset CUDA_VISIBLE_DEVICES"
								     : init_results[i].mend);
		return;
	}
	buf_puts(&f->why, "CUDA programs cannot run here");
}

/* It did not answer. The rest of its life is not ours to know; what is in the way may be. */
static void find_driver_end(const struct doctor *d, const struct probe *p, struct doctor_finding *f)
{
	const char *path = view_env(d->host, "LD_LIBRARY_PATH");
	_cleanup_(buf_done) struct buf scratch = {0};

	f->state = p->end == PROBE_FAILED ? DOCTOR_UNKNOWN : DOCTOR_MISSING;
	probe_say_end(p, &f->seen);
	if (p->end == PROBE_FAILED)
		return;
	if (p->end == PROBE_HUNG && probe_value(&scratch, p, "path", 0)) {
		buf_puts(&f->why, "a driver without persistence mode starts anew for each program, "
				  "which takes long where GPUs are many");
		buf_puts(&f->mend, "sudo nvidia-smi -pm 1");
		return;
	}
	buf_puts(&f->why, "every CUDA program would do the same");
	if (path && *path) {
		buf_puts(&f->why, "; LD_LIBRARY_PATH may name another libcuda than the driver's");
		buf_puts(&f->mend, "unset LD_LIBRARY_PATH");
	}
}

static void find_no_libcuda(const struct doctor *d, const char *error, struct doctor_finding *f)
{
	buf_puts(&f->seen, error);
	buf_puts(&f->why, "it comes with the driver and must be of its version");
	if (view_container(d->host))
		buf_puts(&f->mend,
			 "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …");
	else if (d->driver_major > 0)
		buf_printf(&f->mend, "sudo apt install libnvidia-compute-%ld   # Debian: libcuda1",
			   d->driver_major);
}

static void say_devices(const struct probe *p, struct buf *out)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *name = probe_value(&scratch, p, "device", 0);
	long n = 0;

	probe_number(p, "devices", &n);
	buf_printf(out, ", %ld device%s", n, n == 1 ? "" : "s");
	if (name)
		buf_printf(out, " (%s%s)", name, n > 1 ? ", …" : "");
}

/* Without a driver, all of that is only to be expected: the first finding has said it. */
static void excuse(const struct doctor *d, struct doctor_finding *f)
{
	if (d->has_driver) {
		f->state = DOCTOR_MISSING;
		return;
	}
	f->state = DOCTOR_NOTE;
	buf_done(&f->why);
	buf_done(&f->mend);
}

void check_libcuda(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p = doctor_ask(d, ASK_DRIVER);
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text;
	long version, result;

	if (p->end != PROBE_ANSWERED) {
		find_driver_end(d, p, f);
		return;
	}
	text = probe_value(&scratch, p, "error", 0);
	if (text) {
		find_no_libcuda(d, text, f);
		excuse(d, f);
		return;
	}
	if (!probe_number(p, "init", &result)) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "it did not say");
	} else if (result) {
		find_init_error(d, f, result);
		excuse(d, f);
	} else {
		if (probe_number(p, "version", &version))
			buf_printf(&f->seen, "CUDA %d.%d", cuda_major(version),
				   cuda_minor(version));
		else
			buf_puts(&f->seen, "starts");
		say_devices(p, &f->seen);
	}
	text = probe_value(&scratch, p, "path", 0);
	if (text)
		buf_printf(&f->seen, ", %s", text);
}

/* ---- CUPTI ---- */

/* The CUDA that a CUPTI came with, as the driver counts: 13000. 0: older than 11. */
static long cupti_cuda(long api)
{
	static const int of_api[] = {
		[13] = 11000, [14] = 11010, [15] = 11020, [16] = 11050, [17] = 11060,
		[18] = 11080, [19] = 12000, [20] = 12020, [21] = 12030, [22] = 12040,
		[23] = 12050, [24] = 12060, [26] = 12080, [27] = 12090, [28] = 12090};

	if (api >= 10000)
		return api / 10000 * 1000 + api / 100 % 100 * 10;
	return api > 0 && api < (long)ARRAY_SIZE(of_api) ? of_api[api] : 0;
}

static void say_cupti(long api, const char *path, struct buf *out)
{
	long cuda = cupti_cuda(api);

	buf_puts(out, "CUPTI ");
	if (cuda)
		buf_printf(out, "%d.%d", cuda_major(cuda), cuda_minor(cuda));
	buf_printf(out, "%s(API %ld), %s", cuda ? " " : "", api, path);
}

/* pip has every CUPTI by the CUDA that it belongs to, and needs no root. limit: the driver's. */
static void mend_cupti(long limit, struct buf *mend)
{
	int major = limit ? cuda_major(limit) : 12;
	bool new_layout = major >= 13;

	buf_puts(mend, "pip install --target ~/cupti 'nvidia-cuda-cupti");
	if (!new_layout)
		buf_printf(mend, "-cu%d", major);
	if (limit)
		buf_printf(mend, "<%d.%d", major, cuda_minor(limit) + 1);
	buf_printf(mend, "' && export PROTON_CUPTI_PATH=~/cupti/nvidia/%s/lib",
		   new_layout ? "cu13" : "cuda_cupti");
}

void mend_privilege(struct buf *mend)
{
	buf_puts(mend, "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
		       "/etc/modprobe.d/nvidia-profiling.conf && sudo reboot");
}

/* One that a run tried: "RESULT API PATH". */
struct tried {
	long result, api;
	char path[PATH_MAX];
};

static bool tried_at(const struct probe *p, unsigned i, struct tried *t)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = probe_value(&scratch, p, "tried", i);
	char path[PATH_MAX] = "";

	if (!text || sscanf(text, "%ld %ld %4095[^\n]", &t->result, &t->api, path) != 3)
		return false;
	memcpy(t->path, path, sizeof(path));
	return true;
}

/* Why none works, by what the last of them said: the last is the one that a run would blame. */
static void find_refused(struct doctor *d, const struct tried *t, struct doctor_finding *f)
{
	long driver = 0;

	probe_number(doctor_ask(d, ASK_DRIVER), "version", &driver);
	say_cupti(t->api, t->path, &f->seen);
	f->state = DOCTOR_MISSING;
	if (t->result == CUPTI_HELD) {
		buf_puts(&f->seen, ", held by another profiler");
		buf_puts(&f->why, "CUPTI admits one profiler a process");
		buf_puts(&f->mend, "unset LD_PRELOAD CUDA_INJECTION64_PATH");
	} else if (t->result == CUPTI_NO_PRIVILEGE || t->result == CUPTI_NO_PRIVILEGE_VIRTUAL) {
		buf_printf(&f->seen, ", refused: no permission (error %ld)", t->result);
		buf_puts(&f->why, "this driver lets only administrators profile");
		mend_privilege(&f->mend);
	} else if (driver && cupti_cuda(t->api) > driver) {
		buf_printf(&f->seen, ", newer than the driver (CUDA %d.%d): error %ld",
			   cuda_major(driver), cuda_minor(driver), t->result);
		buf_puts(&f->why, "a CUPTI that is newer than the driver does not work; an older "
				  "one does");
		mend_cupti(driver, &f->mend);
	} else {
		buf_printf(&f->seen, ", does not start: error %ld", t->result);
		buf_puts(&f->why, "no CUDA work would be recorded");
		mend_cupti(driver, &f->mend);
	}
}

/* Nothing that could be tried. */
static void find_no_cupti(struct doctor *d, const struct probe *p, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *broken = probe_value(&scratch, p, "broken", 0);
	const char *list = view_env(d->host, "PROTON_CUPTI_PATH");
	long driver = 0;

	probe_number(doctor_ask(d, ASK_DRIVER), "version", &driver);
	if (broken)
		buf_puts(&f->seen, broken);
	else if (list && *list)
		buf_printf(&f->seen, "no libcupti at PROTON_CUPTI_PATH (%s)", list);
	else
		buf_puts(&f->seen, "no libcupti in CUDA_HOME, /usr/local/cuda or the library path");
	buf_puts(&f->why, "CUDA work is recorded by CUPTI; a program that brings its own (PyTorch) "
			  "does not need this one");
	if (list && *list)
		buf_puts(&f->mend, "unset PROTON_CUPTI_PATH");
	else
		mend_cupti(driver, &f->mend);
	excuse(d, f);
}

/* Without a driver a libcupti is seen and cannot be tried. */
static void find_untried(const struct probe *p, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *found = probe_value(&scratch, p, "found", 0);
	char path[PATH_MAX] = "";
	long api;

	f->state = DOCTOR_NOTE;
	if (found && sscanf(found, "%ld %4095[^\n]", &api, path) == 2)
		say_cupti(api, path, &f->seen);
	else
		buf_puts(&f->seen, "not found");
	buf_puts(&f->seen, "; not tried without a driver");
}

/* It works by itself, and the collector does not have it. */
static void find_not_taken(struct doctor_finding *f)
{
	f->state = DOCTOR_MISSING;
	buf_puts(&f->seen, ", which works, but not in a run");
	buf_puts(&f->why, "the driver did not load the collector, or the collector did not take "
			  "CUPTI up; its log says more");
	buf_puts(&f->mend, "PROTON_LOG=2:/tmp/proton.log proton record …");
}

/* The search alone: which would it be, and why does it not work? */
static void find_by_search(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p = doctor_ask(d, ASK_CUPTI);
	struct tried t, last = {0};
	unsigned n = 0;

	if (!d->has_driver && p->end == PROBE_ANSWERED) {
		find_untried(p, f);
		return;
	}
	while (tried_at(p, n, &t)) {
		n++;
		last = t;
		if (t.result == CUPTI_WORKS)
			break;
	}
	if (p->end != PROBE_ANSWERED) {
		f->state = p->end == PROBE_FAILED ? DOCTOR_UNKNOWN : DOCTOR_MISSING;
		probe_say_end(p, &f->seen);
		buf_puts(&f->why, "a program under proton would do the same");
		mend_cupti(0, &f->mend);
	} else if (!n) {
		find_no_cupti(d, p, f);
	} else if (last.result != CUPTI_WORKS) {
		find_refused(d, &last, f);
	} else {
		say_cupti(last.api, last.path, &f->seen);
		if (d->host->library)
			find_not_taken(f);
	}
}

/* Would a process without the collector get it? */
static bool search_works(const struct probe *p)
{
	struct tried t;

	for (unsigned i = 0; tried_at(p, i, &t); i++)
		if (t.result == CUPTI_WORKS)
			return true;
	return false;
}

/* CUPTI 13.0 calls who subscribed as "proton" "CUPTI for proton". */
static bool is_ours(const char *who)
{
	const char *last = strrchr(who, ' ');

	return !strcmp(last ? last + 1 : who, "proton");
}

/* In a process like one of a run, does the collector hold CUPTI? Who asks a second time is told
 * that somebody has it. Older ones do not say who: it is ours, if it is free where we are not. */
static bool run_works(struct doctor *d, const struct probe *p, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf holder = {0}, cupti = {0};
	const char *h = probe_value(&holder, p, "holder", 0);
	const char *c = probe_value(&cupti, p, "cupti", 0);
	char who[64] = "", path[PATH_MAX] = "";
	long connected = 0, result, api;

	if (p->end != PROBE_ANSWERED || !h || !c || !probe_number(p, "connected", &connected) ||
	    connected < 1 || sscanf(h, "%ld %63[^\n]", &result, who) != 2 ||
	    sscanf(c, "%ld %4095[^\n]", &api, path) != 2 || result != CUPTI_HELD)
		return false;
	if (!is_ours(who) && (strcmp(who, "?") != 0 || !search_works(doctor_ask(d, ASK_CUPTI))))
		return false;
	say_cupti(api, path, &f->seen);
	return true;
}

void check_cupti(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *driver = doctor_ask(d, ASK_DRIVER), *run;
	long result = -1;

	if (driver->end != PROBE_ANSWERED) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "not asked: it would load libcuda.so.1");
		return;
	}
	probe_number(driver, "init", &result);
	if (d->has_driver && result > 0) { /* no program can: the finding above says why */
		f->state = DOCTOR_NOTE;
		buf_puts(&f->seen, "not tried: cuInit fails");
		return;
	}
	if (result != 0 || !d->host->library) {
		find_by_search(d, f);
		return;
	}
	run = doctor_ask(d, ASK_RUN);
	if (run_works(d, run, f))
		return;
	if (run->end == PROBE_ANSWERED || run->end == PROBE_FAILED) {
		find_by_search(d, f);
		return;
	}
	f->state = DOCTOR_MISSING;
	buf_puts(&f->seen, "with the collector, ");
	probe_say_end(run, &f->seen);
	buf_puts(&f->why, "a program under proton would do the same; without CUDA it runs");
	buf_puts(&f->mend, "proton record --no-cuda …");
}
