/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft.c - opens and closes the half of a domain that writes table entries itself.
 */
#include "providers/mlx5/dv/dr/soft.h"

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "util/alloc.h"
#include "util/mutex.h"

/* Returns whether the library knows how to write entries for the domain: it supports format 1 only,
 * and no switch (FDB). */
static bool side_is_known(const struct mlx5dv_dr_domain *domain, const struct dr_caps *caps)
{
	return domain->type != MLX5DV_DR_DOMAIN_TYPE_FDB && caps->format == PRM_STEERING_V1;
}

static bool side_writes(const struct mlx5dv_dr_domain *domain, const struct dr_caps *caps)
{
	return domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX ? caps->writes_tx : caps->writes_rx;
}

/* Asks the adapter. A failed query is no answer, so the next call asks again. */
static __attribute__((noinline)) bool soft_exists_query(struct mlx5dv_dr_domain *domain)
{
	struct dr_caps caps;
	bool exists;

	if (mlx5_dr_caps_query(domain->context, &caps))
		return false;
	exists = side_is_known(domain, &caps) && side_writes(domain, &caps);
	__atomic_store_n(&domain->below, exists ? DR_BELOW_EXISTS : DR_BELOW_ABSENT,
			 __ATOMIC_RELAXED);
	return exists;
}

bool mlx5_dr_soft_exists(struct mlx5dv_dr_domain *domain)
{
	const enum dr_below below = __atomic_load_n(&domain->below, __ATOMIC_RELAXED);

	return below == DR_BELOW_UNKNOWN ? soft_exists_query(domain) : below == DR_BELOW_EXISTS;
}

static int soft_check(const char *call, const struct mlx5dv_dr_domain *domain,
		      const struct dr_caps *caps)
{
	const bool writes = side_writes(domain, caps);

	if (domain->type == MLX5DV_DR_DOMAIN_TYPE_FDB) {
		verbs_warn("%s: a domain of type FDB has root tables only: not supported yet",
			   call);
		return EOPNOTSUPP;
	}
	if (!writes || !side_is_known(domain, caps)) {
		verbs_warn("%s: %s has root tables only: entries of format %u, %s", call,
			   domain->context->device->name, caps->format,
			   writes ? "not supported yet (1 is)" : "which software cannot write");
		return EOPNOTSUPP;
	}
	return 0;
}

static void soft_take_side(const struct mlx5dv_dr_domain *domain, struct dr_soft *soft)
{
	const struct dr_caps *caps = &soft->caps;
	const bool is_tx = domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;

	soft->miss = is_tx ? caps->tx_allow : caps->rx_drop;
	soft->drop = is_tx ? caps->tx_drop : caps->rx_drop;
	soft->level = (uint8_t)((is_tx ? caps->tx_levels : caps->rx_levels) - 1);
}

static int soft_begin(struct dr_soft *soft)
{
	int ret;

	soft->pd = ibv_alloc_pd(soft->context);
	if (!soft->pd)
		return errno;
	mlx5_dr_memory_init(&soft->memory, soft->context, soft->pd,
			    MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, DR_POOL_LOG);
	ret = mlx5_dr_ring_open(&soft->anchors.ring, &soft->memory);
	if (!ret) {
		pthread_mutex_init(&soft->anchors.lock, NULL);
		return 0;
	}
	mlx5_dr_memory_destroy(&soft->memory);
	ibv_dealloc_pd(soft->pd);
	return ret;
}

int mlx5_dr_soft_open(const char *call, struct mlx5dv_dr_domain *domain, struct dr_soft **out)
{
	struct dr_caps caps;
	struct dr_soft *soft;
	int ret = mlx5_dr_caps_query(domain->context, &caps);

	if (!ret)
		ret = soft_check(call, domain, &caps);
	if (ret)
		return ret;
	soft = calloc_for(call, 1, sizeof(*soft));
	if (!soft)
		return ENOMEM;
	soft->context = domain->context;
	soft->caps = caps;
	soft_take_side(domain, soft);
	ret = soft_begin(soft);
	if (ret) {
		free(soft);
		return ret;
	}
	*out = soft;
	return 0;
}

/* Syncs first, so that the adapter drops its copies of entries before the kernel gives the memory
 * to others. If the sync fails, frees the memory all the same: the program cannot wait for
 * anything. */
void mlx5_dr_soft_close(struct dr_soft *soft)
{
	mlx5_dr_soft_sync(soft, true);
	for (unsigned int i = 0; i < DR_LANES; i++)
		if (soft->lanes[i]) {
			mlx5_dr_lane_close(soft->lanes[i]);
			free(soft->lanes[i]);
		}
	mlx5_dr_ring_close(&soft->anchors.ring);
	dr_places_free(&soft->starts);
	if (soft->lists)
		mlx5_dr_lists_close(soft->lists);
	mlx5_dr_memory_destroy(&soft->memory);
	ibv_dealloc_pd(soft->pd);
	pthread_mutex_destroy(&soft->anchors.lock);
	free(soft);
}

static int soft_ensure_locked(const char *call, struct mlx5dv_dr_domain *domain)
{
	struct dr_soft *soft;
	int ret;

	if (domain->soft)
		return 0;
	ret = mlx5_dr_soft_open(call, domain, &soft);
	if (!ret)
		__atomic_store_n(&domain->soft, soft, __ATOMIC_RELEASE);
	return ret;
}

int mlx5_dr_soft_ensure(const char *call, struct mlx5dv_dr_domain *domain)
{
	int ret;

	pthread_mutex_lock(&domain->lock);
	ret = soft_ensure_locked(call, domain);
	pthread_mutex_unlock(&domain->lock);
	return ret;
}

static struct dr_lane *lane_open(struct dr_soft *soft)
{
	struct dr_lane *lane = calloc_for("mlx5dv_dr_matcher_create", 1, sizeof(*lane));
	int ret = lane ? mlx5_dr_lane_open(lane, &soft->memory, &soft->anchors) : ENOMEM;

	if (!ret)
		return lane;
	free(lane);
	errno = ret;
	return NULL;
}

/* Returns the number of the lane whose turn it is. Passes over lanes that are lost, unless all
 * are. */
static unsigned int next_lane(struct dr_soft *soft)
{
	unsigned int i = 0;

	for (unsigned int tries = 0; tries < DR_LANES; tries++) {
		i = soft->next_lane++ % DR_LANES;
		if (!soft->lanes[i] || !dr_ring_error(&soft->lanes[i]->ring))
			break;
	}
	return i;
}

struct dr_lane *mlx5_dr_soft_lane(struct dr_soft *soft)
{
	struct dr_lane *lane;
	unsigned int i;

	pthread_mutex_lock(&soft->anchors.lock);
	i = next_lane(soft);
	lane = soft->lanes[i];
	if (!lane) {
		lane = lane_open(soft);
		__atomic_store_n(&soft->lanes[i], lane, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&soft->anchors.lock);
	return lane;
}

void mlx5_dr_soft_free_start(struct dr_soft *soft, uint32_t place)
{
	pthread_mutex_lock(&soft->anchors.lock);
	dr_places_push(&soft->starts, place, 0);
	pthread_mutex_unlock(&soft->anchors.lock);
}

static struct dr_lane *lane_at(struct dr_soft *soft, unsigned int i)
{
	return __atomic_load_n(&soft->lanes[i], __ATOMIC_ACQUIRE);
}

static int lane_drain(struct dr_lane *lane)
{
	int ret;

	pthread_mutex_lock(&lane->lock);
	ret = mlx5_dr_ring_drain(&lane->ring);
	pthread_mutex_unlock(&lane->lock);
	return ret;
}

static int lanes_drain(struct dr_soft *soft)
{
	int ret = 0;

	for (unsigned int i = 0; i < DR_LANES; i++) {
		struct dr_lane *lane = lane_at(soft, i);
		int failed = lane ? lane_drain(lane) : 0;

		ret = ret ? ret : failed;
	}
	return ret;
}

/* Places to be freed after a sync. Entries of any lane may lead to starts and lists. */
struct waiting {
	struct dr_places starts, lists, lanes[DR_LANES];
};

static bool waiting_for_all(const struct waiting *waiting)
{
	return waiting->starts.count || waiting->lists.count;
}

static bool waiting_any(const struct waiting *waiting)
{
	for (unsigned int i = 0; i < DR_LANES; i++)
		if (waiting->lanes[i].count)
			return true;
	return waiting_for_all(waiting);
}

/* Moves the places that wait for a sync from the lanes to WAITING; places freed meanwhile wait for
 * the next sync. Returns an errno if a lane's write has failed: the adapter may still write to the
 * places of that lane, so they are never free, but those of other lanes are. */
static int lanes_take(struct dr_soft *soft, struct waiting *waiting)
{
	int ret = 0, lost;

	for (unsigned int i = 0; i < DR_LANES; i++) {
		struct dr_lane *lane = lane_at(soft, i);

		waiting->lanes[i] = (struct dr_places){ NULL, 0, 0 };
		lost = lane ? mlx5_dr_lane_take_freed(lane, &waiting->lanes[i]) : 0;
		ret = ret ? ret : lost;
	}
	return ret;
}

/* Waits for the anchors' writes. If no lane is lost, moves starts and lists to WAITING, too. */
static int all_take(struct dr_soft *soft, bool is_lost, struct waiting *waiting)
{
	bool taken;
	int ret;

	waiting->starts = waiting->lists = (struct dr_places){ NULL, 0, 0 };
	taken = mutex_enter(&soft->anchors.lock);
	ret = mlx5_dr_ring_drain(&soft->anchors.ring);
	if (!ret && !is_lost) {
		dr_places_move(&waiting->starts, &soft->starts);
		if (soft->lists)
			dr_places_move(&waiting->lists, &soft->lists->freed);
	}
	mutex_leave(&soft->anchors.lock, taken);
	return ret;
}

static void all_return(struct dr_soft *soft, struct waiting *waiting)
{
	pthread_mutex_lock(&soft->anchors.lock);
	dr_places_move(&soft->starts, &waiting->starts);
	if (soft->lists)
		dr_places_move(&soft->lists->freed, &waiting->lists);
	pthread_mutex_unlock(&soft->anchors.lock);
}

static void waiting_return(struct dr_soft *soft, struct waiting *waiting)
{
	for (unsigned int i = 0; i < DR_LANES; i++)
		if (waiting->lanes[i].count)
			mlx5_dr_lane_return(soft->lanes[i], &waiting->lanes[i]);
	all_return(soft, waiting);
}

static void waiting_release(struct dr_soft *soft, struct waiting *waiting)
{
	struct dr_block block;

	for (unsigned int i = 0; i < DR_LANES; i++)
		if (waiting->lanes[i].count)
			mlx5_dr_lane_release(lane_at(soft, i), &waiting->lanes[i]);
	while (dr_places_pop(&waiting->starts, &block))
		mlx5_dr_memory_free(&soft->memory, block.log, block.place);
	while (dr_places_pop(&waiting->lists, &block))
		mlx5_dr_memory_free(&soft->lists->memory, block.log, block.place);
}

static void waiting_free(struct waiting *waiting)
{
	dr_places_free(&waiting->starts);
	dr_places_free(&waiting->lists);
	for (unsigned int i = 0; i < DR_LANES; i++)
		dr_places_free(&waiting->lanes[i]);
}

/* Drains all lanes once more if starts or lists wait, because an entry may lead to a start or list
 * until its lane has written the removal. If a lane is lost, starts and lists go on waiting. */
static int waiting_settle(struct dr_soft *soft, struct waiting *waiting)
{
	int lost = waiting_for_all(waiting) ? lanes_drain(soft) : 0;

	if (lost)
		all_return(soft, waiting);
	return lost;
}

/* Returns whether there are open lanes, and each is lost. */
static bool lanes_are_lost(struct dr_soft *soft)
{
	bool any = false;

	for (unsigned int i = 0; i < DR_LANES; i++) {
		const struct dr_lane *lane = lane_at(soft, i);

		if (lane && !dr_ring_error(&lane->ring))
			return false;
		any |= lane != NULL;
	}
	return any;
}

/* Frees places by one SYNC_STEERING, which is not run without places if ONLY_PLACES, or if each
 * lane is lost: an adapter that is lost would let the caller wait for the answer. A lost lane
 * keeps its places, and all starts and lists; other lanes' places are freed. Lost anchors keep
 * everything, because they may lead to places of any lane. Returns the errno of a lost ring, or of
 * the command. *ANY: something was freed. */
static int hardware_sync(struct dr_soft *soft, bool only_places, bool *any)
{
	struct waiting waiting;
	int lost = lanes_take(soft, &waiting);
	int ret = all_take(soft, lost, &waiting);

	if (!ret && !lost)
		lost = waiting_settle(soft, &waiting);
	*any = waiting_any(&waiting);
	if (!ret && (*any || !(only_places || (lost && lanes_are_lost(soft)))))
		ret = mlx5_dr_steering_sync(soft->context);
	if (*any && ret)
		waiting_return(soft, &waiting);
	else if (*any)
		waiting_release(soft, &waiting);
	waiting_free(&waiting);
	*any = *any && !ret;
	return ret ? ret : lost;
}

bool mlx5_dr_soft_reclaim(struct dr_soft *soft)
{
	bool any;

	hardware_sync(soft, true, &any);
	for (unsigned int i = 0; i < DR_LANES; i++) {
		struct dr_lane *lane = lane_at(soft, i);

		if (!lane)
			continue;
		pthread_mutex_lock(&lane->lock);
		any |= mlx5_dr_lane_reclaim(lane);
		pthread_mutex_unlock(&lane->lock);
	}
	return any;
}

int mlx5_dr_soft_sync(struct dr_soft *soft, bool is_hardware)
{
	bool any;
	int ret, failed;

	if (is_hardware)
		return hardware_sync(soft, false, &any);
	ret = lanes_drain(soft);
	failed = dr_anchors_drain(&soft->anchors);
	return ret ? ret : failed;
}

static int list_add(struct dr_soft *soft, const uint8_t *actions, unsigned int count,
		    struct dr_list *list)
{
	int ret = 0;

	pthread_mutex_lock(&soft->anchors.lock);
	if (!soft->lists)
		ret = mlx5_dr_lists_open(soft->context, soft->pd, &soft->lists);
	if (!ret)
		ret = mlx5_dr_list_create(soft->lists, actions, count, list);
	pthread_mutex_unlock(&soft->anchors.lock);
	return ret;
}

int mlx5_dr_soft_add_list(struct dr_soft *soft, const uint8_t *actions, unsigned int count,
			  struct dr_list *list)
{
	int ret = list_add(soft, actions, count, list);

	if (ret == ENOMEM && mlx5_dr_soft_reclaim(soft))
		ret = list_add(soft, actions, count, list);
	return ret;
}

void mlx5_dr_soft_remove_list(struct dr_soft *soft, const struct dr_list *list)
{
	pthread_mutex_lock(&soft->anchors.lock);
	mlx5_dr_list_destroy(soft->lists, list);
	pthread_mutex_unlock(&soft->anchors.lock);
}
