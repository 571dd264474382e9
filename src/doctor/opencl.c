/* SPDX-License-Identifier: MIT */
/* The OpenCL loader, its layers and its drivers: what ask_opencl.c was answered. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "doctor/checks.h"

#define VENDORS "/etc/OpenCL/vendors"
#define LOADER  "sudo apt install ocl-icd-libopencl1   # 2.3 or later"

/* Is there a loader that has answered? Else the first check has said why not. */
static bool has_loader(const struct probe *p)
{
	_cleanup_(buf_done) struct buf scratch = {0};

	return p->end == PROBE_ANSWERED && !probe_value(&scratch, p, "error", 0);
}

void check_loader(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p = doctor_ask(d, ASK_OPENCL);
	_cleanup_(buf_done) struct buf scratch = {0}, path = {0};
	const char *text = probe_value(&scratch, p, "error", 0);

	if (p->end != PROBE_ANSWERED) {
		f->state = p->end == PROBE_FAILED ? DOCTOR_UNKNOWN : DOCTOR_MISSING;
		probe_say_end(p, &f->seen);
		buf_puts(&f->why, "every OpenCL program would do the same; OCL_ICD_VENDORS names "
				  "the drivers to load");
		return;
	}
	if (text) {
		f->state = DOCTOR_MISSING;
		buf_puts(&f->seen, text);
		buf_puts(&f->why, "OpenCL programs load their drivers by it");
		buf_puts(&f->mend, LOADER);
		return;
	}
	text = probe_value(&scratch, p, "loader", 0);
	buf_printf(&f->seen, "%s, %s", text ? text : "it does not tell its version",
		   probe_value(&path, p, "path", 0) ? buf_str(&path) : "libOpenCL.so.1");
}

void check_layers(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p = doctor_ask(d, ASK_OPENCL);
	const char *others = view_env(d->host, "OPENCL_LAYERS");
	_cleanup_(buf_done) struct buf scratch = {0};
	long layers;

	if (!has_loader(p)) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->seen, "not asked: there is no loader that works");
	} else if (!probe_number(p, "layers", &layers)) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "not tried without libproton.so");
	} else if (layers) {
		buf_puts(&f->seen, "the loader calls the collector");
		if (others && *others)
			buf_printf(&f->seen, ", behind %s", others);
	} else if (!probe_value(&scratch, p, "platform", 0)) {
		f->state = DOCTOR_UNKNOWN;
		buf_puts(&f->seen, "not to be seen without an OpenCL driver");
	} else {
		f->state = DOCTOR_MISSING;
		buf_puts(&f->seen, "the loader does not call layers");
		buf_puts(&f->why, "the collector is a layer: ocl-icd before 2.3 and loaders that "
				  "come with a driver know none");
		buf_puts(&f->mend, LOADER);
	}
}

/* Files that name drivers, as loaders look for them. */
static unsigned count_vendors(const struct doctor_host *host)
{
	DIR *folder = view_folder(host, VENDORS);
	struct dirent *e;
	unsigned n = 0;

	while (folder && (e = readdir(folder))) {
		size_t len = strlen(e->d_name);

		n += len > 4 && !strcmp(e->d_name + len - 4, ".icd");
	}
	if (folder)
		closedir(folder);
	return n;
}

static void find_no_devices(const struct doctor *d, unsigned n_platforms, struct doctor_finding *f)
{
	const char *vendors = view_env(d->host, "OCL_ICD_VENDORS");
	unsigned n_files = count_vendors(d->host);

	f->state = DOCTOR_MISSING;
	if (n_platforms)
		buf_puts(&f->seen, ", none of which has a device");
	else if (vendors && *vendors)
		buf_printf(&f->seen, "no driver; OCL_ICD_VENDORS=%s", vendors);
	else
		buf_printf(&f->seen, "no driver; %u named in " VENDORS, n_files);
	buf_puts(&f->why, "OpenCL programs cannot run here");
	if (vendors && *vendors)
		buf_puts(&f->mend, "unset OCL_ICD_VENDORS");
	else if (d->has_driver && !n_files)
		buf_puts(&f->mend, "sudo mkdir -p " VENDORS " && echo libnvidia-opencl.so.1 | sudo "
				   "tee " VENDORS "/nvidia.icd");
	else
		buf_puts(&f->mend, "sudo apt install pocl-opencl-icd   # on the CPU");
}

void check_platforms(struct doctor *d, struct doctor_finding *f)
{
	const struct probe *p = doctor_ask(d, ASK_OPENCL);
	_cleanup_(buf_done) struct buf scratch = {0};
	unsigned n = 0, n_devices = 0;
	const char *text;

	if (!has_loader(p)) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->seen, "not asked: there is no loader that works");
		return;
	}
	for (; (text = probe_value(&scratch, p, "platform", n)); n++) {
		const char *name = strchr(text, ' ');
		unsigned here = (unsigned)strtoul(text, NULL, 10);

		n_devices += here;
		buf_printf(&f->seen, "%s%s (%u device%s)", n ? ", " : "", name ? name + 1 : "?",
			   here, here == 1 ? "" : "s");
	}
	if (!n_devices)
		find_no_devices(d, n, f);
}
