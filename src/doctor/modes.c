/* SPDX-License-Identifier: MIT */
/* Modes of the devices that decide who may use them: what NVML answered (ask_cuda.c). */
#include "config.h" // IWYU pragma: keep
#include <limits.h>
#include <string.h>
#include "doctor/checks.h"

enum {
	NO_DEVICE = 100,      /* of cuInit */
	VERSION_MISMATCH = 18 /* of NVML */
};

/* As NVML counts. */
enum { MIG_ON = 1, VIRTUAL_GUEST = 2 };
enum { EXCLUSIVE_THREAD = 1, PROHIBITED = 2, EXCLUSIVE_PROCESS = 3 };

struct modes {
	unsigned n, n_mig, n_virtual, n_prohibited, n_exclusive;
	bool mig_told, virtual_told, compute_told;
};

static bool mode_of(const char *text, long *ret)
{
	char *end;

	*ret = strtol(text, &end, 10);
	return end != text && !*end;
}

static void count_modes(const struct probe *p, struct modes *m)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	char mig[16], virtual_mode[16], compute[16];
	const char *text;
	long v;

	for (; (text = probe_value(&scratch, p, "device", m->n)); m->n++) {
		if (sscanf(text, "%15s %15s %15s", mig, virtual_mode, compute) != 3)
			continue;
		if (mode_of(mig, &v)) {
			m->mig_told = true;
			m->n_mig += v == MIG_ON;
		}
		if (mode_of(virtual_mode, &v)) {
			m->virtual_told = true;
			m->n_virtual +=
				v == VIRTUAL_GUEST; /* passed through whole is as good as bare */
		}
		if (mode_of(compute, &v)) {
			m->compute_told = true;
			m->n_prohibited += v == PROHIBITED;
			m->n_exclusive += v == EXCLUSIVE_THREAD || v == EXCLUSIVE_PROCESS;
		}
	}
}

/* Ask NVML. false: the finding says why there is nothing. */
static bool ask_modes(struct doctor *d, struct modes *m, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const struct probe *p;
	const char *error;
	long result;

	memset(m, 0, sizeof(*m));
	f->state = DOCTOR_NOTE;
	if (!d->has_driver) {
		buf_puts(&f->seen, "not looked at: there is no driver");
		return false;
	}
	p = doctor_ask(d, ASK_NVML);
	error = probe_value(&scratch, p, "error", 0);
	if (p->end != PROBE_ANSWERED) {
		probe_say_end(p, &f->seen);
	} else if (error) {
		buf_printf(&f->seen, "not known: %s", error);
	} else if (!probe_number(p, "init", &result) || result) {
		buf_printf(&f->seen, "not known: libnvidia-ml.so.1 does not start%s",
			   result == VERSION_MISMATCH ? " (it is not of the driver's version)"
						      : "");
	} else {
		f->state = DOCTOR_OK;
		count_modes(p, m);
		return true;
	}
	return false;
}

static bool not_told(bool told, struct doctor_finding *f)
{
	if (!told)
		buf_puts(&f->seen, "not told by this driver or device");
	return !told;
}

/* MIG instances that the driver lists: /proc/driver/nvidia/capabilities/gpu0/mig/gi1. */
static unsigned count_instances(const struct doctor_host *host)
{
	DIR *folder = view_folder(host, "/proc/driver/nvidia/capabilities");
	struct dirent *gpu, *instance;
	unsigned n = 0;

	while (folder && (gpu = readdir(folder))) {
		char path[PATH_MAX];
		DIR *mig;

		if (strncmp(gpu->d_name, "gpu", 3) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/driver/nvidia/capabilities/%s/mig",
			 gpu->d_name);
		mig = view_folder(host, path);
		while (mig && (instance = readdir(mig)))
			n += !strncmp(instance->d_name, "gi", 2);
		if (mig)
			closedir(mig);
	}
	if (folder)
		closedir(folder);
	return n;
}

void check_mig(struct doctor *d, struct doctor_finding *f)
{
	unsigned n_instances = count_instances(d->host);
	struct modes m;
	long result = 0;

	if (ask_modes(d, &m, f)) {
		if (not_told(m.mig_told, f))
			return;
		if (!m.n_mig) {
			buf_puts(&f->seen, "off");
			return;
		}
		buf_printf(&f->seen, "on for %u of %u GPUs, ", m.n_mig, m.n);
	} else if (!n_instances) {
		return;
	} else {
		buf_puts(&f->seen, "; ");
	}
	f->state = DOCTOR_NOTE;
	buf_printf(&f->seen, "%u instance%s", n_instances, n_instances == 1 ? "" : "s");
	probe_number(doctor_ask(d, ASK_DRIVER), "init", &result);
	if (!n_instances && result == NO_DEVICE) {
		f->state = DOCTOR_MISSING;
		buf_puts(&f->why, "CUDA programs see instances alone, and there is none");
		buf_puts(&f->mend, "sudo nvidia-smi mig -cgi 0 -C");
	} else {
		buf_puts(&f->why, "a program sees one instance (CUDA_VISIBLE_DEVICES names it) and "
				  "is traced there as elsewhere");
	}
}

void check_vgpu(struct doctor *d, struct doctor_finding *f)
{
	struct modes m;

	if (!ask_modes(d, &m, f) || not_told(m.virtual_told, f))
		return;
	if (!m.n_virtual) {
		buf_puts(&f->seen, "no");
		return;
	}
	f->state = DOCTOR_NOTE;
	buf_printf(&f->seen, "%u of %u GPUs", m.n_virtual, m.n);
	buf_puts(&f->why, "CUPTI works where the host permits it to the virtual machine "
			  "(enable_profiling=1); the line on CUPTI says whether it does here");
}

void check_compute(struct doctor *d, struct doctor_finding *f)
{
	struct modes m;

	if (!ask_modes(d, &m, f) || not_told(m.compute_told, f))
		return;
	if (m.n_prohibited) {
		f->state = m.n_prohibited == m.n ? DOCTOR_MISSING : DOCTOR_NOTE;
		buf_printf(&f->seen, "prohibited on %u of %u GPUs", m.n_prohibited, m.n);
		buf_puts(&f->why, "no program may use such a GPU");
		buf_puts(&f->mend, "sudo nvidia-smi -c DEFAULT");
	} else if (m.n_exclusive) {
		f->state = DOCTOR_NOTE;
		buf_printf(&f->seen, "exclusive on %u of %u GPUs", m.n_exclusive, m.n);
		buf_puts(&f->why, "one process at a time may use such a GPU");
	} else {
		buf_puts(&f->seen, "default");
	}
}
