/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.h - services of a subnet: who offers what, under which service ID, as subnet
 * administration keeps it for those who ask.
 *
 * A record has the bytes of a ServiceRecord (IBTA vol 1, 15.2.5.14). Tables are guarded by their
 * owner's lock.
 */
#ifndef SOFTHCA_NET_SERVICE_H
#define SOFTHCA_NET_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ib/sa.h"

enum { MAX_SERVICES = 64 };

struct service {
	LIST_ENTRY(service) entry;
	uint8_t record[SERVICE_RECORD_SIZE];
};

struct services {
	LIST_HEAD(, service) list; /* the first added is the first */
	struct service *last;
	unsigned int count;
};

void services_init(struct services *services);
void services_clear(struct services *services);
/* Returns 0, ENOSPC when there are MAX_SERVICES already, or ENOMEM. */
int services_add(struct services *services, const uint8_t record[SERVICE_RECORD_SIZE]);
/* Up to ROOM of the records that agree with WANTED in COMPONENTS go to RECORDS. Returns how many
 * there are. */
unsigned int services_find(const struct services *services, uint64_t components,
			   const uint8_t wanted[SERVICE_RECORD_SIZE],
			   uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room);

/* A service as it is written on the command line: NAME,ID[,mlx5_N[:PORT]]. */
struct service_text {
	char name[SERVICE_NAME_SIZE];
	uint64_t id;
	unsigned int device, port;
};

/* Returns 0, or EINVAL for a text that cannot be read. */
int service_parse(const char *text, struct service_text *service);
void service_fill(const struct service_text *service, const uint8_t gid[16],
		  uint8_t record[SERVICE_RECORD_SIZE]);

#endif
