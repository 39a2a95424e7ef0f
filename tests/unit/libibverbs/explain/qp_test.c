/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the log says of a QP that the kernel refuses to create or to modify: the one attribute that
 * is wrong, and none that equals its limit.
 *
 * Covers: libibverbs/explain/qp.c, libibverbs/explain/ah.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "tests/unit/libibverbs/fake_device.h"
#include "tests/unit/log_text.h"

#include <errno.h>
#include <string.h>

#include "util/bits.h"

static bool has_limits, has_port;
static enum { IB = IBV_LINK_LAYER_INFINIBAND, ETHERNET = IBV_LINK_LAYER_ETHERNET } link_layer;

static int query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	(void)input;
	memset(attr, 0, attr_size);
	attr->orig_attr.phys_port_cnt = 2;
	attr->orig_attr.max_qp_rd_atom = 16;
	attr->orig_attr.max_qp_init_rd_atom = 8;
	return has_limits ? 0 : EIO;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	(void)context;
	(void)port_num;
	memset(attr, 0, attr_size);
	attr->pkey_tbl_len = 4;
	attr->gid_tbl_len = 3;
	attr->link_layer = (uint8_t)link_layer;
	return has_port ? 0 : EIO;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .query_device_ex = query_device, .query_port = query_port };
	struct fake_context *fake = fake_open();

	verbs_set_ops(&fake->vctx, &ops);
	has_limits = has_port = true;
	link_layer = IB;
	log_text();
	*state = fake;
	return 0;
}

static int close_rig(void **state)
{
	fake_close(*state);
	return 0;
}

static struct ibv_context *context_of(void **state)
{
	return &((struct fake_context *)*state)->vctx.context;
}

/* The log's line must end with TEXT. */
static void check_line_ends(const char *text)
{
	const char *line = log_text();
	size_t len = strlen(line), want = strlen(text);

	if (len <= want || line[len - 1] != '\n' || strncmp(line + len - 1 - want, text, want))
		fail_msg("\"%s\" is not the end of: %s", text, line);
}

struct mask_row {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	int mask;
	const char *text;
};

static void a_mask_is_named_by_its_attributes(void **state)
{
	static const struct mask_row rows[] = {
		{ IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTS, IBV_QP_STATE,
		  "RESET to RTS: Invalid argument: there is no such transition: from RESET the QP "
		  "goes to RESET, INIT" },
		{ IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_ERR, IBV_QP_STATE,
		  "from RESET the QP goes to RESET, INIT" },
		{ IBV_QPT_RC, IBV_QPS_RESET, 7, IBV_QP_STATE,
		  "RESET to an unknown state: Invalid argument: there is no such transition: from "
		  "RESET the QP goes to RESET, INIT" },
		{ IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_STATE,
		  "RESET to INIT: Invalid argument: attr_mask 0x1 lacks "
		  "IBV_QP_ACCESS_FLAGS|IBV_QP_PKEY_INDEX|IBV_QP_PORT" },
		{ IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_AV,
		  "INIT to RTR: Invalid argument: attr_mask 0x81 lacks IBV_QP_PATH_MTU|"
		  "IBV_QP_RQ_PSN|IBV_QP_MIN_RNR_TIMER|IBV_QP_MAX_DEST_RD_ATOMIC|IBV_QP_DEST_QPN" },
		{ IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE,
		  "RTR to RTS: Invalid argument: attr_mask 0x1 lacks IBV_QP_TIMEOUT|"
		  "IBV_QP_RETRY_CNT|IBV_QP_RNR_RETRY|IBV_QP_MAX_QP_RD_ATOMIC|IBV_QP_SQ_PSN" },
		{ IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_CUR_STATE,
		  "lacks IBV_QP_SQ_PSN (unless the QP has a source_qpn)" },
		{ IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_QKEY,
		  "lacks IBV_QP_SQ_PSN" },
		{ IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE, "lacks IBV_QP_SQ_PSN" },
		{ IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS,
		  IBV_QP_STATE | IBV_QP_ALT_PATH | IBV_QP_CAP | IBV_QP_PATH_MIG_STATE,
		  "RTS to RTS: Invalid argument: attr_mask 0xc4001 has IBV_QP_ALT_PATH|"
		  "IBV_QP_PATH_MIG_STATE|IBV_QP_CAP, which this transition does not take" },
		{ IBV_QPT_UD, IBV_QPS_SQD, IBV_QPS_ERR,
		  IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_RATE_LIMIT | 1 << 21 |
			  (int)(1u << 31),
		  "SQD to ERR: Invalid argument: attr_mask 0x82200005 has "
		  "IBV_QP_EN_SQD_ASYNC_NOTIFY|0x200000|IBV_QP_RATE_LIMIT|0x80000000, which this "
		  "transition does not take" },
		{ IBV_QPT_UC, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_QKEY,
		  "SQE to RTS: Invalid argument: attr_mask 0x41 has IBV_QP_QKEY, which this "
		  "transition does not take" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_qp qp = { .context = context_of(state),
				     .qp_type = rows[i].type,
				     .state = rows[i].from };
		struct ibv_qp_attr attr = { .qp_state = rows[i].to, .cur_qp_state = rows[i].from };

		verbs_qp_explain_modify(&qp, &attr, rows[i].mask, EINVAL);
		check_line_ends(rows[i].text);
	}
}

static void the_state_is_the_programs_or_the_last_known(void **state)
{
	struct ibv_qp qp = { .context = context_of(state),
			     .qp_type = IBV_QPT_UC,
			     .state = IBV_QPS_RTS,
			     .qp_num = 0x77 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .cur_qp_state = IBV_QPS_SQE };

	verbs_qp_explain_modify(&qp, &attr, IBV_QP_CUR_STATE, EPERM);
	check_line_ends("ibv_modify_qp: QP 0x77 SQE to SQE: Operation not permitted");
	verbs_qp_explain_modify(&qp, &attr, 0, EPERM);
	check_line_ends("ibv_modify_qp: QP 0x77 RTS to RTS: Operation not permitted");
	verbs_qp_explain_modify(&qp, &attr, IBV_QP_STATE, EINVAL);
	check_line_ends(
		"RTS to INIT: Invalid argument: there is no such transition: from RTS the QP goes "
		"to RESET, RTS, SQD, ERR");
}

static const struct ibv_qp_attr right = {
	.qp_state = IBV_QPS_RTR,
	.path_mtu = IBV_MTU_4096,
	.max_dest_rd_atomic = 16,
	.min_rnr_timer = 31,
	.ah_attr = { .port_num = 2, .dlid = 9 },
};

#define TO_RTR                                                                          \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                                 \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)
#define TO_INIT  (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define NO_FAULT "the mask and the values look right: see the kernel's log"

static void explain_rc(struct ibv_context *context, enum ibv_qp_state from, struct ibv_qp_attr attr,
		       int mask, const char *text)
{
	struct ibv_qp qp = { .context = context, .qp_type = IBV_QPT_RC, .state = from };

	verbs_qp_explain_modify(&qp, &attr, mask, EINVAL);
	check_line_ends(text);
}

#define EXPLAIN(from, values, mask, text, ...)                          \
	do {                                                            \
		struct ibv_qp_attr attr_ = values;                      \
                                                                        \
		attr_.__VA_ARGS__;                                      \
		explain_rc(context_of(state), from, attr_, mask, text); \
	} while (0)
#define IN_RTR(text, ...) EXPLAIN(IBV_QPS_INIT, right, TO_RTR, text, __VA_ARGS__)

static void a_value_is_named_with_its_range(void **state)
{
	IN_RTR(NO_FAULT, path_mtu = IBV_MTU_256);
	IN_RTR("path_mtu 0: must be an enum ibv_mtu, 1 (256 bytes) to 5 (4096 bytes)",
	       path_mtu = 0);
	IN_RTR("path_mtu 6: must be an enum ibv_mtu, 1 (256 bytes) to 5 (4096 bytes)",
	       path_mtu = 6);
	IN_RTR("min_rnr_timer 32: must be 0 to 31", min_rnr_timer = 32);
	IN_RTR("max_dest_rd_atomic 17: must be at most the device's max_qp_rd_atom, 16",
	       max_dest_rd_atomic = 17);
	IN_RTR(NO_FAULT, timeout = 32); /* the mask does not have it */
}

static const struct ibv_qp_attr right_in_rts = {
	.qp_state = IBV_QPS_RTS,
	.timeout = 31,
	.retry_cnt = 7,
	.rnr_retry = 7,
	.max_rd_atomic = 8,
};
#define IN_RTS(text, ...) EXPLAIN(IBV_QPS_RTR, right_in_rts, TO_RTS, text, __VA_ARGS__)

static void a_value_of_the_requester_is_named_with_its_range(void **state)
{
	IN_RTS(NO_FAULT, sq_psn = 1);
	IN_RTS("timeout 32: must be 0 to 31", timeout = 32);
	IN_RTS("retry_cnt 8: must be 0 to 7", retry_cnt = 8);
	IN_RTS("rnr_retry 8: must be 0 to 7", rnr_retry = 8);
	IN_RTS("max_rd_atomic 9: must be at most the device's max_qp_init_rd_atom, 8",
	       max_rd_atomic = 9);
	IN_RTS("max_rd_atomic 9: must be at most the device's max_qp_init_rd_atom, 8",
	       max_rd_atomic = 9, attr_.rnr_retry = attr_.retry_cnt = 8);
	IN_RTS(NO_FAULT, path_mtu = 6);
	IN_RTS(NO_FAULT, max_dest_rd_atomic = 17);
	IN_RTS(NO_FAULT, port_num = 3);
}

static const struct ibv_qp_attr right_in_init = {
	.qp_state = IBV_QPS_INIT,
	.pkey_index = 3,
	.port_num = 2,
};
#define IN_INIT(text, ...) EXPLAIN(IBV_QPS_RESET, right_in_init, TO_INIT, text, __VA_ARGS__)

static void a_port_and_its_pkeys_are_those_of_the_device(void **state)
{
	IN_INIT(NO_FAULT, port_num = 1);
	IN_INIT(NO_FAULT, max_rd_atomic = 9);
	IN_INIT("port_num 0: must be 1 to 2", port_num = 0);
	IN_INIT("port_num 3: must be 1 to 2", port_num = 3);
	IN_INIT("pkey_index 4: must be below port 2's pkey_tbl_len, 4", pkey_index = 4);
	has_port = false;
	IN_INIT(NO_FAULT, pkey_index = 4);
}

static void without_limits_only_widths_are_known(void **state)
{
	has_limits = false;
	IN_INIT(NO_FAULT, port_num = 3);
	IN_RTR(NO_FAULT, max_dest_rd_atomic = 17);
	IN_RTR("min_rnr_timer 32: must be 0 to 31", min_rnr_timer = 32);
}

/* The kernel's driver has the rules of the adapter's own types, such as a DCI. */
static void a_type_of_the_adapter_has_rules_of_its_own(void **state)
{
	static const struct ibv_qp_attr values[] = {
		{ .qp_state = IBV_QPS_INIT, .port_num = 1 },
		{ .qp_state = IBV_QPS_INIT, .port_num = 1, .ah_attr = { .port_num = 9 } },
	};
	struct ibv_qp qp = { .context = context_of(state), .qp_type = IBV_QPT_DRIVER };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		verbs_qp_explain_modify(&qp, &values[i], IBV_QP_STATE | IBV_QP_PORT | IBV_QP_AV,
					EINVAL);
		check_line_ends("RESET to INIT: Invalid argument: the values look right, and the "
				"mask has rules of the adapter: see the kernel's log");
	}
	verbs_qp_explain_modify(&qp, &(struct ibv_qp_attr){ .port_num = 9 }, IBV_QP_PORT, EINVAL);
	check_line_ends("port_num 9: must be 1 to 2");
}

/* An error of the machine has nothing to do with the values, so the log blames none. */
static void a_value_is_no_cause_of_an_error_of_the_machine(void **state)
{
	static const int errors[] = { EIO, ETIMEDOUT, ENOMEM, ENODEV, EPERM };
	struct ibv_qp qp = { .context = context_of(state), .qp_type = IBV_QPT_RC };
	const struct ibv_qp_attr wrong = { .qp_state = IBV_QPS_INIT, .port_num = 3 };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		verbs_qp_explain_modify(&qp, &wrong, TO_INIT, errors[i]);
		check_line_ends(strerror(errors[i]));
	}
	verbs_qp_explain_modify(&qp, &wrong, TO_INIT, ENODATA);
	check_line_ends("port_num 3: must be 1 to 2");
}

static void an_address_is_named_by_its_field(void **state)
{
	IN_RTR("ah_attr.port_num 3: must be 1 to 2", ah_attr.port_num = 3);
	IN_RTR("ah_attr.port_num 0: must be 1 to 2", ah_attr.port_num = 0);
	IN_RTR("ah_attr.grh.sgid_index 3: must be below port 2's gid_tbl_len, 3",
	       ah_attr =
		       (struct ibv_ah_attr){ .port_num = 2, .is_global = 1, .grh.sgid_index = 3 });
	IN_RTR(NO_FAULT, ah_attr.grh.sgid_index = 3); /* no global address */
	link_layer = ETHERNET;
	IN_RTR("ah_attr.is_global 0: port 2 is Ethernet, where an address is a GID: set "
	       "is_global 1, grh.dgid and grh.sgid_index",
	       ah_attr.sl = 1);
	has_port = false;
	IN_RTR(NO_FAULT, ah_attr.sl = 1);
}

static void explain_create(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			   int err, const char *text)
{
	verbs_qp_explain_create(context, attr, err);
	check_line_ends(text);
}

/* Changes the attributes of a QP that the call would accept. */
#define CREATE(err, text, ...)                                                        \
	do {                                                                          \
		struct ibv_qp_init_attr_ex attr = { .send_cq = &cq, .recv_cq = &cq }; \
                                                                                      \
		attr.qp_type = IBV_QPT_RC;                                            \
		__VA_ARGS__;                                                          \
		explain_create(context_of(state), &attr, err, text);                  \
	} while (0)

static void a_qp_without_its_cqs_is_explained(void **state)
{
	struct ibv_cq cq = { .context = context_of(state) };
	struct ibv_cq foreign = { .context = NULL };

	CREATE(EINVAL, "Invalid argument: send_cq is NULL", attr.send_cq = NULL);
	CREATE(EINVAL, "Invalid argument: recv_cq is NULL", attr.recv_cq = NULL);
	CREATE(EINVAL, "Invalid argument: send_cq belongs to another context",
	       attr.send_cq = &foreign);
	CREATE(EINVAL, "Invalid argument: recv_cq belongs to another context",
	       attr.recv_cq = &foreign);
	CREATE(EINVAL, "max_inline_data 0: Invalid argument", attr.srq = NULL);
	CREATE(EINVAL, "max_inline_data 0: Invalid argument", attr.recv_cq = NULL,
	       attr.qp_type = IBV_QPT_XRC_SEND);
	CREATE(EINVAL, "Invalid argument: send_cq is NULL", attr.send_cq = NULL,
	       attr.qp_type = IBV_QPT_XRC_SEND);
	CREATE(EINVAL, "max_inline_data 0: Invalid argument", attr.send_cq = NULL,
	       attr.recv_cq = NULL, attr.qp_type = IBV_QPT_XRC_RECV);
}

#define NEEDS_NET_RAW "a QP for raw packets or with a source_qpn needs CAP_NET_RAW"

static void a_qp_that_the_kernel_denies_is_explained(void **state)
{
	struct ibv_cq cq = { .context = context_of(state) };

	CREATE(EPERM, NEEDS_NET_RAW, attr.qp_type = IBV_QPT_RAW_PACKET);
	CREATE(EINVAL, ": Invalid argument", attr.qp_type = IBV_QPT_RAW_PACKET);
	CREATE(EPERM, ": Operation not permitted", attr.qp_type = IBV_QPT_UD);
	CREATE(EPERM, NEEDS_NET_RAW, attr.comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS,
	       attr.create_flags = IBV_QP_CREATE_SOURCE_QPN);
	CREATE(EPERM, ": Operation not permitted", attr.create_flags = IBV_QP_CREATE_SOURCE_QPN);
	CREATE(EPERM, ": Operation not permitted", attr.comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS,
	       attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	CREATE(ENOMEM, "or its ring would pass RLIMIT_MEMLOCK (ulimit -l)",
	       attr.qp_type = IBV_QPT_RC);
}

#define NOT_OF_ITS_OWN                                                                     \
	"what receives through an indirection table has no recv_cq, srq, max_recv_wr and " \
	"max_recv_sge of its own"

static void what_receives_through_a_table_is_explained(void **state)
{
	struct ibv_cq cq = { .context = context_of(state) };
	struct ibv_srq srq = {};

	CREATE(EINVAL, NOT_OF_ITS_OWN, attr.comp_mask = IBV_QP_INIT_ATTR_IND_TABLE);
	CREATE(EINVAL, "max_inline_data 0: Invalid argument", attr.recv_cq = NULL,
	       attr.comp_mask = IBV_QP_INIT_ATTR_IND_TABLE);
	CREATE(EINVAL, NOT_OF_ITS_OWN, attr.recv_cq = NULL, attr.cap.max_recv_wr = 1,
	       attr.comp_mask = IBV_QP_INIT_ATTR_IND_TABLE);
	CREATE(EINVAL, NOT_OF_ITS_OWN, attr.recv_cq = NULL, attr.cap.max_recv_sge = 1,
	       attr.comp_mask = IBV_QP_INIT_ATTR_IND_TABLE);
	CREATE(EINVAL, NOT_OF_ITS_OWN, attr.recv_cq = NULL, attr.srq = &srq,
	       attr.comp_mask = IBV_QP_INIT_ATTR_IND_TABLE);
	CREATE(EINVAL,
	       "ibv_create_qp: qp_type 3 max_send_wr 1 max_recv_wr 2 max_send_sge 3 max_recv_sge 4 "
	       "max_inline_data 5: Invalid argument",
	       attr.qp_type = IBV_QPT_UC, attr.cap = (struct ibv_qp_cap){ 1, 2, 3, 4, 5 });
}

#define EXPLAIN_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EXPLAIN_TEST(a_mask_is_named_by_its_attributes),
		EXPLAIN_TEST(the_state_is_the_programs_or_the_last_known),
		EXPLAIN_TEST(a_value_is_named_with_its_range),
		EXPLAIN_TEST(a_value_of_the_requester_is_named_with_its_range),
		EXPLAIN_TEST(a_port_and_its_pkeys_are_those_of_the_device),
		EXPLAIN_TEST(without_limits_only_widths_are_known),
		EXPLAIN_TEST(a_type_of_the_adapter_has_rules_of_its_own),
		EXPLAIN_TEST(a_value_is_no_cause_of_an_error_of_the_machine),
		EXPLAIN_TEST(an_address_is_named_by_its_field),
		EXPLAIN_TEST(a_qp_without_its_cqs_is_explained),
		EXPLAIN_TEST(a_qp_that_the_kernel_denies_is_explained),
		EXPLAIN_TEST(what_receives_through_a_table_is_explained),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
