/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Buffers that warps wrote (intra/warp_records.h), as tests of Triton's Proton keep them: one launch of a kernel. Little endian
 * 32-bit words: version, where the header begins (4), how long it is, where the buffer begins, how long it is, type of the device
 * (1 CUDA, 2 HIP), blocks, warps of a block, bytes of a block, how many warps record, and which. Neither the kernel nor its
 * scopes have names in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/warps.h"
#include "intra/scope_sums.h"
#include "intra/warp_async.h"
#include "intra/warp_singles.h"

#define DUMP_VERSION 2u /* those of version 1 have scopes alone */

enum word {
	WORD_VERSION,
	WORD_HEADER,
	WORD_HEADER_BYTES,
	WORD_BUFFER,
	WORD_BUFFER_BYTES,
	WORD_DEVICE,
	WORD_BLOCKS,
	WORD_WARPS,
	WORD_BLOCK_BYTES,
	WORD_RECORDING,
	N_WORDS
};
#define BLOCK_MOST ((size_t)1 << 30)

struct dump {
	struct reader_input *in;
	struct warp_trace *t;
	struct format_error *error;
	uint64_t offset;
	uint32_t words[N_WORDS], recording[WARP_MOST];
	struct warp_layout layout;
	struct warp_losses losses;
	uint64_t n_lost;             /* of them, records of warps that were added */
	uint32_t names[WARP_SCOPES]; /* of scopes; 0: it has none yet */
	char *block;
};

static uint32_t header_bytes(uint32_t n_recording)
{
	return (N_WORDS + n_recording) * (uint32_t)sizeof(uint32_t);
}

bool warp_dump_detect(const char *head, size_t n)
{
	if (n < N_WORDS * sizeof(uint32_t))
		return false;
	return warp_word(head, WORD_VERSION) - 1 < DUMP_VERSION &&
	       warp_word(head, WORD_HEADER) == sizeof(uint32_t) &&
	       warp_word(head, WORD_RECORDING) <= WARP_MOST &&
	       warp_word(head, WORD_HEADER_BYTES) ==
		       header_bytes(warp_word(head, WORD_RECORDING)) &&
	       warp_word(head, WORD_BUFFER) == warp_word(head, WORD_HEADER_BYTES);
}

/* All of n bytes. */
static int take(struct dump *d, void *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = reader_read(d->in, (char *)data + done, n - done);

		if (got < 0)
			return format_fail_code(d->error, (int)got);
		if (got == 0)
			return format_fail(d->error, -EBADMSG, d->offset, "truncated");
		done += (size_t)got;
		d->offset += (size_t)got;
	}
	return 0;
}

static int take_header(struct dump *d)
{
	char head[N_WORDS * sizeof(uint32_t)], warps[sizeof(d->recording)];
	int r = take(d, head, sizeof(head));

	if (r == 0 && !warp_dump_detect(head, sizeof(head)))
		return format_fail(d->error, -EBADMSG, 0, "no buffer that warps wrote");
	for (size_t i = 0; r == 0 && i < N_WORDS; i++)
		d->words[i] = warp_word(head, i);
	if (r == 0)
		r = take(d, warps, d->words[WORD_RECORDING] * sizeof(uint32_t));
	for (size_t i = 0; r == 0 && i < d->words[WORD_RECORDING]; i++)
		d->recording[i] = warp_word(warps, i);
	d->layout = (struct warp_layout){.n_blocks = d->words[WORD_BLOCKS],
					 .n_warps = d->words[WORD_WARPS],
					 .block_bytes = d->words[WORD_BLOCK_BYTES],
					 .recording = d->recording,
					 .n_recording = d->words[WORD_RECORDING]};
	if (r == 0 &&
	    (uint64_t)d->layout.n_blocks * d->layout.block_bytes > d->words[WORD_BUFFER_BYTES])
		return format_fail(d->error, -EINVAL, WORD_BLOCKS * sizeof(uint32_t),
				   "wrong shape: %" PRIu32 " blocks of %" PRIu32
				   " bytes are not the %" PRIu32 " that the buffer has",
				   d->layout.n_blocks, d->layout.block_bytes,
				   d->words[WORD_BUFFER_BYTES]);
	return r;
}

/* Of a scope; STRTAB_NONE: out of memory. */
static uint32_t name_of(void *ctx, uint32_t scope)
{
	struct dump *d = ctx;
	char text[SCOPE_SUMS_NAME_MAX];

	if (!d->names[scope % WARP_SCOPES]) {
		scope_sums_name(scope, text);
		d->names[scope % WARP_SCOPES] = strtab_adds(d->t->names, text);
	}
	return d->names[scope % WARP_SCOPES];
}

static int on_warp(void *ctx, const struct warp_block *block, uint32_t warp,
		   struct warp_contents *contents)
{
	struct dump *d = ctx;
	uint64_t lost = d->losses.overwritten + d->losses.unmatched + d->losses.others;
	const struct warp_trace_warp added = {.warp = warp,
					      .multiprocessor = block->multiprocessor,
					      .block = block->block,
					      .entered_ns = block->entered_ns,
					      .left_ns = block->left_ns,
					      .copied_ns = block->copied_ns,
					      .n_lost = lost - d->n_lost};
	struct warp_trace_scope *scopes;
	size_t n;
	int r = warp_singles(contents, name_of, d, &scopes, &n);

	if (r < 0)
		return r;
	d->n_lost = lost;
	r = warp_trace_add_warp(d->t, &added, scopes, n);
	free(scopes);
	return r;
}

static int take_blocks(struct dump *d)
{
	int r = 0;

	if (d->layout.n_blocks && d->layout.block_bytes <= BLOCK_MOST)
		d->block = malloc(MAX(d->layout.block_bytes, 1u));
	if (!d->block)
		return format_fail_code(d->error, d->layout.n_blocks ? -ENOMEM : -ENODATA);
	for (uint32_t i = 0; r == 0 && i < d->layout.n_blocks; i++) {
		r = take(d, d->block, d->layout.block_bytes);
		if (r == 0)
			r = warp_records_decode(d->block, d->layout.block_bytes, &d->layout,
						on_warp, d, &d->losses);
		if (r < 0 && !d->error->code)
			r = r == -EINVAL ? format_fail(d->error, r, d->offset,
						       "wrong shape: blocks of %" PRIu32
						       " bytes are none of %" PRIu32 " warps",
						       d->layout.block_bytes, d->layout.n_warps)
					 : format_fail_code(d->error, r);
	}
	return r;
}

static int begin_launch(struct dump *d)
{
	uint32_t kernel = strtab_adds(d->t->names, "<kernel>");
	const struct warp_trace_launch launch = {.kernel = kernel,
						 .device = -1,
						 .n_blocks = d->layout.n_blocks,
						 .n_block_warps = d->layout.n_warps};

	return kernel == STRTAB_NONE ? -ENOMEM : warp_trace_add_launch(d->t, &launch);
}

int warp_dump_read(struct reader_input *in, struct warp_trace *t, struct warp_losses *losses,
		   struct format_error *error)
{
	struct dump d = {.in = in, .t = t, .error = error};
	uint64_t n_lost = 0;
	int r = take_header(&d);

	if (r == 0)
		r = begin_launch(&d);
	if (r == 0)
		r = take_blocks(&d);
	if (r == 0)
		r = warp_async_join(t, t->n_launches - 1, &n_lost);
	d.losses.unmatched += n_lost;
	if (r == 0)
		t->launches[t->n_launches - 1].n_dropped =
			(d.losses.blocks + d.losses.broken) * d.layout.n_recording;
	if (r < 0 && !error->code)
		format_fail_code(error, r);
	*losses = d.losses;
	free(d.block);
	return r;
}
