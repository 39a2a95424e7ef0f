/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands on contexts, PDs, MRs, CQs, QPs and ports, and the ways in which a command reaches the
 * kernel.
 *
 * Covers: libibverbs/cmd/cmd_ioctl.c, libibverbs/cmd/cmd_device.c, libibverbs/cmd/cmd_pd.c,
 * libibverbs/cmd/cmd_mr.c, libibverbs/cmd/cmd_cq.c, libibverbs/cmd/cmd_qp.c,
 * libibverbs/cmd/cmd_port.c, libibverbs/cmd/cmd_legacy.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* undefined, as the exported function is tested, not the inline call of new programs */
#undef ibv_query_port

static void alloc_pd_is_an_invoked_write(void **state)
{
	struct ibv_pd pd = {};
	uint32_t pdn = 7;
	const struct verbs_udata udata = { .resp = &pdn, .resp_len = sizeof(pdn) };

	expect(IDS(UVERBS_ATTR_CORE_OUT, UVERBS_ATTR_UHW_OUT), NULL);
	kernel.fill = 0x11;
	assert_int_equal(verbs_cmd_alloc_pd(context_of(state), &pd, &udata), 0);
	assert_string_equal(kernel.text, "0/0 000=8:0 001>4 002=8:3 1001>4");
	assert_int_equal(pd.handle, 0x11111111);
	assert_int_equal(pdn, 0x11111111);
	assert_ptr_equal(pd.context, context_of(state));
}

static void a_driver_response_is_zeroed_before_the_command(void **state)
{
	struct ibv_pd pd = {};
	uint32_t resp = 7;
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };

	expect(NULL, NULL);
	kernel.err = EINVAL;
	assert_int_equal(verbs_cmd_alloc_pd(context_of(state), &pd, &udata), EINVAL);
	assert_int_equal(resp, 0);
}

static void dealloc_pd_names_its_handle(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x33 };

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), 0);
	assert_string_equal(kernel.text, "1/0 000=33");
}

/* The payload has only the response's address, which the ioctl does not use, so its attribute has 8
 * bytes. */
static void a_payload_of_8_bytes_travels_in_its_attribute(void **state)
{
	int fd = -1;

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x11;
	assert_int_equal(verbs_cmd_create_comp_channel(context_of(state), &fd), 0);
	assert_string_equal(kernel.text, "0/0 000=8:0 001>4 002=8:11");
	assert_int_equal(fd, 0x11111111);
}

static void an_interrupted_command_is_run_again(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x33 };

	expect(NULL, NULL);
	kernel.eintr = 2;
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), 0);
	assert_int_equal(kernel.calls, 3);
}

static void a_lost_device_fails_destruction_unless_told_otherwise(void **state)
{
	struct fake_context *fake = *state;
	struct ibv_pd pd = { .context = &fake->vctx.context, .handle = 0x33 };
	struct verbs_mr vmr = { .mr = { .context = &fake->vctx.context } };

	expect(NULL, NULL);
	kernel.err = EIO;
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), EIO);
	fake->vctx.priv->lost_is_destroyed = true;
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), 0);
	assert_int_equal(verbs_cmd_dereg_mr(&vmr), 0);
	kernel.err = EBUSY;
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), EBUSY);
}

static struct ibv_qp_init_attr_ex rc_attr(struct ibv_pd *pd, struct ibv_cq *send,
					  struct ibv_cq *recv)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = send,
		.recv_cq = recv,
		.cap = { 1, 2, 3, 4, 5 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
}

static void *ack_two_events_late(void *arg)
{
	struct ibv_qp *qp = arg;
	struct ibv_async_event event = { .element.qp = qp, .event_type = IBV_EVENT_COMM_EST };

	usleep(20000);
	ibv_ack_async_event(&event);
	usleep(20000);
	event.event_type = IBV_EVENT_QP_FATAL;
	ibv_ack_async_event(&event);
	return NULL;
}

static void destruction_waits_for_acknowledgements(void **state)
{
	struct ibv_pd pd = { .handle = 1 };
	struct ibv_cq cq = { .handle = 2 };
	struct ibv_qp_init_attr_ex attr = rc_attr(&pd, &cq, &cq);
	struct verbs_qp *vqp = calloc(1, sizeof(*vqp));
	pthread_t acker;

	expect(IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, vqp, NULL), 0);
	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	kernel.report_events = 2;
	assert_int_equal(pthread_create(&acker, NULL, ack_two_events_late, &vqp->qp), 0);
	assert_int_equal(verbs_cmd_destroy_qp(&vqp->qp), 0);
	assert_int_equal(vqp->qp.events_completed, 2);
	assert_int_equal(pthread_join(acker, NULL), 0);
	free(vqp);
}

static void reg_mr_carries_range_iova_pd_and_access(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x33 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x22;
	assert_int_equal(verbs_cmd_reg_mr(&pd, (void *)0x1000, 0x2000, 0x3000,
					  IBV_ACCESS_REMOTE_WRITE, &vmr, NULL),
			 0);
	assert_string_equal(kernel.text, "0/0 000<0000000000000000"
					 "0010000000000000"
					 "0020000000000000"
					 "0030000000000000"
					 "33000000"
					 "02000000 001>12 002=8:9");
	assert_int_equal(vmr.mr.lkey, 0x22222222);
	assert_int_equal(vmr.mr.rkey, 0x22222222);
	assert_ptr_equal(vmr.mr.addr, (void *)0x1000);
	assert_int_equal(vmr.mr.length, 0x2000);
	assert_ptr_equal(vmr.mr.pd, &pd);
}

static void optional_access_is_dropped_for_a_kernel_without_it(void **state)
{
	struct fake_context *fake = *state;
	struct ibv_pd pd = { .context = &fake->vctx.context };
	struct verbs_mr vmr = {};

	NEEDS_LITTLE_ENDIAN();
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	verbs_cmd_reg_mr(&pd, NULL, 0, 0, IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_LOCAL_WRITE,
			 &vmr, NULL);
	assert_non_null(strstr(kernel.text, "01000000 001>12"));
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	fake->vctx.priv->core_support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	verbs_cmd_reg_mr(&pd, NULL, 0, 0, IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_LOCAL_WRITE,
			 &vmr, NULL);
	assert_non_null(strstr(kernel.text, "01001000 001>12"));
}

static void create_cq_says_who_owns_its_events(void **state)
{
	struct ibv_comp_channel channel = { .context = context_of(state), .fd = 9 };
	const struct ibv_cq_init_attr_ex attr = { .cqe = 100,
						  .comp_vector = 2,
						  .channel = &channel };
	const uint64_t driver_req = 0xabc;
	const struct verbs_udata udata = { .req = &driver_req, .req_len = sizeof(driver_req) };
	struct verbs_cq *vcq = calloc(1, sizeof(*vcq));
	char want[512];

	expect(IDS(UVERBS_ATTR_CREATE_CQ_RESP_CQE), IDS(UVERBS_ATTR_CREATE_CQ_HANDLE));
	assert_int_equal(verbs_cmd_create_cq(context_of(state), &attr, 0, vcq, &udata), 0);
	snprintf(want, sizeof(want),
		 "3/0 000=new 001=4:64 002=8:%llx 003=9 004=4:2 006>4 ?007=4e 1000=8:abc",
		 (unsigned long long)(uintptr_t)vcq);
	assert_string_equal(kernel.text, want);
	assert_int_equal(vcq->cq.handle, 0x51);
	assert_int_equal(channel.refcnt, 1);

	expect(IDS(UVERBS_ATTR_DESTROY_CQ_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_cq(&vcq->cq), 0);
	assert_string_equal(kernel.text, "3/1 000=51 001>8");
	assert_int_equal(channel.refcnt, 0);
	free(vcq);
}

/* Attributes of the provider make it a list, which is the same command. */
static void create_cq_in_place_is_the_listed_command(void **state)
{
	struct ibv_comp_channel channel = { .context = context_of(state), .fd = 9 };
	const struct ibv_cq_init_attr_ex attr = { .cqe = 100,
						  .comp_vector = 2,
						  .channel = &channel };
	const uint64_t req[2] = { 0xabc, 0xdef };
	uint32_t resp = 0x55;
	const struct verbs_attr none = verbs_attr_skip();
	struct verbs_udata udata = { req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	struct verbs_cq *vcq = calloc(1, sizeof(*vcq));
	char in_place[sizeof(kernel.text)];

	assert_non_null(vcq);
	vcq->ring_cqe = 127;
	expect(IDS(UVERBS_ATTR_CREATE_CQ_RESP_CQE, UVERBS_ATTR_UHW_OUT),
	       IDS(UVERBS_ATTR_CREATE_CQ_HANDLE));
	assert_int_equal(verbs_cmd_create_cq(context_of(state), &attr, 1, vcq, &udata), 0);
	memcpy(in_place, kernel.text, sizeof(in_place));
	udata.attrs = &none;
	udata.nattrs = 1;
	expect(IDS(UVERBS_ATTR_CREATE_CQ_RESP_CQE, UVERBS_ATTR_UHW_OUT),
	       IDS(UVERBS_ATTR_CREATE_CQ_HANDLE));
	assert_int_equal(verbs_cmd_create_cq(context_of(state), &attr, 1, vcq, &udata), 0);
	assert_string_equal(kernel.text, in_place);
	free(vcq);
}

static void a_failed_create_cq_leaves_the_channel_alone(void **state)
{
	struct ibv_comp_channel channel = { .context = context_of(state), .fd = 9 };
	const struct ibv_cq_init_attr_ex attr = { .cqe = 1, .channel = &channel };
	struct verbs_cq vcq = {};

	expect(NULL, NULL);
	kernel.err = ENOMEM;
	assert_int_equal(verbs_cmd_create_cq(context_of(state), &attr, 0, &vcq, NULL), ENOMEM);
	assert_int_equal(channel.refcnt, 0);
}

static void create_qp_of_type_rc(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq send = { .handle = 0x31 }, recv = { .handle = 0x32 };
	struct ibv_qp_init_attr_ex attr = rc_attr(&pd, &send, &recv);
	struct verbs_qp *vqp = calloc(1, sizeof(*vqp));
	char want[512];

	expect(IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	kernel.fill = 0x44;
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, vqp, NULL), 0);
	snprintf(want, sizeof(want),
		 "4/0 000=new 002=21 004=31 005=32 007=8:%llx "
		 "008<0100000002000000030000000400000005000000 009=8:2 00c=4e 00d>20 00e>4",
		 (unsigned long long)(uintptr_t)vqp);
	assert_string_equal(kernel.text, want);
	assert_int_equal(vqp->qp.handle, 0x51);
	assert_int_equal(vqp->qp.qp_num, 0x44444444);
	assert_int_equal(attr.cap.max_inline_data, 0x44444444);
	assert_int_equal(vqp->qp.state, IBV_QPS_RESET);
	assert_ptr_equal(vqp->qp.recv_cq, &recv);

	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_qp(&vqp->qp), 0);
	assert_string_equal(kernel.text, "4/1 000=51 001>4");
	free(vqp);
}

/* ib_uverbs_ex_create_qp; each word of the response is 44444444. */
static void an_old_kernel_creates_qps_by_invoked_write(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq send = { .handle = 0x31 }, recv = { .handle = 0x32 };
	struct ibv_qp_init_attr_ex attr = rc_attr(&pd, &send, &recv);
	struct verbs_qp *vqp = calloc(1, sizeof(*vqp));

	NEEDS_LITTLE_ENDIAN();
	attr.sq_sig_all = 1;
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	kernel.fill = 0x44;
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, vqp, NULL), 0);
	assert_memory_equal(kernel.text, "4/0 no; 0/0 000<", 16);
	assert_memory_equal(strstr(kernel.text, "000<") + 4 + 16,
			    "21000000"
			    "31000000"
			    "32000000"
			    "00000000"
			    "01000000"
			    "02000000"
			    "03000000"
			    "04000000"
			    "05000000"
			    "01020000"
			    "00000000"
			    "00000000"
			    "00000000"
			    "00000000",
			    14 * 8);
	assert_non_null(strstr(kernel.text, " 001>40 002=8:80000018"));
	assert_int_equal(vqp->qp.handle, 0x44444444);
	assert_int_equal(vqp->qp.qp_num, 0x44444444);
	assert_int_equal(attr.cap.max_recv_sge, 0x44444444);

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_destroy_qp(&vqp->qp), 0);
	assert_string_equal(kernel.text,
			    "4/1 no; 0/0 000<00000000000000004444444400000000 001>4 002=8:1b");
	free(vqp);
}

static void an_old_kernel_is_not_asked_twice(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x33 };

	expect(NULL, NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), 0);
	assert_string_equal(kernel.text, "1/0 no; 0/0 000=4:33 002=8:4");
	assert_int_equal(verbs_cmd_dealloc_pd(&pd), 0);
	assert_int_equal(kernel.calls, 3);
}

static void an_old_context_brings_its_async_channel(void **state)
{
	struct fake_context *fake = *state;

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	kernel.fill = 0x07;
	fake->vctx.context.async_fd = -1;
	assert_int_equal(verbs_cmd_get_context(&fake->vctx, NULL), 0);
	assert_string_equal(kernel.text, "0/3 no; 0/0 000=8:0 001>8 002=8:0");
	assert_int_equal(fake->vctx.context.async_fd, 0x07070707);
	assert_int_equal(fake->vctx.context.num_comp_vectors, 0x07070707);
}

/* Descriptors travel beside the rest. A kernel without the attribute says so, as no older form has
 * them. */
static void a_context_is_given_descriptors(void **state)
{
	struct fake_context *fake = *state;
	int numbers[] = { 5, 6, 7 };
	const struct ibv_fd_arr one = { numbers, 1 }, three = { numbers, 3 };

	expect(IDS(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT),
	       NULL);
	assert_int_equal(verbs_cmd_get_context_with(&fake->vctx, NULL, &one), 0);
	assert_string_equal(kernel.text, "0/3 000>4 001>8 002=4:5");
	expect(IDS(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT),
	       NULL);
	assert_int_equal(verbs_cmd_get_context_with(&fake->vctx, NULL, &three), 0);
	assert_string_equal(kernel.text, "0/3 000>4 001>8 002<050000000600000007000000");
	expect(IDS(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT),
	       NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_get_context_with(&fake->vctx, NULL, &three), EPROTONOSUPPORT);
	assert_string_equal(kernel.text, "0/3 no; ");
	/* It knows the method, and what that tells more than the older form. */
	expect(IDS(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT),
	       NULL);
	assert_int_equal(verbs_cmd_get_context_with(&fake->vctx, NULL, NULL), 0);
	assert_string_equal(kernel.text, "0/3 000>4 001>8");
}

/* A provider that refuses the device after the command succeeded has this one call to undo it, so
 * the channel must be closed there. */
static void a_context_that_is_given_up_closes_its_async_channel(void **state)
{
	struct fake_context *fake = fake_open();
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	fake->vctx.context.async_fd = fd;
	fake_close(fake);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void create_qp_passes_signal_all_and_srq(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_srq srq = { .handle = 0x41 };
	struct ibv_qp_init_attr_ex attr = rc_attr(&pd, &cq, &cq);
	struct verbs_qp *vqp = calloc(1, sizeof(*vqp));

	attr.sq_sig_all = 1;
	attr.srq = &srq;
	expect(IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, vqp, NULL), 0);
	assert_non_null(strstr(kernel.text, " 002=21 003=41 004=31 "));
	assert_non_null(strstr(kernel.text, " 009=8:2 00a=4:1000 00c=4e "));
	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_qp(&vqp->qp), 0);
	free(vqp);
}

/* The payload of the two halves of struct ib_uverbs_modify_qp, 112 bytes without a driver's. */
static void modify_qp_sends_only_what_the_mask_names(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr;

	memset(&attr, 0xee, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0x102;
	attr.port_num = 3;
	attr.qp_access_flags = 0xe;
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr,
					     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						     IBV_QP_ACCESS_FLAGS,
					     NULL),
			 0);
	assert_string_equal(kernel.text, "0/0 000<"
					 "00000000000000000000000000000000"
					 "0000000000000000"
					 "0000000000000000" /* dest */
					 "00000000000000000000000000000000"
					 "0000000000000000"
					 "0000000000000000" /* alt_dest */
					 "61000000"
					 "39000000" /* handle, mask */
					 "00000000"
					 "00000000"
					 "00000000"
					 "00000000" /* qkey, PSNs, QPN */
					 "0e000000"
					 "0201"
					 "0000" /* access, P_Keys */
					 "01000000"
					 "00000000"
					 "03000000"
					 "00000000" /* bytes */
					 " 002=8:1a");
	assert_int_equal(qp.state, IBV_QPS_INIT);
}

static void modify_qp_puts_the_address_where_the_kernel_reads_it(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = {
		.ah_attr = {
			.grh = { .flow_label = 0x12345,
				 .sgid_index = 6,
				 .hop_limit = 7,
				 .traffic_class = 8 },
			.dlid = 0x0a0b,
			.sl = 1,
			.src_path_bits = 2,
			.static_rate = 3,
			.is_global = 1,
			.port_num = 5,
		},
	};

	NEEDS_LITTLE_ENDIAN();
	attr.ah_attr.grh.dgid.raw[0] = 0xfe;
	attr.ah_attr.grh.dgid.raw[15] = 0x99;
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_AV, NULL), 0);
	assert_memory_equal(kernel.text,
			    "0/0 000<fe000000000000000000000000000099"
			    "45230100"
			    "0b0a"
			    "0000"
			    "0607080102030105",
			    strlen("0/0 000<") + 64);
}

static void modify_qp_with_a_driver_answer_is_the_extended_command(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	uint64_t answer;
	const struct verbs_udata udata = { .resp = &answer, .resp_len = sizeof(answer) };

	expect(IDS(UVERBS_ATTR_CORE_OUT, UVERBS_ATTR_UHW_OUT), NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_STATE, &udata), 0);
	assert_non_null(strstr(kernel.text, " 001>8 002=8:8000001a 1001>8"));
}

static void a_value_of_more_than_8_bits_does_not_become_another(void **state)
{
	struct ibv_qp qp = { .context = context_of(state) };
	struct ibv_qp_attr attr = { .qp_state = 0x100 | IBV_QPS_INIT,
				    .path_mtu = 0x100 | IBV_MTU_1024 };

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_STATE, NULL), EINVAL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_PATH_MTU, NULL), EINVAL);
	assert_int_equal(kernel.calls, 0);
	assert_int_equal(qp.state, IBV_QPS_RESET);
}

static void a_refused_modify_leaves_the_state(void **state)
{
	struct ibv_qp qp = { .context = context_of(state),
			     .qp_type = IBV_QPT_RC,
			     .state = IBV_QPS_INIT };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	expect(NULL, NULL);
	kernel.err = EINVAL;
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_STATE, NULL), EINVAL);
	assert_int_equal(qp.state, IBV_QPS_INIT);
}

static void query_port_gives_old_callers_what_they_have_room_for(void **state)
{
	struct ibv_port_attr attr;

	memset(&attr, 0xee, sizeof(attr));
	expect(IDS(UVERBS_ATTR_QUERY_PORT_RESP), NULL);
	assert_int_equal(
		ibv_query_port(context_of(state), 2, (struct _compat_ibv_port_attr *)&attr), 0);
	assert_string_equal(kernel.text, "0/2 000=8:2 001>48");
	assert_int_equal(attr.flags, 0);
	assert_int_equal(attr.port_cap_flags2, 0xeeee);
}

static void query_port_gives_new_callers_speeds_of_more_than_8_bits(void **state)
{
	struct ibv_context *context = context_of(state);
	struct ibv_port_attr attr;

	expect(IDS(UVERBS_ATTR_QUERY_PORT_RESP), NULL);
	kernel.fill = 0x11;
	assert_int_equal(verbs_get_ctx(context)->query_port(context, 2, &attr, sizeof(attr)), 0);
	assert_int_equal(attr.active_speed, 0x11);
	assert_int_equal(attr.active_speed_ex, 0x11111111);
}

/* The kernel takes port and index as constants, so they have 8 bytes, and flags have 4. */
static void query_gid_has_constants_of_8_bytes(void **state)
{
	union ibv_gid gid;

	expect(IDS(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY), NULL);
	kernel.fill = 0x77;
	assert_int_equal(ibv_query_gid(context_of(state), 1, 3, &gid), 0);
	assert_string_equal(kernel.text, "0/6 000=8:1 001=8:3 002=4:0 003>32");
	assert_int_equal(gid.raw[15], 0x77);
	expect(NULL, NULL);
	kernel.err = ENODATA;
	assert_int_equal(ibv_query_gid(context_of(state), 1, 3, &gid), 0);
	assert_int_equal(gid.raw[15], 0);
}

static void query_gid_table_passes_room_and_entry_size(void **state)
{
	struct ibv_gid_entry entries[4];

	expect(IDS(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
		   UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES),
	       NULL);
	assert_int_equal(ibv_query_gid_table(context_of(state), entries, 4, 0), 0);
	assert_string_equal(kernel.text, "0/5 000=8:20 001=4:0 002>128 003>8");
}

static void driver_attributes_follow_and_come_back(void **state)
{
	uint32_t handle = 0, page = 0;
	int fd = -1;
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(0x1000, &handle),
		verbs_attr_skip(),
		verbs_attr_u64(0x1001, 1),
		verbs_attr_out(0x1002, &page, sizeof(page)),
		verbs_attr_new_fd(0x1003, &fd),
	};

	expect(IDS(0x1002), IDS(0x1000, 0x1003));
	kernel.fill = 0x66;
	assert_int_equal(verbs_cmd_run(context_of(state), 0x1008, 0x1000, attrs, ARRAY_SIZE(attrs)),
			 0);
	assert_string_equal(kernel.text, "1008/1000 1000=new 1001=8:1 1002>4 1003=new");
	assert_int_equal(handle, 0x51);
	assert_int_equal(fd, 0x52);
	assert_int_equal(page, 0x66666666);
}

static void a_failed_command_hands_nothing_out(void **state)
{
	uint32_t handle = 5;
	const struct verbs_attr attrs[] = { verbs_attr_new_handle(0x1000, &handle) };

	expect(NULL, NULL);
	kernel.err = EPROTONOSUPPORT;
	assert_int_equal(verbs_cmd_run(context_of(state), 0x1008, 0x1000, attrs, 1),
			 EPROTONOSUPPORT);
	assert_int_equal(handle, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(alloc_pd_is_an_invoked_write),
		COMMAND_TEST(a_driver_response_is_zeroed_before_the_command),
		COMMAND_TEST(dealloc_pd_names_its_handle),
		COMMAND_TEST(a_payload_of_8_bytes_travels_in_its_attribute),
		COMMAND_TEST(an_interrupted_command_is_run_again),
		COMMAND_TEST(a_lost_device_fails_destruction_unless_told_otherwise),
		COMMAND_TEST(destruction_waits_for_acknowledgements),
		COMMAND_TEST(reg_mr_carries_range_iova_pd_and_access),
		COMMAND_TEST(optional_access_is_dropped_for_a_kernel_without_it),
		COMMAND_TEST(create_cq_says_who_owns_its_events),
		COMMAND_TEST(create_cq_in_place_is_the_listed_command),
		COMMAND_TEST(a_failed_create_cq_leaves_the_channel_alone),
		COMMAND_TEST(create_qp_of_type_rc),
		COMMAND_TEST(an_old_kernel_creates_qps_by_invoked_write),
		COMMAND_TEST(an_old_kernel_is_not_asked_twice),
		COMMAND_TEST(an_old_context_brings_its_async_channel),
		COMMAND_TEST(a_context_is_given_descriptors),
		COMMAND_TEST(create_qp_passes_signal_all_and_srq),
		COMMAND_TEST(modify_qp_sends_only_what_the_mask_names),
		COMMAND_TEST(modify_qp_puts_the_address_where_the_kernel_reads_it),
		COMMAND_TEST(modify_qp_with_a_driver_answer_is_the_extended_command),
		COMMAND_TEST(a_value_of_more_than_8_bits_does_not_become_another),
		COMMAND_TEST(a_refused_modify_leaves_the_state),
		COMMAND_TEST(query_port_gives_old_callers_what_they_have_room_for),
		COMMAND_TEST(query_port_gives_new_callers_speeds_of_more_than_8_bits),
		COMMAND_TEST(a_context_that_is_given_up_closes_its_async_channel),
		COMMAND_TEST(query_gid_has_constants_of_8_bytes),
		COMMAND_TEST(query_gid_table_passes_room_and_entry_size),
		COMMAND_TEST(driver_attributes_follow_and_come_back),
		COMMAND_TEST(a_failed_command_hands_nothing_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
