/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "cmd/triton_told.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/named_file.h"
#include "base/said_rules.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_mode.h"
#include "ttgir/module.h"

#define PREFIX "ttgir:"

int ttgir_read_file(const char *path, struct buf *text)
{
	_cleanup_(closep) int fd = input_open(path, INPUT_WAIT_MS);

	return fd < 0 ? fd : buf_read(text, fd);
}

int ttgir_rules_said(const char *option, const char *said, struct buf *text,
		     struct ttgir_rules *ret)
{
	_cleanup_(buf_done) struct buf hint = {0};
	char why[256] = "";
	int r = said_rules_read(said, text, &hint);

	if (r == 0)
		r = ttgir_rules_parse(ret, buf_str(text), why, sizeof(why));
	if (r < 0 && *why)
		said_rules_hint(said, &hint);
	if (r < 0)
		complain("%s: %s%s", option, *why || hint.len ? why : strerror(-r), buf_str(&hint));
	return r;
}

void ttgir_list_rules(FILE *out)
{
	const char *word, *expression;

	fprintf(out, "func\nloop\nloop:iter\n");
	for (unsigned i = 0; (word = ttgir_rule_word(i, &expression)); i++)
		fprintf(out, "%s\n", word);
}

static int set_folder(const char *folder)
{
	_cleanup_(freep) char *whole = realpath(folder, NULL);

	if (!whole) {
		complain("cannot open '%s': %s", folder, strerror(errno));
		return STATUS_FAILED;
	}
	if (setenv("TRITON_OVERRIDE_DIR", whole, 1) < 0 ||
	    setenv("TRITON_KERNEL_OVERRIDE", "1", 1) < 0 ||
	    setenv("TRITON_ALWAYS_COMPILE", "1", 1) < 0)
		return STATUS_OURS;
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int set_rules(const char *said)
{
	_cleanup_(buf_done) struct buf text = {.max = TTGIR_BYTES};
	struct ttgir_rules rules;

	if (ttgir_rules_said("--intra", *said ? said : TTGIR_USUAL_RULES, &text, &rules) < 0)
		return STATUS_USAGE;
	ttgir_rules_done(&rules);
	return setenv("PROTON_TRITON_RULES", buf_str(&text), 1) < 0 ? STATUS_OURS : 0;
}

/* torch.compile has its kernels compiled in the program itself, where records are put in, and launches them as Triton does, with
 * their buffers; its cache has those apart that its own launcher ran. */
static int tell_torch(void)
{
	static const struct {
		const char *name, *value;
	} told[] = {{"TORCHINDUCTOR_COMPILE_THREADS", "1"},
		    {"TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER", "0"}};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		if (setenv(told[i].name, told[i].value, 0) < 0)
			return -errno;
	return 0;
}

bool triton_is_meant(const char *said)
{
	return !strncmp(said, PREFIX, strlen(PREFIX));
}

/* python/proton/triton_rules.py reads the variables. */
int triton_is_told(const char *said, const char *mode)
{
	struct intra_mode parsed;

	said += strlen(PREFIX);
	if (kernel_mode_parse(mode, &parsed) < 0)
		return STATUS_USAGE;
	if (setenv("PROTON_TRITON_MODE", mode ? mode : "default", 1) < 0 || tell_torch() < 0)
		return STATUS_OURS;
	return is_folder(said) ? set_folder(said) : set_rules(said);
}
