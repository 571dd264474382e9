/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/perfetto_packets.h"

#include "base/util.h"

#define BUFS(p)                                                                                    \
	{                                                                                          \
		&(p)->packet, &(p)->message, &(p)->inner, &(p)->text                               \
	}

void perfetto_packets_init(struct perfetto_packets *p, struct out *out)
{
	struct buf *all[] = BUFS(p);

	p->out = out;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		buf_init(all[i], 0);
}

int perfetto_packets_done(struct perfetto_packets *p, int r)
{
	struct buf *all[] = BUFS(p);

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		r = all[i]->error ? all[i]->error : r;
		buf_done(all[i]);
	}
	return r;
}

void perfetto_packet_begin(struct perfetto_packets *p, uint64_t time_ns)
{
	pb_u64(&p->packet, PACKET_TIMESTAMP, time_ns);
	pb_u64(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	pb_u64(&p->packet, PACKET_FLAGS, STATE_NEEDED);
}

void perfetto_packet_end(struct perfetto_packets *p)
{
	struct buf *head = &p->message;

	buf_clear(head);
	pb_varint(head, TRACE_PACKET << 3 | 2);
	pb_varint(head, p->packet.len);
	out_put_buf(p->out, head);
	out_put_buf(p->out, &p->packet);
	buf_clear(&p->packet);
}

void perfetto_put_track(struct perfetto_packets *p, uint64_t uuid, uint64_t parent)
{
	buf_clear(&p->message);
	pb_u64(&p->message, TRACK_UUID, uuid);
	pb_message(&p->message, TRACK_NAME, &p->text);
	if (parent)
		pb_u64(&p->message, TRACK_PARENT, parent);
	pb_message(&p->packet, PACKET_TRACK, &p->message);
	perfetto_packet_end(p);
	buf_clear(&p->text);
}

void perfetto_intern(struct perfetto_packets *p, unsigned field, uint64_t iid)
{
	buf_clear(&p->inner);
	pb_u64(&p->inner, INTERNED_IID, iid);
	pb_message(&p->inner, INTERNED_TEXT, &p->text);
	pb_message(&p->message, field, &p->inner);
	buf_clear(&p->text);
}

void perfetto_put_start(struct perfetto_packets *p)
{
	pb_u64(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	pb_u64(&p->packet, PACKET_FLAGS, STATE_CLEARED);
	pb_message(&p->packet, PACKET_INTERNED, &p->message);
	perfetto_packet_end(p);
}

void perfetto_put_end(struct perfetto_packets *p, uint64_t uuid, uint64_t end_ns)
{
	perfetto_packet_begin(p, end_ns);
	buf_clear(&p->message);
	pb_u64(&p->message, EVENT_TYPE, SLICE_END);
	pb_u64(&p->message, EVENT_TRACK, uuid);
	pb_message(&p->packet, PACKET_EVENT, &p->message);
	perfetto_packet_end(p);
}
