/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * anchor_test.c - steering anchors, addresses mapped to QPs, and device memory by its type: the
 * commands, what is refused without one, and failures.
 *
 * Covers: providers/mlx5/dv/anchor.c, providers/mlx5/dv/ah.c, providers/mlx5/dv/dm.c,
 * providers/mlx5/dv/wq.c
 */
#include "devx_double.h"

#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/dv/dv.h"

/* ---- anchors ---- */

static struct mlx5dv_steering_anchor_attr anchor_attr(uint16_t priority)
{
	return (struct mlx5dv_steering_anchor_attr){ .ft_type = MLX5DV_FLOW_TABLE_TYPE_FDB,
						     .priority = priority };
}

static void an_anchor_is_one_command(void **state)
{
	struct mlx5dv_steering_anchor_attr attr = anchor_attr(15);
	struct mlx5dv_steering_anchor *anchor;

	(void)state;
	devx.outs = 1u << 3;
	devx.out_values[3] = 0x1234;
	anchor = mlx5dv_create_steering_anchor(devx_context(), &attr);
	assert_non_null(anchor);
	assert_int_equal(devx.object, MLX5_IB_OBJECT_STEERING_ANCHOR);
	assert_int_equal(devx.method, MLX5_IB_METHOD_STEERING_ANCHOR_CREATE);
	assert_string_equal(devx.in, "1000=0:0 1001=8:2 1002=2:f 1003>4");
	assert_int_equal(anchor->id, 0x1234);
	devx.outs = 0;
	devx_fail_at(1, EBUSY, 0);
	assert_int_equal(mlx5dv_destroy_steering_anchor(anchor), EBUSY);
	check_logged("mlx5dv_destroy_steering_anchor: the kernel keeps anchor 4660: errno 16");
	assert_int_equal(mlx5dv_destroy_steering_anchor(anchor), 0);
	assert_int_equal(devx.method, MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY);
	assert_string_equal(devx.in, "1000=0:51");
}

static void check_no_anchor(const struct mlx5dv_steering_anchor_attr *attr, int err,
			    const char *text)
{
	struct mlx5dv_steering_anchor_attr copy = *attr;

	assert_null(mlx5dv_create_steering_anchor(devx_context(), &copy));
	assert_int_equal(errno, err);
	check_logged(text);
}

static void an_anchor_that_cannot_be_is_refused(void **state)
{
	struct mlx5dv_steering_anchor_attr attr = anchor_attr(16);

	(void)state;
	check_no_anchor(&attr, EINVAL, "priority is 16, limit 15");
	attr = anchor_attr(1);
	attr.comp_mask = 1;
	check_no_anchor(&attr, EOPNOTSUPP, "comp_mask is 0x1, must be 0");
	attr = anchor_attr(1);
	heap_fail_at(1);
	check_no_anchor(&attr, ENOMEM, "");
	assert_int_equal(devx.calls, 0);
	devx_fail_at(1, EEXIST, 0);
	check_no_anchor(&attr, EEXIST,
			"the kernel refuses an anchor of ft_type 2, priority 1: errno 17");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	check_no_anchor(&attr, EOPNOTSUPP, "other_0 is not an mlx5 device");
}

/* ---- addresses ---- */

static struct mlx5_ah address(void)
{
	struct mlx5_ah ah = { .ah.context = devx_context() };

	memset(&ah.av, 0xff, sizeof(ah.av));
	for (size_t i = 0; i < sizeof(ah.av.rgid); i++)
		ah.av.rgid[i] = (uint8_t)(0x11 + i);
	return ah;
}

/* The device gets the service level, the source's index and the destination's GID. */
static void an_address_is_mapped_once(void **state)
{
	struct mlx5_ah ah = address();

	(void)state;
	devx.caps.maps_addresses = true;
	devx_fail_at(1, ENOSPC, 0);
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 0x123456), ENOSPC);
	assert_false(ah.is_mapped);
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 0x123456), 0);
	assert_string_equal(devx.in, "0:0a000000 4:0000003a 1c:00123456 2c:0f000000 "
				     "3c:0ff00000 40:11121314 44:15161718 48:191a1b1c "
				     "4c:1d1e1f20");
	assert_true(ah.is_mapped);
	assert_int_equal(ah.mapping.id, DEVX_FIRST_ID);
	assert_int_equal(ah.mapping.handle, DEVX_FIRST_HANDLE);
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 0x77), 0);
	assert_int_equal(devx.calls, 2);
	devx.objects = 0;
}

static void a_mapping_needs_the_device(void **state)
{
	struct mlx5_ah ah = address();

	(void)state;
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 1), EOPNOTSUPP);
	check_logged("mlx5dv_map_ah_to_qp: mlx5_0 does not map addresses to QPs");
	devx.caps.maps_addresses = true;
	devx.caps_err = EOPNOTSUPP;
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 1), EOPNOTSUPP);
	check_logged("mlx5dv_map_ah_to_qp: mlx5_0 does not map addresses to QPs");
	devx.caps_err = EIO;
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 1), EIO);
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_int_equal(mlx5dv_map_ah_to_qp(&ah.ah, 1), EOPNOTSUPP);
	check_logged("other_0 is not an mlx5 device");
	assert_int_equal(devx.calls, 0);
}

/* ---- device memory ---- */

static void memory_of_no_type_is_refused(void **state)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct mlx5dv_alloc_dm_attr of = { .comp_mask = 1 };
	struct ibv_dm foreign = { .context = devx_context() };

	(void)state;
	assert_null(mlx5dv_alloc_dm(devx_context(), &attr, &of));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_alloc_dm: comp_mask is 0x1, must be 0");
	of.comp_mask = 0;
	of.type = MLX5DV_DM_TYPE_ENCAP_SW_ICM + 1;
	assert_null(mlx5dv_alloc_dm(devx_context(), &attr, &of));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("must be one MLX5DV_DM_TYPE_*");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	of.type = MLX5DV_DM_TYPE_MEMIC;
	assert_null(mlx5dv_alloc_dm(devx_context(), &attr, &of));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_alloc_dm: other_0 is not");
	assert_null(mlx5dv_dm_map_op_addr(&foreign, 0));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_dm_map_op_addr: other_0 is not");
}

/* ---- receive queues with strides ---- */

static void check_strides(uint32_t bytes, uint32_t count, bool fits)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ + 1 }; /* refused after strides */
	struct mlx5dv_wq_init_attr of = { .comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ };

	of.striding_rq_attrs.single_stride_log_num_of_bytes = bytes;
	of.striding_rq_attrs.single_wqe_log_num_of_strides = count;
	assert_null(mlx5dv_create_wq(devx_context(), &attr, &of));
	assert_int_equal(errno, EINVAL);
	check_logged(fits ? "create_wq: wq_type is" : "limits { 6 to 13, 9 to 16 }");
}

static void strides_are_within_the_devices_limits(void **state)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ + 1 };
	struct mlx5dv_wq_init_attr of = { .comp_mask = 2 };

	(void)state;
	devx.ctx->common.device.known = true;
	devx.ctx->device_resp.striding_rq_caps =
		(struct mlx5_ib_striding_rq_caps){ 6, 13, 9, 16, 0, 0 };
	check_strides(6, 9, true);
	check_strides(13, 16, true);
	check_strides(5, 9, false);
	check_strides(14, 9, false);
	check_strides(6, 8, false);
	check_strides(6, 17, false);
	assert_null(mlx5dv_create_wq(devx_context(), &attr, &of));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_create_wq: comp_mask is 0x2, known is 0x1");
	of.comp_mask = 0;
	of.striding_rq_attrs.single_stride_log_num_of_bytes = 99;
	assert_null(mlx5dv_create_wq(devx_context(), &attr, &of));
	check_logged("create_wq: wq_type is");
	assert_null(mlx5dv_create_wq(devx_context(), &attr, NULL));
	check_logged("create_wq: wq_type is");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_null(mlx5dv_create_wq(devx_context(), &attr, NULL));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_create_wq: other_0 is not");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVX_TEST(an_anchor_is_one_command),
		DEVX_TEST(an_anchor_that_cannot_be_is_refused),
		DEVX_TEST(an_address_is_mapped_once),
		DEVX_TEST(a_mapping_needs_the_device),
		DEVX_TEST(memory_of_no_type_is_refused),
		DEVX_TEST(strides_are_within_the_devices_limits),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
