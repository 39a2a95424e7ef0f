/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.h - a command of a program on one id, without a program and without a device: the test fills
 * the id, the command and the program's memory, and reads answers there. Two adapters of two ports
 * have a GID table each.
 */
#ifndef TESTS_UNIT_SOFTHCA_FRONT_PROCESS_UCMA_RIG_H
#define TESTS_UNIT_SOFTHCA_FRONT_PROCESS_UCMA_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/front/process/ucma/ucma.h"

enum {
	RIG_ID = 7,        /* the id's number */
	RIG_ADDR = 0x1000, /* where the program's memory starts */
	RIG_MEMORY = 1024, /* bytes */
	RIG_ADAPTERS = 2,
	RIG_PORTS = 2,
	RIG_GIDS = 6,
	RIG_NETDEV_ADDRESSES = 3,
	RIG_LID = 0x40, /* of the first port; each further port has the next */
};

struct ucma_rig {
	struct daemon daemon;
	struct adapter adapters[RIG_ADAPTERS];
	struct gid_entry gids[RIG_ADAPTERS][RIG_PORTS][RIG_GIDS];
	uint8_t port_state[RIG_ADAPTERS][RIG_PORTS];
	const char *netdevs[RIG_ADAPTERS][RIG_PORTS]; /* NULL: the port has none */
	/* The machine has one interface, with these addresses. */
	const char *netdev_name;
	uint8_t netdev_addresses[RIG_NETDEV_ADDRESSES][16];
	unsigned int netdev_count;
	int gid_error, port_error; /* of each query */
	struct ucma_file file;
	struct ucma_id id;
	struct call caller;
	struct ucma_call call;
	uint8_t memory[RIG_MEMORY];
	size_t written; /* bytes from RIG_ADDR on to the end of the last write */
};

extern struct ucma_rig rig;

/* A setup of cmocka: InfiniBand, all ports active. */
int rig_begin(void **state);
void rig_make_roce(void);

/* Returns an IPv4 address or an IPv6 address from its text. */
struct sockaddr_storage rig_ip(const char *text, uint16_t port);

#endif
