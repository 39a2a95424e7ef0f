/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_device_test.c - queries of devices and ports: truncation to the caller's size, refused
 * arguments, and port speeds.
 *
 * Covers: libibverbs/verbs_device.c, libibverbs/cmd/cmd_port.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int device_err;
static unsigned int queries;

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
	const struct verbs_ops ops = { .query_device_ex = query_device };
	struct fake_context *fake = fake_open();

	verbs_set_ops(&fake->vctx, &ops);
	device_err = 0;
	queries = 0;
	expect(NULL, NULL);
	kernel.err = EOPNOTSUPP;
	*state = fake;
	return 0;
}

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

static void the_speed_of_a_port_is_the_kernels(void **state)
{
	uint64_t speed = 0;

	kernel.err = 0;
	expect(IDS(UVERBS_ATTR_QUERY_PORT_SPEED_RESP), NULL);
	kernel.fill = 0x17;
	assert_int_equal(ibv_query_port_speed(context_of(state), 300, &speed), 0);
	assert_string_equal(kernel.text, "0/7 000=8:12c 001>8");
	assert_true(speed == 0x1717171717171717);
}

static void a_kernel_without_speeds_is_not_made_up_for(void **state)
{
	static const int errors[] = { EPROTONOSUPPORT, EOPNOTSUPP, EINVAL, ENXIO };
	uint64_t speed = 99;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		kernel.err = errors[i];
		assert_int_equal(ibv_query_port_speed(context_of(state), 1, &speed), errors[i]);
	}
	assert_int_equal(speed, 99);
}

#define DEVICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(a_caller_gets_what_it_has_room_for),
		DEVICE_TEST(a_query_of_the_device_is_refused),
		DEVICE_TEST(limits_are_asked_for_once),
		DEVICE_TEST(the_speed_of_a_port_is_the_kernels),
		DEVICE_TEST(a_kernel_without_speeds_is_not_made_up_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
