/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched.c - decides which scheduling groups may send. See sched.h. Decision: docs/adr/0036.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/core.h"

enum {
	TAG_UNITS = 1 << 16, /* tag units of a byte: fractions, as tags are divided by shares */
	BYTE_NS = 8 * 1000,  /* time of a byte at 1 Mbit/s */
	/* how far a maximum's clock may lag behind now: an idle group saves up no more than this */
	LAG_NS = 10 * NS_PER_MS,
	PACKET_OVERHEAD_BYTES = 64, /* headers and gaps, charged for each message */
};

int sched_add(struct hca *hca, struct sched_element *element)
{
	int ret = res_add(&hca->scheds, element, &element->n);

	if (ret)
		return ret;
	element->paced_until = hca->now;
	LIST_INIT(&element->children);
	LIST_INIT(&element->queues);
	if (!element->parent)
		return 0;
	element->tag = element->parent->passed;
	element->parent->users++;
	LIST_INSERT_HEAD(&element->parent->children, element, in_parent);
	return 0;
}

void sched_remove(struct hca *hca, struct sched_element *element)
{
	if (element->parent) {
		LIST_REMOVE(element, in_parent);
		element->parent->users--;
	}
	res_remove(&hca->scheds, element->n);
	free(element);
}

struct sched_element *sched_find(const struct hca *hca, uint32_t n)
{
	return res_find(&hca->scheds, n);
}

unsigned int sched_depth(const struct sched_element *element)
{
	unsigned int depth = 0;

	for (; element; element = element->parent)
		depth++;
	return depth;
}

void sched_join(struct hca *hca, struct sched_queue *queue, struct sched_element *group)
{
	bool waited = queue->waits;

	if (queue->group == group)
		return;
	sched_rests(queue);
	if (queue->group) {
		LIST_REMOVE(queue, in_group);
		queue->group->users--;
	}
	queue->group = group;
	if (group) {
		LIST_INSERT_HEAD(&group->queues, queue, in_group);
		group->users++;
	}
	if (waited)
		queue->wake(hca, queue);
}

static bool element_is_paced(const struct hca *hca, const struct sched_element *element)
{
	return element->max && element->paced_until > hca->now;
}

/* Returns whether a queue below ELEMENT has something to send and no maximum below ELEMENT holds it
 * back; only such elements share the bandwidth. */
static bool element_competes(const struct hca *hca, const struct sched_element *element)
{
	const struct sched_element *child;
	const struct sched_queue *queue;

	if (element_is_paced(hca, element))
		return false;
	LIST_FOREACH(queue, &element->queues, in_group)
		if (queue->backlogged)
			return true;
	LIST_FOREACH(child, &element->children, in_parent)
		if (element_competes(hca, child))
			return true;
	return false;
}

static uint64_t start_tag(const struct sched_element *element)
{
	const struct sched_element *parent = element->parent;

	return element->tag > parent->passed ? element->tag : parent->passed;
}

static bool element_is_first(const struct hca *hca, const struct sched_element *element)
{
	const struct sched_element *other;

	LIST_FOREACH(other, &element->parent->children, in_parent)
		if (other != element && start_tag(other) < start_tag(element) &&
		    element_competes(hca, other))
			return false;
	return true;
}

static bool group_may_send(const struct hca *hca, const struct sched_element *group)
{
	for (; group; group = group->parent)
		if (element_is_paced(hca, group) ||
		    (group->parent && !element_is_first(hca, group)))
			return false;
	return true;
}

bool sched_waits(struct hca *hca, struct sched_queue *queue)
{
	if (!queue->group)
		return false;
	queue->backlogged = true;
	queue->waits = !group_may_send(hca, queue->group);
	return queue->waits;
}

void sched_rests(struct sched_queue *queue)
{
	queue->backlogged = false;
	queue->waits = false;
}

static void element_pace(const struct hca *hca, struct sched_element *element, uint64_t bytes)
{
	if (!element->max)
		return;
	if (element->paced_until + LAG_NS < hca->now)
		element->paced_until = hca->now - LAG_NS;
	element->paced_until += bytes * BYTE_NS / element->max;
}

/* Subtracts parent->passed from all tags before their 64 bits overflow, as only the differences
 * count. */
static void tags_rebase(struct sched_element *parent)
{
	struct sched_element *child;

	LIST_FOREACH(child, &parent->children, in_parent)
		child->tag = start_tag(child) - parent->passed;
	parent->passed = 0;
}

static void element_tag(struct sched_element *element, uint64_t bytes)
{
	uint64_t start;

	if (!element->parent)
		return;
	if (element->parent->passed > UINT64_MAX / 2)
		tags_rebase(element->parent);
	start = start_tag(element);
	element->parent->passed = start;
	element->tag = start + bytes * TAG_UNITS / element->share;
}

void sched_sent(struct hca *hca, struct sched_element *group, uint64_t bytes)
{
	bytes += PACKET_OVERHEAD_BYTES;
	for (; group; group = group->parent) {
		element_pace(hca, group, bytes);
		element_tag(group, bytes);
	}
}

static bool group_wake(struct hca *hca, struct sched_element *group)
{
	struct sched_queue *queue;
	bool woken = false;

	LIST_FOREACH(queue, &group->queues, in_group) {
		if (!queue->waits || !group_may_send(hca, group))
			continue;
		queue->waits = false;
		queue->wake(hca, queue);
		woken = true;
	}
	return woken;
}

static uint64_t element_due(const struct hca *hca, const struct sched_element *element)
{
	return element_is_paced(hca, element) ? element->paced_until : HCA_IDLE;
}

uint64_t sched_run(struct hca *hca)
{
	struct sched_element *element;
	uint64_t due, first = HCA_IDLE;
	bool woken = false;

	if (!hca->scheds.used)
		return HCA_IDLE;
	for (uint32_t i = 0; (element = res_next(&hca->scheds, &i)) != NULL;) {
		if (element->is_group && group_wake(hca, element))
			woken = true;
		due = element_due(hca, element);
		first = due < first ? due : first;
	}
	return woken ? 0 : first;
}
