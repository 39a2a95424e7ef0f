/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - creates QPs, CQs and SRQs of an id, and moves a QP through its states.
 *
 * The kernel provides the attributes for a connection's QP (INIT_QP_ATTR); the library adds the
 * negotiated number of READs and atomics. If the program passes no CQs, the library creates
 * id->send_cq and id->recv_cq, and destroys them with the QP.
 */
#include "cma.h"

#include <rdma/rdma_verbs.h>
#include <stddef.h>
#include <string.h>

/* ---- states ---- */

static int kernel_attr(struct cm_id *cm, struct ibv_qp_attr *attr, int *mask)
{
	struct ib_uverbs_qp_attr resp = { 0 };
	struct cm_cmd cmd;
	int ret;

	cmd.init_qp_attr = (struct rdma_ucm_init_qp_attr){ .response = (uintptr_t)&resp,
							   .id = cm->number,
							   .qp_state = attr->qp_state };
	ret = CM_RUN_ID(cm, &cmd, INIT_QP_ATTR, init_qp_attr, sizeof(resp));
	if (ret)
		return ret;
	rdmacm_attr_take_qp(attr, &resp);
	*mask = (int)resp.qp_attr_mask;
	return 0;
}

CMA_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
				 int *qp_attr_mask)
{
	return cma_return(kernel_attr(to_cm_id(id), qp_attr, qp_attr_mask));
}

static int datagram_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int ret = ibv_modify_qp(qp, &attr, IBV_QP_STATE);

	attr.qp_state = IBV_QPS_RTS;
	return ret ? ret : ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int qp_to_init(struct cm_id *cm, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;
	int ret = kernel_attr(cm, &attr, &mask);

	if (!ret)
		ret = ibv_modify_qp(qp, &attr, mask);
	if (!ret && cm->id.qp_type == IBV_QPT_UD)
		ret = datagram_to_rts(qp);
	if (ret)
		return ret;
	if (ibv_query_ece(qp, &cm->init_ece))
		cm->init_ece = (struct ibv_ece){ 0 };
	cm->init_qp = qp;
	cm->init_access = attr.qp_access_flags;
	cm->init_pkey_index = attr.pkey_index;
	return 0;
}

/* ---- the peer's access rights, which are known only after the connection is negotiated ---- */

/* Linux returns the access flags as an attribute of INIT, so a QP already in INIT would have to be
 * modified to INIT again. RTR accepts the flags, too, if their value is known. A request's id knows
 * them from its first INIT. For other ids, the kernel grants the same flags to all ids of a device,
 * so the library asks once per device. */

static bool is_pkey_of_route(const struct rdma_route *route)
{
	__be16 differ =
		route->num_paths ? route->path_rec[0].pkey ^ route->addr.addr.ibaddr.pkey : 0xffff;

	return !(differ & htobe16(0x7fff));
}

/* Returns the device's cached access flags for connections with attributes like RTR. The kernel
 * grants READs and atomics only to a peer that may have some outstanding, so there are two
 * values. */
static atomic_uint *granted_access(struct cm_id *cm, const struct ibv_qp_attr *rtr)
{
	return &cm->device->granted[rtr->max_dest_rd_atomic > 0];
}

/* Returns the access flags, or 0 if the kernel must be asked. */
static unsigned int known_access(struct cm_id *cm, const struct ibv_qp_attr *rtr, int mask)
{
	bool is_at_init = cm->init_qp == cm->id.qp && cm->id.qp->state == IBV_QPS_INIT;

	if (!is_at_init || !(mask & IBV_QP_MAX_DEST_RD_ATOMIC))
		return 0;
	if (cm->is_request)
		return cm->init_access;
	return is_pkey_of_route(&cm->id.route) ? atomic_load(granted_access(cm, rtr)) : 0;
}

static int init_again(struct cm_id *cm, const struct ibv_qp_attr *rtr, int rtr_mask)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;
	int ret = kernel_attr(cm, &attr, &mask);

	if (ret)
		return ret;
	if (rtr_mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		atomic_store(granted_access(cm, rtr), attr.qp_access_flags);
	return ibv_modify_qp(cm->id.qp, &attr, mask);
}

/* Makes the QP, which goes to RTR with ATTR, grant the peer its access. Adds the flags to ATTR, or
 * modifies the QP to INIT again. */
static int grant_access(struct cm_id *cm, struct ibv_qp_attr *attr, int *mask)
{
	unsigned int access = known_access(cm, attr, *mask);

	if (!access)
		return init_again(cm, attr, *mask);
	attr->qp_access_flags = access;
	attr->pkey_index = cm->init_pkey_index;
	*mask |= IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
	return 0;
}

int rdmacm_qp_to_rtr(struct cm_id *cm, uint8_t responder_resources)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;
	int ret = kernel_attr(cm, &attr, &mask);

	if (!ret)
		ret = grant_access(cm, &attr, &mask);
	if (ret)
		return ret;
	if (responder_resources != RDMA_MAX_RESP_RES)
		attr.max_dest_rd_atomic = responder_resources;
	return ibv_modify_qp(cm->id.qp, &attr, mask);
}

int rdmacm_qp_to_rts(struct cm_id *cm, uint8_t initiator_depth)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	int mask;
	int ret = kernel_attr(cm, &attr, &mask);

	if (ret)
		return ret;
	if (initiator_depth != RDMA_MAX_INIT_DEPTH)
		attr.max_rd_atomic = initiator_depth;
	return ibv_modify_qp(cm->id.qp, &attr, mask);
}

int rdmacm_qp_to_error(struct cm_id *cm)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!cm->id.qp || cm->id.qp_type == IBV_QPT_UD)
		return 0;
	return ibv_modify_qp(cm->id.qp, &attr, IBV_QP_STATE);
}

/* ---- default PD, XRC domain and CQs ---- */

/* Uses the program's PD. Otherwise id->pd is the device's default PD. */
static int take_pd(struct cm_id *cm, struct ibv_pd *pd)
{
	if (!pd)
		return 0;
	if (pd->context != cm->id.verbs) {
		verbs_warn("rdma_cm: the PD is of another device than the id");
		return EINVAL;
	}
	cm->id.pd = pd;
	return 0;
}

static int take_xrcd(struct cm_id *cm, struct ibv_xrcd **xrcd)
{
	int ret;

	if (cm->uses_default_xrcd) {
		*xrcd = cm->device->xrcd;
		return 0;
	}
	ret = rdmacm_device_get_xrcd(cm->device, xrcd);
	cm->uses_default_xrcd = !ret;
	return ret;
}

static void put_domains(struct cm_id *cm)
{
	if (cm->id.qp || cm->id.srq)
		return;
	/* If the program closed the context's descriptors, its domain is gone as well. */
	if (cm->uses_default_xrcd && cm->id.verbs == cm->device->verbs)
		rdmacm_device_put_xrcd(cm->device);
	cm->uses_default_xrcd = false;
	/* The id may have no device: qperf calls destroy without having created anything. */
	cm->id.pd = cm->device ? cm->device->pd : NULL;
}

static int create_cq(struct cm_id *cm, uint32_t size, struct ibv_comp_channel **channel,
		     struct ibv_cq **cq)
{
	*channel = ibv_create_comp_channel(cm->id.verbs);
	if (!*channel)
		return errno;
	*cq = ibv_create_cq(cm->id.verbs, size ? (int)size : 1, &cm->id, *channel, 0);
	if (*cq)
		return 0;
	ibv_destroy_comp_channel(*channel);
	*channel = NULL;
	return errno;
}

static void destroy_cq(struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	ibv_destroy_cq(*cq);
	ibv_destroy_comp_channel(*channel);
	*cq = NULL;
	*channel = NULL;
}

enum { SEND, RECV };

static int take_recv_cq(struct cm_id *cm, uint32_t size)
{
	int ret;

	if (cm->id.recv_cq)
		return 0;
	ret = create_cq(cm, size, &cm->id.recv_cq_channel, &cm->id.recv_cq);
	cm->owns_cqs[RECV] = !ret;
	return ret;
}

static int take_send_cq(struct cm_id *cm, uint32_t size)
{
	int ret;

	if (cm->id.send_cq)
		return 0;
	ret = create_cq(cm, size, &cm->id.send_cq_channel, &cm->id.send_cq);
	cm->owns_cqs[SEND] = !ret;
	return ret;
}

/* Destroys the library's CQs that no QP or SRQ uses any more: the kernel refuses to destroy a CQ in
 * use (EBUSY). */
static void put_cqs(struct cm_id *cm)
{
	if (cm->id.qp)
		return;
	if (cm->owns_cqs[RECV] && !cm->srq_has_cq) {
		destroy_cq(&cm->id.recv_cq_channel, &cm->id.recv_cq);
		cm->owns_cqs[RECV] = false;
	}
	if (cm->owns_cqs[SEND])
		destroy_cq(&cm->id.send_cq_channel, &cm->id.send_cq);
	cm->owns_cqs[SEND] = false;
}

/* Creates missing CQs. An XRC send QP has no receive CQ. An XRC receive QP has no CQ at all, since
 * its receives complete on the CQ of an SRQ. */
static int take_cqs(struct cm_id *cm, struct ibv_qp_init_attr_ex *attr)
{
	int ret = 0;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return 0;
	if (!attr->recv_cq && attr->qp_type != IBV_QPT_XRC_SEND) {
		ret = take_recv_cq(cm, attr->cap.max_recv_wr);
		attr->recv_cq = cm->id.recv_cq;
	}
	if (!ret && !attr->send_cq) {
		ret = take_send_cq(cm, attr->cap.max_send_wr);
		attr->send_cq = cm->id.send_cq;
	}
	return ret;
}

/* ---- QPs ---- */

static int check_qp_attr(const struct cm_id *cm, const struct ibv_qp_init_attr_ex *attr)
{
	const char *why = NULL;

	if (!cm->device)
		why = "the id is not bound to a device yet: call rdma_resolve_addr() before, and "
		      "take its event";
	else if (cm->id.qp)
		why = "the id has one already";
	else if (attr->qp_type != cm->id.qp_type)
		why = "qp_type does not fit the id's port space";
	if (!why)
		return 0;
	verbs_warn("rdma_create_qp: %s", why);
	return EINVAL;
}

/* Sets the domain of a QP: an XRC receive QP belongs to an XRC domain, because it names no memory
 * (its SRQs do); all others belong to a PD. */
static int choose_domain(struct cm_id *cm, struct ibv_qp_init_attr_ex *attr)
{
	int ret = 0;

	if (attr->qp_type != IBV_QPT_XRC_RECV) {
		attr->pd = cm->id.pd;
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		return 0;
	}
	attr->comp_mask &= ~IBV_QP_INIT_ATTR_PD;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD))
		ret = take_xrcd(cm, &attr->xrcd);
	attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	return ret;
}

static int create_qp(struct cm_id *cm, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp;
	int ret;

	if (cm->id.srq && !attr->srq)
		attr->srq = cm->id.srq;
	ret = choose_domain(cm, attr);
	if (ret)
		return ret;
	qp = ibv_create_qp_ex(cm->id.verbs, attr);
	if (!qp)
		return errno;
	ret = qp_to_init(cm, qp);
	if (ret)
		ibv_destroy_qp(qp);
	else
		cm->id.qp = qp;
	return ret;
}

static int fill_and_create_qp(struct cm_id *cm, struct ibv_qp_init_attr_ex *attr)
{
	int ret = take_pd(cm, attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL);

	if (!ret)
		ret = take_cqs(cm, attr);
	return ret ? ret : create_qp(cm, attr);
}

/* Creates the QP. On failure, restores ATTR: a program may retry with the same attributes, which
 * must not name destroyed objects. Saves and restores only the fields before create_flags, because
 * a program built with an older header has only these. */
static int make_qp(struct cm_id *cm, struct ibv_qp_init_attr_ex *attr)
{
	enum { FILLED_IN = offsetof(struct ibv_qp_init_attr_ex, create_flags) };
	struct ibv_pd *pd = cm->id.pd;
	char before[FILLED_IN];
	int ret = check_qp_attr(cm, attr);

	if (ret)
		return ret;
	memcpy(before, attr, sizeof(before));
	ret = fill_and_create_qp(cm, attr);
	if (!ret)
		return 0;
	put_cqs(cm);
	put_domains(cm);
	cm->id.pd = pd;
	memcpy(attr, before, sizeof(before));
	return ret;
}

CMA_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr)
{
	return cma_return(make_qp(to_cm_id(id), qp_init_attr));
}

/* Creates a QP from the plain struct, whose fields are the first ones of the extended struct.
 * Returns the QP's actual attributes in it. */
CMA_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			      struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = { 0 };
	int ret;

	memcpy(&attr, qp_init_attr, sizeof(*qp_init_attr));
	attr.comp_mask = pd ? IBV_QP_INIT_ATTR_PD : 0;
	attr.pd = pd;
	ret = make_qp(to_cm_id(id), &attr);
	if (!ret)
		memcpy(qp_init_attr, &attr, sizeof(*qp_init_attr));
	return cma_return(ret);
}

CMA_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct cm_id *cm = to_cm_id(id);

	rdmacm_multicast_detach_all(cm); /* a QP attached to a group cannot be destroyed */
	if (id->qp && ibv_destroy_qp(id->qp))
		return;
	id->qp = NULL;
	cm->init_qp = NULL;
	put_cqs(cm);
	put_domains(cm);
}

/* ---- SRQs ---- */

static int complete_xrc(struct cm_id *cm, struct ibv_srq_init_attr_ex *attr)
{
	int ret = 0;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd)
		ret = take_xrcd(cm, &attr->xrcd);
	if (!ret && (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq)) {
		ret = take_recv_cq(cm, attr->attr.max_wr);
		attr->cq = cm->id.recv_cq;
		cm->srq_has_cq = !ret;
	}
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	return ret;
}

static bool is_xrc(const struct ibv_srq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_XRC;
}

static int create_srq(struct cm_id *cm, struct ibv_srq_init_attr_ex *attr)
{
	int ret = is_xrc(attr) ? complete_xrc(cm, attr) : 0;

	if (ret)
		return ret;
	attr->pd = cm->id.pd;
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	cm->id.srq = ibv_create_srq_ex(cm->id.verbs, attr);
	return cm->id.srq ? 0 : errno;
}

static void put_srq(struct cm_id *cm)
{
	cm->id.srq = NULL;
	cm->srq_has_cq = false;
	put_cqs(cm);
	put_domains(cm);
}

static int fill_and_create_srq(struct cm_id *cm, struct ibv_srq_init_attr_ex *attr)
{
	int ret = take_pd(cm, attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL);

	return ret ? ret : create_srq(cm, attr);
}

static int make_srq(struct cm_id *cm, struct ibv_srq_init_attr_ex *attr)
{
	enum { FILLED_IN = offsetof(struct ibv_srq_init_attr_ex, tm_cap) };
	struct ibv_pd *pd = cm->id.pd;
	char before[FILLED_IN];
	int ret;

	if (!cm->device || cm->id.srq) {
		verbs_warn("rdma_create_srq: the id %s",
			   cm->id.srq ? "has one already" : "is not bound to a device yet");
		return EINVAL;
	}
	memcpy(before, attr, sizeof(before));
	ret = fill_and_create_srq(cm, attr);
	if (!ret)
		return 0;
	put_srq(cm);
	cm->id.pd = pd;
	memcpy(attr, before, sizeof(before));
	return ret;
}

CMA_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	return cma_return(make_srq(to_cm_id(id), attr));
}

CMA_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex extended = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = pd ? IBV_SRQ_INIT_ATTR_PD : 0,
		.pd = pd,
	};
	int ret;

	if (id->qp_type == IBV_QPT_XRC_RECV) {
		extended.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
		extended.srq_type = IBV_SRQT_XRC;
	}
	ret = make_srq(to_cm_id(id), &extended);

	if (!ret)
		attr->attr = extended.attr;
	return cma_return(ret);
}

CMA_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (id->srq && ibv_destroy_srq(id->srq))
		return;
	put_srq(to_cm_id(id));
}
