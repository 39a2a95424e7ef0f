/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast_test.c - QPs in multicast groups: which QPs and GIDs may join, groups that are attached
 * twice or not at all, and the end of a QP, also after the device has died.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/mcast.c"

enum { QPN = 0x123, LID = 0xc001, REFUSED = EDOM };

static const uint8_t group_gid[16] = { 0xff, 0x12, [15] = 1 };
static const uint8_t other_gid[16] = { 0xff, 0x12, [15] = 2 };
static struct real_qp real;
static struct uverbs_qp qp;

static int mcast_begin(void **state)
{
	rig_begin(state);
	memset(&qp, 0, sizeof(qp));
	real = (struct real_qp){ .qpn = QPN };
	qp.real = &real;
	qp.type = IB_UVERBS_QPT_UD;
	LIST_INIT(&qp.groups);
	rig_publish(&qp.base, UVERBS_OBJECT_QP);
	return 0;
}

static int mcast_end(void **state)
{
	mcast_detach_all(&qp);
	return rig_end(state);
}

static int group_attach(const uint8_t gid[16], uint16_t lid)
{
	struct ib_uverbs_attach_mcast cmd = { .qp_handle = qp.base.handle, .mlid = lid };

	memcpy(cmd.gid, gid, 16);
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return mcast_attach(&rig.call);
}

static int group_detach(const uint8_t gid[16], uint16_t lid)
{
	struct ib_uverbs_detach_mcast cmd = { .qp_handle = qp.base.handle, .mlid = lid };

	memcpy(cmd.gid, gid, 16);
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return mcast_detach(&rig.call);
}

static void check_command(unsigned int count, uint32_t opcode, const uint8_t gid[16])
{
	assert_int_equal(rig.commands, count);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), opcode);
	assert_int_equal(fld_get(rig.command, MCG_IN_QPN), QPN);
	assert_memory_equal(fld_at(rig.command, MCG_IN_MULTICAST_GID), gid, 16);
}

static void a_group_is_attached_once(void **state)
{
	(void)state;
	assert_int_equal(group_attach(group_gid, LID), 0);
	check_command(1, PRM_OP_ATTACH_TO_MCG, group_gid);
	assert_int_equal(group_attach(group_gid, LID), 0);
	assert_int_equal(rig.commands, 1);
	assert_int_equal(group_attach(group_gid, LID + 1), 0); /* another LID: another group */
	assert_int_equal(rig.commands, 2);
	assert_int_equal(group_attach(other_gid, LID), 0);
	check_command(3, PRM_OP_ATTACH_TO_MCG, other_gid);
}

static void what_is_attached_is_detached(void **state)
{
	(void)state;
	assert_int_equal(group_detach(group_gid, LID), EINVAL);
	assert_int_equal(group_attach(group_gid, LID), 0);
	assert_int_equal(group_detach(other_gid, LID), EINVAL);
	assert_int_equal(group_detach(group_gid, LID + 1), EINVAL);
	assert_int_equal(group_detach(group_gid, LID), 0);
	check_command(2, PRM_OP_DETACH_FROM_MCG, group_gid);
	assert_int_equal(group_detach(group_gid, LID), EINVAL);
	assert_int_equal(rig.commands, 2);
}

static void only_groups_of_datagram_qps_are_attached(void **state)
{
	static const uint8_t unicast[16] = { 0xfe, 0x80, [15] = 1 };
	static const uint8_t ipv4[16] = { [10] = 0xff, [11] = 0xff, [12] = 224, [15] = 9 };
	static const uint8_t ipv4_unicast[16] = { [10] = 0xff, [11] = 0xff, [12] = 192, [15] = 9 };

	(void)state;
	assert_int_equal(group_attach(unicast, LID), EINVAL);
	assert_int_equal(group_attach(ipv4_unicast, LID), EINVAL);
	assert_int_equal(group_attach(ipv4, LID), 0);
	qp.type = IB_UVERBS_QPT_RC;
	assert_int_equal(group_attach(group_gid, LID), EINVAL);
	qp.type = IB_UVERBS_QPT_UD;
	qp.is_underlay = true;
	assert_int_equal(group_attach(group_gid, LID), EOPNOTSUPP);
	assert_int_equal(rig.commands, 1);
}

static void lids_of_infiniband_are_those_of_groups(void **state)
{
	static const struct {
		uint16_t lid;
		int on_infiniband;
	} rows[] = { { 0, EINVAL },
		     { LID_MULTICAST - 1, EINVAL },
		     { LID_MULTICAST, 0 },
		     { LID_PERMISSIVE - 1, 0 },
		     { LID_PERMISSIVE, EINVAL } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig.adapter.link_layer = HCA_LINK_INFINIBAND;
		assert_int_equal(group_attach(group_gid, rows[i].lid), rows[i].on_infiniband);
		rig.adapter.link_layer = HCA_LINK_ETHERNET;
		assert_int_equal(group_attach(other_gid, rows[i].lid), 0);
	}
}

static void a_handle_is_that_of_a_qp(void **state)
{
	struct object other = { .users = 0 };

	(void)state;
	qp.base.handle++;
	assert_int_equal(group_attach(group_gid, LID), ENOENT);
	assert_int_equal(group_detach(group_gid, LID), ENOENT);
	rig_publish(&other, UVERBS_OBJECT_CQ);
	assert_int_equal(other.handle, qp.base.handle);
	assert_int_equal(group_attach(group_gid, LID), EINVAL);
	assert_int_equal(group_detach(group_gid, LID), EINVAL);
	rig.objects[other.handle] = NULL;
	qp.base.handle--;
}

static void what_the_device_refuses_is_not_attached(void **state)
{
	(void)state;
	rig.command_error = REFUSED;
	assert_int_equal(group_attach(group_gid, LID), REFUSED);
	assert_true(LIST_EMPTY(&qp.groups));
	rig.command_error = 0;
	assert_int_equal(group_attach(group_gid, LID), 0);
	rig.command_error = REFUSED;
	assert_int_equal(group_detach(group_gid, LID), REFUSED);
	assert_true(LIST_EMPTY(&qp.groups));
}

/* A dead device takes no command; nothing of its groups is left, as a program must be able to clean
 * up. */
static void groups_of_a_dead_device_only_end(void **state)
{
	(void)state;
	assert_int_equal(group_attach(group_gid, LID), 0);
	rig.adapter.dead = true;
	assert_int_equal(group_attach(other_gid, LID), EIO);
	assert_int_equal(group_detach(group_gid, LID), 0);
	assert_int_equal(rig.commands, 1);
	assert_true(LIST_EMPTY(&qp.groups));
}

static void all_groups_end_with_the_qp(void **state)
{
	(void)state;
	assert_int_equal(group_attach(group_gid, LID), 0);
	assert_int_equal(group_attach(other_gid, LID), 0);
	mcast_detach_all(&qp);
	check_command(4, PRM_OP_DETACH_FROM_MCG, group_gid);
	assert_true(LIST_EMPTY(&qp.groups));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, mcast_begin, mcast_end)
	const struct CMUnitTest tests[] = {
		CASE(a_group_is_attached_once),
		CASE(what_is_attached_is_detached),
		CASE(only_groups_of_datagram_qps_are_attached),
		CASE(lids_of_infiniband_are_those_of_groups),
		CASE(a_handle_is_that_of_a_qp),
		CASE(what_the_device_refuses_is_not_attached),
		CASE(groups_of_a_dead_device_only_end),
		CASE(all_groups_end_with_the_qp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
