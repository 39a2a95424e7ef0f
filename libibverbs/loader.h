/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loader.h - the parts of loader.c that tests reach.
 */
#ifndef LIBIBVERBS_LOADER_H
#define LIBIBVERBS_LOADER_H

#include <stdbool.h>

#define PLUGIN_SUFFIX "-rdmakit" RDMAKIT_DRIVER_ABI_STRING ".so"

/* One line of a *.driver file, which it cuts up: true when it is well-formed; *driver is NULL when it names none. */
bool loader_parse_line(char *line, char **driver);

#endif
