/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_copy_test.c - records of the kernel as structs of verbs and back: each field has a value of
 * its own, and fields that the source lacks stay as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libibverbs/compat/kern_copy.c"

enum { LEFT = 0x5b };

static void fill_record(void *at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)at)[i] = (uint8_t)(i + 1);
}

/* Compares a field, of which the copy may be narrower. */
#define SAME(field) assert_true(to.field == (__typeof__(to.field))from.field)

static void check_ah(const struct ibv_ah_attr *dst, const struct ib_uverbs_ah_attr *src)
{
	const struct ibv_ah_attr to = *dst;
	const struct ib_uverbs_ah_attr from = *src;

	assert_memory_equal(to.grh.dgid.raw, from.grh.dgid, 16);
	SAME(port_num), SAME(is_global), SAME(dlid), SAME(sl);
	SAME(src_path_bits), SAME(static_rate);
	SAME(grh.sgid_index), SAME(grh.hop_limit), SAME(grh.traffic_class), SAME(grh.flow_label);
}

static void an_address_handle_has_each_field(void **state)
{
	struct ib_uverbs_ah_attr from, before;
	struct ibv_ah_attr to;

	(void)state;
	fill_record(&from, sizeof(from));
	before = from;
	memset(&to, LEFT, sizeof(to));
	ibv_copy_ah_attr_from_kern(&to, &from);
	check_ah(&to, &before);
	assert_memory_equal(&from, &before, sizeof(from));
}

static void a_qp_has_each_field(void **state)
{
	struct ib_uverbs_qp_attr from, before;
	struct ibv_qp_attr to;
	uint32_t left;

	(void)state;
	fill_record(&from, sizeof(from));
	before = from;
	memset(&to, LEFT, sizeof(to));
	memset(&left, LEFT, sizeof(left));
	ibv_copy_qp_attr_from_kern(&to, &from);
	assert_memory_equal(&from, &before, sizeof(from));
	assert_int_equal(to.qp_state, left);
	assert_int_equal(to.rate_limit, left);
	SAME(cur_qp_state), SAME(sq_draining), SAME(en_sqd_async_notify);
	SAME(port_num), SAME(pkey_index), SAME(qkey), SAME(qp_access_flags);
	SAME(dest_qp_num), SAME(path_mtu), SAME(rq_psn), SAME(sq_psn);
	SAME(max_rd_atomic), SAME(max_dest_rd_atomic);
	SAME(timeout), SAME(retry_cnt), SAME(rnr_retry), SAME(min_rnr_timer);
	SAME(path_mig_state), SAME(alt_port_num), SAME(alt_pkey_index), SAME(alt_timeout);
	check_ah(&to.ah_attr, &before.ah_attr);
	check_ah(&to.alt_ah_attr, &before.alt_ah_attr);
	assert_int_equal(to.cap.max_send_wr, before.max_send_wr);
	assert_int_equal(to.cap.max_send_sge, before.max_send_sge);
	assert_int_equal(to.cap.max_inline_data, before.max_inline_data);
	assert_int_equal(to.cap.max_recv_wr, before.max_recv_wr);
	assert_int_equal(to.cap.max_recv_sge, before.max_recv_sge);
}

#define SAME_PATH()                                                                              \
	do {                                                                                     \
		SAME(dlid), SAME(slid), SAME(sl), SAME(pkey), SAME(numb_path), SAME(preference); \
		SAME(hop_limit), SAME(traffic_class), SAME(flow_label);                          \
		SAME(raw_traffic), SAME(reversible);                                             \
		SAME(mtu), SAME(rate), SAME(packet_life_time);                                   \
		SAME(mtu_selector), SAME(rate_selector), SAME(packet_life_time_selector);        \
	} while (0)

static void a_path_of_the_kernel_has_each_field(void **state)
{
	struct ib_user_path_rec from, before;
	struct ibv_sa_path_rec to;

	(void)state;
	fill_record(&from, sizeof(from));
	before = from;
	memset(&to, LEFT, sizeof(to));
	ibv_copy_path_rec_from_kern(&to, &from);
	assert_memory_equal(&from, &before, sizeof(from));
	assert_memory_equal(to.dgid.raw, from.dgid, 16);
	assert_memory_equal(to.sgid.raw, from.sgid, 16);
	SAME_PATH();
}

static void a_path_for_the_kernel_has_each_field(void **state)
{
	struct ibv_sa_path_rec from, before;
	struct ib_user_path_rec to;

	(void)state;
	fill_record(&from, sizeof(from));
	before = from;
	memset(&to, LEFT, sizeof(to));
	ibv_copy_path_rec_to_kern(&to, &from);
	assert_memory_equal(&from, &before, sizeof(from));
	assert_memory_equal(to.dgid, from.dgid.raw, 16);
	assert_memory_equal(to.sgid, from.sgid.raw, 16);
	SAME_PATH();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_handle_has_each_field),
		cmocka_unit_test(a_qp_has_each_field),
		cmocka_unit_test(a_path_of_the_kernel_has_each_field),
		cmocka_unit_test(a_path_for_the_kernel_has_each_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
