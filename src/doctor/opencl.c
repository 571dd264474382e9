/* SPDX-License-Identifier: MIT */
/* The OpenCL loader, its layers and its drivers: what ask_opencl.c was answered. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "doctor/checks.h"

#define VENDORS "/etc/OpenCL/vendors"
#define ON_CPU  "sudo apt install pocl-opencl-icd   # on the CPU"
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

/* Files that name drivers, as loaders look for them. ret_first: the name of the first one. */
static unsigned count_vendors(const struct doctor_host *host, struct buf *ret_first)
{
	DIR *folder = view_folder(host, VENDORS);
	struct dirent *e;
	unsigned n = 0;

	while (folder && (e = readdir(folder))) {
		size_t len = strlen(e->d_name);

		if (len <= 4 || strcmp(e->d_name + len - 4, ".icd") != 0)
			continue;
		if (!n++ || strcmp(e->d_name, buf_str(ret_first)) < 0) {
			buf_clear(ret_first);
			buf_puts(ret_first, e->d_name);
		}
	}
	if (folder)
		closedir(folder);
	return n;
}

/* A variable that has the loader look elsewhere; NULL: none does. */
static const char *elsewhere(const struct doctor_host *host)
{
	static const char *const names[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = view_env(host, names[i]);

		if (value && *value)
			return names[i];
	}
	return NULL;
}

/* There is a file, and its driver does not come: another one is no remedy for that. */
static void mend_driver(const struct doctor *d, const char *file, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf path = {0}, text = {0};
	const char *library;

	buf_printf(&path, VENDORS "/%s", file);
	view_read(d->host, buf_str(&path), &text);
	library = buf_str(&text);
	buf_printf(&f->seen, ", %s for %.*s", file, (int)strcspn(library, "\n"), library);
	if (strncmp(library, "libnvidia-opencl", 16) != 0)
		buf_printf(&f->mend, "sudo apt install --reinstall \"$(dpkg -S %s | cut -d: -f1)\"",
			   buf_str(&path));
	else if (d->has_driver && view_container(d->host))
		buf_puts(&f->mend,
			 "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …");
	else if (d->has_driver)
		buf_puts(&f->mend, "sudo apt install nvidia-opencl-icd");
	else
		buf_puts(&f->mend, ON_CPU);
}

static void find_no_devices(const struct doctor *d, unsigned n_platforms, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf first = {0};
	const char *variable = elsewhere(d->host);
	unsigned n_files = count_vendors(d->host, &first);

	f->state = DOCTOR_MISSING;
	if (n_platforms)
		buf_puts(&f->seen, ", none of which has a device");
	else if (variable)
		buf_printf(&f->seen, "no driver; %s=%s", variable, view_env(d->host, variable));
	else
		buf_printf(&f->seen, "no driver; %u named in " VENDORS, n_files);
	buf_puts(&f->why, "OpenCL programs cannot run here");
	if (variable)
		buf_printf(&f->mend, "unset %s", variable);
	else if (n_files && !n_platforms)
		mend_driver(d, buf_str(&first), f);
	else if (d->has_driver && !n_files)
		buf_puts(&f->mend, "sudo mkdir -p " VENDORS " && echo libnvidia-opencl.so.1 | sudo "
				   "tee " VENDORS "/nvidia.icd");
	else
		buf_puts(&f->mend, ON_CPU);
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
