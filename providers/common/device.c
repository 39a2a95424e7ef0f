/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - keeps what the kernel says of a device.
 */
#include "providers/common/device.h"

#include <stdio.h>
#include <string.h>

void provider_device_init(struct device_facts *facts, void *resp, size_t resp_size)
{
	*facts = (struct device_facts){ .resp = resp, .resp_size = resp_size };
	pthread_mutex_init(&facts->lock, NULL);
}

void provider_device_destroy(struct device_facts *facts)
{
	pthread_mutex_destroy(&facts->lock);
}

static bool caps_have_srq(const struct ibv_device_attr_ex *attr)
{
	const struct ibv_odp_caps *odp = &attr->odp_caps;

	return (odp->per_transport_caps.rc_odp_caps | odp->per_transport_caps.uc_odp_caps |
		odp->per_transport_caps.ud_odp_caps | attr->xrc_odp_caps) &
	       IBV_ODP_SUPPORT_SRQ_RECV;
}

void provider_device_learn(struct device_facts *facts, const struct ibv_device_attr_ex *attr,
			   const void *resp)
{
	pthread_mutex_lock(&facts->lock);
	if (!facts->known) {
		facts->attr = attr->orig_attr;
		facts->raw_packet_caps = attr->raw_packet_caps;
		facts->srq_on_demand = caps_have_srq(attr);
		memcpy(facts->resp, resp, facts->resp_size);
		facts->known = true;
	}
	pthread_mutex_unlock(&facts->lock);
}

bool provider_device_is_known(struct device_facts *facts)
{
	bool known;

	pthread_mutex_lock(&facts->lock);
	known = facts->known;
	pthread_mutex_unlock(&facts->lock);
	return known;
}

void provider_device_print_fw(uint64_t raw, int digits, struct ibv_device_attr *attr)
{
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%u.%u.%0*u",
		 (unsigned int)(raw >> 32 & 0xffff), (unsigned int)(raw >> 16 & 0xffff), digits,
		 (unsigned int)(raw & 0xffff));
}

int provider_device_query_port(struct ibv_context *context, uint8_t port_num,
			       struct ibv_port_attr *attr, size_t attr_size)
{
	return verbs_cmd_query_port(context, port_num, attr, attr_size);
}
