/* SPDX-License-Identifier: MIT */
/* The floor for a program with several calling contexts: activity records and empty callbacks at
 * each launch. */
#include "floor.h"

int InitializeInjection(void)
{
	return floor_start(1, 1);
}
