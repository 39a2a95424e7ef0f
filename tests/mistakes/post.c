/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.c - mistakes in sends, receives and datagrams.
 *
 * Covers: providers/common/report.c, providers/mlx5/data/post_send.c,
 * providers/mlx5/data/post_recv.c, providers/mlx5/data/send_wr.c
 */
#include "mistakes.h"

enum { GRH = 40, QKEY = 0x11111111 };

static struct scene *scene_usual(void)
{
	struct rig_conf conf = scene_conf();

	return scene_open(&conf);
}

MISTAKE(no_receive)
{
	struct scene *scene = scene_usual();

	scene_send(scene, IBV_WR_SEND);
	must_end(scene->near, IBV_WC_RNR_RETRY_EXC_ERR);
}

MISTAKE(no_receive_for_immediate)
{
	struct scene *scene = scene_usual();

	scene_send(scene, IBV_WR_RDMA_WRITE_WITH_IMM);
	must_end(scene->near, IBV_WC_RNR_RETRY_EXC_ERR);
}

MISTAKE(receive_too_short)
{
	struct scene *scene = scene_usual();

	scene_receive(scene->far, 32);
	scene_send(scene, IBV_WR_SEND);
	must_end(scene->far, IBV_WC_LOC_LEN_ERR);
}

MISTAKE(peer_receive_too_short)
{
	struct scene *scene = scene_usual();

	scene_receive(scene->far, 32);
	scene_send(scene, IBV_WR_SEND);
	must_end(scene->near, IBV_WC_REM_INV_REQ_ERR);
}

static int receive_many(struct scene *scene, int num_sge, int times)
{
	struct ibv_sge sge[5];
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = num_sge }, *bad;
	int ret = 0;

	for (int i = 0; i < 5; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)scene->near->buf, 8, scene->near->mr->lkey };
	for (int i = 0; i < times && !ret; i++)
		ret = ibv_post_recv(scene->near->qp, &wr, &bad);
	return ret;
}

MISTAKE(receive_queue_full)
{
	MUST(receive_many(scene_usual(), 1, 100) == ENOMEM);
}

MISTAKE(receive_too_many_sges)
{
	MUST(receive_many(scene_usual(), 5, 1) == EINVAL);
}

MISTAKE(receive_in_reset)
{
	struct rig_conf conf = scene_conf();

	MUST(receive_many(scene_open_apart(&conf), 1, 1) == EINVAL);
}

MISTAKE(receive_beside_srq)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;

	rig_qp_init_attr(&conf, scene->near->cq, &attr);
	attr.srq = ibv_create_srq(scene->pair.pd, &srq);
	qp = ibv_create_qp(scene->pair.pd, &attr);
	MUST(attr.srq && qp);
	rig_qp_to(&scene->rig, &conf, qp, scene->far->qp->qp_num, IBV_QPS_INIT);
	MUST(ibv_post_recv(qp, &wr, &bad));
}

MISTAKE(srq_full)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_srq *srq = ibv_create_srq(scene->pair.pd, &init);
	struct ibv_recv_wr wr = { 0 }, *bad;
	int ret = 0;

	MUST(srq);
	for (int i = 0; i < 100 && !ret; i++)
		ret = ibv_post_srq_recv(srq, &wr, &bad);
	MUST(ret == ENOMEM);
}

static int try_send(struct scene *scene, void (*spoil)(struct ibv_send_wr *wr))
{
	struct ibv_sge sge[5];
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, sge), *bad;

	for (int i = 1; i < 5; i++)
		sge[i] = sge[0];
	if (spoil)
		spoil(&wr);
	return ibv_post_send(scene->near->qp, &wr, &bad);
}

static void spoil_inline(struct ibv_send_wr *wr)
{
	wr->send_flags |= IBV_SEND_INLINE;
	wr->sg_list->length = 2000;
}

MISTAKE(inline_too_long)
{
	MUST(try_send(scene_usual(), spoil_inline) == ENOMEM);
}

static void spoil_sges(struct ibv_send_wr *wr)
{
	wr->num_sge = 5;
}

MISTAKE(send_too_many_sges)
{
	struct rig_conf conf = scene_conf();

	conf.cap.max_send_sge = 1;
	conf.cap.max_inline_data = 0;
	MUST(try_send(scene_open(&conf), spoil_sges));
}

static void spoil_opcode(struct ibv_send_wr *wr)
{
	wr->opcode = (enum ibv_wr_opcode)77;
}

MISTAKE(send_unknown_opcode)
{
	MUST(try_send(scene_usual(), spoil_opcode) == EINVAL);
}

MISTAKE(send_in_init)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	scene_to(scene, scene->near, IBV_QPS_INIT, IBV_QPS_RESET, NULL);
	MUST(try_send(scene, NULL));
}

MISTAKE(send_in_rtr)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	scene_to(scene, scene->near, IBV_QPS_RTR, IBV_QPS_RESET, NULL);
	MUST(try_send(scene, NULL));
}

static void spoil_signal(struct ibv_send_wr *wr)
{
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->send_flags = 0;
}

static int fill_queue(struct scene *scene, void (*spoil)(struct ibv_send_wr *wr))
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge), *bad;
	int ret = 0;

	if (spoil)
		spoil(&wr);
	for (int i = 0; i < 1000 && !ret; i++)
		ret = ibv_post_send(scene->near->qp, &wr, &bad);
	return ret;
}

MISTAKE(send_queue_full)
{
	MUST(fill_queue(scene_usual(), NULL) == ENOMEM);
}

MISTAKE(send_queue_full_unsignaled)
{
	MUST(fill_queue(scene_usual(), spoil_signal) == ENOMEM);
}

MISTAKE(uc_read)
{
	struct rig_conf conf = scene_conf();
	struct ibv_send_wr wr, *bad;
	struct scene *scene;
	struct ibv_sge sge;

	conf.unreliable = true;
	scene = scene_open(&conf);
	wr = scene_wr(scene, IBV_WR_RDMA_READ, &sge);
	MUST(ibv_post_send(scene->near->qp, &wr, &bad) == EINVAL);
}

MISTAKE(wr_in_init)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;
	struct ibv_qp_ex *qp;

	conf.send_ops = IBV_QP_EX_WITH_SEND;
	scene = scene_open_apart(&conf);
	scene_to(scene, scene->near, IBV_QPS_INIT, IBV_QPS_RESET, NULL);
	qp = ibv_qp_to_qp_ex(scene->near->qp);
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, scene->near->mr->lkey, (uintptr_t)scene->near->buf, 8);
	MUST(ibv_wr_complete(qp));
}

MISTAKE(atomic_misaligned)
{
	struct scene *scene = scene_usual();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);

	wr.wr.atomic.remote_addr += 4;
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_REM_INV_REQ_ERR);
}

MISTAKE(atomic_of_16_bytes)
{
	struct scene *scene = scene_usual();
	struct ibv_sge sges[2];
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_ATOMIC_FETCH_AND_ADD, sges);
	struct ibv_wc wc;

	sges[0].length = 8;
	sges[1] = sges[0];
	wr.num_sge = 2;
	scene_post(scene, &wr);
	MUST(rig_poll(scene->near->cq, 1, &wc) == 1);
}

static struct scene *scene_of_datagrams(void)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	scene->near->qp = scene_datagram_qp(scene, scene->pair.pd, scene->near->cq, QKEY);
	scene->far->qp = scene_datagram_qp(scene, scene->pair.pd, scene->far->cq, QKEY);
	return scene;
}

static struct ibv_send_wr datagram(struct scene *scene, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, sge);

	wr.wr.ud.ah = scene_address(scene, scene->pair.pd);
	wr.wr.ud.remote_qpn = scene->far->qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return wr;
}

MISTAKE(datagram_without_room_for_grh)
{
	struct scene *scene = scene_of_datagrams();
	struct ibv_sge sge;
	struct ibv_send_wr wr = datagram(scene, &sge);

	scene_receive(scene->far, 64);
	scene_post(scene, &wr);
	must_end(scene->far, IBV_WC_LOC_LEN_ERR);
}

MISTAKE(datagram_of_wrong_qkey)
{
	struct scene *scene = scene_of_datagrams();
	struct ibv_sge sge;
	struct ibv_send_wr wr = datagram(scene, &sge);

	wr.wr.ud.remote_qkey = QKEY + 1;
	scene_receive(scene->far, GRH + 64);
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_SUCCESS);
	MUST(!rig_drain(scene->far->cq));
}

MISTAKE(datagram_to_no_qp)
{
	struct scene *scene = scene_of_datagrams();
	struct ibv_sge sge;
	struct ibv_send_wr wr = datagram(scene, &sge);

	wr.wr.ud.remote_qpn += 0x1000;
	scene_receive(scene->far, GRH + 64);
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_SUCCESS);
	MUST(!rig_drain(scene->far->cq));
}

MISTAKE(datagram_above_mtu)
{
	struct scene *scene = scene_of_datagrams();
	struct ibv_sge sge;
	struct ibv_send_wr wr = datagram(scene, &sge);

	sge.length = 5000;
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_LOC_LEN_ERR);
}

MISTAKE(datagram_write)
{
	struct scene *scene = scene_of_datagrams();
	struct ibv_sge sge;
	struct ibv_send_wr wr = datagram(scene, &sge), *bad;

	wr.opcode = IBV_WR_RDMA_WRITE;
	MUST(ibv_post_send(scene->near->qp, &wr, &bad) == EINVAL);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake post_mistakes[] = {
	ROW(no_receive),
	ROW(no_receive_for_immediate),
	ROW(receive_too_short),
	ROW(peer_receive_too_short),
	ROW(receive_queue_full),
	ROW(receive_too_many_sges),
	ROW(receive_in_reset),
	ROW(receive_beside_srq),
	ROW(srq_full),
	ROW(inline_too_long),
	ROW(send_too_many_sges),
	ROW(send_unknown_opcode),
	ROW(send_in_init),
	ROW(send_in_rtr),
	ROW(send_queue_full),
	ROW(send_queue_full_unsignaled),
	ROW(uc_read),
	ROW(wr_in_init),
	ROW(atomic_misaligned),
	ROW(atomic_of_16_bytes),
	ROW(datagram_without_room_for_grh),
	ROW(datagram_of_wrong_qkey),
	ROW(datagram_to_no_qp),
	ROW(datagram_above_mtu),
	ROW(datagram_write),
	{ 0 },
};
