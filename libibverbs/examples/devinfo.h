/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devinfo.h - shared by the files of ibv_devinfo.
 *
 * People and scripts parse this program's output line by line, so labels, tabs, number bases and
 * even the spelling of some values must not change. Tables in the two printing files define them:
 * one for the device, one for its ports.
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

/* Returns the name of VALUE in TABLE, which ends with a NULL name, or FALLBACK. */
const char *value_name(const struct named_value *table, uint64_t value, const char *fallback);

/* Prints the attributes of a device and of port PORT_NUM, or of all ports for 0. Returns 0, or
 * nonzero after a message. */
int devinfo_print_device(struct ibv_device *device, unsigned int port_num, bool verbose);

int devinfo_print_port(struct ibv_context *context, uint8_t port_num, bool verbose);

#endif
