/* SPDX-License-Identifier: MIT */
/* What is asked of NVIDIA's libraries and of our collector under them. Each function runs in a child
 * (launch/probe.h), which these libraries may crash. The few calls are declared in our own words; numbers
 * that are not 0 are told as they are. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/types.h>
#include "core/cupti_places.h"
#include "doctor/asks.h"
#include "doctor/doctor.h"
#include "doctor/questions.h"
#include "launch/child.h"
#include "launch/session_dir.h"

enum { NAME_BYTES = 256, N_DEVICES_MAX = 64 };

static void *find(void *library, const char *name)
{
	return dlsym(library, name);
}

/* The file that a library was loaded from. */
static void tell_path(int fd, void *library, const char *otherwise)
{
	struct link_map *map = NULL;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && map->l_name[0])
		otherwise = map->l_name;
	probe_tell(fd, "path %s", otherwise);
}

static void *open_library(int fd, const char *name)
{
	void *library;
	const char *error;

	probe_tell(fd, "stage loading %s", name);
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (library) {
		tell_path(fd, library, name);
		return library;
	}
	error = dlerror();
	probe_tell(fd, "error %s", error ? error : "it does not load");
	return NULL;
}

/* ---- libcuda ---- */

struct driver {
	void *library;
	int (*init)(unsigned);
	int (*version)(int *);
	int (*count)(int *);
	int (*get)(int *, int);
	int (*name)(char *, int, int);
};

static bool driver_open(struct driver *d, int fd)
{
	d->library = open_library(fd, "libcuda.so.1");
	if (!d->library)
		return false;
	*(void **)&d->init = find(d->library, "cuInit");
	*(void **)&d->version = find(d->library, "cuDriverGetVersion");
	*(void **)&d->count = find(d->library, "cuDeviceGetCount");
	*(void **)&d->get = find(d->library, "cuDeviceGet");
	*(void **)&d->name = find(d->library, "cuDeviceGetName");
	if (!d->init)
		probe_tell(fd, "error libcuda.so.1 has no cuInit");
	return d->init;
}

static int driver_start(const struct driver *d, int fd)
{
	int version = 0, r;

	if (d->version && d->version(&version) == 0)
		probe_tell(fd, "version %d", version);
	probe_tell(fd, "stage cuInit of libcuda.so.1");
	r = d->init(0);
	probe_tell(fd, "init %d", r);
	return r;
}

void ask_driver(const void *ctx, int fd)
{
	char name[NAME_BYTES];
	struct driver d;
	int n = 0, device;

	(void)ctx;
	child_forget_tools();
	if (!driver_open(&d, fd) || driver_start(&d, fd) || !d.count || d.count(&n))
		return;
	probe_tell(fd, "devices %d", n);
	for (int i = 0; i < n && i < N_DEVICES_MAX; i++) {
		if (!d.get || !d.name || d.get(&device, i) || d.name(name, sizeof(name), device))
			continue;
		name[sizeof(name) - 1] = '\0';
		probe_tell(fd, "device %s", name);
	}
}

/* ---- our collector ---- */

/* A session of ours, as a run makes it: the collector looks for it in the environment. */
static struct session_dir *open_session(int fd)
{
	struct session_dir *dir = NULL;
	int r;

	child_forget_tools();
	r = session_dir_new(&dir);
	if (r < 0) {
		probe_tell(fd, "error no session directory: %s", strerror(-r));
		return NULL;
	}
	(void)session_dir_set_target(dir, getpid()); /* may be swept when this dies in it */
	setenv(CONTROL_ENV, dir->path, 1);
	return dir;
}

static void close_session(struct session_dir *dir)
{
	session_dir_remove(dir->path);
	session_dir_free(dir);
}

void ask_collector(const void *ctx, int fd)
{
	const struct doctor_host *host = ctx;
	struct session_dir *dir;
	int (*active)(void);
	void *library;

	if (!host->library || !(dir = open_session(fd)))
		return;
	library = open_library(fd, host->library);
	if (library) {
		*(void **)&active = find(library, "proton_api_active");
		probe_tell(fd, "stage a session of libproton.so");
		probe_tell(fd, "active %d", active && active());
	}
	close_session(dir);
}

/* ---- CUPTI ---- */

/* As in CUPTI's header: what one asks to subscribe with, and where the name of who is there goes. */
struct subscriber_params {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_name_size;
};

struct cupti_calls {
	int (*version)(uint32_t *);
	int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
	int (*subscribe_v2)(void **, void (*)(void *, int, uint32_t, const void *), void *,
			    struct subscriber_params *);
	int (*unsubscribe)(void *);
};

static void no_callback(void *user, int domain, uint32_t id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

static void cupti_bind(void *library, struct cupti_calls *c)
{
	*(void **)&c->version = find(library, "cuptiGetVersion");
	*(void **)&c->subscribe = find(library, "cuptiSubscribe");
	*(void **)&c->subscribe_v2 = find(library, "cuptiSubscribe_v2");
	*(void **)&c->unsubscribe = find(library, "cuptiUnsubscribe");
}

/* Asks for CUPTI and gives it back. holder: who has it, when the answer is that somebody has. */
static int cupti_subscribe(const struct cupti_calls *c, char *holder, size_t size)
{
	struct subscriber_params params = {sizeof(params), "proton doctor", holder, size};
	void *subscriber = NULL;
	int r;

	holder[0] = '\0';
	if (c->subscribe_v2)
		r = c->subscribe_v2(&subscriber, no_callback, NULL, &params);
	else
		r = c->subscribe(&subscriber, no_callback, NULL);
	holder[size - 1] = '\0';
	if (r == 0 && c->unsubscribe)
		c->unsubscribe(subscriber);
	return r;
}

struct search {
	int fd;
	struct cupti_tried tried;
};

/* Is this the libcupti with which a run would stay? Only two answers end a search of the
 * collector's (backends/cupti_load.c): it works, or somebody has it already. */
static bool try_library(struct search *s, void *library, const char *name)
{
	struct cupti_calls c;
	struct link_map *map = NULL;
	char holder[NAME_BYTES];
	uint32_t version = 0;
	int r;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && map->l_name[0])
		name = map->l_name;
	cupti_bind(library, &c);
	if (!c.version || !c.subscribe || c.version(&version) || version < CUPTI_OF_CUDA_11) {
		probe_tell(s->fd, "broken %s is no CUPTI of CUDA 11 or later", name);
		return false;
	}
	probe_tell(s->fd, "found %u %s", version, name);
	probe_tell(s->fd, "stage subscribing to %s", name);
	r = cupti_subscribe(&c, holder, sizeof(holder));
	probe_tell(s->fd, "tried %d %u %s", r, version, name);
	return r == CUPTI_WORKS || r == CUPTI_HELD;
}

static bool try_place(void *ctx, const char *name, bool is_asked)
{
	struct search *s = ctx;
	void *library;

	if (!is_asked && strchr(name, '/') && access(name, R_OK))
		return false;
	probe_tell(s->fd, "stage loading %s", name);
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		const char *error = dlerror();

		if (strchr(name, '/'))
			probe_tell(s->fd, "broken %s", error ? error : name);
		return false;
	}
	return !cupti_was_tried(&s->tried, library) && try_library(s, library, name);
}

void ask_cupti(const void *ctx, int fd)
{
	struct search s = {.fd = fd};
	const char *list = getenv("PROTON_CUPTI_PATH");

	(void)ctx;
	child_forget_tools();
	if (list && list[0])
		cupti_places_listed(list, try_place, &s);
	else
		cupti_places_installed(try_place, &s);
}

/* ---- a run ---- */

static int see_cupti(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	char *path = data;

	(void)size;
	if (!base || !strstr(base, "cupti") || strstr(base, "libproton"))
		return 0;
	snprintf(path, NAME_BYTES * 4, "%s", info->dlpi_name);
	return 1;
}

/* The collector has found a libcupti and holds it: then it is not to be had a second time. */
static void tell_holder(int fd)
{
	char path[NAME_BYTES * 4] = "", holder[NAME_BYTES];
	uint32_t version = 0;
	struct cupti_calls c;
	void *library;
	int r;

	if (!dl_iterate_phdr(see_cupti, path))
		return;
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	if (!library)
		return;
	cupti_bind(library, &c);
	if (!c.version || !c.subscribe || c.version(&version))
		return;
	r = cupti_subscribe(&c, holder, sizeof(holder));
	probe_tell(fd, "holder %d %s", r, holder[0] ? holder : "?");
	probe_tell(fd, "cupti %u %s", version, path);
}

/* cuInit is enough: the driver loads the collector in it, and the collector CUPTI. */
void ask_run(const void *ctx, int fd)
{
	const struct doctor_host *host = ctx;
	struct session_dir *dir;
	struct driver d;

	if (!host->library || !(dir = open_session(fd)))
		return;
	setenv("CUDA_INJECTION64_PATH", host->library, 1);
	if (driver_open(&d, fd) && driver_start(&d, fd) == 0) {
		probe_tell(fd, "connected %u", (unsigned)atomic_load(&dir->control->connected));
		tell_holder(fd);
	}
	close_session(dir);
}

/* ---- NVML ---- */

struct nvml {
	int (*init)(void);
	int (*count)(unsigned *);
	int (*get)(unsigned, void **);
	int (*name)(void *, char *, unsigned);
	int (*mig)(void *, unsigned *, unsigned *);
	int (*virtual_mode)(void *, unsigned *);
	int (*compute)(void *, unsigned *);
};

static void put_mode(char out[16], bool told, unsigned mode)
{
	if (told)
		snprintf(out, 16, "%u", mode);
	else
		memcpy(out, "-", 2);
}

static void tell_modes(const struct nvml *n, unsigned i, int fd)
{
	char name[NAME_BYTES] = "", text[3][16];
	unsigned mig = 0, pending = 0, virtual_mode = 0, compute = 0;
	void *device;

	if (n->get(i, &device))
		return;
	if (!n->name || n->name(device, name, sizeof(name)))
		snprintf(name, sizeof(name), "GPU %u", i);
	name[sizeof(name) - 1] = '\0';
	put_mode(text[0], n->mig && n->mig(device, &mig, &pending) == 0, mig);
	put_mode(text[1], n->virtual_mode && n->virtual_mode(device, &virtual_mode) == 0,
		 virtual_mode);
	put_mode(text[2], n->compute && n->compute(device, &compute) == 0, compute);
	probe_tell(fd, "device %s %s %s %s", text[0], text[1], text[2], name);
}

void ask_nvml(const void *ctx, int fd)
{
	unsigned n_devices = 0;
	struct nvml n;
	void *library = open_library(fd, "libnvidia-ml.so.1");
	int r;

	(void)ctx;
	if (!library)
		return;
	*(void **)&n.init = find(library, "nvmlInit_v2");
	*(void **)&n.count = find(library, "nvmlDeviceGetCount_v2");
	*(void **)&n.get = find(library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&n.name = find(library, "nvmlDeviceGetName");
	*(void **)&n.mig = find(library, "nvmlDeviceGetMigMode");
	*(void **)&n.virtual_mode = find(library, "nvmlDeviceGetVirtualizationMode");
	*(void **)&n.compute = find(library, "nvmlDeviceGetComputeMode");
	if (!n.init || !n.count || !n.get)
		return;
	probe_tell(fd, "stage nvmlInit of libnvidia-ml.so.1");
	r = n.init();
	probe_tell(fd, "init %d", r);
	if (r || n.count(&n_devices))
		return;
	for (unsigned i = 0; i < n_devices && i < N_DEVICES_MAX; i++)
		tell_modes(&n, i, fd);
}
