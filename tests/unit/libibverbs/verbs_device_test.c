/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_device_test.c - queries of a device and its ports: how much a caller gets, which arguments
 * are refused, and the speed of a link where the kernel has no command for it.
 *
 * Covers: libibverbs/verbs_device.c, libibverbs/verbs_gid.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_port_attr port_attr;
static int port_err, device_err;
static unsigned int queries;

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	(void)context;
	assert_int_equal(port_num, 1);
	if (port_err)
		return port_err;
	assert_int_equal(attr_size, sizeof(*attr));
	*attr = port_attr;
	return 0;
}

static int query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	(void)input;
	queries++;
	memset(attr, 0x77, attr_size);
	return device_err;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .query_port = query_port, .query_device_ex = query_device };
	struct fake_context *fake = fake_open();

	verbs_set_ops(&fake->vctx, &ops);
	port_attr = (struct ibv_port_attr){ .active_width = 1, .active_speed = 1 };
	port_err = device_err = 0;
	queries = 0;
	expect(NULL, NULL);
	kernel.err = EOPNOTSUPP;
	*state = fake;
	return 0;
}

/* ---- devices ---- */

static int device_query(void **state, struct ibv_device_attr_ex *attr, size_t size,
			uint32_t comp_mask)
{
	const struct ibv_query_device_ex_input input = { .comp_mask = comp_mask };

	return verbs_get_ctx(context_of(state))
		->query_device_ex(context_of(state), &input, attr, size);
}

static void a_caller_gets_what_it_has_room_for(void **state)
{
	struct {
		struct ibv_device_attr_ex attr;
		uint8_t more[8];
	} room;
	const size_t least = sizeof(room.attr.orig_attr);
	const uint8_t *bytes = (const uint8_t *)&room;

	memset(&room, 0xee, sizeof(room));
	assert_int_equal(device_query(state, &room.attr, least, 0), 0);
	assert_int_equal(bytes[least - 1], 0x77);
	assert_int_equal(bytes[least], 0xee);
	assert_int_equal(device_query(state, &room.attr, sizeof(room), 0), 0);
	assert_int_equal(bytes[sizeof(room.attr) - 1], 0x77);
	assert_int_equal(room.more[0] | room.more[7], 0);
}

static void a_query_of_the_device_is_refused(void **state)
{
	struct ibv_device_attr_ex attr;
	struct ibv_device_attr old;

	memset(&old, 0xee, sizeof(old));
	assert_int_equal(device_query(state, &attr, sizeof(attr), 1), EINVAL);
	assert_int_equal(device_query(state, &attr, sizeof(attr.orig_attr) - 1, 0), EINVAL);
	assert_int_equal(queries, 0);
	device_err = EIO;
	assert_int_equal(device_query(state, &attr, sizeof(attr), 0), EIO);
	assert_int_equal(ibv_query_device(context_of(state), &old), EIO);
	assert_int_equal(old.max_qp, (int)0xeeeeeeee);
	device_err = 0;
	assert_int_equal(ibv_query_device(context_of(state), &old), 0);
	assert_int_equal(old.max_qp, 0x77777777);
}

static void limits_are_asked_for_once(void **state)
{
	const struct ibv_device_attr *limits;

	device_err = EIO;
	assert_null(verbs_limits(context_of(state)));
	device_err = 0;
	limits = verbs_limits(context_of(state));
	assert_non_null(limits);
	assert_int_equal(limits->max_qp, 0x77777777);
	assert_ptr_equal(verbs_limits(context_of(state)), limits);
	assert_int_equal(queries, 2);
}

/* ---- speeds, in units of 100 Mbit/s ---- */

static uint64_t speed_of(void **state, uint8_t width, uint8_t speed, uint32_t speed_ex)
{
	uint64_t total = 0;

	port_attr.active_width = width;
	port_attr.active_speed = speed;
	port_attr.active_speed_ex = speed_ex;
	assert_int_equal(ibv_query_port_speed(context_of(state), 1, &total), 0);
	return total;
}

static void a_link_has_lanes_of_a_speed(void **state)
{
	static const struct {
		uint32_t code;
		unsigned int value;
	} speeds[] = { { 1, 25 },     { 2, 50 },   { 4, 100 },  { 8, 100 },
		       { 16, 140 },   { 32, 250 }, { 64, 500 }, { 128, 1000 },
		       { 256, 2000 }, { 3, 0 },    { 512, 0 } },
	  lanes[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 }, { 3, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		assert_int_equal(speed_of(state, 1, 0, speeds[i].code), speeds[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++)
		assert_int_equal(speed_of(state, (uint8_t)lanes[i].code, 1, 0),
				 25 * lanes[i].value);
	assert_int_equal(speed_of(state, 2, 64, 0), 2000);
	assert_int_equal(speed_of(state, 2, 64, 128), 4000);
}

/* Where the kernel has no command, a port's number has 8 bits. */
static void the_speed_of_a_port_that_is_not_there_is_refused(void **state)
{
	uint64_t speed = 99;

	assert_int_equal(ibv_query_port_speed(context_of(state), UINT8_MAX + 1, &speed), EINVAL);
	assert_int_equal(ibv_query_port_speed(context_of(state), UINT8_MAX + 2, &speed), EINVAL);
	port_err = ENODEV;
	assert_int_equal(ibv_query_port_speed(context_of(state), 1, &speed), ENODEV);
	kernel.err = ENXIO;
	assert_int_equal(ibv_query_port_speed(context_of(state), 1, &speed), ENXIO);
	assert_int_equal(speed, 99);
}

#define DEVICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(a_caller_gets_what_it_has_room_for),
		DEVICE_TEST(a_query_of_the_device_is_refused),
		DEVICE_TEST(limits_are_asked_for_once),
		DEVICE_TEST(a_link_has_lanes_of_a_speed),
		DEVICE_TEST(the_speed_of_a_port_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
