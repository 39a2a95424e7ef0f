/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - capabilities of a device as reported by the kernel. Queried at the first use and
 * cached while the device is open, since they do not change.
 */
#ifndef PROVIDERS_COMMON_DEVICE_H
#define PROVIDERS_COMMON_DEVICE_H

#include <pthread.h>
#include "libibverbs/driver.h"
#include "util/bits.h"

struct device_kind {
	size_t resp_size; /* size of the driver's part of the answer, at most DEVICE_RESP_MAX */
	int fw_digits;    /* minimum digits of the firmware version's last number */
	void (*add_caps)(const void *resp, struct ibv_device_attr_ex *attr);
};

enum { DEVICE_RESP_MAX = 256 };

/* Cached properties of a port, only those that cannot change while the device is open. */
enum port_trait {
	PORT_KNOWN = 1 << 0,
	PORT_ETHERNET = 1 << 1,
	PORT_NEEDS_GRH = 1 << 2,
};

struct device_facts {
	struct ibv_context *context;
	const struct device_kind *kind;
	uint8_t port_traits[3]; /* enum port_trait of each port, once known; atomic */
	pthread_mutex_t lock;   /* guards the fields below until they are known */
	bool known;
	uint32_t raw_packet_caps;
	bool srq_on_demand;
	struct ibv_device_attr attr;
	void *resp; /* driver's part, stored in the provider's context */
};

void provider_device_init(struct device_facts *facts, struct ibv_context *context,
			  const struct device_kind *kind, void *resp);

/* Queries the kernel for a program, and caches the answer: most programs query first, so that no
 * further query is needed. ATTR is complete; the library shortens it for older programs. */
int provider_device_query(struct device_facts *facts, struct ibv_device_attr_ex *attr,
			  size_t attr_size);
/* Queries the kernel unless the answer is cached. When it returns 0, the fields are valid. */
int provider_device_know(struct device_facts *facts);

static inline int provider_device_attr_get(struct device_facts *facts,
					   const struct ibv_device_attr **attr)
{
	*attr = &facts->attr;
	return provider_device_know(facts);
}

/* Sets *TRAITS to the enum port_trait bits of a port. Queries the kernel once. Returns 0 or an
 * errno. */
int provider_device_port_traits(struct device_facts *facts, uint8_t port_num, uint8_t *traits);

/* Returns the port's traits, or 0 if provider_device_port_traits() has not learnt them yet. */
static inline uint8_t device_known_traits(const struct device_facts *facts, uint8_t port_num)
{
	return port_num < ARRAY_SIZE(facts->port_traits)
		       ? __atomic_load_n(&facts->port_traits[port_num], __ATOMIC_RELAXED)
		       : 0;
}
int provider_device_query_port(struct ibv_context *context, uint8_t port_num,
			       struct ibv_port_attr *attr, size_t attr_size);

#endif
