/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explanations.c - see explanations.h. tests/mistakes/explained compiles the snippets.
 */
#include "explanations.h"

const struct explanation explanations[CHECK_FAULTS] = {
	[CHECK_KEY_DEAD] = {
		.cause = "The lkey in the scatter list belonged to a region that is\n"
			"deregistered, re-registered or unimported. The adapter refuses the\n"
			"request with a local protection error, or uses another region that\n"
			"has got the same key.",
		.cure = "Deregister a region when the last request that names it has\n"
			"completed. After ibv_rereg_mr(), read mr->lkey again.",
		.wrong = "ibv_dereg_mr(mr);\n"
			 "sge.lkey = lkey;\n"
			 "ibv_post_send(qp, &wr, &bad);",
		.right = "sge.lkey = mr->lkey;\n"
			 "ibv_post_send(qp, &wr, &bad);\n"
			 "while (!ibv_poll_cq(cq, 1, &wc))\n"
			 "\t;\n"
			 "ibv_dereg_mr(mr);",
		.pages = "ibv_reg_mr(3), ibv_rereg_mr(3), ibv_post_send(3)",
	},
	[CHECK_KEY_RANGE] = {
		.cause = "The bytes from addr to addr + length are not all in the region of\n"
			"the lkey: the buffer is longer than the region, or addr is of\n"
			"another buffer.",
		.cure = "Register all of the buffer, or correct addr and length.",
		.wrong = "mr = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);\n"
			 "sge.addr = (uintptr_t)buf + 4000;\n"
			 "sge.length = 200;",
		.right = "mr = ibv_reg_mr(pd, buf, 4200, IBV_ACCESS_LOCAL_WRITE);\n"
			 "sge.addr = (uintptr_t)buf + 4000;\n"
			 "sge.length = 200;",
		.pages = "ibv_reg_mr(3), ibv_post_send(3), ibv_post_recv(3)",
	},
	[CHECK_KEY_PD] = {
		.cause = "A queue reaches only regions of its own protection domain. The\n"
			"region of the lkey was registered on another one.",
		.cure = "Register the buffer on the PD of the QP or SRQ. A buffer may be\n"
			"registered on several PDs, with a key for each.",
		.wrong = "mr = ibv_reg_mr(other_pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);\n"
			 "sge.lkey = mr->lkey;\n"
			 "ibv_post_send(qp, &wr, &bad);",
		.right = "mr = ibv_reg_mr(qp->pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);\n"
			 "sge.lkey = mr->lkey;\n"
			 "ibv_post_send(qp, &wr, &bad);",
		.pages = "ibv_alloc_pd(3), ibv_reg_mr(3)",
	},
	[CHECK_KEY_RIGHTS] = {
		.cause = "The adapter writes to the buffers of a receive, and to those of the\n"
			"answer to a READ or an atomic. The region was registered for reading\n"
			"only.",
		.cure = "Register the buffer with IBV_ACCESS_LOCAL_WRITE.",
		.wrong = "mr = ibv_reg_mr(pd, buf, 4096, 0);\n"
			 "sge.lkey = mr->lkey;\n"
			 "ibv_post_recv(qp, &recv, &bad_recv);",
		.right = "mr = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);\n"
			 "sge.lkey = mr->lkey;\n"
			 "ibv_post_recv(qp, &recv, &bad_recv);",
		.pages = "ibv_reg_mr(3), ibv_post_recv(3)",
	},
	[CHECK_KEY_BUSY] = {
		.cause = "A posted request names the region, and the program has not polled\n"
			"its completion. The adapter may still read or write the memory.",
		.cure = "Poll the completion, or destroy the QP, before ibv_dereg_mr(). A\n"
			"request without IBV_SEND_SIGNALED has completed when a later,\n"
			"signaled one has.",
		.wrong = "ibv_post_send(qp, &wr, &bad);\n"
			 "ibv_dereg_mr(mr);",
		.right = "wr.send_flags |= IBV_SEND_SIGNALED;\n"
			 "ibv_post_send(qp, &wr, &bad);\n"
			 "while (!ibv_poll_cq(cq, 1, &wc))\n"
			 "\t;\n"
			 "ibv_dereg_mr(mr);",
		.pages = "ibv_reg_mr(3), ibv_poll_cq(3)",
	},
	[CHECK_BUFFER] = {
		.cause = "The adapter may read a buffer again until its request has completed,\n"
			"for instance when a packet is lost. A change in between may reach\n"
			"the peer, or not. Two receives with one buffer overwrite each other.",
		.cure = "Use a buffer again only when the completion of its request was\n"
			"polled. Give each receive and each READ a buffer of its own.",
		.wrong = "ibv_post_send(qp, &wr, &bad);\n"
			 "memset(buf, 0, 4096);",
		.right = "ibv_post_send(qp, &wr, &bad);\n"
			 "while (!ibv_poll_cq(cq, 1, &wc))\n"
			 "\t;\n"
			 "memset(buf, 0, 4096);",
		.pages = "ibv_post_send(3), ibv_post_recv(3)",
	},
	[CHECK_AH_DEAD] = {
		.cause = "The address handle of a datagram was destroyed before the post. Its\n"
			"memory may have other contents by now.",
		.cure = "Destroy the handle only after all requests that name it have\n"
			"completed. An unsignaled one has when a later signaled one has.",
		.wrong = "ibv_destroy_ah(ah);\n"
			 "wr.wr.ud.ah = ah;\n"
			 "ibv_post_send(qp, &wr, &bad);",
		.right = "wr.wr.ud.ah = ah;\n"
			 "wr.send_flags = IBV_SEND_SIGNALED;\n"
			 "ibv_post_send(qp, &wr, &bad);\n"
			 "while (!ibv_poll_cq(cq, 1, &wc))\n"
			 "\t;\n"
			 "ibv_destroy_ah(ah);",
		.pages = "ibv_create_ah(3), ibv_post_send(3)",
	},
	[CHECK_AH_PD] = {
		.cause = "An address handle and the QP that sends to it must be on one\n"
			"protection domain.",
		.cure = "Create the address handle on the PD of the QP.",
		.wrong = "ah = ibv_create_ah(other_pd, &ah_attr);\n"
			 "wr.wr.ud.ah = ah;",
		.right = "ah = ibv_create_ah(qp->pd, &ah_attr);\n"
			 "wr.wr.ud.ah = ah;",
		.pages = "ibv_create_ah(3)",
	},
	[CHECK_CQ_SMALL] = {
		.cause = "Each receive and each signaled send takes a place in its CQ when it\n"
			"completes. More of them are posted than the CQ has places. If it\n"
			"overruns, completions are lost, and the CQ and its QPs fail.",
		.cure = "Create the CQ with a cqe of at least the sum of what its QPs can\n"
			"have posted (max_send_wr and max_recv_wr of each), or poll before\n"
			"you post more.",
		.wrong = "cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);\n"
			 "init.send_cq = init.recv_cq = cq;\n"
			 "init.cap.max_send_wr = init.cap.max_recv_wr = 128;\n"
			 "qp = ibv_create_qp(pd, &init);",
		.right = "cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);\n"
			 "init.send_cq = init.recv_cq = cq;\n"
			 "init.cap.max_send_wr = init.cap.max_recv_wr = 128;\n"
			 "qp = ibv_create_qp(pd, &init);",
		.pages = "ibv_create_cq(3), ibv_poll_cq(3)",
	},
	[CHECK_UNARMED] = {
		.cause = "A CQ makes one event for each time that it is armed. None of the\n"
			"channel's CQs is armed, so a completion wakes nobody.",
		.cure = "Arm the CQ, then poll once more, as a completion may have come\n"
			"before, and only then wait.",
		.wrong = "while (!ibv_poll_cq(cq, 1, &wc)) {\n"
			 "\tibv_get_cq_event(channel, &cq, &cq_context);\n"
			 "\tibv_ack_cq_events(cq, 1);\n"
			 "}",
		.right = "while (!ibv_poll_cq(cq, 1, &wc)) {\n"
			 "\tibv_req_notify_cq(cq, 0);\n"
			 "\tif (ibv_poll_cq(cq, 1, &wc))\n"
			 "\t\tbreak;\n"
			 "\tibv_get_cq_event(channel, &cq, &cq_context);\n"
			 "\tibv_ack_cq_events(cq, 1);\n"
			 "}",
		.pages = "ibv_req_notify_cq(3), ibv_get_cq_event(3)",
	},
	[CHECK_EVENTS] = {
		.cause = "Destroying an object waits until each of its events that was read is\n"
			"acknowledged, so that no thread still uses the object. One was not.",
		.cure = "Call ibv_ack_cq_events(), ibv_ack_async_event() or\n"
			"rdma_ack_cm_event() for each event, before the object of the event\n"
			"is destroyed.",
		.wrong = "ibv_get_cq_event(channel, &cq, &cq_context);\n"
			 "ibv_destroy_cq(cq);",
		.right = "ibv_get_cq_event(channel, &cq, &cq_context);\n"
			 "ibv_ack_cq_events(cq, 1);\n"
			 "ibv_destroy_cq(cq);",
		.pages = "ibv_get_cq_event(3), ibv_get_async_event(3), rdma_get_cm_event(3)",
	},
	[CHECK_BATCH] = {
		.cause = "Requests of ibv_wr_*() are built between ibv_wr_start() and\n"
			"ibv_wr_complete(): an operation, then its setters. One of the calls\n"
			"is missing, comes twice, or is of an operation that the QP was not\n"
			"created for (send_ops_flags).",
		.cure = "Call ibv_wr_start(), then for each request one operation and each of\n"
			"its setters once, then ibv_wr_complete() or ibv_wr_abort().",
		.wrong = "qpx->wr_id = 1;\n"
			 "ibv_wr_send(qpx);\n"
			 "ibv_wr_complete(qpx);",
		.right = "ibv_wr_start(qpx);\n"
			 "qpx->wr_id = 1;\n"
			 "qpx->wr_flags = IBV_SEND_SIGNALED;\n"
			 "ibv_wr_send(qpx);\n"
			 "ibv_wr_set_sge(qpx, mr->lkey, (uintptr_t)buf, 64);\n"
			 "ibv_wr_complete(qpx);",
		.pages = "ibv_wr_start(3), ibv_create_qp_ex(3)",
	},
	[CHECK_PATH] = {
		.cause = "A path_mtu above the port's active_mtu makes packets that the link\n"
			"drops. With timeout 0 the adapter waits for an answer without end,\n"
			"and never says that the peer has gone.",
		.cure = "Use the smaller active_mtu of both ports, and a timeout of 14 to 18.",
		.wrong = "attr.path_mtu = IBV_MTU_4096;\n"
			 "attr.timeout = 0;",
		.right = "ibv_query_port(ctx, 1, &port);\n"
			 "attr.path_mtu = port.active_mtu;\n"
			 "attr.timeout = 14;",
		.pages = "ibv_modify_qp(3), ibv_query_port(3)",
	},
	[CHECK_FORK] = {
		.cause = "The adapter works on the pages of the process that opened the\n"
			"device. A child of fork() has copies of them, and of the objects,\n"
			"which act on the parent. Without protection, a page that both\n"
			"processes have may leave the parent.",
		.cure = "Open the device in the child, and create objects of its own there.\n"
			"Call ibv_fork_init() before the first ibv_reg_mr() if regions exist\n"
			"at a fork().",
		.wrong = "ctx = ibv_open_device(device);\n"
			 "if (!fork())\n"
			 "\tibv_post_send(qp, &wr, &bad);",
		.right = "ibv_fork_init();\n"
			 "if (!fork())\n"
			 "\tctx = ibv_open_device(device);",
		.pages = "ibv_fork_init(3), fork(2)",
	},
	[CHECK_THREADS] = {
		.cause = "A queue of a thread domain, a CQ for one thread, or each queue with\n"
			"MLX5_SINGLE_THREADED=1, has no lock. Two threads were in a call on\n"
			"it.",
		.cure = "Let one thread use it at a time, with a lock of your own, or create\n"
			"it without the domain or flag.",
		.wrong = "domain.pd = pd;\n"
			 "domain.td = td;\n"
			 "init.send_cq = init.recv_cq = cq;\n"
			 "qp = ibv_create_qp(ibv_alloc_parent_domain(ctx, &domain), &init);\n"
			 "pthread_create(&thread, NULL, post_requests, qp);\n"
			 "post_requests(qp);",
		.right = "init.send_cq = init.recv_cq = cq;\n"
			 "qp = ibv_create_qp(pd, &init);\n"
			 "pthread_create(&thread, NULL, post_requests, qp);\n"
			 "post_requests(qp);",
		.pages = "ibv_alloc_td(3), ibv_alloc_parent_domain(3)",
	},
	[CHECK_DEAD] = {
		.cause = "The QP or CQ was destroyed by an earlier call, which the line names\n"
			"with its place in the program. Its memory is free.",
		.cure = "Destroy each object once, after its last use. Set the pointer to\n"
			"NULL then.",
		.wrong = "ibv_destroy_qp(qp);\n"
			 "ibv_destroy_qp(qp);",
		.right = "ibv_destroy_qp(qp);\n"
			 "qp = NULL;",
		.pages = "ibv_create_qp(3), ibv_create_cq(3)",
	},
	[CHECK_LEAK] = {
		.cause = "The object existed when the program ended. The line names the call\n"
			"that made it. The kernel cleans up, but a program that runs for long\n"
			"uses up the adapter.",
		.cure = "Destroy objects in the reverse order: QPs before their CQs, and all\n"
			"before their PD.",
		.wrong = "pd = ibv_alloc_pd(ctx);\n"
			 "ibv_close_device(ctx);",
		.right = "pd = ibv_alloc_pd(ctx);\n"
			 "ibv_dealloc_pd(pd);\n"
			 "ibv_close_device(ctx);",
		.pages = "ibv_alloc_pd(3), ibv_open_device(3)",
	},
};
