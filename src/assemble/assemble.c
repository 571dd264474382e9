/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "assemble/assemble.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "assemble/assembler.h"
#include "base/any_case.h"
#include "base/hash.h"
#include "base/util.h"
#include "images/ptx_text.h"

/* In the order in which they are tried: who knows the PTX's version may be the second. */
static const struct assembler *const assemblers[] = {&assembler_ptxas, &assembler_jitlink};

#define CUBIN_MAX (UINT64_C(1) << 30)

/* ---- files that a child sees ---- */

/* A child has no descriptors of ours, but finds their files by this name. */
static int file_for_child(const char *name, char ret_path[ASSEMBLER_PATH_MAX])
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	snprintf(ret_path, ASSEMBLER_PATH_MAX, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd < 0 ? -errno : fd;
}

static int read_cubin(int fd, struct buf *ret)
{
	buf_init(ret, CUBIN_MAX);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return buf_read(ret, fd);
}

/* ---- why not ---- */

/* Without the blanks by which he aligns. */
static void put_words(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != ' ' || (i + 1 < len && text[i + 1] != ' ' && text[i + 1] != ':'))
			buf_putc(out, text[i]);
}

/* "ptxas /proc/7/fd/3, line 23; error   : Unknown symbol 'x'" becomes "line 23; error: Unknown symbol 'x'". Libraries write it in capitals. */
static bool put_error(const char *line, size_t len, struct buf *out)
{
	const char *word = find_any_case(line, len, "error"), *place;

	if (!word)
		word = find_any_case(line, len, "fatal");
	if (!word)
		return false;
	place = memmem(line, (size_t)(word - line), "line ", 5);
	word = place ? place : word;
	put_words(out, word, len - (size_t)(word - line));
	return true;
}

/* The first of his lines that speaks of an error, else how he ended. */
static void say_refusal(const struct assembler *who, struct probe *p, struct buf *out)
{
	const char *at = buf_str(&p->text);

	buf_printf(out, "%s refuses it: ", who->name);
	for (size_t len; *at; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		if (put_error(at, len, out))
			return;
	}
	buf_printf(out, "it ended with status %d", p->detail);
}

/* Somebody newer may know what he does not. */
static bool is_too_old(struct probe *p)
{
	return strstr(buf_str(&p->text), "Unsupported .version");
}

/* -ENOENT: another is to be asked. Who did not end by himself has not judged it. */
static int say_end(const struct assembler *who, struct probe *p, struct buf *out)
{
	if (p->end == PROBE_LEFT && p->detail == ASSEMBLER_NOT_HERE)
		return -ENOENT;
	buf_clear(out);
	if (p->end == PROBE_LEFT) {
		say_refusal(who, p, out);
		return is_too_old(p) ? -ENOENT : -EBADMSG;
	}
	probe_say_end_of(who->name, p, out);
	return p->end == PROBE_HUNG ? -ETIMEDOUT : -EIO;
}

/* ---- one of them ---- */

/* Any program may be said to be a ptxas. */
static int take_cubin(const struct assembler *who, int fd, struct assembled *ret)
{
	int r = read_cubin(fd, &ret->cubin);

	if (r < 0 || ret->cubin.len)
		return r;
	buf_clear(&ret->why);
	buf_printf(&ret->why, "%s made no cubin of it", who->name);
	return -EBADMSG;
}

static int run(const struct assembler *who, const struct assembly *a, int fd,
	       const struct assemble_options *o, struct assembled *ret)
{
	struct probe p;
	int r;

	probe_run_told(who->run, a, o->limit_ms ? o->limit_ms : ASSEMBLE_MS, o->waiting, &p);
	if (p.end == PROBE_ANSWERED) {
		buf_done(&ret->messages);
		ret->messages = p.text;
		p.text = (struct buf){0};
		r = take_cubin(who, fd, ret);
	} else {
		r = say_end(who, &p, &ret->why);
	}
	probe_done(&p);
	return r;
}

static int try_tool(const struct assembler *who, struct assembly *a,
		    const struct assemble_options *o, struct assembled *ret)
{
	_cleanup_(closep) int in = file_for_child("proton-ptx", a->in);
	_cleanup_(closep) int out = file_for_child("proton-cubin", a->out);
	int r;

	if (in < 0 || out < 0)
		return in < 0 ? in : out;
	r = fd_write_all(in, a->ptx.at, a->ptx.size);
	return r < 0 ? r : run(who, a, out, o, ret);
}

/* Those of his that are here, until one can, or says that none will. -ENOENT: none is. */
static int try_assembler(const struct assembler *who, const struct assemble_options *o,
			 struct assembly *a, struct assembled *ret)
{
	int r = -ENOENT;

	for (size_t n = 0; r == -ENOENT && (a->tool = who->find(o, n)); n++) {
		r = try_tool(who, a, o, ret);
		free(a->tool);
	}
	if (r == 0)
		ret->by = who->name;
	return r;
}

/* ---- all of it ---- */

struct words {
	char arch[IMAGE_ARCH_MAX + 8], registers[32];
};

static int take_options(const struct assemble_options *o, struct assembly *a, struct words *w)
{
	char arch[IMAGE_ARCH_MAX];
	size_t n = 0;

	ptx_text_arch(a->ptx, arch);
	snprintf(w->arch, sizeof(w->arch), "-arch=%s", o->arch ? o->arch : arch);
	a->options[n++] = w->arch;
	if (!o->no_lines && ptx_text_has_lines(a->ptx))
		a->options[n++] = "-lineinfo";
	if (o->registers_max) {
		snprintf(w->registers, sizeof(w->registers), "-maxrregcount=%u", o->registers_max);
		a->options[n++] = w->registers;
	}
	for (size_t i = 0; o->options && o->options[i]; i++) {
		if (n + 1 >= ARRAY_SIZE(a->options))
			return -E2BIG;
		a->options[n++] = o->options[i];
	}
	a->options[n] = NULL;
	return 0;
}

static int try_all(const struct assemble_options *o, struct assembly *a, struct assembled *ret)
{
	int r = -ENOENT;

	for (size_t i = 0; r == -ENOENT && i < ARRAY_SIZE(assemblers); i++)
		r = try_assembler(assemblers[i], o, a, ret);
	if (r != -ENOENT || ret->why.len)
		return r == -ENOENT ? -ENOTSUP : r; /* too old */
	if (o->ptxas)
		buf_printf(&ret->why, "'%s' is no program that can be run", o->ptxas);
	else
		buf_puts(
			&ret->why,
			"neither ptxas nor libnvJitLink is here (in PATH, CUDA_HOME or a Python package)");
	return -ENOENT;
}

int image_assemble(struct elf_part ptx, const struct assemble_options *o, struct assembled *ret)
{
	struct assembly a = {.ptx = ptx};
	struct words words;
	int r;

	*ret = (struct assembled){0};
	if (!is_ptx_text(ptx)) {
		buf_puts(&ret->why, "it is no PTX");
		return -EBADMSG;
	}
	r = take_options(o, &a, &words);
	return r < 0 ? r : try_all(o, &a, ret);
}

void assembled_done(struct assembled *a)
{
	buf_done(&a->cubin);
	buf_done(&a->messages);
	buf_done(&a->why);
	idindex_done(&a->functions.by_name);
	free(a->functions.of);
	a->functions = (struct messages){0};
}

/* ---- messages ---- */

/* "    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads", behind what a library puts before it. */
static bool read_spills(const char *line, struct spills *ret)
{
	static const char before[] = "bytes stack frame, ";
	const char *at = memmem(line, strcspn(line, "\n"), before, sizeof(before) - 1);

	return at && sscanf(at + sizeof(before) - 1, "%u bytes spill stores, %u bytes spill loads",
			    &ret->stores_bytes, &ret->loads_bytes) == 2;
}

struct name {
	const char *at;
	size_t len;
};

/* A message of a function begins with its name. */
static bool is_of(const void *ctx, uint32_t id, const void *key)
{
	const char *message = ((const struct messages *)ctx)->of[id];
	const struct name *name = key;

	return strcspn(message, "\n") == name->len && !memcmp(message, name->at, name->len);
}

static const char *find_message(const struct messages *m, const char *function, size_t len)
{
	uint32_t id = idindex_find(&m->by_name, hash_bytes(function, len), is_of, m,
				   &(struct name){function, len});

	return id == IDINDEX_NONE ? NULL : m->of[id];
}

static int add_message(struct messages *m, const char *at)
{
	size_t len = strcspn(at, "\n");

	if (find_message(m, at, len))
		return 0;
	if (ARRAY_ROOM(m->of, m->cap, m->n + 1) < 0 ||
	    idindex_add(&m->by_name, hash_bytes(at, len), (uint32_t)m->n) < 0)
		return -ENOMEM;
	m->of[m->n++] = at;
	return 0;
}

/* What there is no memory for is not known. */
static void read_messages(struct assembled *a)
{
	static const char before[] = "Function properties for ";
	const char *at = buf_str(&a->messages);

	while ((at = strstr(at, before))) {
		at += sizeof(before) - 1;
		if (add_message(&a->functions, at) < 0)
			break;
	}
	a->functions.is_read = true;
}

bool assembled_spills(struct assembled *a, const char *kernel, size_t len, struct spills *ret)
{
	const char *message;

	if (!a->functions.is_read)
		read_messages(a);
	message = find_message(&a->functions, kernel, len);
	return message && message[len] && read_spills(message + len + 1, ret);
}
