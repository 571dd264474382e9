/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_BY_LINE_H
#define PROTON_CORE_BY_LINE_H
/* Samples of code as Triton's Proton has them: by line, no line below another, and none without samples.
 *
 *     k                            k
 *     ├─ k.cu:19@k                 ├─ k.cu:19@k     2
 *     │  ├─ +0x00 …      2    ──>  ├─ util.h:5@f    3
 *     │  └─ util.h:5@f             └─ (its own)     1
 *     │     └─ +0x10 …   3
 *     └─ +0x20 …         1
 *
 *   thread  one */
#include <stdbool.h>
#include "core/session.h"

/* Is anything in it told otherwise than by such lines? */
bool session_has_instructions(const struct session *s);
/* The session, arranged so; the one that it was made from may be freed. 0, -ENOMEM, or -EINVAL: a row has no lane or no
 * epoch. */
int session_by_line(const struct session *s, struct session **ret);

#endif
