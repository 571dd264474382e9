/* SPDX-License-Identifier: MIT */
/* What is asked of AMD's management library, in a child: does it load and start, how many GPUs. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include "core/amdsmi_places.h"
#include "doctor/asks.h"

enum { GPUS = 1 << 1, N_SOCKETS_MAX = 64, LAST_YEAR = 25 };

static void *open_first(int fd)
{
	char path[PATH_MAX];
	const char *name;
	void *library = NULL;

	probe_tell(fd, "stage loading libamd_smi.so");
	for (size_t i = 0; !library && (name = amdsmi_place(i, path, sizeof(path))); i++)
		library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	return library;
}

/* Up to 25 a year stands before the version's own numbers. */
static void tell_version(void *library, int fd)
{
	int (*version)(uint32_t *);
	uint32_t v[16] = {0};

	*(void **)&version = dlsym(library, "amdsmi_get_lib_version");
	if (version && version(v) == 0)
		probe_tell(fd, "version %u %u.%u.%u", v[0], v[0], v[1],
			   v[0] <= LAST_YEAR ? v[3] : v[2]);
}

static void tell_devices(void *library, int fd)
{
	int (*sockets)(uint32_t *, void **), (*processors)(void *, uint32_t *, void **);
	void *list[N_SOCKETS_MAX];
	uint32_t n = N_SOCKETS_MAX, n_devices = 0, n_of;

	*(void **)&sockets = dlsym(library, "amdsmi_get_socket_handles");
	*(void **)&processors = dlsym(library, "amdsmi_get_processor_handles");
	if (!sockets || !processors || sockets(&n, list) != 0)
		return;
	for (uint32_t i = 0; i < n && i < N_SOCKETS_MAX; i++, n_devices += n_of)
		if (processors(list[i], &n_of, NULL) != 0)
			n_of = 0;
	probe_tell(fd, "devices %u", n_devices);
}

void ask_amdsmi(const void *ctx, int fd)
{
	void *library = open_first(fd);
	struct link_map *map = NULL;
	int (*init)(uint64_t), r;

	(void)ctx;
	if (!library) {
		probe_tell(fd, "error there is no libamd_smi.so");
		return;
	}
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name)
		probe_tell(fd, "path %s", map->l_name);
	*(void **)&init = dlsym(library, "amdsmi_init");
	if (!init)
		return;
	probe_tell(fd, "stage amdsmi_init of libamd_smi.so");
	r = init(GPUS);
	probe_tell(fd, "init %d", r);
	if (r)
		return;
	tell_version(library, fd);
	tell_devices(library, fd);
}
