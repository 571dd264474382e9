/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/openmp_places.h"
#include <stdio.h>
#include <string.h>
#include "backends/symbols.h"
#include "base/hash.h"
#include "base/util.h"

enum {
	PLACES = 4096, /* power of two */
	PROBES = 32,
	NAME_BYTES = 2048, /* of a name; a longer function is not told */
};

/* 0 is nowhere: it is never taken. */
static struct place {
	uint64_t key; /* 0: free */
	const struct name *name;
} places[PLACES];

static struct names names;

/* Compilers put the body of a construct into functions of their own: "f.omp_outlined",
 * ".omp_task_entry.", "f._omp_fn.0". */
static size_t without_outlined(const char *function, size_t len)
{
	static const char *const marks[] = {".omp_", "._omp_fn"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *mark = strstr(function, marks[i]);

		if (mark)
			len = MIN(len, (size_t)(mark - function));
	}
	return len;
}

/* Threads that come to a new place together make the same name. */
static const struct name *name_make(const char *construct, const void *code)
{
	size_t n = strlen(construct), len;
	char text[NAME_BYTES], *function = text + n + 1;

	memcpy(text, construct, n);
	text[n] = ' ';
	/* It is the call that stands in the function; what follows may be the next one. */
	len = symbol_at((const char *)code - 1, function, sizeof(text) - n - 1);
	if (len)
		len = without_outlined(function, len);
	return names_add(&names, text, len ? n + 1 + len : n);
}

/* 64 bits of both: that two constructs share them is not to be expected. Never 0. */
static uint64_t key_of(const char *construct, const void *code)
{
	return hash_u64((uintptr_t)code + hash_u64((uintptr_t)construct)) | 1;
}

/* The entry of a key, claimed when it is new. NULL: no room near its place. */
static struct place *place_of(uint64_t key)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct place *p = &places[(key / 2 + i) & (PLACES - 1)];
		uint64_t seen = __atomic_load_n(&p->key, __ATOMIC_RELAXED);

		if (p == places)
			continue;
		if (!seen && __atomic_compare_exchange_n(&p->key, &seen, key, false,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return p;
		if (seen == key) /* it was there, or another thread has claimed it for the same */
			return p;
	}
	return NULL;
}

uint32_t openmp_place(const char *construct, const void *code)
{
	struct place *p = code ? place_of(key_of(construct, code)) : NULL;
	const struct name *name;

	if (!p)
		return 0;
	name = __atomic_load_n(&p->name, __ATOMIC_ACQUIRE);
	if (_unlikely_(!name)) {
		name = name_make(construct, code);
		__atomic_store_n(&p->name, name, __ATOMIC_RELEASE);
	}
	return name ? (uint32_t)(p - places) : 0;
}

const struct name *openmp_place_name(uint32_t place)
{
	return __atomic_load_n(&places[place % PLACES].name, __ATOMIC_ACQUIRE);
}
