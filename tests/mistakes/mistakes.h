/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mistakes.h - the mistakes by topic, and the scene (two connected queue pairs) of most of them.
 *
 * Each mistake is a function that runs in a process of its own. It must see the mistake's effect
 * (MUST), an errno or the status of a completion, so that a case that makes no mistake fails. It
 * returns without cleaning up, as programs that fail do.
 */
#ifndef TESTS_MISTAKES_MISTAKES_H
#define TESTS_MISTAKES_MISTAKES_H

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

struct mistake {
	const char *name;
	void (*make)(void);
};

#define MISTAKE(name) static void name(void)

extern const struct mistake setup_mistakes[], memory_mistakes[], post_mistakes[], queue_mistakes[],
	connection_mistakes[], checked_mistakes[], batch_mistakes[], life_mistakes[],
	status_mistakes[], buffer_mistakes[];

/* Two RC queue pairs of one process, end[0] and end[1]. */
struct scene {
	struct rig rig;
	struct rig_conf conf;
	struct rig_pair pair;
	struct rig_end *near, *far;
};

/* Returns the usual sizes, with retries that end within a fraction of a second. */
struct rig_conf scene_conf(void);
struct scene *scene_open(const struct rig_conf *conf);
struct scene *scene_open_apart(const struct rig_conf *conf);
bool scene_is_ethernet(const struct scene *scene);
/* Changes the attributes of one step, so that they are wrong. */
typedef void scene_spoil_fn(struct scene *scene, struct ibv_qp_attr *attr);
/* Moves END to STATE through the states before it. SPOIL changes the attributes of the step to
 * SPOILT. */
void scene_to(struct scene *scene, struct rig_end *end, enum ibv_qp_state state,
	      enum ibv_qp_state spoilt, scene_spoil_fn *spoil);
/* Opens both ends, connected. SPOIL changes the attributes of the near end's step to SPOILT. */
struct scene *scene_open_spoilt(const struct rig_conf *conf, enum ibv_qp_state spoilt,
				scene_spoil_fn *spoil);

/* Sets ATTR to the usual attributes of the near end's step to STATE. Returns their mask. */
int scene_step(struct scene *scene, enum ibv_qp_state state, struct ibv_qp_attr *attr);

/* Posts a signaled request of 64 bytes, or 8 for atomics, from the near to the far end's buffer. */
struct ibv_send_wr scene_wr(struct scene *scene, enum ibv_wr_opcode opcode, struct ibv_sge *sge);
void scene_post(struct scene *scene, struct ibv_send_wr *wr);
void scene_send(struct scene *scene, enum ibv_wr_opcode opcode);
void scene_receive(struct rig_end *end, uint32_t bytes);
struct ibv_qp *scene_datagram_qp(const struct scene *scene, struct ibv_pd *pd, struct ibv_cq *cq,
				 uint32_t qkey);
struct ibv_ah *scene_address(const struct scene *scene, struct ibv_pd *pd);
void must_end(struct rig_end *end, enum ibv_wc_status status);

#endif
