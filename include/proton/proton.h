/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PROTON_H
#define PROTON_PROTON_H
/* Names for the parts of a program, seen by `proton`. C and C++; the header is all there is.
 *
 *	#include <proton/proton.h>
 *
 *	proton_enter_scope("train_step");
 *	proton_scope_metric("flops", 2.0 * m * n * k);
 *	launch_kernels();
 *	proton_exit_scope();
 *
 * Nothing needs to be linked. The first call reads PROTON_LIBRARY, which `proton` sets for the
 * programs that it starts, opens the collector named there and takes its table of functions.
 * Without it every call is a load and a branch. With glibc before 2.34, link with -ldl.
 *
 * Scopes belong to the thread that enters them and nest. Whatever the thread launches on a device
 * while scopes are open is shown under them; the work itself may run later.
 *
 * Define PROTON_DISABLE before the #include to compile all of it to nothing. */
#include <stdint.h>

#define PROTON_API_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

/* The functions behind this header, in the collector. Later versions only add at the end.
 *   unit    size: bytes of the table that this collector has
 *   source  proton_get_api()
 *   errors  functions return as the inline ones below do
 *   thread  any */
struct proton_api_v1 {
	uint32_t version; /* PROTON_API_VERSION of the collector */
	uint32_t size;
	int (*enter_scope)(const char *name);
	int (*exit_scope)(void);
	void (*metric_f64)(const char *name, double value);
	void (*metric_u64)(const char *name, uint64_t value);
	void (*property_f64)(const char *name, double value);
	void (*property_u64)(const char *name, uint64_t value);
	int (*active)(void);
};

/* What the collector exports under the name "proton_get_api".
 *   unit    version: PROTON_API_VERSION that the caller was compiled with
 *   source  the collector (libproton.so)
 *   errors  NULL: this collector does not know that version
 *   thread  any */
typedef const struct proton_api_v1 *proton_get_api_fn(uint32_t version);

#ifdef __cplusplus
}
#endif

#ifdef PROTON_DISABLE

#define PROTON_CALL_(function, arguments, otherwise) (otherwise)
#define PROTON_RUN_(function, arguments)             ((void)0)

#else

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One pointer for each program or shared library, shared by its source files. NULL: not looked yet.
 * A version of 0 says that there is no collector. */
__attribute__((weak, visibility("hidden"))) const struct proton_api_v1 *proton_api_pointer_;

/* First call: find the collector. Two threads may both do it; both find the same. */
__attribute__((cold, noinline, unused)) static const struct proton_api_v1 *proton_api_load_(void)
{
	static const struct proton_api_v1 none = {0, 0, 0, 0, 0, 0, 0, 0, 0};
	const struct proton_api_v1 *api = &none;
	proton_get_api_fn *get = 0;
	/* A program that gained privileges must not load what its caller names. */
	const char *path = getauxval(AT_SECURE) ? 0 : getenv("PROTON_LIBRARY");
	/* Without a name: what is in the program already, by LD_PRELOAD. */
	void *handle = dlopen(path && *path ? path : 0, RTLD_NOW | RTLD_LOCAL);
	void *symbol = handle ? dlsym(handle, "proton_get_api") : 0;

	if (symbol) {
		memcpy(&get, &symbol, sizeof(get)); /* ISO C has no cast between the two */
		api = get(PROTON_API_VERSION);
		if (!api)
			api = &none;
	}
	__atomic_store_n(&proton_api_pointer_, api, __ATOMIC_RELEASE);
	return api;
}

static inline const struct proton_api_v1 *proton_api_(void)
{
	const struct proton_api_v1 *api = __atomic_load_n(&proton_api_pointer_, __ATOMIC_ACQUIRE);

	return api ? api : proton_api_load_();
}

#ifdef __cplusplus
}
#endif

#define PROTON_CALL_(function, arguments, otherwise)                                               \
	(proton_api_()->version ? proton_api_()->function arguments : (otherwise))
#define PROTON_RUN_(function, arguments)                                                           \
	do {                                                                                       \
		if (proton_api_()->version)                                                        \
			proton_api_()->function arguments;                                         \
	} while (0)

#endif /* PROTON_DISABLE */

#ifdef __cplusplus
extern "C" {
#endif

/* Open a scope on this thread: a frame of the calling context of all that it launches from now on.
 *   unit    frames that the thread's calling context had before (0: this one is the outermost)
 *   source  name is copied: any UTF-8, "" and NULL show as "<scope>"
 *   errors  -1: nobody is profiling, or the thread's stack is full (counted); exit it all the same
 *   thread  any; belongs to the caller */
static inline int proton_enter_scope(const char *name)
{
	(void)name;
	return PROTON_CALL_(enter_scope, (name), -1);
}

/* Close the innermost scope of this thread.
 *   unit    frames that the thread's calling context has left
 *   source  proton_enter_scope()
 *   errors  -1: nobody is profiling, or no scope is open (counted as "scope_mismatch")
 *   thread  the one that opened it */
static inline int proton_exit_scope(void)
{
	return PROTON_CALL_(exit_scope, (), -1);
}

/* Add to a metric of the current calling context. Values add up over calls and over children.
 *   unit    as the name says: "flops", "flops8", "flops16", "flops32", "flops64": operations;
 *           "bytes": bytes, rounded to an integer; any other name: yours, "name (unit)" shows it
 *   source  the program
 *   errors  NaN, infinities and values below 0 for "bytes" are ignored; so are values below 0 of
 *           a metric whose first value in the process was an integer, whose fractions are rounded,
 *           and names of Proton's that add up in no such way ("direction", "time_min (ns)"): a note
 *           says which
 *   thread  any */
static inline void proton_scope_metric(const char *name, double value)
{
	(void)name;
	(void)value;
	PROTON_RUN_(metric_f64, (name, value));
}

/* The same for integers, exact to 64 bits.
 *   unit    as proton_scope_metric(); "flops" and its kin become floating point
 *   source  the program
 *   errors  none
 *   thread  any */
static inline void proton_scope_metric_u64(const char *name, uint64_t value)
{
	(void)name;
	(void)value;
	PROTON_RUN_(metric_u64, (name, value));
}

/* Describe the current calling context: the last value wins, nothing is ever added up.
 *   unit    as the name says ("batch size", "learning rate")
 *   source  the program
 *   errors  NaN and infinities are ignored
 *   thread  any */
static inline void proton_scope_property(const char *name, double value)
{
	(void)name;
	(void)value;
	PROTON_RUN_(property_f64, (name, value));
}

/* The same for integers, exact to 64 bits.
 *   unit    as the name says
 *   source  the program
 *   errors  none
 *   thread  any */
static inline void proton_scope_property_u64(const char *name, uint64_t value)
{
	(void)name;
	(void)value;
	PROTON_RUN_(property_u64, (name, value));
}

/* Is somebody profiling this program now? To skip work that only prepares names or metrics.
 *   unit    1 or 0
 *   source  the collector
 *   errors  none
 *   thread  any */
static inline int proton_active(void)
{
	return PROTON_CALL_(active, (), 0);
}

/* Ends what proton_scope() began, pushed or counted; not to be called. */
static inline void proton_scope_end_(int *depth)
{
	(void)depth;
	proton_exit_scope();
}

#ifdef __cplusplus
}
#endif

#define PROTON_JOIN_2_(a, b) a##b
#define PROTON_JOIN_(a, b)   PROTON_JOIN_2_(a, b)

/* A scope from here to the end of the enclosing block, however it is left. A declaration; one a
 * line. C++ exceptions close it, longjmp() does not.
 *   unit    none
 *   source  proton_enter_scope()
 *   errors  as proton_enter_scope()
 *   thread  any */
#define proton_scope(name)                                                                         \
	__attribute__((cleanup(proton_scope_end_), unused)) int PROTON_JOIN_(                      \
		proton_scope_at_, __LINE__) = proton_enter_scope(name)

#endif
