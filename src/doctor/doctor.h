/* SPDX-License-Identifier: MIT */
#ifndef PROTON_DOCTOR_DOCTOR_H
#define PROTON_DOCTOR_DOCTOR_H
/* What a run would meet on this machine: a table of checks (doctor.c), each of which says what it
 * saw, why that matters and which line mends it.
 *
 *   files of the system ───────────────┐
 *   the environment ───────────────────┼─> checks ─> findings ─> features that work
 *   questions, each asked by a child ──┘   (nvidia.c, cuda.c, opencl.c, process.c …)
 *
 * What may crash or hang, a vendor's library above all, is a question (questions.h): a child with a
 * deadline asks it, and its death is an answer. All of the outside comes by struct doctor_host, so
 * that tests plant machines. Nothing is guessed: what cannot be seen is DOCTOR_UNKNOWN.
 *
 *   errors  none: out of memory leaves texts empty
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "launch/probe.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,    /* worth knowing; all works */
	DOCTOR_MISSING, /* what the check serves does not work */
	DOCTOR_UNKNOWN, /* could not be looked at */
	N_DOCTOR_STATES
};

struct doctor_finding {
	enum doctor_state state;
	struct buf seen; /* the value: "580.159.04" */
	struct buf why;  /* a sentence without a full stop; "": it needs none */
	struct buf mend; /* a line for a shell; "": there is none */
};

/*    id, name, what works with it */
#define DOCTOR_FEATURES(_)                                                                         \
	_(CUDA, "cuda", "CUDA: kernels and copies, live and recorded")                             \
	_(OPENCL, "opencl", "OpenCL: kernels and copies, live and recorded")                       \
	_(NVTX, "nvtx", "NVTX ranges as calling contexts")                                         \
	_(SCREEN, "screen", "the screen (top, view)")                                              \
	_(SAVING, "saving", "profiles in files (record)")

enum doctor_feature {
#define _(id, name, title) DOCTOR_##id,
	DOCTOR_FEATURES(_)
#undef _
		N_DOCTOR_FEATURES
};

/* The terminal, as whoever may ask curses found it. */
struct doctor_terminal {
	bool is_there;       /* there is a terminal to draw on */
	const char *type;    /* TERM; NULL: not set */
	const char *why_not; /* NULL: a screen can be drawn with this type */
	const char *codeset; /* of the locale */
	bool is_utf8;
	int colors; /* -1: not known */
	int cols, rows, cols_min, rows_min;
	bool no_color; /* NO_COLOR */
};

/* Where checks look. */
struct doctor_host {
	const char *root;    /* put before each path of the system: "" is this machine */
	char *const *env;    /* NAME=value …, NULL: what a target would start from */
	const char *library; /* libproton.so; NULL: not found */
	const char *library_why;
	const char *config_dir; /* of the screen; "": there is none */
	struct doctor_terminal terminal;
	/* Asks a question (questions.h); its number. The answer is the caller's. */
	void (*ask)(const struct doctor_host *host, int question, struct probe *ret_answer);
	/* One of a device, of each of the first n that programs see. */
	void (*ask_devices)(const struct doctor_host *host, int question, size_t n,
			    struct probe ret_answers[]);
};

struct doctor;
typedef void doctor_check_fn(struct doctor *d, struct doctor_finding *f);

struct doctor_check {
	const char *name;  /* a word, stable: scripts know it */
	const char *group; /* the same; checks of a group stand together */
	unsigned serves;   /* 1 << DOCTOR_CUDA …: what does not work without */
	doctor_check_fn *run;
};
extern const struct doctor_check doctor_checks[];
extern const size_t doctor_n_checks;

/* Look at everything. NULL: out of memory. The host is borrowed. found, if any, is told of each
 * check when it is done: some take seconds. */
typedef void doctor_found_fn(void *ctx, const struct doctor_check *check,
			     const struct doctor_finding *finding);
struct doctor *doctor_new(const struct doctor_host *host, doctor_found_fn *found, void *ctx);
struct doctor *doctor_free(struct doctor *d);
static inline void doctor_freep(struct doctor **p)
{
	*p = doctor_free(*p);
}

/* Of check i of doctor_checks. */
const struct doctor_finding *doctor_finding(const struct doctor *d, size_t i);
/* By name; NULL: there is no such check. */
const struct doctor_finding *doctor_find(const struct doctor *d, const char *name);
/* The worst of what serves it: DOCTOR_OK (notes included), DOCTOR_MISSING or DOCTOR_UNKNOWN. */
enum doctor_state doctor_feature(const struct doctor *d, enum doctor_feature feature);
const char *doctor_feature_name(enum doctor_feature feature);
const char *doctor_feature_title(enum doctor_feature feature);

#endif
