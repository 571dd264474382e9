/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_loads.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "backends/cuda_driver.h"
#include "backends/ptrmap.h"
#include "base/memory_file.h"
#include "base/named_file.h"

#define FUNCTIONS(_)                                                                               \
	_(cuCtxGetDevice, (int *ret), true)                                                        \
	_(cuDeviceGet, (int *ret, int ordinal), true)                                              \
	_(cuDeviceGetAttribute, (int *ret, uint32_t attribute, int device), true)                  \
	_(cuModuleLoad, (void **ret, const void *name), true)                                      \
	_(cuModuleLoadData, (void **ret, const void *image), true)                                 \
	_(cuModuleLoadDataEx,                                                                      \
	  (void **ret, const void *image, uint32_t n, void *options, void *values), true)          \
	_(cuModuleLoadFatBinary, (void **ret, const void *image), true)                            \
	_(cuLibraryLoadData,                                                                       \
	  (void **ret, const void *image, void *jit, void *jit_values, uint32_t n_jit,             \
	   void *options, void *values, uint32_t n),                                               \
	  false)                                                                                   \
	_(cuLibraryLoadFromFile,                                                                   \
	  (void **ret, const void *name, void *jit, void *jit_values, uint32_t n_jit,              \
	   void *options, void *values, uint32_t n),                                               \
	  false)

static struct driver {
#define _(name, parameters, is_needed) uint32_t(*name) parameters;
	FUNCTIONS(_)
#undef _
} cuda;

/* The call that this thread is in, where it loads something else than the program says. */
static __thread struct loading {
	const void *params; /* NULL: none */
	const void *image;  /* the program's */
	struct module_instead instead;
	int fd; /* of a file: where the other one is … */
	dev_t dev;
	ino_t ino; /* … as it is, since the program may close any descriptor */
	char name[32];
} loading __attribute__((tls_model("initial-exec")));
static __thread bool is_again __attribute__((tls_model("initial-exec")));
/* What the module has that this thread unloads. */
static __thread uint64_t unloading __attribute__((tls_model("initial-exec")));

/* Handle of a module -> the pages that it was loaded from, as pack() has them. */
static struct ptrmap kept;

static bool bind(void)
{
	static const struct cuda_function functions[] = {
#define _(name, parameters, is_needed) {#name, offsetof(struct driver, name), is_needed},
		FUNCTIONS(_)
#undef _
	};

	return cuda_driver_bind(&cuda, functions, ARRAY_SIZE(functions));
}

/* ---- what is kept ---- */

enum { PAGE_BITS = 12, PAGES_BITS = 28 };

static uint64_t pack(const struct module_instead *m)
{
	uint64_t n = (m->size + (1u << PAGE_BITS) - 1) >> PAGE_BITS;

	return (uint64_t)(uintptr_t)m->image >> PAGE_BITS << PAGES_BITS | n;
}

static void release(uint64_t packed)
{
	void *at = (void *)(uintptr_t)(packed >> PAGES_BITS << PAGE_BITS);

	if (packed)
		munmap(at, (packed & ((1u << PAGES_BITS) - 1)) << PAGE_BITS);
}

void cupti_loads_unload(const struct abi_call *call)
{
	void *const *handle = call->params;

	if (!handle)
		return;
	if (call->site == ABI_ENTER) {
		if (!ptrmap_take(&kept, *handle, &unloading))
			unloading = 0;
		return;
	}
	if (unloading && call->result && *(const uint32_t *)call->result != ABI_CALL_OK)
		ptrmap_add(&kept, *handle, unloading);
	else
		release(unloading);
	unloading = 0;
}

/* ---- before the call ---- */

/* Of the current context, or of the first device where there is none: libraries are loaded for all. 0: not known. */
static uint32_t chip(void)
{
	int device, major = 0, minor = 0;

	if (!bind())
		return 0;
	cuda_driver_ours++;
	if ((cuda.cuCtxGetDevice(&device) && cuda.cuDeviceGet(&device, 0)) ||
	    cuda.cuDeviceGetAttribute(&major, ABI_DEVICE_CC_MAJOR, device) ||
	    cuda.cuDeviceGetAttribute(&minor, ABI_DEVICE_CC_MINOR, device))
		major = minor = 0;
	cuda_driver_ours--;
	return (uint32_t)(major * 10 + minor);
}

static bool rewrite(struct cupti *c, struct module_load *load)
{
	load->chip = chip();
	return c->sink->ops->rewrite(c->sink, load, &loading.instead);
}

static bool rewrite_file(struct cupti *c, const char *name)
{
	struct stat st;
	int fd = name ? regular_open(name, O_RDONLY, &st) : -1;
	void *bytes = MAP_FAILED;
	bool is_made;

	if (fd < 0)
		return false;
	if (st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	is_made = rewrite(
		c, &(struct module_load){.image = bytes, .size = (size_t)st.st_size, .file = name});
	munmap(bytes, (size_t)st.st_size);
	return is_made;
}

/* A file without a name in any folder. */
static bool name_instead(void)
{
	const struct module_instead *m = &loading.instead;
	struct stat st;

	loading.fd = memory_file("proton-module", m->image, m->size);
	if (loading.fd < 0 || fstat(loading.fd, &st) < 0)
		return false;
	loading.dev = st.st_dev;
	loading.ino = st.st_ino;
	snprintf(loading.name, sizeof(loading.name), "/proc/self/fd/%d", loading.fd);
	return true;
}

static void close_name(void)
{
	struct stat st;

	if (fstat(loading.fd, &st) == 0 && st.st_dev == loading.dev && st.st_ino == loading.ino)
		close(loading.fd);
}

static void put_image(const struct abi_call *call, const void *image)
{
	struct abi_load *load = (void *)(uintptr_t)call->params;

	load->image = image;
}

enum { JIT_MAX_REGISTERS = 0, JIT_THREADS_PER_BLOCK = 1 }; /* CU_JIT_… */

static bool has_limit(const uint32_t *options, uint32_t n)
{
	for (uint32_t i = 0; options && i < n; i++)
		if (options[i] == JIT_MAX_REGISTERS || options[i] == JIT_THREADS_PER_BLOCK)
			return true;
	return false;
}

/* Does the program say itself how many registers the driver may take for its PTX? What takes its place is assembled without
 * that, and blocks that it launches might have no room. */
static bool is_limited(uint32_t id, const struct abi_load *load)
{
	switch (id) {
	case ABI_CALL_MODULE_LOAD_DATA_EX:
		return has_limit(load->module.options, load->module.n);
	case ABI_CALL_LIBRARY_LOAD_DATA:
	case ABI_CALL_LIBRARY_LOAD_FILE:
		return has_limit(load->library.jit_options, load->library.n_jit);
	default:
		return false;
	}
}

static void tell_limited(struct cupti *c)
{
	c->sink->ops->lose(c->sink, LOSS_UNREWRITTEN, 1);
	c->sink->ops->note(c->sink,
			   "a module is left without scopes within its kernels: the program limits "
			   "their registers by itself (CU_JIT_MAX_REGISTERS, "
			   "CU_JIT_THREADS_PER_BLOCK)");
}

static void begin(struct cupti *c, uint32_t id, const struct abi_call *call, bool is_file)
{
	const struct abi_load *load = call->params;

	loading.params = NULL;
	if (!c->sink->ops->rewrite || !load->image)
		return;
	if (is_limited(id, load)) {
		tell_limited(c);
		return;
	}
	if (!(is_file ? rewrite_file(c, load->image)
		      : rewrite(c, &(struct module_load){.image = load->image})))
		return;
	loading.fd = -1;
	if (is_file && !name_instead()) {
		release(pack(&loading.instead));
		return;
	}
	loading.params = load;
	loading.image = load->image;
	put_image(call, is_file ? loading.name : loading.instead.image);
}

/* ---- after it ---- */

static uint32_t call_again(uint32_t id, const struct abi_load *l)
{
	switch (id) {
	case ABI_CALL_MODULE_LOAD:
		return cuda.cuModuleLoad(l->ret, l->image);
	case ABI_CALL_MODULE_LOAD_DATA:
		return cuda.cuModuleLoadData(l->ret, l->image);
	case ABI_CALL_MODULE_LOAD_DATA_EX:
		return cuda.cuModuleLoadDataEx(l->ret, l->image, l->module.n, l->module.options,
					       l->module.values);
	case ABI_CALL_MODULE_LOAD_FATBIN:
		return cuda.cuModuleLoadFatBinary(l->ret, l->image);
	case ABI_CALL_LIBRARY_LOAD_DATA:
		return cuda.cuLibraryLoadData(l->ret, l->image, l->library.jit_options,
					      l->library.jit_values, l->library.n_jit,
					      l->library.options, l->library.values, l->library.n);
	default:
		return cuda.cuLibraryLoadFromFile(
			l->ret, l->image, l->library.jit_options, l->library.jit_values,
			l->library.n_jit, l->library.options, l->library.values, l->library.n);
	}
}

static void load_again(struct cupti *c, uint32_t id, const struct abi_call *call)
{
	uint32_t *result = (uint32_t *)(uintptr_t)call->result;
	char text[160];

	snprintf(text, sizeof(text),
		 "the driver refused a module with scopes within its kernels (error %u): it is "
		 "loaded as it was",
		 *result);
	c->sink->ops->lose(c->sink, LOSS_UNREWRITTEN, 1);
	c->sink->ops->note(c->sink, text);
	cuda_driver_ours++;
	is_again = true;
	*result = call_again(id, call->params);
	is_again = false;
	cuda_driver_ours--;
}

static void end(struct cupti *c, uint32_t id, const struct abi_call *call)
{
	const struct abi_load *load = call->params;
	uint64_t packed = pack(&loading.instead);

	loading.params = NULL;
	put_image(call, loading.image);
	if (loading.fd >= 0)
		close_name();
	if (call->result && *(const uint32_t *)call->result != ABI_CALL_OK) {
		load_again(c, id, call);
		release(packed);
	} else if (loading.fd >= 0) {
		release(packed);
	} else if (load->ret) { /* without room for it there, it stays */
		ptrmap_add(&kept, *load->ret, packed);
	}
}

void cupti_loads_call(struct cupti *c, uint32_t id, const struct abi_call *call, bool is_file)
{
	if (is_again || !call->params)
		return;
	if (call->site == ABI_ENTER)
		begin(c, id, call, is_file);
	else if (loading.params == call->params)
		end(c, id, call);
}
