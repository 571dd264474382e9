/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_VIEWER_H
#define PROTON_CMD_VIEWER_H
/* proton-viewer: the program under that name, and `proton viewer`. */

int cmd_viewer(int argc, char **argv);

#endif
