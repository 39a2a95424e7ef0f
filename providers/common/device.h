/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - what the kernel says of a device, asked for when it is first needed and kept while the
 * device is open, in which time it does not change.
 */
#ifndef PROVIDERS_COMMON_DEVICE_H
#define PROVIDERS_COMMON_DEVICE_H

#include <pthread.h>
#include "libibverbs/driver.h"

/* What is a provider's own of the extended query */
struct device_kind {
	size_t resp_size; /* of the driver's part of the answer, at most DEVICE_RESP_MAX */
	int fw_digits;    /* that the last number of the firmware's release has at least */
	/* Adds what the driver says, in RESP, to ATTR. */
	void (*add_caps)(const void *resp, struct ibv_device_attr_ex *attr);
};

enum { DEVICE_RESP_MAX = 256 };

/* What is kept of a port: nothing that can change while the device is open. */
enum port_trait {
	PORT_KNOWN = 1 << 0,
	PORT_ETHERNET = 1 << 1,
	PORT_NEEDS_GRH = 1 << 2,
};

struct device_facts {
	struct ibv_context *context;
	const struct device_kind *kind;
	uint8_t port_traits[3]; /* of each port, once known; atomic */
	pthread_mutex_t lock;   /* guards the rest until it is known */
	bool known;
	uint32_t raw_packet_caps; /* enum ibv_raw_packet_caps */
	bool srq_on_demand;       /* an SRQ of some transport may have buffers on demand */
	struct ibv_device_attr attr;
	void *resp; /* the driver's part, in the provider's context */
};

/* RESP is where the driver's part is kept. */
void provider_device_init(struct device_facts *facts, struct ibv_context *context,
			  const struct device_kind *kind, void *resp);
void provider_device_destroy(struct device_facts *facts);

/* Asks the kernel, for a program. ATTR is whole: the library shortens it for older programs. Most
 * programs ask before they create anything, and then nobody need ask again. */
int provider_device_query(struct device_facts *facts, struct ibv_device_attr_ex *attr,
			  size_t attr_size);
/* Asks the kernel if nobody has. The facts are there when it returns 0. */
int provider_device_know(struct device_facts *facts);

/* Copies out the device's attributes, cached as they do not change while it is open. */
static inline int provider_device_attr_get(struct device_facts *facts,
					   const struct ibv_device_attr **attr)
{
	*attr = &facts->attr;
	return provider_device_know(facts);
}

/* Gives enum port_trait of a port. The kernel is asked once. */
int provider_device_port_traits(struct device_facts *facts, uint8_t port_num, uint8_t *traits);
int provider_device_query_port(struct ibv_context *context, uint8_t port_num,
			       struct ibv_port_attr *attr, size_t attr_size);

#endif
