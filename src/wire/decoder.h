/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_DECODER_H
#define PROTON_WIRE_DECODER_H
/* What the parts of the decoder (decode.h) share: a frame is of a kind, and each kind has a handler, by the table in decode.c.
 *
 *     bytes ─> decode.c: frames ─┬─> decode_peer.c      who tells it, strings
 *                                ├─> decode_tree.c      frames, nodes, lanes, epochs
 *                                ├─> decode_values.c    metrics, slots, values, histograms
 *                                ├─> decode_rows.c      rows beside the tree
 *                                ├─> decode_bulk.c      when operations ran
 *                                └─> decode_sessions.c  sessions that programs start
 *
 *   errors  of handlers: 0, -EBADMSG (counted, skipped) or -ENOMEM
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/idindex.h"
#include "core/metric.h"
#include "core/native.h"
#include "wire/decode.h"
#include "wire/idmap.h"
#include "wire/members.h"
#include "wire/run.h"
#include "wire/shared_rows.h"
#include "wire/wire.h"

struct session;
struct told_rows;

/* Bulk files and clocks of an instance: it has one of each a backend. */
#define SEGMENTS_MAX 16
#define CLOCKS_MAX   16

/* Frames of the session that a frame of an instance is below: of a function those that it is inlined in, of an instruction
 * all its lines; outermost first. */
struct inlined {
	uint32_t n, frames[NATIVE_INLINED_MAX];
};

struct texts {
	uint64_t n, bytes;
};

/* One instance of the collector. */
struct peer {
	uint64_t instance, next_seq;
	uint32_t process;
	struct wire_hello hello;
	bool hello_seen;
	bool went_on; /* when all that there is of it was told */
	struct idmap strings, frames, nodes, lanes, metrics, sets, epochs, slots, devices, modules;
	struct idmap inlined;   /* of frames that are below others: an index */
	struct inlined *chains; /* … of these */
	size_t n_chains, cap_chains;
	struct idmap node_of;      /* node of the session: the first of the instance that it is */
	struct shared_rows shared; /* by slots of such nodes */
	struct idmap types; /* of metrics of the session that it declared: what it sends of them */
	uint32_t text_id, text_total; /* the string that is under way */
	struct buf text;
	struct texts texts; /* that it was the first to send */
	uint64_t n_things;  /* that it added to the session */
	unsigned n_moves;   /* of lanes to another device */
	unsigned n_hellos;  /* that told something new */
	struct wire_segment segments[SEGMENTS_MAX];
	uint64_t taken[SEGMENTS_MAX];         /* bytes of each that came as BULK */
	struct wire_clock clocks[CLOCKS_MAX]; /* the newest pair of each */
	unsigned n_segments, n_clocks;
	struct told_session *sessions; /* by id */
	size_t n_sessions, cap_sessions;
	uint32_t n_begun;       /* sessions, of all ids */
	char *session_name;     /* that was told, for the session that is told next … */
	uint32_t its_session;   /* … by this name */
	struct members members; /* epochs are the session's */
};

/* A session that the program started. Ids are used anew, and names are not strings of ours, for a program may start
 * sessions for ever. */
struct told_session {
	struct wire_session w; /* the strings are the session's, state + 1: it is there */
	char *name;            /* NULL: it is a string */
	uint32_t serial;       /* of those that the program began */
};

/* What a program asks for; the format is a string of the session. */
struct told_ask {
	struct peer *peer;
	struct wire_ask ask;
};

struct wire_decoder {
	struct session *s;
	struct peer **peers;
	size_t n_peers, cap_peers;
	struct peer *last;
	struct idindex by_instance;
	uint64_t n_moved_lanes, n_widened;
	struct texts texts;
	uint64_t unfinished; /* bytes of texts that are under way */
	unsigned char *pending;
	size_t n_pending, cap_pending;
	uint64_t frames;
	bool torn;       /* looking for the next magic */
	bool is_tape;    /* only a tape says what was run */
	uint64_t origin; /* of all instances; 0: they are told apart by their number alone */
	bool is_shifted;
	uint64_t shift_ns; /* from their host's CLOCK_MONOTONIC to ours */
	const struct native_namer *namer;
	struct buf scratch;         /* of on_instruction() */
	bool stalled;               /* it had no time … */
	size_t next_entry;          /* … for this entry of a frame of many */
	struct wire_run_reader run; /* … and this is how far it came */
	struct told_ask *asked;
	size_t n_asked, cap_asked;
};

/* What a handler gets: one frame. */
struct message {
	const struct wire_header *header;
	const unsigned char *payload;
	size_t size;
};

/* ---- handlers: of each entry of a frame, or of its payload ---- */

typedef int decode_entry_fn(struct wire_decoder *d, struct peer *p, const void *entry);
typedef int decode_whole_fn(struct wire_decoder *d, struct peer *p, const struct message *m);

decode_whole_fn decode_hello, decode_text; /* decode_peer.c */
decode_entry_fn decode_frame, decode_node, decode_lane, decode_epoch, decode_module,
	decode_symbol; /* decode_tree.c */
decode_entry_fn decode_metric, decode_slot, decode_merge, decode_kernel;
decode_whole_fn decode_set, decode_values, decode_hists, decode_octaves; /* decode_values.c */
decode_entry_fn decode_device, decode_clock_pair, decode_note, decode_sample, decode_use,
	decode_overlap, decode_worked, decode_unrecorded;
decode_whole_fn decode_tick, decode_usage, decode_copy_lanes; /* decode_rows.c */
decode_entry_fn decode_interval;
decode_whole_fn decode_segment, decode_bulk;                             /* decode_bulk.c */
decode_entry_fn decode_session, decode_member, decode_phase, decode_ask; /* decode_sessions.c */

/* A row of a table that the stream tells as it is: what is told of it is what it is now. */
int decode_row(struct wire_decoder *d, struct peer *p, const struct told_rows *t,
	       const void *entry);

/* ---- what they share ---- */

/* Entries with so many items behind each as it says. */
struct many {
	size_t head, item; /* bytes of an entry without them, and of one of them */
	size_t n_at;       /* where in an entry their number stands */
	uint32_t most;     /* that it may be */
	decode_entry_fn *take;
};
#define MANY(type, item_, most_, take_)                                                            \
	{                                                                                          \
		sizeof(struct type), sizeof(item_), offsetof(struct type, n), most_, take_         \
	}

/* All that are whole, whatever becomes of one of them. 0 or the last -errno; what cannot be told from the next one ends it. */
int decode_many(struct wire_decoder *d, struct peer *p, const struct message *m,
		const struct many *of);

/* The instance of this number, made where it is new. */
int decode_peer(struct wire_decoder *d, uint64_t instance, struct peer **ret_peer);
void decode_peer_free(struct peer *p);
/* Which of the nodes of an instance that are one in the session: 0, or another number. */
uint32_t decode_node_part(const struct peer *p, uint32_t node, uint32_t its);
/* The newest pair of a clock; NULL: none was told. */
struct wire_clock *decode_clock(struct peer *p, uint32_t name);

#endif
