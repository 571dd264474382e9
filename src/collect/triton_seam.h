/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TRITON_SEAM_H
#define PROTON_COLLECT_TRITON_SEAM_H
/* Scripts that were written for Triton's Proton: `import triton.profiler` in them reaches us.
 *
 *     triton.profiler ──> triton._C.libproton ──┬── Triton's collector: wants CUPTI for itself
 *       (theirs, unchanged)                     └── python/proton/triton_seam.py ──> proton.h
 *
 * All of Triton's layer stands on that one module. So the interpreter is told that it has a module of this
 * name frozen into it, before it starts: then it looks nowhere else, whatever the path, the options and the
 * virtual environment are, and programs that do not import it pay nothing. The module's code loads
 * triton_seam.py from beside this library. */

/* When the library is loaded; before the interpreter starts, which the preload door is in time for. */
void triton_seam_prepare(void);
/* At the end of the process: where Triton's own module was loaded all the same, a note says why. */
void triton_seam_end(void);

#endif
