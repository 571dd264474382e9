// SPDX-License-Identifier: MIT
// Sums of <proton/kernel.cuh> on the processor, against a plain model of them: by fuzzing, and where shortcuts could be wrong.
//   kernel_sums SEED ROUNDS
// What the header has in PTX is here (scripts/kernel_sums.sh leaves their prototypes); a warp is one thread after another.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __shared__     static
#define __CUDACC_RTC__ // no library here
#define PROTON_KERNEL
#define PROTON_KERNEL_ACCUMULATE
#define PROTON_KERNEL_WARPS 2

struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
static struct {
	unsigned x, y, z;
} threadIdx, blockIdx, blockDim = {64, 1, 1}, gridDim = {1, 1, 1};

static unsigned __activemask()
{
	return 1;
}
static int __ffs(unsigned v)
{
	return __builtin_ffs((int)v);
}
static int __popc(unsigned v)
{
	return __builtin_popcount(v);
}
static unsigned __ballot_sync(unsigned, bool p)
{
	return p;
}
template <class T> static T __shfl_sync(unsigned, T v, int)
{
	return v;
}
static void __syncwarp(unsigned)
{
}
static void atomicAdd(unsigned *to, unsigned n)
{
	*to += n;
}
static unsigned long long __cvta_generic_to_shared(const void *p)
{
	return (uintptr_t)p; // below 4 GiB: linked without -pie
}
static long long __double_as_longlong(double v)
{
	long long bits;
	memcpy(&bits, &v, sizeof(bits));
	return bits;
}
static double __longlong_as_double(long long bits)
{
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}
static unsigned __float_as_uint(float v)
{
	unsigned bits;
	memcpy(&bits, &v, sizeof(bits));
	return bits;
}
using std::fmax;
using std::fmin;

#include <proton/kernel.cuh>

static unsigned long long now = 1ull << 40;
static unsigned
	n_slow; // threads do not touch what is not theirs: what they ask for with 0 is not done

namespace proton_kernel
{
u64 clock64()
{
	return now;
}
u64 time_ns()
{
	return now;
}
u32 lane()
{
	return 0;
}
u32 multiprocessor()
{
	return 3;
}
u64 launch_number()
{
	return 7;
}
u64 add(u64 *to, u64 n)
{
	u64 before = *to;
	*to += n;
	return before;
}
void count(u64 *in)
{
	++*in;
}
struct ring ring_of(const struct seat *s)
{
	return {s->ring, s->step, s->is_full, s->ring_mask};
}
void put_pairs(u64 to, u64 first, u64 second)
{
	((u64 *)to)[0] = first;
	((u64 *)to)[1] = second;
}
u32 copy_unit(u64 to, u32 from)
{
	u32 *v = (u32 *)to;
	memcpy(v, (void *)(uintptr_t)from, 16);
	return v[0] + 3 * v[1] + 5 * v[2] + 7 * v[3];
}
u32 get_word(u32 at)
{
	n_slow++;
	return *(u32 *)(uintptr_t)at;
}
void put_word(u32 at, u32 v)
{
	*(u32 *)(uintptr_t)at = v;
}
struct unit get_unit(u32 at)
{
	return *(struct unit *)(uintptr_t)at;
}
void put_unit(u32 at, const struct unit &u)
{
	*(struct unit *)(uintptr_t)at = u;
}
void put_pair(u32 at, u32 low, u32 high)
{
	put_word(at, low);
	put_word(at + 4, high);
}
void get_pair_if(u32 is, u32 at, u32 *ret_low, u32 *ret_high)
{
	*ret_low = is ? *(u32 *)(uintptr_t)at : 0xdeadbeef;
	*ret_high = is ? *(u32 *)(uintptr_t)(at + 4) : 0xdeadbeef;
}
struct unit get_unit_if(u32 is, u32 at)
{
	return is ? get_unit(at) : unit{0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef};
}
struct unit get_next_unit_if(u32 is, u32 at)
{
	return get_unit_if(is, at);
}
void put_unit_if(u32 is, u32 at, const struct unit &u)
{
	if (is)
		put_unit(at, u);
}
void put_word_if(u32 is, u32 at, u32 v)
{
	if (is)
		put_word(at, v);
}
void put_long_if(u32 is, u32 at, u64 v)
{
	if (is)
		put_pair(at, (u32)v, (u32)(v >> 32));
}
void add_if(u32 is, u32 at, u32 n)
{
	if (is)
		*(u32 *)(uintptr_t)at += n;
}
} // namespace proton_kernel
using namespace proton_kernel;

// ---- what sums are ----

struct model_row {
	u32 id;
	enum sum_kind kind;
	int parent;
	u32 count = 0, began = 0, unentered = 0;
	bool is_open = false;
	u64 entered = 0, sum = 0, least = ~0ull, most = 0;
	double all = 0, smallest = 0, largest = 0;
};

struct model {
	std::vector<model_row> rows;
	u32 rowless = 0;
	int open = -1;

	model_row *find(const char *name, enum sum_kind kind, int parent)
	{
		u32 id = hash(name);

		for (model_row &r : rows)
			if (r.id == id && r.kind == kind && r.parent == parent)
				return &r;
		if (rows.size() == PROTON_KERNEL_ROWS) {
			rowless++;
			return nullptr;
		}
		rows.push_back({id, kind, parent});
		return &rows.back();
	}
	void enter(const char *name)
	{
		if (model_row *r = find(name, KIND_SCOPE, open)) {
			r->is_open = true;
			r->entered = now;
			open = (int)(r - rows.data());
		}
	}
	void leave(const char *name)
	{
		int i = open;

		while (i >= 0 && !(rows[i].id == hash(name) && rows[i].is_open))
			i = rows[i].parent;
		if (i < 0) {
			if (model_row *r = find(name, KIND_SCOPE, -1))
				r->unentered++;
			return;
		}
		model_row &r = rows[i];
		u64 cycles = now - r.entered;
		r.is_open = false;
		r.count++;
		r.sum += cycles;
		r.least = cycles < r.least ? cycles : r.least;
		r.most = cycles > r.most ? cycles : r.most;
		while (open >= 0 && !rows[open].is_open)
			open = rows[open].parent;
	}
	void mark(const char *name)
	{
		if (model_row *r = find(name, KIND_MARK, open))
			r->count++;
	}
	void value(const char *name, double v)
	{
		model_row *r = std::isnan(v) ? nullptr : find(name, KIND_VALUE, open);

		if (!r)
			return;
		r->all = r->count ? r->all + v : v;
		r->smallest = r->count ? fmin(r->smallest, v) : v;
		r->largest = r->count ? fmax(r->largest, v) : v;
		r->count++;
	}
	void event(const char *name, bool ends)
	{
		model_row *r = find(name, KIND_EVENT, -1);

		if (!r)
			return;
		r->sum += ends ? now : 0 - now;
		ends ? r->count++ : r->began++;
	}
};

static struct model *m;

struct model_scope {
	const char *name;
	explicit model_scope(const char *n) : name(n)
	{
		m->enter(name);
	}
	~model_scope()
	{
		m->leave(name);
	}
};

// ---- what warps do, and the model ----

static u32 random_state;
static u32 draw(u32 below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (u32)((u64)(random_state >> 4) * below >> 28);
}

static u64 pause_most = 1000;
static void tick()
{
	now += draw(256) ? draw((u32)pause_most) : (u64)draw(5) << 31;
}

#define ENTER(name)                                                                                \
	do {                                                                                       \
		tick();                                                                            \
		m->enter(name);                                                                    \
		PROTON_ENTER(name);                                                                \
	} while (0)
#define LEAVE_(name)                                                                               \
	do {                                                                                       \
		tick();                                                                            \
		m->leave(name);                                                                    \
		PROTON_EXIT(name);                                                                 \
	} while (0)
#define MARK_(name)                                                                                \
	do {                                                                                       \
		m->mark(name);                                                                     \
		PROTON_MARK(name);                                                                 \
	} while (0)
#define VALUE(name, v)                                                                             \
	do {                                                                                       \
		m->value(name, v);                                                                 \
		PROTON_METRIC(name, v);                                                            \
	} while (0)
#define BEGIN(name)                                                                                \
	do {                                                                                       \
		tick();                                                                            \
		m->event(name, false);                                                             \
		PROTON_EVENT_BEGIN(name);                                                          \
	} while (0)
#define END(name)                                                                                  \
	do {                                                                                       \
		tick();                                                                            \
		m->event(name, true);                                                              \
		PROTON_EVENT_END(name);                                                            \
	} while (0)
#define SCOPE_(name)                                                                               \
	tick();                                                                                    \
	model_scope proton_model(name);                                                            \
	PROTON_SCOPE(name)

static void within(u32 PROTON_KERNEL_PARAMETER)
{
	SCOPE_("within");
	MARK_("m");
	tick();
}

static void recurse(int depth PROTON_KERNEL_PARAMETER)
{
	SCOPE_("recurse");
	if (depth)
		recurse(depth - 1 PROTON_KERNEL_ARGUMENT);
	tick();
}

static void step(u32 what, u32 n PROTON_KERNEL_PARAMETER)
{
	switch (what) {
	case 0:
		ENTER("a");
		break;
	case 1:
		ENTER("b");
		break;
	case 2:
		ENTER("c");
		break;
	case 3:
		ENTER("d");
		break;
	case 4:
		LEAVE_("a");
		break;
	case 5:
		LEAVE_("b");
		break;
	case 6:
		LEAVE_("c");
		break;
	case 7:
		LEAVE_("d");
		break;
	case 8:
		MARK_("m");
		break;
	case 9:
		VALUE("v", (double)n - 40);
		break;
	case 10:
		VALUE("v", std::nan(""));
		break;
	case 11:
		BEGIN("e");
		break;
	case 12:
		END("e");
		break;
	case 13: {
		SCOPE_("a");
		within(0 PROTON_KERNEL_ARGUMENT);
		tick();
	} break;
	case 14: {
		SCOPE_("s");
		within(0 PROTON_KERNEL_ARGUMENT);
		LEAVE_("a");
		tick();
	} break;
	case 15:
		recurse(n % 4 PROTON_KERNEL_ARGUMENT);
		break;
	case 16:
		LEAVE_("a");
		MARK_("m");
		ENTER("a");
		break;
	case 17:
		VALUE("a", n * 1e300);
		break;
	}
}
enum { STEPS = 18 };

// ---- the slice that a warp leaves ----

static char *rings;
static struct arena *device;

static void make_arena()
{
	device = (struct arena *)calloc(1, sizeof(*device));
	rings = (char *)calloc(1, ROOM);
	device->is_on = ALL_RECORD;
	device->rings = (u64)(uintptr_t)rings;
	proton_kernel_arena_2 = (u64)(uintptr_t)device;
}

static int n_bad;
static void same(const char *what, u64 got, u64 want)
{
	if (got == want)
		return;
	if (n_bad++ < 10)
		printf("%s: want %llx, got %llx\n", what, want, got);
}

static u64 two(const u32 *w)
{
	return w[0] | (u64)w[1] << 32;
}

static void compare_row(const u32 *w, const model_row &r)
{
	u64 least = r.least, most = r.most, sum = r.sum;
	u32 began = r.kind == KIND_SCOPE ? r.is_open + 2 * r.unentered : r.began;

	if (r.kind == KIND_VALUE) {
		sum = (u64)__double_as_longlong(r.all);
		least = (u64)__double_as_longlong(r.smallest);
		most = (u64)__double_as_longlong(r.largest);
	}
	same("tag", w[0], SUM_SCOPE | (u32)r.kind << 3 | r.id << ID_SHIFT);
	same("parent", w[1], (u32)r.parent);
	same("count", w[2], r.count);
	same("began", w[3], began);
	if (r.kind != KIND_MARK)
		same("sum", two(w + 4), sum);
	if (r.kind == KIND_SCOPE || (r.kind == KIND_VALUE && r.count)) {
		same("least", two(w + 6), least);
		same("most", two(w + 8), most);
	}
}

static void compare(const char *name)
{
	const u32 *w = (const u32 *)rings, *unit = w + HEAD_WORDS;
	u32 sum = 3 * w[19];
	int before = n_bad;

	same("bytes", w[2], (u32)(HEAD_WORDS * 4 + m->rows.size() * ROW));
	same("units", w[3], (u32)(m->rows.size() * UNITS_OF_ROW + m->rowless));
	same("how", w[19], HOW_SUMS);
	for (int i = 2; i < 18; i++)
		sum += (i % 2 ? 3 : 1) * w[i];
	for (u32 i = 0; i < m->rows.size() * ROW / 4; i++)
		sum += (2 * (i % 4) + 1) * unit[i];
	same("sum of the slice", w[18], sum);
	for (size_t i = 0; i < m->rows.size() && i < (w[2] - HEAD_WORDS * 4) / ROW; i++)
		compare_row(unit + i * ROW / 4, m->rows[i]);
	if (n_bad > before)
		printf("%s: differs\n", name);
}

template <class F> static void one(const char *name, F does)
{
	struct model model;

	m = &model;
	memset(rings, 0xa5, ROOM);
	device->rooms[0] = {};
	device->seats[3] = {};
	{
		__shared__ struct block block;
		memset((void *)&block, 0x5a, sizeof(block));
		struct kernel proton_kernel_warp(&block);
		does(proton_kernel_warp);
	}
	compare(name);
}

// Others of the warp do what its first thread does, or another branch of it, and leave its rows alone.
static void others()
{
	struct model unused, *mine = m;
	struct warp proton_kernel_warp;

	proton_kernel_warp.block = nullptr;
	proton_kernel_warp.begin(0, false);
	m = &unused;
	for (u32 i = 0; i < 3 * STEPS; i++)
		step(i % STEPS, i PROTON_KERNEL_ARGUMENT);
	m = mine;
}

static void fuzz(u32 seed)
{
	u32 names = 1 + seed % 4, n = 50 + seed % 400;

	random_state = seed * 2654435761u;
	pause_most = seed & 16 ? 1000 : 4000000000u;
	one("fuzz", [&](struct warp &proton_kernel_warp) {
		for (u32 i = 0; i < n; i++) {
			u32 what = draw(STEPS);

			if (what < 8)
				what = what / 4 * 4 + what % 4 % names;
			step(what, i PROTON_KERNEL_ARGUMENT);
			if (seed % 8 == 0 && draw(16) == 0)
				others();
		}
	});
	pause_most = 1000;
}

int main(int argc, char **argv)
{
	u32 seed = argc > 1 ? (u32)atoi(argv[1]) : 1, rounds = argc > 2 ? (u32)atoi(argv[2]) : 1000;

	make_arena();
	one("a place within two", [](struct warp &proton_kernel_warp) {
		for (int i = 0; i < 100; i++) {
			{
				SCOPE_("a");
				within(0 PROTON_KERNEL_ARGUMENT);
				tick();
			}
			{
				SCOPE_("b");
				within(0 PROTON_KERNEL_ARGUMENT);
				tick();
			}
		}
	});
	one("longer than 32 bits, then not", [](struct warp &proton_kernel_warp) {
		for (u64 cycles :
		     {5ull << 32, 7ull, (1ull << 32) - 1, 1ull << 32, 1ull << 33, 0ull}) {
			m->enter("long");
			PROTON_ENTER("long");
			now += cycles;
			m->leave("long");
			PROTON_EXIT("long");
		}
		same("long: cycles", m->rows[0].sum, (9ull << 32) + 6);
	});
	one("deeper than there are rows", [](struct warp &proton_kernel_warp) {
		recurse(PROTON_KERNEL_ROWS + 9 PROTON_KERNEL_ARGUMENT);
		recurse(PROTON_KERNEL_ROWS + 9 PROTON_KERNEL_ARGUMENT);
		for (int i = 0; i < 5; i++)
			MARK_("no room");
	});
	one("left in another order", [](struct warp &proton_kernel_warp) {
		for (int i = 0; i < 10; i++) {
			ENTER("a");
			ENTER("b");
			ENTER("c");
			LEAVE_("a");
			LEAVE_("b");
			MARK_("m");
			LEAVE_("c");
			LEAVE_("never");
		}
		ENTER("stays open");
	});
	one("others in the warp", [](struct warp &proton_kernel_warp) {
		for (int i = 0; i < 10; i++) {
			SCOPE_("a");
			if (i % 2) {
				SCOPE_("mine");
				others();
				tick();
			} else {
				others();
			}
			tick();
		}
	});
	/* Shortcuts are taken: the second time of a name nothing is looked for. */
	one("as before", [](struct warp &proton_kernel_warp) {
		for (int i = 0; i < 100; i++) {
			if (i == 1)
				n_slow = 0;
			m->enter("loop");
			PROTON_ENTER("loop");
			now += 9;
			m->leave("loop");
			PROTON_EXIT("loop");
		}
		same("words looked at for what is known", n_slow, 0);
	});
	for (u32 i = 0; i < rounds; i++)
		fuzz(seed + i);
	printf("%u rounds, %d differences\n", rounds, n_bad);
	return n_bad > 0;
}
