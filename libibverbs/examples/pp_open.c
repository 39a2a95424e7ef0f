/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_open.c - creates and destroys the verbs objects of a pingpong program, from the device to the
 * queue pair.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pingpong.h"

/* Calls for memory allocated by the library. Looked up at run time, because older releases lack
 * them. */
static struct {
	void *(*alloc)(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
	void (*free)(struct ibv_buf *buf);
	struct ibv_mr *(*reg)(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
			      int access);
} shared_memory;

static bool find_shared_memory(void)
{
	*(void **)&shared_memory.alloc = dlsym(RTLD_DEFAULT, "ibv_alloc_buf");
	*(void **)&shared_memory.free = dlsym(RTLD_DEFAULT, "ibv_free_buf");
	*(void **)&shared_memory.reg = dlsym(RTLD_DEFAULT, "ibv_reg_buf_mr");
	return shared_memory.alloc && shared_memory.free && shared_memory.reg;
}

int pp_fail(const char *message)
{
	fprintf(stderr, "%s\n", message);
	return -1;
}

static struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
	if (!name) {
		if (!*list)
			pp_fail("No IB devices found");
		return *list;
	}
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	fprintf(stderr, "IB device %s not found\n", name);
	return NULL;
}

/* Opens the device. The list is freed at once, because the context keeps its device. */
static int open_context(struct pp *pp)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device;

	if (!list) {
		perror("Failed to get IB devices list");
		return -1;
	}
	device = find_device(list, pp->options->device);
	if (device) {
		pp->context = ibv_open_device(device);
		if (!pp->context)
			fprintf(stderr, "Couldn't get context for %s\n",
				ibv_get_device_name(device));
	}
	ibv_free_device_list(list);
	return pp->context ? 0 : -1;
}

static int check_odp(const struct pp_options *options, const struct ibv_device_attr_ex *attr)
{
	const uint32_t needed = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
	const struct ibv_odp_caps *caps = &attr->odp_caps;

	if (!(caps->general_caps & IBV_ODP_SUPPORT) ||
	    (caps->per_transport_caps.rc_odp_caps & needed) != needed)
		return pp_fail(
			"The device isn't ODP capable or does not support RC send and receive with "
			"ODP");
	if (options->implicit_odp && !(caps->general_caps & IBV_ODP_SUPPORT_IMPLICIT))
		return pp_fail("The device doesn't support implicit ODP");
	return 0;
}

static int check_device_memory(const struct pp_options *options,
			       const struct ibv_device_attr_ex *attr)
{
	if (!attr->max_dm_size)
		return pp_fail("Device doesn't support dm allocation");
	if (attr->max_dm_size < options->size)
		return pp_fail("Device memory is insufficient");
	return 0;
}

/* Checks the features that the options need. Without such an option the device is not queried, as
 * nothing would be read of the answer. */
static int check_features(struct pp *pp)
{
	const struct pp_options *options = pp->options;
	struct ibv_device_attr_ex attr;

	if (!options->odp && !options->timestamps && !options->device_memory)
		return 0;
	if (ibv_query_device_ex(pp->context, NULL, &attr))
		return pp_fail("Couldn't query device for its features");
	if (options->odp && check_odp(options, &attr))
		return -1;
	if (options->timestamps && !attr.completion_timestamp_mask)
		return pp_fail("The device isn't completion timestamp capable");
	pp->timestamp_mask = attr.completion_timestamp_mask;
	return options->device_memory ? check_device_memory(options, &attr) : 0;
}

static void prefetch_buffer(struct pp *pp)
{
	struct ibv_sge sge = { (uintptr_t)pp->buf, pp->options->size, pp->mr->lkey };
	int ret = ibv_advise_mr(pp->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);

	if (ret)
		fprintf(stderr, "Couldn't prefetch MR(%d). Continue anyway\n", ret);
}

static int register_memory(struct pp *pp)
{
	const struct pp_options *options = pp->options;
	int access = IBV_ACCESS_LOCAL_WRITE;

	if (options->device_memory) {
		struct ibv_alloc_dm_attr attr = { .length = options->size };

		pp->dm = ibv_alloc_dm(pp->context, &attr);
		if (!pp->dm)
			return pp_fail("Dev mem allocation failed");
		pp->mr = ibv_reg_dm_mr(pp->pd, pp->dm, 0, options->size,
				       access | IBV_ACCESS_ZERO_BASED);
	} else if (options->implicit_odp) {
		pp->mr = ibv_reg_mr(pp->pd, NULL, SIZE_MAX, access | IBV_ACCESS_ON_DEMAND);
	} else if (options->unprotected) {
		pp->mr = shared_memory.reg(pp->pd, pp->shared, pp->buf,
					   options->headroom + options->size, access);
	} else {
		if (options->odp)
			access |= IBV_ACCESS_ON_DEMAND;
		pp->mr = ibv_reg_mr(pp->pd, pp->buf, options->headroom + options->size, access);
	}
	if (!pp->mr)
		return pp_fail("Couldn't register MR");
	if (options->prefetch)
		prefetch_buffer(pp);
	return 0;
}

static int create_cq(struct pp *pp)
{
	/* Room for all receives, and one send of each QP: no more can be outstanding, so the CQ
	 * never overflows. */
	const unsigned int entries = pp->options->rx_depth + pp->options->num_qp;

	if (pp->options->timestamps) {
		struct ibv_cq_init_attr_ex attr = {
			.cqe = entries,
			.channel = pp->channel,
			.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		};

		pp->cq_ex = ibv_create_cq_ex(pp->context, &attr);
		pp->cq = pp->cq_ex ? ibv_cq_ex_to_cq(pp->cq_ex) : NULL;
	} else {
		pp->cq = ibv_create_cq(pp->context, (int)entries, NULL, pp->channel, 0);
	}
	return pp->cq ? 0 : pp_fail("Couldn't create CQ");
}

int pp_find_address(struct pp *pp)
{
	const struct pp_options *options = pp->options;
	struct ibv_port_attr port;
	union ibv_gid gid = {};

	if (ibv_query_port(pp->context, (uint8_t)options->ib_port, &port))
		return pp_fail("Couldn't get port info");
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET && !port.lid)
		return pp_fail("Couldn't get local LID");
	if (options->gid_index >= 0 &&
	    ibv_query_gid(pp->context, (uint8_t)options->ib_port, options->gid_index, &gid)) {
		fprintf(stderr, "can't read sgid of index %d\n", options->gid_index);
		return -1;
	}
	srand48((long)getpid() * time(NULL));
	for (unsigned int i = 0; i < options->num_qp; i++) {
		pp->peers[i].local.lid = port.lid;
		pp->peers[i].local.gid = gid;
		pp->peers[i].local.psn = (uint32_t)lrand48() & 0xffffff;
	}
	return 0;
}

static bool allocate_memory(struct pp *pp, size_t size)
{
	if (pp->options->unprotected)
		pp->buf = shared_memory.alloc(pp->pd, size, &pp->shared);
	else if (posix_memalign((void **)&pp->buf, pp->page_size, size))
		pp->buf = NULL;
	return pp->buf;
}

static int allocate_buffer(struct pp *pp)
{
	const unsigned int size = pp->options->headroom + pp->options->size;

	pp->page_size = (size_t)sysconf(_SC_PAGESIZE);
	if (!allocate_memory(pp, size ? size : 1))
		return pp_fail("Couldn't allocate work buf.");
	/* The sides use different fills, so that a received message differs from the old
	 * content. */
	memset(pp->buf, pp->options->host ? pp->options->fill : pp->options->fill + 1, size);
	return 0;
}

static int allocate_pd(struct pp *pp)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC,
	};

	pp->pd = ibv_alloc_pd(pp->context);
	if (!pp->pd)
		return pp_fail(pp->options->unprotected ? "Couldn't allocate base PD"
							: "Couldn't allocate PD");
	if (!pp->options->unprotected)
		return 0;
	if (!find_shared_memory())
		return pp_fail("The library has no unprotected memory");
	pp->base_pd = attr.pd = pp->pd;
	pp->pd = ibv_alloc_parent_domain(pp->context, &attr);
	return pp->pd ? 0 : pp_fail("Couldn't allocate parent domain");
}

int pp_open_memory(const struct pp_options *options, struct pp *pp)
{
	*pp = (struct pp){ .options = options, .records = 1, .send_flags = IBV_SEND_SIGNALED };

	if (open_context(pp))
		return -1;
	if (options->events) {
		pp->channel = ibv_create_comp_channel(pp->context);
		if (!pp->channel)
			return pp_fail("Couldn't create completion channel");
	}
	return allocate_pd(pp) || allocate_buffer(pp) || check_features(pp) || register_memory(pp)
		       ? -1
		       : 0;
}

int pp_open(const struct pp_options *options, struct pp *pp)
{
	return pp_open_memory(options, pp) || create_cq(pp) ? -1 : 0;
}

static struct ibv_qp *create_qp_with_send_ops(struct pp *pp, const struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.cap = init->cap,
		.qp_type = init->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pp->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	return ibv_create_qp_ex(pp->context, &attr);
}

static int create_qp(struct pp *pp, struct pp_peer *peer, enum ibv_qp_type type)
{
	const struct pp_options *options = pp->options;
	struct ibv_qp_init_attr init = {
		.send_cq = pp->cq,
		.recv_cq = pp->cq,
		.srq = pp->srq,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = pp->srq ? 0 : options->rx_depth,
			 .max_send_sge = 1,
			 .max_recv_sge = pp->srq ? 0 : 1 },
		.qp_type = type,
	};
	struct ibv_qp_attr attr;

	peer->qp = options->new_send ? create_qp_with_send_ops(pp, &init)
				     : ibv_create_qp(pp->pd, &init);
	if (!peer->qp)
		return -1;
	if (options->new_send)
		peer->qp_ex = ibv_qp_to_qp_ex(peer->qp);
	peer->local.qpn = peer->qp->qp_num;

	/* Small messages are sent inline, except from device memory, which the CPU cannot read. */
	if (!options->device_memory && !ibv_query_qp(peer->qp, &attr, IBV_QP_CAP, &init) &&
	    init.cap.max_inline_data >= options->size)
		pp->send_flags |= IBV_SEND_INLINE;
	return 0;
}

int pp_create_qps(struct pp *pp, enum ibv_qp_type type)
{
	for (unsigned int i = 0; i < pp->options->num_qp; i++) {
		if (!create_qp(pp, &pp->peers[i], type))
			continue;
		if (pp->names_qps)
			fprintf(stderr, "Couldn't create QP[%u]\n", i);
		else
			fprintf(stderr, "Couldn't create QP\n");
		return -1;
	}
	return 0;
}

static int close_peers(struct pp *pp)
{
	int ret = 0;

	for (unsigned int i = 0; i < PP_MAX_QPS; i++) {
		struct pp_peer *peer = &pp->peers[i];

		if (peer->qp && ibv_destroy_qp(peer->qp))
			ret = pp_fail("Couldn't destroy QP");
		if (peer->ah && ibv_destroy_ah(peer->ah))
			ret = pp_fail("Couldn't destroy AH");
	}
	if (pp->srq && ibv_destroy_srq(pp->srq))
		ret = pp_fail("Couldn't destroy SRQ");
	return ret;
}

/* Destroys everything, even after a failure, so that each failure is reported. */
int pp_close(struct pp *pp)
{
	int ret = close_peers(pp);

	if (pp->cq && ibv_destroy_cq(pp->cq))
		ret = pp_fail("Couldn't destroy CQ");
	if (pp->mr && ibv_dereg_mr(pp->mr))
		ret = pp_fail("Couldn't deregister MR");
	if (pp->dm && ibv_free_dm(pp->dm))
		ret = pp_fail("Couldn't free DM");
	if (pp->shared)
		shared_memory.free(pp->shared);
	if (pp->pd && ibv_dealloc_pd(pp->pd))
		ret = pp_fail("Couldn't deallocate PD");
	if (pp->base_pd && ibv_dealloc_pd(pp->base_pd))
		ret = pp_fail("Couldn't deallocate base PD");
	if (pp->channel && ibv_destroy_comp_channel(pp->channel))
		ret = pp_fail("Couldn't destroy completion channel");
	if (pp->context && ibv_close_device(pp->context))
		ret = pp_fail("Couldn't release context");
	if (!pp->shared)
		free(pp->buf);
	return ret;
}
