/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/copy_pairs.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/util.h"
#include "core/activity.h"

enum {
	PAIRS = 1 << 14, /* a power of two */
	PLACES = 16,     /* that are compared */
	PLACE_BYTES = 64,
	OFTEN = 8, /* so many times it is compared each time, then at each SELDOM-th */
	SELDOM = 64,
};

/* Addresses of two buffers that something was copied between. Fields are written by whoever copies: where two do
 * at once, one copy is counted for another. */
static struct pair {
	_Atomic uint64_t key;  /* 0: none */
	_Atomic uint64_t from; /* the source of the newest copy */
	_Atomic uint64_t n;    /* since it went that way */
	_Atomic uint64_t sum;  /* of what was there when it was compared last; 0: it was not */
} pairs[PAIRS];

static void set(_Atomic uint64_t *p, uint64_t v)
{
	atomic_store_explicit(p, v, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

/* Of what lies all over it. By a call of the system, for whether it can be read is the program's affair. 0: it
 * cannot. */
static uint64_t sum_of(uint64_t src, uint64_t bytes)
{
	uint8_t seen[PLACES * PLACE_BYTES];
	struct iovec to = {seen, MIN(bytes, sizeof(seen))}, from[PLACES];
	uint64_t last = bytes - MIN(bytes, PLACE_BYTES), sum;
	unsigned n = bytes <= sizeof(seen) ? 1 : PLACES;

	for (unsigned i = 0; i < n; i++) {
		uint64_t at = last / (PLACES - 1) * i + last % (PLACES - 1) * i / (PLACES - 1);

		from[i] = (struct iovec){(void *)(uintptr_t)(src + at), to.iov_len / n};
	}
	if (process_vm_readv(getpid(), &to, 1, from, n, 0) != (ssize_t)to.iov_len)
		return 0;
	sum = hash_bytes(seen, to.iov_len);
	return sum ? sum : 1;
}

static unsigned compare(struct pair *p, uint64_t src, uint64_t bytes)
{
	int was = errno; /* the program's */
	uint64_t before = get(&p->sum), sum = sum_of(src, bytes);

	errno = was;
	set(&p->sum, sum);
	if (!before || !sum)
		return 0;
	return COPY_COMPARED | (sum == before ? COPY_SAME : 0);
}

/* The first that goes this way. */
static void begin(struct pair *p, uint64_t src)
{
	set(&p->from, src);
	set(&p->n, 0);
	set(&p->sum, 0);
}

unsigned copy_pairs_see(uint64_t dst, uint64_t src, uint64_t bytes, bool from_host)
{
	uint64_t key = hash_u64(MIN(dst, src) ^ hash_u64(MAX(dst, src) + bytes)) | 1, n;
	struct pair *p = &pairs[key / 2 % PAIRS];

	if (!dst || !src || !bytes)
		return 0;
	if (get(&p->key) != key) {
		set(&p->key, key);
		begin(p, src);
		return 0;
	}
	if (get(&p->from) != src) {
		begin(p, src);
		return COPY_BACK;
	}
	n = get(&p->n) + 1;
	set(&p->n, n);
	if (!from_host || (n > OFTEN && n % SELDOM))
		return COPY_AGAIN;
	return COPY_AGAIN | compare(p, src, bytes);
}
