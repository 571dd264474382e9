/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_PERFETTO_PACKETS_H
#define PROTON_FORMAT_PERFETTO_PACKETS_H
/* TracePackets for Perfetto, in the numbers of its protobuf definitions: what its writers share. A packet, and the message in it, are
 * made in buffers, from the outside in.
 *   threads  one */
#include <stdint.h>
#include "format/out.h"
#include "format/protobuf.h"

/* field numbers of the messages */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	COUNTER_UNIT = 3,
	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_VALUE = 44,
	EVENT_FLOWS = 47,
	EVENT_FLOWS_END = 48,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING_IID = 17,
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ANNOTATIONS = 3,
	INTERNED_STRINGS = 29,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, VALUE = 4 };
enum { UNIT_NONE = 0, UNIT_BYTES = 3 };
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };
enum { SEQUENCE = 1 };

struct perfetto_packets {
	struct out *out;
	struct buf packet, message, inner, text;
};

void perfetto_packets_init(struct perfetto_packets *p, struct out *out);
/* r, or the first error of a buffer. */
int perfetto_packets_done(struct perfetto_packets *p, int r);

/* A packet of an event at a time, of which no more is said yet. */
void perfetto_packet_begin(struct perfetto_packets *p, uint64_t time_ns);
/* What is in p->packet goes out. */
void perfetto_packet_end(struct perfetto_packets *p);
/* p->text is the name of a track below another one (0: none). */
void perfetto_put_track(struct perfetto_packets *p, uint64_t uuid, uint64_t parent);
/* p->text is an entry of the interned data under construction in p->message. */
void perfetto_intern(struct perfetto_packets *p, unsigned field, uint64_t iid);
/* p->message has the interned data with which the state of the sequence begins. */
void perfetto_put_start(struct perfetto_packets *p);
/* The innermost slice of a track ends. */
void perfetto_put_end(struct perfetto_packets *p, uint64_t uuid, uint64_t end_ns);

#endif
