/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_MADE_FROM_H
#define PROTON_CORE_MADE_FROM_H
/* What a kernel, copy or set of torch.compile was made from, as the innermost line of generated code says that it
 * stands below (naming/source_nodes.h).
 *   thread  one */
#include "core/session.h"

/* "[norm, add] aten.linalg_vector_norm, aten.add"; "": the code does not say it; NULL: no generated code launched it. Valid
 * as session_text(). */
const char *made_from(const struct session *s, uint32_t node);

#endif
