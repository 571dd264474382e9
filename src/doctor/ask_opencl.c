/* SPDX-License-Identifier: MIT */
/* What is asked of the OpenCL loader, in a child: it loads every driver that is installed. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include "doctor/asks.h"
#include "doctor/doctor.h"

enum { NAME_BYTES = 256, N_PLATFORMS_MAX = 16 };

/* OpenCL's own numbers. */
#define PLATFORM_NAME         0x0902u
#define DEVICE_TYPE_ALL       0xffffffffu
#define LOADER_VERSION        2u
#define LOADER_NAME           3u
#define NO_PLATFORM_INSTALLED (-1001)

typedef int loader_info_fn(uint32_t, size_t, void *, size_t *);

struct opencl {
	int (*platforms)(uint32_t, void **, uint32_t *);
	int (*platform_info)(void *, uint32_t, size_t, void *, size_t *);
	int (*devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
	loader_info_fn *loader_info;
};

/* The layer stands where a run puts it, behind others. Without a session it does nothing. */
static void put_layer(const char *library)
{
	const char *others = getenv("OPENCL_LAYERS");
	_cleanup_(buf_done) struct buf layers = {0};

	unsetenv("PROTON_SESSION");
	if (others && *others)
		buf_printf(&layers, "%s:", others);
	buf_puts(&layers, library);
	if (!layers.error)
		setenv("OPENCL_LAYERS", buf_str(&layers), 1);
}

/* Khronos' loader exports it, ocl-icd has it as an extension. */
static loader_info_fn *find_loader_info(void *library)
{
	static const char name[] = "clGetICDLoaderInfoOCLICD";
	void *(*extension)(const char *);
	loader_info_fn *found;

	*(void **)&found = dlsym(library, name);
	*(void **)&extension = dlsym(library, "clGetExtensionFunctionAddress");
	if (!found && extension)
		*(void **)&found = extension(name);
	return found;
}

static void tell_loader(const struct opencl *cl, int fd)
{
	char name[NAME_BYTES] = "", version[NAME_BYTES] = "";

	if (!cl->loader_info || cl->loader_info(LOADER_NAME, sizeof(name), name, NULL) ||
	    cl->loader_info(LOADER_VERSION, sizeof(version), version, NULL))
		return;
	name[sizeof(name) - 1] = version[sizeof(version) - 1] = '\0';
	probe_tell(fd, "loader %s %s", name, version);
}

static void tell_platform(const struct opencl *cl, void *platform, int fd)
{
	char name[NAME_BYTES] = "";
	uint32_t n = 0;

	if (cl->platform_info(platform, PLATFORM_NAME, sizeof(name), name, NULL))
		memcpy(name, "?", 2);
	name[sizeof(name) - 1] = '\0';
	probe_tell(fd, "stage looking for devices of OpenCL platform '%s'", name);
	if (cl->devices(platform, DEVICE_TYPE_ALL, 0, NULL, &n))
		n = 0;
	probe_tell(fd, "platform %u %s", n, name);
}

/* A loader that knows layers has loaded ours by the first call. */
static bool is_loaded(const char *library)
{
	void *layer = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

	if (layer)
		dlclose(layer);
	return layer;
}

static void tell_platforms(const struct opencl *cl, const char *layer, int fd)
{
	void *platforms[N_PLATFORMS_MAX];
	uint32_t n = 0;
	int r;

	probe_tell(fd, "stage loading the OpenCL drivers");
	r = cl->platforms(N_PLATFORMS_MAX, platforms, &n);
	if (layer)
		probe_tell(fd, "layers %d", is_loaded(layer));
	probe_tell(fd, "platforms %d", r == NO_PLATFORM_INSTALLED ? 0 : r);
	for (uint32_t i = 0; r == 0 && i < MIN(n, (uint32_t)N_PLATFORMS_MAX); i++)
		tell_platform(cl, platforms[i], fd);
}

void ask_opencl(const void *ctx, int fd)
{
	const struct doctor_host *host = ctx;
	struct link_map *map = NULL;
	struct opencl cl;
	void *library;
	const char *error;

	if (host->library)
		put_layer(host->library);
	probe_tell(fd, "stage loading libOpenCL.so.1");
	library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		error = dlerror();
		probe_tell(fd, "error %s", error ? error : "it does not load");
		return;
	}
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name)
		probe_tell(fd, "path %s", map->l_name);
	*(void **)&cl.platforms = dlsym(library, "clGetPlatformIDs");
	*(void **)&cl.platform_info = dlsym(library, "clGetPlatformInfo");
	*(void **)&cl.devices = dlsym(library, "clGetDeviceIDs");
	cl.loader_info = find_loader_info(library);
	if (!cl.platforms || !cl.platform_info || !cl.devices) {
		probe_tell(fd, "error libOpenCL.so.1 is no OpenCL loader");
		return;
	}
	tell_loader(&cl, fd);
	tell_platforms(&cl, host->library, fd);
}
