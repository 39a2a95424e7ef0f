/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah_test.c - address vectors of InfiniBand and RoCE, with and without a VLAN tag; the test
 * supplies the host's neighbour table.
 *
 * Covers: providers/mlx4/ah.c
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "util/bits.h"

enum { NO_VLAN = 0xffff };

static uint16_t vlan_of_hop;
static int hop_error;

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	static const uint8_t mac[ETHERNET_LL_SIZE] = { 2, 0x11, 0x22, 0x33, 0x44, 0x55 };

	(void)context;
	(void)attr;
	memcpy(eth_mac, mac, sizeof(mac));
	*vid = vlan_of_hop;
	return hop_error;
}

static struct ibv_ah_attr to_ethernet(void)
{
	struct ibv_ah_attr attr = { .port_num = 2, .is_global = 1, .sl = 5 };

	attr.grh = (struct ibv_global_route){
		.sgid_index = 3, .hop_limit = 0x40, .traffic_class = 0xab, .flow_label = 0xcdef1
	};
	memset(&attr.grh.dgid, 0x77, sizeof(attr.grh.dgid));
	return attr;
}

static void check_segment(struct rig *rig, struct ibv_ah_attr *attr, const char *hex)
{
	struct ibv_ah *ah;

	assert_int_equal(mlx4_ah_create(&rig->pd.pd, attr, &ah), 0);
	check_bytes(to_mah(ah)->segment, hex);
	assert_int_equal(mlx4_ah_destroy(ah), 0);
}

static void infiniband_has_a_lid(void **state)
{
	struct ibv_ah_attr attr = {
		.port_num = 1, .dlid = 0x1234, .sl = 5, .src_path_bits = 3, .static_rate = 2
	};
	struct rig *rig = rig_new(NULL);

	(void)state;
	check_segment(rig, &attr, "01000077 00031234 00000700 50000000");
	rig_free(rig);
}

/* The three low bits of the SL are the priority, in the address vector and in the tag, since IEEE
 * 802.1Q has three bits for it. */
static void roce_has_a_mac_and_perhaps_a_tag(void **state)
{
	static const struct {
		uint16_t vlan;
		const char *hex;
	} cases[] = {
		{ NO_VLAN, "02000077 00800000 00030040 aabcdef1 77777777 77777777 77777777 "
			   "77777777 00000000 00000000 00000211 22334455" },
		{ 0, "22000077 00800000 00030040 aabcdef1 77777777 77777777 77777777 77777777 "
		     "00000000 00000000 a0000211 22334455" },
		{ 0x123, "22000077 00800000 00030040 aabcdef1 77777777 77777777 77777777 "
			 "77777777 00000000 00000000 a1230211 22334455" },
		{ 0xffe, "22000077 00800000 00030040 aabcdef1 77777777 77777777 77777777 "
			 "77777777 00000000 00000000 affe0211 22334455" },
	};
	const struct rig_options options = { .second_port_is_ethernet = true };
	struct rig *rig = rig_new(&options);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_ah_attr attr = to_ethernet();

		vlan_of_hop = cases[i].vlan;
		check_segment(rig, &attr, cases[i].hex);
	}
	rig_free(rig);
}

static void what_no_vector_can_say_is_refused(void **state)
{
	const struct rig_options options = { .second_port_is_ethernet = true };
	struct rig *rig = rig_new(&options);
	struct ibv_ah_attr attr = to_ethernet();
	struct ibv_ah *ah;

	(void)state;
	attr.is_global = 0;
	assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &ah), EINVAL);
	attr = to_ethernet();
	attr.grh.sgid_index = 0x80;
	assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &ah), EINVAL);
	attr = to_ethernet();
	hop_error = ENETUNREACH;
	assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &ah), EINVAL);
	hop_error = 0;
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(infiniband_has_a_lid),
		cmocka_unit_test(roce_has_a_mac_and_perhaps_a_tag),
		cmocka_unit_test(what_no_vector_can_say_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
