/* SPDX-License-Identifier: MIT */
/* Who tells the session something: instances of the collector, by what they say of themselves, with their strings. */
#include "config.h" // IWYU pragma: keep
#include "wire/decoder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"
#include "core/row_tables.h"
#include "core/session.h"

/* More instances than a session of any size has; each costs about a kilobyte. */
#define PEERS_MAX 16384
/* Times that an instance may say hello as somebody else. */
#define HELLOS_MAX 4
/* Texts that nobody sent before, of an instance and of all. A collector keeps 2^18 of 64 MiB together
 * (collect/internal.h); programs of one run mostly say the same ones. */
#define PEER_TEXTS_MAX (1u << 18)
#define PEER_BYTES_MAX (UINT64_C(64) << 20)
#define ALL_TEXTS_MAX  (8 * PEER_TEXTS_MAX)
#define ALL_BYTES_MAX  (4 * PEER_BYTES_MAX)
/* What the buffer of a finished text keeps. */
#define TEXT_KEEP 4096

_Static_assert(IDMAP_NONE == SESSION_NONE, "an id that was never set names nothing");

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

void decode_peer_free(struct peer *p)
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
		decode_peer_free(p);
		return -ENOMEM;
	}
	d->peers[d->n_peers++] = d->last = *ret_peer = p;
	return 0;
}

static bool peer_equal(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct wire_decoder *)ctx)->peers[i]->instance == *(const uint64_t *)key;
}

int decode_peer(struct wire_decoder *d, uint64_t instance, struct peer **ret_peer)
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

int decode_hello(struct wire_decoder *d, struct peer *p, const struct message *m)
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

int decode_text(struct wire_decoder *d, struct peer *p, const struct message *m)
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

int decode_many(struct wire_decoder *d, struct peer *p, const struct message *m,
		const struct many *of)
{
	const unsigned char *at = m->payload, *end = at + m->size;
	uint32_t n;
	int r = 0, one;

	for (; (size_t)(end - at) >= of->head; at += of->head + n * of->item) {
		memcpy(&n, at + of->n_at, sizeof(n));
		if (n > of->most || n > ((size_t)(end - at) - of->head) / of->item)
			return -EBADMSG;
		one = of->take(d, p, at);
		r = one ? one : r;
	}
	return r;
}
