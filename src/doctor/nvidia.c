/* SPDX-License-Identifier: MIT */
/* NVIDIA's driver as files of the system show it: no library is opened. */
#include "config.h" // IWYU pragma: keep
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "doctor/checks.h"

#define DRIVER_FILE "/proc/driver/nvidia/version"
/* The first driver of CUDA 11, whose CUPTI is the oldest that the collector takes. */
enum { DRIVER_OF_CUDA_11 = 450 };
/* What this process may do, as in linux/capability.h. */
enum { BIT_SYS_ADMIN = 21, BIT_PERFMON = 38 };

/* ---- the driver ---- */

/* "580.159.04" out of "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  …". */
static const char *driver_version(const char *text, struct buf *scratch)
{
	const char *line = view_line(text, "NVRM version:", scratch), *p = line;

	while (p && *p) {
		size_t len = strcspn(p, " \t"), digits = strspn(p, "0123456789");

		if (digits && digits < len && p[digits] == '.' && strspn(p, "0123456789.") == len) {
			scratch->data[p - line + (ptrdiff_t)len] = '\0';
			return p;
		}
		p += len + strspn(p + len, " \t");
	}
	return NULL;
}

static bool has_pci_device(const struct doctor_host *host)
{
	_cleanup_(buf_done) struct buf vendor = {0};
	DIR *folder = view_folder(host, "/sys/bus/pci/devices");
	char path[PATH_MAX];
	struct dirent *e;
	bool found = false;

	while (folder && !found && (e = readdir(folder))) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", e->d_name);
		found = e->d_name[0] != '.' && view_read(host, path, &vendor) == 0 &&
			!strncmp(buf_str(&vendor), "0x10de", 6);
	}
	if (folder)
		closedir(folder);
	return found;
}

static void mend_driver(const struct doctor_host *host, struct buf *mend)
{
	_cleanup_(buf_done) struct buf text = {0}, id = {0};
	const char *os = "";

	if (view_read(host, "/etc/os-release", &text) == 0 && view_line(buf_str(&text), "ID=", &id))
		os = buf_str(&id);
	if (!strcmp(os, "ubuntu"))
		buf_puts(mend, "sudo ubuntu-drivers install && sudo reboot");
	else if (!strcmp(os, "debian"))
		buf_puts(mend, "sudo apt install nvidia-driver && sudo reboot");
	else
		buf_puts(mend,
			 "# install the driver from https://www.nvidia.com/drivers, then reboot");
}

/* Three things can be behind it, with different remedies. */
static void find_no_driver(const struct doctor_host *host, struct doctor_finding *f)
{
	f->state = DOCTOR_MISSING;
	if (!has_pci_device(host)) {
		buf_puts(&f->seen, "none, and no NVIDIA device on the PCI bus");
		buf_puts(&f->why, "CUDA programs cannot run on this machine");
	} else if (view_container(host)) {
		buf_puts(&f->seen, "not in this container; the machine has an NVIDIA device");
		buf_puts(&f->why, "a container is given its GPUs when it is started");
		buf_puts(&f->mend, "docker run --gpus all …");
	} else {
		buf_printf(&f->seen, "not loaded; an NVIDIA device is on the PCI bus%s",
			   view_exists(host, "/sys/module/nouveau") ? ", which nouveau drives"
								    : "");
		buf_puts(&f->why, "CUDA needs NVIDIA's own kernel module");
		mend_driver(host, &f->mend);
	}
}

/* Has it answered a program? That stands above all files. */
static bool driver_works(struct doctor *d)
{
	long result;

	return probe_number(doctor_ask(d, ASK_DRIVER), "init", &result) && result == 0;
}

void check_driver(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf text = {0}, scratch = {0};
	const char *version = NULL;

	d->has_driver = true;
	if (view_read(d->host, DRIVER_FILE, &text) == 0)
		version = driver_version(buf_str(&text), &scratch);
	if (version) {
		buf_puts(&f->seen, version);
		d->driver_major = strtol(version, NULL, 10);
		if (d->driver_major >= DRIVER_OF_CUDA_11)
			return;
		f->state = DOCTOR_MISSING;
		buf_printf(&f->why, "it is older than %d, the first one of CUDA 11",
			   DRIVER_OF_CUDA_11);
		mend_driver(d->host, &f->mend);
	} else if (view_exists(d->host, "/dev/dxg")) {
		buf_puts(&f->seen, "that of Windows (/dev/dxg)");
	} else if (view_exists(d->host, "/dev/nvidiactl") || driver_works(d)) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->seen, "there, but " DRIVER_FILE " does not tell its version");
	} else {
		d->has_driver = false;
		find_no_driver(d->host, f);
	}
}

/* ---- device nodes ---- */

struct nodes {
	unsigned n_gpus;
	bool has_ctl, has_uvm;
	char denied[PATH_MAX]; /* the first that may not be opened */
};

static void see_node(const struct doctor_host *host, const char *name, struct nodes *n)
{
	char path[PATH_MAX];

	if (strncmp(name, "nvidia", 6) != 0)
		return;
	if (isdigit((unsigned char)name[6]))
		n->n_gpus++;
	else if (!strcmp(name, "nvidiactl"))
		n->has_ctl = true;
	else if (!strcmp(name, "nvidia-uvm"))
		n->has_uvm = true;
	else
		return;
	snprintf(path, sizeof(path), "/dev/%s", name);
	if (!n->denied[0] && view_access(host, path, R_OK | W_OK) == -EACCES)
		memcpy(n->denied, path, strlen(path) + 1);
}

static void see_nodes(const struct doctor_host *host, struct nodes *n)
{
	DIR *folder = view_folder(host, "/dev");
	struct dirent *e;

	while (folder && (e = readdir(folder)))
		see_node(host, e->d_name, n);
	if (folder)
		closedir(folder);
}

/* Where a group may use it, one joins the group. */
static void mend_denied(const struct doctor_host *host, const char *path, struct buf *mend)
{
	char full[PATH_MAX];
	struct group *group;
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", host->root, path);
	if (stat(full, &st) == 0 && (st.st_mode & 060) == 060 && st.st_gid != 0 &&
	    (group = getgrgid(st.st_gid)))
		buf_printf(mend, "sudo usermod -aG %s \"$USER\"   # then log in again",
			   group->gr_name);
	else
		buf_puts(mend, "sudo chmod 0666 /dev/nvidia*");
}

/* The driver's answer stands above what is in the folder, and makes nodes that were not there. */
void check_nodes(struct doctor *d, struct doctor_finding *f)
{
	bool works = driver_works(d);
	struct nodes n = {0};

	if (!d->has_driver) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->seen, "not looked for: there is no driver");
		return;
	}
	if (view_exists(d->host, "/dev/dxg")) {
		buf_puts(&f->seen, "/dev/dxg");
		return;
	}
	see_nodes(d->host, &n);
	buf_printf(&f->seen, "/dev/nvidiactl %s, /dev/nvidia-uvm %s, %u of GPUs",
		   n.has_ctl ? "there" : "missing", n.has_uvm ? "there" : "missing", n.n_gpus);
	if (n.denied[0]) {
		buf_printf(&f->seen, "; %s may not be opened by this user", n.denied);
		buf_puts(&f->why, "programs of this user cannot reach the GPU");
		mend_denied(d->host, n.denied, &f->mend);
	} else if (!n.has_ctl || !n.has_uvm || !n.n_gpus) {
		buf_puts(&f->why, "CUDA opens all three");
		buf_puts(&f->mend, view_container(d->host) ? "docker run --gpus all …"
							   : "sudo nvidia-modprobe -u -c 0");
	} else {
		return;
	}
	f->state = works ? DOCTOR_NOTE : DOCTOR_MISSING;
	if (works)
		buf_done(&f->mend);
}

/* ---- permissions ---- */

/* What proton does needs no permission: people who have read of the restriction shall know. */
void check_counters(struct doctor *d, struct doctor_finding *f)
{
	_cleanup_(buf_done) struct buf text = {0}, value = {0};
	const char *restricted = NULL, *caps = NULL;
	unsigned long long bits = 0;
	bool may;

	if (view_read(d->host, "/proc/self/status", &text) == 0)
		caps = view_line(buf_str(&text), "CapEff:", &value);
	if (caps)
		bits = strtoull(caps, NULL, 16);
	may = bits >> BIT_SYS_ADMIN & 1 || bits >> BIT_PERFMON & 1;
	if (view_read(d->host, "/proc/driver/nvidia/params", &text) == 0)
		restricted = view_line(buf_str(&text), "RmProfilingAdminOnly:", &value);
	buf_printf(&f->seen, "RmProfilingAdminOnly %s, CAP_SYS_ADMIN %s, CAP_PERFMON %s",
		   restricted ? restricted : "not told",
		   !caps                       ? "not told"
		   : bits >> BIT_SYS_ADMIN & 1 ? "yes"
					       : "no",
		   !caps                     ? "not told"
		   : bits >> BIT_PERFMON & 1 ? "yes"
					     : "no");
	if (restricted && strcmp(restricted, "0") != 0 && !may) {
		f->state = DOCTOR_NOTE;
		buf_puts(&f->why, "the driver keeps hardware counters for administrators; proton "
				  "traces, which needs no privilege");
	}
}

/* ---- MPS ---- */

void check_mps(struct doctor *d, struct doctor_finding *f)
{
	const char *folder = view_env(d->host, "CUDA_MPS_PIPE_DIRECTORY");
	char path[PATH_MAX];

	if (!folder || !*folder)
		folder = "/tmp/nvidia-mps";
	snprintf(path, sizeof(path), "%s/control", folder);
	if (!view_exists(d->host, path)) {
		buf_printf(&f->seen, "no control daemon in %s", folder);
		return;
	}
	f->state = DOCTOR_NOTE;
	buf_printf(&f->seen, "a control daemon in %s", folder);
	buf_puts(&f->why, "each client is traced by itself; a server that is stuck holds up all of "
			  "them ('echo quit | nvidia-cuda-mps-control' ends it)");
}
