/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_open.c - the verbs objects of a pingpong program, from the device to the queue pair, and their destruction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pingpong.h"

/* What the buffer holds before the first message: each side its own, so that an echo is told from a leftover. */
#define SERVER_FILL 0x7c
#define CLIENT_FILL 0x7b

static int fail(const char *message)
{
	fprintf(stderr, "%s\n", message);
	return -1;
}

static struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
	if (!name) {
		if (!*list)
			fail("No IB devices found");
		return *list;
	}
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	fprintf(stderr, "IB device %s not found\n", name);
	return NULL;
}

/* With a list of its own the device lives on in its context. */
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
		return fail(
			"The device isn't ODP capable or does not support RC send and receive with ODP");
	if (options->implicit_odp && !(caps->general_caps & IBV_ODP_SUPPORT_IMPLICIT))
		return fail("The device doesn't support implicit ODP");
	return 0;
}

static int check_device_memory(const struct pp_options *options,
			       const struct ibv_device_attr_ex *attr)
{
	if (!attr->max_dm_size)
		return fail("Device doesn't support dm allocation");
	if (attr->max_dm_size < options->size)
		return fail("Device memory is insufficient");
	return 0;
}

/* Ask the device only about features that were asked for. */
static int check_features(struct pp *pp)
{
	const struct pp_options *options = pp->options;
	struct ibv_device_attr_ex attr;

	if (!options->odp && !options->timestamps && !options->device_memory)
		return 0;
	if (ibv_query_device_ex(pp->context, NULL, &attr))
		return fail("Couldn't query device for its features");
	if (options->odp && check_odp(options, &attr))
		return -1;
	if (options->timestamps && !attr.completion_timestamp_mask)
		return fail("The device isn't completion timestamp capable");
	pp->timestamp_mask = attr.completion_timestamp_mask;
	return options->device_memory ? check_device_memory(options, &attr) : 0;
}

static void prefetch(struct pp *pp)
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
			return fail("Dev mem allocation failed");
		pp->mr = ibv_reg_dm_mr(pp->pd, pp->dm, 0, options->size,
				       access | IBV_ACCESS_ZERO_BASED);
	} else if (options->implicit_odp) {
		pp->mr = ibv_reg_mr(pp->pd, NULL, SIZE_MAX, access | IBV_ACCESS_ON_DEMAND);
	} else {
		if (options->odp)
			access |= IBV_ACCESS_ON_DEMAND;
		pp->mr = ibv_reg_mr(pp->pd, pp->buf, options->size, access);
	}
	if (!pp->mr)
		return fail("Couldn't register MR");
	if (options->prefetch)
		prefetch(pp);
	return 0;
}

static int create_cq(struct pp *pp)
{
	const unsigned int entries = pp->options->rx_depth + 1; /* all receives and the one send */

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
	return pp->cq ? 0 : fail("Couldn't create CQ");
}

int pp_find_address(struct pp *pp)
{
	const struct pp_options *options = pp->options;
	struct ibv_port_attr port;

	if (ibv_query_port(pp->context, (uint8_t)options->ib_port, &port))
		return fail("Couldn't get port info");
	pp->local.lid = port.lid;
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET && !port.lid)
		return fail("Couldn't get local LID");
	if (options->gid_index >= 0 && ibv_query_gid(pp->context, (uint8_t)options->ib_port,
						     options->gid_index, &pp->local.gid)) {
		fprintf(stderr, "can't read sgid of index %d\n", options->gid_index);
		return -1;
	}
	srand48((long)getpid() * time(NULL));
	pp->local.psn = (uint32_t)lrand48() & 0xffffff;
	return 0;
}

static int allocate_buffer(struct pp *pp)
{
	const unsigned int size = pp->options->size;

	pp->page_size = (size_t)sysconf(_SC_PAGESIZE);
	if (posix_memalign((void **)&pp->buf, pp->page_size, size ? size : 1))
		return fail("Couldn't allocate work buf.");
	memset(pp->buf, pp->options->host ? CLIENT_FILL : SERVER_FILL, size);
	return 0;
}

int pp_open(const struct pp_options *options, struct pp *pp)
{
	*pp = (struct pp){ .options = options, .send_flags = IBV_SEND_SIGNALED };

	if (open_context(pp) || allocate_buffer(pp))
		return -1;
	if (options->events) {
		pp->channel = ibv_create_comp_channel(pp->context);
		if (!pp->channel)
			return fail("Couldn't create completion channel");
	}
	pp->pd = ibv_alloc_pd(pp->context);
	if (!pp->pd)
		return fail("Couldn't allocate PD");
	return check_features(pp) || register_memory(pp) || create_cq(pp) ? -1 : 0;
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

int pp_create_qp(struct pp *pp, enum ibv_qp_type type)
{
	const struct pp_options *options = pp->options;
	struct ibv_qp_init_attr init = {
		.send_cq = pp->cq,
		.recv_cq = pp->cq,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = options->rx_depth,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = type,
	};
	struct ibv_qp_attr attr;

	pp->qp = options->new_send ? create_qp_with_send_ops(pp, &init)
				   : ibv_create_qp(pp->pd, &init);
	if (!pp->qp)
		return fail("Couldn't create QP");
	if (options->new_send)
		pp->qp_ex = ibv_qp_to_qp_ex(pp->qp);
	pp->local.qpn = pp->qp->qp_num;

	/* Small messages go inline, but the CPU cannot read device memory. */
	if (!options->device_memory && !ibv_query_qp(pp->qp, &attr, IBV_QP_CAP, &init) &&
	    init.cap.max_inline_data >= options->size)
		pp->send_flags |= IBV_SEND_INLINE;
	return 0;
}

/* Everything is tried, so that a failure late in a run still frees the rest. */
int pp_close(struct pp *pp)
{
	int ret = 0;

	if (pp->qp && ibv_destroy_qp(pp->qp))
		ret = fail("Couldn't destroy QP");
	if (pp->cq && ibv_destroy_cq(pp->cq))
		ret = fail("Couldn't destroy CQ");
	if (pp->mr && ibv_dereg_mr(pp->mr))
		ret = fail("Couldn't deregister MR");
	if (pp->dm && ibv_free_dm(pp->dm))
		ret = fail("Couldn't free DM");
	if (pp->pd && ibv_dealloc_pd(pp->pd))
		ret = fail("Couldn't deallocate PD");
	if (pp->channel && ibv_destroy_comp_channel(pp->channel))
		ret = fail("Couldn't destroy completion channel");
	if (pp->context && ibv_close_device(pp->context))
		ret = fail("Couldn't release context");
	free(pp->buf);
	return ret;
}
