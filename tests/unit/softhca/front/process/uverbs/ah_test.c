/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah_test.c - address handles: which addresses are refused on each link, the MAC address that the
 * program gets on RoCE, and what keeps the protection domain.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/ah.c"

enum { PORTS = 2, GIDS = 4, REFUSED = EDOM };

static struct uverbs_pd pd;
static struct ib_uverbs_create_ah request;
static bool is_resolved;

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(port, request.attr.port_num);
	memset(entry, 0, sizeof(*entry));
	return index < GIDS ? 0 : REFUSED;
}

void roce_resolve(const uint8_t gid[16], uint8_t mac[6])
{
	assert_int_equal(gid[0], 0xd1);
	memset(mac, 0x77, 6);
	is_resolved = true;
}

static int ah_begin(void **state)
{
	rig_begin(state);
	rig.adapter.num_ports = PORTS;
	memset(&pd, 0, sizeof(pd));
	is_resolved = false;
	request =
		(struct ib_uverbs_create_ah){ .pd_handle = rig_publish(&pd.base, UVERBS_OBJECT_PD),
					      .attr = { .port_num = 1 } };
	memset(request.attr.grh.dgid, 0xd1, 16);
	return 0;
}

static int ah_end(void **state)
{
	rig_end(state);
	assert_int_equal(pd.base.users, 0);
	return 0;
}

static int ah_make(void)
{
	rig_in(UVERBS_ATTR_CORE_IN, &request, sizeof(request));
	return ah_create(&rig.call);
}

static void make_roce(void)
{
	const struct mlx5_ib_create_ah_resp room = { 0 };

	rig.adapter.link_layer = HCA_LINK_ETHERNET;
	rig_in(UVERBS_ATTR_UHW_OUT, &room, sizeof(room));
	request.attr.is_global = 1;
}

static void ports_are_those_of_the_adapter(void **state)
{
	(void)state;
	request.attr.port_num = 0;
	assert_int_equal(ah_make(), EINVAL);
	request.attr.port_num = PORTS + 1;
	assert_int_equal(ah_make(), EINVAL);
	request.attr.port_num = PORTS;
	assert_int_equal(ah_make(), 0);
	assert_int_equal(pd.base.users, 1);
}

static void a_global_address_has_a_gid(void **state)
{
	(void)state;
	request.attr.is_global = 1;
	request.attr.grh.sgid_index = GIDS;
	assert_int_equal(ah_make(), REFUSED);
	request.attr.grh.sgid_index = GIDS - 1;
	assert_int_equal(ah_make(), 0);
	request.attr.is_global = 0;
	request.attr.grh.sgid_index = GIDS;
	assert_int_equal(ah_make(), 0);
	assert_false(is_resolved);
	assert_false(rig_has_out(UVERBS_ATTR_UHW_OUT));
}

static void roce_needs_a_gid_and_tells_the_mac(void **state)
{
	const size_t size = offsetof(struct mlx5_ib_create_ah_resp, dmac) + 6;
	const struct mlx5_ib_create_ah_resp *driver;
	const uint8_t mac[6] = { 0x77, 0x77, 0x77, 0x77, 0x77, 0x77 };

	(void)state;
	make_roce();
	request.attr.is_global = 0;
	assert_int_equal(ah_make(), EINVAL);
	request.attr.is_global = 1;
	assert_int_equal(ah_make(), 0);
	driver = rig_out(UVERBS_ATTR_UHW_OUT, size);
	assert_int_equal(driver->response_length, size);
	assert_memory_equal(driver->dmac, mac, 6);
}

static void a_mac_without_room_is_refused(void **state)
{
	const size_t size = offsetof(struct mlx5_ib_create_ah_resp, dmac) + 6;
	const struct mlx5_ib_create_ah_resp room = { 0 };

	(void)state;
	make_roce();
	rig_in(UVERBS_ATTR_UHW_OUT, &room, size - 1);
	assert_int_equal(ah_make(), EINVAL);
	assert_int_equal(rig.made, 0);
	rig_in(UVERBS_ATTR_UHW_OUT, &room, size);
	rig.out_refused = UVERBS_ATTR_UHW_OUT;
	assert_int_equal(ah_make(), EFAULT);
	assert_int_equal(rig.made, 0);
	rig.out_refused = UINT16_MAX;
	assert_int_equal(ah_make(), 0);
}

static void what_cannot_be_read_or_told_leaves_nothing(void **state)
{
	(void)state;
	rig.in_refused = UVERBS_ATTR_CORE_IN;
	assert_int_equal(ah_make(), EFAULT);
	rig.in_refused = UINT16_MAX;
	request.pd_handle++;
	assert_int_equal(ah_make(), ENOENT);
	assert_int_equal(rig.made, 0);
	request.pd_handle--;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(ah_make(), EFAULT);
	assert_int_equal(rig.made, 1);
	assert_int_equal(rig.freed, 1);
	assert_int_equal(pd.base.users, 0);
}

static void a_handle_is_destroyed_either_way(void **state)
{
	const struct ib_uverbs_create_ah_resp *resp;
	uint32_t handle;

	(void)state;
	assert_int_equal(ah_make(), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	handle = resp->ah_handle;
	rig_in(UVERBS_ATTR_CORE_IN, &handle, sizeof(handle));
	assert_int_equal(ah_remove_write(&rig.call), 0);
	assert_int_equal(pd.base.users, 0);
	assert_int_equal(ah_remove_write(&rig.call), ENOENT);
	assert_int_equal(ah_make(), 0);
	rig_in_object(UVERBS_ATTR_DESTROY_AH_HANDLE, rig.objects[handle]);
	assert_int_equal(ah_remove(&rig.call), 0);
	assert_int_equal(rig.freed, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, ah_begin, ah_end)
	const struct CMUnitTest tests[] = {
		CASE(ports_are_those_of_the_adapter),
		CASE(a_global_address_has_a_gid),
		CASE(roce_needs_a_gid_and_tells_the_mac),
		CASE(a_mac_without_room_is_refused),
		CASE(what_cannot_be_read_or_told_leaves_nothing),
		CASE(a_handle_is_destroyed_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
