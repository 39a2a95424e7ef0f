/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rss_test.c - raw packet QPs that spread frames: the driver's part of the request, which fields
 * may be hashed together, and the hash that the device gets.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/qp/rss.c"

enum { RQTN = 0x44, REFUSED = EDOM };

static struct {
	struct raw_request request;
	struct eth_hash hash;
	unsigned int made;
	int error;
} it;

static const struct uverbs_rwq_table table = { .rqtn = RQTN, .size = 4 };

int raw_qp_make(struct adapter *adapter, const struct raw_request *request, struct raw_qp **raw)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.request = *request;
	it.hash = *request->hash;
	it.made++;
	*raw = NULL;
	return it.error;
}

static struct mlx5_ib_create_qp_rss request_of(uint64_t fields)
{
	struct mlx5_ib_create_qp_rss driver = { .rx_hash_fields_mask = fields,
						.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
						.rx_key_len = PRM_RX_HASH_KEY_SIZE };

	for (unsigned int i = 0; i < PRM_RX_HASH_KEY_SIZE; i++)
		driver.rx_hash_key[i] = (uint8_t)(i + 1);
	return driver;
}

static int spread_on(const struct mlx5_ib_create_qp_rss *driver, const struct uverbs_rwq_table *on)
{
	unsigned int made = it.made;
	struct raw_qp *raw;
	int ret;

	rig_in(UVERBS_ATTR_UHW_IN, driver, sizeof(*driver));
	ret = qp_spread(&rig.call, on, &raw);
	assert_int_equal(it.made - made, !ret || it.error);
	return ret;
}

static int rss_create(uint64_t fields)
{
	const struct mlx5_ib_create_qp_rss driver = request_of(fields);

	return spread_on(&driver, &table);
}

static int test_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	return rig_begin(state);
}

static void each_field_is_the_devices(void **state)
{
	static const struct {
		uint64_t asked;
		uint32_t device;
		bool ipv4, ipv6, tcp, udp;
	} rows[] = {
		{ MLX5_RX_HASH_SRC_IPV4, PRM_HASH_SRC_IP, true, false, false, false },
		{ MLX5_RX_HASH_DST_IPV4, PRM_HASH_DST_IP, true, false, false, false },
		{ MLX5_RX_HASH_SRC_IPV6, PRM_HASH_SRC_IP, false, true, false, false },
		{ MLX5_RX_HASH_DST_IPV6, PRM_HASH_DST_IP, false, true, false, false },
		{ MLX5_RX_HASH_SRC_PORT_TCP, PRM_HASH_L4_SPORT, false, false, true, false },
		{ MLX5_RX_HASH_DST_PORT_TCP, PRM_HASH_L4_DPORT, false, false, true, false },
		{ MLX5_RX_HASH_SRC_PORT_UDP, PRM_HASH_L4_SPORT, false, false, false, true },
		{ MLX5_RX_HASH_DST_PORT_UDP, PRM_HASH_L4_DPORT, false, false, false, true },
		{ IPV4 | TCP,
		  PRM_HASH_SRC_IP | PRM_HASH_DST_IP | PRM_HASH_L4_SPORT | PRM_HASH_L4_DPORT, true,
		  false, true, false },
	};
	const struct mlx5_ib_create_qp_rss driver = request_of(0);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(rss_create(rows[i].asked), 0);
		assert_int_equal(it.hash.fields, rows[i].device);
		assert_int_equal(it.hash.ipv4, rows[i].ipv4);
		assert_int_equal(it.hash.ipv6, rows[i].ipv6);
		assert_int_equal(it.hash.tcp, rows[i].tcp);
		assert_int_equal(it.hash.udp, rows[i].udp);
		assert_memory_equal(it.hash.key, driver.rx_hash_key, sizeof(it.hash.key));
		assert_int_equal(it.request.rqtn, RQTN);
	}
}

static void fields_of_two_protocols_do_not_go_together(void **state)
{
	static const uint64_t networks[] = { 0, MLX5_RX_HASH_SRC_IPV4, IPV4, MLX5_RX_HASH_DST_IPV6,
					     IPV6 };
	static const uint64_t transports[] = { 0, MLX5_RX_HASH_SRC_PORT_TCP, TCP,
					       MLX5_RX_HASH_DST_PORT_UDP, UDP };

	(void)state;
	for (unsigned int i = 1; i < ARRAY_SIZE(networks); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(transports); j++)
			assert_int_equal(rss_create(networks[i] | transports[j]), 0);
	}
	for (unsigned int j = 1; j < ARRAY_SIZE(transports); j++)
		assert_int_equal(rss_create(transports[j]), 0);
	assert_int_equal(rss_create(MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV6), EINVAL);
	assert_int_equal(rss_create(IPV4 | IPV6 | TCP), EINVAL);
	assert_int_equal(rss_create(MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_UDP), EINVAL);
	assert_int_equal(rss_create(IPV4 | TCP | UDP), EINVAL);
}

static void without_fields_there_is_one_queue(void **state)
{
	const struct uverbs_rwq_table one = { .rqtn = RQTN, .size = 1 };
	const struct mlx5_ib_create_qp_rss driver = request_of(0);

	(void)state;
	assert_int_equal(rss_create(0), EINVAL);
	assert_int_equal(spread_on(&driver, &one), 0);
	assert_int_equal(it.hash.fields, 0);
}

static void what_is_not_known_is_refused(void **state)
{
	struct mlx5_ib_create_qp_rss driver = request_of(IPV4);

	(void)state;
	assert_int_equal(rss_create(IPV4 | MLX5_RX_HASH_INNER), EOPNOTSUPP);
	assert_int_equal(rss_create(IPV4 | MLX5_RX_HASH_IPSEC_SPI), EOPNOTSUPP);
	driver.comp_mask = 1;
	assert_int_equal(spread_on(&driver, &table), EOPNOTSUPP);
	driver = request_of(IPV4);
	driver.flags = MLX5_QP_FLAG_TUNNEL_OFFLOADS;
	assert_int_equal(spread_on(&driver, &table), EINVAL);
	driver = request_of(IPV4);
	driver.rx_hash_function = 0;
	assert_int_equal(spread_on(&driver, &table), EOPNOTSUPP);
	driver = request_of(IPV4);
	driver.rx_key_len--;
	assert_int_equal(spread_on(&driver, &table), EINVAL);
	it.error = REFUSED;
	assert_int_equal(rss_create(IPV4), REFUSED);
}

static void own_frames_are_blocked_as_asked(void **state)
{
	static const struct {
		uint32_t flags;
		unsigned int block;
	} rows[] = {
		{ 0, 0 },
		{ MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC, PRM_BLOCK_UNICAST },
		{ MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC, PRM_BLOCK_MULTICAST },
		{ KNOWN_FLAGS, PRM_BLOCK_UNICAST | PRM_BLOCK_MULTICAST },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mlx5_ib_create_qp_rss driver = request_of(IPV6);

		driver.flags = rows[i].flags;
		assert_int_equal(spread_on(&driver, &table), 0);
		assert_int_equal(it.request.self_lb_block, rows[i].block);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(each_field_is_the_devices),
		CASE(fields_of_two_protocols_do_not_go_together),
		CASE(without_fields_there_is_one_queue),
		CASE(what_is_not_known_is_refused),
		CASE(own_frames_are_blocked_as_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
