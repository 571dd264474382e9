/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_RANKS_H
#define PROTON_REPORT_RANKS_H
/* How evenly paths are spread over ranks, as text:
 *
 *      WAIT MAX/AVG  SLOWEST     MEAN      MAX      MIN      SUM   RANKS  NAME
 *     100ns    1.05  1         1.05us   1.10us   1.00us   2.10us       2  step › gemm
 */
#include "core/session.h"
#include "report/report.h"

/* metric must add up. counted: rows of the session that are not 0 there; NULL: all. Of the options
 * only width, rows, names, ascii, color and of limits those of the metric's sum are used. 0, -EINVAL
 * (the metric does not add up) or -ENOMEM; write errors stick in out. */
int report_ranks(const struct session *s, uint32_t metric, const uint8_t *counted,
		 const struct report_options *o, struct out *out);

#endif
