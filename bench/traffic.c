/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * traffic.c - traffic latency|bandwidth|idle SECONDS: two processes over the adapter.
 *
 * "latency" prints the median and the mean round trip of a 64-byte message, in microseconds; both
 * ends poll. "bandwidth" prints GiB/s of RDMA WRITEs of 1 MiB, eight in flight. "idle" keeps a
 * connected pair without requests for SECONDS: a caller then measures what softhca costs at rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bench/measure.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"

#define MESSAGE   64
#define WARM_UP   200
#define TRIPS     3000
#define LARGE     (1 << 20)
#define IN_FLIGHT 8
#define WRITES    512

struct address {
	uint32_t qpn, rkey;
	uint64_t addr;
};

struct side {
	struct rig rig;
	struct ibv_pd *pd;
	struct rig_end end;
	struct address peer;
	int sock;
};

static void side_open(struct side *s, int sock)
{
	struct rig_conf conf = rig_conf_default();
	struct address own;

	conf.buf_size = LARGE;
	conf.mtu = IBV_MTU_4096;
	rig_open(&s->rig);
	if (conf.mtu > s->rig.port.active_mtu)
		conf.mtu = s->rig.port.active_mtu;
	s->sock = sock;
	MUST(s->pd = ibv_alloc_pd(s->rig.ctx));
	rig_end_open(s->pd, &conf, &s->end);
	own = (struct address){ s->end.qp->qp_num, s->end.mr->rkey, (uintptr_t)s->end.buf };
	MUST(write(sock, &own, sizeof(own)) == sizeof(own));
	MUST(read(sock, &s->peer, sizeof(s->peer)) == sizeof(s->peer));
	rig_qp_to(&s->rig, &conf, s->end.qp, s->peer.qpn, IBV_QPS_RTS);
}

static void sides_meet(struct side *s)
{
	char byte = 0;

	MUST(write(s->sock, &byte, 1) == 1);
	MUST(read(s->sock, &byte, 1) == 1);
}

static void side_close(struct side *s)
{
	sides_meet(s);
	rig_end_close(&s->end);
	MUST(!ibv_dealloc_pd(s->pd));
	rig_close(&s->rig);
}

static void post_recv(struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)s->end.buf, MESSAGE, s->end.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(s->end.qp, &wr, &bad));
}

static void post_send(struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)s->end.buf, MESSAGE, s->end.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(s->end.qp, &wr, &bad));
}

/* Polls without a pause until both the peer's message and the completion of the own send have
 * come. */
static void completions_await(struct side *s, int *sends, int *recvs)
{
	while (*sends == 0 || *recvs == 0) {
		struct ibv_wc wc[4];
		int n = ibv_poll_cq(s->end.cq, 4, wc);

		for (int i = 0; i < n; i++) {
			MUST(wc[i].status == IBV_WC_SUCCESS);
			if (wc[i].opcode == IBV_WC_RECV)
				++*recvs;
			else
				++*sends;
		}
	}
}

static void trips_answer(struct side *s)
{
	int sends = 1, recvs = 0;

	post_recv(s);
	sides_meet(s);
	for (int i = 0; i < WARM_UP + TRIPS; i++) {
		completions_await(s, &sends, &recvs);
		recvs--;
		sends--;
		if (i + 1 < WARM_UP + TRIPS)
			post_recv(s);
		post_send(s);
	}
	recvs = 1;
	completions_await(s, &sends, &recvs);
}

static void trips_time(struct side *s)
{
	static double us[TRIPS];
	double sum = 0;

	sides_meet(s);
	for (int i = 0; i < WARM_UP + TRIPS; i++) {
		int sends = 0, recvs = 0;
		double start = now_us();

		post_recv(s);
		post_send(s);
		completions_await(s, &sends, &recvs);
		if (i >= WARM_UP)
			us[i - WARM_UP] = now_us() - start;
	}
	for (int i = 0; i < TRIPS; i++)
		sum += us[i];
	printf("%.1f\t%.1f\n", median(us, TRIPS), sum / TRIPS);
}

static void write_large(struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)s->end.buf, LARGE, s->end.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = s->peer.addr;
	wr.wr.rdma.rkey = s->peer.rkey;
	MUST(!ibv_post_send(s->end.qp, &wr, &bad));
}

static void stream(struct side *s)
{
	struct ibv_wc wc;
	double start;

	sides_meet(s);
	start = now_us();
	for (int posted = 0, done = 0; done < WRITES; done++) {
		while (posted < WRITES && posted - done < IN_FLIGHT) {
			write_large(s);
			posted++;
		}
		MUST(rig_poll(s->end.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	}
	printf("%.2f\n", WRITES * (double)LARGE / (1 << 30) / ((now_us() - start) / 1e6));
}

static void sleep_as_told(struct side *s, int seconds)
{
	sides_meet(s);
	printf("idle\n");
	fflush(stdout);
	sleep(seconds);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool latency = !strcmp(what, "latency"), idle = !strcmp(what, "idle") && argc == 3;
	struct side s;
	int socks[2], status;
	pid_t child;

	if (!latency && !idle && strcmp(what, "bandwidth")) {
		fprintf(stderr, "usage: traffic latency|bandwidth|idle SECONDS\n");
		return 2;
	}
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	child = fork();
	MUST(child >= 0);
	close(socks[child == 0]);
	side_open(&s, socks[child != 0]);
	if (child == 0)
		latency ? trips_answer(&s) : sides_meet(&s);
	else if (latency)
		trips_time(&s);
	else if (idle)
		sleep_as_told(&s, atoi(argv[2]));
	else
		stream(&s);
	side_close(&s);
	if (child == 0)
		return 0;
	MUST(waitpid(child, &status, 0) == child && status == 0);
	return 0;
}
