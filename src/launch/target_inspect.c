/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include "base/named_file.h"
#include "base/util.h"
#include "launch/target_env.h"

/* The file is read, not mapped: it may be cut short while we look. All its numbers are doubted. */

#define MAX_PHDRS     128
#define MAX_DYNAMIC   4096
#define MAX_STRINGS   (UINT64_C(64) << 20)
#define MAX_SCRIPTS   6 /* the kernel follows five "#!" */
#define SCRIPT_LINE   256
#define CAPABILITY_XA "security.capability"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#else
#define OUR_MACHINE EM_NONE
#endif

static bool read_at(int fd, uint64_t offset, void *data, size_t len)
{
	char *p = data;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* ---- ELF ---- */

struct elf {
	int fd;
	Elf64_Phdr phdr[MAX_PHDRS];
	unsigned n_phdrs;
};

static const Elf64_Phdr *find_phdr(const struct elf *elf, uint32_t type)
{
	for (unsigned i = 0; i < elf->n_phdrs; i++)
		if (elf->phdr[i].p_type == type)
			return &elf->phdr[i];
	return NULL;
}

/* Where in the file the byte at this address is. */
static bool file_offset(const struct elf *elf, uint64_t address, uint64_t *ret_offset)
{
	for (unsigned i = 0; i < elf->n_phdrs; i++) {
		const Elf64_Phdr *p = &elf->phdr[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz) {
			*ret_offset = address - p->p_vaddr + p->p_offset;
			return true;
		}
	}
	return false;
}

/* The string table of the dynamic section: names of needed libraries and of dynamic symbols. */
static char *read_dynamic_strings(const struct elf *elf, size_t *ret_len)
{
	const Elf64_Phdr *p = find_phdr(elf, PT_DYNAMIC);
	uint64_t address = 0, len = 0, offset;
	Elf64_Dyn dyn;
	char *strings;

	for (unsigned i = 0; p && i < MAX_DYNAMIC && i < p->p_filesz / sizeof(dyn); i++) {
		if (!read_at(elf->fd, p->p_offset + i * sizeof(dyn), &dyn, sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_STRTAB)
			address = dyn.d_un.d_ptr;
		if (dyn.d_tag == DT_STRSZ)
			len = dyn.d_un.d_val;
	}
	if (!len || len > MAX_STRINGS || !file_offset(elf, address, &offset))
		return NULL;
	strings = malloc(len + 1);
	if (!strings)
		return NULL;
	if (!read_at(elf->fd, offset, strings, len)) {
		free(strings);
		return NULL;
	}
	strings[len] = '\0';
	*ret_len = len;
	return strings;
}

/* A sanitizer shows by the name of its runtime, or, where that is linked in, by the entry point
 * that every instrumented file calls: both are dynamic strings. */
static unsigned sanitizer_of(const char *s)
{
	static const struct {
		const char *prefix;
		unsigned flag;
	} names[] = {
		{"__asan_init", TARGET_ASAN},        {"__hwasan_init", TARGET_ASAN},
		{"__msan_init", TARGET_ASAN},        {"__tsan_init", TARGET_TSAN},
		{"libasan.so", TARGET_ASAN},         {"libhwasan.so", TARGET_ASAN},
		{"libtsan.so", TARGET_TSAN},         {"libclang_rt.asan", TARGET_ASAN},
		{"libclang_rt.hwasan", TARGET_ASAN}, {"libclang_rt.tsan", TARGET_TSAN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(s, names[i].prefix, strlen(names[i].prefix)))
			return names[i].flag;
	return 0;
}

static unsigned inspect_dynamic(const struct elf *elf)
{
	_cleanup_(freep) char *strings = NULL;
	unsigned flags = 0;
	size_t len = 0;

	strings = read_dynamic_strings(elf, &len);
	for (size_t i = 0; strings && i < len; i += strlen(strings + i) + 1)
		if (strings[i] == '_' || strings[i] == 'l')
			flags |= sanitizer_of(strings + i);
	return flags;
}

/* No loader named: a static program, unless it is the loader itself (`ld.so ./program`). */
static unsigned inspect_interpreter(const struct elf *elf, const char *path)
{
	const Elf64_Phdr *p = find_phdr(elf, PT_INTERP);
	char loader[256] = "";

	if (!p)
		return strncmp(basename(path), "ld-", 3) == 0 ? 0 : TARGET_STATIC;
	if (!read_at(elf->fd, p->p_offset, loader, MIN(p->p_filesz, sizeof(loader) - 1)))
		return 0;
	return strstr(loader, "ld-musl") ? TARGET_MUSL : 0;
}

static unsigned inspect_elf64(int fd, const char *path)
{
	_cleanup_(freep) struct elf *elf = calloc(1, sizeof(*elf));
	Elf64_Ehdr h;

	if (!elf || !read_at(fd, 0, &h, sizeof(h)))
		return 0;
	if (h.e_machine != OUR_MACHINE)
		return TARGET_FOREIGN;
	if (h.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	elf->fd = fd;
	elf->n_phdrs = MIN(h.e_phnum, MAX_PHDRS);
	if (!read_at(fd, h.e_phoff, elf->phdr, elf->n_phdrs * sizeof(Elf64_Phdr)))
		return 0;
	return inspect_interpreter(elf, path) | inspect_dynamic(elf);
}

static unsigned inspect_setid(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	if ((st.st_mode & S_ISUID) || (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return TARGET_SETID;
	return fgetxattr(fd, CAPABILITY_XA, NULL, 0) > 0 ? TARGET_SETID : 0;
}

static unsigned inspect_elf(int fd, const char *path, const unsigned char ident[EI_NIDENT])
{
	unsigned flags = TARGET_ELF | inspect_setid(fd);

	if (ident[EI_CLASS] != ELFCLASS64)
		return flags | TARGET_32BIT;
	return flags | inspect_elf64(fd, path);
}

/* ---- "#!" ---- */

/* `env [-S] [-x] [NAME=value] program`: the program. Modifies rest. */
static int follow_env(char *rest, const char *path_list, char **ret_path)
{
	char *word, *save = NULL;

	for (word = strtok_r(rest, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (!strncmp(word, "-S", 2) && word[2])
			word += 2;
		if (word[0] != '-' && !strchr(word, '='))
			return target_find(word, path_list, ret_path);
	}
	return -ENOENT;
}

/* The program that a "#!" line names. Modifies line. */
static int follow_script(char *line, const char *path_list, char **ret_path)
{
	char *interpreter = line + 2 + strspn(line + 2, " \t"), *rest;

	interpreter[strcspn(interpreter, "\n")] = '\0';
	rest = interpreter + strcspn(interpreter, " \t\r");
	if (*rest)
		*rest++ = '\0';
	if (!*interpreter)
		return -ENOENT;
	if (!strcmp(basename(interpreter), "env") && follow_env(rest, path_list, ret_path) == 0)
		return 0;
	*ret_path = strdup(interpreter);
	return *ret_path ? 0 : -ENOMEM;
}

/* One file. 1: it is a script and *ret_next its interpreter. */
static int inspect_file(const char *path, const char *path_list, unsigned *flags, char **ret_next)
{
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, NULL);
	char head[SCRIPT_LINE + 1];
	ssize_t n;

	if (fd < 0) {
		/* Executable but not readable: the mode still tells. */
		struct stat st;

		if (stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)))
			*flags |= TARGET_SETID;
		return 0;
	}
	n = pread(fd, head, SCRIPT_LINE, 0);
	if (n < 0)
		return 0;
	head[n] = '\0';
	if (n >= EI_NIDENT && !memcmp(head, ELFMAG, SELFMAG)) {
		*flags |= inspect_elf(fd, path, (unsigned char *)head);
		return 0;
	}
	*flags |= TARGET_SCRIPT;
	if (n >= 2 && head[0] == '#' && head[1] == '!')
		return follow_script(head, path_list, ret_next) == 0;
	*flags |= TARGET_NO_MAGIC;
	*ret_next = strdup("/bin/sh");
	return *ret_next ? 1 : 0;
}

int target_inspect(const char *path, const char *path_list, struct target_image *ret_image)
{
	char *current = strdup(path), *next = NULL;
	unsigned flags = 0;

	if (!current)
		return -ENOMEM;
	for (int i = 0; i < MAX_SCRIPTS; i++) {
		if (inspect_file(current, path_list, &flags, &next) != 1)
			break;
		free(current);
		current = next;
	}
	*ret_image = (struct target_image){.path = current, .flags = flags};
	return 0;
}

void target_image_done(struct target_image *image)
{
	free(image->path);
	*image = (struct target_image){0};
}
