/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_file.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"

#define WORD sizeof(uint64_t)
#define WARPS_PIECE                                                                                \
	((size_t)1 << 20) /* warps are put into another piece once one has so many bytes */
#define READ_STEP   ((size_t)1 << 20) /* no more room is made than is read, whatever a piece says */
#define FNV_PRIME   UINT64_C(0x100000001b3)
#define EVENT_SHIFT 28
#define OPEN_BIT    (UINT32_C(1) << 31)
#define NAME_MASK   (WARP_FILE_NAMES_MOST - 1)

/* A product's lower bits know nothing of what differs in upper ones alone: these come down. */
static uint64_t checksum_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * FNV_PRIME;
	return h ^ h >> 32;
}

static uint64_t checksum(uint32_t kind, const void *bytes, size_t n)
{
	uint64_t h = checksum_word(STABLE_HASH_BEGIN, kind | (uint64_t)n << 32), word;

	for (size_t i = 0; i < n; i += WORD) {
		memcpy(&word, (const char *)bytes + i, WORD);
		h = checksum_word(h, le64toh(word));
	}
	return h;
}

char *warp_file_beside(const char *profile)
{
	const char *slash = strrchr(profile, '/'), *name = slash ? slash + 1 : profile;
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot > name ? (size_t)(dot - profile) : strlen(profile);
	char *path;

	return asprintf(&path, "%.*s" WARP_FILE_SUFFIX, (int)n, profile) < 0 ? NULL : path;
}

/* ---- writing ---- */

static void piece_begin(struct warp_writer *w, enum warp_file_kind kind)
{
	const struct warp_file_piece head = {.kind = htole32(kind)};

	buf_clear(&w->piece);
	buf_put(&w->piece, &head, sizeof(head));
}

static int piece_end(struct warp_writer *w)
{
	static const char zeroes[WORD];
	struct warp_file_piece head;
	size_t n;

	buf_put(&w->piece, zeroes, -w->piece.len % WORD);
	if (w->piece.error)
		return w->piece.error;
	n = w->piece.len - sizeof(head);
	memcpy(&head, w->piece.data, sizeof(head));
	head.bytes = htole32((uint32_t)n);
	head.checksum = htole64(checksum(le32toh(head.kind), w->piece.data + sizeof(head), n));
	memcpy(w->piece.data, &head, sizeof(head));
	return w->put(w->ctx, w->piece.data, w->piece.len);
}

static void put_u32(struct warp_writer *w, uint32_t v)
{
	v = htole32(v);
	buf_put(&w->piece, &v, sizeof(v));
}

int warp_writer_begin(struct warp_writer *w)
{
	buf_init(&w->piece, sizeof(struct warp_file_piece) + WARP_FILE_PIECE_MOST);
	w->n_names = 1;
	w->process = 0;
	piece_begin(w, WARP_FILE_BEGIN);
	put_u32(w, WARP_FILE_VERSION);
	put_u32(w, 0);
	return piece_end(w);
}

void warp_writer_done(struct warp_writer *w)
{
	buf_done(&w->piece);
}

int warp_writer_lost(struct warp_writer *w, uint64_t n_launches)
{
	n_launches = htole64(n_launches);
	piece_begin(w, WARP_FILE_LOST);
	buf_put(&w->piece, &n_launches, sizeof(n_launches));
	return piece_end(w);
}

static int put_names(struct warp_writer *w, const struct strtab *names)
{
	uint32_t n = MIN(strtab_count(names), WARP_FILE_NAMES_MOST);
	int r;

	if (n <= w->n_names)
		return 0;
	piece_begin(w, WARP_FILE_NAMES);
	put_u32(w, w->n_names);
	put_u32(w, n - w->n_names);
	for (uint32_t i = w->n_names; i < n; i++) {
		put_u32(w, (uint32_t)strtab_len(names, i));
		buf_put(&w->piece, strtab_str(names, i), strtab_len(names, i));
	}
	r = piece_end(w);
	if (r == 0)
		w->n_names = n;
	return r;
}

/* Whose the next launch is, where it is another's than the one before. */
static int put_process(struct warp_writer *w, const struct warp_trace *t, uint32_t process)
{
	struct warp_file_process out = {.rank = (int32_t)htole32((uint32_t)-1)};
	const struct warp_trace_process *p = process ? &t->processes[process - 1] : NULL;

	if (process == w->process)
		return 0;
	if (p)
		out = (struct warp_file_process){.instance = htole64(p->instance),
						 .pid = htole32(p->pid),
						 .rank = (int32_t)htole32((uint32_t)p->rank)};
	w->process = process;
	piece_begin(w, WARP_FILE_PROCESS);
	buf_put(&w->piece, &out, sizeof(out));
	return piece_end(w);
}

static int put_launch(struct warp_writer *w, const struct warp_trace_launch *l)
{
	const struct warp_file_launch out = {
		.kernel = htole32(l->kernel),
		.path = htole32(l->path),
		.launch = htole64(l->launch),
		.device = (int32_t)htole32((uint32_t)l->device),
		.n_block_warps = htole32(l->n_block_warps),
		.start_ns = htole64(l->start_ns),
		.end_ns = htole64(l->end_ns),
		.n_blocks = htole64(l->n_blocks),
		.n_dropped = htole64(l->n_dropped),
		.n_warps = htole64(l->n_warps),
	};

	const struct warp_file_launch_more more = {.symbol = htole32(l->symbol)};

	piece_begin(w, WARP_FILE_LAUNCH);
	buf_put(&w->piece, &out, sizeof(out));
	if (l->symbol)
		buf_put(&w->piece, &more, sizeof(more));
	return piece_end(w);
}

static struct warp_file_scope scope_out(const struct warp_trace_scope *s)
{
	uint64_t cycles = s->leave - s->enter;
	uint32_t name = s->name < WARP_FILE_NAMES_MOST ? s->name : 0;

	if (s->event == WARP_EVENT_VALUE)
		memcpy(&cycles, &s->value, sizeof(cycles));
	return (struct warp_file_scope){
		.enter = htole64(s->enter),
		.cycles = htole64(cycles),
		.parent = htole32(s->parent),
		.name = htole32(name | (uint32_t)s->event << EVENT_SHIFT |
				(s->is_open ? OPEN_BIT : 0)),
	};
}

static void put_warp(struct warp_writer *w, const struct warp_trace *t,
		     const struct warp_trace_warp *warp)
{
	const struct warp_file_warp out = {
		.warp = htole32(warp->warp),
		.multiprocessor = htole32(warp->multiprocessor),
		.block = htole64(warp->block),
		.entered_ns = htole64(warp->entered_ns),
		.left_ns = htole64(warp->left_ns),
		.copied_ns = htole64(warp->copied_ns),
		.entered_clock = htole64(warp->entered_clock),
		.left_clock = htole64(warp->left_clock),
		.n_lost = htole64(warp->n_lost),
		.n_scopes = htole64(warp->n_scopes),
	};
	size_t n = warp->n_scopes * sizeof(struct warp_file_scope);
	char *scopes;

	buf_put(&w->piece, &out, sizeof(out));
	scopes = n ? buf_extend(&w->piece, n) : NULL;
	for (size_t i = 0; scopes && i < warp->n_scopes; i++) {
		struct warp_file_scope s = scope_out(&t->scopes[warp->scopes + i]);

		memcpy(scopes + i * sizeof(s), &s, sizeof(s));
	}
}

int warp_writer_launch(struct warp_writer *w, const struct warp_trace *t, size_t launch)
{
	const struct warp_trace_launch *l = &t->launches[launch];
	int r = put_names(w, t->names);

	if (r == 0)
		r = put_process(w, t, l->process);
	if (r == 0)
		r = put_launch(w, l);
	for (size_t i = 0; r == 0 && i < l->n_warps;) {
		piece_begin(w, WARP_FILE_WARPS);
		while (i < l->n_warps && w->piece.len < WARPS_PIECE && !w->piece.error)
			put_warp(w, t, &t->warps[l->warps + i++]);
		r = piece_end(w);
	}
	return r;
}

/* ---- reading ---- */

struct reader {
	warp_file_fn *read;
	void *ctx;
	struct warp_trace *t;
	struct warp_file_end end;
	struct buf piece;
	uint32_t *names; /* in the trace, by their numbers in the file */
	size_t n_names, cap_names;
	struct warp_trace_scope *scopes;
	size_t cap_scopes;
	uint64_t n_due;   /* warps of the latest launch that are still to come */
	uint32_t process; /* whose the next launches are, in the trace */
	bool has_launch, has_begun;
};

/* What is left of a piece. */
struct cursor {
	const char *at;
	size_t left;
};

static bool cursor_take(struct cursor *c, void *data, size_t n)
{
	if (n > c->left)
		return false;
	memcpy(data, c->at, n);
	c->at += n;
	c->left -= n;
	return true;
}

static bool cursor_u32(struct cursor *c, uint32_t *ret)
{
	if (!cursor_take(c, ret, sizeof(*ret)))
		return false;
	*ret = le32toh(*ret);
	return true;
}

/* Warps that a launch has and that are not in the file. */
static void end_launch(struct reader *r)
{
	if (r->has_launch)
		r->t->launches[r->t->n_launches - 1].n_dropped += r->n_due;
	r->has_launch = false;
	r->n_due = 0;
}

static int on_begin(struct reader *r, struct cursor *c)
{
	uint32_t version;

	if (!cursor_u32(c, &version))
		return -EBADMSG;
	if (version != WARP_FILE_VERSION)
		return -EPROTONOSUPPORT;
	if (ARRAY_ROOM(r->names, r->cap_names, 1) < 0)
		return -ENOMEM;
	end_launch(r);
	r->names[0] = strtab_adds(r->t->names, "");
	r->n_names = 1;
	r->process = 0;
	r->has_begun = true;
	return 0;
}

static int on_process(struct reader *r, struct cursor *c)
{
	struct warp_file_process in;
	struct warp_trace_process p;

	if (!cursor_take(c, &in, sizeof(in)))
		return -EBADMSG;
	p = (struct warp_trace_process){.instance = le64toh(in.instance),
					.pid = le32toh(in.pid),
					.rank = (int32_t)le32toh((uint32_t)in.rank)};
	r->process = 0;
	if (!p.instance && !p.pid && p.rank < 0)
		return 0;
	return warp_trace_process(r->t, &p, &r->process);
}

static int on_names(struct reader *r, struct cursor *c)
{
	uint32_t first, n, len;

	if (!cursor_u32(c, &first) || !cursor_u32(c, &n) || first != r->n_names ||
	    n > c->left / sizeof(len))
		return -EBADMSG;
	if (ARRAY_ROOM(r->names, r->cap_names, r->n_names + n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name;

		if (!cursor_u32(c, &len) || len > c->left)
			return -EBADMSG;
		name = strtab_add(r->t->names, c->at, len);
		if (name == STRTAB_NONE)
			return -ENOMEM;
		r->names[r->n_names++] = name;
		c->at += len;
		c->left -= len;
	}
	return 0;
}

static int on_launch(struct reader *r, struct cursor *c)
{
	struct warp_file_launch_more more = {0};
	struct warp_file_launch in;
	int code;

	if (!cursor_take(c, &in, sizeof(in)) || le32toh(in.kernel) >= r->n_names ||
	    le32toh(in.path) >= r->n_names)
		return -EBADMSG;
	if (cursor_take(c, &more, sizeof(more)) && le32toh(more.symbol) >= r->n_names)
		return -EBADMSG;
	end_launch(r);
	code = warp_trace_add_launch(r->t, &(struct warp_trace_launch){
						   .kernel = r->names[le32toh(in.kernel)],
						   .symbol = r->names[le32toh(more.symbol)],
						   .path = r->names[le32toh(in.path)],
						   .launch = le64toh(in.launch),
						   .device = (int32_t)le32toh((uint32_t)in.device),
						   .process = r->process,
						   .start_ns = le64toh(in.start_ns),
						   .end_ns = le64toh(in.end_ns),
						   .n_blocks = le64toh(in.n_blocks),
						   .n_block_warps = le32toh(in.n_block_warps),
						   .n_dropped = le64toh(in.n_dropped),
					   });
	r->has_launch = code == 0;
	r->n_due = le64toh(in.n_warps);
	return code;
}

static bool scope_in(const struct reader *r, const char *bytes, struct warp_trace_scope *ret)
{
	struct warp_file_scope in;
	uint32_t name;
	uint64_t cycles;

	memcpy(&in, bytes, sizeof(in));
	name = le32toh(in.name);
	cycles = le64toh(in.cycles);
	*ret = (struct warp_trace_scope){
		.enter = le64toh(in.enter),
		.parent = le32toh(in.parent),
		.event = name >> EVENT_SHIFT & 7,
		.is_open = name & OPEN_BIT,
	};
	if ((name & NAME_MASK) >= r->n_names || ret->event > WARP_EVENT_VALUE)
		return false;
	ret->name = r->names[name & NAME_MASK];
	if (ret->event == WARP_EVENT_VALUE)
		memcpy(&ret->value, &cycles, sizeof(cycles));
	ret->leave = ret->enter + (ret->event == WARP_EVENT_VALUE ? 0 : cycles);
	return true;
}

static int take_warp(struct reader *r, struct cursor *c)
{
	struct warp_file_warp in;
	uint64_t n;
	int code;

	if (!r->n_due || !cursor_take(c, &in, sizeof(in)))
		return -EBADMSG;
	n = le64toh(in.n_scopes);
	if (n > c->left / sizeof(struct warp_file_scope))
		return -EBADMSG;
	if (ARRAY_ROOM(r->scopes, r->cap_scopes, n) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		if (!scope_in(r, c->at + i * sizeof(struct warp_file_scope), &r->scopes[i]))
			return -EBADMSG;
	c->at += n * sizeof(struct warp_file_scope);
	c->left -= n * sizeof(struct warp_file_scope);
	code = warp_trace_add_warp(r->t,
				   &(struct warp_trace_warp){
					   .warp = le32toh(in.warp),
					   .multiprocessor = le32toh(in.multiprocessor),
					   .block = le64toh(in.block),
					   .entered_ns = le64toh(in.entered_ns),
					   .left_ns = le64toh(in.left_ns),
					   .copied_ns = le64toh(in.copied_ns),
					   .entered_clock = le64toh(in.entered_clock),
					   .left_clock = le64toh(in.left_clock),
					   .n_lost = le64toh(in.n_lost),
				   },
				   r->scopes, n);
	r->n_due -= code == 0;
	return code == -EINVAL ? -EBADMSG : code;
}

static int on_warps(struct reader *r, struct cursor *c)
{
	int code = 0;

	while (code == 0 && c->left > 0)
		code = take_warp(r, c);
	return code;
}

static int on_lost(struct reader *r, struct cursor *c)
{
	uint64_t n;

	if (!cursor_take(c, &n, sizeof(n)))
		return -EBADMSG;
	r->end.n_lost_launches += le64toh(n);
	r->t->n_left_out += le64toh(n);
	return 0;
}

static const struct {
	enum warp_file_kind kind;
	int (*read)(struct reader *r, struct cursor *c);
} kinds[] = {
	{WARP_FILE_BEGIN, on_begin},     {WARP_FILE_NAMES, on_names}, {WARP_FILE_LAUNCH, on_launch},
	{WARP_FILE_PROCESS, on_process}, {WARP_FILE_WARPS, on_warps}, {WARP_FILE_LOST, on_lost},
};

/* n bytes at the end of the piece. 0, -EBADMSG: there are not so many, or another errno. */
static int take(struct reader *r, size_t n)
{
	while (n > 0) {
		size_t step = MIN(n, READ_STEP);
		char *to = buf_extend(&r->piece, step);
		ssize_t got = to ? r->read(r->ctx, to, step) : -ENOMEM;

		if (got <= 0)
			return got ? (int)got : -EBADMSG;
		r->piece.len -= step - (size_t)got;
		r->end.n_bytes += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int read_piece(struct reader *r, struct warp_file_piece *ret)
{
	int code;

	buf_clear(&r->piece);
	code = take(r, sizeof(*ret));
	if (code < 0)
		return code;
	memcpy(ret, r->piece.data, sizeof(*ret));
	*ret = (struct warp_file_piece){.kind = le32toh(ret->kind),
					.bytes = le32toh(ret->bytes),
					.checksum = le64toh(ret->checksum)};
	if (ret->bytes % WORD || ret->bytes > WARP_FILE_PIECE_MOST ||
	    (!r->has_begun && ret->kind != WARP_FILE_BEGIN))
		return -EBADMSG;
	buf_clear(&r->piece);
	code = take(r, ret->bytes);
	if (code == 0 && checksum(ret->kind, r->piece.data, ret->bytes) != ret->checksum)
		code = -EBADMSG;
	return code;
}

/* Up to the end, or to the first launch. */
static int read_pieces(struct reader *r, bool is_head)
{
	struct warp_file_piece head;
	int code = 0;

	while (!(is_head && r->has_launch) && (code = read_piece(r, &head)) == 0) {
		struct cursor c = {.at = r->piece.data, .left = head.bytes};

		for (size_t i = 0; i < ARRAY_SIZE(kinds) && code == 0; i++)
			if (kinds[i].kind == head.kind)
				code = kinds[i].read(r, &c);
		if (code < 0)
			break;
		r->end.n_whole += sizeof(head) + head.bytes;
	}
	if (code == -EBADMSG && r->has_begun)
		code = 0;
	return code;
}

static void reader_done(struct reader *r)
{
	buf_done(&r->piece);
	free(r->names);
	free(r->scopes);
}

bool warp_file_detect(const void *head, size_t n)
{
	struct warp_file_piece piece = {.kind = 0};

	memcpy(&piece, head, MIN(n, sizeof(piece)));
	return le32toh(piece.kind) == WARP_FILE_BEGIN && le32toh(piece.bytes) == WORD;
}

int warp_file_read(warp_file_fn *read, void *ctx, struct warp_trace *t, struct warp_file_end *ret)
{
	struct reader r = {.read = read, .ctx = ctx, .t = t};
	int code;

	buf_init(&r.piece, 0);
	code = read_pieces(&r, false);
	end_launch(&r);
	reader_done(&r);
	if (code == 0)
		*ret = r.end;
	return code;
}

int warp_file_head(warp_file_fn *read, void *ctx, struct warp_trace *t, uint64_t *ret_n_warps)
{
	struct reader r = {.read = read, .ctx = ctx, .t = t};
	int code;

	buf_init(&r.piece, 0);
	code = read_pieces(&r, true);
	reader_done(&r);
	if (code == 0 && !r.has_launch)
		code = -ENODATA;
	if (code == 0)
		*ret_n_warps = r.n_due;
	return code;
}
