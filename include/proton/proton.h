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
 * A session is a profile of its own: of what the program launches while it is active.
 *
 *	int warm = proton_session_start("warm_up", NULL);
 *	...
 *	proton_session_finalize(warm, NULL);	// warm_up.hatchet
 *
 * One that is not finalized is written when the program has ended, however it ends.
 *
 * A session may have phases, one after another. Each is a profile that the program can look at while it runs
 * (proton_session_data()), and clear when it has seen it, so that it runs for ever in memory that does not grow.
 *
 * Define PROTON_DISABLE before the #include to compile all of it to nothing. */
#include <stddef.h>
#include <stdint.h>

#define PROTON_API_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

/* What functions of sessions return when they fail.
 *   unit    none
 *   source  proton_session_start() and its kin; proton_session_error() has a sentence
 *   errors  none
 *   thread  any */
enum proton_status {
	PROTON_OK = 0,
	PROTON_NOBODY = -1,  /* nobody is profiling */
	PROTON_INVALID = -2, /* an argument is not known, or not there yet */
	PROTON_UNKNOWN = -3, /* no such session: never started, finalized, or a parent process's */
	PROTON_FULL = -4,    /* too many sessions or phases, or no memory */
	PROTON_UNWRITTEN = -5, /* the file was not written, or the data not made */
	PROTON_BUSY = -6, /* called in a signal handler that came in the middle of another call */
};

/* In place of a session: each that is not finalized. */
#define PROTON_ALL_SESSIONS (-1)

/* How a session is made. NULL and "" stand for what is usual.
 *   unit    size: sizeof(struct proton_session_options)
 *   source  the program; copied
 *   errors  what is not known is PROTON_INVALID
 *   thread  any */
struct proton_session_options {
	size_t size;
	const char
		*context; /* "shadow": scopes and ranges of NVTX; "scopes": without these; "python":
			      * frames of Python alone; else all that the run reads. With any of the
			      * three words other readers of the file find no time of scopes on the
			      * host, as of Triton's Proton, whose words they are */
	const char
		*data; /* "tree", or "trace": when each operation ran; "events": that alone, without
			   * the names of processes and threads, as Triton's Proton before 3.8; "warps": each
			   * scope of each warp within kernels of Triton that its compiler made record */
	const char *
		backend; /* "cupti", "opencl", "openmp": what runs on its devices; "instrumentation":
			      * kernels with scopes within them; else all */
	const char *
		mode; /* "periodic_flushing": phases that are complete are written and cleared as the
			   * program goes on; ":format=hatchet_msgpack" behind it: so. "pcsampling": samples
			   * of the code of kernels from now on, as of record --pc-sampling. "metrics:names=gmp":
			   * hardware metrics of kernels, as of record --metrics; of the first session of a program
			   * that nobody else profiles, else those of the run */
	const char *hook; /* there is none in C */
};

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
	/* since 0.1.0 as released: look at `size` */
	int (*session_start)(const char *name, const struct proton_session_options *options);
	int (*session_activate)(int session);
	int (*session_deactivate)(int session, int flush);
	int (*session_finalize)(int session, const char *format);
	const char *(*session_error)(void);
	int (*state_enter)(const char *name);
	int (*state_exit)(void);
	void (*metric_i64)(const char *name, int64_t value);
	int (*metric_vector)(const char *name, const double *values, size_t n);
	int (*metric_vector_i64)(const char *name, const int64_t *values, size_t n);
	int (*launch_begin)(const char *name);
	int (*launch_end)(void);
	int (*phase_advance)(int session);
	int (*phase_is_complete)(int session, int phase);
	int (*phase_clear)(int session, int phase, int up_to);
	int (*session_data)(int session, int phase, const char *format, char **ret_data,
			    size_t *ret_size);
	void (*data_free)(char *data);
	int (*context_depth)(void);
	void (*has_kernel_scopes)(void);
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

#define PROTON_CALL_(function, arguments, otherwise)  (otherwise)
#define PROTON_RUN_(function, arguments)              ((void)0)
#define PROTON_HAS_(function)                         (0)
#define PROTON_LATER_(function, arguments, otherwise) (otherwise)

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
	static const struct proton_api_v1 none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
						  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
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

/* A function that not every collector of this version has. */
#define PROTON_HAS_(function)                                                                      \
	(proton_api_()->size >= offsetof(struct proton_api_v1, function) + sizeof(void *))
#define PROTON_LATER_(function, arguments, otherwise)                                              \
	(PROTON_HAS_(function) ? proton_api_()->function arguments : (otherwise))

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

/* Add to a metric of the current calling context. Values add up over calls and over children; behind a
 * name, "(exc)" is for one that does not add up over children, and "(pty)" for a property, as
 * proton_scope_property(): neither is a part of the name.
 *   unit    as the name says: "flops", "flops8", "flops16", "flops32", "flops64": operations;
 *           "bytes": bytes, rounded to an integer; any other name: yours, "name (unit)" shows it
 *   source  the program
 *           While the thread captures a stream into a CUDA graph: of each time that the graph runs
 *   errors  NaN, infinities and values below 0 for "bytes" are ignored; so are values below 0 of
 *           a metric whose first value in the process was an integer, whose fractions are rounded:
 *           a note says which. Names of what is measured ("count", "time (ns)") become "user:count"
 *           and so on, with a note
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
 *   errors  a sum that does not fit stays at 2^64 - 1, and a note says so
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

/* The same for integers that may be below 0. A metric whose first value is below 0 is one of floating point.
 *   unit    as proton_scope_metric()
 *   source  the program
 *   errors  values below 0 of a metric that began otherwise are ignored, and a note says so
 *   thread  any */
static inline void proton_scope_metric_i64(const char *name, int64_t value)
{
	(void)name;
	(void)value;
	if (PROTON_HAS_(metric_i64))
		PROTON_RUN_(metric_i64, (name, value));
}

/* Add to each element of a metric of several: they are metrics of their own, "name[0]", "name[1]", and
 * so on, with the unit behind that. The file of a session has them as a list.
 *   unit    PROTON_OK; n: elements, 1 to 64
 *   source  the program
 *   errors  PROTON_NOBODY; PROTON_INVALID: no elements or too many, or a name of more than 200 bytes;
 *           each element as proton_scope_metric()
 *   thread  any */
static inline int proton_scope_metric_vector(const char *name, const double *values, size_t n)
{
	(void)name;
	(void)values;
	(void)n;
	return PROTON_LATER_(metric_vector, (name, values, n), PROTON_NOBODY);
}

/* The same for integers.
 *   unit    as proton_scope_metric_vector()
 *   source  the program
 *   errors  as proton_scope_metric_vector(); each element as proton_scope_metric_i64()
 *   thread  any */
static inline int proton_scope_metric_vector_i64(const char *name, const int64_t *values, size_t n)
{
	(void)name;
	(void)values;
	(void)n;
	return PROTON_LATER_(metric_vector_i64, (name, values, n), PROTON_NOBODY);
}

/* Put this thread into a state: one more frame of the calling context of what it launches, below scopes and
 * all else, directly above kernels. There is one at most: another takes its place.
 *   unit    PROTON_OK
 *   source  name is copied: any UTF-8, "" and NULL show as "<state>"
 *   errors  PROTON_NOBODY
 *   thread  any; belongs to the caller */
static inline int proton_state_enter(const char *name)
{
	(void)name;
	return PROTON_LATER_(state_enter, (name), PROTON_NOBODY);
}

/* Leave the state, whichever it is: there is none then, not the one before.
 *   unit    PROTON_OK, also where there was none
 *   source  proton_state_enter()
 *   errors  PROTON_NOBODY
 *   thread  the one that entered it */
static inline int proton_state_exit(void)
{
	return PROTON_LATER_(state_exit, (), PROTON_NOBODY);
}

/* Say what the next launches are, until proton_launch_end(): their kernels are called `name`, not by their
 * symbols, and what proton_scope_metric() and its kin add is theirs: "flops", "flops8" to "flops64", "bytes" or
 * any other, once for all that is launched in between. One at a time: another ends it. What is captured into a
 * CUDA graph has its name and values each time the graph runs, and not before.
 *   unit    PROTON_OK
 *   source  name is copied; NULL and "": kernels keep their symbols, and values go to where they are launched
 *   errors  PROTON_NOBODY. Values are kept where nothing is launched; more than 16 before the first launch go
 *           to the calling context
 *   thread  any; belongs to the caller */
static inline int proton_launch_begin(const char *name)
{
	(void)name;
	return PROTON_LATER_(launch_begin, (name), PROTON_NOBODY);
}

/* End what proton_launch_begin() began.
 *   unit    PROTON_OK
 *   source  proton_launch_begin()
 *   errors  PROTON_NOBODY; PROTON_UNKNOWN: nothing was begun (counted as "scope_mismatch")
 *   thread  the one that began it */
static inline int proton_launch_end(void)
{
	return PROTON_LATER_(launch_end, (), PROTON_NOBODY);
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

/* Start a session, and activate it: a profile of its own, beside that of the whole run. A name that a
 * session has which is not finalized yet activates that one. What other threads launch counts too; what was
 * launched before does not, even if it runs later.
 *   unit    number of the session, 0 and up; it is never another one's in this process
 *   source  name: path of the file without its suffix, from the current folder; NULL and "": "proton".
 *           options: NULL: all as usual
 *   errors  PROTON_NOBODY, PROTON_INVALID, PROTON_FULL (128 that are not finalized), PROTON_BUSY
 *   thread  any; not from a signal handler. A fork child has none of its parent's sessions */
static inline int proton_session_start(const char *name,
				       const struct proton_session_options *options)
{
	(void)name;
	(void)options;
	return PROTON_LATER_(session_start, (name, options), PROTON_NOBODY);
}

/* What is launched from now on is of this session, too. One that is active stays so.
 *   unit    PROTON_OK
 *   source  session: proton_session_start(), or PROTON_ALL_SESSIONS
 *   errors  PROTON_NOBODY, PROTON_UNKNOWN, PROTON_FULL (it is of none then), PROTON_BUSY
 *   thread  any; not from a signal handler */
static inline int proton_session_activate(int session)
{
	(void)session;
	return PROTON_LATER_(session_activate, (session), PROTON_NOBODY);
}

/* What is launched from now on is not of this session; what was before is, however late it runs.
 *   unit    flush: 0, or wait until what was launched is recorded, at most 10 s after the last record
 *   source  session: proton_session_start(), or PROTON_ALL_SESSIONS
 *   errors  PROTON_NOBODY, PROTON_UNKNOWN, PROTON_FULL, PROTON_BUSY
 *   thread  any; not from a signal handler */
static inline int proton_session_deactivate(int session, int flush)
{
	(void)session;
	(void)flush;
	return PROTON_LATER_(session_deactivate, (session, flush), PROTON_NOBODY);
}

/* End a session: deactivate it, wait for its records as proton_session_deactivate() does, and have its file
 * written by `proton`, which is there when this returns PROTON_OK: NAME.hatchet, NAME.hatchet_msgpack; of a session
 * with more than one phase NAME.part_PHASE.hatchet and so on, one for each that was not cleared. It waits 60 s at
 * most for a `proton` that stands still, which writes the files when it goes on; handlers of signals run meanwhile.
 *   unit    PROTON_OK
 *   source  session: proton_session_start(), or PROTON_ALL_SESSIONS. format: "hatchet" (also NULL and
 *           "", unless the mode names another), "hatchet_msgpack"; of a trace "chrome_trace" alone
 *   errors  PROTON_NOBODY, PROTON_INVALID (the session goes on), PROTON_UNKNOWN, PROTON_UNWRITTEN (the
 *           session is over all the same), PROTON_BUSY
 *   thread  any; not from a signal handler */
static inline int proton_session_finalize(int session, const char *format)
{
	(void)session;
	(void)format;
	return PROTON_LATER_(session_finalize, (session, format), PROTON_NOBODY);
}

/* End the phase of a session, and begin the next one: what is launched from now on is of that. A session begins
 * in phase 0. What was launched before stays where it is, however late it runs; what another thread launches at
 * this very moment is of either. With mode "periodic_flushing" phases before that are written as they become
 * complete, and cleared; where the program is more than 32 of them ahead of the files this waits, up to 2 s for
 * each file.
 *   unit    number of the new phase, 1 and up
 *   source  session: proton_session_start()
 *   errors  PROTON_NOBODY, PROTON_UNKNOWN, PROTON_FULL (a process may have 4,096 phases that are not cleared;
 *           the session stays in its phase), PROTON_BUSY
 *   thread  any; not from a signal handler */
static inline int proton_phase_advance(int session)
{
	(void)session;
	return PROTON_LATER_(phase_advance, (session), PROTON_NOBODY);
}

/* Is a phase over, and has all that was launched in it been recorded? Nothing is waited for: ask again, or call
 * proton_session_deactivate() with `flush`, after which the phases before that of now are complete.
 *   unit    1 or 0; a phase that was cleared is complete, and that of now is not
 *   source  session: proton_session_start(). phase: 0 and up
 *   errors  PROTON_NOBODY, PROTON_UNKNOWN, PROTON_INVALID (a phase below 0), PROTON_BUSY
 *   thread  any; not from a signal handler */
static inline int proton_phase_is_complete(int session, int phase)
{
	(void)session;
	(void)phase;
	return PROTON_LATER_(phase_is_complete, (session, phase), PROTON_NOBODY);
}

/* Forget what was recorded in a phase, and what will be of the launches until now. The profile of the run keeps
 * it. That of now begins anew.
 *   unit    PROTON_OK. up_to: not 0: all phases up to this one, too
 *   source  session: proton_session_start(). phase: 0 and up
 *   errors  PROTON_NOBODY, PROTON_UNKNOWN, PROTON_INVALID (a phase below 0), PROTON_FULL, PROTON_BUSY
 *   thread  any; not from a signal handler */
static inline int proton_phase_clear(int session, int phase, int up_to)
{
	(void)session;
	(void)phase;
	(void)up_to;
	return PROTON_LATER_(phase_clear, (session, phase, up_to), PROTON_NOBODY);
}

/* The profile of a phase, as far as it is recorded by now: devices are not waited for. `proton` makes it.
 *   unit    PROTON_OK, with *ret_data (a zero is behind it; proton_data_free()) and *ret_size in bytes
 *   source  session: proton_session_start(). phase: 0 to that of now. format: "hatchet" (also NULL and ""): JSON
 *           without blanks, an array of the tree and the devices, as Triton's Proton writes it;
 *           "hatchet_msgpack": the same as MessagePack; "json": what `proton export -f json` writes;
 *           of a trace "chrome_trace" alone, also for NULL and ""
 *   errors  PROTON_NOBODY, PROTON_UNKNOWN, PROTON_INVALID, PROTON_UNWRITTEN (`proton` is gone, or has no room in
 *           the session directory), PROTON_FULL (no memory), PROTON_BUSY: nothing is stored then
 *   thread  any; not from a signal handler */
static inline int proton_session_data(int session, int phase, const char *format, char **ret_data,
				      size_t *ret_size)
{
	(void)session;
	(void)phase;
	(void)format;
	(void)ret_data;
	(void)ret_size;
	return PROTON_LATER_(session_data, (session, phase, format, ret_data, ret_size),
			     PROTON_NOBODY);
}

/* Free what proton_session_data() gave.
 *   unit    none
 *   source  proton_session_data(); NULL: nothing happens
 *   errors  none
 *   thread  any */
static inline void proton_data_free(char *data)
{
	(void)data;
	if (PROTON_HAS_(data_free))
		PROTON_RUN_(data_free, (data));
}

/* How deep the calling context of this thread is: its scopes, ranges of NVTX and those of runtimes.
 *   unit    frames
 *   source  proton_enter_scope() and its kin
 *   errors  PROTON_NOBODY
 *   thread  any; belongs to the caller */
static inline int proton_context_depth(void)
{
	return PROTON_LATER_(context_depth, (), PROTON_NOBODY);
}

/* Say that the program has kernels with <proton/kernel.cuh>, before the first one is launched; that header does.
 *   unit    none
 *   source  the program
 *   errors  none; nothing happens where nobody is profiling
 *   thread  any */
static inline void proton_has_kernel_scopes(void)
{
	if (PROTON_HAS_(has_kernel_scopes))
		PROTON_RUN_(has_kernel_scopes, ());
}

/* Why the last function of sessions that failed on this thread did, in words.
 *   unit    a sentence without a full stop; valid until the next such call on this thread
 *   source  the collector
 *   errors  none
 *   thread  any */
static inline const char *proton_session_error(void)
{
	return PROTON_LATER_(session_error, (), "nobody is profiling this program");
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
