/* SPDX-License-Identifier: MIT */
/* What will run, and with which environment. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "check_main.h"
#include "launch/target_env.h"
#include "launch_help.h"
#include "wire/control.h"

#define LIB "/opt/proton/libproton.so"

/* ---- the environment ---- */

#define MANY 7

static const struct {
	const char *name;
	const char *base[MANY];
	unsigned flags;
	bool no_preload;
	uint32_t backends_off;
	const char *library; /* LIB when NULL */
	const char *present[MANY];
	const char *absent[MANY]; /* names */
	const char *notes[MANY];  /* a part of each note, in order */
} cases[] = {
	{.name = "plain",
	 .base = {"HOME=/x", "PATH=/bin"},
	 .present = {"HOME=/x", "PROTON_SESSION=/s", "CUDA_INJECTION64_PATH=" LIB,
		     "NVTX_INJECTION64_PATH=" LIB, "OPENCL_LAYERS=" LIB, "OMP_TOOL_LIBRARIES=" LIB,
		     "LD_PRELOAD=" LIB}},
	{.name = "a child with AddressSanitizer runs behind a preloaded library",
	 .base = {"HOME=/x"},
	 .present = {"LD_PRELOAD=" LIB, "ASAN_OPTIONS=verify_asan_link_order=0"}},
	{.name = "options of AddressSanitizer are appended to",
	 .base = {"ASAN_OPTIONS=detect_leaks=0"},
	 .present = {"ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0"}},
	{.name = "the user's word on the link order stays",
	 .base = {"ASAN_OPTIONS=verify_asan_link_order=1:detect_leaks=0"},
	 .present = {"ASAN_OPTIONS=verify_asan_link_order=1:detect_leaks=0"}},
	{.name = "others' lists are appended to",
	 .base = {"LD_PRELOAD=/a.so:/b.so", "OPENCL_LAYERS=/l.so"},
	 .present = {"LD_PRELOAD=/a.so:/b.so:" LIB, "OPENCL_LAYERS=/l.so:" LIB}},
	{.name = "a list with spaces",
	 .base = {"LD_PRELOAD=/a.so /b.so"},
	 .present = {"LD_PRELOAD=/a.so /b.so:" LIB}},
	{.name = "empty means not set",
	 .base = {"LD_PRELOAD=", "CUDA_INJECTION64_PATH=", "OPENCL_LAYERS="},
	 .present = {"LD_PRELOAD=" LIB, "CUDA_INJECTION64_PATH=" LIB, "OPENCL_LAYERS=" LIB}},
	{.name = "another tool's injection is left alone and named",
	 .base = {"CUDA_INJECTION64_PATH=/nsys.so", "NVTX_INJECTION64_PATH=/other.so",
		  "OMP_TOOL_LIBRARIES=/a.so:/b.so"},
	 .present = {"CUDA_INJECTION64_PATH=/nsys.so", "NVTX_INJECTION64_PATH=/other.so",
		     "OMP_TOOL_LIBRARIES=/a.so:/b.so"},
	 .notes = {"'/nsys.so'", "'/a.so:/b.so'", "'/other.so'"}},
	{.name = "a tool of another process only is none",
	 .base = {"NVTX_INJECTION64_PATH=/proc/self/task/7/root/l.so"},
	 .present = {"NVTX_INJECTION64_PATH=" LIB}},
	{.name = "once is enough",
	 .base = {"LD_PRELOAD=/a.so " LIB, "OPENCL_LAYERS=" LIB, "CUDA_INJECTION64_PATH=" LIB,
		  "PROTON_SESSION=/outer", "PROTON_LIBRARY=/outer.so"},
	 .present = {"LD_PRELOAD=/a.so " LIB, "OPENCL_LAYERS=" LIB, "CUDA_INJECTION64_PATH=" LIB,
		     "PROTON_SESSION=/s", "PROTON_LIBRARY=" LIB}},
	{.name = "switches",
	 .no_preload = true,
	 .backends_off = 1u << SOURCE_CUPTI | 1u << SOURCE_OPENCL | 1u << SOURCE_OPENMP,
	 .present = {"NVTX_INJECTION64_PATH=" LIB},
	 .absent = {"LD_PRELOAD", "CUDA_INJECTION64_PATH", "OPENCL_LAYERS", "OMP_TOOL_LIBRARIES"}},
	{.name = "32-bit",
	 .flags = TARGET_ELF | TARGET_32BIT,
	 .absent = {"LD_PRELOAD"},
	 .present = {"CUDA_INJECTION64_PATH=" LIB},
	 .notes = {"'/image' is a 32-bit program"}},
	{.name = "static",
	 .flags = TARGET_ELF | TARGET_STATIC,
	 .absent = {"LD_PRELOAD"},
	 .notes = {"statically linked"}},
	{.name = "set-id",
	 .flags = TARGET_ELF | TARGET_SETID,
	 .absent = {"LD_PRELOAD"},
	 .notes = {"privileges"}},
	{.name = "asan keeps the user's list",
	 .base = {"LD_PRELOAD=/a.so"},
	 .flags = TARGET_ELF | TARGET_ASAN,
	 .present = {"LD_PRELOAD=/a.so"},
	 .notes = {"AddressSanitizer"}},
	{.name = "tsan",
	 .flags = TARGET_ELF | TARGET_TSAN,
	 .absent = {"LD_PRELOAD", "ASAN_OPTIONS"},
	 .notes = {"ThreadSanitizer"}},
	{.name = "no note for what was switched off",
	 .flags = TARGET_ELF | TARGET_ASAN,
	 .no_preload = true,
	 .absent = {"LD_PRELOAD", "ASAN_OPTIONS"}},
	{.name = "a path that a list cannot hold",
	 .library = "/my libs/libproton.so",
	 .present = {"CUDA_INJECTION64_PATH=/my libs/libproton.so",
		     "OPENCL_LAYERS=/my libs/libproton.so"},
	 .absent = {"LD_PRELOAD"},
	 .notes = {"LD_PRELOAD"}},
};

static bool has_var(char **vars, const char *wanted, size_t len)
{
	for (; *vars; vars++)
		if (!strncmp(*vars, wanted, len))
			return true;
	return false;
}

START_TEST(test_env)
{
	struct target_image image = {.path = (char *)"/image", .flags = cases[_i].flags};
	struct target_env_options o = {
		.library = cases[_i].library ? cases[_i].library : LIB,
		.session = "/s",
		.image = &image,
		.no_preload = cases[_i].no_preload,
		.backends_off = cases[_i].backends_off,
	};
	const char *name = cases[_i].name;
	struct target_env env;
	size_t n_notes = 0;

	ck_assert_int_eq(target_env_build(&o, (char *const *)cases[_i].base, &env), 0);
	for (int i = 0; i < MANY && cases[_i].present[i]; i++)
		ck_assert_msg(
			has_var(env.vars, cases[_i].present[i], strlen(cases[_i].present[i]) + 1),
			"%s: no %s", name, cases[_i].present[i]);
	for (int i = 0; i < MANY && cases[_i].absent[i]; i++) {
		char with[64];

		snprintf(with, sizeof(with), "%s=", cases[_i].absent[i]);
		ck_assert_msg(!has_var(env.vars, with, strlen(with)), "%s: %s", name, with);
	}
	for (; n_notes < MANY && cases[_i].notes[n_notes]; n_notes++) {
		ck_assert_msg(n_notes < env.n_notes, "%s: too few notes", name);
		ck_assert_msg(strstr(env.notes[n_notes], cases[_i].notes[n_notes]) != NULL,
			      "%s: %s", name, env.notes[n_notes]);
	}
	ck_assert_msg(env.n_notes == n_notes, "%s: too many notes", name);
	target_env_done(&env);
}
END_TEST

START_TEST(test_empty_env)
{
	struct target_env_options o = {.library = LIB, .session = "/s"};
	char *base[] = {NULL};
	struct target_env env;

	ck_assert_int_eq(target_env_build(&o, base, &env), 0);
	ck_assert_ptr_nonnull(env.vars[5]);
	ck_assert_ptr_null(env.vars[8]);
	target_env_done(&env);
}
END_TEST

/* ---- finding ---- */

START_TEST(test_find)
{
	_cleanup_(freep) char *path = NULL;
	char list[256];

	mkdir(in_scratch("a"), 0700);
	mkdir(in_scratch("b"), 0700);
	mkdir(in_scratch("a/dir"), 0700);
	write_file(in_scratch("a/plain"), "", 0, 0600);
	write_file(in_scratch("a/both"), "", 0, 0600);
	write_file(in_scratch("b/both"), "", 0, 0700);
	write_file(in_scratch("b/dir"), "", 0, 0700);
	snprintf(list, sizeof(list), "/absent:%s/a:%s/b", scratch, scratch);

	ck_assert_int_eq(target_find("absent", list, &path), -ENOENT);
	ck_assert_int_eq(target_find("", list, &path), -ENOENT);
	ck_assert_int_eq(target_find("plain", list, &path), -EACCES);
	ck_assert_int_eq(target_find("both", list, &path), 0);
	ck_assert_str_eq(path, in_scratch("b/both"));
	freep(&path);
	ck_assert_int_eq(target_find("dir", list, &path), 0);
	ck_assert_str_eq(path, in_scratch("b/dir"));
	freep(&path);
	ck_assert_int_eq(target_find(in_scratch("a/dir"), list, &path), -EISDIR);
	ck_assert_int_eq(target_find(in_scratch("b/both/x"), list, &path), -ENOTDIR);
	ck_assert_int_eq(target_find("sh", NULL, &path), 0);
	ck_assert(path[0] == '/');
	freep(&path);
	ck_assert_int_eq(chdir(in_scratch("b")), 0);
	ck_assert_int_eq(target_find("both", "/absent:", &path), 0); /* "": here */
	ck_assert_str_eq(path, "./both");
	ck_assert_int_eq(chdir("/"), 0);

	ck_assert_int_eq(target_exit_status(-ENOENT), 127);
	ck_assert_int_eq(target_exit_status(-ENOTDIR), 127);
	ck_assert_int_eq(target_exit_status(-EACCES), 126);
	ck_assert_int_eq(target_exit_status(-EISDIR), 126);
	ck_assert_str_eq(target_strerror(-EISDIR), "is a directory");
}
END_TEST

START_TEST(test_library)
{
	_cleanup_(freep) char *path = NULL, *why = NULL;

	setenv("PROTON_LIBRARY_PATH", in_scratch("lib.so"), 1);
	ck_assert_int_eq(target_library(&path, &why), -ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "lib.so"));
	freep(&why);
	why = NULL;
	write_file(in_scratch("lib.so"), "", 0, 0600);
	ck_assert_int_eq(target_library(&path, &why), 0);
	ck_assert_str_eq(path, in_scratch("lib.so"));
	freep(&path);
	path = NULL;
	/* The test lies one folder below where the library is built: not there, but perhaps
	 * installed. Either a path or a reason. */
	unsetenv("PROTON_LIBRARY_PATH");
	if (target_library(&path, &why) == 0)
		ck_assert(path[0] == '/');
	else
		ck_assert_ptr_nonnull(strstr(why, "libproton.so"));
}
END_TEST

/* ---- looking into files ---- */

static unsigned flags_of(const char *path)
{
	struct target_image image;
	unsigned flags;

	ck_assert_int_eq(target_inspect(path, getenv("PATH"), &image), 0);
	flags = image.flags;
	target_image_done(&image);
	return flags;
}

static unsigned flags_of_bytes(const void *data, size_t len, unsigned mode)
{
	write_file(in_scratch("bytes"), data, len, mode);
	return flags_of(in_scratch("bytes"));
}

/* A program header table with a dynamic section whose strings are these; or a program without. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr phdr[3];
	Elf64_Dyn dyn[3];
	char loader[32];
	char strings[64];
};

static struct image make_image(const char *loader, const char *strings, size_t len)
{
	struct image i = {0};

	memcpy(i.header.e_ident, ELFMAG, SELFMAG);
	i.header.e_ident[EI_CLASS] = ELFCLASS64;
	i.header.e_machine = EM_X86_64;
	i.header.e_phoff = offsetof(struct image, phdr);
	i.header.e_phentsize = sizeof(Elf64_Phdr);
	i.header.e_phnum = 3;
	i.phdr[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof(i)};
	i.phdr[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				 .p_offset = offsetof(struct image, dyn),
				 .p_filesz = sizeof(i.dyn)};
	i.phdr[2] = (Elf64_Phdr){.p_type = loader ? PT_INTERP : PT_NOTE,
				 .p_offset = offsetof(struct image, loader),
				 .p_filesz = sizeof(i.loader)};
	i.dyn[0] = (Elf64_Dyn){.d_tag = DT_STRTAB,
			       .d_un.d_ptr = 0x1000 + offsetof(struct image, strings)};
	i.dyn[1] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = len};
	snprintf(i.loader, sizeof(i.loader), "%s", loader ? loader : "");
	memcpy(i.strings, strings, len);
	return i;
}

static unsigned flags_of_image(struct image i)
{
	return flags_of_bytes(&i, sizeof(i), 0700);
}

#define IMAGE(loader, strings) make_image(loader, strings, sizeof(strings))
#define GLIBC                  "/lib64/ld-linux-x86-64.so.2"

#ifdef __x86_64__
START_TEST(test_made_images)
{
	struct image i;

	ck_assert_uint_eq(flags_of_image(IMAGE(GLIBC, "\0libc.so.6\0main")), TARGET_ELF);
	ck_assert_uint_eq(flags_of_image(IMAGE(NULL, "\0libc.so.6")), TARGET_ELF | TARGET_STATIC);
	ck_assert_uint_eq(flags_of_image(IMAGE(GLIBC, "\0libasan.so.8\0x")),
			  TARGET_ELF | TARGET_ASAN);
	ck_assert_uint_eq(flags_of_image(IMAGE(GLIBC, "\0x\0__asan_init")),
			  TARGET_ELF | TARGET_ASAN);
	ck_assert_uint_eq(flags_of_image(IMAGE(GLIBC, "\0libclang_rt.asan-x86_64.so")),
			  TARGET_ELF | TARGET_ASAN);
	ck_assert_uint_eq(flags_of_image(IMAGE(GLIBC, "\0libtsan.so.2")), TARGET_ELF | TARGET_TSAN);
	ck_assert_uint_eq(flags_of_image(IMAGE(GLIBC, "\0my__tsan_init")), TARGET_ELF);
	ck_assert_uint_eq(flags_of_image(IMAGE("/lib/ld-musl-x86_64.so.1", "\0libc.so")),
			  TARGET_ELF | TARGET_MUSL);
	i = IMAGE(GLIBC, "\0x");
	i.header.e_ident[EI_CLASS] = ELFCLASS32;
	ck_assert_uint_eq(flags_of_image(i), TARGET_ELF | TARGET_32BIT);
	i = IMAGE(GLIBC, "\0x");
	i.header.e_machine = EM_AARCH64;
	ck_assert_uint_eq(flags_of_image(i), TARGET_ELF | TARGET_FOREIGN);
}
END_TEST

/* Numbers that lie: no crash, no flag. */
START_TEST(test_damaged_images)
{
	struct image good = IMAGE(GLIBC, "\0libasan.so.8"), i;

	for (size_t len = 0; len < sizeof(good); len += 7)
		(void)flags_of_bytes(&good, len, 0700);
	i = good;
	i.header.e_phnum = 0xffff;
	(void)flags_of_image(i);
	i = good;
	i.header.e_phoff = UINT64_MAX - 3;
	(void)flags_of_image(i);
	i = good;
	i.header.e_phentsize = 1;
	(void)flags_of_image(i);
	i = good;
	i.dyn[1].d_un.d_val = UINT64_MAX;
	ck_assert_uint_eq(flags_of_image(i), TARGET_ELF);
	i = good;
	i.dyn[0].d_un.d_ptr = UINT64_MAX;
	ck_assert_uint_eq(flags_of_image(i), TARGET_ELF);
	i = good;
	i.phdr[1].p_filesz = UINT64_MAX;
	(void)flags_of_image(i);
}
END_TEST
#endif

START_TEST(test_setid)
{
	struct image i = IMAGE(GLIBC, "\0x");

	ck_assert(flags_of_bytes(&i, sizeof(i), 04700) & TARGET_SETID);
	ck_assert(flags_of_bytes(&i, sizeof(i), 02710) & TARGET_SETID);
	ck_assert(!(flags_of_bytes(&i, sizeof(i), 02600) & TARGET_SETID)); /* mandatory locking */
	ck_assert(!(flags_of_bytes("#!/bin/sh\n", 10, 04700) & TARGET_SETID)); /* no meaning */
}
END_TEST

static void check_interpreter(const char *line, const char *wanted)
{
	struct target_image image;
	_cleanup_(freep) char *found = NULL;

	write_file(in_scratch("script"), line, strlen(line), 0700);
	ck_assert_int_eq(target_inspect(in_scratch("script"), getenv("PATH"), &image), 0);
	if (strchr(wanted, '/'))
		found = strdup(wanted);
	else
		ck_assert_int_eq(target_find(wanted, getenv("PATH"), &found), 0);
	ck_assert_str_eq(image.path, found);
	ck_assert(image.flags & TARGET_SCRIPT);
	target_image_done(&image);
}

START_TEST(test_scripts)
{
	char line[128];

	check_interpreter("#!/bin/sh\necho\n", "/bin/sh");
	check_interpreter("#! /bin/sh -e\n", "/bin/sh");
	check_interpreter("#!/usr/bin/env sh\n", "sh");
	check_interpreter("#!/usr/bin/env -S A=1 sh -e\n", "sh");
	check_interpreter("echo no line\n", "/bin/sh");
	/* A script whose interpreter is a script. */
	write_file(in_scratch("inner"), "#!/bin/sh\n", 10, 0700);
	snprintf(line, sizeof(line), "#!%s\n", in_scratch("inner"));
	check_interpreter(line, "/bin/sh");
	/* One that is its own interpreter. */
	snprintf(line, sizeof(line), "#!%s\n", in_scratch("self"));
	write_file(in_scratch("self"), line, strlen(line), 0700);
	(void)flags_of(in_scratch("self"));
	ck_assert_uint_eq(flags_of(in_scratch("absent")), 0);
}
END_TEST

/* Real programs, where a compiler is here to make them. */
static bool compile(const char *flags)
{
	char command[512];
	int status = -1;
	pid_t pid;

	write_file(in_scratch("x.c"), "int main(void) { return 0; }\n", 29, 0600);
	snprintf(command, sizeof(command), "%s %s -o %s %s >/dev/null 2>&1", TEST_CC, flags,
		 in_scratch("x"), in_scratch("x.c"));
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static const struct {
	const char *flags;
	unsigned wanted;
} builds[] = {
	{"", TARGET_ELF},
	{"-static", TARGET_ELF | TARGET_STATIC},
	{"-static-pie", TARGET_ELF | TARGET_STATIC},
	{"-fsanitize=address", TARGET_ELF | TARGET_ASAN},
	{"-fsanitize=thread", TARGET_ELF | TARGET_TSAN},
	{"-m32", TARGET_ELF | TARGET_32BIT},
};

START_TEST(test_built_programs)
{
	if (compile(builds[_i].flags)) /* else that is not installed here */
		ck_assert_uint_eq(flags_of(in_scratch("x")), builds[_i].wanted);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch_env");
	TCase *t = tcase_create("env");

	tcase_add_checked_fixture(t, scratch_make, scratch_remove);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, test_env, 0, (int)ARRAY_SIZE(cases));
	tcase_add_test(t, test_empty_env);
	tcase_add_test(t, test_find);
	tcase_add_test(t, test_library);
#ifdef __x86_64__
	tcase_add_test(t, test_made_images);
	tcase_add_test(t, test_damaged_images);
#endif
	tcase_add_test(t, test_setid);
	tcase_add_test(t, test_scripts);
	tcase_add_loop_test(t, test_built_programs, 0, (int)ARRAY_SIZE(builds));
	suite_add_tcase(suite, t);
	return check_run(suite);
}
