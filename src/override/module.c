/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "override/module.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "assemble/assemble.h"
#include "base/util.h"
#include "core/occupancy.h"
#include "core/rewritten.h"
#include "images/images.h"
#include "override/limits.h"
#include "override/origin.h"
#include "ptx/probe.h"

enum { WHY_MAX = 256, WORDS_MAX = 16, RECORD_BYTES = 16 };

/* Kernels that are not the user's, by their names: of cuBLAS, cuDNN, NCCL, … whose licences do not like to see them changed.
 * What lies in files of theirs is not even looked at (collect/rewriting.c). */
static const char vendors[] =
	"\nskip cublas*\nskip cublasLt*\nskip *cudnn*\nskip cask_*\nskip nvjet_*\nskip *_xmma_*"
	"\nskip nccl*\nskip *cusparse*\nskip *cusolver*\nskip *cufft*\nskip *curand*"
	"\nskip *nvrtc_builtin*\n";

struct work {
	const struct overriding *how;
	struct origin origin;
	struct ptx_rules *rules;
	struct ptx_probed probed;
	struct buf ptx; /* what is assembled */
	struct assembled assembled;
	struct image_kernels after;
	struct assembled unprobed; /* of PTX, where that matters */
	struct overridden *ret;
};

/* ---- what is told ---- */

static void tell_left(struct work *w, const struct image_kernel *k, const char *why)
{
	buf_printf(&w->ret->text, REWRITTEN_LEFT "%.*s: no scopes within it: %s\n",
		   (int)k->name_len, k->name, why);
}

/* Of each kernel, or of the module where none is known. */
static void tell_all_left(struct work *w, const char *why)
{
	buf_clear(&w->ret->text);
	buf_clear(&w->ret->image);
	w->ret->n_kernels = 0;
	for (size_t i = 0; i < w->origin.before.n; i++)
		tell_left(w, &w->origin.before.v[i], why);
	if (!w->origin.before.n)
		buf_printf(&w->ret->text,
			   REWRITTEN_LEFT "a module: no scopes within its kernels: %s\n", why);
}

static void _printf_(2, 3) leave_all(struct work *w, const char *format, ...)
{
	char why[WHY_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	for (char *at = why; *at; at++)
		if (*at == '\n')
			*at = ' ';
	tell_all_left(w, why);
}

static const char *find_error(int r)
{
	switch (r) {
	case -ENODATA:
		return "its PTX is not there (-lineinfo of nvcc or NVRTC keeps it)";
	case -EBADMSG:
		return "it is neither PTX nor a cubin nor a fatbin";
	case -ENOTSUP:
		return "its PTX is packed by zstd, whose library (libzstd.so.1) is not here";
	default:
		return strerror(-r);
	}
}

enum { BLOCK = 256 }; /* threads of the block by which kernels are compared */

/* Blocks on a multiprocessor at a time; 0: not known. */
static unsigned blocks_of(const struct work *w, const struct image_kernel *k)
{
	const struct launch_config config = {
		.shape = {.grid = {1, 1, 1}, .block = {BLOCK, 1, 1}},
		.registers = k->registers,
		.static_shared = (uint32_t)k->shared_bytes,
	};
	const struct sm_limits *limits = sm_limits_find(w->how->chip);

	return limits ? occupancy_of(&config, limits, 0).blocks : 0;
}

/* "24 -> 30 registers, 0 -> 4096 bytes of shared memory, 8 -> 6 blocks of 256 threads on a multiprocessor" */
static void tell_done(struct work *w, const struct ptx_kernel *k)
{
	size_t len = strlen(k->name);
	const struct image_kernel *was = image_kernels_find(&w->origin.before, k->name, len);
	const struct image_kernel *is = image_kernels_find(&w->after, k->name, len);
	struct buf *out = &w->ret->text;

	buf_printf(out, REWRITTEN_DONE "%s: %u scope%s within it", k->name, k->n_places,
		   k->n_places == 1 ? "" : "s");
	if (was && is && was->is_assembled && is->is_assembled) {
		buf_printf(out, ", registers %u -> %u, shared memory %llu -> %llu bytes",
			   was->registers, is->registers, (unsigned long long)was->shared_bytes,
			   (unsigned long long)is->shared_bytes);
		if (is->local_bytes != was->local_bytes)
			buf_printf(out, ", local memory %llu -> %llu bytes a thread",
				   (unsigned long long)was->local_bytes,
				   (unsigned long long)is->local_bytes);
		if (blocks_of(w, was))
			buf_printf(out, ", blocks of %d threads on a multiprocessor %u -> %u",
				   BLOCK, blocks_of(w, was), blocks_of(w, is));
	} else if (is && is->is_assembled) {
		buf_printf(out, ", registers %u, shared memory %llu bytes", is->registers,
			   (unsigned long long)is->shared_bytes);
	}
	if (k->n_over)
		buf_printf(out, "; %u more are beyond the limit", k->n_over);
	if (k->note)
		buf_printf(out, "; %s", k->note);
	buf_putc(out, '\n');
}

/* What the rules leave out was not asked for. */
static void tell_kernels(struct work *w)
{
	for (size_t i = 0; i < w->probed.n_kernels; i++) {
		const struct ptx_kernel *k = &w->probed.kernel[i];

		if (!k->why)
			tell_done(w, k);
		else if (ptx_rules_want(w->rules, k->name))
			tell_left(w,
				  &(struct image_kernel){.name = k->name,
							 .name_len = strlen(k->name)},
				  k->why);
	}
}

/* ---- assembling ---- */

/* Options that say what code becomes, of those that the module's cubin was made with. */
static size_t keep_options(const char *said, char words[static WHY_MAX],
			   const char *ret[static WORDS_MAX + 1])
{
	static const char *const kept[] = {"-maxrregcount", "-fmad", "-O", "-dlcm", "-dscm"};
	char *rest = words, *word;
	bool is_value = false;
	size_t n = 0;

	snprintf(words, WHY_MAX, "%s", said);
	while ((word = strsep(&rest, " ")) && n < WORDS_MAX) {
		bool is_kept = is_value;

		is_value = false;
		for (size_t i = 0; i < ARRAY_SIZE(kept) && !is_kept; i++)
			is_kept = is_value = !strcmp(word, kept[i]);
		if (is_kept)
			ret[n++] = word;
	}
	ret[n] = NULL;
	return n;
}

static struct elf_part part_of(const struct buf *b)
{
	return (struct elf_part){(const uint8_t *)b->data, b->len};
}

static int assemble_text(const struct work *w, const struct buf *ptx, struct assembled *ret,
			 struct image_kernels *ret_kernels)
{
	const char *said = w->origin.cubin.part.size ? cubin_options(w->origin.cubin.part) : "";
	const char *options[WORDS_MAX + 1];
	char words[WHY_MAX];
	const struct assemble_options o = {
		.arch = w->origin.arch, .options = options, .limit_ms = w->how->limit_ms};
	int r;

	keep_options(said, words, options);
	image_kernels_done(ret_kernels);
	*ret_kernels = (struct image_kernels){0};
	assembled_done(ret);
	r = image_assemble(part_of(ptx), &o, ret);
	return r == 0 ? cubin_kernels(part_of(&ret->cubin), ret_kernels) : r;
}

static int assemble(struct work *w)
{
	return assemble_text(w, &w->ptx, &w->assembled, &w->after);
}

/* What kernels of PTX took is not known, and matters where they take more now than a thread of the largest block may. */
static bool is_before_needed(const struct work *w)
{
	for (size_t i = 0; i < w->origin.before.n; i++) {
		const struct image_kernel *was = &w->origin.before.v[i];
		const struct image_kernel *is =
			image_kernels_find(&w->after, was->name, was->name_len);

		if (!was->is_assembled && is && is->registers > registers_allowed(0))
			return true;
	}
	return false;
}

static int know_before(struct work *w)
{
	return is_before_needed(w)
		       ? assemble_text(w, &w->origin.ptx, &w->unprobed, &w->origin.before)
		       : 0;
}

/* Kernels that would take too many registers for blocks that they could be launched with before: is any given a limit? */
static bool limit_all(struct work *w)
{
	bool is_any = false;

	for (size_t i = 0; i < w->origin.before.n; i++) {
		const struct image_kernel *was = &w->origin.before.v[i];
		const struct image_kernel *is =
			image_kernels_find(&w->after, was->name, was->name_len);
		uint32_t allowed = registers_allowed(was->registers);

		if (was->is_assembled && is && is->registers > allowed)
			is_any |= limit_registers(&w->ptx, was->name, was->name_len, allowed);
	}
	return is_any;
}

static int assemble_limited(struct work *w)
{
	int r = assemble(w);

	if (r == 0)
		r = know_before(w);
	return r == 0 && limit_all(w) ? assemble(w) : r;
}

/* NULL: none is missing. */
static const struct image_kernel *find_missing(const struct work *w)
{
	for (size_t i = 0; i < w->origin.before.n; i++) {
		const struct image_kernel *k = &w->origin.before.v[i];

		if (!image_kernels_find(&w->after, k->name, k->name_len))
			return k;
	}
	return NULL;
}

/* ---- all of it ---- */

static struct ptx_options options_of(const struct intra_mode *mode, enum ptx_buffer buffer)
{
	struct ptx_options o = {.buffer = buffer, .is_for_run = true};

	if (mode->buffer == INTRA_GLOBAL)
		o.buffer = PTX_BUFFER_GLOBAL;
	if (mode->warps != INTRA_ALL_WARPS)
		o.warps = mode->warps;
	/* What a block has is for as many warps as it may have. */
	for (uint32_t size = mode->buffer_bytes / INTRA_WARPS_MAX / RECORD_BYTES; size; size /= 2)
		o.records = o.records ? 2 * o.records : 1;
	return o;
}

static int read_rules(struct work *w)
{
	_cleanup_(buf_done) struct buf text = {0}, why = {0};
	int r;

	buf_puts(&text, w->how->rules);
	if (!w->how->has_all)
		buf_puts(&text, vendors);
	r = text.error ? text.error : ptx_rules_parse(text.data, text.len, &w->rules, &why);
	if (r < 0)
		leave_all(w, "%s", why.len ? buf_str(&why) : strerror(-r));
	return r;
}

/* 1: there is something to assemble. */
static int probe(struct work *w, enum ptx_buffer buffer)
{
	const struct ptx_options options = options_of(&w->how->mode, buffer);
	int r;

	ptx_probed_done(&w->probed);
	r = ptx_probe(w->origin.ptx.data, w->origin.ptx.len, w->rules, &options, &w->probed);
	if (r == -EALREADY) /* its scopes are its own */
		return 0;
	if (r < 0) {
		leave_all(w, "%s", ptx_probe_error(r));
		return r;
	}
	buf_clear(&w->ptx);
	buf_put(&w->ptx, w->probed.text.data, w->probed.text.len);
	return w->ptx.error ? w->ptx.error : w->probed.n_probed != 0;
}

/* The driver takes PTX, too, and a byte that ends it. */
static void give_ptx(struct work *w)
{
	buf_put(&w->ret->image, w->ptx.data, w->ptx.len);
	buf_putc(&w->ret->image, '\0');
}

static void finish(struct work *w, int r)
{
	const struct image_kernel *missing;

	if (r < 0 && r != -ENOENT) {
		w->ret->is_lasting = r == -EBADMSG;
		leave_all(w, "%s",
			  w->assembled.why.len ? buf_str(&w->assembled.why) : strerror(-r));
		return;
	}
	missing = r == 0 ? find_missing(w) : NULL;
	if (missing) {
		leave_all(w, "its PTX has not all kernels of the module (%.*s)",
			  (int)missing->name_len, missing->name);
		return;
	}
	if (r == 0)
		buf_put(&w->ret->image, w->assembled.cubin.data, w->assembled.cubin.len);
	else
		give_ptx(w);
	w->ret->is_lasting = r == 0;
	w->ret->n_kernels = (uint32_t)w->probed.n_probed;
	tell_kernels(w);
}

/* Records in shared memory may be what the assembler refuses, as there is not so much: they go elsewhere, then. */
static void make(struct work *w)
{
	int r = probe(w, PTX_BUFFER_AUTO);

	if (r == 0)
		tell_kernels(w);
	if (r <= 0)
		return;
	r = assemble_limited(w);
	if (r == -EBADMSG && w->how->mode.buffer != INTRA_GLOBAL &&
	    probe(w, PTX_BUFFER_GLOBAL) == 1)
		r = assemble_limited(w);
	finish(w, r);
}

void module_override(struct elf_part module, const struct overriding *how, struct overridden *ret)
{
	struct work w = {.how = how, .ret = ret};
	int r;

	*ret = (struct overridden){.is_lasting = true};
	r = origin_find(module, how->chip, &w.origin);
	if (r < 0)
		leave_all(&w, "%s", find_error(r));
	else if (read_rules(&w) == 0)
		make(&w);
	ptx_probed_done(&w.probed);
	ptx_rules_free(w.rules);
	assembled_done(&w.assembled);
	assembled_done(&w.unprobed);
	image_kernels_done(&w.after);
	buf_done(&w.ptx);
	origin_done(&w.origin);
}

void overridden_done(struct overridden *o)
{
	buf_done(&o->image);
	buf_done(&o->text);
}
