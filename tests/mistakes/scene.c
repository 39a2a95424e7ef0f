/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* scene.c - see mistakes.h. */
#include "mistakes.h"

#include <stdlib.h>

struct rig_conf scene_conf(void)
{
	struct rig_conf conf = rig_conf_default();

	conf.timeout = 8;
	conf.retry_cnt = 1;
	conf.rnr_retry = 1;
	return conf;
}

struct scene *scene_open_apart(const struct rig_conf *conf)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	MUST(scene);
	rig_open(&scene->rig);
	scene->conf = *conf;
	scene->pair.rig = &scene->rig;
	scene->pair.conf = *conf;
	scene->pair.pd = ibv_alloc_pd(scene->rig.ctx);
	MUST(scene->pair.pd);
	for (int i = 0; i < 2; i++)
		rig_end_open(scene->pair.pd, conf, &scene->pair.end[i]);
	scene->near = &scene->pair.end[0];
	scene->far = &scene->pair.end[1];
	return scene;
}

struct scene *scene_open(const struct rig_conf *conf)
{
	struct scene *scene = scene_open_apart(conf);

	rig_pair_reconnect(&scene->pair);
	return scene;
}

bool scene_is_ethernet(const struct scene *scene)
{
	return scene->rig.port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

void scene_to(struct scene *scene, struct rig_end *end, enum ibv_qp_state state,
	      enum ibv_qp_state spoilt, scene_spoil_fn *spoil)
{
	const struct rig_end *other = end == scene->near ? scene->far : scene->near;

	for (enum ibv_qp_state next = IBV_QPS_INIT; next <= state; next++) {
		struct ibv_qp_attr attr;
		int mask = rig_qp_attr(&scene->rig, &scene->conf, other->qp->qp_num, next, &attr);

		if (next == spoilt)
			spoil(scene, &attr);
		MUST(!ibv_modify_qp(end->qp, &attr, mask));
	}
}

struct scene *scene_open_spoilt(const struct rig_conf *conf, enum ibv_qp_state spoilt,
				scene_spoil_fn *spoil)
{
	struct scene *scene = scene_open_apart(conf);

	scene_to(scene, scene->far, IBV_QPS_RTS, IBV_QPS_RESET, NULL);
	scene_to(scene, scene->near, IBV_QPS_RTS, spoilt, spoil);
	return scene;
}

int scene_step(struct scene *scene, enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
	return rig_qp_attr(&scene->rig, &scene->conf, scene->far->qp->qp_num, state, attr);
}

struct ibv_send_wr scene_wr(struct scene *scene, enum ibv_wr_opcode opcode, struct ibv_sge *sge)
{
	const bool atomic =
		opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_send_wr wr = { .wr_id = 0x5e4d,
				  .sg_list = sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED };

	*sge = (struct ibv_sge){ (uintptr_t)scene->near->buf, atomic ? 8 : 64,
				 scene->near->mr->lkey };
	if (atomic) {
		wr.wr.atomic.remote_addr = (uintptr_t)scene->far->buf;
		wr.wr.atomic.rkey = scene->far->mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)scene->far->buf;
		wr.wr.rdma.rkey = scene->far->mr->rkey;
	}
	return wr;
}

void scene_post(struct scene *scene, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(scene->near->qp, wr, &bad));
}

void scene_send(struct scene *scene, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, opcode, &sge);

	scene_post(scene, &wr);
}

void scene_receive(struct rig_end *end, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)end->buf, bytes, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 0x4ecf, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

void must_end(struct rig_end *end, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	MUST(rig_poll(end->cq, 1, &wc) == 1);
	if (wc.status != status)
		say("status %s, vendor 0x%x", ibv_wc_status_str(wc.status), wc.vendor_err);
	MUST(wc.status == status);
}

struct ibv_qp *scene_datagram_qp(const struct scene *scene, struct ibv_pd *pd, struct ibv_cq *cq,
				 uint32_t qkey)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = qkey };
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_UD,
					    .send_cq = cq,
					    .recv_cq = cq,
					    .cap = scene->conf.cap,
					    .pd = pd,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .send_ops_flags = scene->conf.send_ops };
	struct ibv_qp *qp;

	if (init.send_ops_flags)
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	qp = ibv_create_qp_ex(scene->rig.ctx, &init);
	MUST(qp);
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

struct ibv_ah *scene_address(const struct scene *scene, struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = { .dlid = scene->rig.port.lid, .port_num = RIG_PORT };
	struct ibv_ah *ah;

	MUST(pd);
	if (scene_is_ethernet(scene)) {
		attr.is_global = 1;
		attr.grh.dgid = scene->rig.gid;
		attr.grh.hop_limit = 1;
	}
	ah = ibv_create_ah(pd, &attr);
	MUST(ah);
	return ah;
}
