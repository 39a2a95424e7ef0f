/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched.c - commands on scheduling elements, which are general objects, and look-up of the groups
 * that queues name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

CONTEXT_HOLDS(struct sched_element, PRM_SCHED_ELEM_SIZE);

#define CONTEXT(field) FLD_IN(SCHED_ELEM_SCHED_CONTEXT, field)

static const char *element_check_share(const uint8_t *elem)
{
	return fld_get(elem, CONTEXT(SCHED_CONTEXT_BW_SHARE)) > SCHED_MAX_SHARE
		       ? "sched: bw_share is above max_tsar_bw_share"
		       : NULL;
}

/* Takes the selected fields. A selected 0 is valid: no share of its own, or no limit. */
static void element_take(const struct hca *hca, struct sched_element *element, const uint8_t *elem)
{
	uint64_t select = fld_get(elem, SCHED_ELEM_MODIFY_FIELD_SELECT);
	uint32_t share = fld_get(elem, CONTEXT(SCHED_CONTEXT_BW_SHARE));
	uint32_t max = fld_get(elem, CONTEXT(SCHED_CONTEXT_MAX_AVERAGE_BW));

	if (select & PRM_SCHED_MODIFY_BW_SHARE) {
		element->share = share ? share : 1;
		fld_set(element->context, CONTEXT(SCHED_CONTEXT_BW_SHARE), share);
	}
	if (select & PRM_SCHED_MODIFY_MAX_AVERAGE_BW) {
		element->max = max;
		element->paced_until = hca->now;
		fld_set(element->context, CONTEXT(SCHED_CONTEXT_MAX_AVERAGE_BW), max);
	}
}

static const char *element_check(const uint8_t *elem)
{
	uint32_t type = fld_get(elem, CONTEXT(SCHED_CONTEXT_ELEMENT_TYPE));

	if (fld_get(elem, SCHED_ELEM_SCHEDULING_HIERARCHY) != PRM_SCHED_HIERARCHY_NIC)
		return "sched: only the hierarchy of the NIC is there";
	if (type != PRM_SCHED_ELEMENT_TSAR && type != PRM_SCHED_ELEMENT_QUEUE_GROUP)
		return "sched: no such type of element";
	if (type == PRM_SCHED_ELEMENT_TSAR &&
	    fld_get(elem, CONTEXT(SCHED_CONTEXT_TSAR_TYPE)) != PRM_SCHED_TSAR_DWRR)
		return "sched: arbiters are DWRR";
	if (fld_get(elem, SCHED_ELEM_MODIFY_FIELD_SELECT) &
	    ~(uint64_t)(PRM_SCHED_MODIFY_BW_SHARE | PRM_SCHED_MODIFY_MAX_AVERAGE_BW))
		return "sched: unknown modify_field_select";
	return element_check_share(elem);
}

/* Finds the element's parent: a root has none, a group has one, and a group cannot be a parent. */
static const char *element_find_parent(struct hca *hca, const uint8_t *elem,
				       struct sched_element *element)
{
	uint32_t parent = fld_get(elem, CONTEXT(SCHED_CONTEXT_PARENT_ELEMENT_ID));

	element->is_group =
		fld_get(elem, CONTEXT(SCHED_CONTEXT_ELEMENT_TYPE)) == PRM_SCHED_ELEMENT_QUEUE_GROUP;
	if (!parent)
		return element->is_group ? "sched: a group needs a parent" : NULL;
	element->parent = sched_find(hca, parent);
	if (!element->parent || element->parent->is_group)
		return "sched: the parent is no arbiter";
	return sched_depth(element->parent) >= SCHED_DEPTH ? "sched: too deep" : NULL;
}

enum prm_status sched_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *elem = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	const char *why = element_check(elem);
	struct sched_element *element;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	element = calloc(1, sizeof(*element));
	if (!element)
		return cmd_errno(cmd, ENOMEM, "sched");
	why = element_find_parent(hca, elem, element);
	if (why) {
		free(element);
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, why);
	}
	memcpy(element->context, elem, PRM_SCHED_ELEM_SIZE);
	fld_set(element->context, CONTEXT(SCHED_CONTEXT_BW_SHARE), 0);
	fld_set(element->context, CONTEXT(SCHED_CONTEXT_MAX_AVERAGE_BW), 0);
	element->share = 1;
	element_take(hca, element, elem);
	ret = sched_add(hca, element);
	if (ret) {
		free(element);
		return cmd_errno(cmd, ret, "sched: too many elements");
	}
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, element->n);
	return PRM_STAT_OK;
}

static struct sched_element *element_of(struct hca *hca, struct cmd *cmd)
{
	cmd->why = "sched: no such element";
	return sched_find(hca, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));
}

enum prm_status sched_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *elem = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	struct sched_element *element = element_of(hca, cmd);
	const char *why = element_check(elem);

	if (!element)
		return PRM_STAT_BAD_RES_ERR;
	if (!why && element->is_group != (fld_get(elem, CONTEXT(SCHED_CONTEXT_ELEMENT_TYPE)) ==
					  PRM_SCHED_ELEMENT_QUEUE_GROUP))
		why = "sched: an element keeps its type";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	element_take(hca, element, elem);
	return PRM_STAT_OK;
}

enum prm_status sched_query(struct hca *hca, struct cmd *cmd)
{
	struct sched_element *element = element_of(hca, cmd);

	if (!element)
		return PRM_STAT_BAD_RES_ERR;
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, element->n);
	memcpy(fld_at(cmd->out, GENERAL_OBJ_OBJECT), element->context, PRM_SCHED_ELEM_SIZE);
	return PRM_STAT_OK;
}

enum prm_status sched_destroy(struct hca *hca, struct cmd *cmd)
{
	struct sched_element *element = element_of(hca, cmd);

	if (!element)
		return PRM_STAT_BAD_RES_ERR;
	if (element->users)
		return cmd_fail(cmd, PRM_STAT_RES_BUSY, "sched: the element is in use");
	sched_remove(hca, element);
	return PRM_STAT_OK;
}

const char *sched_find_group(const struct hca *hca, uint32_t n, struct sched_element **group)
{
	*group = n ? sched_find(hca, n) : NULL;
	return n && (!*group || !(*group)->is_group) ? "sched: no such group of queues" : NULL;
}
