/* SPDX-License-Identifier: MIT */
#ifndef PROTON_KERNEL_CUH
#define PROTON_KERNEL_CUH
/* Names for the parts of a kernel, timed on the clock of each warp. CUDA C++17 (nvcc, NVRTC, clang); the header is all there is.
 *
 *	#define PROTON_KERNEL // or -DPROTON_KERNEL: without it all of this is nothing
 *	#include <proton/kernel.cuh>
 *
 *	__global__ void product(...)
 *	{
 *		PROTON_KERNEL_INIT();
 *		for (int k = 0; k < n; k += TILE) {
 *			PROTON_SCOPE("tile");
 *			PROTON_ENTER("load");
 *			...
 *			PROTON_EXIT("load");
 *		}
 *	}
 *
 * `proton` shows them below the kernel. Nothing needs to be linked; where nobody profiles, warps record into shared memory, and
 * that is all. With glibc before 2.34, link with -ldl.
 *
 * A warp's scopes are those of its first thread that is there at PROTON_KERNEL_INIT(). They are handed over when the kernel
 * returns to that thread, wherever this is, or at PROTON_KERNEL_FINI(); no thread waits for another warp. A record is three instructions.
 * Kept are the latest PROTON_KERNEL_RECORDS of each warp: a scope is one of them with PROTON_SCOPE(), and two with PROTON_ENTER() and
 * PROTON_EXIT(), as are the two ends of an event; a mark and a metric are one. What is overwritten is counted, and how many would keep
 * all of them is told. All of it takes (PROTON_KERNEL_WARPS + 1) * PROTON_KERNEL_RECORDS * 16 bytes of
 * shared memory, of which a kernel may have 48 KiB with its own, and 20 bytes a warp. Warps of a block beyond PROTON_KERNEL_WARPS are not recorded, but counted.
 *
 * Defined before the header is included, for all kernels of the file:
 *
 *	PROTON_KERNEL_WARPS       warps of a block that may record, 1 to 32; 16
 *	PROTON_KERNEL_RECORDS     of each, a power of two; as many as 8 KiB have, 32 of 16 warps
 *	PROTON_KERNEL_CLOCK64     clocks of 64 bits: a record is two instructions more. Those of 32 bits are to be less than 2^32 cycles
 *	                          apart, two records of a warp on end, which is two seconds; where they may not be, that is counted
 *	PROTON_KERNEL_ACCUMULATE  each warp adds up by itself, in PROTON_KERNEL_ROWS rows (16) of 48 bytes, one for each name within another:
 *	                          exact however often, for more instructions a record. Of an event shortest and longest are not known
 *
 * Which warps record can be said without compiling again: `proton record --kernel-scopes warps=0,blocks=1/16 -- ./app`.
 *
 * A loop with a record is not unrolled by the compiler.
 *
 * Functions that record are handed the warp:
 *
 *	__device__ void load(float *to PROTON_KERNEL_PARAMETER) { PROTON_SCOPE("load"); ... }
 *	load(p PROTON_KERNEL_ARGUMENT);
 *
 * A module that a program loads by itself while it launches (NVRTC with lazy loading) has its first launch unrecorded, and
 * counted, unless a source file of the program includes this header. */

#ifndef PROTON_KERNEL
#define PROTON_KERNEL_INIT()               ((void)0)
#define PROTON_KERNEL_FINI()               ((void)0)
#define PROTON_ENTER(name)                 ((void)0)
#define PROTON_EXIT(name)                  ((void)0)
#define PROTON_EXIT_DEP(name, value)       ((void)0)
#define PROTON_SCOPE(name)                 ((void)0)
#define PROTON_MARK(name)                  ((void)0)
#define PROTON_METRIC(name, value)         ((void)0)
#define PROTON_EVENT_BEGIN(name)           ((void)0)
#define PROTON_EVENT_END(name)             ((void)0)
#define PROTON_EVENT_BEGIN_OF(name, which) ((void)0)
#define PROTON_EVENT_END_OF(name, which)   ((void)0)
#define PROTON_KERNEL_PARAMETER
#define PROTON_KERNEL_ARGUMENT
#else

#ifndef PROTON_KERNEL_WARPS
#define PROTON_KERNEL_WARPS 16
#endif
#ifndef PROTON_KERNEL_RECORDS
#define PROTON_KERNEL_RECORDS \
	(PROTON_KERNEL_WARPS > 8 ? 32 : PROTON_KERNEL_WARPS > 4 ? 64 : PROTON_KERNEL_WARPS > 2 ? 128 : 256)
#endif
#ifndef PROTON_KERNEL_ROWS
#define PROTON_KERNEL_ROWS 16
#endif

#ifndef __CUDACC_RTC__
#include <proton/proton.h>
#endif

namespace proton_kernel
{
static_assert(PROTON_KERNEL_RECORDS > 0 && !(PROTON_KERNEL_RECORDS & (PROTON_KERNEL_RECORDS - 1)),
	      "PROTON_KERNEL_RECORDS is a power of two");
static_assert(PROTON_KERNEL_WARPS > 0 && PROTON_KERNEL_WARPS <= 32, "a block has 1 to 32 warps");
static_assert(PROTON_KERNEL_ROWS > 0 && PROTON_KERNEL_ROWS <= 1024, "PROTON_KERNEL_ROWS is 1 to 1024");

typedef unsigned u32;
typedef unsigned long long u64;

/* Where warps leave what they recorded, and how room is taken there: src/intra/warp_arena.h has the same. `proton` makes one for each
 * context. */
enum : u32 { SEATS = 256, TRIES = 64, ROOM = 256 << 10 };
enum : u32 { ALL_RECORD = 2 }; /* is_on; 1: those of which it is true */
static constexpr u64 OFFSET_MASK = (1ull << 40) - 1;

struct seat {
	u32 ring, step, is_full, ring_mask;
	u64 dropped, reserved[5];
};

struct room {
	u64 cursor, end;
};

struct arena {
	/* Who records: warps, a bit each; of blocks, and of multiprocessors, those whose number leaves this remainder. */
	u32 is_on, warps;
	u32 block_modulus, block_remainder;
	u32 multiprocessor_modulus, multiprocessor_remainder;
	u64 unused;
	u64 rings;  /* address */
	u64 beyond; /* warps beyond PROTON_KERNEL_WARPS */
	u64 reserved[10];
	struct seat seats[SEATS];
	struct room rooms[1]; /* of all rings */
};

/* Found by its name in the loaded module, and written before a launch. 0: nobody profiles. */
static __device__ u64 proton_kernel_arena_2;

/* What units are, and their tags (src/intra/warp_slices.h). */
enum { UNIT = 16, HEAD_WORDS = 20 };
enum : u32 { LEAVE = 1u << 31, POINT = 1u << 29, EVENT = 2u << 29, WHOLE = 3u << 29 };
enum : u32 { MARK, VALUE_U32, VALUE_I32, VALUE_F32, VALUE_U64, VALUE_I64, VALUE_F64, SUM };
enum : u32 { SUM_SCOPE = POINT | SUM, SUM_MARK = SUM_SCOPE | 1u << 3, SUM_VALUE = SUM_SCOPE | 2u << 3, SUM_EVENT = SUM_SCOPE | 3u << 3 };
enum { ID_SHIFT = 11, ID_BITS = 18 };
enum : u32 { EVENT_MASK = (1u << ID_SHIFT) - 1, NONE = ~0u };

enum : u32 { HOW_CLOCK64 = 1, HOW_SUMS = 2 };

__device__ __forceinline__ u32 clock32()
{
	u32 c;

	asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
	return c;
}

__device__ __forceinline__ u64 clock64()
{
	u64 c;

	asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
	return c;
}

__device__ __forceinline__ u64 time_ns()
{
	u64 t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
	return t;
}

__device__ __forceinline__ u32 lane()
{
	u32 l;

	asm("mov.u32 %0, %%laneid;" : "=r"(l));
	return l;
}

__device__ __forceinline__ u32 multiprocessor()
{
	u32 sm;

	asm("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}

__device__ __forceinline__ u64 block_index()
{
	return blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z);
}

/* Of the thread, in its block. */
__device__ __forceinline__ u32 warp_index()
{
	return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}

__device__ __forceinline__ u32 shared_address(const void *p)
{
	return (u32)__cvta_generic_to_shared(p);
}

/* What is there is of the device's memory: told, since otherwise each addition would look. */
__device__ __forceinline__ u64 add(u64 *to, u64 n)
{
	u64 before;

	asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(to), "l"(n) : "memory");
	return before;
}

__device__ __forceinline__ void count(u64 *in)
{
	asm volatile("red.global.add.u64 [%0], 1;" ::"l"(in) : "memory");
}

/* NULL: nobody profiles. */
__device__ __forceinline__ struct arena *arena_of()
{
	return (struct arena *)proton_kernel_arena_2;
}

__device__ __forceinline__ bool is_selected(const struct arena *a, u32 w)
{
	return a->is_on == ALL_RECORD || (a->is_on && a->warps >> w & 1 && (u32)block_index() % a->block_modulus == a->block_remainder &&
	       multiprocessor() % a->multiprocessor_modulus == a->multiprocessor_remainder);
}

/* Which name: the same in each kernel. */
__host__ __device__ constexpr u32 hash(const char *s, u32 h = 2166136261u)
{
	return *s ? hash(s + 1, (h ^ (unsigned char)*s) * 16777619u) : (h ^ h >> 18) & ((1u << ID_BITS) - 1);
}

template <u32 N> struct constant {
	static constexpr u32 value = N;
};

/* A number as a unit has it. */
template <class T> struct number {
	static constexpr bool is_real = T(0.5) != T(0), is_signed = T(-1) < T(0), is_long = sizeof(T) > 4;
	static constexpr u32 what = is_real   ? is_long ? VALUE_F64 : VALUE_F32
				    : is_long ? is_signed ? VALUE_I64 : VALUE_U64
				    : is_signed ? VALUE_I32
						: VALUE_U32;

	__device__ __forceinline__ static u64 bits(T v)
	{
		if constexpr (is_real && is_long)
			return (u64)__double_as_longlong(v);
		else if constexpr (is_real)
			return __float_as_uint(v);
		else if constexpr (is_long)
			return (u64)v;
		else
			return (u32)v;
	}
};

/* Nobody reads it: a store of a value waits until that is there, and what comes behind the store, too. */
template <class T> __device__ __forceinline__ void wait_for(u32 address, T v)
{
	u64 bits = number<T>::bits(v);

	if constexpr (number<T>::is_long)
		asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(bits) : "memory");
	else
		asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"((u32)bits) : "memory");
}

/* What a block has in shared memory for all ways to record. */
struct block_head {
	u64 entered_ns[PROTON_KERNEL_WARPS], entered_clock[PROTON_KERNEL_WARPS];
	u64 awaited;
	u32 check[PROTON_KERNEL_WARPS];
};

/* Which ring a multiprocessor uses: what was read of its seat at once. */
struct ring {
	u32 number, step, is_full, mask;
};

__device__ __forceinline__ struct ring ring_of(const struct seat *s)
{
	struct ring r;

	asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.number), "=r"(r.step), "=r"(r.is_full), "=r"(r.mask) : "l"(s) : "memory");
	return r;
}

/* Another ring than the one that is closed; is_full: there is none, by now. */
__device__ __forceinline__ void find_open(const struct arena *a, struct seat *s, struct ring *r)
{
	for (u32 i = 0; i < TRIES; i++) {
		r->number = (r->number + r->step) & r->mask;
		if ((*(volatile const u64 *)&a->rooms[r->number].cursor & OFFSET_MASK) <= ROOM) {
			s->ring = r->number;
			return;
		}
	}
	s->is_full = r->is_full = 1;
}

/* Room for a slice: where it lies, 0: there is none, and its position. */
struct place {
	u64 to, at;
};

__device__ __forceinline__ struct place take(struct arena *a, u32 bytes)
{
	struct seat *s = &a->seats[multiprocessor() % SEATS];
	struct ring r = ring_of(s);

	while (!r.is_full) {
		struct room *room = &a->rooms[r.number];
		u64 at = add(&room->cursor, bytes), offset = at & OFFSET_MASK;

		if (offset + bytes <= ROOM)
			return {a->rings + (u64)r.number * ROOM + offset, at};
		if (offset <= ROOM)
			room->end = at;
		find_open(a, s, &r);
	}
	count(&s->dropped);
	return {0, 0};
}

/* What a slice says of itself. */
struct slice_head {
	struct place place;
	u32 bytes, units, how;
	u64 left_ns, left_clock;
};

__device__ __forceinline__ u32 sum_of(u64 pair)
{
	return (u32)pair + 3 * (u32)(pair >> 32);
}

__device__ __forceinline__ void put_pairs(u64 to, u64 first, u64 second)
{
	asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second) : "memory");
}

/* sum: of its units. Nothing waits until it is there: who reads knows by the sum. */
__device__ __forceinline__ void put_head(const struct block_head *b, u32 w, const struct slice_head &h, u32 sum)
{
	u64 size = (u64)h.units << 32 | h.bytes, block = block_index(), who = (u64)w << 32 | multiprocessor(), launch;

	asm("mov.u64 %0, %%gridid;" : "=l"(launch));
	sum += sum_of(size) + sum_of(launch) + sum_of(block) + sum_of(who) + sum_of(b->entered_ns[w]) + sum_of(b->entered_clock[w]) +
	       sum_of(h.left_ns) + sum_of(h.left_clock) + 3 * h.how;
	put_pairs(h.place.to, h.place.at + 1, size);
	put_pairs(h.place.to + 16, launch, block);
	put_pairs(h.place.to + 32, who, b->entered_ns[w]);
	put_pairs(h.place.to + 48, b->entered_clock[w], h.left_ns);
	put_pairs(h.place.to + 64, h.left_clock, (u64)h.how << 32 | sum);
}

/* A unit from shared memory into a slice: its part of the sum. */
__device__ __forceinline__ u32 copy_unit(u64 to, u32 from)
{
	uint4 v;

	asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
	*(uint4 *)to = v;
	return v.x + 3 * v.y + 5 * v.z + 7 * v.w;
}

#ifndef PROTON_KERNEL_ACCUMULATE

/* ---- records, in rings ---- */

enum { RING = PROTON_KERNEL_RECORDS * UNIT };

/* In shared memory. The last ring is for all threads that do not record: they store, too, so that no record has a branch. */
struct block : block_head {
	alignas(UNIT) char rings[PROTON_KERNEL_WARPS + 1][RING];
};

/* What a thread knows of its warp. */
struct warp {
	u32 ring;    /* address in shared memory */
	u32 written; /* bytes, ever */
	struct block *block;
#ifdef PROTON_KERNEL_CLOCK64
	enum : u32 { HOW = HOW_CLOCK64 };
#else
	enum : u32 { HOW = 0 };
#endif

	__device__ __forceinline__ void begin(u32 w, bool records)
	{
		ring = shared_address(block->rings[records ? w : PROTON_KERNEL_WARPS]);
		written = 0;
	}

	__device__ __forceinline__ bool is_recording() const
	{
		u32 w = warp_index();

		return w < PROTON_KERNEL_WARPS && ring == shared_address(block->rings[w]);
	}

	__device__ __forceinline__ u32 next()
	{
		/* Added, not joined: where the compiler knows `written`, or that it is the same for all, it becomes part of the store. */
		u32 at = ring + (written & (RING - 1));

		written += UNIT;
		return at;
	}

	/* With the clock as it is now. */
	__device__ __forceinline__ void record(u32 tag)
	{
#ifdef PROTON_KERNEL_CLOCK64
		u64 c = clock64();
		u32 at = next();

		asm volatile("{ .reg .u32 none; st.shared.v4.u32 [%0], {%1, %2, %3, none}; }" ::"r"(at), "r"(tag), "r"((u32)c),
			     "r"((u32)(c >> 32))
			     : "memory");
#else
		point(tag);
#endif
	}

	__device__ __forceinline__ void point(u32 tag)
	{
		u32 c = clock32(), at = next();

		asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(tag), "r"(c) : "memory");
	}

	__device__ __forceinline__ void whole(u32 tag, u32 entered)
	{
		u32 c = clock32(), at = next();

		asm volatile("{ .reg .u32 none; st.shared.v4.u32 [%0], {%1, %2, %3, none}; }" ::"r"(at), "r"(tag), "r"(entered), "r"(c)
			     : "memory");
	}

	__device__ __forceinline__ void enter(u32 id)
	{
		record(id);
	}

	__device__ __forceinline__ void leave(u32 id)
	{
		record(LEAVE | id);
	}

	__device__ __forceinline__ void mark(u32 id)
	{
		point(POINT | MARK | id);
	}

	__device__ __forceinline__ void event(u32 id, bool ends, u32 which)
	{
		record((ends ? LEAVE : 0) | EVENT | id | (which & EVENT_MASK));
	}

	template <class T> __device__ __forceinline__ void value(u32 id, T v)
	{
		u64 bits = number<T>::bits(v);
		u32 tag = POINT | number<T>::what | id, c = clock32(), at = next();

		if constexpr (number<T>::is_long)
			asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(tag), "r"(c), "r"((u32)bits),
				     "r"((u32)(bits >> 32))
				     : "memory");
		else
			asm volatile("{ .reg .u32 none; st.shared.v4.u32 [%0], {%1, %2, %3, none}; }" ::"r"(at), "r"(tag), "r"(c),
				     "r"((u32)bits)
				     : "memory");
	}

	__device__ __forceinline__ u32 units() const
	{
		return written / UNIT;
	}

	__device__ __forceinline__ u32 units_kept(u32) const
	{
		return units() < PROTON_KERNEL_RECORDS ? units() : PROTON_KERNEL_RECORDS;
	}

	/* Of those that are kept, the oldest first. */
	__device__ __forceinline__ u32 unit_at(u32 w, u32 i) const
	{
		return shared_address(block->rings[w]) + ((units() - units_kept(w) + i) & (PROTON_KERNEL_RECORDS - 1)) * UNIT;
	}

	/* What the thread that records knows, for those who copy. */
	__device__ __forceinline__ void share(u32 there, u32 from)
	{
		written = __shfl_sync(there, written, from);
	}

	__device__ __forceinline__ void end()
	{
		begin(0, false);
	}
};

/* A scope to the end of its block. */
struct scope {
	warp &w;
	u32 id;
#ifdef PROTON_KERNEL_CLOCK64
	__device__ __forceinline__ scope(warp &of, u32 name) : w(of), id(name)
	{
		w.enter(id);
	}
	__device__ __forceinline__ ~scope()
	{
		w.leave(id);
	}
#else
	u32 entered;

	__device__ __forceinline__ scope(warp &of, u32 name) : w(of), id(name), entered(clock32())
	{
	}
	__device__ __forceinline__ ~scope()
	{
		w.whole(WHOLE | id, entered);
	}
#endif
};

#else

/* ---- sums, in rows ---- */

enum { UNITS_OF_ROW = 3, ROW = UNITS_OF_ROW * UNIT, TABLE = PROTON_KERNEL_ROWS * ROW };

/* In shared memory, of each warp: rows, as a slice has them. */
struct block : block_head {
	alignas(UNIT) char tables[PROTON_KERNEL_WARPS][TABLE];
};

/* 16 bytes of it at a time: what is waited for is how often, not how much. */
struct unit {
	u32 a, b, c, d;
};

__device__ __forceinline__ struct unit get_unit(u32 at)
{
	struct unit u;

	asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(u.a), "=r"(u.b), "=r"(u.c), "=r"(u.d) : "r"(at) : "memory");
	return u;
}

__device__ __forceinline__ void put_unit(u32 at, const struct unit &u)
{
	asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(u.a), "r"(u.b), "r"(u.c), "r"(u.d) : "memory");
}

__device__ __forceinline__ u64 join(u32 low, u32 high)
{
	return (u64)high << 32 | low;
}

__device__ __forceinline__ struct unit split(u64 first, u64 second)
{
	return {(u32)first, (u32)(first >> 32), (u32)second, (u32)(second >> 32)};
}

/* What a warp knows of its table, in registers: what is waited for is memory. */
struct table {
	u32 n;       /* rows that are used */
	u32 rowless; /* records that had none */
	u32 open;    /* the row of the innermost scope that is open; NONE */
	u32 last;    /* the row that was used last; and scopes were left before others within them (CROSSED) */
};
enum : u32 { CROSSED = 1u << 31 };

/* A row that is being looked at: tag, row that it is within, how many, how many began (src/intra/warp_slices.h). */
struct row {
	u32 at; /* 0: there is none */
	struct unit head;
};

__device__ __forceinline__ struct row get_row(u32 rows, u32 i)
{
	u32 at = rows + i * ROW;

	return {at, get_unit(at)};
}

/* The row of a name within another one, which is made where there is room: mostly the one behind the last. */
__device__ __forceinline__ struct row find_row(u32 rows, struct table &t, u32 tag, u32 parent)
{
	u32 crossed = t.last & CROSSED, i = t.last & ~CROSSED;
	struct row r;

	for (u32 k = 0; k < t.n; k++) {
		i = i + 1 < t.n ? i + 1 : 0;
		r = get_row(rows, i);
		t.last = i | crossed;
		if (r.head.a == tag && r.head.b == parent)
			return r;
	}
	if (t.n == PROTON_KERNEL_ROWS) {
		t.rowless++;
		return {0, {}};
	}
	t.last = t.n | crossed;
	r = {rows + t.n++ * ROW, {tag, parent, 0, 0}};
	put_unit(r.at + UNIT, split(0, ~0ull));
	put_unit(r.at + 2 * UNIT, split(0, 0));
	return r;
}

static __device__ __noinline__ struct table enter_row(u32 rows, struct table t, u32 tag)
{
	struct row r = find_row(rows, t, tag, t.open);

	if (r.at) {
		t.open = t.last & ~CROSSED;
		r.head.d |= 1;
		put_unit(r.at, r.head);
		asm volatile("st.shared.u64 [%0], %1;" ::"r"(r.at + ROW - 8), "l"(clock64()) : "memory");
	}
	return t;
}

/* The innermost of that name that is open. */
__device__ __forceinline__ struct row find_open_row(u32 rows, const struct table &t, u32 tag)
{
	struct row r = {0, {}};

	for (u32 i = t.open; i != NONE; i = r.head.b) {
		r = get_row(rows, i);
		if (r.head.a == tag && r.head.d & 1)
			return r;
	}
	return {0, {}};
}

/* One more time of this row, of which the rest is there, too. */
__device__ __forceinline__ void add_time(const struct row &r, const struct unit &sum, const struct unit &most, u64 now)
{
	u64 cycles = now - join(most.c, most.d), least = join(sum.c, sum.d), longest = join(most.a, most.b);

	put_unit(r.at, {r.head.a, r.head.b, r.head.c + 1, r.head.d & ~1u});
	put_unit(r.at + UNIT, split(join(sum.a, sum.b) + cycles, cycles < least ? cycles : least));
	put_unit(r.at + 2 * UNIT, split(cycles > longest ? cycles : longest, 0));
}

/* Where scopes nest, which is what is within, too, and one look at memory. */
__device__ __forceinline__ void step_out(u32 rows, struct table &t, const struct row &left)
{
	struct row r = left;

	if (rows + t.open * ROW != left.at) {
		t.last |= CROSSED;
		return;
	}
	t.open = left.head.b;
	while (t.last & CROSSED && t.open != NONE && !((r = get_row(rows, t.open)).head.d & 1))
		t.open = r.head.b;
	if (t.open == NONE)
		t.last &= ~CROSSED;
}

static __device__ __noinline__ struct table leave_row(u32 rows, struct table t, u32 tag, u64 now)
{
	struct row r = get_row(rows, t.open != NONE ? t.open : 0); /* the one, mostly: all of it is asked for at once */
	struct unit sum = get_unit(r.at + UNIT), most = get_unit(r.at + 2 * UNIT);

	if (t.open == NONE || r.head.a != tag) {
		r = find_open_row(rows, t, tag);
		if (r.at) {
			sum = get_unit(r.at + UNIT);
			most = get_unit(r.at + 2 * UNIT);
		}
	}
	if (r.at) {
		add_time(r, sum, most, now);
		step_out(rows, t, r);
		return t;
	}
	r = find_row(rows, t, tag, NONE);
	if (r.at)
		put_unit(r.at, {tag, NONE, r.head.c, r.head.d + 2});
	return t;
}

static __device__ __noinline__ struct table add_mark(u32 rows, struct table t, u32 tag)
{
	struct row r = find_row(rows, t, tag, t.open);

	if (r.at)
		put_unit(r.at, {tag, r.head.b, r.head.c + 1, 0});
	return t;
}

static __device__ __noinline__ struct table add_event(u32 rows, struct table t, u32 tag, bool ends, u64 now)
{
	struct row r = find_row(rows, t, tag, NONE);
	struct unit sum;

	if (!r.at)
		return t;
	sum = get_unit(r.at + UNIT);
	put_unit(r.at, {tag, NONE, r.head.c + ends, r.head.d + !ends});
	put_unit(r.at + UNIT, split(join(sum.a, sum.b) + (ends ? now : 0 - now), 0));
	return t;
}

__device__ __forceinline__ double as_double(u32 low, u32 high)
{
	return __longlong_as_double((long long)join(low, high));
}

static __device__ __noinline__ struct table add_value(u32 rows, struct table t, u32 tag, double v)
{
	struct row r = find_row(rows, t, tag, t.open);
	struct unit sum, most;
	double all = v, least = v, largest = v;

	if (!r.at)
		return t;
	if (r.head.c) {
		sum = get_unit(r.at + UNIT);
		most = get_unit(r.at + 2 * UNIT);
		all += as_double(sum.a, sum.b);
		least = fmin(v, as_double(sum.c, sum.d));
		largest = fmax(v, as_double(most.a, most.b));
	}
	put_unit(r.at, {tag, r.head.b, r.head.c + 1, 0});
	put_unit(r.at + UNIT, split(number<double>::bits(all), number<double>::bits(least)));
	put_unit(r.at + 2 * UNIT, split(number<double>::bits(largest), 0));
	return t;
}

/* What a thread knows of its warp. */
struct warp {
	u32 rows; /* address in shared memory; NONE: it does not record */
	struct table table;
	struct block *block;
	enum : u32 { HOW = HOW_SUMS };

	__device__ __forceinline__ void begin(u32 w, bool records)
	{
		rows = records ? shared_address(block->tables[w]) : NONE;
		table = {0, 0, NONE, 0};
	}

	__device__ __forceinline__ bool is_recording() const
	{
		return rows != NONE;
	}

	__device__ __forceinline__ void enter(u32 id)
	{
		if (is_recording())
			table = enter_row(rows, table, SUM_SCOPE | id);
	}

	__device__ __forceinline__ void leave(u32 id)
	{
		u64 now = clock64();

		if (is_recording())
			table = leave_row(rows, table, SUM_SCOPE | id, now);
	}

	__device__ __forceinline__ void mark(u32 id)
	{
		if (is_recording())
			table = add_mark(rows, table, SUM_MARK | id);
	}

	__device__ __forceinline__ void event(u32 id, bool ends, u32)
	{
		u64 now = clock64();

		if (is_recording())
			table = add_event(rows, table, SUM_EVENT | id, ends, now);
	}

	template <class T> __device__ __forceinline__ void value(u32 id, T v)
	{
		if (is_recording() && (double)v == (double)v)
			table = add_value(rows, table, SUM_VALUE | id, (double)v);
	}

	__device__ __forceinline__ u32 units() const
	{
		return table.n * UNITS_OF_ROW + table.rowless;
	}

	__device__ __forceinline__ u32 units_kept(u32) const
	{
		return table.n * UNITS_OF_ROW;
	}

	__device__ __forceinline__ u32 unit_at(u32 w, u32 i) const
	{
		return shared_address(block->tables[w]) + i * UNIT;
	}

	__device__ __forceinline__ void share(u32 there, u32 from)
	{
		table.n = __shfl_sync(there, table.n, from);
		__syncwarp(there); /* what it counted is in shared memory */
	}

	__device__ __forceinline__ void end()
	{
		begin(0, false);
	}
};

struct scope {
	warp &w;
	u32 id;

	__device__ __forceinline__ scope(warp &of, u32 name) : w(of), id(name)
	{
		w.enter(id);
	}
	__device__ __forceinline__ ~scope()
	{
		w.leave(id);
	}
};
#endif

/* From PROTON_KERNEL_INIT() to where the kernel returns. */
struct kernel : warp {
	__device__ __forceinline__ explicit kernel(struct block *b)
	{
		u32 w = warp_index();
		bool is_first = lane() == __ffs(__activemask()) - 1, records = false;
		struct arena *a = is_first ? arena_of() : nullptr;

		if (a && w >= PROTON_KERNEL_WARPS)
			count(&a->beyond);
		else if (a)
			records = is_selected(a, w);
		block = b;
		begin(w, records);
		if (records) {
			b->check[w] = 0;
			b->entered_ns[w] = time_ns();
			b->entered_clock[w] = clock64();
		}
	}

	/* By all threads of the warp that are there, of which one may be the one that recorded. */
	__device__ __forceinline__ void finish()
	{
		bool records = is_recording();
		u32 w = warp_index(), there = __activemask(), recording = __ballot_sync(there, records), sum = 0;
		struct slice_head h = {{0, 0}, HEAD_WORDS * 4 + units_kept(w) * UNIT, units(), HOW, time_ns(), clock64()};

		if (!recording)
			return;
		if (records)
			h.place = take(arena_of(), h.bytes);
		h.place.to = __shfl_sync(there, h.place.to, __ffs(recording) - 1);
		share(there, __ffs(recording) - 1);
		if (h.place.to) {
			for (u32 i = __popc(there & ((1u << lane()) - 1)); i < units_kept(w); i += __popc(there))
				sum += copy_unit(h.place.to + HEAD_WORDS * 4 + i * UNIT, unit_at(w, i));
			atomicAdd(&block->check[w], sum);
			__syncwarp(there);
			if (records)
				put_head(block, w, h, *(volatile const u32 *)&block->check[w]);
		}
		end();
	}

	__device__ __forceinline__ ~kernel()
	{
		finish();
	}
};

#ifndef __CUDACC_RTC__
/* Before main(), or as the library with such kernels is loaded. */
__attribute__((constructor, unused)) static void say_so()
{
	proton_has_kernel_scopes();
}
#endif
} // namespace proton_kernel

#define PROTON_KERNEL_JOIN_(a, b) a##b
#define PROTON_KERNEL_JOIN(a, b)  PROTON_KERNEL_JOIN_(a, b)
/* The number of a name. */
#define PROTON_KERNEL_ID(name) \
	(proton_kernel::constant<proton_kernel::hash(name)>::value << proton_kernel::ID_SHIFT)
/* What it is called: in the module, beside the code, of which it takes nothing. A declaration. */
#define PROTON_KERNEL_NAME(name, variable)                                                        \
	static const __device__ __attribute__((used)) struct {                                    \
		char magic[8];                                                                    \
		proton_kernel::u32 id, line;                                                      \
		char text[sizeof(name)];                                                          \
	} variable = {{'P', 'R', 'T', 'N', 'S', 'C', 'P', '1'},                                   \
		      proton_kernel::constant<proton_kernel::hash(name)>::value,                  \
		      __LINE__,                                                                   \
		      name}
/* What the warp does is the last one: with `proton_kernel_id`. */
#define PROTON_KERNEL_RECORD(name, does)                                       \
	do {                                                                   \
		PROTON_KERNEL_NAME(name, proton_kernel_name);                  \
		constexpr proton_kernel::u32 proton_kernel_id = PROTON_KERNEL_ID(name); \
		does;                                                          \
	} while (0)
#define PROTON_KERNEL_SCOPE(name, n)                                                              \
	PROTON_KERNEL_NAME(name, PROTON_KERNEL_JOIN(proton_kernel_name_, n));                     \
	proton_kernel::scope PROTON_KERNEL_JOIN(proton_kernel_scope_, n)(proton_kernel_warp,      \
									 PROTON_KERNEL_ID(name))

/* In a kernel, once, where all its threads come by, before the first scope. A declaration.
 *   unit    none
 *   source  the kernel; what is recorded is handed over at each return
 *   errors  a warp that finds no room is counted ("warps"), and one beyond PROTON_KERNEL_WARPS ("warps_beyond"); the kernel goes on
 *   thread  all of the block */
#define PROTON_KERNEL_INIT()                         \
	__shared__ proton_kernel::block proton_kernel_block; \
	proton_kernel::kernel proton_kernel_warp(&proton_kernel_block)

/* What was recorded is handed over here already: before what ends a thread and is no return (asm("exit;")), or before a part that
 * nobody needs to know. What is recorded behind it is not kept.
 *   unit    none
 *   source  the kernel
 *   errors  as PROTON_KERNEL_INIT()
 *   thread  all of the warp that are still there; the first one's is handed over */
#define PROTON_KERNEL_FINI() proton_kernel_warp.finish()

/* Open a scope, and close the innermost one of that name. They need not nest.
 *   unit    cycles of the multiprocessor's clock from the one to the other
 *   source  name: a literal, at most 255 bytes
 *   errors  one without the other is counted ("warp_unmatched"), and what is overwritten ("warp_records_full")
 *   thread  all of the warp; its first one is recorded */
#define PROTON_ENTER(name) PROTON_KERNEL_RECORD(name, proton_kernel_warp.enter(proton_kernel_id))
#define PROTON_EXIT(name)  PROTON_KERNEL_RECORD(name, proton_kernel_warp.leave(proton_kernel_id))

/* Close a scope once a value is there, that a load has not brought yet, say: otherwise the clock is read as soon as the load is under way.
 * One instruction more.
 *   unit    as PROTON_ENTER()
 *   source  value: a number of 32 or 64 bits
 *   errors  as PROTON_ENTER()
 *   thread  as PROTON_ENTER() */
#define PROTON_EXIT_DEP(name, value)                                                                                      \
	PROTON_KERNEL_RECORD(name, proton_kernel::wait_for(                                                               \
					   proton_kernel::shared_address(&proton_kernel_warp.block->awaited), +(value)); \
			     proton_kernel_warp.leave(proton_kernel_id))

/* A scope from here to the end of the enclosing block, however it is left. A declaration; one record.
 *   unit    as PROTON_ENTER()
 *   source  as PROTON_ENTER()
 *   errors  what is overwritten is counted ("warp_records_full")
 *   thread  as PROTON_ENTER() */
#define PROTON_SCOPE(name) PROTON_KERNEL_SCOPE(name, __COUNTER__)

/* A moment: how often it was is "scope_entries", below the scope that is open.
 *   unit    none
 *   source  as PROTON_ENTER()
 *   errors  as PROTON_SCOPE()
 *   thread  as PROTON_ENTER() */
#define PROTON_MARK(name) PROTON_KERNEL_RECORD(name, proton_kernel_warp.mark(proton_kernel_id))

/* A number, below the scope that is open: "scope_value" is the sum, with "scope_value_min", "scope_value_max", and "scope_entries" says how
 * many.
 *   unit    the program's
 *   source  value: a number of up to 64 bits, the first thread's. Name: as PROTON_ENTER()
 *   errors  as PROTON_SCOPE(); what is no number (NaN) is counted ("warp_unmatched")
 *   thread  as PROTON_ENTER() */
#define PROTON_METRIC(name, value_) \
	PROTON_KERNEL_RECORD(name, proton_kernel_warp.value(proton_kernel_id, +(value_)))

/* What begins here and ends there, in another iteration, or in another warp of the block: a copy that is under way, say. Below the kernel.
 * Those of one name end in the order in which they began, unless the program says which (0 to 2047).
 *   unit    as PROTON_ENTER()
 *   source  as PROTON_ENTER()
 *   errors  as PROTON_ENTER()
 *   thread  as PROTON_ENTER() */
#define PROTON_EVENT_BEGIN(name) PROTON_EVENT_BEGIN_OF(name, 0)
#define PROTON_EVENT_END(name)   PROTON_EVENT_END_OF(name, 0)
#define PROTON_EVENT_BEGIN_OF(name, which) \
	PROTON_KERNEL_RECORD(name, proton_kernel_warp.event(proton_kernel_id, false, (which)))
#define PROTON_EVENT_END_OF(name, which) \
	PROTON_KERNEL_RECORD(name, proton_kernel_warp.event(proton_kernel_id, true, (which)))

/* In the parameters and arguments of functions that record, behind all others.
 *   unit    none
 *   source  the kernel's PROTON_KERNEL_INIT()
 *   errors  none
 *   thread  all of the warp */
#define PROTON_KERNEL_PARAMETER , proton_kernel::warp &proton_kernel_warp
#define PROTON_KERNEL_ARGUMENT  , proton_kernel_warp
#endif
#endif
