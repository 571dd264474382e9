/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/recorder.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "intra/warp_arena.h"
#include "intra/warp_slices.h"

struct piece {
	const char *name, *text;
};
#include "ptx/recorder_ptx.h" /* pieces[], of recorder.ptx */

enum {
	BEFORE_SHARED = 16, /* of a ring: when it began */
	BEFORE_GLOBAL = 32, /* … and which one it is */
	ALIGNED = 1024,
	CHIPS = 192, /* multiprocessors that have rings of their own */
	RINGS_OF_CHIP = 64,
	ID_SHIFT = 11,
};
#define WHOLE (3u << 29)

/* What names in pieces stand for. */
struct names {
	const struct ptx_recorder *r;
	uint32_t number, value; /* value: a scope */
	struct {
		const char *at;
		size_t n;
	} pair; /* what a register of two words is called */
};

static uint32_t ring_bytes(const struct ptx_recorder *r)
{
	return r->options.records * PTX_RECORD_BYTES;
}

static uint32_t before(const struct ptx_recorder *r)
{
	return r->buffer == PTX_BUFFER_GLOBAL ? BEFORE_GLOBAL : BEFORE_SHARED;
}

uint32_t ptx_recorder_shared(const struct ptx_recorder *r)
{
	uint32_t bytes = (r->n_warps + 1) * (BEFORE_SHARED + ring_bytes(r));

	if (r->buffer == PTX_BUFFER_GLOBAL || r->buffer == PTX_BUFFER_NONE)
		return 0;
	return r->is_aligned ? (bytes + ALIGNED - 1) / ALIGNED * ALIGNED : bytes;
}

/* ---- names ---- */

static void put_piece(struct buf *to, const char *name, const struct names *n);

static void put_who(struct buf *to, const struct names *n)
{
	put_piece(to, "who", n);
	if (n->r->options.warps)
		put_piece(to, "who_warps", n);
	if (n->r->options.ctas > 1)
		put_piece(to, "who_blocks", n);
}

/* Of a kernel that has itself alone: the first thread of a warp, and of which warps. */
static void put_first(struct buf *to, const struct names *n)
{
	if (n->r->options.warps || n->r->options.ctas > 1)
		put_who(to, n);
	else
		put_piece(to, "first", n);
}

/* … and which warp that is, where it was not said by that. */
static void put_which(struct buf *to, const struct names *n)
{
	if (!n->r->options.warps && n->r->options.ctas < 2)
		put_piece(to, "who", n);
}

static void put_whole(struct buf *to, const struct names *n)
{
	put_piece(to, "whole", n);
}

static void put_add_part(struct buf *to, const struct names *n)
{
	put_piece(to, "add_part", n);
}

/* A piece that is another one for each buffer. */
static void put_of_buffer(struct buf *to, const char *name, const struct names *n)
{
	static const char *const of[] = {
		[PTX_BUFFER_SHARED] = "", [PTX_BUFFER_GLOBAL] = "", [PTX_BUFFER_NONE] = "_none"};
	char piece[32];

	snprintf(piece, sizeof(piece), "%s%s", name, of[n->r->buffer]);
	put_piece(to, piece, n);
}

static void put_whose(struct buf *to, const struct names *n)
{
	if (n->r->buffer != PTX_BUFFER_NONE)
		put_piece(to, n->r->buffer == PTX_BUFFER_GLOBAL ? "whose_global" : "whose_shared",
			  n);
}

/* With the number of the kernel's own scope. */
static void put_func(struct buf *to, const struct names *n)
{
	const struct names of = {.r = n->r, .number = n->number, .value = n->r->func};

	if (n->r->has_func)
		put_of_buffer(to, "func", &of);
}

static void put_units(struct buf *to, const struct names *n)
{
	const struct names of = {.r = n->r, .number = n->number, .value = n->r->func};

	put_of_buffer(to, "units", &of);
}

static void put_own(struct buf *to, const struct names *n)
{
	put_of_buffer(to, "own", n);
}

static void put_since(struct buf *to, const struct names *n)
{
	put_of_buffer(to, "since", n);
}

static void put_no_room(struct buf *to, const struct names *n)
{
	if (!n->r->is_room_known)
		put_piece(to, "no_room", n);
}

static void put_give_back(struct buf *to, const struct names *n)
{
	if (n->r->buffer == PTX_BUFFER_GLOBAL)
		put_piece(to, "give_back", n);
}

static void put_block(struct buf *to, const struct names *n)
{
	put_piece(to, "block", n);
}

static void put_chosen(struct buf *to, const struct names *n)
{
	put_piece(to, "chosen", n);
}

static void put_add_unit(struct buf *to, const struct names *n)
{
	put_piece(to, "add_unit", n);
}

static void put_pair(struct buf *to, const struct names *n)
{
	buf_put(to, n->pair.at, n->pair.n);
}

static void put_space(struct buf *to, const struct names *n)
{
	buf_puts(to, n->r->buffer == PTX_BUFFER_GLOBAL ? "global" : "shared");
}

static const struct {
	const char *name;
	void (*put)(struct buf *to, const struct names *n);
} parts[] = {
	{"who", put_who},           {"first", put_first},       {"which", put_which},
	{"whole", put_whole},       {"add_part", put_add_part}, {"whose", put_whose},
	{"func", put_func},         {"no_room", put_no_room},   {"give_back", put_give_back},
	{"space", put_space},       {"block", put_block},       {"chosen", put_chosen},
	{"add_unit", put_add_unit}, {"units", put_units},       {"own", put_own},
	{"since", put_since},       {"pair", put_pair},
};

/* What it is behind a name; parts are NULL. */
static uint64_t value_of(const char *name, size_t len, const struct names *n)
{
	const struct ptx_recorder *r = n->r;
	const struct {
		const char *name;
		uint64_t value;
	} values[] = {
		{"kernel", r->kernel},
		{"number", n->number},
		{"clocks", r->n_clocks + 1},
		{"warps", r->n_warps},
		{"selected", r->options.warps},
		{"ctas", r->options.ctas},
		{"cta", r->options.cta},
		{"ring", ring_bytes(r)},
		{"mask", ring_bytes(r) - PTX_RECORD_BYTES},
		{"stride", ring_bytes(r) + before(r)},
		{"before", before(r)},
		{"times", before(r)},
		{"clock", before(r) - 8},
		{"slot", before(r) - 16},
		{"head", WARP_SLICE_HEAD},
		{"lone", WARP_SLICE_LONE},
		{"lone_tag", WARP_SLICE_IS_LONE | r->func << WARP_LONE_WARP_BITS},
		{"lone_weight", WARP_LONE_WEIGHT},
		{"rest", WARP_ROOM - WARP_SLICE_LONE},
		{"room_bits", (uint64_t)__builtin_ctz(WARP_ROOM)},
		{"tag", WHOLE | n->value << ID_SHIFT},
		{"all", WARP_ARENA_ALL},
		{"rings", offsetof(struct warp_arena, head.rings)},
		{"beyond", offsetof(struct warp_arena, head.beyond)},
		{"seats", offsetof(struct warp_arena, seats)},
		{"full", offsetof(struct warp_arena, seats) + offsetof(struct warp_seat, is_full)},
		{"dropped",
		 offsetof(struct warp_arena, seats) + offsetof(struct warp_seat, dropped)},
		{"seat_bytes", sizeof(struct warp_seat)},
		{"seat_mask", WARP_SEATS - 1},
		{"rooms", offsetof(struct warp_arena, rooms)},
		{"ends", offsetof(struct warp_arena, rooms) + offsetof(struct warp_room, end)},
		{"room_bytes", sizeof(struct warp_room)},
		{"room", WARP_ROOM},
		{"offset_mask", WARP_OFFSET_MASK},
		{"tries", WARP_TRIES},
		{"chips", CHIPS},
		{"align", r->is_aligned ? ALIGNED : PTX_RECORD_BYTES},
		{"bytes", r->buffer == PTX_BUFFER_GLOBAL
				  ? CHIPS * RINGS_OF_CHIP * (ring_bytes(r) + before(r))
				  : ptx_recorder_shared(r)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (strlen(values[i].name) == len && !memcmp(values[i].name, name, len))
			return values[i].value;
	return 0;
}

static void put_name(struct buf *to, const char *name, size_t len, const struct names *n)
{
	static const char add[] = "add ";

	if (len > strlen(add) && !memcmp(name, add, strlen(add))) {
		put_piece(to, "add",
			  &(struct names){.r = n->r,
					  .pair = {name + strlen(add), len - strlen(add)}});
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strlen(parts[i].name) == len && !memcmp(parts[i].name, name, len)) {
			parts[i].put(to, n);
			return;
		}
	buf_printf(to, "%" PRIu64, value_of(name, len, n));
}

/* ---- pieces ---- */

static const char *find_piece(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		if (!strcmp(pieces[i].name, name))
			return pieces[i].text;
	return "";
}

static void put_piece(struct buf *to, const char *name, const struct names *n)
{
	const char *at = find_piece(name), *end;

	for (size_t len; *at; at = end + 1) {
		len = strcspn(at, "#");
		buf_put(to, at, len);
		at += len;
		end = *at ? strchr(at + 1, '#') : NULL;
		if (!end)
			return;
		put_name(to, at + 1, (size_t)(end - at - 1), n);
	}
}

void ptx_recorder_module(struct buf *to, uint32_t records, bool has_rings)
{
	const struct ptx_recorder r = {.buffer = PTX_BUFFER_GLOBAL, .options.records = records};
	const struct names n = {.r = &r};

	put_piece(to, "module", &n);
	if (has_rings)
		put_piece(to, "rings", &n);
}

/* Room is taken as it begins: of one that is long, a ring would wait for its end. All warps wait there until they know whether somebody
 * profiles, which those that nobody profiles would feel. */
static bool is_lone(const struct ptx_recorder *r)
{
	return r->options.is_for_run && r->buffer == PTX_BUFFER_NONE && r->is_short;
}

void ptx_recorder_begin(struct buf *to, const struct ptx_recorder *r)
{
	const struct names n = {.r = r};

	static const char *const of[] = {[PTX_BUFFER_SHARED] = "begin_shared",
					 [PTX_BUFFER_GLOBAL] = "begin_global",
					 [PTX_BUFFER_NONE] = "begin_none"};

	put_piece(to, is_lone(r) ? "begin_lone" : of[r->buffer], &n);
}

void ptx_recorder_enter(struct buf *to, const struct ptx_recorder *r, uint32_t clock)
{
	put_piece(to, "enter", &(struct names){.r = r, .number = clock});
}

void ptx_recorder_leave(struct buf *to, const struct ptx_recorder *r, uint32_t clock,
			uint32_t scope)
{
	put_piece(to, r->buffer == PTX_BUFFER_GLOBAL ? "leave_global" : "leave_shared",
		  &(struct names){.r = r, .number = clock, .value = scope});
}

void ptx_recorder_end(struct buf *to, const struct ptx_recorder *r, uint32_t number)
{
	put_piece(to, is_lone(r) ? "end_lone" : "end", &(struct names){.r = r, .number = number});
}

uint32_t ptx_recorder_hash(const char *name)
{
	uint32_t h = UINT32_C(2166136261);

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT32_C(16777619);
	return (h ^ h >> PTX_SCOPE_BITS) & (PTX_SCOPES - 1);
}
