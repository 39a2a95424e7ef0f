/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_event_test.c - channels of the device's raw events, subscriptions to them, and commands that
 * concern no object.
 *
 * Covers: providers/mlx5/dv/devx_event.c, providers/mlx5/dv/devx.c
 */
#include "devx_double.h"

#include <fcntl.h>
#include <unistd.h>

#include "providers/mlx5/dv/devx.h"

static struct mlx5dv_devx_event_channel *channel_open(void)
{
	struct mlx5dv_devx_event_channel *channel =
		mlx5dv_devx_create_event_channel(devx_context(), 1);

	assert_non_null(channel);
	devx.objects--; /* the kernel's object goes with its descriptor */
	return channel;
}

static void channel_close(struct mlx5dv_devx_event_channel *channel)
{
	channel->fd = -1;
	mlx5dv_devx_destroy_event_channel(channel);
}

static void a_channel_is_one_command(void **state)
{
	struct mlx5dv_devx_event_channel *channel = channel_open();
	int ends[2];

	(void)state;
	assert_int_equal(devx.object, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
	assert_string_equal(devx.in, "1000=0:0 1001=4:1");
	assert_int_equal(channel->fd, DEVX_FIRST_HANDLE);
	assert_int_equal(pipe(ends), 0);
	channel->fd = ends[0];
	mlx5dv_devx_destroy_event_channel(channel);
	assert_int_equal(fcntl(ends[0], F_GETFD), -1);
	close(ends[1]);
}

static void a_channel_that_fails_leaves_nothing(void **state)
{
	(void)state;
	heap_fail_at(1);
	assert_null(mlx5dv_devx_create_event_channel(devx_context(), 0));
	assert_int_equal(errno, ENOMEM);
	devx_fail_at(1, EPERM, 0);
	assert_null(mlx5dv_devx_create_event_channel(devx_context(), 0));
	assert_int_equal(errno, EPERM);
	check_logged("flags is 0: Operation not permitted; the context is without DevX");
	devx.ctx->has_devx = true;
	devx_fail_at(1, EPERM, 0);
	assert_null(mlx5dv_devx_create_event_channel(devx_context(), 0));
	check_logged("flags is 0: Operation not permitted\n");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_null(mlx5dv_devx_create_event_channel(devx_context(), 0));
	assert_int_equal(errno, EOPNOTSUPP);
}

static uint16_t events[] = { 0x0b, 0x0c, 0x0d, 0x0e, 0x0f };

static void a_subscription_names_its_events(void **state)
{
	struct mlx5dv_devx_event_channel *channel = channel_open();
	struct mlx5dv_devx_obj obj = { .context = devx_context(), .handle = 0x99 };

	(void)state;
	if (__BYTE_ORDER == __BIG_ENDIAN)
		skip(); /* the events are in host order */
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, &obj, 4, events, 0x123456789),
			 0);
	assert_int_equal(devx.object, MLX5_IB_OBJECT_DEVX);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	assert_string_equal(devx.in, "1000=0:51 1001=0:99 1002=4:c000b 1004=8:123456789");
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, NULL, 10, events, 5), 0);
	assert_string_equal(devx.in, "1000=0:51 1002<0b000c000d000e000f00 1004=8:5");
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(channel, 0x33, &obj, 0x0b), 0);
	assert_string_equal(devx.in, "1000=0:51 1001=0:99 1002=2:b 1003=4:33");
	devx_fail_at(1, ENOENT, 0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(channel, 0x33, NULL, 0x0b), ENOENT);
	check_logged("mlx5dv_devx_subscribe_devx_event_fd: 2 bytes of events, the first 0xb: No");
	devx_fail_at(1, ENOENT, 0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, NULL, 1, events, 5), ENOENT);
	check_logged("mlx5dv_devx_subscribe_devx_event: 1 bytes of events, the first 0: No");
	channel_close(channel);
}

/* A handle means another object in another context's file, unless one of both is imported. */
static void an_object_of_another_file_is_refused(void **state)
{
	struct mlx5dv_devx_event_channel *channel = channel_open();
	struct mlx5_context *other = __real_calloc(1, sizeof(*other));
	struct mlx5dv_devx_obj obj = { .context = &other->vctx.context, .handle = 0x99 };

	(void)state;
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, &obj, 2, events, 1), EINVAL);
	check_logged("obj is of another context than the channel");
	other->is_imported = true;
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, &obj, 2, events, 1), 0);
	other->is_imported = false;
	devx.ctx->is_imported = true;
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, &obj, 2, events, 1), 0);
	__real_free(other);
	channel_close(channel);
}

static void an_event_is_read_whole(void **state)
{
	struct mlx5dv_devx_event_channel *channel = channel_open();
	uint64_t event[2];
	struct mlx5dv_devx_async_event_hdr *header = (void *)event;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	channel->fd = ends[0];
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	assert_int_equal(mlx5dv_devx_get_event(channel, header, sizeof(event)), 10);
	assert_memory_equal(event, "0123456789", 10);
	assert_int_equal(write(ends[1], "01234567", 8), 8);
	assert_int_equal(mlx5dv_devx_get_event(channel, header, sizeof(event)), 8);
	assert_int_equal(write(ends[1], "0123456", 7), 7);
	assert_int_equal(mlx5dv_devx_get_event(channel, header, sizeof(event)), -1);
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_devx_get_event: 7 bytes were read, an event has 8");
	assert_int_equal(mlx5dv_devx_get_event(channel, header, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	mlx5dv_devx_destroy_event_channel(channel);
	close(ends[1]);
}

/* ---- commands without an object ---- */

static void a_general_command_goes_as_it_is(void **state)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0x01, 0x00, 0, 0, 0, 0, 0, 3 }, out[PRM_CMD_OUT_SIZE];

	(void)state;
	fld_set(devx.answer, FLD(0x8, 31, 0), 0x12345678);
	assert_int_equal(mlx5dv_devx_general_cmd(devx_context(), in, sizeof(in), out, sizeof(out)),
			 0);
	assert_string_equal(devx.in, "0:01000000 4:00000003");
	assert_int_equal(fld_get(out, FLD(0x8, 31, 0)), 0x12345678);
	devx_fail_at(1, EPERM, 0);
	assert_int_equal(mlx5dv_devx_general_cmd(devx_context(), in, sizeof(in), out, sizeof(out)),
			 EPERM);
	check_logged("mlx5dv_devx_general_cmd: command 0x100: the kernel refuses: Operation not");
	devx_fail_at(1, 0, 3);
	assert_int_equal(mlx5dv_devx_general_cmd(devx_context(), in, sizeof(in), out, sizeof(out)),
			 EREMOTEIO);
	check_logged("mlx5dv_devx_general_cmd: command 0x100: the device refuses, status 0x3");
	assert_int_equal(mlx5dv_devx_general_cmd(devx_context(), in, UINT16_MAX + 1, out, 16),
			 EINVAL);
	check_logged("mlx5dv_devx_general_cmd: inlen is 65536, outlen 16, limit 65535");
	assert_int_equal(mlx5dv_devx_general_cmd(devx_context(), in, 16, out, UINT16_MAX + 1),
			 EINVAL);
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_int_equal(mlx5dv_devx_general_cmd(devx_context(), in, 16, out, 16), EOPNOTSUPP);
	check_logged("mlx5dv_devx_general_cmd: other_0 is not an mlx5 device");
}

/* The opcode of a command that is too short, or that cannot be read, is logged as 0. */
static void an_unreadable_command_is_logged(void **state)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0x01, 0x02 }, out[PRM_CMD_OUT_SIZE] = { 0 };

	(void)state;
	mlx5_devx_log_refusal("call", devx_context(), in, sizeof(in) - 1, out, sizeof(out), EFAULT);
	check_logged("call: command 0: the kernel refuses: Bad address; the context is without");
	mlx5_devx_log_refusal("call", devx_context(), (void *)16, sizeof(in), out, sizeof(out),
			      EFAULT);
	check_logged("call: command 0: the kernel refuses: Bad address");
	mlx5_devx_log_refusal("call", devx_context(), in, sizeof(in), out, sizeof(out), EFAULT);
	check_logged("call: command 0x102: the kernel refuses: Bad address");
	mlx5_devx_log_refusal("call", devx_context(), in, sizeof(in), out, sizeof(out) - 1,
			      EREMOTEIO);
	check_logged("call: command 0x102: the kernel refuses: Remote I/O error");
	mlx5_devx_log_refusal("call", devx_context(), in, sizeof(in) - 1, out, sizeof(out),
			      EREMOTEIO);
	check_logged("call: command 0: the device refuses, status 0");
}

static void an_event_queue_has_the_kernels_number(void **state)
{
	uint32_t eqn = 0;

	(void)state;
	devx.outs = 1u << 1;
	devx.out_values[1] = 0x21;
	assert_int_equal(mlx5dv_devx_query_eqn(devx_context(), 3, &eqn), 0);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	assert_string_equal(devx.in, "1000=4:3 1001>4");
	assert_int_equal(eqn, 0x21);
	devx.ctx->vctx.context.num_comp_vectors = 2;
	devx_fail_at(1, EINVAL, 0);
	assert_int_equal(mlx5dv_devx_query_eqn(devx_context(), 3, &eqn), EINVAL);
	check_logged("mlx5dv_devx_query_eqn: vector is 3, mlx5_0 has 2: Invalid argument");
	devx_fail_at(0, 0, 0);
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_int_equal(mlx5dv_devx_query_eqn(devx_context(), 3, &eqn), EOPNOTSUPP);
	assert_int_equal(devx.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVX_TEST(a_channel_is_one_command),
		DEVX_TEST(a_channel_that_fails_leaves_nothing),
		DEVX_TEST(a_subscription_names_its_events),
		DEVX_TEST(an_object_of_another_file_is_refused),
		DEVX_TEST(an_event_is_read_whole),
		DEVX_TEST(a_general_command_goes_as_it_is),
		DEVX_TEST(an_unreadable_command_is_logged),
		DEVX_TEST(an_event_queue_has_the_kernels_number),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
