/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/decode.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "core/pc_samples.h"
#include "core/activity.h"
#include "core/native.h"
#include "core/row_tables.h"
#include "core/session.h"
#include "wire/counters.h"
#include "wire/idmap.h"
#include "wire/members.h"
#include "wire/run.h"
#include "wire/sensors.h"
#include "wire/shared_rows.h"
#include "wire/told_rows.h"
#include "wire/wire.h"

/* More instances than a session of any size has; each costs about a kilobyte. */
#define PEERS_MAX 16384
/* Times that a device of an instance may turn out to be another one, and lanes that may be looked
 * at for all of them: each time all are. */
#define MOVES_MAX       1024
#define MOVED_LANES_MAX 100000000
/* Values that may be looked at when metrics turn out to have fractions: each time all are. */
#define WIDENED_MAX 100000000
/* Times that an instance may say hello as somebody else. */
#define HELLOS_MAX 4
/* Texts that nobody sent before, of an instance and of all. A collector keeps 2^18 of 64 MiB together
 * (collect/internal.h); programs of one run mostly say the same ones. */
#define PEER_TEXTS_MAX (1u << 18)
#define PEER_BYTES_MAX (UINT64_C(64) << 20)
#define ALL_TEXTS_MAX  (8 * PEER_TEXTS_MAX)
#define ALL_BYTES_MAX  (4 * PEER_BYTES_MAX)
/* Other things that an instance may add to the session: more than the tables of a collector hold. */
#define PEER_THINGS_MAX (UINT64_C(1) << 21)
/* What the buffer of a finished text keeps. */
#define TEXT_KEEP 4096
/* Bulk files and clocks of an instance: it has one of each a backend. */
#define SEGMENTS_MAX 16
#define CLOCKS_MAX   16
/* Sessions that an instance starts itself: as many as a collector has. */
#define SESSIONS_MAX 4096
/* Questions of all instances that nobody has taken yet. */
#define ASKS_MAX 1024

/* Clocks that differ by less are one. */
#define SAME_CLOCK_NS ((int64_t)NSEC_PER_MSEC)

_Static_assert(IDMAP_NONE == SESSION_NONE, "an id that was never set names nothing");

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
struct asked {
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
	struct asked *asked;
	size_t n_asked, cap_asked;
};

/* What a handler gets: one frame. */
struct message {
	const struct wire_header *header;
	const unsigned char *payload;
	size_t size;
};

static void peer_maps_done(struct peer *p)
{
	struct idmap *maps[] = {&p->strings, &p->frames,  &p->nodes,  &p->lanes,   &p->metrics,
				&p->sets,    &p->epochs,  &p->slots,  &p->devices, &p->modules,
				&p->types,   &p->inlined, &p->node_of};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps); i++)
		idmap_done(maps[i]);
	shared_rows_done(&p->shared);
	free(p->chains);
	members_done(&p->members);
}

static void peer_free(struct peer *p)
{
	size_t i;

	peer_maps_done(p);
	buf_done(&p->text);
	for (i = 0; i < p->n_sessions; i++)
		free(p->sessions[i].name);
	free(p->sessions);
	free(p->session_name);
	free(p);
}

/* What each instance has without saying: "", the root, the whole run, the kernel set. */
static int peer_seed(struct wire_decoder *d, struct peer *p)
{
	static const struct session_lane none = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	struct session_lane lane = none;
	uint32_t i;
	int r = 0;

	p->process = session_process_add(
		d->s, d->origin ? hash_u64(d->origin ^ hash_u64(p->instance)) : p->instance);
	if (p->process == SESSION_NONE)
		return -ENOMEM;
	lane.process = p->process;
	r |= idmap_set(&p->strings, 0, 0) | idmap_set(&p->nodes, 0, SESSION_ROOT);
	r |= idmap_set(&p->epochs, 0, 0) | idmap_set(&p->sets, 0, SET_KERNEL);
	r |= idmap_set(&p->lanes, 0, session_lane_intern(d->s, &lane));
	for (i = 0; i < WIRE_N_METRICS; i++)
		r |= idmap_set(&p->metrics, i, i);
	return r ? -ENOMEM : 0;
}

static int peer_new(struct wire_decoder *d, uint64_t instance, struct peer **ret_peer)
{
	struct peer *p;

	if (d->n_peers >= PEERS_MAX)
		return -EBADMSG;
	if (ARRAY_ROOM(d->peers, d->cap_peers, d->n_peers + 1) < 0)
		return -ENOMEM;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->instance = instance;
	buf_init(&p->text, WIRE_TEXT_MAX);
	if (peer_seed(d, p) < 0 ||
	    idindex_add(&d->by_instance, hash_u64(instance), (uint32_t)d->n_peers) < 0) {
		peer_free(p);
		return -ENOMEM;
	}
	d->peers[d->n_peers++] = d->last = *ret_peer = p;
	return 0;
}

static bool peer_equal(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct wire_decoder *)ctx)->peers[i]->instance == *(const uint64_t *)key;
}

static int peer_get(struct wire_decoder *d, uint64_t instance, struct peer **ret_peer)
{
	uint32_t i;

	*ret_peer = d->last;
	if (d->last && d->last->instance == instance)
		return 0;
	i = idindex_find(&d->by_instance, hash_u64(instance), peer_equal, d, &instance);
	if (i == IDINDEX_NONE)
		return peer_new(d, instance, ret_peer);
	*ret_peer = d->last = d->peers[i];
	return 0;
}

/* ---- handlers: 0, -EBADMSG (counted, skipped) or -ENOMEM ---- */

static void hello_names(struct wire_decoder *d, struct peer *p)
{
	struct session_process *q = &d->s->processes[p->process];
	uint32_t exe = idmap_get(&p->strings, p->hello.exe);
	uint32_t cmdline = idmap_get(&p->strings, p->hello.cmdline);
	uint32_t host = idmap_get(&p->strings, p->hello.host);

	q->exe = exe == SESSION_NONE ? 0 : exe;
	q->cmdline = cmdline == SESSION_NONE ? 0 : cmdline;
	q->host = host == SESSION_NONE ? 0 : host;
}

/* The same pid says hello again: the old instance called exec, or its pid was used again. */
static void hello_replaces(struct wire_decoder *d, const struct peer *p)
{
	size_t i;

	for (i = 0; i < d->n_peers; i++) {
		struct peer *o = d->peers[i];

		if (o != p && o->hello_seen && o->hello.pid == p->hello.pid &&
		    o->hello.rank == p->hello.rank &&
		    d->s->processes[o->process].host == d->s->processes[p->process].host &&
		    d->s->processes[o->process].end == PROCESS_RUNS)
			d->s->processes[o->process].end = PROCESS_ENDED;
	}
}

/* Rows that come in parts have other parts then. */
static void forget_parts(struct session *s, enum table_id id, uint32_t process)
{
	const struct row_table *t = &row_tables[id];

	for (size_t i = 0; row_field(id, FIELD_PART) && i < s->tables[id].n; i++) {
		char *row = (char *)s->tables[id].v + i * t->row_size;

		if (row_names(row, row_field(id, FIELD_PROCESS)) != process)
			continue;
		for (size_t k = 0; k < t->n_fields; k++)
			if (t->fields[k].flags & FIELD_SUMS)
				memset(row + t->fields[k].offset, 0, sizeof(uint64_t));
	}
}

/* It is told anew, by other ids: rows are replaced, and parts of durations would be added to. */
static int forget_ids(struct wire_decoder *d, struct peer *p)
{
	peer_maps_done(p);
	p->strings = p->frames = p->nodes = p->lanes = p->metrics = p->sets = p->epochs = p->slots =
		p->devices = p->modules = p->types = p->inlined = p->node_of = (struct idmap){0};
	p->shared = (struct shared_rows){0};
	p->members = (struct members){0};
	p->chains = NULL;
	p->n_chains = p->cap_chains = 0;
	for (size_t i = 0; i < d->s->n_hists; i++)
		if (d->s->hists[i].process == p->process)
			hist_done(&d->s->hists[i].hist);
	for (unsigned i = 0; i < TABLE_N; i++)
		forget_parts(d->s, (enum table_id)i, p->process);
	return peer_seed(d, p);
}

static int on_hello(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_hello *w = (const void *)m->payload;
	struct session_process *q = &d->s->processes[p->process];
	uint32_t host = q->host;
	bool news;

	if (w->flags & WIRE_HELLO_RETOLD && forget_ids(d, p) < 0)
		return -ENOMEM;
	q = &d->s->processes[p->process];
	news = !p->hello_seen || memcmp(&p->hello, m->payload, sizeof(p->hello)) != 0;
	memcpy(&p->hello, m->payload, sizeof(p->hello));
	p->hello_seen = true;
	q->pid = p->hello.pid;
	q->ppid = p->hello.ppid;
	q->rank = p->hello.rank;
	q->start_ns = p->hello.start_ns;
	if (!d->s->start_ns || q->start_ns < d->s->start_ns)
		d->s->start_ns = q->start_ns;
	hello_names(d, p);
	news = news || q->host != host;
	if (news && p->n_hellos < HELLOS_MAX) {
		p->n_hellos++;
		hello_replaces(d, p);
	}
	return p->hello.version == WIRE_VERSION ? 0 : -EBADMSG;
}

static bool texts_fit(const struct texts *t, size_t len, uint64_t max_n, uint64_t max_bytes)
{
	return t->n < max_n && t->bytes + len <= max_bytes;
}

static void texts_add(struct texts *t, size_t len)
{
	t->n++;
	t->bytes += len;
}

/* The session's id of a text. One too many is counted, once, and called like what else has no place. */
static uint32_t text_intern(struct wire_decoder *d, struct peer *p, const char *text, size_t len)
{
	uint32_t id = strtab_find(d->s->strings, text, len);

	if (id != STRTAB_NONE)
		return id;
	if (!texts_fit(&p->texts, len, PEER_TEXTS_MAX, PEER_BYTES_MAX) ||
	    !texts_fit(&d->texts, len, ALL_TEXTS_MAX, ALL_BYTES_MAX)) {
		id = strtab_adds(d->s->strings, "<other>");
		d->s->losses[LOSS_STRINGS_FULL] += idmap_get(&p->strings, p->text_id) != id;
		return id;
	}
	texts_add(&p->texts, len);
	texts_add(&d->texts, len);
	return strtab_add(d->s->strings, text, len);
}

/* The text that was under way is over, or given up. A long one leaves no room behind. */
static void text_clear(struct wire_decoder *d, struct peer *p)
{
	d->unfinished -= p->text.len;
	if (p->text.cap > TEXT_KEEP)
		buf_done(&p->text);
	else
		buf_clear(&p->text);
}

/* The text that was under way is the name of the session that is told next. */
static int session_named(struct wire_decoder *d, struct peer *p)
{
	char *name = strndup(p->text.len ? (const char *)p->text.data : "", p->text.len);

	text_clear(d, p);
	free(p->session_name);
	p->session_name = name;
	p->its_session = p->text_id;
	return name ? 0 : -ENOMEM;
}

static int on_text(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_text *t = (const void *)m->payload;
	uint32_t id;
	int r;

	if (t->length > m->size - sizeof(*t) || t->total > WIRE_TEXT_MAX)
		return -EBADMSG;
	if (t->offset == 0) {
		text_clear(d, p);
		p->text_id = t->id;
		p->text_total = t->total;
	}
	if (t->id != p->text_id || t->total != p->text_total || t->offset != p->text.len ||
	    t->length > t->total - t->offset || d->unfinished + t->length > PEER_BYTES_MAX)
		return -EBADMSG;
	buf_put(&p->text, m->payload + sizeof(*t), t->length);
	if (p->text.error)
		return -ENOMEM;
	d->unfinished += t->length;
	if (p->text.len < t->total)
		return 0;
	if (t->id & WIRE_STRING_SESSION)
		return session_named(d, p);
	id = text_intern(d, p, p->text.len ? p->text.data : "", p->text.len);
	text_clear(d, p);
	r = id == STRTAB_NONE ? -ENOMEM : idmap_set(&p->strings, t->id, id);
	if (r == 0 && p->hello_seen &&
	    (t->id == p->hello.exe || t->id == p->hello.cmdline || t->id == p->hello.host))
		hello_names(d, p);
	return r;
}

/* A function of compiled code: as told by the namer, with what others that it is told of are inlined in. */
static uint32_t function_frame(struct wire_decoder *d, enum frame_kind kind,
			       const struct native_function *f)
{
	uint32_t text = strtab_adds(d->s->strings, f->text);
	uint32_t file = f->file ? strtab_adds(d->s->strings, f->file) : 0, id;

	if (text == STRTAB_NONE || file == STRTAB_NONE)
		return SESSION_NONE;
	id = session_frame_intern(d->s, kind, text, SESSION_NONE, 0);
	if (id != SESSION_NONE && f->file)
		session_frame_symbol(d->s, id, 0, file, f->line);
	return id;
}

/* Remember what a frame is below: n functions. 0 or -ENOMEM. */
static int chain_add(struct wire_decoder *d, struct peer *p, uint32_t frame, enum frame_kind kind,
		     const struct native_function *f, unsigned n)
{
	struct inlined *c;

	if (!n || idmap_get(&p->inlined, frame) != IDMAP_NONE)
		return 0;
	if (ARRAY_ROOM(p->chains, p->cap_chains, p->n_chains + 1) < 0)
		return -ENOMEM;
	c = &p->chains[p->n_chains];
	for (c->n = 0; c->n < n; c->n++) {
		c->frames[c->n] = function_frame(d, kind, &f[c->n]);
		if (c->frames[c->n] == SESSION_NONE)
			return -ENOMEM;
	}
	return idmap_set(&p->inlined, frame, (uint32_t)p->n_chains++);
}

/* A place in compiled code, with the namer's word for it. */
static int on_place(struct wire_decoder *d, struct peer *p, const struct wire_frame_def *f,
		    const struct session_module *m)
{
	const struct native_place place = {strtab_str(d->s->strings, m->path),
					   strtab_str(d->s->strings, m->build_id), f->offset};
	struct native_function functions[NATIVE_INLINED_MAX];
	unsigned n = d->namer->functions(d->namer->ctx, &place, functions);
	uint32_t id = function_frame(d, FRAME_NATIVE, &functions[n - 1]);

	if (id == SESSION_NONE || chain_add(d, p, f->id, FRAME_NATIVE, functions, n - 1) < 0)
		return -ENOMEM;
	return idmap_set(&p->frames, f->id, id);
}

/* An instruction of a kernel, below its line where that is known. The module is its cubin, "CRC.cubin", with its
 * function for a build id. */
static int on_instruction(struct wire_decoder *d, struct peer *p, const struct wire_frame_def *f,
			  const struct session_module *m)
{
	const struct native_place place = {strtab_str(d->s->strings, m->path),
					   strtab_str(d->s->strings, m->build_id), f->offset};
	struct native_function lines[NATIVE_INLINED_MAX];
	uint32_t string, id;
	unsigned n = 0;

	buf_clear(&d->scratch);
	pc_instruction_put(&d->scratch, f->offset, place.build_id, place.path);
	string = d->scratch.error ? STRTAB_NONE : strtab_adds(d->s->strings, buf_str(&d->scratch));
	id = string == STRTAB_NONE
		     ? SESSION_NONE
		     : session_frame_intern(d->s, FRAME_INSTRUCTION, string, SESSION_NONE, 0);
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (d->namer && d->namer->lines)
		n = d->namer->lines(d->namer->lines_ctx, &place, lines);
	if (chain_add(d, p, f->id, FRAME_LINE, lines, n) < 0)
		return -ENOMEM;
	return idmap_set(&p->frames, f->id, id);
}

static int on_frame(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_frame_def *f = entry;
	uint32_t name, module = SESSION_NONE, id;

	name = idmap_get(&p->strings, f->string);
	if (f->module != WIRE_NONE) {
		module = idmap_get(&p->modules, f->module);
		name = 0;
		if (module == SESSION_NONE)
			return -EBADMSG;
		if (d->namer && f->kind == FRAME_NATIVE)
			return on_place(d, p, f, &d->s->modules[module]);
		if (f->kind == FRAME_INSTRUCTION)
			return on_instruction(d, p, f, &d->s->modules[module]);
	}
	if (name == SESSION_NONE)
		return -EBADMSG;
	id = session_frame_intern(
		d->s, (enum frame_kind)(f->kind < FRAME_N_KINDS ? f->kind : FRAME_FUNCTION), name,
		module, f->offset);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->frames, f->id, id);
}

/* The node below which a frame is that is inlined into others: theirs. */
static uint32_t outer_nodes(struct wire_decoder *d, const struct peer *p, uint32_t parent,
			    uint32_t frame)
{
	uint32_t chain = idmap_get(&p->inlined, frame);

	for (uint32_t i = 0;
	     chain != IDMAP_NONE && i < p->chains[chain].n && parent != SESSION_NONE; i++)
		parent = session_node_intern(d->s, parent, p->chains[chain].frames[i]);
	return parent;
}

/* Which of the nodes of an instance that are one in the session: 0, or another number. */
static uint32_t node_part(const struct peer *p, uint32_t node, uint32_t its)
{
	uint32_t first = idmap_get(&p->node_of, node);

	return first == its || first == IDMAP_NONE ? 0 : its + 1;
}

static int on_node(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_node_def *n = entry;
	uint32_t parent = idmap_get(&p->nodes, n->parent), frame = idmap_get(&p->frames, n->frame);
	uint32_t id;

	if (parent == SESSION_NONE || frame == SESSION_NONE || n->id == 0)
		return -EBADMSG;
	parent = outer_nodes(d, p, parent, n->frame);
	id = parent == SESSION_NONE ? parent : session_node_intern(d->s, parent, frame);
	if (id == SESSION_NONE || idmap_set(&p->nodes, n->id, id) < 0)
		return -ENOMEM;
	return idmap_get(&p->node_of, id) == IDMAP_NONE ? idmap_set(&p->node_of, id, n->id) : 0;
}

static int on_lane(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_lane_def *l = entry;
	struct session_lane lane = {p->process, SESSION_NONE, l->context, l->stream, l->thread};
	uint32_t id;

	if (l->device != WIRE_NONE) {
		lane.device = idmap_get(&p->devices, l->device);
		if (lane.device == SESSION_NONE)
			return -EBADMSG;
	}
	id = session_lane_intern(d->s, &lane);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->lanes, l->id, id);
}

/* What this instance sends of a metric; of one that it never declared, what the session has. */
static enum metric_type sent_type(const struct wire_decoder *d, const struct peer *p, uint32_t id)
{
	uint32_t type = idmap_get(&p->types, id);

	return type == IDMAP_NONE ? metric_table_get(d->s->metrics, id)->type
				  : (enum metric_type)type;
}

/* Instances agree on a metric by its name, and each may send numbers of its own type, which are
 * converted as they come. A text is no number: it is an error, but *ret_id is set, so that the rest
 * of a set can be read. Two types from one instance could not be told apart. */
static int metric_join(struct wire_decoder *d, struct peer *p, const struct metric *m,
		       uint32_t *ret_id)
{
	uint32_t id, known;

	if (session_metric_widens(d->s, m)) {
		d->n_widened += d->s->n_values + d->s->n_rows;
		if (d->n_widened > WIDENED_MAX)
			return -EBADMSG;
	}
	id = session_metric_add(d->s, m);
	if (id == METRIC_NONE)
		return -ENOMEM;
	known = idmap_get(&p->types, id);
	if (known != IDMAP_NONE && known != m->type)
		return -EBADMSG;
	if (idmap_set(&p->types, id, m->type) < 0)
		return -ENOMEM;
	*ret_id = id;
	return (metric_table_get(d->s->metrics, id)->type == METRIC_TEXT) ==
			       (m->type == METRIC_TEXT)
		       ? 0
		       : -EBADMSG;
}

static int on_metric(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_metric_def *w = entry;
	struct metric m;
	uint32_t id = METRIC_NONE, name, unit;
	int r;

	name = idmap_get(&p->strings, w->name);
	unit = idmap_get(&p->strings, w->unit);
	if (name == SESSION_NONE || unit == SESSION_NONE || w->type > METRIC_TEXT ||
	    w->scope > METRIC_PROPERTY || w->add > METRIC_WMEAN)
		return -EBADMSG;
	m = (struct metric){strtab_str(d->s->strings, name),
			    strtab_str(d->s->strings, unit),
			    w->type,
			    w->scope,
			    w->rule && w->rule < METRIC_N_ADDS ? w->rule : w->add,
			    METRIC_NONE};
	if (w->weight != WIRE_NONE)
		m.weight = idmap_get(&p->metrics, w->weight);
	r = metric_join(d, p, &m, &id);
	d->s->generation++;
	if (id != METRIC_NONE && idmap_set(&p->metrics, w->id, id) < 0)
		return -ENOMEM;
	return r;
}

/* A few: WIRE_SET has 64 at most. */
static bool is_among(uint32_t metric, const uint32_t *metrics, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && metrics[i] != metric; i++)
		;
	return i < n;
}

static int on_set(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_set_def *w = (const void *)m->payload;
	uint32_t metrics[64], i, id;

	if (w->n > ARRAY_SIZE(metrics) || w->n * sizeof(uint32_t) > m->size - sizeof(*w) ||
	    w->id == 0)
		return -EBADMSG;
	memcpy(metrics, m->payload + sizeof(*w), w->n * sizeof(uint32_t));
	for (i = 0; i < w->n; i++) {
		metrics[i] = idmap_get(&p->metrics, metrics[i]);
		if (metrics[i] == SESSION_NONE || is_among(metrics[i], metrics, i))
			return -EBADMSG;
	}
	id = session_set_intern(d->s, metrics, w->n);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->sets, w->id, id);
}

static int on_epoch(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_epoch_def *w = entry;
	const struct session_epoch e = {idmap_get(&p->strings, w->name), w->index, w->phase};
	uint32_t id;

	if (e.name == SESSION_NONE)
		return -EBADMSG;
	id = session_epoch_intern(d->s, &e);
	if (id == SESSION_NONE)
		return -ENOMEM;
	members_clear(&p->members, id); /* it may be another one now */
	return idmap_set(&p->epochs, w->id, id);
}

static int on_slot(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_slot_def *w = entry;
	uint32_t node = idmap_get(&p->nodes, w->node), lane = idmap_get(&p->lanes, w->lane);
	uint32_t epoch = idmap_get(&p->epochs, w->epoch), set = idmap_get(&p->sets, w->set), row;

	if (node == SESSION_NONE || lane == SESSION_NONE || epoch == SESSION_NONE ||
	    set == SESSION_NONE)
		return -EBADMSG;
	row = session_row_intern(d->s, node, lane, epoch, set);
	if (row == SESSION_NONE || shared_rows_claim(&p->shared, d->s, w->id, row) < 0)
		return -ENOMEM;
	return idmap_set(&p->slots, w->id, row);
}

/* Where the values of a merged slot go must be of the same kind. */
static int on_merge(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_merge *w = entry;
	uint32_t from = idmap_get(&p->slots, w->from), into = idmap_get(&p->slots, w->into);

	if (from == SESSION_NONE || from == into)
		return -EBADMSG;
	if (w->into != WIRE_NONE &&
	    (into == SESSION_NONE || d->s->rows[from].set != d->s->rows[into].set))
		return -EBADMSG;
	shared_rows_merge(&p->shared, d->s, w->from, from, w->into, into);
	return 0;
}

static int on_kernel(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_kernel_values *w = entry;
	const uint64_t v[] = {w->time_ns, w->count, w->min_ns, w->max_ns};
	uint32_t row = idmap_get(&p->slots, w->slot), i;

	if (row == SESSION_NONE || d->s->rows[row].set != SET_KERNEL)
		return -EBADMSG;
	for (i = 0; i < ARRAY_SIZE(v); i++)
		shared_rows_set(&p->shared, d->s, w->slot, row, i,
				(union metric_value){.u64 = v[i]});
	return 0;
}

/* A value as the session has its metric. 1, 0: it cannot have it (on_metric() has counted that), or
 * -EBADMSG. */
static int value_take(const struct wire_decoder *d, const struct peer *p, uint32_t metric,
		      union metric_value *v)
{
	enum metric_type type = metric_table_get(d->s->metrics, metric)->type;
	enum metric_type sent = sent_type(d, p, metric);

	if ((type == METRIC_TEXT) != (sent == METRIC_TEXT))
		return 0;
	if (type != METRIC_TEXT)
		return metric_convert(sent, type, v) ? 1 : -EBADMSG;
	v->text = idmap_get(&p->strings, (uint32_t)v->u64);
	return v->text == SESSION_NONE ? -EBADMSG : 1;
}

static int values_row(struct wire_decoder *d, struct peer *p, const struct wire_values *w)
{
	const uint64_t *values = (const uint64_t *)(w + 1);
	uint32_t row = idmap_get(&p->slots, w->slot), i;
	const struct session_set *set;
	union metric_value v;
	int r = 0, one;

	if (row == SESSION_NONE)
		return -EBADMSG;
	set = &d->s->sets[d->s->rows[row].set];
	if (set->n != w->n)
		return -EBADMSG;
	for (i = 0; i < w->n; i++) {
		if (!(w->present >> i & 1))
			continue;
		v.u64 = values[i];
		one = value_take(d, p, set->metrics[i], &v);
		if (one < 0)
			r = one;
		else if (one)
			shared_rows_set(&p->shared, d->s, w->slot, row, i, v);
	}
	return r;
}

static int on_values(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const unsigned char *at = m->payload, *end = at + m->size;
	const struct wire_values *w;
	int r = 0, one;

	for (; (size_t)(end - at) >= sizeof(*w); at += sizeof(*w) + w->n * sizeof(uint64_t)) {
		w = (const void *)at;
		if (w->n > 64 || w->n * sizeof(uint64_t) > (size_t)(end - at) - sizeof(*w))
			return -EBADMSG;
		one = values_row(d, p, w);
		r = one ? one : r;
	}
	return r;
}

static int hist_one(struct wire_decoder *d, struct peer *p, const struct wire_hist *w)
{
	uint32_t node = idmap_get(&p->nodes, w->node);
	uint32_t device = idmap_get(&p->devices, w->device);
	const struct wire_bucket *b = (const struct wire_bucket *)(w + 1);
	struct hist *h;
	int r = 0;

	if (node == SESSION_NONE || device == SESSION_NONE)
		return -EBADMSG;
	h = session_hist_part(d->s, node, device, p->process, node_part(p, node, w->node));
	if (!h)
		return -ENOMEM;
	hist_done(h);
	for (uint32_t i = 0; r == 0 && i < w->n; i++)
		r = b[i].bucket < HIST_OLD_BUCKETS ? hist_count_old(h, b[i].bucket, b[i].count)
						   : -EBADMSG;
	return r;
}

static int on_hists(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const unsigned char *at = m->payload, *end = at + m->size;
	const struct wire_hist *w;
	int r = 0, one;

	for (; (size_t)(end - at) >= sizeof(*w);
	     at += sizeof(*w) + w->n * sizeof(struct wire_bucket)) {
		w = (const void *)at;
		if (w->n > HIST_OLD_BUCKETS ||
		    w->n * sizeof(struct wire_bucket) > (size_t)(end - at) - sizeof(*w))
			return -EBADMSG;
		one = hist_one(d, p, w);
		r = one ? one : r;
	}
	return r;
}

static int octave_one(struct wire_decoder *d, struct peer *p, const struct wire_octave *w)
{
	uint32_t node = idmap_get(&p->nodes, w->node);
	uint32_t device = idmap_get(&p->devices, w->device), n[HIST_WIDTH] = {0};
	struct hist *h;

	if (node == SESSION_NONE || device == SESSION_NONE || w->octave >= HIST_OCTAVES)
		return -EBADMSG;
	h = session_hist_part(d->s, node, device, p->process, node_part(p, node, w->node));
	if (!h)
		return -ENOMEM;
	memcpy(n + w->first, w + 1, w->n * sizeof(*n));
	return hist_put(h, w->octave, n);
}

static int on_octaves(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const unsigned char *at = m->payload, *end = at + m->size;
	const struct wire_octave *w;
	int r = 0, one;

	for (; (size_t)(end - at) >= sizeof(*w); at += sizeof(*w) + w->n * sizeof(uint32_t)) {
		w = (const void *)at;
		if (w->first > HIST_WIDTH || w->n > (uint32_t)HIST_WIDTH - w->first ||
		    w->n * sizeof(uint32_t) > (size_t)(end - at) - sizeof(*w))
			return -EBADMSG;
		one = octave_one(d, p, w);
		r = one ? one : r;
	}
	return r;
}

/* Ids of the stream become those of the session. */
static int name_row(struct peer *p, enum table_id id, union any_row *row)
{
	static const size_t maps[FIELD_N] = {
		[FIELD_STRING] = offsetof(struct peer, strings),
		[FIELD_NODE] = offsetof(struct peer, nodes),
		[FIELD_LANE] = offsetof(struct peer, lanes),
		[FIELD_EPOCH] = offsetof(struct peer, epochs),
		[FIELD_DEVICE] = offsetof(struct peer, devices),
		[FIELD_METRIC] = offsetof(struct peer, metrics),
	};
	const struct row_table *t = &row_tables[id];
	const struct field *part = row_field(id, FIELD_PART);

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];
		uint32_t its = *row_id(row, f), to;

		if (!maps[f->type])
			continue;
		to = idmap_get((struct idmap *)(void *)((char *)p + maps[f->type]), its);
		if (to == SESSION_NONE)
			return -EBADMSG;
		*row_id(row, f) = to;
		if (f->type == FIELD_NODE && part)
			*row_id(row, part) = node_part(p, to, its);
	}
	return 0;
}

/* What is told of a row is what it is now. */
static int on_row(struct wire_decoder *d, struct peer *p, const struct told_rows *t,
		  const void *entry)
{
	const struct row_table *table = &row_tables[t->table];
	union any_row row;
	void *known;
	int r;

	told_row(t, entry, &row);
	r = name_row(p, t->table, &row);
	if (r < 0)
		return r;
	*row_id(&row, row_field(t->table, FIELD_PROCESS)) = p->process;
	if (!table->key_size)
		return session_table_add(d->s, t->table, &row);
	known = session_table_row(d->s, t->table, &row);
	if (!known)
		return -ENOMEM;
	memcpy(known, &row, table->row_size);
	return 0;
}

static int on_device(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_device *w = entry;
	const struct session_device s = {
		.type = idmap_get(&p->strings, w->type),
		.name = idmap_get(&p->strings, w->name),
		.arch = idmap_get(&p->strings, w->arch),
		.uuid = idmap_get(&p->strings, w->uuid),
		.driver = idmap_get(&p->strings, w->driver),
		.host = d->s->processes[p->process].host,
		.index = w->index,
		.num_sms = w->num_sms,
		.clock_khz = w->clock_khz,
		.memory_clock_khz = w->memory_clock_khz,
		.bus_width_bits = w->bus_width_bits,
		.memory_bytes = w->memory_bytes,
	};
	uint32_t id, before = idmap_get(&p->devices, w->id);

	if (s.type == SESSION_NONE || s.name == SESSION_NONE || s.arch == SESSION_NONE ||
	    s.uuid == SESSION_NONE || s.driver == SESSION_NONE)
		return -EBADMSG;
	id = session_device_intern(d->s, &s);
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (before != SESSION_NONE && before != id) {
		d->n_moved_lanes += d->s->n_lanes;
		if (p->n_moves++ >= MOVES_MAX || d->n_moved_lanes > MOVED_LANES_MAX)
			return -EBADMSG;
		session_lanes_move(d->s, p->process, before, id);
	}
	return idmap_set(&p->devices, w->id, id);
}

static int on_module(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_module_def *w = entry;
	const struct session_module m = {idmap_get(&p->strings, w->build_id),
					 idmap_get(&p->strings, w->path), w->base, w->size};
	uint32_t id;

	if (m.build_id == SESSION_NONE || m.path == SESSION_NONE)
		return -EBADMSG;
	id = session_module_intern(d->s, &m);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->modules, w->id, id);
}

static int on_symbol(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_symbol *w = entry;
	uint32_t frame = idmap_get(&p->frames, w->frame), name = idmap_get(&p->strings, w->name);
	uint32_t file = idmap_get(&p->strings, w->file);

	if (frame == SESSION_NONE || name == SESSION_NONE || file == SESSION_NONE)
		return -EBADMSG;
	session_frame_symbol(d->s, frame, name, file, w->line);
	return 0;
}

static struct wire_clock *clock_find(struct peer *p, uint32_t name)
{
	unsigned i;

	for (i = 0; i < p->n_clocks; i++)
		if (p->clocks[i].name == name)
			return &p->clocks[i];
	return NULL;
}

/* A pair that was known already (a resync) says nothing new. */
static int on_clock(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_clock *w = entry;
	const struct session_clock c = {p->process, idmap_get(&p->strings, w->name),
					w->monotonic_ns + d->shift_ns, w->clock_ns};
	struct wire_clock *known = clock_find(p, w->name);

	if (c.name == SESSION_NONE)
		return -EBADMSG;
	if (known && known->monotonic_ns == w->monotonic_ns && known->clock_ns == w->clock_ns)
		return 0;
	if (!known && p->n_clocks == CLOCKS_MAX)
		return -EBADMSG;
	*(known ? known : &p->clocks[p->n_clocks++]) = *w;
	return session_clock_add(d->s, &c);
}

/* What only a newer version counts is a loss all the same. Its number grows from tick to tick, and a
 * note stays as it is: that has none. */
static int note_newer_losses(struct wire_decoder *d, const uint64_t *losses, uint32_t n)
{
	for (uint32_t i = LOSS_N; i < n; i++)
		if (losses[i])
			return session_note(d->s, SESSION_NONE, NOTE_WARNING,
					    LOSS_NEWER "of further kinds");
	return 0;
}

static int on_tick(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_tick *t = (const void *)m->payload;
	const uint64_t *losses = (const void *)(t + 1);
	struct session_process *q = &d->s->processes[p->process];

	if (t->n_losses > (m->size - sizeof(*t)) / sizeof(uint64_t))
		return -EBADMSG;
	q->n_launches = t->n_launches;
	q->n_records = t->n_records;
	q->oldest_ns = t->oldest_ns;
	q->own_cpu_ns = t->own_cpu_ns;
	q->own_bytes = t->own_bytes;
	q->buffer_bytes = t->buffer_bytes;
	q->launches_counted = t->flags & WIRE_TICK_COUNTED;
	q->paused = t->flags & WIRE_TICK_PAUSED;
	memcpy(q->losses, losses, MIN(t->n_losses, (uint32_t)LOSS_N) * sizeof(*losses));
	d->s->generation++;
	return note_newer_losses(d, losses, t->n_losses);
}

static int on_note(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_note *w = entry;
	uint32_t text = idmap_get(&p->strings, w->text);

	if (text == SESSION_NONE || w->level > NOTE_ERROR)
		return -EBADMSG;
	return session_note(d->s, p->process, (enum note_level)w->level,
			    strtab_str(d->s->strings, text));
}

static int on_sample(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_sample *w = entry;
	const struct session_sample s = {w->time_ns + d->shift_ns,
					 idmap_get(&p->devices, w->device),
					 idmap_get(&p->metrics, w->metric), w->value, p->process};

	if (s.device == SESSION_NONE || s.metric == SESSION_NONE)
		return -EBADMSG;
	return session_sample_add(d->s, &s);
}

/* One entry; offset_ns turns its clock into CLOCK_MONOTONIC. */
static int interval_put(struct wire_decoder *d, struct peer *p, const struct wire_interval *w,
			uint64_t offset_ns, uint32_t epoch, uint32_t latency_ns)
{
	const struct session_interval s = {
		.start_ns = w->start_ns + offset_ns,
		.end_ns = w->end_ns + offset_ns,
		.node = idmap_get(&p->nodes, w->node),
		.lane = idmap_get(&p->lanes, w->lane),
		.epoch = idmap_get(&p->epochs, epoch),
		.latency_ns = latency_ns,
	};

	if (s.epoch == SESSION_NONE || s.node == SESSION_NONE || s.lane == SESSION_NONE)
		return -EBADMSG;
	return session_interval_add(d->s, &s);
}

static int interval_add(struct wire_decoder *d, struct peer *p, const void *entry,
			uint64_t offset_ns)
{
	return interval_put(d, p, entry, offset_ns, 0, 0);
}

static int epoch_interval_add(struct wire_decoder *d, struct peer *p, const void *entry,
			      uint64_t offset_ns)
{
	const struct wire_epoch_interval *w = entry;

	return interval_put(d, p, &w->of, offset_ns, w->epoch, w->latency_ns);
}

static int on_interval(struct wire_decoder *d, struct peer *p, const void *entry)
{
	return interval_add(d, p, entry, d->shift_ns);
}

/* n numbers of a device's use from `first` on. A part that is larger than its whole says nothing. */
static int use_put(struct wire_decoder *d, struct peer *p, uint32_t id, unsigned first,
		   const uint64_t *v, unsigned n)
{
	uint32_t device = idmap_get(&p->devices, id);
	struct session_use *use;

	if (device == SESSION_NONE)
		return -EBADMSG;
	for (unsigned i = 0; i < n; i++) {
		unsigned whole = use_at_most[first + i] - first; /* before `first`: it is large */

		if (whole < n && v[i] > v[whole])
			return -EBADMSG;
	}
	use = session_use_of(d->s, p->process, device);
	if (!use)
		return -ENOMEM;
	memcpy(use->v + first, v, n * sizeof(*v));
	return 0;
}

static int on_usage(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const unsigned char *at = m->payload, *end = at + m->size;
	const struct wire_usage *w;
	int r = 0, one;

	for (; (size_t)(end - at) >= sizeof(*w); at += sizeof(*w) + w->n * sizeof(uint64_t)) {
		w = (const void *)at;
		if (w->n > ((size_t)(end - at) - sizeof(*w)) / sizeof(uint64_t))
			return -EBADMSG;
		/* More of them are from the future. */
		one = use_put(d, p, w->device, 0, (const void *)(w + 1), MIN(w->n, USE_N));
		r = one ? one : r;
	}
	return r;
}

static int on_use(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_use *w = entry;

	return use_put(d, p, w->device, USE_busy_ns, &w->busy_ns, 1);
}

static int on_overlap(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_overlap *w = entry;
	const uint64_t v[] = {w->copies_ns, w->hidden_ns};

	return use_put(d, p, w->device, USE_copies_ns, v, ARRAY_SIZE(v));
}

static int on_worked(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_worked *w = entry;
	const uint64_t v[] = {w->first_ns, w->last_ns};

	return use_put(d, p, w->device, USE_first_ns, v, ARRAY_SIZE(v));
}

static int copy_lane_put(struct wire_decoder *d, struct peer *p, const struct wire_copy_lane *w)
{
	const struct session_copy_lane of = {.process = p->process,
					     .device = idmap_get(&p->devices, w->device),
					     .context = w->context,
					     .stream = w->stream,
					     .channel = w->channel,
					     .direction = w->direction,
					     .channel_kind = w->channel_kind};
	struct session_copy_lane *lane;

	if (of.device == SESSION_NONE || of.direction >= COPY_N_DIRECTIONS ||
	    of.channel_kind >= CHANNEL_N_KINDS)
		return -EBADMSG;
	lane = session_copy_lane_of(d->s, &of);
	if (!lane)
		return -ENOMEM;
	memcpy(lane->v, w + 1, MIN(w->n, COPY_LANE_N) * sizeof(*lane->v));
	return 0;
}

static int on_copy_lanes(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const unsigned char *at = m->payload, *end = at + m->size;
	const struct wire_copy_lane *w;
	int r = 0, one;

	for (; (size_t)(end - at) >= sizeof(*w); at += sizeof(*w) + w->n * sizeof(uint64_t)) {
		w = (const void *)at;
		if (w->n > ((size_t)(end - at) - sizeof(*w)) / sizeof(uint64_t))
			return -EBADMSG;
		one = copy_lane_put(d, p, w);
		r = one ? one : r;
	}
	return r;
}

static int on_unrecorded(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_unrecorded *w = entry;
	const struct session_unrecorded span = {
		.process = p->process,
		.number = w->number,
		.reason = w->reason < UNRECORDED_N ? (uint8_t)w->reason : UNRECORDED_UNKNOWN,
		.start_ns = w->start_ns ? w->start_ns + d->shift_ns : 0,
		.end_ns = w->end_ns ? w->end_ns + d->shift_ns : 0,
	};
	int r = session_unrecorded_set(d->s, &span);

	return r == -EINVAL ? -EBADMSG : r;
}

static unsigned segment_find(const struct peer *p, uint32_t id)
{
	unsigned i;

	for (i = 0; i < p->n_segments && p->segments[i].id != id; i++)
		;
	return i;
}

/* A file that grows stays what it is: pieces that were taken were cut by its kind. */
static int on_segment(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_segment *w = (const void *)m->payload;
	unsigned i;

	i = segment_find(p, w->id);
	if (i == SEGMENTS_MAX || idmap_get(&p->strings, w->path) == SESSION_NONE)
		return -EBADMSG;
	if (i < p->n_segments && (p->segments[i].kind != w->kind || p->segments[i].path != w->path))
		return -EBADMSG;
	p->n_segments = MAX(p->n_segments, i + 1);
	p->segments[i] = *w;
	return 0;
}

/* What a segment is made of. Of kinds that the session has no place for only the bytes count. */
struct segment_kind {
	size_t entry; /* bytes; whoever cuts a segment cuts between two */
	int (*add)(struct wire_decoder *d, struct peer *p, const void *entry, uint64_t offset_ns);
	enum loss lost; /* what an entry is that could not be read */
};

static const struct segment_kind *segment_kind(uint32_t kind)
{
	static const struct segment_kind
		bytes = {1, NULL, 0},
		kinds[] = {
			[WIRE_SEGMENT_INTERVALS] = {sizeof(struct wire_interval), interval_add,
						    LOSS_TRACE_UNREAD},
			[WIRE_SEGMENT_EPOCHS] = {sizeof(struct wire_epoch_interval),
						 epoch_interval_add, LOSS_TRACE_UNREAD},
		};

	return kind < ARRAY_SIZE(kinds) && kinds[kind].entry ? &kinds[kind] : &bytes;
}

/* Entries that are not in the session, as far as these bytes of a segment held any. */
static void lose_bytes(struct wire_decoder *d, const struct segment_kind *k, uint64_t bytes)
{
	if (k->add)
		d->s->losses[k->lost] += bytes / k->entry + (bytes % k->entry > 0);
}

/* Each entry that names what was never defined is one less, and the others are good. */
static int take_entries(struct wire_decoder *d, struct peer *p, const struct wire_segment *g,
			const unsigned char *data, uint32_t n)
{
	const struct segment_kind *k = segment_kind(g->kind);
	struct wire_clock *clock = clock_find(p, g->clock);
	uint64_t offset_ns = d->shift_ns + (clock ? clock->monotonic_ns - clock->clock_ns : 0);
	uint32_t at;
	int r = 0;

	for (at = 0; at < n && r != -ENOMEM; at += (uint32_t)k->entry) {
		r = k->add(d, p, data + at, offset_ns);
		if (r == -EBADMSG)
			lose_bytes(d, k, k->entry);
	}
	return r == -ENOMEM ? r : 0;
}

/* Whole entries of a segment. What is not whole, or begins within one, would be read as something
 * else: it is left out. */
static int on_bulk(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_bulk *w = (const void *)m->payload;
	const struct segment_kind *k;
	const struct wire_segment *g;
	uint64_t missed;
	unsigned i;

	i = segment_find(p, w->segment);
	if (i == p->n_segments || w->length > m->size - sizeof(*w))
		return -EBADMSG;
	g = &p->segments[i];
	if (w->offset > g->size || w->length > g->size - w->offset)
		return -EBADMSG;
	if (w->offset < p->taken[i])
		return 0;
	missed = w->offset - p->taken[i];
	p->taken[i] = w->offset + w->length;
	k = segment_kind(g->kind);
	lose_bytes(d, k, missed);
	if (w->offset % k->entry || w->length % k->entry) {
		lose_bytes(d, k, w->length);
		return 0;
	}
	return k->add ? take_entries(d, p, g, m->payload + sizeof(*w), w->length) : 0;
}

/* The state of one that was not sent is 0, of others theirs + 1, and whether its end was seen to. */
#define SESSION_TAKEN UINT32_C(0x80000000)

/* Its name, if that is told with it: in *ret_name, to be freed, when it is another one than it had. False: there is
 * none. */
static bool session_name(struct peer *p, const struct wire_session *w, char **ret_name)
{
	const char *had = p->sessions[w->id].name;

	*ret_name = NULL;
	if (!(w->name & WIRE_STRING_SESSION))
		return true;
	if (!p->session_name || p->its_session != w->name)
		return had;
	if (!had || strcmp(had, p->session_name) != 0) {
		*ret_name = p->session_name;
		p->session_name = NULL;
	}
	return true;
}

/* The place of a session, made where it is not there. 0 or -ENOMEM. */
static int session_room(struct peer *p, uint32_t id)
{
	if (ARRAY_ROOM(p->sessions, p->cap_sessions, id + 1) < 0)
		return -ENOMEM;
	for (; p->n_sessions <= id; p->n_sessions++)
		p->sessions[p->n_sessions] =
			(struct told_session){.w = {.id = (uint32_t)p->n_sessions}};
	return 0;
}

static int on_session(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_session *w = entry;
	bool own_name = w->name & WIRE_STRING_SESSION, is_new;
	struct wire_session s = {w->id,
				 w->state + 1,
				 own_name ? 0 : idmap_get(&p->strings, w->name),
				 idmap_get(&p->strings, w->context),
				 idmap_get(&p->strings, w->device_type),
				 idmap_get(&p->strings, w->format)};
	struct told_session *t;
	char *name;

	if (w->id >= SESSIONS_MAX || w->state > WIRE_SESSION_FINALIZED || s.name == SESSION_NONE ||
	    s.context == SESSION_NONE || s.device_type == SESSION_NONE || s.format == SESSION_NONE)
		return -EBADMSG;
	if (session_room(p, w->id) < 0)
		return -ENOMEM;
	if (!session_name(p, w, &name))
		return -EBADMSG;
	t = &p->sessions[w->id];
	is_new = !t->w.state || name ||
		 ((t->w.state & ~SESSION_TAKEN) == WIRE_SESSION_FINALIZED + 1 &&
		  w->state != WIRE_SESSION_FINALIZED);
	if (is_new)
		t->serial = p->n_begun++;
	else
		s.state |= t->w.state & SESSION_TAKEN;
	if (name) {
		free(t->name);
		t->name = name;
	}
	t->w = s;
	d->s->generation++;
	return 0;
}

static int member_add(struct peer *p, uint32_t its_epoch, uint32_t session, uint32_t phase)
{
	uint32_t epoch = idmap_get(&p->epochs, its_epoch);

	if (epoch == SESSION_NONE || epoch == 0)
		return -EBADMSG;
	return members_add(&p->members, epoch, session, phase);
}

static int on_member(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_member *w = entry;

	return member_add(p, w->epoch, w->session, 0);
}

static int on_phase(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_phase *w = entry;

	return member_add(p, w->epoch, w->session, w->phase);
}

/* A tape is asked by nobody, and what nobody takes is not kept for ever. */
static int on_ask(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_ask *w = entry;
	struct asked a = {p, *w};

	a.ask.format = idmap_get(&p->strings, w->format);
	if (a.ask.format == SESSION_NONE || w->session >= p->n_sessions)
		return -EBADMSG;
	if (d->is_tape || d->n_asked >= ASKS_MAX)
		return 0;
	if (ARRAY_ROOM(d->asked, d->cap_asked, d->n_asked + 1) < 0)
		return -ENOMEM;
	d->asked[d->n_asked++] = a;
	return 0;
}

static int on_bye(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	d->s->processes[p->process].end = PROCESS_ENDED;
	d->s->generation++;
	return 0;
}

/* Kinds that say nothing to a session: they are for the tape, the disk and the socket. */
static int on_nothing(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	return 0;
}

/* A kind is either an array of entries of one size or has a handler for the whole payload, which is
 * not smaller than that. */
static const struct {
	size_t size;
	int (*entry)(struct wire_decoder *d, struct peer *p, const void *entry);
	int (*whole)(struct wire_decoder *d, struct peer *p, const struct message *m);
	bool adds; /* to the tables of the session, for good */
} handlers[WIRE_N_KINDS] = {
	[WIRE_HELLO] = {sizeof(struct wire_hello), .whole = on_hello},
	[WIRE_TEXT] = {sizeof(struct wire_text), .whole = on_text},
	[WIRE_FRAMES] = {sizeof(struct wire_frame_def), on_frame, NULL, true},
	[WIRE_NODES] = {sizeof(struct wire_node_def), on_node, NULL, true},
	[WIRE_LANES] = {sizeof(struct wire_lane_def), on_lane, NULL, true},
	[WIRE_METRICS] = {sizeof(struct wire_metric_def), on_metric, NULL, true},
	[WIRE_SET] = {sizeof(struct wire_set_def), .whole = on_set, .adds = true},
	[WIRE_EPOCHS] = {sizeof(struct wire_epoch_def), on_epoch, NULL, true},
	[WIRE_SLOTS] = {sizeof(struct wire_slot_def), on_slot, NULL, true},
	[WIRE_VALUES] = {.whole = on_values},
	[WIRE_KERNELS] = {sizeof(struct wire_kernel_values), on_kernel, NULL, false},
	[WIRE_HISTS] = {.whole = on_hists, .adds = true},
	[WIRE_OCTAVES] = {.whole = on_octaves, .adds = true},
	[WIRE_DEVICE] = {sizeof(struct wire_device), on_device, NULL, true},
	[WIRE_MODULES] = {sizeof(struct wire_module_def), on_module, NULL, true},
	[WIRE_SYMBOLS] = {sizeof(struct wire_symbol), on_symbol, NULL, false},
	[WIRE_CLOCK] = {sizeof(struct wire_clock), on_clock, NULL, true},
	[WIRE_TICK] = {sizeof(struct wire_tick), .whole = on_tick},
	[WIRE_NOTE] = {sizeof(struct wire_note), on_note, NULL, true},
	[WIRE_SEGMENT] = {sizeof(struct wire_segment), .whole = on_segment},
	[WIRE_BULK] = {sizeof(struct wire_bulk), .whole = on_bulk},
	[WIRE_SAMPLES] = {sizeof(struct wire_sample), on_sample, NULL, false},
	[WIRE_INTERVALS] = {sizeof(struct wire_interval), on_interval, NULL, false},
	[WIRE_KEY] = {.whole = on_nothing},
	[WIRE_RUN] = {.whole = on_nothing},
	[WIRE_SENSORS] = {.whole = on_nothing},
	[WIRE_COUNTERS] = {.whole = on_nothing},
	[WIRE_SESSIONS] = {sizeof(struct wire_session), on_session, NULL, true},
	[WIRE_MEMBERS] = {sizeof(struct wire_member), on_member, NULL, true},
	[WIRE_PHASES] = {sizeof(struct wire_phase), on_phase, NULL, true},
	[WIRE_MERGE] = {sizeof(struct wire_merge), on_merge, NULL, false},
	[WIRE_ASK] = {sizeof(struct wire_ask), on_ask, NULL, false},
	[WIRE_BYE] = {sizeof(struct wire_bye), .whole = on_bye},
	[WIRE_COPY_LANES] = {.whole = on_copy_lanes, .adds = true},
	[WIRE_UNRECORDED] = {sizeof(struct wire_unrecorded), on_unrecorded, NULL, true},
	[WIRE_USAGE] = {.whole = on_usage},
	[WIRE_USES] = {sizeof(struct wire_use), on_use, NULL, false},
	[WIRE_OVERLAPS] = {sizeof(struct wire_overlap), on_overlap, NULL, false},
	[WIRE_WORKED] = {sizeof(struct wire_worked), on_worked, NULL, false},
};

static uint64_t count_told(const struct session *s)
{
	uint64_t n = 0;

	for (unsigned kind = 0; kind < WIRE_N_KINDS; kind++)
		n += told_rows[kind].entry ? s->tables[told_rows[kind].table].n : 0;
	return n;
}

/* What frames add to the session and never take away. */
static uint64_t count_things(const struct session *s)
{
	return s->n_frames + s->n_nodes + s->n_lanes + s->n_rows + s->n_sets + s->n_epochs +
	       s->n_devices + s->n_modules + s->n_notes + s->n_hists + s->n_clocks +
	       s->n_copy_lanes + s->n_unrecorded + count_told(s) + metric_table_count(s->metrics);
}

static bool has_time(const struct wire_decoder *d)
{
	return !d->namer || !d->namer->may_ask || d->namer->may_ask(d->namer->ctx);
}

/* Every entry of an array, also behind one that could not be understood. -EAGAIN: the namer has no
 * time, and the rest is for the next call. */
static int dispatch(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	unsigned kind = m->header->kind;
	const struct told_rows *told;
	size_t size, i, first;
	int r = 0, one;

	if (kind >= WIRE_N_KINDS)
		return 0; /* from the future */
	told = told_rows[kind].entry ? &told_rows[kind] : NULL;
	if ((handlers[kind].adds || told) && p->n_things > PEER_THINGS_MAX)
		return -EBADMSG;
	size = told ? told->entry : handlers[kind].size;
	if (handlers[kind].whole)
		return m->size < size ? -EBADMSG : handlers[kind].whole(d, p, m);
	if (!handlers[kind].entry && !told)
		return 0;
	if (m->header->n > m->size / size)
		return -EBADMSG;
	first = d->next_entry; /* at least this one */
	d->next_entry = 0;
	for (i = first; i < m->header->n; i++) {
		if (kind == WIRE_FRAMES && i > first && !has_time(d)) {
			d->next_entry = i;
			return -EAGAIN;
		}
		one = told ? on_row(d, p, told, m->payload + i * size)
			   : handlers[kind].entry(d, p, m->payload + i * size);
		r = one ? one : r;
	}
	return r;
}

/* With what it adds on the account of the instance. */
static int dispatch_counted(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	uint64_t before = count_things(d->s);
	int r = dispatch(d, p, m);

	p->n_things += count_things(d->s) - before;
	return r;
}

static int take_of_peer(struct wire_decoder *d, const struct message *m)
{
	const struct wire_header *h = m->header;
	struct peer *p;
	int r = peer_get(d, h->instance, &p);

	if (r < 0)
		return r;
	if (h->seq == WIRE_NO_SEQ)
		return dispatch_counted(d, p, m);
	/* The first frame that is seen need not be number 0: a late reader. */
	if (p->next_seq && h->seq > p->next_seq)
		d->s->losses[LOSS_WIRE_GAP] += h->seq - p->next_seq;
	p->next_seq = h->seq + 1;
	d->s->processes[p->process].last_ns = h->time_ns;
	/* Its pid was not to be seen (another pid namespace), or its exec failed: but it speaks. */
	d->s->processes[p->process].end = PROCESS_RUNS;
	return dispatch_counted(d, p, m);
}

/* Whose times are on one clock with others of the session: on this machine they are; on another its wall clock
 * tells, as well as the two agree. A pair that was read in two steps is no difference. */
static void on_key(struct wire_decoder *d, const struct message *m)
{
	const struct wire_key *key = (const void *)m->payload;
	uint64_t ours = clock_realtime_ns() - clock_monotonic_ns();
	int64_t shift = (int64_t)(key->start_ns - m->header->time_ns - ours);

	if (!d->origin || d->is_shifted || m->size < sizeof(*key))
		return;
	d->is_shifted = true;
	if (shift <= -SAME_CLOCK_NS || shift >= SAME_CLOCK_NS)
		d->shift_ns = (uint64_t)shift;
}

/* What proton itself put on a tape: a key frame, what was run, what sensors and counters said. */
static int take_of_nobody(struct wire_decoder *d, const struct message *m)
{
	if (!d->is_tape)
		return 0;
	switch (m->header->kind) {
	case WIRE_RUN:
		return wire_run_take(&d->run, d->s, m->payload, m->size);
	case WIRE_SENSORS:
		return wire_sensors_take(d->s, m->payload, m->size);
	case WIRE_COUNTERS:
		return wire_counters_take(d->s, m->payload, m->size);
	case WIRE_KEY:
		on_key(d, m);
		return 0;
	default:
		return 0;
	}
}

static int take_frame(struct wire_decoder *d, const unsigned char *at)
{
	union {
		struct wire_header header;
		unsigned char bytes[WIRE_FRAME_MAX];
	} copy;
	const struct wire_header *h = (const void *)at;
	struct message m;
	int r;

	/* Entries are read where they lie; after a tear that may not be where their types want it. */
	if ((uintptr_t)at % _Alignof(struct wire_header)) {
		memcpy(&copy.header, at, sizeof(copy.header));
		memcpy(copy.bytes, at, copy.header.length);
		h = &copy.header;
	}
	m = (struct message){h, (const unsigned char *)(h + 1), h->length - sizeof(*h)};
	d->frames++;
	r = h->instance ? take_of_peer(d, &m) : take_of_nobody(d, &m);
	if (r == -EBADMSG) {
		d->s->losses[LOSS_WIRE_ERROR]++;
		r = 0;
	}
	return r;
}

/* Whole frames from the front of a buffer; returns the bytes used or -ENOMEM. */
static ssize_t take_frames(struct wire_decoder *d, const unsigned char *data, size_t n)
{
	size_t at = 0, size;
	int r;

	while ((size = wire_frame_size(data + at, n - at)) != 0) {
		if (size == SIZE_MAX) {
			if (!d->torn)
				d->s->losses[LOSS_WIRE_ERROR]++;
			d->torn = true;
			at++;
			continue;
		}
		d->torn = false;
		r = take_frame(d, data + at);
		d->stalled = r == -EAGAIN;
		if (d->stalled)
			break;
		if (r < 0)
			return r;
		at += size;
	}
	return (ssize_t)at;
}

/* Keep what is left over for the next call. */
static int keep_pending(struct wire_decoder *d, const unsigned char *data, size_t n)
{
	d->n_pending = 0;
	if (!n)
		return 0;
	if (array_reserve((void **)&d->pending, &d->cap_pending, n, 1) < 0)
		return -ENOMEM;
	memmove(d->pending, data, n);
	d->n_pending = n;
	return 0;
}

int wire_decoder_feed(struct wire_decoder *d, const void *data, size_t n)
{
	const unsigned char *p = data;
	ssize_t used;

	if (!n && !d->stalled)
		return 0;
	if (d->n_pending) {
		if (array_reserve((void **)&d->pending, &d->cap_pending, d->n_pending + n, 1) < 0)
			return -ENOMEM;
		if (n)
			memcpy(d->pending + d->n_pending, data, n);
		n += d->n_pending;
		p = d->pending;
	}
	used = take_frames(d, p, n);
	if (used < 0)
		return (int)used;
	return keep_pending(d, p + used, n - (size_t)used);
}

struct wire_decoder *wire_decoder_new(struct session *s)
{
	struct wire_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->s = s;
	buf_init(&d->scratch, 1 << 20);
	return d;
}

struct wire_decoder *wire_decoder_free(struct wire_decoder *d)
{
	size_t i;

	if (!d)
		return NULL;
	for (i = 0; i < d->n_peers; i++)
		peer_free(d->peers[i]);
	free(d->peers);
	buf_done(&d->scratch);
	free(d->asked);
	idindex_done(&d->by_instance);
	free(d->pending);
	wire_run_reader_done(&d->run);
	free(d);
	return NULL;
}

void wire_decoder_set_namer(struct wire_decoder *d, const struct native_namer *namer)
{
	d->namer = namer;
}

void wire_decoder_of_tape(struct wire_decoder *d, uint64_t origin)
{
	d->is_tape = true;
	d->origin = origin;
}

bool wire_decoder_vanish(struct wire_decoder *d)
{
	struct session_run *run = d->run.run ? &d->s->runs[d->run.run - 1] : NULL;
	bool ran = run && run->end == PROCESS_RUNS;

	for (size_t i = 0; i < d->n_peers; i++) {
		uint8_t *end = &d->s->processes[d->peers[i]->process].end;

		if (*end == PROCESS_RUNS)
			*end = PROCESS_VANISHED;
	}
	if (ran)
		run->end = PROCESS_VANISHED;
	d->s->generation++;
	return ran || !run;
}

uint32_t wire_decoder_host(const struct wire_decoder *d)
{
	return d->n_peers ? d->s->processes[d->peers[0]->process].host : SESSION_NONE;
}

bool wire_decoder_is_elsewhere(const struct wire_decoder *d)
{
	return d->shift_ns;
}

bool wire_decoder_stalled(const struct wire_decoder *d)
{
	return d->stalled;
}

size_t wire_decoder_pending(const struct wire_decoder *d)
{
	return d->n_pending;
}

void wire_decoder_cut(struct wire_decoder *d)
{
	d->s->losses[LOSS_WIRE_ERROR] += d->n_pending > 0;
	d->n_pending = 0;
}

uint64_t wire_decoder_frames(const struct wire_decoder *d)
{
	return d->frames;
}

bool wire_decoder_segment(const struct wire_decoder *d, size_t i, struct wire_segment_state *ret)
{
	size_t k;

	for (k = 0; k < d->n_peers && i >= d->peers[k]->n_segments; k++)
		i -= d->peers[k]->n_segments;
	if (k == d->n_peers)
		return false;
	const struct peer *p = d->peers[k];
	const struct wire_segment *g = &p->segments[i];
	size_t entry = segment_kind(g->kind)->entry;

	*ret = (struct wire_segment_state){
		.instance = p->instance,
		.id = g->id,
		.path = strtab_str(d->s->strings, idmap_get(&p->strings, g->path)),
		.entry = entry,
		.size = g->size / entry * entry,
		.taken = p->taken[i],
	};
	return true;
}

/* The i-th session of all instances, with whose it is; NULL: there are not so many. */
static struct told_session *session_at(const struct wire_decoder *d, size_t i,
				       const struct peer **ret_peer)
{
	for (size_t k = 0; k < d->n_peers; i -= d->peers[k++]->n_sessions) {
		if (i >= d->peers[k]->n_sessions)
			continue;
		*ret_peer = d->peers[k];
		return &d->peers[k]->sessions[i];
	}
	return NULL;
}

static struct wire_session_state state_of(const struct wire_decoder *d, const struct peer *p,
					  const struct told_session *t)
{
	const struct wire_session *w = &t->w;

	return (struct wire_session_state){
		.instance = p->instance,
		.id = w->id,
		.state = w->state ? (w->state & ~SESSION_TAKEN) - 1 : WIRE_SESSION_GONE,
		.taken = w->state & SESSION_TAKEN,
		.process = p->process,
		.serial = t->serial,
		.name = t->name ? t->name : strtab_str(d->s->strings, w->name),
		.context = strtab_str(d->s->strings, w->context),
		.device_type = strtab_str(d->s->strings, w->device_type),
		.format = strtab_str(d->s->strings, w->format),
	};
}

bool wire_decoder_session(const struct wire_decoder *d, size_t i, struct wire_session_state *ret)
{
	const struct peer *p;
	const struct told_session *t = session_at(d, i, &p);

	if (t)
		*ret = state_of(d, p, t);
	return t;
}

void wire_decoder_session_take(struct wire_decoder *d, size_t i)
{
	const struct peer *p;
	struct told_session *t = session_at(d, i, &p);

	if (t)
		t->w.state |= SESSION_TAKEN;
}

/* One whose values have all become those of another says nothing. */
static bool row_says(const struct session *s, const struct session_row *row)
{
	for (uint32_t i = 0; i < s->sets[row->set].n; i++)
		if (s->present[row->values + i])
			return true;
	return false;
}

static int phase_rows(const struct wire_decoder *d, const struct peer *p, uint32_t session,
		      uint32_t phase, uint8_t *rows)
{
	const struct session *s = d->s;
	_cleanup_(freep) uint8_t *in = calloc(s->n_epochs, 1);

	if (!in)
		return -ENOMEM;
	members_mark(&p->members, session, phase, in, s->n_epochs);
	for (size_t k = 0; k < s->n_rows; k++)
		rows[k] = in[s->rows[k].epoch] &&
			  session_lane_at(s, s->rows[k].lane)->process == p->process &&
			  row_says(s, &s->rows[k]);
	return 0;
}

int wire_decoder_session_rows(const struct wire_decoder *d, size_t i, uint8_t *rows)
{
	const struct peer *p;
	const struct told_session *t = session_at(d, i, &p);

	return t ? phase_rows(d, p, t->w.id, MEMBERS_ANY, rows) : -ENOENT;
}

uint32_t wire_decoder_session_phase(const struct wire_decoder *d, size_t i, uint32_t from)
{
	const struct peer *p;
	const struct told_session *t = session_at(d, i, &p);

	return t ? members_next_phase(&p->members, t->w.id, from, d->s->n_epochs) : WIRE_NONE;
}

bool wire_decoder_ask(struct wire_decoder *d, struct wire_ask_state *ret)
{
	struct asked a;

	if (!d->n_asked)
		return false;
	a = d->asked[0];
	memmove(d->asked, d->asked + 1, --d->n_asked * sizeof(*d->asked));
	*ret = (struct wire_ask_state){
		.session = state_of(d, a.peer, &a.peer->sessions[a.ask.session]),
		.id = a.ask.id,
		.what = a.ask.what,
		.phase = a.ask.phase,
		.format = strtab_str(d->s->strings, a.ask.format),
	};
	return true;
}

int wire_decoder_phase_rows(struct wire_decoder *d, uint64_t instance, uint32_t session,
			    uint32_t phase, uint8_t *rows)
{
	struct peer *p;
	int r = peer_get(d, instance, &p);

	return r < 0 ? r : phase_rows(d, p, session, phase, rows);
}

void wire_decoder_finish(struct wire_decoder *d)
{
	for (size_t k = 0; k < d->n_peers; k++) {
		struct peer *p = d->peers[k];

		for (unsigned i = 0; i < p->n_segments; i++) {
			uint64_t size = p->segments[i].size;

			if (p->taken[i] >= size)
				continue;
			lose_bytes(d, segment_kind(p->segments[i].kind), size - p->taken[i]);
			p->taken[i] = size;
		}
	}
}

/* ---- tapes ---- */

int wire_is_tape(const void *head, size_t n)
{
	return n >= 8 && !memcmp(head, WIRE_TAPE_MAGIC, 8);
}

/* Where a tape comes from. */
struct tape {
	ssize_t (*read)(void *ctx, void *data, size_t n);
	void *ctx;
	uint64_t offset;
};

/* As many of n bytes as there are: fewer only at the end. */
static ssize_t tape_bytes(struct tape *t, void *data, size_t n)
{
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = t->read(t->ctx, (char *)data + got, n - got);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	t->offset += got;
	return (ssize_t)got;
}

static int tape_header(struct tape *t, struct session *s)
{
	struct wire_tape_header h;
	char skip[256];
	ssize_t r = tape_bytes(t, &h, sizeof(h));
	uint32_t rest;

	if (r < 0)
		return (int)r;
	if (r < (ssize_t)sizeof(h) || !wire_is_tape(&h, sizeof(h)) || h.version != WIRE_VERSION ||
	    h.header_size < sizeof(h) || h.header_size > 4096)
		return -EBADMSG;
	s->start_ns = h.start_ns;
	for (rest = h.header_size - (uint32_t)sizeof(h); rest; rest -= (uint32_t)r) {
		r = tape_bytes(t, skip, MIN(rest, sizeof(skip)));
		if (r <= 0)
			return -EBADMSG;
	}
	return 0;
}

static int tape_frames(struct tape *t, struct wire_decoder *d)
{
	unsigned char chunk[65536];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = tape_bytes(t, chunk, sizeof(chunk))) != 0) {
		if (n < 0)
			return (int)n;
		r = wire_decoder_feed(d, chunk, (size_t)n);
	}
	return r;
}

int wire_read_tape(ssize_t (*read)(void *ctx, void *data, size_t n), void *ctx, struct session *s,
		   uint64_t *ret_offset)
{
	struct tape t = {read, ctx, 0};
	struct wire_decoder *d;
	size_t i;
	int r = tape_header(&t, s);

	if (r == 0) {
		d = wire_decoder_new(s);
		if (d)
			wire_decoder_of_tape(d, 0);
		r = d ? tape_frames(&t, d) : -ENOMEM;
		if (d && wire_decoder_pending(d))
			s->losses[LOSS_WIRE_ERROR]++;
		if (d)
			wire_decoder_finish(d);
		wire_decoder_free(d);
	}
	/* Whoever did not say goodbye on the tape has vanished as far as it can tell. */
	for (i = 0; i < s->n_processes; i++)
		if (s->processes[i].end == PROCESS_RUNS)
			s->processes[i].end = PROCESS_VANISHED;
	s->ended = true;
	if (ret_offset)
		*ret_offset = t.offset;
	return r;
}
