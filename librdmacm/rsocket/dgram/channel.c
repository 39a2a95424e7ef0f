/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel.c - the rdma_cm channel with a datagram socket's ids.
 *
 * Linux accepts only the credentials that opened the channel. A child of fork(), or a process that
 * has changed its user, gets EACCES, and moves its ids to a new channel.
 */
#include "librdmacm/rsocket/dgram/dgram.h"

#include <string.h>
#include <unistd.h>

/* Moves an id to the new channel; if that fails, the id is lost with the old channel. An id from
 * the parent's channel counts all its reported events as acknowledged, because the parent
 * acknowledges them. Otherwise this process still acknowledges the event that it holds. */
static void id_move(const struct dgram *dgram, struct rdma_cm_id *id,
		    const struct rdma_event_channel *to)
{
	uint32_t reported;

	if (!rdmacm_id_fetch(to_cm_id(id)->number, id->channel->fd, to, &reported) &&
	    dgram->is_channel_of_parent)
		to_cm_id(id)->events_acked = reported;
}

static void ids_move(struct dgram *dgram, const struct rdma_event_channel *to)
{
	struct dgram_link *link;
	struct dgram_peer *peer;

	LIST_FOREACH(link, &dgram->links, entry) {
		if (link->id)
			id_move(dgram, link->id, to);
	}
	TAILQ_FOREACH(peer, &dgram->used_peers, in_used) {
		if (peer->resolver)
			id_move(dgram, peer->resolver, to);
	}
}

/* Renews the channel after a change of user: the kernel serves a channel only to the user that
 * opened it. The new channel keeps the old descriptor number, which the ids know. */
static int channel_renew(struct dgram *dgram)
{
	struct rdma_event_channel *channel;
	int ret = rdmacm_rs_open_channel(&channel);

	if (!ret) {
		ids_move(dgram, channel);
		ret = dup3(channel->fd, dgram->channel->fd, O_CLOEXEC) < 0 ? errno : 0;
	}
	if (channel)
		rdma_destroy_event_channel(channel);
	if (ret && !dgram->pause.until_us) /* log a repeated failure only once */
		verbs_warn("rsocket: socket %d is unusable after a change of user: %s",
			   dgram->rs.fd, strerror(ret));
	if (ret) {
		rs_pause_begin(&dgram->pause);
	} else {
		rs_pause_end(&dgram->pause);
		dgram->is_channel_of_parent = false;
	}
	rs_changed(&dgram->rs); /* threads that poll the old channel must look at the new one */
	return ret;
}

static int renew_for_command(void *dgram, uint32_t refused)
{
	(void)refused;
	return channel_renew(dgram);
}

struct cm_renewal rdmacm_dgram_renewal(struct dgram *dgram)
{
	return (struct cm_renewal){ dgram->channel->fd, renew_for_command, dgram };
}

int rdmacm_dgram_new_id(struct dgram *dgram, void *context, struct rdma_cm_id **id)
{
	int ret = dgram->is_channel_of_parent ? channel_renew(dgram) : 0;

	*id = NULL;
	if (ret)
		return ret;
	return rdma_create_id(dgram->channel, id, context, RDMA_PS_UDP) ? errno : 0;
}

static int read_events(struct dgram *dgram)
{
	struct rdma_cm_event *event;
	bool any = false;

	while (!rdma_get_cm_event(dgram->channel, &event)) {
		rdmacm_dgram_take_event(event);
		any = true;
	}
	return any ? 0 : errno;
}

/* Reads the events of the channel. An event may stay unread if there is no memory for it; the
 * channel is then left out of poll(), which would return at once. */
bool rdmacm_dgram_cm_events(struct dgram *dgram)
{
	int ret = read_events(dgram);

	if (ret == EACCES)
		return !channel_renew(dgram) && !read_events(dgram);
	if (ret && ret != EAGAIN)
		rs_pause_begin(&dgram->pause);
	else
		rs_pause_end(&dgram->pause);
	return !ret;
}

int rdmacm_dgram_channel_fd(const struct dgram *dgram)
{
	return rs_is_paused(&dgram->pause) ? -1 : dgram->channel->fd;
}
