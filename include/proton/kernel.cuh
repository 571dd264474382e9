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
 *	PROTON_KERNEL_ACCUMULATE  each warp adds up by itself, in PROTON_KERNEL_ROWS rows (16), one for each name within another: exact
 *	                          however often, for some 90 cycles a record (H200) where others take 12. A warp has 1,072 bytes of
 *	                          shared memory of 16 rows. Of an event shortest and longest are not known
 *	PROTON_KERNEL_INLINE      0: what a record of sums seldom does is a function that it calls; 1: it is in each of them. 1 where
 *	                          code is for one architecture alone (sm_90a), as kernels with setmaxnreg are: of those that call functions
 *	                          ptxas may say that "Register allocation failed" (C7600). Where it says so nevertheless, leave
 *	                          the poorest warps more registers, or record without sums
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
#ifndef PROTON_KERNEL_INLINE
#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) || \
	defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM101_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL)
#define PROTON_KERNEL_INLINE 1
#else
#define PROTON_KERNEL_INLINE 0
#endif
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
enum : u32 { SUM_SCOPE = POINT | (u32)SUM, SUM_MARK = SUM_SCOPE | 1u << 3, SUM_VALUE = SUM_SCOPE | 2u << 3, SUM_EVENT = SUM_SCOPE | 3u << 3 };
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

__device__ __forceinline__ u64 launch_number()
{
	u64 n;

	asm("mov.u64 %0, %%gridid;" : "=l"(n));
	return n;
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
	u64 size = (u64)h.units << 32 | h.bytes, block = block_index(), who = (u64)w << 32 | multiprocessor(), launch = launch_number();

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

	__device__ __forceinline__ void enter(u32 id, u32)
	{
		record(id);
	}

	__device__ __forceinline__ void leave(u32 id)
	{
		record(LEAVE | id);
	}

	__device__ __forceinline__ void mark(u32 id, u32)
	{
		point(POINT | MARK | id);
	}

	__device__ __forceinline__ void event(u32 id, bool ends, u32 which, u32)
	{
		record((ends ? LEAVE : 0) | EVENT | id | (which & EVENT_MASK));
	}

	template <class T> __device__ __forceinline__ void value(u32 id, T v, u32)
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

	__device__ __forceinline__ void settle()
	{
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
	__device__ __forceinline__ scope(warp &of, u32 name, u32 site) : w(of), id(name)
	{
		w.enter(id, site);
	}
	__device__ __forceinline__ ~scope()
	{
		w.leave(id);
	}
#else
	u32 entered;

	__device__ __forceinline__ scope(warp &of, u32 name, u32) : w(of), id(name), entered(clock32())
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

enum { UNITS_OF_ROW = 3, ROW = UNITS_OF_ROW * UNIT };

/* Room for two places in the source a row: a power of two. */
__host__ __device__ constexpr u32 shortcuts(u32 n)
{
	return n < 2 * PROTON_KERNEL_ROWS ? shortcuts(n * 2) : n;
}

/* In shared memory, of each warp: row 0, which is none and takes what finds no room, rows, from 1 on, and of places in the source which row
 * each of them found the last time, and of which key (a shortcut; several may have one), so that mostly nobody looks for it. A row,
 * until the warp ends (settle_row() then makes what a slice has):
 *
 *   key │ how many │ clock of entering (events: how many began)
 *   sum │ least │ most                            (64, 32 and 32 bits of cycles; of values doubles, two)
 *   flags │ left unentered │ least │ most         (what of the cycles is above 32 bits; of values a double, the most)
 *
 * A key is an id, a kind, and the row that it is within: 31…14, 12…11, 10…0. SLOW is beside it while the shortest way to leave
 * would be wrong: something of the row is above 32 bits, or a scope that it is within was left before it. */
enum : u32 { SUM_KIND_SHIFT = 11, PARENT_MASK = (1u << SUM_KIND_SHIFT) - 1, SLOW = 1u << 13, KEY_ID_SHIFT = 14, NO_KEY = ~0u };
enum sum_kind : u32 { KIND_SCOPE, KIND_MARK, KIND_VALUE, KIND_EVENT };
enum { ROW_COUNT = 4, ROW_ENTERED = 8, ROW_FLAGS = 2 * UNIT, ROW_UNENTERED = ROW_FLAGS + 4, ROW_MOST_ABOVE = ROW - 4 };
enum : u32 { LEFT = 1, OPEN = 2 }; /* flags: left, while one within it is open; open as the warp ends */
enum { N_ROWS = ROW_FLAGS + 8, N_ROWLESS = N_ROWS + 4 }; /* of row 0 */
enum { SHORTCUT = 8, N_SHORTCUTS = shortcuts(2), SHORTCUTS_AT = (PROTON_KERNEL_ROWS + 1) * ROW, TABLE = SHORTCUTS_AT + N_SHORTCUTS * SHORTCUT };

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

__device__ __forceinline__ u32 get_word(u32 at)
{
	u32 v;

	asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
	return v;
}

__device__ __forceinline__ void put_word(u32 at, u32 v)
{
	asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory");
}

/* Two words: a shortcut, or 64 bits. */
__device__ __forceinline__ void put_pair(u32 at, u32 low, u32 high)
{
	asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(low), "r"(high) : "memory");
}

/* What follows is done where `is` is not 0, in the thread that records: without a branch, which would take longer. */
#define PROTON_KERNEL_IF(is) "{ .reg .pred p; setp.ne.s32 p, " is ", 0; @p "

__device__ __forceinline__ void get_pair_if(u32 is, u32 at, u32 *ret_low, u32 *ret_high)
{
	asm volatile(PROTON_KERNEL_IF("%3") "ld.shared.v2.u32 {%0, %1}, [%2]; }"
		     : "=r"(*ret_low), "=r"(*ret_high)
		     : "r"(at), "r"(is)
		     : "memory");
}

__device__ __forceinline__ struct unit get_unit_if(u32 is, u32 at)
{
	struct unit u;

	asm volatile(PROTON_KERNEL_IF("%5") "ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]; }"
		     : "=r"(u.a), "=r"(u.b), "=r"(u.c), "=r"(u.d)
		     : "r"(at), "r"(is)
		     : "memory");
	return u;
}

/* The same, of an address that no table has at 1: ptxas makes a branch of two on end with one condition. */
__device__ __forceinline__ struct unit get_next_unit_if(u32 is, u32 at)
{
	struct unit u;

	asm volatile("{ .reg .pred p; setp.gt.u32 p, %5, 1; @p ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]; }"
		     : "=r"(u.a), "=r"(u.b), "=r"(u.c), "=r"(u.d)
		     : "r"(at), "r"(is)
		     : "memory");
	return u;
}

__device__ __forceinline__ void put_unit_if(u32 is, u32 at, const struct unit &u)
{
	asm volatile(PROTON_KERNEL_IF("%5") "st.shared.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"r"(at), "r"(u.a), "r"(u.b), "r"(u.c), "r"(u.d),
		     "r"(is)
		     : "memory");
}

__device__ __forceinline__ void put_word_if(u32 is, u32 at, u32 v)
{
	asm volatile(PROTON_KERNEL_IF("%2") "st.shared.u32 [%0], %1; }" ::"r"(at), "r"(v), "r"(is) : "memory");
}

__device__ __forceinline__ void put_long_if(u32 is, u32 at, u64 v)
{
	asm volatile(PROTON_KERNEL_IF("%2") "st.shared.u64 [%0], %1; }" ::"r"(at), "l"(v), "r"(is) : "memory");
}

/* Nothing waits for it. */
__device__ __forceinline__ void add_if(u32 is, u32 at, u32 n)
{
	asm volatile(PROTON_KERNEL_IF("%2") "red.shared.add.u32 [%0], %1; }" ::"r"(at), "r"(n), "r"(is) : "memory");
}

__device__ __forceinline__ u64 join(u32 low, u32 high)
{
	return (u64)high << 32 | low;
}

__device__ __forceinline__ struct unit split(u64 first, u64 second)
{
	return {(u32)first, (u32)(first >> 32), (u32)second, (u32)(second >> 32)};
}

/* Of what is below the kernel; below another row it is more by its number. */
__device__ __forceinline__ constexpr u32 key_of(u32 id, enum sum_kind kind)
{
	return id << ((int)KEY_ID_SHIFT - ID_SHIFT) | kind << SUM_KIND_SHIFT;
}

#if PROTON_KERNEL_INLINE
#define PROTON_KERNEL_SELDOM __forceinline__
#else
#define PROTON_KERNEL_SELDOM __noinline__
#endif

/* The row of a key, which is made where there is room. 0: there is none. */
__device__ __forceinline__ u32 find_row(u32 table, u32 key)
{
	u32 n = get_word(table + N_ROWS), at = table + ROW, end = at + n * ROW;

	for (u32 i = 1; at != end; at += ROW, i++)
		if ((get_word(at) & ~SLOW) == key)
			return i;
	if (n == PROTON_KERNEL_ROWS) {
		put_word(table + N_ROWLESS, get_word(table + N_ROWLESS) + 1);
		return 0;
	}
	put_unit(at, {key, 0, 0, 0});
	put_unit(at + UNIT, {0, 0, ~0u, 0});
	put_unit(at + 2 * UNIT, {0, 0, 0, 0});
	put_word(table + N_ROWS, n + 1);
	return n + 1;
}

/* … and it is known then. */
static __device__ PROTON_KERNEL_SELDOM u32 find_row_again(u32 table, u32 key, u32 shortcut)
{
	u32 r = find_row(table, key);

	if (r)
		put_pair(shortcut, key, r);
	return r;
}

/* One more time of this row, of any length. */
__device__ __forceinline__ void add_time(u32 at, u64 cycles)
{
	struct unit h = get_unit(at), s = get_unit(at + UNIT), m = get_unit(at + 2 * UNIT);
	u64 sum = join(s.a, s.b) + cycles, least = join(s.c, m.c), most = join(s.d, m.d);

	least = !h.b || cycles < least ? cycles : least;
	most = cycles > most ? cycles : most;
	put_unit(at, {most >> 32 ? h.a | SLOW : h.a & ~SLOW, h.b + 1, h.c, h.d});
	put_unit(at + UNIT, {(u32)sum, (u32)(sum >> 32), (u32)least, (u32)most});
	put_unit(at + 2 * UNIT, {m.a, m.b, (u32)(least >> 32), (u32)(most >> 32)});
}

/* Behind the innermost one: the next one that was not left before. Those that were may be entered again. */
__device__ __forceinline__ u32 step_out(u32 table, u32 left)
{
	u32 i = get_word(table + left * ROW) & PARENT_MASK;

	while (i && get_word(table + i * ROW + ROW_FLAGS) & LEFT) {
		u32 at = table + i * ROW, key = get_word(at);

		put_word(at + ROW_FLAGS, 0);
		put_word(at, get_word(at + ROW_MOST_ABOVE) ? key | SLOW : key & ~SLOW);
		i = key & PARENT_MASK;
	}
	return i;
}

/* A scope that is not the innermost one, or that has what is not the shortest way (SLOW), or was never entered. Which one is open then. */
static __device__ PROTON_KERNEL_SELDOM u32 leave_slowly(u32 table, u32 open, u32 key, u64 now)
{
	u32 i, at;
	struct unit h;

	for (i = open; i; i = h.a & PARENT_MASK) {
		at = table + i * ROW;
		h = get_unit(at);
		if (!((h.a ^ key) & ~(PARENT_MASK | SLOW)) && !(get_word(at + ROW_FLAGS) & LEFT))
			break;
		put_word(at, h.a | SLOW); /* which one is left behind it is to be looked for */
	}
	if (!i) {
		i = find_row(table, key);
		at = table + i * ROW + ROW_UNENTERED;
		put_word(at, get_word(at) + 1);
		return open;
	}
	add_time(at, now - join(h.c, h.d));
	if (i == open)
		return step_out(table, open);
	put_word(at + ROW_FLAGS, LEFT);
	return open;
}

__device__ __forceinline__ double as_double(u32 low, u32 high)
{
	return __longlong_as_double((long long)join(low, high));
}

__device__ __forceinline__ void add_value(u32 at, double v)
{
	struct unit h = get_unit(at), sum, most;
	double all = v, least = v, largest = v;

	if (h.b) {
		sum = get_unit(at + UNIT);
		most = get_unit(at + 2 * UNIT);
		all += as_double(sum.a, sum.b);
		least = fmin(v, as_double(sum.c, sum.d));
		largest = fmax(v, as_double(most.a, most.b));
	}
	put_word(at + ROW_COUNT, h.b + 1);
	put_unit(at + UNIT, split(number<double>::bits(all), number<double>::bits(least)));
	put_pair(at + 2 * UNIT, (u32)number<double>::bits(largest), (u32)(number<double>::bits(largest) >> 32));
}

/* As a slice has it (src/intra/warp_slices.h). */
__device__ __forceinline__ void settle_row(u32 at)
{
	struct unit h = get_unit(at), s = get_unit(at + UNIT), m = get_unit(at + 2 * UNIT);
	u32 kind = h.a >> SUM_KIND_SHIFT & 3, parent = h.a & PARENT_MASK, began = kind == KIND_EVENT ? h.c : 0;
	u64 least = kind == KIND_EVENT ? 0 : ~0ull, most = 0;

	if (kind == KIND_SCOPE) {
		began = (m.a & OPEN ? 1 : 0) + 2 * m.b;
		least = h.b ? join(s.c, m.c) : ~0ull;
		most = join(s.d, m.d);
	} else if (kind == KIND_VALUE) {
		least = join(s.c, s.d);
		most = join(m.a, m.b);
	}
	put_unit(at, {SUM_SCOPE | kind << 3 | h.a >> KEY_ID_SHIFT << ID_SHIFT, parent - 1, h.b, began});
	put_unit(at + UNIT, split(join(s.a, s.b), least));
	put_unit(at + 2 * UNIT, split(most, 0));
}

/* What a thread knows of its warp. */
struct warp {
	u32 table; /* address in shared memory; 0: it does not record */
	u32 open;  /* the row of the innermost scope that is open; 0: none */
	struct block *block;
	u32 n, rowless; /* as it ends: rows that are used, and records that had none */
	enum : u32 { HOW = HOW_SUMS };

	__device__ __forceinline__ void begin(u32 w, bool records)
	{
		table = open = n = rowless = 0;
		if (!records)
			return;
		table = shared_address(block->tables[w]);
		put_unit(table, {NO_KEY, 0, 0, 0});
		put_unit(table + 2 * UNIT, {0, 0, 0, 0});
		for (u32 i = 0; i < N_SHORTCUTS / 2; i++)
			put_unit(table + SHORTCUTS_AT + i * UNIT, {NO_KEY, 0, NO_KEY, 0});
	}

	__device__ __forceinline__ bool is_recording() const
	{
		return table != 0;
	}

	/* 0: none, which is a place like another. next: what is open behind it, where it is entered. */
	__device__ __forceinline__ u32 row_of(u32 key, u32 site, u32 &next) const
	{
		u32 shortcut = table + SHORTCUTS_AT + site % N_SHORTCUTS * SHORTCUT, known, r;

		get_pair_if(table, shortcut, &known, &r);
		next = r;
		if (__builtin_expect(table && known != key, 0)) {
			r = find_row_again(table, key, shortcut);
			next = r ? r : open;
		}
		return r;
	}

	__device__ __forceinline__ u32 row_of(u32 key, u32 site) const
	{
		u32 next;

		return row_of(key, site, next);
	}

	__device__ __forceinline__ void enter(u32 id, u32 site)
	{
		u32 next, r = row_of(key_of(id, KIND_SCOPE) + open, site, next);

		put_long_if(table, table + r * ROW + ROW_ENTERED, clock64());
		open = next;
	}

	__device__ __forceinline__ void leave(u32 id)
	{
		u64 now = clock64();
		u32 at = table + open * ROW, key = key_of(id, KIND_SCOPE), is = table;
		struct unit h = get_unit_if(table, at), s = get_next_unit_if(table, at + UNIT);
		u32 up = h.a - key; /* what it is within, where it is the one */
		u64 cycles = now - join(h.c, h.d), sum = join(s.a, s.b) + cycles;
		u32 c = (u32)cycles;

		if (__builtin_expect(table && (up > PARENT_MASK || cycles >> 32), 0)) {
			up = leave_slowly(table, open, key, now);
			is = 0;
		}
		put_word_if(is, at + ROW_COUNT, h.b + 1);
		put_unit_if(is, at + UNIT, {(u32)sum, (u32)(sum >> 32), c < s.c ? c : s.c, c > s.d ? c : s.d});
		open = up;
	}

	__device__ __forceinline__ void mark(u32 id, u32 site)
	{
		add_if(table, table + row_of(key_of(id, KIND_MARK) + open, site) * ROW + ROW_COUNT, 1);
	}

	__device__ __forceinline__ void event(u32 id, bool ends, u32, u32 site)
	{
		u64 now = clock64();
		u32 at = table + row_of(key_of(id, KIND_EVENT), site) * ROW;
		struct unit s = get_unit_if(table, at + UNIT);
		u64 sum = join(s.a, s.b) + (ends ? now : 0 - now);

		add_if(table, at + (ends ? ROW_COUNT : ROW_ENTERED), 1);
		put_long_if(table, at + UNIT, sum);
	}

	template <class T> __device__ __forceinline__ void value(u32 id, T v, u32 site)
	{
		if (is_recording() && (double)v == (double)v)
			add_value(table + row_of(key_of(id, KIND_VALUE) + open, site) * ROW, (double)v);
	}

	/* What is still open says so. */
	__device__ __forceinline__ void settle()
	{
		if (!is_recording())
			return;
		n = get_word(table + N_ROWS);
		rowless = get_word(table + N_ROWLESS);
		for (u32 i = open; i; i = get_word(table + i * ROW) & PARENT_MASK) {
			u32 flags = table + i * ROW + ROW_FLAGS;

			put_word(flags, get_word(flags) & LEFT ? 0 : OPEN);
		}
	}

	__device__ __forceinline__ u32 units() const
	{
		return n * UNITS_OF_ROW + rowless;
	}

	__device__ __forceinline__ u32 units_kept(u32) const
	{
		return n * UNITS_OF_ROW;
	}

	__device__ __forceinline__ u32 unit_at(u32 w, u32 i) const
	{
		return shared_address(block->tables[w]) + ROW + i * UNIT;
	}

	__device__ __forceinline__ void share(u32 there, u32 from)
	{
		n = __shfl_sync(there, n, from);
		__syncwarp(there); /* what it counted is in shared memory */
		for (u32 i = __popc(there & ((1u << lane()) - 1)); i < n; i += __popc(there))
			settle_row(unit_at(warp_index(), i * UNITS_OF_ROW));
		__syncwarp(there);
	}

	__device__ __forceinline__ void end()
	{
		begin(0, false);
	}
};

struct scope {
	warp &w;
	u32 id;

	__device__ __forceinline__ scope(warp &of, u32 name, u32 site) : w(of), id(name)
	{
		w.enter(id, site);
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

		settle();
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
/* One place in the source; NVRTC does not count them. */
#ifdef __COUNTER__
#define PROTON_KERNEL_PLACE __COUNTER__
#else
#define PROTON_KERNEL_PLACE __LINE__
#endif
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
									 PROTON_KERNEL_ID(name), n)

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
#define PROTON_ENTER(name) PROTON_KERNEL_RECORD(name, proton_kernel_warp.enter(proton_kernel_id, PROTON_KERNEL_PLACE))
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
#define PROTON_SCOPE(name) PROTON_KERNEL_SCOPE(name, PROTON_KERNEL_PLACE)

/* A moment: how often it was is "scope_entries", below the scope that is open.
 *   unit    none
 *   source  as PROTON_ENTER()
 *   errors  as PROTON_SCOPE()
 *   thread  as PROTON_ENTER() */
#define PROTON_MARK(name) PROTON_KERNEL_RECORD(name, proton_kernel_warp.mark(proton_kernel_id, PROTON_KERNEL_PLACE))

/* A number, below the scope that is open: "scope_value" is the sum, with "scope_value_min", "scope_value_max", and "scope_entries" says how
 * many.
 *   unit    the program's
 *   source  value: a number of up to 64 bits, the first thread's. Name: as PROTON_ENTER()
 *   errors  as PROTON_SCOPE(); what is no number (NaN) is counted ("warp_unmatched")
 *   thread  as PROTON_ENTER() */
#define PROTON_METRIC(name, value_) \
	PROTON_KERNEL_RECORD(name, proton_kernel_warp.value(proton_kernel_id, +(value_), PROTON_KERNEL_PLACE))

/* What begins here and ends there, in another iteration, or in another warp of the block: a copy that is under way, say. Below the kernel.
 * Those of one name end in the order in which they began, unless the program says which (0 to 2047).
 *   unit    as PROTON_ENTER()
 *   source  as PROTON_ENTER()
 *   errors  as PROTON_ENTER()
 *   thread  as PROTON_ENTER() */
#define PROTON_EVENT_BEGIN(name) PROTON_EVENT_BEGIN_OF(name, 0)
#define PROTON_EVENT_END(name)   PROTON_EVENT_END_OF(name, 0)
#define PROTON_EVENT_BEGIN_OF(name, which) \
	PROTON_KERNEL_RECORD(name, proton_kernel_warp.event(proton_kernel_id, false, (which), PROTON_KERNEL_PLACE))
#define PROTON_EVENT_END_OF(name, which) \
	PROTON_KERNEL_RECORD(name, proton_kernel_warp.event(proton_kernel_id, true, (which), PROTON_KERNEL_PLACE))

/* In the parameters and arguments of functions that record, behind all others.
 *   unit    none
 *   source  the kernel's PROTON_KERNEL_INIT()
 *   errors  none
 *   thread  all of the warp */
#define PROTON_KERNEL_PARAMETER , proton_kernel::warp &proton_kernel_warp
#define PROTON_KERNEL_ARGUMENT  , proton_kernel_warp
#endif
#endif
