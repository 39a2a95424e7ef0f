/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * option_test.c - options of an id: their sizes, the states in which they may be set, and a path
 * that the program knows.
 */
#include "softhca/front/process/ucma/option.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

enum { LEVEL_ID = 0, LEVEL_IB = 1, TOS = 0, REUSEADDR = 1, AFONLY = 2, ACK_TIMEOUT = 3, PATH = 1 };

static unsigned int known, put;

void ucma_route_put_known(struct ucma_id *id)
{
	assert_ptr_equal(id, &rig.id);
	id->path = (struct cm_path){ .slid = 0x77, .mtu = 1 };
	put++;
}

void ucma_route_known(struct ucma_id *id, int status)
{
	assert_ptr_equal(id, &rig.id);
	assert_int_equal(status, 0);
	assert_int_equal(put, 1);
	known++;
}

static int option_begin(void **state)
{
	known = put = 0;
	rig_begin(state);
	rig.id.src.adapter = &rig.adapters[0];
	return 0;
}

static int set_option(uint32_t level, uint32_t name, const void *value, size_t size)
{
	memset(rig.memory, 0xee, sizeof(rig.memory));
	memcpy(rig.memory, value, size);
	rig.call.set_option = (struct rdma_ucm_set_option){ .optval = RIG_ADDR,
							    .id = RIG_ID,
							    .level = level,
							    .optname = name,
							    .optlen = (uint32_t)size };
	return ucma_id_set_option(&rig.call);
}

static void tos_is_a_byte(void **state)
{
	const uint8_t tos[2] = { 0x21, 0x99 };

	(void)state;
	assert_int_equal(set_option(LEVEL_ID, TOS, tos, 2), EINVAL);
	assert_int_equal(rig.id.tos, 0);
	assert_int_equal(set_option(LEVEL_ID, TOS, tos, 1), 0);
	assert_int_equal(rig.id.tos, 0x21);
}

static void flags_are_set_before_an_id_is_used(void **state)
{
	const int on[2] = { 2, 3 }, off = 0;

	(void)state;
	for (rig.id.state = UCMA_IDLE; rig.id.state <= UCMA_DISCONNECTED; rig.id.state++) {
		const bool may = rig.id.state <= UCMA_BOUND;

		rig.id.reuse_addr = rig.id.af_only = rig.id.has_af_only = false;
		assert_int_equal(set_option(LEVEL_ID, REUSEADDR, on, sizeof(on[0])),
				 may ? 0 : EINVAL);
		assert_int_equal(rig.id.reuse_addr, may);
		assert_int_equal(rig.id.has_af_only, false);
		assert_int_equal(set_option(LEVEL_ID, AFONLY, on, sizeof(on[0])), may ? 0 : EINVAL);
		assert_int_equal(rig.id.af_only, may);
		assert_int_equal(rig.id.has_af_only, may);
	}
	rig.id.state = UCMA_IDLE;
	rig.id.reuse_addr = rig.id.af_only = true;
	assert_int_equal(set_option(LEVEL_ID, REUSEADDR, &off, sizeof(off)), 0);
	assert_false(rig.id.reuse_addr);
	assert_int_equal(set_option(LEVEL_ID, AFONLY, &off, sizeof(off)), 0);
	assert_false(rig.id.af_only);
	assert_true(rig.id.has_af_only);
	assert_int_equal(set_option(LEVEL_ID, REUSEADDR, on, 1), EINVAL);
	assert_int_equal(set_option(LEVEL_ID, AFONLY, on, sizeof(on)), EINVAL);
	assert_true(rig.id.has_af_only);
}

static void the_timeout_is_of_connections(void **state)
{
	const uint8_t timeout = 14;

	(void)state;
	rig.id.datagram = true;
	assert_int_equal(set_option(LEVEL_ID, ACK_TIMEOUT, &timeout, 1), EINVAL);
	assert_false(rig.id.has_ack_timeout);
	rig.id.datagram = false;
	assert_int_equal(set_option(LEVEL_ID, ACK_TIMEOUT, &timeout, 0), EINVAL);
	assert_false(rig.id.has_ack_timeout);
	assert_int_equal(set_option(LEVEL_ID, ACK_TIMEOUT, &timeout, 1), 0);
	assert_true(rig.id.has_ack_timeout);
	assert_int_equal(rig.id.ack_timeout, 14);
}

static void unknown_options_are_refused(void **state)
{
	const uint8_t value[4] = { 1 };

	(void)state;
	assert_int_equal(set_option(LEVEL_ID, 4, value, 4), ENOSYS);
	assert_int_equal(set_option(LEVEL_IB, 0, value, 4), ENOSYS);
	assert_int_equal(set_option(LEVEL_IB, 2, value, 4), ENOSYS);
	assert_int_equal(set_option(2, TOS, value, 1), ENOSYS);
	set_option(LEVEL_ID, TOS, value, 1);
	rig.call.set_option.id++;
	assert_int_equal(ucma_id_set_option(&rig.call), ENOENT);
	rig.call.set_option.id--;
	rig.call.set_option.optval = 0;
	assert_int_equal(ucma_id_set_option(&rig.call), EFAULT);
	rig.call.set_option.optname = REUSEADDR;
	rig.call.set_option.optlen = 4;
	assert_int_equal(ucma_id_set_option(&rig.call), EFAULT);
	rig.call.set_option.optname = ACK_TIMEOUT;
	rig.call.set_option.optlen = 1;
	assert_int_equal(ucma_id_set_option(&rig.call), EFAULT);
	assert_false(rig.id.has_ack_timeout);
}

static struct ib_path_rec_data path_of(uint32_t flags, uint16_t dlid)
{
	struct ib_path_rec_data data = { .flags = flags };
	uint8_t *record = (uint8_t *)data.path_rec;

	memset(fld_at(record, PATH_DGID), 0xd1, 16);
	memset(fld_at(record, PATH_SGID), 0x51, 16);
	fld_set(record, PATH_DLID, dlid);
	fld_set(record, PATH_SLID, 0x9999);
	fld_set(record, PATH_SL, 3);
	fld_set(record, PATH_FLOW_LABEL, 0x12345);
	fld_set(record, PATH_HOP_LIMIT, 9);
	fld_set(record, PATH_TCLASS, 0x21);
	fld_set(record, PATH_MTU, 4);
	fld_set(record, PATH_RATE, 7);
	fld_set(record, PATH_LIFETIME, 18);
	return data;
}

enum { WHOLE = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL };

static int set_paths(const struct ib_path_rec_data *paths, size_t count)
{
	return set_option(LEVEL_IB, PATH, paths, count * sizeof(*paths));
}

static void a_known_path_replaces_its_resolution(void **state)
{
	const struct ib_path_rec_data path = path_of(WHOLE | IB_PATH_ALTERNATE, 0x1234);
	uint8_t dgid[16];

	(void)state;
	memset(dgid, 0xd1, 16);
	rig.id.state = UCMA_ADDR_RESOLVED;
	assert_int_equal(set_paths(&path, 1), 0);
	assert_int_equal(known, 1);
	assert_int_equal(rig.id.path.slid, 0x77);
	assert_int_equal(rig.id.path.dlid, 0x1234);
	assert_int_equal(rig.id.path.sl, 3);
	assert_int_equal(rig.id.path.flow_label, 0x12345);
	assert_int_equal(rig.id.path.hop_limit, 9);
	assert_int_equal(rig.id.path.traffic_class, 0x21);
	assert_int_equal(rig.id.path.mtu, 4);
	assert_int_equal(rig.id.path.rate, 7);
	assert_int_equal(rig.id.path.lifetime, 18);
	assert_memory_equal(rig.id.path.dgid, dgid, 16);
	assert_int_equal(rig.id.dst.lid, 0x1234);
	assert_memory_equal(rig.id.dst.gid, dgid, 16);
}

static void the_first_path_for_both_ways_is_taken(void **state)
{
	const struct ib_path_rec_data paths[MAX_PATHS + 1] = {
		path_of(IB_PATH_GMP | IB_PATH_PRIMARY, 1),
		path_of(IB_PATH_GMP | IB_PATH_BIDIRECTIONAL, 2),
		path_of(IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL, 3),
		path_of(0, 4),
		path_of(WHOLE, 5),
		path_of(WHOLE, 6),
		path_of(WHOLE, 7),
	};

	(void)state;
	rig.id.state = UCMA_ADDR_RESOLVED;
	assert_int_equal(set_paths(paths, MAX_PATHS), 0);
	assert_int_equal(rig.id.path.dlid, 5);
	known = put = 0;
	assert_int_equal(set_paths(paths, 4), EINVAL);
	assert_int_equal(set_paths(paths, MAX_PATHS + 1), EINVAL);
	assert_int_equal(set_paths(paths, 0), EINVAL);
	assert_int_equal(set_option(LEVEL_IB, PATH, paths + 4, sizeof(paths[0]) + 1), EINVAL);
	assert_int_equal(set_option(LEVEL_IB, PATH, paths + 4, sizeof(paths[0]) - 1), EINVAL);
	rig.call.set_option.optlen = sizeof(paths[0]);
	rig.call.set_option.optval = 0;
	assert_int_equal(ucma_id_set_option(&rig.call), EFAULT);
	assert_int_equal(known + put, 0);
}

static void a_path_follows_an_address_on_infiniband(void **state)
{
	const struct ib_path_rec_data path = path_of(WHOLE, 1);

	(void)state;
	for (rig.id.state = UCMA_IDLE; rig.id.state <= UCMA_DISCONNECTED; rig.id.state++) {
		const bool may = rig.id.state == UCMA_ADDR_RESOLVED;

		known = put = 0;
		assert_int_equal(set_paths(&path, 1), may ? 0 : EINVAL);
		assert_int_equal(known, may);
	}
	rig.id.state = UCMA_ADDR_RESOLVED;
	rig_make_roce();
	known = put = 0;
	assert_int_equal(set_paths(&path, 1), EINVAL);
	assert_int_equal(known, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, option_begin)
	const struct CMUnitTest tests[] = {
		CASE(tos_is_a_byte),
		CASE(flags_are_set_before_an_id_is_used),
		CASE(the_timeout_is_of_connections),
		CASE(unknown_options_are_refused),
		CASE(a_known_path_replaces_its_resolution),
		CASE(the_first_path_for_both_ways_is_taken),
		CASE(a_path_follows_an_address_on_infiniband),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
