/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_library.h"
#include <dlfcn.h>
#include <string.h>
#include "base/loaded.h"

enum {
	RECORD_MAX = 2048, /* bytes of a record, more than any version has */
	FIELDS_END = 512,  /* … in which fields are looked for */
};

struct torch_library torch;

/* Its name may have a version behind it. */
const char *torch_library_path(void)
{
	return loaded_path("libtorch_cpu.so");
}

bool torch_library_find(void *in)
{
	bool found = true;
	void *v;

#define _(type, name_, arguments, symbol)                                                          \
	v = dlsym(in, symbol);                                                                     \
	memcpy(&torch.name_, &v, sizeof(v));                                                       \
	found = found && v;
	TORCH_FUNCTIONS(_)
#undef _
#define _(type, name_, arguments, symbol)                                                          \
	v = dlsym(in, symbol);                                                                     \
	memcpy(&torch.name_, &v, sizeof(v));
	TORCH_OWN_RECORDS(_)
#undef _
	return found;
}

#define MAGIC INT64_C(0x70726f746f6e)

/* Records of our own, as our callback saw them. */
static struct {
	char bytes[2][FIELDS_END];
	unsigned n;
} seen;

static void **begin_own(void **ret_context, const char *record)
{
	if (seen.n < 2)
		memcpy(seen.bytes[seen.n], record, FIELDS_END);
	seen.n++;
	*ret_context = NULL;
	return ret_context;
}

static void end_own(const char *record, void **context)
{
	(void)record;
	(void)context;
}

static void make_own(int64_t sequence)
{
	_Alignas(64) char record[RECORD_MAX] = {0};

	torch.record_init(record, TORCH_LITE);
	if (torch.before)
		torch.before(record, (struct torch_name){6, "proton", 0}, sequence);
	else
		torch.before_text(record, "proton", sequence);
	torch.record_done(record);
}

static uint64_t word(unsigned of, unsigned at)
{
	uint64_t v;

	memcpy(&v, seen.bytes[of] + at, sizeof(v));
	return v;
}

/* Where a record keeps its sequence number, and where the number of the thread that a backward one is made by:
 * before the record's own number, which is the one that counts up by one. */
static void find_fields(void)
{
	unsigned sequence = 0, own = 0, n_sequence = 0, n_own = 0;

	for (unsigned i = 0; i + 8 <= FIELDS_END; i += 8) {
		if (word(0, i) == (uint64_t)MAGIC && word(1, i) == (uint64_t)MAGIC + 1) {
			sequence = i;
			n_sequence++;
		} else if (word(0, i) && word(1, i) == word(0, i) + 1) {
			own = i;
			n_own++;
		}
	}
	if (n_sequence != 1 || n_own != 1 || own < sequence + 16)
		return;
	torch.sequence = sequence;
	torch.forward_thread = own - 8;
}

void torch_library_measure(void)
{
	struct torch_callback callback = {begin_own, end_own, 1.0, {0}, 0, 0, 1};
	uint64_t handle;

	if (!torch.record_init || !torch.record_done || (!torch.before && !torch.before_text))
		return;
	callback.scopes[TORCH_LITE] = 1;
	seen.n = 0;
	handle = torch.add_callback(callback);
	make_own(MAGIC);
	make_own(MAGIC + 1);
	torch.remove_callback(handle);
	if (seen.n == 2)
		find_fields();
}
