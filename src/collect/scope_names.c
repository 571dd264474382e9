/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/scope_names.h"
#include <string.h>
#include "base/hash.h"
#include "base/util.h"
#include "collect/slots.h"
#include "collect/steps.h"
#include "core/alike.h"
#include "core/steps.h"
#include "wire/wire.h"

/* Names below one parent that differ in numbers alone, with rows: layers of a model are that many. Of what is called a
 * step there are thousands, each with all that ran in it. Many while a session is active, whose program asks for what it
 * called so. */
enum { KEPT = 128, KEPT_STEPS = 16, KEPT_IN_SESSIONS = 16384 };

/* ---- operators ---- */

/* Part of a text that is taken from its beginning. */
struct rest {
	const char *at, *end;
};

static bool take_char(struct rest *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool take_word(struct rest *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool take_number(struct rest *r)
{
	const char *from = r->at;

	while (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')))
		r->at++;
	return r->at > from;
}

/* Lists of numbers: "[[2, 3], []]", "[(17,0), (18,0)]". A long text may have been cut within one. */
static bool take_list(struct rest *r)
{
	unsigned depth = 0;

	for (; r->at < r->end; r->at++) {
		depth += *r->at == '[';
		if (*r->at == ']' && --depth == 0)
			return take_char(r, ']');
		if (!*r->at || !strchr("0123456789-,[]() ", *r->at))
			return false;
	}
	return true;
}

static bool take_value(struct rest *r)
{
	return r->at < r->end && *r->at == '[' ? take_list(r) : take_number(r);
}

/* ", seq = 4"; older versions have ", seq=4". */
static bool take_attribute(struct rest *r)
{
	static const char *const keys[] = {"seq", "op_id", "sizes", "input_op_ids", "stashed seq"};

	if (!take_word(r, ", "))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct rest value = *r;

		if (!take_word(&value, keys[i]))
			continue;
		take_char(&value, ' ');
		if (!take_char(&value, '='))
			continue;
		take_char(&value, ' ');
		*r = value;
		return take_value(r);
	}
	return false;
}

static bool is_all_attributes(struct rest r)
{
	while (r.at < r.end)
		if (!take_attribute(&r))
			return false;
	return true;
}

size_t scope_bare_len(const char *name, size_t len)
{
	const char *end = name + len, *p = len ? name + 1 : end;

	for (; p < end && (p = memchr(p, ',', (size_t)(end - p))); p++)
		if (is_all_attributes((struct rest){p, end}))
			return (size_t)(p - name);
	return len;
}

/* ---- names that count up ---- */

static uint32_t most_kept(const char *name, size_t len)
{
	if (epoch_now())
		return KEPT_IN_SESSIONS;
	return steps_rank(name, len) >= STEPS_RANK_ITERATION ? KEPT_STEPS : KEPT;
}

/* Is there room for one more row? */
static bool crowd_takes(struct crowd_entry *c, const char *name, size_t len)
{
	uint32_t n = atomic_load_explicit(&c->n_kept, memory_order_relaxed);
	uint32_t most = most_kept(name, len);

	while (n < most)
		if (atomic_compare_exchange_weak(&c->n_kept, &n, n + 1))
			return true;
	return false;
}

/* The bits of a name are in one word: of the threads that bring it at once, one is the first. Of 100,000 names
 * one or two are taken for others. */
enum { FOLDED_BITS = 8, FOLDED_SURE = 2 * FOLDED_BITS };

enum folded {
	FOLDED_NEW,
	FOLDED_BEFORE,
	FOLDED_MAYBE, /* so many names share the word that others may have set the bits */
};

/* Sets the bits of a hash. */
static enum folded folded_set_bits(uint64_t hash)
{
	_Atomic uint64_t *word = &collector->folded[hash_u64(hash) % (MAX_FOLDED / 64)];
	uint64_t bits = 0, before;

	for (unsigned i = 0; i < FOLDED_BITS; i++)
		bits |= UINT64_C(1) << (hash >> 6 * i & 63);
	before = atomic_load_explicit(word, memory_order_relaxed);
	if ((before & bits) != bits)
		before = atomic_fetch_or_explicit(word, bits, memory_order_relaxed);
	if ((before & bits) != bits)
		return FOLDED_NEW;
	return __builtin_popcountll(before) > FOLDED_SURE ? FOLDED_MAYBE : FOLDED_BEFORE;
}

/* Is it the first time that this name comes? Those that count up or down are recognised however many
 * they are; of others some may not be, once there were hundreds of thousands. */
static bool crowd_is_news(struct crowd_entry *c, const char *name, size_t len)
{
	enum folded before = folded_set_bits(hash_u64(hash_bytes(name, len) ^ c->parent));
	bool higher, lower;
	uint64_t number;

	if (before == FOLDED_BEFORE)
		return false;
	alike_number(name, len, &number);
	higher = value_raise(&c->highest, number + 1);
	lower = value_raise(&c->lowest, ~number);
	return before == FOLDED_NEW || higher || lower;
}

static uint32_t folded_set(void)
{
	uint32_t known = atomic_load_explicit(&collector->folded_set, memory_order_acquire), set;

	if (known)
		return known - 1;
	set = set_folded();
	if (set != WIRE_NONE)
		atomic_store_explicit(&collector->folded_set, set + 1, memory_order_release);
	return set;
}

/* For how many names the node stands. What cannot be said now is said with the next of them. */
static void crowd_count(struct crowd_entry *c, const char *name, size_t len, uint32_t node)
{
	uint32_t set = folded_set(), news = crowd_is_news(c, name, len), slot;
	uint32_t n = atomic_fetch_add_explicit(&c->n_folded, news, memory_order_relaxed) + news;

	slot = set == WIRE_NONE ? WIRE_NONE : slot_intern(node, 0, set, 0);
	if (slot != WIRE_NONE && value_raise(&collector->value[collector->slot[slot].values], n))
		slot_touch(slot);
}

/* ---- nodes ---- */

static bool is_node_of(uint32_t node, enum frame_kind kind, const struct string_key *name,
		       uint32_t parent)
{
	const struct node_entry *n = &collector->node[node];
	const struct frame_entry *f = &collector->frame[n->frame];

	return n->parent == parent && f->kind == kind && string_is(f->string, name);
}

/* The node that is there, or WIRE_NONE. Which one it was the last time is the first guess: ids never
 * mean another thing. */
static uint32_t node_known(struct thread_state *t, enum frame_kind kind, const char *name,
			   size_t len, uint32_t parent)
{
	const struct string_key key = string_key(name, len);
	_Atomic uint32_t *guess = &t->scopes[(key.hash ^ parent) % ARRAY_SIZE(t->scopes)];
	uint32_t node = atomic_load_explicit(guess, memory_order_relaxed), string, frame;

	if (_likely_(node && is_node_of(node, kind, &key, parent)))
		return node;
	string = string_find(&key);
	frame = string == WIRE_NONE ? WIRE_NONE : frame_find(kind, string);
	node = frame == WIRE_NONE ? WIRE_NONE : node_find(parent, frame);
	if (node != WIRE_NONE)
		atomic_store_explicit(guess, node, memory_order_relaxed);
	return node;
}

/* A name that there is no room for is "<other>". */
static uint32_t node_make(enum frame_kind kind, const char *name, size_t len, uint32_t parent,
			  bool *ret_made)
{
	uint32_t string = string_intern(name, len);
	uint32_t frame = string || !len ? frame_intern(kind, string) : WIRE_NONE;

	return node_intern_made(parent, frame, ret_made);
}

static uint32_t node_of(struct thread_state *t, enum frame_kind kind, const char *name, size_t len,
			uint32_t parent)
{
	uint32_t node = node_known(t, kind, name, len, parent);
	bool made;

	return node == WIRE_NONE ? node_make(kind, name, len, parent, &made) : node;
}

static bool may_fold(const char *name, size_t len)
{
	uint64_t number;

	return !collector->control->wanted.all_names && alike_number(name, len, &number) &&
	       !alike_is_path(name, len);
}

/* "step #"; of a longer one than fits the end is a hash of all of it, in letters: digits would count up. */
static size_t pattern_of(const char *name, size_t len, char pattern[static SCOPE_PATTERN_MAX])
{
	enum { HASH = 17 };
	size_t n = alike_pattern_n(name, len, pattern, SCOPE_PATTERN_MAX);
	uint64_t hash;

	if (n + 1 < SCOPE_PATTERN_MAX)
		return n;
	hash = alike_hash_n(name, len, 0);
	n -= HASH;
	pattern[n++] = ' ';
	for (; n + 1 < SCOPE_PATTERN_MAX; hash >>= 4)
		pattern[n++] = (char)('a' + (hash & 15));
	return n;
}

/* One that counts up, perhaps: the first of them have rows, the rest is "step #". */
static uint32_t node_of_many(struct thread_state *t, enum frame_kind kind, const char *name,
			     size_t len, uint32_t parent)
{
	char pattern[SCOPE_PATTERN_MAX];
	size_t n = pattern_of(name, len, pattern);
	uint32_t id = crowd_intern(parent, hash_bytes(pattern, n) ^ hash_u64(kind)), node;
	struct crowd_entry *c = &collector->crowd[id];
	bool made;

	if (id == WIRE_NONE || crowd_takes(c, name, len)) {
		node = node_make(kind, name, len, parent, &made);
		if (id != WIRE_NONE && !made) /* another thread was faster, or all is full */
			atomic_fetch_sub(&c->n_kept, 1);
		steps_consider(node, kind, name, len,
			       id == WIRE_NONE ? 1 : atomic_load(&c->n_kept));
		return node;
	}
	node = node_of(t, kind, pattern, n, parent);
	crowd_count(c, name, len, node);
	steps_consider(node, kind, name, len, KEPT);
	return node;
}

static uint32_t node_new(struct thread_state *t, enum frame_kind kind, const char *name, size_t len,
			 uint32_t parent)
{
	uint64_t number;
	uint32_t node;
	bool made;

	if (may_fold(name, len))
		return node_of_many(t, kind, name, len, parent);
	node = node_make(kind, name, len, parent, &made);
	steps_consider(node, kind, name, len,
		       alike_number(name, len, &number) && !alike_is_path(name, len));
	return node;
}

uint32_t scope_node(struct thread_state *t, enum frame_kind kind, const char *name, size_t len,
		    uint32_t parent, uint32_t *ret_frame)
{
	uint32_t node = node_known(t, kind, name, len, parent);

	if (_unlikely_(node == WIRE_NONE)) {
		size_t bare = scope_bare_len(name, len);

		if (bare < len)
			node = node_known(t, kind, name, bare, parent);
		if (node == WIRE_NONE)
			node = node_new(t, kind, name, bare, parent);
	}
	*ret_frame = node == parent ? WIRE_NONE : collector->node[node].frame;
	return node;
}

/* The first of many have numbers of their own, as they have rows. */
uint64_t scope_place(const char *name, size_t len)
{
	const struct string_key key = string_key(name, len);
	char text[SCOPE_PATTERN_MAX];
	struct string_key pattern;

	if (!may_fold(name, len) || string_find(&key) != WIRE_NONE)
		return key.hash;
	pattern = string_key(text, pattern_of(name, len, text));
	return string_find(&pattern) == WIRE_NONE ? key.hash : pattern.hash;
}
