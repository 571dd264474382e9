/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SESSION_WORDS_H
#define PROTON_CORE_SESSION_WORDS_H
/* What programs say of their sessions (proton/proton.h) in words, as both halves of proton read them. Without regard
 * to case.
 *   thread  any */
#include <stdbool.h>

/* The word for a format of files of a session, the usual one for NULL and ""; NULL: it is none. And those that
 * there are. */
const char *session_format(bool traced, const char *word);
const char *session_formats_text(bool traced);
/* "periodic_flushing", "periodic_flushing:format=hatchet": the format of files; "": NULL. False: no such mode. */
bool session_mode_read(const char *mode, bool traced, const char **ret_format);

#endif
