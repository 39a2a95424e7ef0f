/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hosts.h - lists the hosts of a network: their adapters, addresses, and the state of their links.
 */
#ifndef SOFTHCA_NET_HOSTS_H
#define SOFTHCA_NET_HOSTS_H

#include <stdio.h>

/* Writes a table of the network in the directory PATH to OUT: a row for each port. Logs hosts that
 * have left files behind, and those that cannot be described. Returns 0, or an errno after logging
 * the reason. */
int hosts_print(const char *path, FILE *out);

#endif
