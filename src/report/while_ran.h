/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_WHILE_RAN_H
#define PROTON_REPORT_WHILE_RAN_H
#include "report/report_impl.h"

/* A table of what moved while each kernel ran; nothing where no trace tells. 0, or what rows_put() says. */
int put_while_ran(struct report *r);

#endif
