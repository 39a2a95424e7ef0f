/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * match.c - makes the steps of a mask, and the tags of values. See match.h.
 *
 * Each lookup type takes the fields that it describes out of the mask. What no type has taken is
 * refused.
 */
#include "providers/mlx5/dv/dr/match.h"

#include <errno.h>

#include "providers/mlx5/dv/dr/builder.h"
#include "util/log.h"

static uint32_t l3_type(uint32_t version)
{
	if (version == 4)
		return PRM_STE_L3_IPV4;
	return version == 6 ? PRM_STE_L3_IPV6 : 0;
}

static void field_put(const struct dr_field *field, const void *value, uint8_t *tag)
{
	const uint32_t bits = (uint32_t)fld_get(value, field->from);

	if (!bits)
		return;
	switch (field->kind) {
	case DR_FIELD_COPY:
		fld_set(tag, field->to, bits);
		break;
	case DR_FIELD_IP_VERSION:
		fld_set(tag, field->to, l3_type(bits));
		break;
	case DR_FIELD_CVLAN:
		fld_set(tag, field->to, PRM_STE_VLAN_C);
		break;
	case DR_FIELD_SVLAN:
		fld_set(tag, field->to, PRM_STE_VLAN_S);
		break;
	}
}

static void field_put_mask(const struct dr_field *field, const void *mask, uint8_t *tag)
{
	if (field->kind == DR_FIELD_COPY)
		fld_set(tag, field->to, fld_get(tag, field->to) | fld_get(mask, field->from));
	else
		fld_set(tag, field->to, FLD_MASK(field->to));
}

void mlx5_dr_match_tag(const struct dr_step *step, const void *value, uint8_t *tag)
{
	memset(tag, 0, PRM_STE_TAG_SIZE);
	for (unsigned int i = 0; i < step->count; i++)
		field_put(&step->fields[i], value, tag);
}

static bool mask_has(const uint8_t *left, uint32_t headers, uint32_t field)
{
	return fld_get(left, FLD_IN(headers, field));
}

static bool has_smac(const uint8_t *left, uint32_t headers)
{
	return mask_has(left, headers, LYR_2_4_SMAC_47_16) ||
	       mask_has(left, headers, LYR_2_4_SMAC_15_0);
}

static bool has_dmac(const uint8_t *left, uint32_t headers)
{
	return mask_has(left, headers, LYR_2_4_DMAC_47_16) ||
	       mask_has(left, headers, LYR_2_4_DMAC_15_0);
}

static bool builder_fits(const struct dr_builder *builder, const uint8_t *left, const uint8_t *mask)
{
	if (builder->version && mask_has(mask, builder->headers, LYR_2_4_IP_VERSION) &&
	    fld_get(mask, FLD_IN(builder->headers, LYR_2_4_IP_VERSION)) != builder->version)
		return false;
	if (builder->version && !mask_has(mask, builder->headers, LYR_2_4_IP_VERSION))
		return false;
	switch (builder->need) {
	case DR_NEED_SMAC:
		return has_smac(left, builder->headers);
	case DR_NEED_BOTH_MACS:
		return has_smac(left, builder->headers) && has_dmac(left, builder->headers);
	case DR_NEED_VNI:
		return fld_get(left, FLD_IN(MATCH_MISC_PARAMETERS, MISC_VXLAN_VNI));
	default:
		return true;
	}
}

static uint16_t byte_mask_of(const uint8_t *mask)
{
	uint16_t bytes = 0;

	for (unsigned int i = 0; i < PRM_STE_TAG_SIZE; i++)
		bytes = (uint16_t)(bytes << 1 | (mask[i] == 0xff));
	return bytes;
}

static void step_add(struct dr_match *match, uint16_t type)
{
	struct dr_step *step = &match->steps[match->num_steps++];

	memset(step, 0, sizeof(*step));
	step->lookup.type = type;
	step->fields = &match->fields[match->num_fields];
}

/* Moves the builder's fields from LEFT to a new step. Adds no step if LEFT has none of them. */
static void builder_take(const struct dr_builder *builder, uint8_t *left, struct dr_match *match)
{
	struct dr_step *step = &match->steps[match->num_steps];
	bool is_first = true;

	for (size_t i = 0; i < builder->count; i++) {
		const struct dr_field *field = &builder->fields[i];

		if (!fld_get(left, field->from))
			continue;
		if (is_first)
			step_add(match, builder->type);
		is_first = false;
		field_put_mask(field, left, step->mask);
		match->fields[match->num_fields++] = *field;
		step->count++;
		fld_set(left, field->from, 0);
	}
	if (!is_first)
		step->lookup.byte_mask = byte_mask_of(step->mask);
}

static int version_check(const char *call, const uint8_t *mask, uint32_t headers)
{
	const unsigned int version =
		(unsigned int)fld_get(mask, FLD_IN(headers, LYR_2_4_IP_VERSION));

	if (!version || version == 4 || version == 6)
		return 0;
	verbs_warn("%s: ip_version is %#x in the mask: below root tables it is 4 or 6, the version "
		   "itself",
		   call, version);
	return EOPNOTSUPP;
}

/* Logs why byte AT of the mask cannot be matched. Returns EINVAL if only the IP version is missing,
 * which fields above Ethernet need, else EOPNOTSUPP. */
static int left_explain(const char *call, const uint8_t *mask, const uint8_t *left, size_t at)
{
	const size_t set = at / PRM_MATCH_SET_SIZE;
	const uint32_t headers = set ? MATCH_INNER_HEADERS : MATCH_OUTER_HEADERS;
	const bool is_headers = !set || set == FLD_BYTE(MATCH_INNER_HEADERS) / PRM_MATCH_SET_SIZE;
	const bool needs_version = is_headers && !mask_has(mask, headers, LYR_2_4_IP_VERSION) &&
				   !mask_has(mask, headers, LYR_2_4_ETHERTYPE);

	verbs_warn("%s: byte %zu of the mask is %#x: %s", call, at, left[at],
		   needs_version ? "this field needs ip_version" : "no entry describes this field");
	return needs_version ? EINVAL : EOPNOTSUPP;
}

static int left_check(const char *call, const uint8_t *mask, const uint8_t *left)
{
	for (size_t i = 0; i < DR_MATCH_SIZE; i++)
		if (left[i])
			return left_explain(call, mask, left, i);
	return 0;
}

static int args_check(const char *call, size_t size, uint8_t criteria)
{
	if (size <= DR_MATCH_SIZE && !(criteria >> PRM_MATCH_SETS))
		return 0;
	verbs_warn("%s: match_sz is %zu, criteria %#x: at most %d bytes of %d sets", call, size,
		   criteria, DR_MATCH_SIZE, PRM_MATCH_SETS);
	return EINVAL;
}

static void mask_take(const void *mask, size_t size, uint8_t criteria, struct dr_match *match)
{
	memset(match->mask, 0, sizeof(match->mask));
	memcpy(match->mask, mask, size);
	for (unsigned int set = 0; set < PRM_MATCH_SETS; set++)
		if (!(criteria >> set & 1))
			memset(match->mask + (size_t)set * PRM_MATCH_SET_SIZE, 0,
			       PRM_MATCH_SET_SIZE);
}

static size_t used_size(const uint8_t *mask)
{
	size_t size = DR_MATCH_SIZE;

	while (size && !mask[size - 1])
		size--;
	return (size + 3) / 4 * 4;
}

int mlx5_dr_match_plan(const char *call, const void *mask, size_t size, uint8_t criteria,
		       struct dr_match *match)
{
	uint8_t left[DR_MATCH_SIZE];
	int ret = args_check(call, size, criteria);

	if (ret)
		return ret;
	mask_take(mask, size, criteria, match);
	match->size = used_size(match->mask);
	ret = version_check(call, match->mask, MATCH_OUTER_HEADERS);
	if (!ret)
		ret = version_check(call, match->mask, MATCH_INNER_HEADERS);
	if (ret)
		return ret;
	memcpy(left, match->mask, sizeof(left));
	match->num_steps = match->num_fields = 0;
	for (size_t i = 0; i < mlx5_dr_num_builders; i++)
		if (builder_fits(&mlx5_dr_builders[i], left, match->mask))
			builder_take(&mlx5_dr_builders[i], left, match);
	if (!match->num_steps) /* all frames: one entry must be there for them to hit */
		step_add(match, PRM_STE_NOTHING);
	return left_check(call, match->mask, left);
}

/* Returns whether VALUE has the mask's IP version, or 0 for frames without IP. Comparing bits alone
 * would accept the versions 2 and 4 for a mask of 6. */
static bool version_fits(const struct dr_match *match, const void *value, size_t size,
			 uint32_t headers)
{
	const uint32_t field = FLD_IN(headers, LYR_2_4_IP_VERSION);

	return size < FLD_DWORD(field) * sizeof(uint32_t) + sizeof(uint32_t) ||
	       !fld_get(value, field) || fld_get(value, field) == fld_get(match->mask, field);
}

int mlx5_dr_match_check(const struct dr_match *match, const void *value, size_t size)
{
	const uint8_t *bytes = value;
	size_t i = 0;

	for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		uint64_t has, may;

		memcpy(&has, bytes + i, sizeof(has));
		memcpy(&may, match->mask + i, sizeof(may));
		if (has & ~may)
			return EINVAL;
	}
	for (; i < size; i++)
		if (bytes[i] & ~match->mask[i])
			return EINVAL;
	return version_fits(match, value, size, MATCH_OUTER_HEADERS) &&
			       version_fits(match, value, size, MATCH_INNER_HEADERS)
		       ? 0
		       : EINVAL;
}
