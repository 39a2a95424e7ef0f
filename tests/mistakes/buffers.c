/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buffers.c - what programs do with buffers of requests that have not completed
 * (VERBS_CHECK=buffers).
 *
 * Covers: libibverbs/check/buffers.c
 */
#include "mistakes.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sends wait for a receive without end. */
static struct scene *scene_patient(void)
{
	struct rig_conf conf = scene_conf();

	MUST(!setenv("VERBS_CHECK", "buffers", 1));
	conf.rnr_retry = 7;
	return scene_open(&conf);
}

MISTAKE(buffer_changed_in_flight)
{
	struct scene *scene = scene_patient();

	scene_send(scene, IBV_WR_SEND);
	scene->near->buf[63]++;
	scene_receive(scene->far, 64);
	must_end(scene->near, IBV_WC_SUCCESS);
}

static void receive_at(struct rig_end *end, uint32_t offset)
{
	struct ibv_sge sge = { (uintptr_t)end->buf + offset, 64, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 0x4ecf, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

/* The completion of a later request says that the earlier one is complete. */
MISTAKE(buffer_of_unsignaled_changed)
{
	struct scene *scene = scene_patient();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, &sge);

	wr.wr_id = 1;
	wr.send_flags = 0;
	scene_post(scene, &wr);
	scene->near->buf[0]++;
	receive_at(scene->far, 0);
	receive_at(scene->far, 64);
	sge.addr += 4096;
	wr.wr_id = 2;
	wr.send_flags = IBV_SEND_SIGNALED;
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_SUCCESS);
}

MISTAKE(buffer_in_two_receives)
{
	struct scene *scene = scene_patient();

	scene_receive(scene->near, 64);
	scene_receive(scene->near, 32);
}

/* Changes a buffer after each completion, reads into it, and posts neighbours for receives. */
MISTAKE(right_buffers)
{
	struct scene *scene = scene_patient();

	for (uint32_t i = 0; i < 4; i++)
		receive_at(scene->far, 64 * i);
	for (unsigned int i = 0; i < 4; i++) {
		scene_send(scene, IBV_WR_SEND);
		must_end(scene->near, IBV_WC_SUCCESS);
		must_end(scene->far, IBV_WC_SUCCESS);
		scene->near->buf[0]++;
	}
	scene->far->buf[0]++;
	scene_send(scene, IBV_WR_RDMA_READ);
	must_end(scene->near, IBV_WC_SUCCESS);
	receive_at(scene->far, 0);
}

/* The buffer is unmapped before its completion is polled, and nobody may read it. */
MISTAKE(right_buffer_unmapped)
{
	struct scene *scene = scene_patient();
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_mr *mr = ibv_reg_mr(scene->pair.pd, page, 4096, 0);

	MUST(mr);
	sge = (struct ibv_sge){ (uintptr_t)page, 64, mr->lkey };
	*(uint8_t *)page = 0x5a;
	scene_post(scene, &wr);
	for (int i = 0; i < 2000 && *(volatile uint8_t *)scene->far->buf != 0x5a; i++)
		usleep(1000); /* until the adapter has read the page */
	MUST(!munmap(page, 4096));
	must_end(scene->near, IBV_WC_SUCCESS);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake buffer_mistakes[] = {
	ROW(buffer_changed_in_flight), ROW(buffer_of_unsignaled_changed),
	ROW(buffer_in_two_receives),   ROW(right_buffers),
	ROW(right_buffer_unmapped),    { 0 },
};
