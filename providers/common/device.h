/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - what the kernel says of a device, asked for when it is first needed and kept while the
 * device is open, in which time it does not change.
 */
#ifndef PROVIDERS_COMMON_DEVICE_H
#define PROVIDERS_COMMON_DEVICE_H

#include <pthread.h>
#include "libibverbs/driver.h"

struct device_facts {
	pthread_mutex_t lock; /* guards the rest until it is known */
	bool known;
	uint32_t raw_packet_caps; /* enum ibv_raw_packet_caps */
	bool srq_on_demand;       /* an SRQ of some transport may have buffers on demand */
	struct ibv_device_attr attr;
	void *resp; /* the driver's part, in the provider's context */
	size_t resp_size;
};

/* RESP is where the driver's part is kept. */
void provider_device_init(struct device_facts *facts, void *resp, size_t resp_size);
void provider_device_destroy(struct device_facts *facts);

/* The function keeps what a query has said; RESP is the driver's part. */
void provider_device_learn(struct device_facts *facts, const struct ibv_device_attr_ex *attr,
			   const void *resp);
bool provider_device_is_known(struct device_facts *facts);

/* The kernel packs major, minor and subminor release of the firmware into RAW; the last is printed
 * with at least DIGITS digits. */
void provider_device_print_fw(uint64_t raw, int digits, struct ibv_device_attr *attr);

int provider_device_query_port(struct ibv_context *context, uint8_t port_num,
			       struct ibv_port_attr *attr, size_t attr_size);

#endif
