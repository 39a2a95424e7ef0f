/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * two.c - two processes, one QP each: messages, writes and reads between them, and the errors of
 * one when the other exits without disconnecting. Each process opens the adapter after the fork;
 * only the first prints.
 *
 * Covers: softhca/device/transport/resp.c, softhca/front/process/uverbs/file.c
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "diff.h"

#define MESSAGE "over to the other process"
#define LONG    (100 << 10)

struct address {
	uint32_t qpn, rkey;
	uint64_t addr;
};

struct side {
	struct rig rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct rig_end end;
	struct address peer;
	int sock;
};

static void side_open(struct side *s, int sock)
{
	struct address own;

	rig_open(&s->rig);
	s->sock = sock;
	s->conf = rig_conf_default();
	s->conf.timeout = 8;
	s->conf.retry_cnt = 1;
	MUST(s->pd = ibv_alloc_pd(s->rig.ctx));
	rig_end_open(s->pd, &s->conf, &s->end);
	own = (struct address){ s->end.qp->qp_num, s->end.mr->rkey, (uintptr_t)s->end.buf };
	MUST(write(sock, &own, sizeof(own)) == sizeof(own));
	MUST(read(sock, &s->peer, sizeof(s->peer)) == sizeof(s->peer));
	rig_qp_to(&s->rig, &s->conf, s->end.qp, s->peer.qpn, IBV_QPS_RTS);
}

static void side_close(struct side *s)
{
	rig_end_close(&s->end);
	MUST(!ibv_dealloc_pd(s->pd));
	rig_close(&s->rig);
}

static void sides_meet(struct side *s)
{
	char byte = 0;

	MUST(write(s->sock, &byte, 1) == 1);
	MUST(read(s->sock, &byte, 1) == 1);
}

static void post_recv(struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)s->end.buf, 4096, s->end.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(s->end.qp, &wr, &bad));
}

static void side_post(struct side *s, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)s->end.buf, len, s->end.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 2,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = s->peer.addr;
	wr.wr.rdma.rkey = s->peer.rkey;
	MUST(!ibv_post_send(s->end.qp, &wr, &bad));
}

static void side_await(struct side *s, bool print)
{
	struct ibv_wc wc;

	MUST(rig_poll(s->end.cq, 1, &wc) == 1);
	if (print)
		say_wc("A", &wc, s->peer.qpn);
}

/* The other process: echoes one message, then fills its buffer for a write and a read, then waits
 * for its end. */
static void other_process(int sock, bool dies)
{
	struct side s;
	char byte;

	side_open(&s, sock);
	post_recv(&s);
	sides_meet(&s);
	side_await(&s, false);
	side_post(&s, IBV_WR_SEND, sizeof(MESSAGE));
	side_await(&s, false);
	sides_meet(&s);
	sides_meet(&s);
	for (int i = 0; i < LONG; i++) /* change A's data, for A to read */
		s.end.buf[i] ^= 0xff;
	sides_meet(&s);
	sides_meet(&s);
	if (dies) {
		MUST(write(sock, "", 1) == 1);
		MUST(read(sock, &byte, 1) == 1); /* never comes */
	}
	side_close(&s);
	exit(0);
}

static void side_echo(struct side *s)
{
	post_recv(s);
	sides_meet(s);
	strcpy((char *)s->end.buf, MESSAGE);
	side_post(s, IBV_WR_SEND, sizeof(MESSAGE));
	side_await(s, true);
	memset(s->end.buf, 0, sizeof(MESSAGE));
	side_await(s, true);
	say_check(!strcmp((char *)s->end.buf, MESSAGE), "the message came back");
	sides_meet(s);
}

static void write_and_read(struct side *s)
{
	bool same = true;

	for (int i = 0; i < LONG; i++)
		s->end.buf[i] = (uint8_t)(i * 31 + 7);
	side_post(s, IBV_WR_RDMA_WRITE, LONG);
	side_await(s, true);
	sides_meet(s);
	sides_meet(s);
	memset(s->end.buf, 0, LONG);
	side_post(s, IBV_WR_RDMA_READ, LONG);
	side_await(s, true);
	for (int i = 0; i < LONG; i++)
		same = same && s->end.buf[i] == (uint8_t) ~(i * 31 + 7);
	say_check(same, "written, changed there, read");
	sides_meet(s);
}

static void kill_other(struct side *s, pid_t child)
{
	int status;
	char byte;

	MUST(read(s->sock, &byte, 1) == 1);
	MUST(!kill(child, SIGKILL));
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	rig_settle(); /* waits, as an adapter notices the end of a process a little later */
	say("the other process was killed:");
	side_post(s, IBV_WR_RDMA_WRITE, 8);
	side_await(s, true);
}

static void two(bool dies)
{
	int socks[2], status = 0;
	struct side s;
	pid_t child;

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	child = fork();
	MUST(child >= 0);
	if (child == 0) {
		close(socks[0]);
		other_process(socks[1], dies);
	}
	close(socks[1]);
	side_open(&s, socks[0]);
	side_echo(&s);
	write_and_read(&s);
	if (dies)
		kill_other(&s, child);
	else
		MUST(waitpid(child, &status, 0) == child);
	say_check(status == 0, "the other process ended well");
	side_close(&s);
	close(socks[0]);
}

void diff_two_processes(void)
{
	two(false);
	two(true);
}
