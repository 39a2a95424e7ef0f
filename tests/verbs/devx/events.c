/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - answers to asynchronous commands, and the device's own events: on channels with and
 * without event data, and by an eventfd.
 *
 * Covers: providers/mlx5/dv/devx_async.c, providers/mlx5/dv/devx_event.c,
 * softhca/front/process/uverbs/devx/async.c, softhca/front/process/uverbs/devx/event.c
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dx.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/qpc.h"
#include "tests/lib/say.h"

enum { WAIT_MS = 20000, QUERIES = 8, ANSWER = 24 + PRM_QPC_SIZE + 16 };

static bool is_readable(int fd, int timeout)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, timeout) == 1;
}

/* The header ends in an array, so a union names the bytes behind it. */
union answer {
	struct mlx5dv_devx_async_cmd_hdr hdr;
	uint8_t bytes[sizeof(struct mlx5dv_devx_async_cmd_hdr) + ANSWER];
};

static void ask_often(struct dx_end *end, struct mlx5dv_devx_cmd_comp *comp)
{
	struct dx_command cmd;

	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, end->qp.qpn);
	for (uint64_t i = 0; i < QUERIES; i++)
		MUST(!mlx5dv_devx_obj_query_async(end->qp.obj, cmd.in, 16, ANSWER, i, comp));
}

static void hear_answers(struct mlx5dv_devx_cmd_comp *comp)
{
	unsigned int heard = 0, right = 0;
	union answer answer;

	for (unsigned int i = 0; i < QUERIES; i++) {
		MUST(is_readable(comp->fd, WAIT_MS));
		if (!i) /* not read, so it stays in the channel */
			SAY_RET(mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr,
							       sizeof(answer) - ANSWER / 2),
				"with too little room");
		memset(&answer, 0, sizeof(answer));
		MUST(!mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)));
		heard |= 1u << answer.hdr.wr_id;
		right += !fld_get(answer.hdr.out_data, CMD_OUT_STATUS) &&
			 fld_get(fld_at(answer.hdr.out_data, QUERY_QP_OUT_QPC), QPC_LOG_SQ_SIZE) ==
				 DX_LOG_SQ;
	}
	say_check(heard == (1u << QUERIES) - 1, "each answer once");
	say_check(right == QUERIES, "answers about the QP");
	say_check(!is_readable(comp->fd, 0), "no more answers");
}

static void refuse_asking(struct dx_end *end, struct mlx5dv_devx_cmd_comp *comp)
{
	struct mlx5dv_devx_cmd_comp other = { .fd = comp->fd };
	union answer answer;
	struct dx_command cmd;

	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, end->qp.qpn + 1);
	SAY_RET(mlx5dv_devx_obj_query_async(end->qp.obj, cmd.in, 16, ANSWER, 0, comp),
		"about another QP");
	dx_command(&cmd, PRM_OP_2ERR_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, end->qp.qpn);
	SAY_RET(mlx5dv_devx_obj_query_async(end->qp.obj, cmd.in, 16, ANSWER, 0, comp),
		"a change that does not wait");
	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, end->qp.qpn);
	other.fd = eventfd(0, 0);
	SAY_RET(mlx5dv_devx_obj_query_async(end->qp.obj, cmd.in, 16, ANSWER, 0, &other),
		"to another descriptor");
	close(other.fd);
	MUST(!fcntl(comp->fd, F_SETFL, O_NONBLOCK));
	SAY_RET(mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)),
		"when there is none");
}

enum { LARGE = 32 * 1024, LARGE_IN_A_MIB = 32 };

static void ask_until_refused(struct dx_end *end, struct mlx5dv_devx_cmd_comp *comp)
{
	struct dx_command cmd;
	int ret = 0, count = 0;

	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, end->qp.qpn);
	while (!ret && count < 100) {
		ret = mlx5dv_devx_obj_query_async(end->qp.obj, cmd.in, 16, LARGE, 0, comp);
		count++;
	}
	say("answer %d of %d bytes: %s", count, LARGE, say_errno(ret));
}

static void hear_large(struct mlx5dv_devx_cmd_comp *comp, int count)
{
	static union {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t bytes[LARGE + sizeof(struct mlx5dv_devx_async_cmd_hdr)];
	} answer;

	for (int i = 0; i < count; i++) {
		MUST(is_readable(comp->fd, WAIT_MS));
		MUST(!mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)));
	}
}

/* A program that reads no answers is refused further commands, as the kernel keeps a limited
 * number; reading one makes room for another. */
static void overfill(struct dx_end *end, struct mlx5dv_devx_cmd_comp *comp)
{
	ask_until_refused(end, comp);
	hear_large(comp, 3);
	ask_until_refused(end, comp);
	hear_large(comp, LARGE_IN_A_MIB);
	say_check(!is_readable(comp->fd, 0), "all were read");
}

void dx_answers(void)
{
	struct mlx5dv_devx_cmd_comp *comp;
	struct dx_end end;

	dx_end_open(DX_PAGE, &end);
	comp = mlx5dv_devx_create_cmd_comp(end.device.ctx);
	MUST(comp);
	ask_often(&end, comp);
	hear_answers(comp);
	refuse_asking(&end, comp);
	overfill(&end, comp);
	mlx5dv_devx_destroy_cmd_comp(comp);
	dx_end_close(&end);
}

/* The call succeeds, and the answer reports the device's refusal. Guests skip this topic, as
 * Linux 6.1 then enables interrupts where it must not. */
void dx_short_answers(void)
{
	struct mlx5dv_devx_cmd_comp *comp;
	struct dx_end of_end, *end = &of_end;
	union answer answer;
	struct dx_command cmd;

	dx_end_open(DX_PAGE, end);
	comp = mlx5dv_devx_create_cmd_comp(end->device.ctx);
	MUST(comp);
	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, end->qp.qpn);
	SAY_RET(mlx5dv_devx_obj_query_async(end->qp.obj, cmd.in, 16, 16, 7, comp),
		"with no room for the answer");
	MUST(is_readable(comp->fd, WAIT_MS));
	MUST(!mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)));
	say("number %d, status %#x", (int)answer.hdr.wr_id,
	    (unsigned int)fld_get(answer.hdr.out_data, CMD_OUT_STATUS));
	mlx5dv_devx_destroy_cmd_comp(comp);
	dx_end_close(end);
}

union event {
	struct mlx5dv_devx_async_event_hdr hdr;
	uint8_t bytes[sizeof(struct mlx5dv_devx_async_event_hdr) + PRM_EQE_SIZE];
};

static struct mlx5dv_devx_event_channel *channel_of(struct dx_end *end, int flags)
{
	struct mlx5dv_devx_event_channel *channel = mlx5dv_devx_create_event_channel(
		end->device.ctx, (enum mlx5dv_devx_create_event_channel_flags)flags);

	MUST(channel);
	return channel;
}

static void complete_one(struct dx_end *from, struct dx_end *to)
{
	struct dx_piece source = { from->memory.addr, 64, from->key.key };
	struct dx_piece target = { to->memory.addr, 64, to->key.key };

	dx_post_recv(&to->qp, &target);
	dx_post_send(&from->qp, MLX5_OPCODE_SEND, &source, 0, 0);
	MUST(dx_cq_poll(&to->cq));
	MUST(dx_cq_poll(&from->cq));
}

static void say_event(struct mlx5dv_devx_event_channel *channel, const char *what)
{
	union event event;
	ssize_t bytes;

	MUST(is_readable(channel->fd, WAIT_MS));
	memset(&event, 0, sizeof(event));
	bytes = mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event));
	say("%s: %zd bytes, cookie %llu, type %d", what, bytes,
	    (unsigned long long)event.hdr.cookie, (int)fld_get(event.hdr.out_data, EQE_TYPE));
}

/* A read into too small a buffer fails and leaves the event in the channel. */
static void read_short(struct mlx5dv_devx_event_channel *channel)
{
	union event event;
	ssize_t bytes;

	MUST(is_readable(channel->fd, WAIT_MS));
	bytes = mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event) - 1);
	say("with too little room: %zd, %s", bytes, say_errno(errno));
}

static void hear_completions(struct dx_end *a, struct dx_end *b)
{
	struct mlx5dv_devx_event_channel *with = channel_of(b, 0);
	struct mlx5dv_devx_event_channel *without =
		channel_of(b, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	int fd = eventfd(0, EFD_NONBLOCK);
	uint16_t comp = PRM_EVENT_COMP;
	uint64_t count = 0;

	MUST(fd >= 0);
	SAY_RET(mlx5dv_devx_subscribe_devx_event(with, b->cq.obj, sizeof(comp), &comp, 17),
		"completions with data");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(without, b->cq.obj, sizeof(comp), &comp, 18),
		"completions without");
	SAY_RET(mlx5dv_devx_subscribe_devx_event_fd(with, fd, b->cq.obj, comp), "by an eventfd");
	complete_one(a, b);
	say_check(!is_readable(with->fd, 100), "nothing of a CQ that is not armed");
	for (int i = 0; i < 3; i++) {
		dx_cq_arm(&b->device, &b->cq);
		complete_one(a, b);
		read_short(with);
		say_event(with, "completion");
	}
	say_event(without, "completions");
	say_check(!is_readable(without->fd, 100), "told once until it is read");
	MUST(is_readable(fd, WAIT_MS));
	MUST(read(fd, &count, sizeof(count)) == sizeof(count));
	say("signalled %d times", (int)count);
	mlx5dv_devx_destroy_event_channel(with);
	dx_cq_arm(&b->device, &b->cq);
	complete_one(a, b);
	say_event(without, "after the first channel has gone");
	mlx5dv_devx_destroy_event_channel(without);
	close(fd);
}

/*
 * Overflows an eventfd. Linux does not wait for room: the highest value means any number of events.
 * A second eventfd, signalled after the first, shows when the event has arrived, as a completion is
 * visible before its event.
 */
static void overflow_eventfd(struct dx_end *a, struct dx_end *b)
{
	struct mlx5dv_devx_event_channel *channel = channel_of(b, 0);
	const uint64_t full = UINT64_MAX - 1;
	int fd = eventfd(0, EFD_NONBLOCK), told = eventfd(0, EFD_NONBLOCK);
	uint64_t count = 0;

	MUST(fd >= 0 && told >= 0 && write(fd, &full, sizeof(full)) == sizeof(full));
	MUST(!mlx5dv_devx_subscribe_devx_event_fd(channel, fd, b->cq.obj, PRM_EVENT_COMP));
	MUST(!mlx5dv_devx_subscribe_devx_event_fd(channel, told, b->cq.obj, PRM_EVENT_COMP));
	for (int i = 0; i < 2; i++) {
		dx_cq_arm(&b->device, &b->cq);
		complete_one(a, b);
		MUST(is_readable(told, WAIT_MS));
		MUST(read(told, &count, sizeof(count)) == sizeof(count));
	}
	mlx5dv_devx_destroy_event_channel(channel);
	MUST(read(fd, &count, sizeof(count)) == sizeof(count));
	say_check(count == UINT64_MAX, "an eventfd that is full");
	close(told);
	close(fd);
}

/* Once the event of one object is read, its next event is reported, even if another object's is
 * still unread. */
static void hear_of_two(struct dx_end *a, struct dx_end *b)
{
	struct mlx5dv_devx_event_channel *channel =
		channel_of(b, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	struct dx_end from = *a, to = *b;
	uint16_t comp = PRM_EVENT_COMP;

	dx_cq_open(&b->device, &to.cq);
	dx_qp_open(&b->device, &to.cq, &to.qp);
	dx_qp_open(&a->device, &a->cq, &from.qp);
	dx_qp_connect(&to.qp, &a->device, from.qp.qpn);
	dx_qp_connect(&from.qp, &b->device, to.qp.qpn);
	MUST(!mlx5dv_devx_subscribe_devx_event(channel, b->cq.obj, sizeof(comp), &comp, 1));
	MUST(!mlx5dv_devx_subscribe_devx_event(channel, to.cq.obj, sizeof(comp), &comp, 2));
	dx_cq_arm(&b->device, &b->cq);
	complete_one(a, b);
	dx_cq_arm(&b->device, &to.cq);
	from.cq = a->cq;
	complete_one(&from, &to);
	a->cq = from.cq;
	say_event(channel, "of the first");
	dx_cq_arm(&b->device, &b->cq);
	complete_one(a, b);
	say_event(channel, "of the second");
	say_event(channel, "of the first again");
	say_check(!is_readable(channel->fd, 100), "nothing else");
	dx_qp_close(&from.qp);
	dx_qp_close(&to.qp);
	dx_cq_close(&to.cq);
	mlx5dv_devx_destroy_event_channel(channel);
}

static void hear_of_qp(struct dx_end *a, struct dx_end *b)
{
	struct mlx5dv_devx_event_channel *channel = channel_of(b, 0);
	uint16_t events[] = { PRM_EVENT_WQ_ACCESS_ERROR, PRM_EVENT_WQ_INVAL_REQ_ERROR,
			      PRM_EVENT_WQ_CATAS_ERROR };
	struct dx_piece source = { a->memory.addr, 64, a->key.key };

	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, b->qp.obj, sizeof(events), events, 5),
		"errors of a QP");
	dx_post_send(&a->qp, MLX5_OPCODE_RDMA_WRITE, &source, 0, 0x123456);
	say_event(channel, "a write with a key that is none");
	mlx5dv_devx_destroy_event_channel(channel);
}

static void refuse_subscriptions(struct dx_end *end)
{
	struct mlx5dv_devx_event_channel *channel = channel_of(end, 0);
	uint16_t many[17] = { 0 }, port = PRM_EVENT_PORT_CHANGE, qp = PRM_EVENT_COMM_EST;
	uint16_t unknown = 200;
	union event event;

	errno = 0;
	say_ptr(mlx5dv_devx_create_event_channel(end->device.ctx,
						 (enum mlx5dv_devx_create_event_channel_flags)8),
		"a channel with an unknown flag");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(port), &port, 1), "ports");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, end->qp.obj, sizeof(port), &port, 1),
		"ports of a QP");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(qp), &qp, 1),
		"events of no QP");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, end->qp.obj, sizeof(unknown), &unknown,
						 1),
		"an unknown event");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, end->qp.obj, sizeof(many), many, 1),
		"17 events");
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, end->qp.obj, 3, many, 1),
		"an event and a half");
	MUST(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	errno = 0;
	say_ret((int)mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event)),
		"reading when there is none");
	mlx5dv_devx_destroy_event_channel(channel);
}

void dx_events(void)
{
	struct dx_end a, b;

	dx_end_open(DX_PAGE, &a);
	dx_end_open(DX_PAGE, &b);
	dx_qp_connect(&a.qp, &b.device, b.qp.qpn);
	dx_qp_connect(&b.qp, &a.device, a.qp.qpn);
	hear_completions(&a, &b);
	hear_of_two(&a, &b);
	overflow_eventfd(&a, &b);
	refuse_subscriptions(&b);
	hear_of_qp(&a, &b);
	dx_end_close(&a);
	dx_end_close(&b);
}

/* Linux 6.1 crashes on these, so guests skip them. */
void dx_bad_eventfds(void)
{
	struct mlx5dv_devx_event_channel *channel;
	uint16_t qp = PRM_EVENT_COMM_EST;
	struct dx_end of_end, *end = &of_end;

	dx_end_open(DX_PAGE, end);
	channel = channel_of(end, 0);
	SAY_RET(mlx5dv_devx_subscribe_devx_event_fd(channel, channel->fd, end->qp.obj, qp),
		"a channel as an eventfd");
	SAY_RET(mlx5dv_devx_subscribe_devx_event_fd(channel, 9999, end->qp.obj, qp),
		"no descriptor");
	mlx5dv_devx_destroy_event_channel(channel);
	dx_end_close(end);
}

/* An imported context is the same context for the kernel, and for this test. */
static void subscribe_by_import(const struct dx_end *end, uint16_t comp)
{
	struct ibv_context *twin = ibv_import_device(dup(end->device.ctx->cmd_fd));
	struct mlx5dv_devx_event_channel *channel;

	MUST(twin);
	channel = mlx5dv_devx_create_event_channel(twin,
						   (enum mlx5dv_devx_create_event_channel_flags)0);
	MUST(channel);
	say_check(!mlx5dv_devx_subscribe_devx_event(channel, end->cq.obj, sizeof(comp), &comp, 1),
		  "by an import of its context");
	mlx5dv_devx_destroy_event_channel(channel);
	MUST(!ibv_close_device(twin));
}

/* Object numbers belong to their context, as a number may name another object in another one. */
void dx_foreign_channels(void)
{
	struct mlx5dv_devx_event_channel *channel;
	uint16_t comp = PRM_EVENT_COMP;
	struct dx_end a, b;
	int fd = eventfd(0, EFD_NONBLOCK);

	MUST(fd >= 0);
	dx_end_open(DX_PAGE, &a);
	dx_end_open(DX_PAGE, &b);
	channel = channel_of(&a, 0);
	say_check(mlx5dv_devx_subscribe_devx_event(channel, b.cq.obj, sizeof(comp), &comp, 1) ==
			  EINVAL,
		  "another context's object");
	say_check(mlx5dv_devx_subscribe_devx_event_fd(channel, fd, b.cq.obj, comp) == EINVAL,
		  "nor by an eventfd");
	say_check(!mlx5dv_devx_subscribe_devx_event(channel, a.cq.obj, sizeof(comp), &comp, 1),
		  "its own");
	mlx5dv_devx_destroy_event_channel(channel);
	subscribe_by_import(&a, comp);
	close(fd);
	dx_end_close(&b);
	dx_end_close(&a);
}
