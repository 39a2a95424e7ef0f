/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.h - services of a subnet: the table of ServiceRecords that subnet administration keeps
 * and answers from.
 *
 * A record has the layout of a ServiceRecord (IBTA vol 1, 15.2.5.14). The owner's lock guards a
 * table.
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
	LIST_HEAD(, service) list; /* in the order of registration */
	struct service *last;
	unsigned int count;
};

void services_init(struct services *services);
void services_clear(struct services *services);
/* Adds a service. Returns 0, ENOSPC beyond MAX_SERVICES, or ENOMEM. */
int services_add(struct services *services, const uint8_t record[SERVICE_RECORD_SIZE]);
/* Copies up to ROOM records that match WANTED in COMPONENTS to RECORDS. Returns the number of
 * matches. */
unsigned int services_find(const struct services *services, uint64_t components,
			   const uint8_t wanted[SERVICE_RECORD_SIZE],
			   uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room);

/* A service as on the command line: NAME,ID[,mlx5_N[:PORT]]. */
struct service_text {
	char name[SERVICE_NAME_SIZE];
	uint64_t id;
	unsigned int device, port;
};

int service_parse(const char *text, struct service_text *service);
void service_fill(const struct service_text *service, const uint8_t gid[16],
		  uint8_t record[SERVICE_RECORD_SIZE]);

#endif
