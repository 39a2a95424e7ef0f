/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * adapter_port_test.c - port queries of the driver: the commands that it sends to the device, and
 * the fields of their output. The device is a function that records the command and returns a
 * prepared output.
 *
 * Covers: softhca/front/process/driver/adapter_port.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ib/smp.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/vport.h"
#include "softhca/front/process/driver/adapter.h"

static const struct identity identity = { .rate = "25 Gb/sec (1X EDR)", .active_speed = 32 };

static struct adapter *adapter;

static struct {
	unsigned int count;
	int error;
	uint8_t in[1024], out[1024];
} device;

int adapter_command(struct adapter *asked, void *in, size_t in_len, void *out, size_t out_len)
{
	assert_ptr_equal(asked, adapter);
	assert_true(in_len <= sizeof(device.in) && out_len <= sizeof(device.out));
	memset(device.in, 0, sizeof(device.in));
	memcpy(device.in, in, in_len);
	memcpy(out, device.out, out_len);
	device.count++;
	return device.error;
}

static int adapter_begin(enum hca_link_layer link_layer)
{
	adapter = calloc(1, sizeof(*adapter));
	if (!adapter)
		return -1;
	memset(&device, 0, sizeof(device));
	adapter->identity = &identity;
	adapter->link_layer = link_layer;
	adapter->num_ports = 2;
	return 0;
}

static int begin_ib(void **state)
{
	(void)state;
	return adapter_begin(HCA_LINK_INFINIBAND);
}

static int begin_roce(void **state)
{
	(void)state;
	return adapter_begin(HCA_LINK_ETHERNET);
}

static int adapter_end(void **state)
{
	(void)state;
	free(adapter);
	return 0;
}

static void check_command(uint32_t opcode, uint32_t port_field, uint32_t port)
{
	assert_int_equal(fld_get(device.in, CMD_IN_OPCODE), opcode);
	assert_int_equal(fld_get(device.in, port_field), port);
}

static uint8_t *prepared_context(void)
{
	uint8_t *context = fld_at(device.out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT);

	fld_set(context, HCA_VPORT_CONTEXT_CAP_MASK1, 0x02000048);
	fld_set(context, HCA_VPORT_CONTEXT_LID, 0x1234);
	fld_set(context, HCA_VPORT_CONTEXT_LMC, 5);
	fld_set(context, HCA_VPORT_CONTEXT_SM_LID, 0x5678);
	fld_set(context, HCA_VPORT_CONTEXT_SM_SL, 9);
	fld_set(context, HCA_VPORT_CONTEXT_SUBNET_TIMEOUT, 18);
	fld_set(context, HCA_VPORT_CONTEXT_INIT_TYPE_REPLY, 6);
	fld_set(context, HCA_VPORT_CONTEXT_VPORT_STATE, 4);
	fld_set(context, HCA_VPORT_CONTEXT_PORT_PHYSICAL_STATE, 5);
	fld_set(context, HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER, 0xabc);
	fld_set(context, HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER, 0xdef);
	fld_set(context, HCA_VPORT_CONTEXT_GRH_REQUIRED, 1);
	return context;
}

static void a_port_of_infiniband_is_its_vport_context(void **state)
{
	struct port_info info;

	(void)state;
	prepared_context();
	fld_set(adapter->caps, HCA_CAP_GID_TABLE_SIZE, 2);
	fld_set(adapter->caps, HCA_CAP_PKEY_TABLE_SIZE, 1);
	assert_int_equal(adapter_query_port(adapter, 2, &info), 0);
	check_command(PRM_OP_QUERY_HCA_VPORT_CONTEXT, QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM, 2);
	assert_int_equal(info.cap_mask, 0x02010048);
	assert_int_equal(info.lid, 0x1234);
	assert_int_equal(info.lmc, 5);
	assert_int_equal(info.sm_lid, 0x5678);
	assert_int_equal(info.sm_sl, 9);
	assert_int_equal(info.subnet_timeout, 18);
	assert_int_equal(info.init_type_reply, 6);
	assert_int_equal(info.state, 4);
	assert_int_equal(info.phys_state, 5);
	assert_int_equal(info.bad_pkeys, 0xabc);
	assert_int_equal(info.bad_qkeys, 0xdef);
	assert_true(info.grh_required);
	assert_int_equal(info.gid_table_len, 32);
	assert_int_equal(info.pkey_table_len, 256);
	assert_int_equal(info.max_mtu, 5);
	assert_int_equal(info.active_mtu, 5);
	assert_int_equal(info.active_width, 2);
	assert_int_equal(info.active_speed, 32);
}

/* Two commands give the port's state and its count of Q_Key violations; here both have one
 * output. */
static void a_port_of_roce_is_its_link(void **state)
{
	uint8_t *nic = fld_at(device.out, QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT);
	struct port_info info;

	(void)state;
	fld_set(device.out, QUERY_VPORT_STATE_OUT_STATE, 1);
	fld_set(nic, NIC_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER, 0x77);
	assert_int_equal(adapter_query_port(adapter, 1, &info), 0);
	assert_int_equal(device.count, 2);
	assert_int_equal(fld_get(device.in, CMD_IN_OPCODE), PRM_OP_QUERY_NIC_VPORT_CONTEXT);
	assert_int_equal(info.state, 4);
	assert_int_equal(info.phys_state, 5);
	assert_int_equal(info.cap_mask, 0x04010000);
	assert_int_equal(info.active_mtu, 3);
	assert_true(info.grh_required);
	assert_int_equal(info.bad_qkeys, 0x77);
	assert_int_equal(info.gid_table_len, MAX_ROCE_GIDS);
	assert_int_equal(info.pkey_table_len, 1);
	fld_set(device.out, QUERY_VPORT_STATE_OUT_STATE, 0);
	assert_int_equal(adapter_query_port(adapter, 1, &info), 0);
	assert_int_equal(info.state, 1);
	assert_int_equal(info.phys_state, 3);
}

static void ports_that_are_not_there_are_refused(void **state)
{
	struct gid_entry entry;
	struct port_info info;
	uint64_t speed;
	uint16_t pkey;

	(void)state;
	for (unsigned int port = 0; port <= 3; port += 3) {
		assert_int_equal(adapter_query_port(adapter, port, &info), EINVAL);
		assert_int_equal(adapter_query_speed(adapter, port, &speed), EINVAL);
		assert_int_equal(adapter_query_gid(adapter, port, 0, &entry), EINVAL);
		assert_int_equal(adapter_query_pkey(adapter, port, 0, &pkey), EINVAL);
	}
	assert_int_equal(device.count, 0);
}

static void errors_of_commands_are_those_of_the_queries(void **state)
{
	struct port_counters counters;
	struct port_info info;
	uint64_t speed;
	uint16_t pkey;

	(void)state;
	device.error = EIO;
	assert_int_equal(adapter_query_port(adapter, 1, &info), EIO);
	assert_int_equal(adapter_query_speed(adapter, 1, &speed), EIO);
	assert_int_equal(adapter_query_counters(adapter, 1, &counters), EIO);
	assert_int_equal(device.count, 3);
	if (adapter_is_roce(adapter))
		return;
	assert_int_equal(adapter_query_pkey(adapter, 1, 0, &pkey), EIO);
	assert_int_equal(device.count, 4);
}

static uint64_t speed_of_port(void)
{
	uint64_t speed = 99;

	assert_int_equal(adapter_query_speed(adapter, 1, &speed), 0);
	assert_int_equal(fld_get(device.in, CMD_IN_OPCODE), PRM_OP_QUERY_VPORT_STATE);
	return speed;
}

static void speed_is_the_limit_or_that_of_the_link(void **state)
{
	(void)state;
	fld_set(device.out, QUERY_VPORT_STATE_OUT_STATE, 1);
	assert_int_equal(speed_of_port(), 250);
	fld_set(device.out, QUERY_VPORT_STATE_OUT_MAX_TX_SPEED, 40);
	assert_int_equal(speed_of_port(), 40);
	fld_set(device.out, QUERY_VPORT_STATE_OUT_STATE, 0);
	assert_int_equal(speed_of_port(), 0);
	fld_set(adapter->caps, HCA_CAP_LAG_MASTER, 1);
	fld_set(adapter->caps, HCA_CAP_NUM_LAG_PORTS, 2);
	assert_int_equal(speed_of_port(), 500);
}

static void gids_of_infiniband_are_asked_for(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7 };
	uint8_t *out = fld_at(device.out, QUERY_HCA_VPORT_GID_OUT_GID);
	struct gid_entry entry;

	(void)state;
	memcpy(out, gid, sizeof(gid));
	assert_int_equal(adapter_query_gid(adapter, 2, 7, &entry), 0);
	check_command(PRM_OP_QUERY_HCA_VPORT_GID, QUERY_HCA_VPORT_GID_IN_PORT_NUM, 2);
	assert_int_equal(fld_get(device.in, QUERY_HCA_VPORT_GID_IN_GID_INDEX), 7);
	assert_true(entry.valid);
	assert_int_equal(entry.kind, GID_IB);
	assert_memory_equal(entry.gid, gid, sizeof(gid));
	assert_int_equal(adapter_query_gid(adapter, 2, 8, &entry), EINVAL);
	out[15] = 0; /* a prefix without a GUID marks an unused entry */
	assert_int_equal(adapter_query_gid(adapter, 2, 7, &entry), ENODATA);
	out[8] = 1;
	assert_int_equal(adapter_query_gid(adapter, 2, 7, &entry), 0);
	device.error = EINVAL;
	assert_int_equal(adapter_query_gid(adapter, 2, 7, &entry), ENODATA);
}

static void gids_of_roce_are_the_drivers(void **state)
{
	struct gid_entry entry;

	(void)state;
	adapter->gid[1][3] = (struct gid_entry){ .valid = true, .gid = { 0x20, 1 } };
	assert_int_equal(adapter_query_gid(adapter, 2, 3, &entry), 0);
	assert_int_equal(entry.gid[0], 0x20);
	assert_int_equal(adapter_query_gid(adapter, 1, 3, &entry), ENODATA);
	assert_int_equal(adapter_query_gid(adapter, 2, 2, &entry), ENODATA);
	assert_int_equal(adapter_query_gid(adapter, 2, MAX_ROCE_GIDS, &entry), EINVAL);
	assert_int_equal(device.count, 0);
}

static void p_keys_of_infiniband_are_asked_for(void **state)
{
	uint16_t pkey = 0;

	(void)state;
	fld_set(fld_at(device.out, QUERY_HCA_VPORT_PKEY_OUT_PKEY), PKEY_PKEY, 0x8123);
	assert_int_equal(adapter_query_pkey(adapter, 2, 127, &pkey), 0);
	check_command(PRM_OP_QUERY_HCA_VPORT_PKEY, QUERY_HCA_VPORT_PKEY_IN_PORT_NUM, 2);
	assert_int_equal(fld_get(device.in, QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX), 127);
	assert_int_equal(pkey, 0x8123);
	assert_int_equal(adapter_query_pkey(adapter, 2, 128, &pkey), EINVAL);
}

static void roce_has_the_default_p_key_alone(void **state)
{
	uint16_t pkey = 0;

	(void)state;
	assert_int_equal(adapter_query_pkey(adapter, 1, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(adapter_query_pkey(adapter, 1, 1, &pkey), EINVAL);
	assert_int_equal(device.count, 0);
}

static void prepare_counter(uint32_t counter, uint64_t packets, uint64_t bytes)
{
	fld_set(fld_at(device.out, counter), TRAFFIC_COUNTER_PACKETS, packets);
	fld_set(fld_at(device.out, counter), TRAFFIC_COUNTER_OCTETS, bytes);
}

static void counters_are_those_of_infiniband_packets(void **state)
{
	struct port_counters counters;

	(void)state;
	prepare_counter(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST, 1, 0x100000000);
	prepare_counter(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_MULTICAST, 2, 20);
	prepare_counter(QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST, 3, 30);
	prepare_counter(QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_MULTICAST, 4, 0x200000000);
	prepare_counter(QUERY_VPORT_COUNTER_OUT_RECEIVED_ERRORS, 5, 50);
	adapter->link_downs[0] = 8;
	adapter->link_downs[1] = 9;
	assert_int_equal(adapter_query_counters(adapter, 2, &counters), 0);
	check_command(PRM_OP_QUERY_VPORT_COUNTER, QUERY_VPORT_COUNTER_IN_PORT_NUM, 2);
	assert_int_equal(counters.unicast_sent, 1);
	assert_int_equal(counters.multicast_sent, 2);
	assert_int_equal(counters.unicast_received, 3);
	assert_int_equal(counters.multicast_received, 4);
	assert_int_equal(counters.bytes_sent, 0x100000014);
	assert_int_equal(counters.bytes_received, 0x20000001e);
	assert_int_equal(counters.receive_errors, 5);
	assert_int_equal(counters.link_downs, 9);
}

static void a_manager_is_shown_and_no_longer(void **state)
{
	const uint8_t *context = fld_at(device.in, MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT);

	(void)state;
	for (int present = 1; present >= 0; present--) {
		adapter_show_manager(adapter, 2, present);
		check_command(PRM_OP_MODIFY_HCA_VPORT_CONTEXT, MODIFY_HCA_VPORT_CONTEXT_IN_PORT_NUM,
			      2);
		assert_int_equal(fld_get(context, HCA_VPORT_CONTEXT_CAP_MASK1),
				 present ? PORT_CAP_SM : 0);
		assert_int_equal(fld_get(context, HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT),
				 PORT_CAP_SM);
	}
}

#define TEST(link, name) cmocka_unit_test_setup_teardown(name, begin_##link, adapter_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ib, a_port_of_infiniband_is_its_vport_context),
		TEST(roce, a_port_of_roce_is_its_link),
		TEST(ib, ports_that_are_not_there_are_refused),
		TEST(roce, ports_that_are_not_there_are_refused),
		TEST(ib, errors_of_commands_are_those_of_the_queries),
		TEST(roce, errors_of_commands_are_those_of_the_queries),
		TEST(roce, speed_is_the_limit_or_that_of_the_link),
		TEST(ib, gids_of_infiniband_are_asked_for),
		TEST(roce, gids_of_roce_are_the_drivers),
		TEST(ib, p_keys_of_infiniband_are_asked_for),
		TEST(roce, roce_has_the_default_p_key_alone),
		TEST(ib, counters_are_those_of_infiniband_packets),
		TEST(ib, a_manager_is_shown_and_no_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
