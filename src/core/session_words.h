/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SESSION_WORDS_H
#define PROTON_CORE_SESSION_WORDS_H
/* What programs say of their sessions (proton/proton.h) in words, as both halves of proton read them. Without regard
 * to case.
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>

/* What a session leaves out of the contexts that the run reads, by the word for what it wants: CUT_KIND()s (core/cut.h). */
uint32_t session_kinds_without(const char *context);
/* The word for a format of files of a session, the usual one for NULL and ""; NULL: it is none. And those that
 * there are. */
const char *session_format(bool traced, const char *word);
const char *session_formats_text(bool traced);
/* How a session is profiled: "" as it is usual; "periodic_flushing", "periodic_flushing:format=hatchet"; "pcsampling",
 * "pcsampling:interval=1000", of which the number says nothing, as in Triton's Proton; "metrics:names=gmp", with what
 * record --metrics takes. */
struct session_mode {
	const char *flush_format; /* of files of phases; NULL: there are none */
	const char
		*metrics; /* hardware metrics are wanted: these, in the mode's text; NULL: none */
	bool samples;     /* samples of the code of kernels are wanted */
};
/* False: there is no such mode. */
bool session_mode_read(const char *mode, bool traced, struct session_mode *ret);

#endif
