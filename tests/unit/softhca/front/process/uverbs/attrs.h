/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attrs.h - attributes of the rig's call, for tests of methods that look at an attribute itself.
 * Each test includes it once.
 */
#ifndef TESTS_UNIT_SOFTHCA_FRONT_PROCESS_UVERBS_ATTRS_H
#define TESTS_UNIT_SOFTHCA_FRONT_PROCESS_UVERBS_ATTRS_H

#include <string.h>

#include "rig.h"

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	for (unsigned int i = 0; i < RIG_ATTRS; i++) {
		if (!rig.in[i].is_set || rig.in[i].id != id)
			continue;
		memcpy(&uc->attr[i].data, rig.in[i].bytes, sizeof(uc->attr[i].data));
		return &uc->attr[i];
	}
	return NULL;
}

/* Takes an attribute away, so that the next call lacks it. */
static inline void rig_without(uint16_t id)
{
	for (unsigned int i = 0; i < RIG_ATTRS; i++)
		if (rig.in[i].id == id)
			rig.in[i] = (struct rig_attr){ 0 };
}

#endif
