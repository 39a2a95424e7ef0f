/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - what is kept of the kernel's answers about a device and its ports, and how often
 * the kernel is asked. Functions of the test stand for the kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/common/device.h"

struct answer {
	uint32_t words[4];
};

static struct {
	struct ibv_context context;
	struct device_facts facts;
	struct answer resp;
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
	uint64_t fw_ver;
	unsigned int asked, ports;
	int err;
} it;

int verbs_cmd_query_device(struct ibv_context *context, struct ibv_device_attr_ex *attr,
			   size_t attr_size, uint64_t *fw_ver, const struct verbs_udata *udata)
{
	struct answer answer = { { 1, 2, 3, 0x100 + it.asked++ } };

	assert_ptr_equal(context, &it.context);
	assert_int_equal(attr_size, sizeof(*attr));
	assert_int_equal(udata->resp_len, sizeof(answer));
	if (it.err)
		return it.err;
	*attr = it.device;
	*fw_ver = it.fw_ver;
	memcpy(udata->resp, &answer, sizeof(answer));
	return 0;
}

int verbs_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_size)
{
	assert_ptr_equal(context, &it.context);
	assert_int_equal(attr_size, sizeof(*attr));
	it.ports = it.ports * 0x100 + port_num;
	if (!it.err)
		*attr = it.port;
	return it.err;
}

static void add_caps(const void *resp, struct ibv_device_attr_ex *attr)
{
	attr->tso_caps.max_tso = ((const struct answer *)resp)->words[2];
}

static struct device_kind kind = { .resp_size = sizeof(struct answer),
				   .fw_digits = 4,
				   .add_caps = add_caps };

static int facts_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	provider_device_init(&it.facts, &it.context, &kind, &it.resp);
	return 0;
}

static int device_query(struct ibv_device_attr_ex *attr)
{
	memset(attr, 0, sizeof(*attr));
	return provider_device_query(&it.facts, attr, sizeof(*attr));
}

static void the_first_answer_is_kept(void **state)
{
	struct ibv_device_attr_ex attr;

	(void)state;
	it.device.orig_attr.max_qp = 77;
	it.device.raw_packet_caps = 5;
	assert_false(it.facts.known);
	assert_int_equal(provider_device_know(&it.facts), 0);
	assert_int_equal(provider_device_know(&it.facts), 0);
	assert_int_equal(it.asked, 1);
	assert_true(it.facts.known);
	assert_int_equal(it.facts.attr.max_qp, 77);
	assert_int_equal(it.facts.raw_packet_caps, 5);
	assert_int_equal(it.resp.words[3], 0x100);
	it.device.orig_attr.max_qp = 78;
	assert_int_equal(device_query(&attr), 0);
	assert_int_equal(it.asked, 2);
	assert_int_equal(attr.orig_attr.max_qp, 78);
	assert_int_equal(attr.tso_caps.max_tso, 3);
	assert_int_equal(it.facts.attr.max_qp, 77);
	assert_int_equal(it.resp.words[3], 0x100);
}

static void a_refusal_is_not_kept(void **state)
{
	struct ibv_device_attr_ex attr;

	(void)state;
	it.err = EIO;
	assert_int_equal(provider_device_know(&it.facts), EIO);
	assert_int_equal(device_query(&attr), EIO);
	assert_false(it.facts.known);
	it.err = 0;
	assert_int_equal(provider_device_know(&it.facts), 0);
	assert_int_equal(it.asked, 3);
}

static void versions_have_the_providers_digits(void **state)
{
	static const struct {
		uint64_t raw;
		int digits;
		const char *text;
	} rows[] = { { 0x0010001f03e8, 4, "16.31.1000" },        { 0x000c00010001, 4, "12.1.0001" },
		     { 0x000200000bb8, 3, "2.0.3000" },          { 0x00020009000a, 3, "2.9.010" },
		     { 0xffffffffffff, 4, "65535.65535.65535" }, { 0, 4, "0.0.0000" },
		     { 0xabcd000100020003, 1, "1.2.3" } };
	struct ibv_device_attr_ex attr;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		kind.fw_digits = rows[i].digits;
		it.fw_ver = rows[i].raw;
		assert_int_equal(device_query(&attr), 0);
		assert_string_equal(attr.orig_attr.fw_ver, rows[i].text);
	}
	kind.fw_digits = 4;
}

static void an_srq_is_on_demand_if_a_transport_says_so(void **state)
{
	struct ibv_odp_caps *odp = &it.device.odp_caps;
	uint32_t *caps[] = { &odp->per_transport_caps.rc_odp_caps,
			     &odp->per_transport_caps.uc_odp_caps,
			     &odp->per_transport_caps.ud_odp_caps, &it.device.xrc_odp_caps, NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		if (caps[i])
			*caps[i] = IBV_ODP_SUPPORT_SRQ_RECV;
		it.facts.known = false;
		assert_int_equal(provider_device_know(&it.facts), 0);
		assert_int_equal(it.facts.srq_on_demand, caps[i] != NULL);
		if (caps[i])
			*caps[i] = ~(uint32_t)IBV_ODP_SUPPORT_SRQ_RECV;
	}
}

static uint8_t traits_of(uint8_t port_num)
{
	uint8_t traits = 0xee;

	assert_int_equal(provider_device_port_traits(&it.facts, port_num, &traits), 0);
	return traits;
}

static void a_ports_traits_are_asked_for_once(void **state)
{
	(void)state;
	it.port.link_layer = IBV_LINK_LAYER_ETHERNET;
	assert_int_equal(traits_of(1), PORT_KNOWN | PORT_ETHERNET);
	it.port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	assert_int_equal(traits_of(2), PORT_KNOWN);
	assert_int_equal(traits_of(1), PORT_KNOWN | PORT_ETHERNET);
	assert_int_equal(traits_of(2), PORT_KNOWN);
	assert_int_equal(it.ports, 0x102);
	it.port.flags = IBV_QPF_GRH_REQUIRED;
	assert_int_equal(traits_of(255), PORT_KNOWN | PORT_NEEDS_GRH);
	it.port.flags = 0;
	assert_int_equal(traits_of(255), PORT_KNOWN); /* no place to keep it */
	assert_int_equal(it.ports, 0x102ffff);
}

static void the_traits_of_no_port_are_not_kept(void **state)
{
	uint8_t traits;

	(void)state;
	it.err = EINVAL;
	assert_int_equal(provider_device_port_traits(&it.facts, 1, &traits), EINVAL);
	assert_int_equal(traits, 0);
	it.err = 0;
	assert_int_equal(traits_of(1), PORT_KNOWN);
	assert_int_equal(traits_of(sizeof(it.facts.port_traits)), PORT_KNOWN);
	assert_int_equal(traits_of(sizeof(it.facts.port_traits) - 1), PORT_KNOWN);
}

#define TEST(test) cmocka_unit_test_setup(test, facts_begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_answer_is_kept),
		TEST(a_refusal_is_not_kept),
		TEST(versions_have_the_providers_digits),
		TEST(an_srq_is_on_demand_if_a_transport_says_so),
		TEST(a_ports_traits_are_asked_for_once),
		TEST(the_traits_of_no_port_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
