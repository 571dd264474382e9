/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_VIEW_TRAFFIC_H
#define PROTON_REPORT_VIEW_TRAFFIC_H
/* Tables of copies that are part of two views, transfers and memory.
 *   thread  one */

struct report;

/* From where to where, sizes, streams; an empty line before each. Of the whole profile. 0 or -ENOMEM. */
int put_traffic(struct report *r);

#endif
