/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - pages on completion queues and their events, shared receive queues, work queues and
 * their tables.
 *
 * Covers: libibverbs/verbs_cq.c, libibverbs/verbs_srq.c, providers/mlx5/cq.c, providers/mlx5/srq.c,
 * providers/mlx5/wq.c, providers/common/rwq_table.c
 */
#include <fcntl.h>
#include <unistd.h>

#include "errors.h"

enum { MANY = 2000 };

CASE(ibv_create_cq, EINVAL, "cqe or comp_vector is out of range")
{
	return OBJ(ibv_create_cq(bed->ctx, 0, NULL, NULL, 0));
}

CASE(ibv_create_cq, EINVAL, "cqe or comp_vector is out of range")
{
	return OBJ(ibv_create_cq(bed->ctx, bed->rig.device.max_cqe + 1, NULL, NULL, 0));
}

CASE(ibv_create_cq, EINVAL, "cqe or comp_vector is out of range")
{
	return OBJ(ibv_create_cq(bed->ctx, 16, NULL, NULL, bed->ctx->num_comp_vectors));
}

static struct ibv_cq *cq_filled(struct bed *bed)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp;

	attr.send_cq = ibv_create_cq(bed->ctx, 16, NULL, NULL, 0);
	MUST(attr.send_cq);
	qp = ibv_create_qp(bed->pd, &attr);
	MUST(qp);
	rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	for (int i = 0; i < 4; i++)
		MUST(!ibv_post_send(qp, &wr, &bad));
	rig_settle();
	return attr.send_cq;
}

CASE(ibv_create_cq, EINVAL, "cqe is less than the number of completions in the queue")
{
	return RET(ibv_resize_cq(cq_filled(bed), 1));
}

CASE(ibv_create_cq, EBUSY, "queue pairs, shared receive queues or work queues still complete to cq")
{
	return RET(ibv_destroy_cq(bed->cq));
}

CASE(ibv_create_cq, EBADF, "channel belongs to another context")
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(bed->other);

	MUST(channel);
	return OBJ(ibv_create_cq(bed->ctx, 16, NULL, channel, 0));
}

CASE(ibv_create_cq, ENOMEM, "There is no memory for the ring")
{
	return NO_MEMORY(OBJ(ibv_create_cq(bed->ctx, 16, NULL, NULL, 0)));
}

CASE(ibv_create_cq, ENOMEM, "the adapter has no queue left")
{
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = OBJ(ibv_create_cq(bed->ctx, 1, NULL, NULL, 0));
	return ret;
}

static int create_cq_ex(struct bed *bed, struct ibv_cq_init_attr_ex attr)
{
	return OBJ(ibv_create_cq_ex(bed->ctx, &attr));
}

CASE(ibv_create_cq_ex, EINVAL, "cqe, comp_mask or flags is invalid")
{
	return create_cq_ex(bed, (struct ibv_cq_init_attr_ex){ .cqe = 0 });
}

CASE(ibv_create_cq_ex, EINVAL, "cqe, comp_mask or flags is invalid")
{
	return create_cq_ex(bed, (struct ibv_cq_init_attr_ex){ .cqe = 16, .comp_mask = 1 << 20 });
}

CASE(ibv_create_cq_ex, EINVAL, "cqe, comp_mask or flags is invalid")
{
	return create_cq_ex(bed,
			    (struct ibv_cq_init_attr_ex){ .cqe = 16,
							  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
							  .flags = 1 << 20 });
}

CASE(ibv_create_cq_ex, EINVAL, "parent_domain is not a parent domain")
{
	return create_cq_ex(bed,
			    (struct ibv_cq_init_attr_ex){ .cqe = 16,
							  .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
							  .parent_domain = bed->pd });
}

CASE(ibv_create_cq_ex, ENOTSUP, "wc_flags has a bit that the provider does not support")
{
	return create_cq_ex(bed, (struct ibv_cq_init_attr_ex){ .cqe = 16, .wc_flags = 1ull << 40 });
}

CASE_ON(ON_MLX4, ibv_create_cq_ex, EOPNOTSUPP, "wc_flags asks for wall-clock times")
{
	return create_cq_ex(
		bed,
		(struct ibv_cq_init_attr_ex){
			.cqe = 16, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK });
}

CASE(ibv_create_cq_ex, ENOENT, "the queue has no further completion")
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16 };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(bed->ctx, &attr);
	struct ibv_poll_cq_attr poll = { 0 };

	MUST(cq);
	return RET(ibv_start_poll(cq, &poll));
}

CASE(ibv_create_cq_ex, EINVAL, "ibv_start_poll(): comp_mask is not 0")
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16 };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(bed->ctx, &attr);
	struct ibv_poll_cq_attr poll = { .comp_mask = 1 };

	MUST(cq);
	return RET(ibv_start_poll(cq, &poll));
}

CASE(ibv_create_cq_ex, ENOMEM, "There is no memory for the ring")
{
	return NO_MEMORY(create_cq_ex(bed, (struct ibv_cq_init_attr_ex){ .cqe = 16 }));
}

CASE(ibv_create_cq_ex, ENOMEM, "the adapter has no queue left")
{
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = create_cq_ex(bed, (struct ibv_cq_init_attr_ex){ .cqe = 1 });
	return ret;
}

CASE(ibv_modify_cq, EINVAL, "attr_mask has an unknown bit")
{
	struct ibv_modify_cq_attr attr = { .attr_mask = 1 << 20 };

	return RET(ibv_modify_cq(bed->cq, &attr));
}

CASE(ibv_modify_cq, EINVAL, "a value is above the device's limit")
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
					   .moderate = { 0xffff, 0xffff } };

	return RET(ibv_modify_cq(bed->cq, &attr));
}

CASE(ibv_create_comp_channel, EBUSY, "Completion queues still use channel")
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(bed->ctx);

	MUST(channel && ibv_create_cq(bed->ctx, 16, NULL, channel, 0));
	return RET(ibv_destroy_comp_channel(channel));
}

CASE(ibv_create_comp_channel, ENOMEM, "There is no memory")
{
	return NO_MEMORY(OBJ(ibv_create_comp_channel(bed->ctx)));
}

CASE(ibv_create_comp_channel, EMFILE, "The process has no descriptor left")
{
	descriptors_end();
	return OBJ(ibv_create_comp_channel(bed->ctx));
}

CASE(ibv_get_cq_event, EAGAIN, "The descriptor is non-blocking, and there is no event")
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(bed->ctx);
	struct ibv_cq *cq;
	void *context;

	MUST(channel && !fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	return RET(ibv_get_cq_event(channel, &cq, &context));
}

CASE(ibv_get_async_event, EAGAIN, "The descriptor is non-blocking, and there is no event")
{
	struct ibv_async_event event;

	MUST(!fcntl(bed->ctx->async_fd, F_SETFL, O_NONBLOCK));
	return RET(ibv_get_async_event(bed->ctx, &event));
}

static int create_srq(struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return OBJ(ibv_create_srq(pd, &attr));
}

CASE(ibv_create_srq, EINVAL, "max_wr or max_sge is above the device's limit")
{
	return create_srq(bed->pd, bed->rig.device.max_srq_wr + 1, 1);
}

CASE(ibv_create_srq, EINVAL, "max_wr or max_sge is above the device's limit")
{
	return create_srq(bed->pd, 16, bed->rig.device.max_srq_sge + 1);
}

CASE(ibv_create_srq, ENOMEM, "There is no memory")
{
	return NO_MEMORY(create_srq(bed->pd, 16, 1));
}

CASE(ibv_create_srq, EBUSY, "queue pairs still use srq")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.srq = bed_srq(bed);
	MUST(ibv_create_qp(bed->pd, &attr));
	return RET(ibv_destroy_srq(attr.srq));
}

static struct ibv_srq_init_attr_ex tm_attr(struct bed *bed)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 256, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(bed->ctx, &attr);

	MUST(cq);
	return (struct ibv_srq_init_attr_ex){
		.attr = { 16, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = bed->pd,
		.cq = ibv_cq_ex_to_cq(cq),
		.tm_cap = { 3, 4 },
	};
}

CASE(ibv_create_srq_ex, EINVAL, "comp_mask lacks a member that the type requires")
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);

	attr.comp_mask &= ~IBV_SRQ_INIT_ATTR_CQ;
	return OBJ(ibv_create_srq_ex(bed->ctx, &attr));
}

CASE(ibv_create_srq_ex, EINVAL, "a number is above the device's limit")
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);

	attr.tm_cap.max_num_tags = 1 << 24;
	return OBJ(ibv_create_srq_ex(bed->ctx, &attr));
}

CASE(ibv_create_srq_ex, EINVAL, "srq_type is not a type")
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);

	attr.srq_type = 77;
	return OBJ(ibv_create_srq_ex(bed->ctx, &attr));
}

CASE_ON(ON_MLX4, ibv_create_srq_ex, EOPNOTSUPP, "The device does not support the type")
{
	struct ibv_srq_init_attr_ex attr = { .attr = { 16, 1, 0 },
					     .comp_mask =
						     IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
						     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
					     .srq_type = IBV_SRQT_TM,
					     .pd = bed->pd,
					     .cq = bed->cq,
					     .tm_cap = { 3, 4 } };

	return OBJ(ibv_create_srq_ex(bed->ctx, &attr));
}

CASE(ibv_create_srq_ex, EOPNOTSUPP, "comp_mask has an unknown bit")
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);

	attr.comp_mask |= 1 << 20;
	return OBJ(ibv_create_srq_ex(bed->ctx, &attr));
}

CASE(ibv_create_srq_ex, ENOENT, "An object belongs to another context")
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);

	attr.pd = bed->other_pd;
	return OBJ(ibv_create_srq_ex(bed->ctx, &attr));
}

CASE(ibv_create_srq_ex, ENOMEM, "There is no memory")
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);

	return NO_MEMORY(OBJ(ibv_create_srq_ex(bed->ctx, &attr)));
}

CASE(ibv_modify_srq, EINVAL, "srq_attr_mask has IBV_SRQ_MAX_WR")
{
	struct ibv_srq_attr attr = { .max_wr = 8 };

	return RET(ibv_modify_srq(bed_srq(bed), &attr, IBV_SRQ_MAX_WR));
}

CASE(ibv_modify_srq, EINVAL, "srq_limit is above the size")
{
	struct ibv_srq_attr attr = { .srq_limit = 99999 };

	return RET(ibv_modify_srq(bed_srq(bed), &attr, IBV_SRQ_LIMIT));
}

CASE_ON(ON_MLX4, ibv_get_srq_num, EOPNOTSUPP, "The type of srq has no number")
{
	uint32_t number;

	return RET(ibv_get_srq_num(bed_srq(bed), &number));
}

static int post_srq(struct bed *bed, struct ibv_srq *srq, int num_sge)
{
	static struct ibv_sge sges[40];
	struct ibv_recv_wr wr = { .sg_list = sges, .num_sge = num_sge }, *bad;

	for (size_t i = 0; i < ARRAY_SIZE(sges); i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)bed->buf, 8, bed->mr->lkey };
	return RET(ibv_post_srq_recv(srq, &wr, &bad));
}

CASE(ibv_post_srq_recv, EINVAL, "num_sge is above max_sge of the queue")
{
	return post_srq(bed, bed_srq(bed), 40);
}

CASE(ibv_post_srq_recv, ENOMEM, "The queue is full")
{
	struct ibv_srq *srq = bed_srq(bed);
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = post_srq(bed, srq, 1);
	return ret;
}

static int tm_add(struct ibv_srq *srq, int num_sge, uint32_t *handle)
{
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_ADD, .tm.add.num_sge = num_sge }, *bad;
	int ret = RET(ibv_post_srq_ops(srq, &wr, &bad));

	if (handle)
		*handle = wr.tm.handle;
	return ret;
}

static struct ibv_srq *tm_srq(struct bed *bed)
{
	struct ibv_srq_init_attr_ex attr = tm_attr(bed);
	struct ibv_srq *srq = ibv_create_srq_ex(bed->ctx, &attr);

	MUST(srq);
	return srq;
}

CASE(ibv_post_srq_ops, EINVAL, "srq is of another type")
{
	return tm_add(bed_srq(bed), 0, NULL);
}

CASE(ibv_post_srq_ops, EINVAL, "num_sge is above 1")
{
	return tm_add(tm_srq(bed), 2, NULL);
}

CASE(ibv_post_srq_ops, EINVAL, "the opcode or handle is invalid")
{
	struct ibv_ops_wr wr = { .opcode = 77 }, *bad;

	return RET(ibv_post_srq_ops(tm_srq(bed), &wr, &bad));
}

CASE(ibv_post_srq_ops, EINVAL, "the opcode or handle is invalid")
{
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_DEL, .tm.handle = 7777 }, *bad;

	return RET(ibv_post_srq_ops(tm_srq(bed), &wr, &bad));
}

CASE(ibv_post_srq_ops, ENOMEM, "The list or the queue of operations is full")
{
	struct ibv_srq *srq = tm_srq(bed);
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = tm_add(srq, 0, NULL);
	return ret;
}

CASE_ON(ON_MLX4, ibv_post_srq_ops, EOPNOTSUPP, "The provider does not support tag matching")
{
	return tm_add(bed_srq(bed), 0, NULL);
}

static struct ibv_wq_init_attr wq_attr(struct bed *bed)
{
	return (struct ibv_wq_init_attr){
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 2, .pd = bed->pd, .cq = bed->cq
	};
}

static struct ibv_wq *bed_wq(struct bed *bed)
{
	struct ibv_wq_init_attr attr = wq_attr(bed);
	struct ibv_wq *wq = ibv_create_wq(bed->ctx, &attr);

	MUST(wq);
	return wq;
}

CASE_ON(ON_ROCE, ibv_create_wq, EINVAL, "wq_type, comp_mask or max_wr is invalid")
{
	struct ibv_wq_init_attr attr = wq_attr(bed);

	attr.wq_type = 7;
	return OBJ(ibv_create_wq(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, ibv_create_wq, EINVAL, "wq_type, comp_mask or max_wr is invalid")
{
	struct ibv_wq_init_attr attr = wq_attr(bed);

	attr.comp_mask = 1u << 30;
	return OBJ(ibv_create_wq(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, ibv_create_wq, EINVAL, "wq_type, comp_mask or max_wr is invalid")
{
	struct ibv_wq_init_attr attr = wq_attr(bed);

	attr.max_wr = 0;
	return OBJ(ibv_create_wq(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, ibv_create_wq, EOPNOTSUPP, "or a bit of create_flags")
{
	struct ibv_wq_init_attr attr = wq_attr(bed);

	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = 1u << 30;
	return OBJ(ibv_create_wq(bed->ctx, &attr));
}

CASE_ON(ON_IB, ibv_create_wq, EOPNOTSUPP, "The device does not support work queues")
{
	struct ibv_wq_init_attr attr = wq_attr(bed);

	return OBJ(ibv_create_wq(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, ibv_create_wq, ENOMEM, "There is no memory")
{
	struct ibv_wq_init_attr attr = wq_attr(bed);

	return NO_MEMORY(OBJ(ibv_create_wq(bed->ctx, &attr)));
}

static struct ibv_rwq_ind_table_init_attr table_attr(struct ibv_wq **wqs)
{
	return (struct ibv_rwq_ind_table_init_attr){ .log_ind_tbl_size = 0, .ind_tbl = wqs };
}

CASE_ON(ON_ROCE, ibv_create_wq, EBUSY, "tables contain wq")
{
	struct ibv_wq *wq = bed_wq(bed);
	struct ibv_rwq_ind_table_init_attr attr = table_attr(&wq);

	MUST(ibv_create_rwq_ind_table(bed->ctx, &attr));
	return RET(ibv_destroy_wq(wq));
}

CASE_ON(ON_ROCE, ibv_create_rwq_ind_table, EINVAL, "comp_mask is not 0")
{
	struct ibv_wq *wq = bed_wq(bed);
	struct ibv_rwq_ind_table_init_attr attr = table_attr(&wq);

	attr.comp_mask = 1;
	return OBJ(ibv_create_rwq_ind_table(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, ibv_create_rwq_ind_table, EINVAL, "the table is larger than the device's limit")
{
	static struct ibv_wq *wqs[1 << 16];
	struct ibv_rwq_ind_table_init_attr attr = table_attr(wqs);

	for (size_t i = 0; i < ARRAY_SIZE(wqs); i++)
		wqs[i] = i ? wqs[0] : bed_wq(bed);
	attr.log_ind_tbl_size = 16;
	return OBJ(ibv_create_rwq_ind_table(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, ibv_create_rwq_ind_table, ENOMEM, "There is no memory")
{
	struct ibv_wq *wq = bed_wq(bed);
	struct ibv_rwq_ind_table_init_attr attr = table_attr(&wq);

	return NO_MEMORY(OBJ(ibv_create_rwq_ind_table(bed->ctx, &attr)));
}

CASE_ON(ON_ROCE, ibv_create_rwq_ind_table, EBUSY, "queue pairs use the table")
{
	struct ibv_wq *wq = bed_wq(bed);
	struct ibv_rwq_ind_table_init_attr attr = table_attr(&wq);
	static uint8_t key[40];
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = bed->pd,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = sizeof(key),
				  .rx_hash_key = key,
				  .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 },
	};

	init.rwq_ind_tbl = ibv_create_rwq_ind_table(bed->ctx, &attr);
	MUST(init.rwq_ind_tbl && ibv_create_qp_ex(bed->ctx, &init));
	return RET(ibv_destroy_rwq_ind_table(init.rwq_ind_tbl));
}

CASE_ON(ON_ROCE, ibv_modify_wq, EINVAL, "attr_mask has an unknown bit")
{
	struct ibv_wq_attr attr = { .attr_mask = 1u << 20 };

	return RET(ibv_modify_wq(bed_wq(bed), &attr));
}

CASE_ON(ON_ROCE, ibv_modify_wq, EINVAL, "the queue cannot go from its state to the new one")
{
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
				    .curr_wq_state = IBV_WQS_ERR,
				    .wq_state = IBV_WQS_RDY };

	return RET(ibv_modify_wq(bed_wq(bed), &attr));
}

CASE_ON(ON_ROCE, ibv_modify_wq, EOPNOTSUPP, "A flag cannot be changed")
{
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_FLAGS,
				    .flags = IBV_WQ_FLAGS_SCATTER_FCS,
				    .flags_mask = IBV_WQ_FLAGS_SCATTER_FCS };

	return RET(ibv_modify_wq(bed_wq(bed), &attr));
}
