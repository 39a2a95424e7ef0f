/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devinfo.h - what the files of ibv_devinfo share.
 *
 * People and scripts read this program's output line by line, so labels, tabs, number bases and
 * even the spelling of some values are fixed. They stand in tables of the two files that
 * print, one for the device and one for its ports.
 */
#ifndef EXAMPLES_DEVINFO_H
#define EXAMPLES_DEVINFO_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct named_value {
	uint64_t value;
	const char *name;
};

/* Returns the name of VALUE in TABLE, which ends with a NULL name, or else FALLBACK. */
const char *value_name(const struct named_value *table, uint64_t value, const char *fallback);

/* Prints the attributes of one device and of its port PORT_NUM, or of all when that is
 * 0. It returns 0, or non-zero after a message. */
int devinfo_print_device(struct ibv_device *device, unsigned int port_num, bool verbose);

/* Prints one port. It returns 0, or a positive errno after a message. */
int devinfo_print_port(struct ibv_context *context, uint8_t port_num, bool verbose);

#endif
