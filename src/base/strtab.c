/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/strtab.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/util.h"

#define CHUNK_SIZE ((size_t)256 * 1024)

struct entry {
	const char *s;
	uint32_t len, hash;
};

struct chunk {
	struct chunk *next;
	size_t used, size;
	char data[];
};

struct strtab {
	struct entry *entries;
	size_t n, cap;
	uint32_t *index; /* id + 1; 0 = empty; power of two */
	size_t index_size;
	struct chunk *chunks;
	size_t memory;
	size_t bytes, limit; /* of strings with their NUL; limit 0: none */
	bool full;
};

struct strtab *strtab_new(void)
{
	struct strtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->index_size = 256;
	t->index = calloc(t->index_size, sizeof(*t->index));
	if (!t->index || strtab_add(t, "", 0) != 0)
		return strtab_free(t);
	return t;
}

struct strtab *strtab_free(struct strtab *t)
{
	struct chunk *c, *next;

	if (!t)
		return NULL;
	for (c = t->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(t->entries);
	free(t->index);
	free(t);
	return NULL;
}

void strtab_limit(struct strtab *t, size_t bytes)
{
	t->limit = bytes;
	t->full = false;
}

bool strtab_is_full(const struct strtab *t)
{
	return t->full;
}

/* Bytes with a NUL behind them, in a chunk that never moves. */
static char *strtab_store(struct strtab *t, const char *s, size_t len)
{
	struct chunk *c = t->chunks;
	size_t size;
	char *p;

	if (!c || c->size - c->used < len + 1) {
		size = MAX(CHUNK_SIZE, len + 1);
		c = malloc(sizeof(*c) + size);
		if (!c)
			return NULL;
		c->used = 0;
		c->size = size;
		c->next = t->chunks;
		t->chunks = c;
		t->memory += sizeof(*c) + size;
	}
	p = c->data + c->used;
	if (len)
		memcpy(p, s, len);
	p[len] = '\0';
	c->used += len + 1;
	t->bytes += len + 1;
	return p;
}

/* Slot of the string in the index, or the empty slot where it belongs. */
static size_t strtab_probe(const struct strtab *t, const char *s, size_t len, uint32_t hash)
{
	size_t i = hash & (t->index_size - 1);

	for (; t->index[i]; i = (i + 1) & (t->index_size - 1)) {
		const struct entry *e = &t->entries[t->index[i] - 1];

		if (e->hash == hash && e->len == len && !memcmp(e->s, s, len))
			break;
	}
	return i;
}

static int strtab_grow(struct strtab *t)
{
	size_t size = t->index_size * 2, i, j;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return -1;
	for (i = 0; i < t->n; i++) {
		j = t->entries[i].hash & (size - 1);
		while (index[j])
			j = (j + 1) & (size - 1);
		index[j] = (uint32_t)i + 1;
	}
	free(t->index);
	t->index = index;
	t->index_size = size;
	return 0;
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t len)
{
	uint32_t hash = (uint32_t)hash_bytes(s, len);
	size_t slot = strtab_probe(t, s, len, hash);
	char *copy;

	if (t->index[slot])
		return t->index[slot] - 1;
	if (len >= UINT32_MAX || t->n >= UINT32_MAX - 1)
		return STRTAB_NONE;
	if (t->limit && (len >= t->limit || t->bytes > t->limit - len - 1)) {
		t->full = true;
		return STRTAB_NONE;
	}
	if (t->n + 1 > t->index_size / 2) {
		if (strtab_grow(t) < 0)
			return STRTAB_NONE;
		slot = strtab_probe(t, s, len, hash);
	}
	if (ARRAY_ROOM(t->entries, t->cap, t->n + 1) < 0)
		return STRTAB_NONE;
	copy = strtab_store(t, s, len);
	if (!copy)
		return STRTAB_NONE;
	t->entries[t->n] = (struct entry){copy, (uint32_t)len, hash};
	t->index[slot] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}

uint32_t strtab_adds(struct strtab *t, const char *s)
{
	return strtab_add(t, s ? s : "", s ? strlen(s) : 0);
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t len)
{
	size_t slot = strtab_probe(t, s, len, (uint32_t)hash_bytes(s, len));

	return t->index[slot] ? t->index[slot] - 1 : STRTAB_NONE;
}

const char *strtab_str(const struct strtab *t, uint32_t id)
{
	return id < t->n ? t->entries[id].s : "";
}

size_t strtab_len(const struct strtab *t, uint32_t id)
{
	return id < t->n ? t->entries[id].len : 0;
}

const char *strtab_whole(const struct strtab *t, uint32_t id, struct strtab *copies)
{
	const char *text = strtab_str(t, id);
	size_t len = strtab_len(t, id);
	_cleanup_(buf_done) struct buf copy = {0};
	uint32_t whole;

	if (!memchr(text, '\0', len))
		return text;
	for (size_t i = 0; i < len; i++) {
		if (text[i])
			buf_putc(&copy, text[i]);
		else
			buf_puts(&copy, "^@");
	}
	whole = copy.error ? STRTAB_NONE : strtab_adds(copies, buf_str(&copy));
	return whole == STRTAB_NONE ? text : strtab_str(copies, whole);
}

uint32_t strtab_count(const struct strtab *t)
{
	return (uint32_t)t->n;
}

size_t strtab_memory(const struct strtab *t)
{
	return sizeof(*t) + t->memory + t->cap * sizeof(*t->entries) +
	       t->index_size * sizeof(*t->index);
}
