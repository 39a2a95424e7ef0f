/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - queries the kernel for a device's capabilities, and caches them.
 */
#include "providers/common/device.h"

#include <assert.h>
#include <string.h>

#include "util/bits.h"
#include "util/mutex.h"

/* most digits: of a 16-bit number, or of the minimum that a provider demands */
enum { MOST_DIGITS = 12 };

void provider_device_init(struct device_facts *facts, struct ibv_context *context,
			  const struct device_kind *kind, void *resp)
{
	*facts = (struct device_facts){ .context = context, .kind = kind, .resp = resp };
	mutex_init(&facts->lock);
}

static bool caps_have_srq(const struct ibv_device_attr_ex *attr)
{
	const struct ibv_odp_caps *odp = &attr->odp_caps;

	return (odp->per_transport_caps.rc_odp_caps | odp->per_transport_caps.uc_odp_caps |
		odp->per_transport_caps.ud_odp_caps | attr->xrc_odp_caps) &
	       IBV_ODP_SUPPORT_SRQ_RECV;
}

static void device_learn(struct device_facts *facts, const struct ibv_device_attr_ex *attr,
			 const void *resp)
{
	bool locked = mutex_enter(&facts->lock);

	if (!facts->known) {
		facts->attr = attr->orig_attr;
		facts->raw_packet_caps = attr->raw_packet_caps;
		facts->srq_on_demand = caps_have_srq(attr);
		memcpy(facts->resp, resp, facts->kind->resp_size);
		facts->known = true;
	}
	mutex_leave(&facts->lock, locked);
}

/* Formats N with at least DIGITS digits, and returns the end. Programs query devices repeatedly,
 * and snprintf() would take most of that time. */
static char *number_print(char *to, unsigned int n, int digits)
{
	char reversed[MOST_DIGITS];
	int count = 0;

	do
		reversed[count++] = (char)('0' + n % 10);
	while ((n /= 10) || count < digits);
	while (count)
		*to++ = reversed[--count];
	return to;
}

static void device_print_fw(uint64_t raw, int digits, struct ibv_device_attr *attr)
{
	char *end = number_print(attr->fw_ver, (unsigned int)(raw >> 32 & 0xffff), 1);

	*end++ = '.';
	end = number_print(end, (unsigned int)(raw >> 16 & 0xffff), 1);
	*end++ = '.';
	*number_print(end, (unsigned int)(raw & 0xffff), digits) = '\0';
}

int provider_device_query(struct device_facts *facts, struct ibv_device_attr_ex *attr,
			  size_t attr_size)
{
	_Alignas(uint64_t) uint8_t resp[DEVICE_RESP_MAX];
	const struct device_kind *kind = facts->kind;
	const struct verbs_udata udata = { .resp = resp, .resp_len = kind->resp_size };
	uint64_t fw_ver = 0;
	int ret;

	assert(kind->resp_size <= sizeof(resp));
	ret = verbs_cmd_query_device(facts->context, attr, attr_size, &fw_ver, &udata);
	if (ret)
		return ret;
	device_print_fw(fw_ver, kind->fw_digits, &attr->orig_attr);
	kind->add_caps(resp, attr);
	device_learn(facts, attr, resp);
	return 0;
}

static bool device_is_known(struct device_facts *facts)
{
	bool locked = mutex_enter(&facts->lock);
	bool known = facts->known;

	mutex_leave(&facts->lock, locked);
	return known;
}

static int __attribute__((noinline)) device_ask(struct device_facts *facts)
{
	struct ibv_device_attr_ex attr = { 0 };

	return provider_device_query(facts, &attr, sizeof(attr));
}

int provider_device_know(struct device_facts *facts)
{
	return device_is_known(facts) ? 0 : device_ask(facts);
}

int provider_device_query_port(struct ibv_context *context, uint8_t port_num,
			       struct ibv_port_attr *attr, size_t attr_size)
{
	return verbs_cmd_query_port(context, port_num, attr, attr_size);
}

int provider_device_port_traits(struct device_facts *facts, uint8_t port_num, uint8_t *traits)
{
	uint8_t *cached =
		port_num < ARRAY_SIZE(facts->port_traits) ? &facts->port_traits[port_num] : NULL;
	struct ibv_port_attr port;
	int ret;

	*traits = cached ? __atomic_load_n(cached, __ATOMIC_RELAXED) : 0;
	if (*traits)
		return 0;
	ret = provider_device_query_port(facts->context, port_num, &port, sizeof(port));
	if (ret)
		return ret;
	*traits = PORT_KNOWN;
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET)
		*traits |= PORT_ETHERNET;
	if (port.flags & IBV_QPF_GRH_REQUIRED)
		*traits |= PORT_NEEDS_GRH;
	if (cached)
		__atomic_store_n(cached, *traits, __ATOMIC_RELAXED);
	return 0;
}
