/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_addr_test.c - golden bytes of requests that carry an address (datagrams, DC, XRC),
 * through both entry points. The address vectors equal those of the distribution's library.
 *
 * Covers: providers/mlx5/data/send_wr_addr.c, providers/mlx5/data/post_send.c,
 * providers/mlx5/ah/av.c
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/data/cq/poll.h"
#include "util/bits.h"

#define IMM htobe32(0xcafef00d)

static const struct ibv_sge sges[] = {
	{ .addr = 0x00007fab01020304u, .length = 0x100, .lkey = 0x0c0ffee0u },
	{ .addr = 0x00007fab01021304u, .length = 0x20, .lkey = 0x0c0ffee1u },
};

#define DATA0 " 00000100 0c0ffee0 00007fab 01020304"
#define DATA1 " 00000020 0c0ffee1 00007fab 01021304"
#define AV                                                                         \
	" 11223344 00000000 80654321 75031234 00000000 00000000 00000000 00000000" \
	" 00000000 00000000 00000000 00000000"
#define XRC    " 00007788 00000000 00000000 00000000"
#define REMOTE " 11223344 55667788 a1b2c3d4 00000000"

static void an_address_vector_of_infiniband_has_lid_path_bits_and_sl(void **state)
{
	struct ibv_ah_attr attr = { .dlid = 0x1234, .sl = 5, .src_path_bits = 3 };
	struct mlx5_ah ah = { 0 };

	(void)state;
	mlx5_ah_fill_infiniband(&attr, &ah);
	check_bytes(&ah.av,
		    "00000000 00000000 00000000 05031234 00000000 00000000 00000000 00000000"
		    " 00000000 00000000 00000000 00000000");
	attr.sl = 0xff;
	attr.src_path_bits = 0xff;
	mlx5_ah_fill_infiniband(&attr, &ah);
	check_bytes(&ah.av, "00000000 00000000 00000000 0f7f1234 00000000");
}

static void a_grh_is_asked_for_by_its_bit(void **state)
{
	struct ibv_ah_attr attr = { .dlid = 0x1234, .sl = 5, .src_path_bits = 3, .is_global = 1 };
	struct mlx5_ah ah = { 0 };

	(void)state;
	attr.grh = (struct ibv_global_route){
		.flow_label = 0xfffabcde, .sgid_index = 255, .hop_limit = 64, .traffic_class = 0x77
	};
	memset(attr.grh.dgid.raw, 0x11, 16);
	mlx5_ah_fill_infiniband(&attr, &ah);
	check_bytes(&ah.av,
		    "00000000 00000000 00000000 05031234 00000000 00000000 00007740 4ffabcde"
		    " 11111111 11111111 11111111 11111111");
}

static void each_rate_has_the_code_of_the_next_higher(void **state)
{
	static const char codes[] = "007"
				    "89abcdef"
				    "bdf09f009d00000000000000";

	(void)state;
	for (unsigned int rate = 0; rate < sizeof(codes) - 1; rate++) {
		struct ibv_ah_attr attr = { .static_rate = (uint8_t)rate };
		struct mlx5_ah ah = { 0 };
		char code[2];

		mlx5_ah_fill_infiniband(&attr, &ah);
		snprintf(code, sizeof(code), "%x", ah.av.stat_rate_sl >> 4);
		assert_int_equal(code[0], codes[rate]);
	}
}

static void an_address_vector_of_roce_has_the_next_hop(void **state)
{
	static const uint8_t dmac[] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };
	struct ibv_ah_attr attr = { .dlid = 0x1234, .sl = 5, .src_path_bits = 3, .is_global = 1 };
	struct mlx5_ah ah = { 0 };

	(void)state;
	attr.grh = (struct ibv_global_route){
		.flow_label = 0xabcde, .sgid_index = 3, .hop_limit = 64, .traffic_class = 0x77
	};
	memset(attr.grh.dgid.raw, 0x11, 16);
	mlx5_ah_fill_roce(&attr, dmac, &ah);
	check_bytes(&ah.av,
		    "00000000 00000000 00000000 0a000000 00000000 02112233 44557740 003abcde"
		    " 11111111 11111111 11111111 11111111");
}

static struct mlx5_ah ah_of(const struct ibv_ah_attr *attr)
{
	struct mlx5_ah ah = { 0 };

	mlx5_ah_fill_infiniband(attr, &ah);
	return ah;
}

static const struct ibv_ah_attr dest = {
	.dlid = 0x1234, .sl = 5, .src_path_bits = 3, .static_rate = IBV_RATE_2_5_GBPS
};

static void post_ud(struct rig *rig, struct mlx5_ah *ah, enum ibv_wr_opcode opcode, int num_sge)
{
	struct ibv_send_wr wr = { .opcode = opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;

	wr.sg_list = (struct ibv_sge *)sges;
	wr.num_sge = num_sge;
	wr.imm_data = IMM;
	wr.wr.ud.ah = &ah->ah;
	wr.wr.ud.remote_qpn = 0x654321;
	wr.wr.ud.remote_qkey = 0x11223344;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
}

static void a_datagram_is_ctrl_address_vector_data(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UD });
	struct mlx5_ah ah = ah_of(&dest);

	(void)state;
	post_ud(rig, &ah, IBV_WR_SEND, 1);
	check_bytes(rig_sq(rig, 0), "0000000a 12345605 00000008 00000000" AV DATA0);
	post_ud(rig, &ah, IBV_WR_SEND_WITH_IMM, 2);
	check_bytes(rig_sq(rig, 2), "0000020b 12345606 00000008 cafef00d" AV DATA0 DATA1);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 4);
	rig_free(rig);
}

/* The ring of a QP without SGEs has no room for a data segment behind full WQEBBs: it would
 * overwrite the next WQE. */
static void refuses_an_sge_without_room(enum ibv_qp_type type)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = type });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	rig->qp->sq.max_sge = 0;
	mlx5_send_wr_fill(rig->qp);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);
	assert_int_equal(rig->qp->sq.pi, 0);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, 0);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig->qp->sq.pi, 1);
	rig_free(rig);
}

static void a_qp_without_sges_refuses_one(void **state)
{
	(void)state;
	refuses_an_sge_without_room(IBV_QPT_UD);
	refuses_an_sge_without_room(IBV_QPT_XRC_SEND);
	refuses_an_sge_without_room(IBV_QPT_DRIVER);
}

/* A setter without a builder has no WQE, so it must not write to the WQE of the previous batch. */
static void a_setter_without_a_builder_writes_nothing(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_RC });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	char inline_data[8] = "changed";

	(void)state;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	ibv_wr_start(qpx);
	ibv_wr_set_sge(qpx, sges[1].lkey, sges[1].addr, sges[1].length);
	ibv_wr_set_inline_data(qpx, inline_data, sizeof(inline_data));
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 0) + 16, DATA0);
	assert_int_equal(rig->qp->sq.pi, 1);
	rig_free(rig);
}

/* The address may be set before or after the payload, so both orders must write the same bytes. */
static void the_wr_setters_of_a_datagram_come_in_any_order(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UD });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct mlx5_ah ah = ah_of(&dest);

	(void)state;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, &ah.ah, 0x654321, 0x11223344);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
	ibv_wr_send_imm(qpx, IMM);
	ibv_wr_set_sge_list(qpx, 2, sges);
	ibv_wr_set_ud_addr(qpx, &ah.ah, 0x654321, 0x11223344);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345605 00000008 00000000" AV DATA0);
	check_bytes(rig_sq(rig, 2), "0000020b 12345606 00000008 cafef00d" AV DATA0 DATA1);
	rig_free(rig);
}

static void a_datagram_at_the_end_of_the_ring_has_its_payload_at_the_start(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UD, .sq_pi = 7 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE }, *bad;
	struct mlx5_ah ah = ah_of(&dest);
	struct ibv_sge text = { .addr = (uintptr_t) "0123456789", .length = 10 };

	(void)state;
	post_ud(rig, &ah, IBV_WR_SEND, 1);
	check_bytes(rig_sq(rig, 7), "0000070a 12345605 00000008 00000000" AV);
	check_bytes(rig_sq(rig, 8), DATA0);
	rig_free(rig);

	rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UD, .sq_pi = 7 });
	wr.sg_list = &text;
	wr.num_sge = 1;
	wr.wr.ud.ah = &ah.ah;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 7), "0000070a 12345605");
	check_bytes(rig_sq(rig, 8), "8000000a 30313233 34353637 38390000");
	rig_free(rig);

	rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UD, .sq_pi = 7 });
	qpx = &rig->qp->vqp.qp_ex;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)text.addr, text.length);
	ibv_wr_set_ud_addr(qpx, &ah.ah, 0x654321, 0x11223344);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 7), "0000070a 12345605 00000000 00000000" AV);
	check_bytes(rig_sq(rig, 8), "8000000a 30313233 34353637 38390000");
	rig_free(rig);
}

#define DC_AV                                                                      \
	" 01234567 89abcdef 80654321 75031234 00000000 00000000 00000000 00000000" \
	" 00000000 00000000 00000000 00000000"

static void set_dc_addr(struct rig *rig, struct mlx5_ah *ah, int stream)
{
	struct mlx5dv_qp_ex *dv = &rig->qp->dv_qp;

	if (stream < 0)
		mlx5dv_wr_set_dc_addr(dv, &ah->ah, 0x654321, 0x0123456789abcdef);
	else
		mlx5dv_wr_set_dc_addr_stream(dv, &ah->ah, 0x654321, 0x0123456789abcdef,
					     (uint16_t)stream);
}

static void set_first_sge(struct ibv_qp_ex *qpx)
{
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
}

/* DC: the access key takes the place of the Q_Key; the stream is in the control segment. PRM:
 * Address Vector */
static void a_dc_request_is_ctrl_address_vector_remote_data(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_DRIVER });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct mlx5_ah ah = ah_of(&dest);

	(void)state;
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	set_dc_addr(rig, &ah, -1);
	set_first_sge(qpx);
	ibv_wr_rdma_write_imm(qpx, 0xa1b2c3d4, 0x1122334455667788, IMM);
	set_first_sge(qpx);
	set_dc_addr(rig, &ah, 0xbeef);
	ibv_wr_rdma_read(qpx, 0xa1b2c3d4, 0x1122334455667788);
	ibv_wr_set_sge_list(qpx, 2, sges);
	set_dc_addr(rig, &ah, 1);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345605 00000008 00000000" DC_AV DATA0);
	check_bytes(rig_sq(rig, 2), "00000209 12345606 00beef08 cafef00d" DC_AV REMOTE DATA0);
	check_bytes(rig_sq(rig, 4), "00000410 12345607 00000108 00000000" DC_AV REMOTE DATA0 DATA1);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 6);
	rig_free(rig);
}

static void a_dc_atomic_has_operands_and_result_in_the_second_block(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_DRIVER, .sq_pi = 7 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct mlx5_ah ah = ah_of(&dest);

	(void)state;
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_cmp_swp(qpx, 0xa1b2c3d4, 0x1122334455667788, 5, 6);
	set_dc_addr(rig, &ah, 2);
	ibv_wr_set_sge(qpx, 0x42, 0x1000, 8);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 7), "00000711 12345607 00000208 00000000" DC_AV);
	check_bytes(rig_sq(rig, 8), REMOTE " 00000000 00000006 00000000 00000005"
					   " 00000008 00000042 00000000 00001000");
	rig_free(rig);
}

static void inline_data_of_dc_goes_on_at_the_start_of_the_ring(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_DRIVER, .sq_pi = 7 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct mlx5_ah ah = ah_of(&dest);
	char text[] = "0123456789";

	(void)state;
	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, text, 10);
	set_dc_addr(rig, &ah, -1);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 7), "0000070a 12345605 00000000 00000000" DC_AV);
	check_bytes(rig_sq(rig, 8), "8000000a 30313233 34353637 38390000");
	rig_free(rig);
}

static void a_dc_address_without_a_builder_is_not_written(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_DRIVER });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad = NULL;
	struct mlx5_ah ah = ah_of(&dest);

	(void)state;
	ibv_wr_start(qpx);
	set_dc_addr(rig, &ah, -1);
	set_dc_addr(rig, &ah, 3);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig->qp->sq.pi, 0);
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	rig_free(rig);
}

static void a_qp_refuses_what_its_type_does_not_have(void **state)
{
	const struct {
		enum ibv_qp_type type;
		enum ibv_wr_opcode opcode;
		int err;
	} cases[] = {
		{ IBV_QPT_UD, IBV_WR_RDMA_WRITE, EINVAL },
		{ IBV_QPT_UD, IBV_WR_SEND_WITH_INV, EINVAL },
		{ IBV_QPT_UD, IBV_WR_ATOMIC_CMP_AND_SWP, ENOSYS },
		{ IBV_QPT_UC, IBV_WR_RDMA_READ, EINVAL },
		{ IBV_QPT_UC, IBV_WR_ATOMIC_FETCH_AND_ADD, ENOSYS },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *rig = rig_new(&(struct rig_options){ .type = cases[i].type });
		struct ibv_send_wr wr = { .opcode = cases[i].opcode }, *bad = NULL;

		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), cases[i].err);
		assert_ptr_equal(bad, &wr);
		rig_free(rig);
	}
}

static void uc_writes_like_rc(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UC });
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .num_sge = 1 }, *bad;

	(void)state;
	wr.sg_list = (struct ibv_sge *)sges;
	wr.imm_data = IMM;
	wr.wr.rdma.remote_addr = 0x1122334455667788;
	wr.wr.rdma.rkey = 0xa1b2c3d4;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0), "00000009 12345603 00000000 cafef00d" REMOTE DATA0);
	rig_free(rig);
}

static void an_xrc_request_names_the_srq_behind_the_control_segment(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_XRC_SEND });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .num_sge = 1 }, *bad;

	(void)state;
	wr.sg_list = (struct ibv_sge *)sges;
	wr.wr.rdma.remote_addr = 0x1122334455667788;
	wr.wr.rdma.rkey = 0xa1b2c3d4;
	wr.qp_type.xrc.remote_srqn = 0x7788;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0), "00000008 12345604 00000000 00000000" XRC REMOTE DATA0);
	wr.opcode = IBV_WR_SEND;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 1), "0000010a 12345603 00000000 00000000" XRC DATA0);

	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 0xa1b2c3d4, 0x1122334455667788);
	ibv_wr_set_xrc_srqn(qpx, 0x7788);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
	ibv_wr_set_xrc_srqn(qpx, 0x7788);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 2), "00000208 12345604 00000000 00000000" XRC REMOTE DATA0);
	check_bytes(rig_sq(rig, 3), "0000030a 12345603 00000000 00000000" XRC DATA0);
	rig_free(rig);
}

/* Control, XRC, remote address and operands fill a WQEBB, so the data segment is in the next
 * one. */
static void an_xrc_atomic_at_the_end_of_the_ring_goes_on_at_the_start(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_XRC_SEND, .sq_pi = 7 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint64_t result = 0, old = 0x1234;
	struct ibv_wc wc;

	(void)state;
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qpx, 0xa1b2c3d4, 0x1122334455667788, 5);
	ibv_wr_set_xrc_srqn(qpx, 0x7788);
	ibv_wr_set_sge(qpx, 0x42, (uintptr_t)&result, 8);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 7), "00000712 12345605 00000008 00000000" XRC REMOTE
				    " 00000000 00000005 00000000 00000000");
	check_bytes(rig_sq(rig, 8), "00000008 00000042");

	/* The poll finds it there for a result inside the CQE. */
	rig_complete(rig, &(struct rig_cqe){ .send_opcode = MLX5_OPCODE_ATOMIC_FA,
					     .wqe_counter = 7,
					     .byte_cnt = 8,
					     .payload = &old });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_FETCH_ADD);
	assert_int_equal(result, 0x1234);
	rig_free(rig);
}

static void a_received_datagram_says_where_it_came_from(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_UD });
	struct ibv_recv_wr wr = { .sg_list = (struct ibv_sge *)sges, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
					     .byte_cnt = 140,
					     .imm = htobe32(0x00000003), /* P_Key index */
					     .flags_rqpn = 0x15abcdef });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 140);
	assert_int_equal(wc.src_qp, 0xabcdef);
	assert_int_equal(wc.sl, 5);
	assert_int_equal(wc.wc_flags, IBV_WC_GRH);
	assert_int_equal(wc.pkey_index, 3);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_vector_of_infiniband_has_lid_path_bits_and_sl),
		cmocka_unit_test(a_grh_is_asked_for_by_its_bit),
		cmocka_unit_test(each_rate_has_the_code_of_the_next_higher),
		cmocka_unit_test(an_address_vector_of_roce_has_the_next_hop),
		cmocka_unit_test(a_datagram_is_ctrl_address_vector_data),
		cmocka_unit_test(the_wr_setters_of_a_datagram_come_in_any_order),
		cmocka_unit_test(a_qp_without_sges_refuses_one),
		cmocka_unit_test(a_setter_without_a_builder_writes_nothing),
		cmocka_unit_test(a_datagram_at_the_end_of_the_ring_has_its_payload_at_the_start),
		cmocka_unit_test(a_dc_request_is_ctrl_address_vector_remote_data),
		cmocka_unit_test(a_dc_atomic_has_operands_and_result_in_the_second_block),
		cmocka_unit_test(inline_data_of_dc_goes_on_at_the_start_of_the_ring),
		cmocka_unit_test(a_dc_address_without_a_builder_is_not_written),
		cmocka_unit_test(a_qp_refuses_what_its_type_does_not_have),
		cmocka_unit_test(uc_writes_like_rc),
		cmocka_unit_test(an_xrc_request_names_the_srq_behind_the_control_segment),
		cmocka_unit_test(an_xrc_atomic_at_the_end_of_the_ring_goes_on_at_the_start),
		cmocka_unit_test(a_received_datagram_says_where_it_came_from),
	};

	return RIG_RUN(tests);
}
