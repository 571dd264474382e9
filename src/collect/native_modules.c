/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/native_modules.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "backends/symbols.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/native_cfi.h"

enum { BUILD_ID_MAX = 32 };

/* ---- unloading ---- */

static _Atomic uint32_t n_unloads;
static int (*_Atomic next_dlclose)(void *);

/* Once at load; again only for who unloads something in a constructor that runs before ours. */
__attribute__((constructor)) static void find_next(void)
{
	int (*next)(void *);

	*(void **)&next = dlsym(RTLD_NEXT, "dlclose");
	atomic_store(&next_dlclose, next);
}

/* Preloaded, we stand before libc's. What is looked up while it unloads may be of either side. */
EXPORT int dlclose(void *handle)
{
	int (*next)(void *) = atomic_load(&next_dlclose);
	int r;

	if (!next)
		find_next();
	next = atomic_load(&next_dlclose);
	atomic_fetch_add(&n_unloads, 1);
	r = next ? next(handle) : -1;
	atomic_fetch_add(&n_unloads, 1);
	return r;
}

uint32_t native_unloads(void)
{
	return atomic_load_explicit(&n_unloads, memory_order_acquire);
}

bool native_modules_init(const char **ret_why)
{
	uintptr_t here = (uintptr_t)native_modules_init, word;
	struct module ours;

	symbols_init();
	ours = module_of((const void *)here);
	if (!ours.map)
		*ret_why = "the C library is older than glibc 2.35";
	else if (!module_has(&ours, dlsym(RTLD_DEFAULT, "dlclose")))
		*ret_why = "the collector is not preloaded";
	else if (!native_peek(here, &word, sizeof(word)))
		*ret_why = "process_vm_readv() is not allowed here";
	else
		return true;
	return false;
}

/* ---- names ---- */

/* A text that may not be there, page by page. */
static bool peek_text(uintptr_t at, char *out, size_t size)
{
	size_t n;

	for (; size; at += n, out += n, size -= n) {
		n = MIN(size, (size_t)4096 - at % 4096);
		if (!native_peek(at, out, n))
			return false;
		if (memchr(out, '\0', n))
			return true;
	}
	return false;
}

/* The program itself has no name there. */
static uint32_t path_string(const char *name, char path[PATH_MAX])
{
	size_t len = 0;
	ssize_t n;

	if (!*name) {
		n = readlink("/proc/self/exe", path, PATH_MAX);
		return string_intern(path, n > 0 ? (size_t)n : 0);
	}
	if (*name != '/' && strchr(name, '/') && getcwd(path, PATH_MAX / 2)) {
		len = strlen(path);
		path[len++] = '/';
	}
	len += (size_t)snprintf(path + len, PATH_MAX - len, "%s", name);
	return string_intern(path, MIN(len, (size_t)PATH_MAX - 1));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By the file's name; "cupti" is anywhere in it. */
static uint8_t role_of(const char *path)
{
	static const struct {
		const char *part;
		uint8_t role;
	} known[] = {
		{"libproton.so", NATIVE_LEAF},   {"libcuda.so", NATIVE_LEAF},
		{"libcudart", NATIVE_LEAF},      {"cupti", NATIVE_LEAF},
		{"libOpenCL.so", NATIVE_LEAF},   {"libpocl", NATIVE_LEAF},
		{"libc.so", NATIVE_ROOT},        {"libpthread.so", NATIVE_ROOT},
		{"ld-linux", NATIVE_ROOT},       {"libpython3", NATIVE_INTERPRETER},
		{"python3", NATIVE_INTERPRETER},
	};
	const char *name = base_name(path), *found;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		found = strstr(name, known[i].part);
		if (found && (found == name || !strcmp(known[i].part, "cupti")))
			return known[i].role;
	}
	return NATIVE_PLAIN;
}

/* ---- build ids ---- */

/* In the notes of one segment, as hexadecimal digits. */
static bool notes_find(const unsigned char *notes, size_t size, char *out)
{
	const Elf64_Nhdr *n;
	size_t at = 0, text;

	while (at + sizeof(*n) <= size) {
		n = (const void *)(notes + at);
		text = at + sizeof(*n) + ((n->n_namesz + 3u) & ~UINT32_C(3));
		if (n->n_descsz > size || text > size || n->n_descsz > size - text)
			return false;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    n->n_descsz <= BUILD_ID_MAX && !memcmp(n + 1, "GNU", 4)) {
			for (size_t i = 0; i < n->n_descsz; i++)
				snprintf(out + 2 * i, 3, "%02x", notes[text + i]);
			return true;
		}
		at = text + ((n->n_descsz + 3u) & ~UINT32_C(3));
	}
	return false;
}

static bool segment_find(struct native_module_scratch *s, const ElfW(Phdr) * p, uintptr_t bias,
			 char *out)
{
	size_t size = MIN(p->p_memsz, sizeof(s->notes));

	return p->p_type == PT_NOTE && native_peek(bias + p->p_vaddr, s->notes, size) &&
	       notes_find(s->notes, size, out);
}

/* The id that its linker gave a file, from where it is loaded; "" where it has none. */
static uint32_t build_id_string(struct native_module_scratch *s, uintptr_t start, uintptr_t bias)
{
	char text[2 * BUILD_ID_MAX + 1] = "";
	ElfW(Ehdr) e;
	size_t n;

	if (!native_peek(start, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_phentsize != sizeof(*s->headers))
		return 0;
	n = MIN(e.e_phnum, (size_t)NATIVE_HEADERS_MAX);
	if (!native_peek(start + e.e_phoff, s->headers, n * sizeof(*s->headers)))
		return 0;
	for (size_t i = 0; i < n && !segment_find(s, &s->headers[i], bias, text); i++)
		;
	return string_intern(text, strlen(text));
}

/* ---- modules ---- */

/* Addresses of no file: what made code at run time may say what lies there, as perf has it. */
static void nowhere(struct native_module *ret)
{
	char path[64];
	int len = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());

	*ret = (struct native_module){.id = module_intern(string_intern(path, (size_t)len), 0),
				      .role = NATIVE_NOWHERE};
}

void native_module_at(uintptr_t at, struct native_module_scratch *scratch,
		      struct native_module *ret)
{
	const struct module m = module_of((const void *)at);
	struct link_map map;
	const char *name = scratch->name;
	uint32_t path;

	/* An address that is on the stack by chance may be in what is unloaded just now. */
	if (!m.map || !native_peek((uintptr_t)m.map, &map, offsetof(struct link_map, l_ld)) ||
	    !peek_text((uintptr_t)map.l_name, scratch->name, sizeof(scratch->name))) {
		nowhere(ret);
		return;
	}
	path = path_string(name, scratch->path);
	*ret = (struct native_module){
		.start = (uintptr_t)m.start,
		.end = (uintptr_t)m.end,
		.bias = map.l_addr,
		.unwinding = (uintptr_t)m.unwinding,
		.id = module_intern(path, build_id_string(scratch, (uintptr_t)m.start, map.l_addr)),
		.role = role_of(collector->string[path].s),
	};
}
