/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_ABI_H
#define PROTON_COLLECT_TORCH_ABI_H
/* What PyTorch's library for the processor (libtorch_cpu.so) has for those who observe its operators, in our
 * own words: at::RecordFunction. The same in 1.13 to 2.15; where a record keeps its sequence number differs and
 * is found at run time. The callbacks are C++ functions that return a unique_ptr, which on x86-64 is
 * returned in memory that the caller names. */
#include <stdint.h>

/* at::RecordScope: the kinds of records that we look at. */
enum {
	TORCH_FUNCTION = 0,
	TORCH_BACKWARD = 1,
	TORCH_LITE = 6, /* used by nobody: for our own test */
	TORCH_USER = 7,
	TORCH_N_SCOPES = 10,
};

/* at::RecordFunctionCallback, handed over by value. `context` is at::ObserverContext: its first word points to
 * functions that destroy it. */
struct torch_callback {
	void **(*start)(void **ret_context, const char *record);
	void (*end)(const char *record, void **context);
	double probability;
	uint8_t scopes[TORCH_N_SCOPES]; /* 1: of this kind */
	uint8_t needs_inputs, needs_outputs, needs_ids;
};
_Static_assert(sizeof(struct torch_callback) == 40, "at::RecordFunctionCallback");

/* std::variant<std::string_view, std::reference_wrapper<const FunctionSchema>> of a name */
struct torch_name {
	uint64_t len;
	const char *text;
	uint8_t index; /* 0: it is a text */
};

/*    type, name here, arguments, symbol. The last two are one function, of newer and of older versions. */
#define TORCH_FUNCTIONS(_)                                                                         \
	_(uint64_t, add_callback, (struct torch_callback callback),                                \
	  "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE")                                \
	_(void, remove_callback, (uint64_t handle), "_ZN2at14removeCallbackEm")                    \
	_(const char *, name, (const char *record), "_ZNK2at14RecordFunction4nameEv")              \
	_(uint64_t, thread_id, (void), "_ZN2at14RecordFunction15currentThreadIdEv")
#define TORCH_OWN_RECORDS(_)                                                                       \
	_(void, record_init, (char *record, uint8_t scope),                                        \
	  "_ZN2at14RecordFunctionC1ENS_11RecordScopeE")                                            \
	_(void, record_done, (char *record), "_ZN2at14RecordFunctionD1Ev")                         \
	_(void, before, (char *record, struct torch_name name, int64_t sequence),                  \
	  "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt" \
	  "17reference_wrapperIKN3c1014FunctionSchemaEEEEl")                                       \
	_(void, before_text, (char *record, const char *name, int64_t sequence),                   \
	  "_ZN2at14RecordFunction6beforeEPKcl")

#endif
