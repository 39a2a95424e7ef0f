/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the log says of values that ibv_modify_qp() accepted though they cannot work, and that the
 * call returns as it would without a log.
 *
 * Covers: libibverbs/explain/suspect_qp.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "tests/unit/libibverbs/fake_device.h"
#include "tests/unit/log_text.h"

#include <errno.h>
#include <string.h>

#include "util/bits.h"

static enum { IB = IBV_LINK_LAYER_INFINIBAND, ETHERNET = IBV_LINK_LAYER_ETHERNET } link_layer;
static bool has_port;

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	(void)context;
	(void)port_num;
	memset(attr, 0, attr_size);
	attr->lid = 1;
	attr->active_mtu = IBV_MTU_1024;
	attr->link_layer = (uint8_t)link_layer;
	if (has_port)
		return 0;
	errno = EIO;
	return EIO;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	return 0;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .query_port = query_port, .modify_qp = modify_qp };
	struct fake_context *fake;

	/* reads the environment first, so it cannot do so in a test */
	verbs_log_on(VERBS_LOG_WARN);
	verbs_log_threshold = VERBS_LOG_WARN;
	fake = fake_open();
	verbs_set_ops(&fake->vctx, &ops);
	link_layer = IB;
	has_port = true;
	log_text();
	*state = fake;
	return 0;
}

static int close_rig(void **state)
{
	fake_close(*state);
	return 0;
}

static const char *logged(void **state, enum ibv_qp_type type, struct ibv_qp_attr attr, int mask)
{
	struct fake_context *fake = *state;
	struct ibv_qp qp = { .context = &fake->vctx.context, .qp_type = type, .qp_num = 0x77 };

	log_text();
	errno = ENOTTY;
	assert_int_equal(ibv_modify_qp(&qp, &attr, mask), 0);
	assert_int_equal(errno, ENOTTY);
	return log_text();
}

#define HAS(text, what)                                                        \
	do {                                                                   \
		const char *text_ = text;                                      \
                                                                               \
		if (!strstr(text_, what))                                      \
			fail_msg("\"%s\" is not in the log: %s", what, text_); \
	} while (0)

static const struct ibv_qp_attr no_gid = { .ah_attr = { .is_global = 1, .port_num = 1 } };
static const struct ibv_qp_attr swapped_lid = { .ah_attr = { .dlid = 0x200, .port_num = 1 } };

static void an_address_that_leads_nowhere_is_named(void **state)
{
	HAS(logged(state, IBV_QPT_RC, no_gid, IBV_QP_AV), "ah_attr.grh.dgid is 0");
	assert_string_equal(logged(state, IBV_QPT_RC, swapped_lid, IBV_QP_AV), "");
	verbs_log_threshold = VERBS_LOG_INFO;
	HAS(logged(state, IBV_QPT_RC, swapped_lid, IBV_QP_AV),
	    "ah_attr.dlid 512: looks byte-swapped, it may be 2");
	link_layer = ETHERNET;
	assert_string_equal(logged(state, IBV_QPT_RC, swapped_lid, IBV_QP_AV), "");
}

/* A DCI gets its peer with each request, and a DCT answers all, so neither needs one to reach
 * RTR. */
static void the_adapters_own_types_have_no_peer(void **state)
{
	const struct ibv_qp_attr long_mtu = { .path_mtu = IBV_MTU_4096 };

	verbs_log_threshold = VERBS_LOG_INFO;
	assert_string_equal(logged(state, IBV_QPT_DRIVER, no_gid, IBV_QP_AV), "");
	assert_string_equal(logged(state, IBV_QPT_DRIVER, swapped_lid, IBV_QP_AV), "");
	HAS(logged(state, IBV_QPT_DRIVER, long_mtu, IBV_QP_AV | IBV_QP_PATH_MTU),
	    "path_mtu 5 (4096 bytes): the port's active_mtu is 3 (1024 bytes)");
}

static void a_counter_of_three_bits_is_named(void **state)
{
	const struct ibv_qp_attr wide = { .retry_cnt = 10, .rnr_retry = 9, .timeout = 14 };
	const struct ibv_qp_attr right = { .retry_cnt = 7, .rnr_retry = 6, .timeout = 14 };

	HAS(logged(state, IBV_QPT_RC, wide, IBV_QP_RETRY_CNT),
	    "retry_cnt 10: must be 0 to 7: it has 3 bits\n");
	HAS(logged(state, IBV_QPT_RC, wide, IBV_QP_RNR_RETRY),
	    "rnr_retry 9: must be 0 to 7: it has 3 bits\n");
	assert_string_equal(logged(state, IBV_QPT_RC, right, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
			    "");
}

/* It is a choice of some programs, so it is worth a line at info only. */
static void an_endless_timeout_is_named_at_info(void **state)
{
	const struct ibv_qp_attr endless = { .timeout = 0 };

	assert_string_equal(logged(state, IBV_QPT_RC, endless, IBV_QP_TIMEOUT), "");
	verbs_log_threshold = VERBS_LOG_INFO;
	HAS(logged(state, IBV_QPT_RC, endless, IBV_QP_TIMEOUT),
	    "timeout 0: waits for an answer without end");
}

static void a_failed_question_leaves_errno(void **state)
{
	has_port = false;
	verbs_log_threshold = VERBS_LOG_INFO;
	assert_string_equal(logged(state, IBV_QPT_RC, swapped_lid, IBV_QP_AV), "");
}

#define SUSPECT_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUSPECT_TEST(an_address_that_leads_nowhere_is_named),
		SUSPECT_TEST(the_adapters_own_types_have_no_peer),
		SUSPECT_TEST(a_counter_of_three_bits_is_named),
		SUSPECT_TEST(an_endless_timeout_is_named_at_info),
		SUSPECT_TEST(a_failed_question_leaves_errno),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
