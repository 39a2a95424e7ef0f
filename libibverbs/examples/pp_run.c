/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_run.c - exchanges messages until both directions have carried the requested number, and prints
 * the time.
 *
 * Each side has at most one send outstanding: it answers a message after its own last send has
 * completed. Message and echo share one buffer, so the client's bytes travel back and forth, and
 * both sides can check them at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "pingpong.h"

/* wr_id of the two kinds of work request */
enum { RECEIVE = 1, SEND = 2 };

/* With a check, each page of the client's message starts with this byte, followed by
 * options->fill. */
#define PAGE_MARK 0x00

struct progress {
	unsigned int sends_done;
	unsigned int received;
	unsigned int recvs_posted;
	unsigned int events; /* unacknowledged events: ibv_destroy_cq() waits for them */
	uint64_t last_stamp;
	uint64_t min_cycles, max_cycles, total_cycles;
};

static char *message_text(const struct pp *pp)
{
	return pp->buf + pp->options->headroom;
}

static struct ibv_sge send_sge(const struct pp *pp)
{
	return (struct ibv_sge){ pp->dm ? 0 : (uintptr_t)message_text(pp), pp->options->size,
				 pp->mr->lkey };
}

static struct ibv_sge receive_sge(const struct pp *pp)
{
	return (struct ibv_sge){ pp->dm ? 0 : (uintptr_t)pp->buf,
				 pp->options->headroom + pp->options->size, pp->mr->lkey };
}

static unsigned int post_recv(struct pp *pp, unsigned int count)
{
	struct ibv_sge sge = receive_sge(pp);
	struct ibv_recv_wr wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad_wr;
	unsigned int posted = 0;

	while (posted < count && !(pp->srq ? ibv_post_srq_recv(pp->srq, &wr, &bad_wr)
					   : ibv_post_recv(pp->peers[0].qp, &wr, &bad_wr)))
		posted++;
	return posted;
}

static int post_send(struct pp *pp, struct pp_peer *peer)
{
	struct ibv_sge sge = send_sge(pp);
	struct ibv_send_wr wr = {
		.wr_id = SEND,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = pp->send_flags,
	};
	struct ibv_send_wr *bad_wr;

	if (peer->ah) {
		wr.wr.ud.ah = peer->ah;
		wr.wr.ud.remote_qpn = peer->remote.qpn;
		wr.wr.ud.remote_qkey = PP_QKEY;
	}
	if (!peer->qp_ex)
		return ibv_post_send(peer->qp, &wr, &bad_wr);

	ibv_wr_start(peer->qp_ex);
	peer->qp_ex->wr_id = SEND;
	peer->qp_ex->wr_flags = pp->send_flags;
	ibv_wr_send(peer->qp_ex);
	if (pp->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(peer->qp_ex, message_text(pp), pp->options->size);
	else
		ibv_wr_set_sge(peer->qp_ex, sge.lkey, sge.addr, sge.length);
	return ibv_wr_complete(peer->qp_ex);
}

/* Returns whether the peer's QP may send. The client may send one message more than it has
 * received, the server as many. Once the total is reached, by any queue pairs, neither side may
 * send. */
static bool may_send(const struct pp *pp, const struct progress *progress,
		     const struct pp_peer *peer)
{
	unsigned int allowed = peer->received + (pp->options->host ? 1 : 0);

	return peer->sends_posted == peer->sends_done &&
	       progress->sends_done < pp->options->iters && peer->sends_posted < allowed;
}

static int send_if_due(struct pp *pp, struct progress *progress, struct pp_peer *peer)
{
	if (!may_send(pp, progress, peer))
		return 0;
	if (post_send(pp, peer)) {
		fprintf(stderr, "Couldn't post send\n");
		return -1;
	}
	peer->sends_posted++;
	return 0;
}

static struct pp_peer *find_peer(struct pp *pp, uint32_t qpn)
{
	for (unsigned int i = 0; i < pp->options->num_qp; i++)
		if (pp->peers[i].local.qpn == qpn)
			return &pp->peers[i];
	fprintf(stderr, "Couldn't find QPN %06x\n", qpn);
	return NULL;
}

static int refill_receives(struct pp *pp, struct progress *progress)
{
	const unsigned int depth = pp->options->rx_depth;

	/* each QP still has one, so posting more can wait */
	if (--progress->recvs_posted > pp->options->num_qp)
		return 0;
	progress->recvs_posted += post_recv(pp, depth - progress->recvs_posted);
	if (progress->recvs_posted < depth) {
		fprintf(stderr, "Couldn't post receive (%u)\n", progress->recvs_posted);
		return -1;
	}
	return 0;
}

static int handle_completion(struct pp *pp, struct progress *progress, struct pp_peer *peer,
			     uint64_t wr_id, enum ibv_wc_status status)
{
	if (!peer)
		return -1;
	if (status != IBV_WC_SUCCESS) {
		fprintf(stderr, "Failed status %s (%d) for wr_id %d\n", ibv_wc_status_str(status),
			status, (int)wr_id);
		return -1;
	}
	switch (wr_id) {
	case SEND:
		progress->sends_done++;
		peer->sends_done++;
		break;
	case RECEIVE:
		progress->received++;
		peer->received++;
		if (refill_receives(pp, progress))
			return -1;
		break;
	default:
		fprintf(stderr, "Completion for unknown wr_id %d\n", (int)wr_id);
		return -1;
	}
	return send_if_due(pp, progress, peer);
}

/* Counts the cycles between consecutive receive completions. The clock wraps at the device's mask,
 * so the difference is masked. */
static void note_timestamp(struct pp *pp, struct progress *progress, uint64_t stamp)
{
	uint64_t cycles = (stamp - progress->last_stamp) & pp->timestamp_mask;
	bool first = progress->received == 1;

	progress->last_stamp = stamp;
	if (first)
		return;
	if (progress->received == 2 || cycles < progress->min_cycles)
		progress->min_cycles = cycles;
	if (cycles > progress->max_cycles)
		progress->max_cycles = cycles;
	progress->total_cycles += cycles;
}

static int handle_current(struct pp *pp, struct progress *progress)
{
	struct ibv_cq_ex *cq = pp->cq_ex;
	unsigned int received = progress->received;
	int ret = handle_completion(pp, progress, &pp->peers[0], cq->wr_id, cq->status);

	if (!ret && progress->received != received)
		note_timestamp(pp, progress, ibv_wc_read_completion_ts(cq));
	return ret;
}

static int drain_cq_ex(struct pp *pp, struct progress *progress)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(pp->cq_ex, &attr);

	if (ret == ENOENT)
		return 0;
	if (ret) {
		fprintf(stderr, "poll CQ failed %d\n", ret);
		return ret;
	}
	do {
		ret = handle_current(pp, progress);
		if (ret) {
			fprintf(stderr, "parse WC failed %d\n", ret);
			break;
		}
		ret = ibv_next_poll(pp->cq_ex);
	} while (!ret);
	ibv_end_poll(pp->cq_ex);
	if (ret > 0 && ret != ENOENT)
		fprintf(stderr, "poll CQ failed %d\n", ret);
	return ret == ENOENT ? 0 : ret;
}

/* Polls until the CQ is empty, because an armed CQ only reports later completions. */
static int drain_cq(struct pp *pp, struct progress *progress)
{
	struct ibv_wc wc[2];
	int n, ret;

	do {
		n = ibv_poll_cq(pp->cq, 2, wc);
		if (n < 0) {
			fprintf(stderr, "poll CQ failed %d\n", n);
			return n;
		}
		for (int i = 0; i < n; i++) {
			ret = handle_completion(pp, progress, find_peer(pp, wc[i].qp_num),
						wc[i].wr_id, wc[i].status);
			if (ret) {
				fprintf(stderr, "parse WC failed %d\n", ret);
				return ret;
			}
		}
	} while (n == 2);
	return 0;
}

static int request_event(struct pp *pp)
{
	if (ibv_req_notify_cq(pp->cq, 0)) {
		fprintf(stderr, "Couldn't request CQ notification\n");
		return -1;
	}
	return 0;
}

/* Sleeps until the CQ has an event. Arms it before polling, so that no completion is missed. */
static int await_event(struct pp *pp, struct progress *progress)
{
	struct ibv_cq *cq;
	void *cq_context;

	if (ibv_get_cq_event(pp->channel, &cq, &cq_context)) {
		fprintf(stderr, "Failed to get cq_event\n");
		return -1;
	}
	progress->events++;
	if (cq != pp->cq) {
		fprintf(stderr, "CQ event for unknown CQ %p\n", (void *)cq);
		return -1;
	}
	return request_event(pp);
}

static bool is_finished(const struct pp *pp, const struct progress *progress)
{
	return progress->received >= pp->options->iters &&
	       progress->sends_done >= pp->options->iters;
}

static int bounce_messages(struct pp *pp, struct progress *progress)
{
	int ret = 0;

	for (unsigned int i = 0; i < pp->options->num_qp && !ret; i++)
		ret = send_if_due(pp, progress, &pp->peers[i]);
	while (!ret && !is_finished(pp, progress)) {
		if (pp->options->events) {
			ret = await_event(pp, progress);
			if (ret)
				break;
		}
		ret = pp->cq_ex ? drain_cq_ex(pp, progress) : drain_cq(pp, progress);
	}
	if (progress->events)
		ibv_ack_cq_events(pp->cq, progress->events);
	return ret;
}

static void print_report(const struct pp *pp, const struct progress *progress,
			 const struct timeval *start, const struct timeval *end)
{
	const unsigned int iters = pp->options->iters;
	const long long bytes = (long long)pp->options->size * iters * 2;
	const float usec = (float)(end->tv_sec - start->tv_sec) * 1000000 +
			   (float)(end->tv_usec - start->tv_usec);

	printf("%lld bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, usec / 1000000.,
	       bytes * 8. / usec);
	printf("%u iters in %.2f seconds = %.2f usec/iter\n", iters, usec / 1000000., usec / iters);
	if (!pp->options->timestamps)
		return;
	printf("Max receive completion clock cycles = %" PRIu64 "\n", progress->max_cycles);
	printf("Min receive completion clock cycles = %" PRIu64 "\n", progress->min_cycles);
	printf("Average receive completion clock cycles = %f\n",
	       (double)progress->total_cycles / iters);
}

static int fill_message(struct pp *pp)
{
	memset(message_text(pp), pp->options->fill, pp->options->size);
	for (size_t i = 0; i < pp->options->size; i += pp->page_size)
		message_text(pp)[i] = PAGE_MARK;
	if (pp->dm && ibv_memcpy_to_dm(pp->dm, 0, pp->buf, pp->options->size)) {
		fprintf(stderr, "Copy to dm buffer failed\n");
		return -1;
	}
	return 0;
}

static int check_message(struct pp *pp)
{
	int ret = 0;

	if (pp->dm && ibv_memcpy_from_dm(pp->buf, pp->dm, 0, pp->options->size)) {
		fprintf(stderr, "Copy from DM buffer failed\n");
		return -1;
	}
	for (size_t i = 0; i < pp->options->size; i++) {
		char expected = i % pp->page_size ? (char)pp->options->fill : PAGE_MARK;

		if (message_text(pp)[i] == expected)
			continue;
		printf("invalid data in page %zu\n", i / pp->page_size);
		ret = -1;
		/* report a page only once: the whole page is the previous content */
		i |= pp->page_size - 1;
	}
	return ret;
}

static int measure_messages(struct pp *pp, unsigned int posted)
{
	struct progress progress = { .recvs_posted = posted };
	const bool is_client = pp->options->host;
	struct timeval start, end;
	int ret;

	if (pp->options->check && is_client && fill_message(pp))
		return -1;
	gettimeofday(&start, NULL);
	ret = bounce_messages(pp, &progress);
	if (ret)
		return ret;
	gettimeofday(&end, NULL);
	print_report(pp, &progress, &start, &end);
	return pp->options->check && !is_client ? check_message(pp) : 0;
}

int pp_bounce(struct pp *pp, int init_mask, pp_connect_fn *connect)
{
	unsigned int posted;

	if (pp_to_init(pp, init_mask))
		return -1;
	posted = post_recv(pp, pp->options->rx_depth);
	if (posted < pp->options->rx_depth) {
		fprintf(stderr, "Couldn't post receive (%u)\n", posted);
		return -1;
	}
	if (pp->options->events && request_event(pp))
		return -1;
	if (pp_find_address(pp) || pp_exchange(pp, connect))
		return -1;
	return measure_messages(pp, posted) ? -1 : 0;
}
