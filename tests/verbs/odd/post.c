/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.c - the family "post": work requests, by lists and by builders.
 *
 * Covers: providers/mlx5/data/post_send.c, providers/mlx5/data/send_wr.c, providers/mlx4/data/
 */
#include "odd.h"

static void *sge(void)
{
	static struct ibv_sge sge = { .length = 64 };

	sge.addr = (uintptr_t)odd_buffer();
	sge.lkey = ((struct ibv_mr *)odd_mr())->lkey;
	return &sge;
}

static struct ibv_send_wr *request(enum ibv_wr_opcode opcode)
{
	static struct ibv_send_wr wr;

	wr = (struct ibv_send_wr){ .sg_list = sge(), .num_sge = 1, .opcode = opcode };
	return &wr;
}

static void *send_wr(void)
{
	return request(IBV_WR_SEND);
}

static void *write_wr(void)
{
	return request(IBV_WR_RDMA_WRITE);
}

static void *read_wr(void)
{
	return request(IBV_WR_RDMA_READ);
}

static void *atomic_wr(void)
{
	struct ibv_send_wr *wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD);

	wr->sg_list->length = 8;
	return wr;
}

static void *ud_wr(void)
{
	struct ibv_send_wr *wr = request(IBV_WR_SEND);

	wr->wr.ud.ah = odd_ah();
	wr->wr.ud.remote_qpn = 1;
	return wr;
}

static void *inline_wr(void)
{
	struct ibv_send_wr *wr = request(IBV_WR_SEND);

	wr->send_flags = IBV_SEND_INLINE;
	return wr;
}

static void *tso_wr(void)
{
	struct ibv_send_wr *wr = request(IBV_WR_TSO);

	wr->tso.hdr = odd_buffer();
	wr->tso.hdr_sz = 54;
	wr->tso.mss = 1000;
	return wr;
}

static void *recv_wr(void)
{
	static struct ibv_recv_wr wr = { .num_sge = 1 };

	wr.sg_list = sge();
	return &wr;
}

#define WR_FIELD(field) ODD_FIELD(struct ibv_send_wr, field)
#define WR_FIELDS                                                                      \
	ODD_POINTER(struct ibv_send_wr, sg_list), WR_FIELD(num_sge), WR_FIELD(opcode), \
		WR_FIELD(send_flags)
static const struct odd_field send_fields[] = { WR_FIELDS, { 0 } };
static const struct odd_field tso_fields[] = {
	WR_FIELDS, WR_FIELD(tso.hdr_sz), WR_FIELD(tso.mss), { 0 }
};
static const struct odd_field recv_fields[] = { ODD_POINTER(struct ibv_recv_wr, sg_list),
						ODD_FIELD(struct ibv_recv_wr, num_sge),
						{ 0 } };

static struct ibv_send_wr *bad_send;
static struct ibv_recv_wr *bad_recv;
#define BAD_SEND NUMBER_ARG("bad", (long)(uintptr_t)&bad_send)
#define BAD_RECV NUMBER_ARG("bad", (long)(uintptr_t)&bad_recv)
#define QP_ARG(arg_name, maker, ...)                                       \
	&(const struct odd_arg)                                            \
	{                                                                  \
		.name = arg_name, .make = maker, .values = { __VA_ARGS__ } \
	}
#define IN_RESET                              \
	{                                     \
		"in RESET", .make = odd_qp_rc \
	}
#define IN_INIT                                \
	{                                      \
		"in INIT", .make = odd_qp_init \
	}
#define OF_UD                              \
	{                                  \
		"of UD", .make = odd_qp_ud \
	}
#define OF_RAW                                       \
	{                                            \
		"of raw packets", .make = odd_qp_raw \
	}

#define BUILT(name, call)                                     \
	static int name(struct ibv_qp_ex *qp, long a, long b) \
	{                                                     \
		ibv_wr_start(qp);                             \
		call;                                         \
		(void)a, (void)b;                             \
		return ibv_wr_complete(qp);                   \
	}

BUILT(built_none, (void)0)
BUILT(built_send, (ibv_wr_send(qp), ibv_wr_set_sge(qp, ((struct ibv_mr *)odd_mr())->lkey,
						   (uintptr_t)odd_buffer(), (uint32_t)a)))
BUILT(built_sges, (ibv_wr_send(qp), ibv_wr_set_sge_list(qp, (size_t)a, sge())))
BUILT(built_inline, (ibv_wr_send(qp), ibv_wr_set_inline_data(qp, odd_buffer(), (size_t)a)))
BUILT(built_write,
      (ibv_wr_rdma_write(qp, (uint32_t)a, (uint64_t)b), ibv_wr_set_sge_list(qp, 1, sge())))
BUILT(built_read,
      (ibv_wr_rdma_read(qp, (uint32_t)a, (uint64_t)b), ibv_wr_set_sge_list(qp, 1, sge())))
BUILT(built_swap, (ibv_wr_atomic_cmp_swp(qp, (uint32_t)a, (uint64_t)b, 1, 2),
		   ibv_wr_set_sge_list(qp, 1, sge())))
BUILT(built_add,
      (ibv_wr_atomic_fetch_add(qp, (uint32_t)a, (uint64_t)b, 1), ibv_wr_set_sge_list(qp, 1, sge())))
BUILT(built_invalidate, ibv_wr_local_inv(qp, (uint32_t)a))

static int built_bind(struct ibv_qp_ex *qp, struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	ibv_wr_start(qp);
	ibv_wr_bind_mw(qp, mw, mw ? mw->rkey : 0, info);
	return ibv_wr_complete(qp);
}

static void *window_of_type_2(void)
{
	return ibv_alloc_mw(odd_pd(), IBV_MW_TYPE_2);
}

static void *bind_info(void)
{
	static struct ibv_mw_bind_info info = { .length = 64,
						.mw_access_flags = IBV_ACCESS_REMOTE_READ };

	info.mr = odd_mr();
	info.addr = (uintptr_t)odd_buffer();
	return &info;
}

static const struct odd_field bind_fields[] = { ODD_POINTER(struct ibv_mw_bind_info, mr),
						ODD_FIELD(struct ibv_mw_bind_info, addr),
						ODD_FIELD(struct ibv_mw_bind_info, length),
						ODD_FIELD(struct ibv_mw_bind_info, mw_access_flags),
						{ 0 } };
#define LENGTH_ARG(good)                                                        \
	NUMBER_ARG("length", good, V("0", 0), V("65", 65), V("2^31", 1l << 31), \
		   V("all ones", 0xffffffff))
#define COUNT_ARG NUMBER_ARG("count", 1, V("0", 0), V("60", 60), V("2^31", 1l << 31))
#define KEY_ARG   NUMBER_ARG("rkey", 0x1234, V("0", 0), V("all ones", 0xffffffff))
#define ADDR_ARG  NUMBER_ARG("remote address", 4096, V("1", 1), V("-1", -1))

static const struct odd_call calls[] = {
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { QP_ARG("qp", odd_qp_rts, IN_RESET, IN_INIT, OF_RAW),
	    ATTR_ARG("wr", send_wr, send_fields), BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { QP_ARG("qp of WRITE", odd_qp_rts, OF_UD, OF_RAW),
	    ATTR_ARG("WRITE", write_wr, send_fields), BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { QP_ARG("qp of READ", odd_qp_rts, OF_UD, OF_RAW), ATTR_ARG("READ", read_wr, send_fields),
	    BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { QP_ARG("qp of atomic", odd_qp_rts, OF_UD, OF_RAW),
	    ATTR_ARG("atomic", atomic_wr, send_fields), BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { QP_ARG("qp of inline", odd_qp_rts, IN_RESET),
	    ATTR_ARG("inline", inline_wr, send_fields), BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { GOOD_ARG(odd_qp_ud), ATTR_ARG("UD", ud_wr, send_fields), BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { QP_ARG("qp of TSO", odd_qp_raw, OF_UD), ATTR_ARG("TSO", tso_wr, tso_fields),
	    BAD_SEND } },
	{ "ibv_post_send",
	  ERRNO,
	  INLINE(ibv_post_send),
	  { GOOD_ARG(odd_qp_raw), ATTR_ARG("frame", send_wr, send_fields), BAD_SEND } },
	{ "ibv_post_recv",
	  ERRNO,
	  INLINE(ibv_post_recv),
	  { QP_ARG("qp", odd_qp_init, IN_RESET, OF_UD, OF_RAW),
	    ATTR_ARG("wr", recv_wr, recv_fields), BAD_RECV } },
	{ "ibv_wr_complete", ERRNO, INLINE(built_none), { GOOD_ARG(odd_qp_ex) } },
	{ "ibv_wr_set_sge", ERRNO, INLINE(built_send), { GOOD_ARG(odd_qp_ex), LENGTH_ARG(64) } },
	{ "ibv_wr_set_sge_list", ERRNO, INLINE(built_sges), { GOOD_ARG(odd_qp_ex), COUNT_ARG } },
	{ "ibv_wr_set_inline_data",
	  ERRNO,
	  INLINE(built_inline),
	  { GOOD_ARG(odd_qp_ex), LENGTH_ARG(64) } },
	{ "ibv_wr_rdma_write",
	  ERRNO,
	  INLINE(built_write),
	  { GOOD_ARG(odd_qp_ex), KEY_ARG, ADDR_ARG } },
	{ "ibv_wr_rdma_read",
	  ERRNO,
	  INLINE(built_read),
	  { GOOD_ARG(odd_qp_ex), KEY_ARG, ADDR_ARG } },
	{ "ibv_wr_atomic_cmp_swp",
	  ERRNO,
	  INLINE(built_swap),
	  { GOOD_ARG(odd_qp_ex), KEY_ARG, ADDR_ARG } },
	{ "ibv_wr_atomic_fetch_add",
	  ERRNO,
	  INLINE(built_add),
	  { GOOD_ARG(odd_qp_ex), KEY_ARG, ADDR_ARG } },
	{ "ibv_wr_local_inv", ERRNO, INLINE(built_invalidate), { GOOD_ARG(odd_qp_ex), KEY_ARG } },
	{ "ibv_wr_bind_mw",
	  ERRNO,
	  INLINE(built_bind),
	  { GOOD_ARG(odd_qp_ex), QP_ARG("mw", window_of_type_2, { "of type 1", .make = odd_mw }),
	    ATTR_ARG("info", bind_info, bind_fields) } },
};

ODD_FAMILY(post, calls);
