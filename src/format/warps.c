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
#include "intra/scope_sums.h"

#define WARPS_VERSION 1u

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
	struct session *s;
	struct format_error *error;
	uint64_t offset;
	uint32_t words[N_WORDS], recording[WARP_MOST];
	struct warp_layout layout;
	struct scope_sums sums;
	struct warp_losses losses;
	char *block;
};

static uint32_t header_bytes(uint32_t n_recording)
{
	return (N_WORDS + n_recording) * (uint32_t)sizeof(uint32_t);
}

static bool warps_detect(const char *head, size_t n)
{
	if (n < N_WORDS * sizeof(uint32_t))
		return false;
	return warp_word(head, WORD_VERSION) == WARPS_VERSION &&
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

	if (r == 0 && !warps_detect(head, sizeof(head)))
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

static int on_warp(void *ctx, const struct warp_block *block, uint32_t warp,
		   struct warp_scope *scopes, size_t n)
{
	struct dump *d = ctx;

	(void)block, (void)warp;
	return scope_sums_add(&d->sums, scopes, n);
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

static int put_sums(struct dump *d)
{
	uint32_t lane = session_lane_intern(d->s, &session_nowhere);
	double warps = (double)d->layout.n_warps * d->layout.n_blocks;
	_cleanup_(freep) uint32_t *nodes = malloc(d->sums.n * sizeof(*nodes));
	int r = nodes && lane != SESSION_NONE ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < d->sums.n; i++) {
		const struct scope_sum *sum = &d->sums.items[i];
		char name[SCOPE_SUMS_NAME_MAX];

		if (i == SCOPE_SUMS_KERNEL) {
			nodes[i] = session_node(d->s, SESSION_ROOT, FRAME_KERNEL, "<kernel>");
		} else {
			scope_sums_name(sum->scope, name);
			nodes[i] = session_node(d->s, nodes[sum->parent], FRAME_INSTRUMENT, name);
		}
		if (nodes[i] == SESSION_NONE)
			return -ENOMEM;
		if (!sum->n)
			continue;
		const struct {
			uint32_t metric;
			union metric_value v;
		} values[] = {
			{METRIC_CYCLES, {.u64 = sum->cycles}},
			{METRIC_NORMALIZED_CYCLES, {.f64 = (double)sum->cycles / warps}},
			{METRIC_SCOPE_ENTRIES, {.u64 = sum->n}},
			{METRIC_CYCLES_MIN, {.u64 = sum->cycles_min}},
			{METRIC_CYCLES_MAX, {.u64 = sum->cycles_max}},
		};

		for (size_t k = 0; r == 0 && k < ARRAY_SIZE(values); k++)
			r = session_add(d->s, nodes[i], lane, 0, values[k].metric, values[k].v);
	}
	return r;
}

static int warps_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct dump d = {.in = in, .s = s, .error = error};
	int r = scope_sums_init(&d.sums);

	if (r == 0)
		r = take_header(&d);
	if (r == 0)
		r = take_blocks(&d);
	if (r == 0)
		r = put_sums(&d);
	if (r < 0 && !error->code)
		format_fail_code(error, r);
	s->losses[LOSS_WARP_RECORDS] += d.losses.overwritten;
	s->losses[LOSS_WARP_UNMATCHED] += d.losses.unmatched + d.losses.others;
	s->losses[LOSS_WARP_BLOCKS] += d.losses.broken;
	s->ended = true;
	scope_sums_done(&d.sums);
	free(d.block);
	return r;
}

const struct format format_warps = {
	.name = "warps",
	.suffix = ".warps",
	.names = NAME_RAW,
	.help = "scopes in a kernel, as buffers of Triton's Proton have them (read only)",
	.detect = warps_detect,
	.read = warps_read,
};
