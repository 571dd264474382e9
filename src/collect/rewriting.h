/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_REWRITING_H
#define PROTON_COLLECT_REWRITING_H
/* Scopes within kernels of a program that has none: its modules are rewritten as it loads them (record --intra, ADR 79).
 *
 *     image ── memory without a name ──> proton rewrite, a process of its own ── pipe ──> image, lines for people
 *
 * What the process reads, runs and crashes on is not in the program. It is nobody's child (alone_spawn.h), has so much time, and
 * whatever becomes of it, the program's own image is loaded then: counted (LOSS_UNREWRITTEN), and told once for each reason.
 * rewriter.h has how it is waited for.
 *
 * Libraries of vendors, and those of PyTorch, are left alone by the name of the file that the image lies in; what of theirs lies
 * elsewhere, by the names of its kernels (override/vendors.h).
 *   thread  any */
#include "core/activity.h"

/* The collector is there. */
void rewriting_begin(void);
/* As the sink has it (struct activity_sink_ops). */
bool rewriting_run(const struct module_load *load, struct module_instead *ret);
/* Says how much was rewritten, and how long it took. */
void rewriting_end(void);
void rewriting_forked(void);

#endif
