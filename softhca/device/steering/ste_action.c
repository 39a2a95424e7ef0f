/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_action.c - what an entry does with a frame: it counts the frame, gives it a tag, and changes
 * its headers. PRM: STE actions
 *
 * Others may still read the frame as it was, so changes go to a copy. Consecutive changes of fields
 * share one copy, and the frame is parsed anew after them. Each copy takes a part of the frame's
 * budget.
 */
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/flow/header_place.h"
#include "softhca/device/eth/tunnel.h"
#include "softhca/device/steering/ste.h"
#include "softhca/device/steering/ste_action.h"
#include "softhca/device/steering/ste_field.h"
#include "softhca/device/steering/ste_walk.h"
#include "util/bits.h"

enum { COPY = 64 }; /* steps of the frame's budget that a copy costs */

/* The frame while an entry acts on it */
struct edit {
	struct ste_walk *walk;
	uint8_t *bytes; /* the frame with changed fields; NULL: no field has changed */
	bool in_list;
};

static const char no_memory[] = "no memory for a copy of the frame";

static struct frame *edit_frame(const struct edit *edit)
{
	return &edit->walk->arrival->frame;
}

static uint8_t *copy_add(const struct edit *edit)
{
	ste_walk_spend(edit->walk, COPY);
	return edit->walk->steps ? frame_copy_add(&edit->walk->arrival->copies) : NULL;
}

static bool edit_begin(struct edit *edit)
{
	const struct frame *frame = edit_frame(edit);

	if (edit->bytes)
		return true;
	edit->bytes = copy_add(edit);
	if (edit->bytes)
		memcpy(edit->bytes, frame->bytes, frame->len);
	return edit->bytes != NULL;
}

/* Ends consecutive changes of fields: the copy becomes the frame, and its checksums are adjusted
 * once for all fields. */
static void edit_end(struct edit *edit)
{
	struct frame *frame = edit_frame(edit);

	if (!edit->bytes)
		return;
	frame_keep_sums(edit->bytes, frame);
	frame_parse(frame, edit->bytes, frame->len);
	edit->bytes = NULL;
}

static const char *edit_splice(struct edit *edit, size_t at, size_t size, const uint8_t *data,
			       size_t len)
{
	struct frame *frame = edit_frame(edit);
	size_t rest;
	uint8_t *bytes;

	if (at > frame->len || size > frame->len - at)
		return "removes more than there is";
	rest = frame->len - at - size;
	if (at + len + rest > FABRIC_FRAME_MAX)
		return "makes the frame too long";
	bytes = copy_add(edit);
	if (!bytes)
		return no_memory;
	memcpy(bytes, frame->bytes, at);
	memcpy(bytes + at, data, len);
	memcpy(bytes + at + len, frame->bytes + at + size, rest);
	frame_parse(frame, bytes, at + len + rest);
	return NULL;
}

/* Finds the offset of the header that ANCHOR (PRM_STE_ANCHOR_*) names. Returns false if the frame
 * lacks that header. */
static bool anchor_find(const struct frame *frame, uint64_t anchor, size_t *at)
{
	const struct tunnel tunnel = tunnel_find(frame);

	switch (anchor) {
	case PRM_STE_ANCHOR_START:
		*at = 0;
		return true;
	case PRM_STE_ANCHOR_FIRST_VLAN:
		*at = FLD_BYTE(ETHERNET_TYPE);
		return frame->vlans != 0;
	case PRM_STE_ANCHOR_IP:
		*at = frame_type_at(frame) + sizeof(frame->ethertype);
		return true;
	case PRM_STE_ANCHOR_INNER_MAC:
		*at = tunnel.l2;
		return tunnel.l2 != 0;
	case PRM_STE_ANCHOR_INNER_IP:
		*at = tunnel.l3;
		return tunnel.l3 != 0;
	default:
		return false;
	}
}

typedef const char *action_fn(struct edit *edit, const uint8_t *action);

static const char *act_nothing(struct edit *edit, const uint8_t *action)
{
	(void)edit;
	(void)action;
	return NULL;
}

static const char *act_tag(struct edit *edit, const uint8_t *action)
{
	edit->walk->tag = (uint32_t)fld_get(action, STE_ACTION_FLOW_TAG);
	return NULL;
}

static uint32_t ones(unsigned int count)
{
	return count < 32 ? (1u << count) - 1 : UINT32_MAX;
}

/* Returns the headers and registers that fields are read from and written to. Before the first
 * write there is no copy, so reads use the frame itself. */
static struct header_change edit_change(const struct edit *edit)
{
	const struct frame *frame = edit_frame(edit);

	return (struct header_change){
		.frame = frame,
		.bytes = edit->bytes ? edit->bytes : (uint8_t *)(uintptr_t)frame->bytes,
		.registers = edit->walk->state->registers,
	};
}

static const char *field_check(uint64_t dword, uint64_t shift)
{
	return ste_field_is_known((uint32_t)dword) && shift >= PRM_STE_SHIFT
		       ? NULL
		       : "an action on an unknown field";
}

/* Returns the value that an action gives to the bits of a field. OLD is the bits' present value. */
static uint32_t field_value(const struct header_change *change, const uint8_t *action, uint32_t old)
{
	const uint32_t data = (uint32_t)fld_get(action, STE_FIELD_DATA);

	switch (fld_get(action, STE_ACTION_ID)) {
	case PRM_STE_ACTION_SET:
		return data;
	case PRM_STE_ACTION_ADD:
		return old + data;
	default:
		return ste_field_get(change, (uint32_t)fld_get(action, STE_FIELD_SOURCE_DWORD)) >>
		       (fld_get(action, STE_FIELD_SOURCE_SHIFT) - PRM_STE_SHIFT);
	}
}

static const char *act_field(struct edit *edit, const uint8_t *action)
{
	const uint32_t dword = (uint32_t)fld_get(action, STE_FIELD_DWORD);
	const uint64_t shift = fld_get(action, STE_FIELD_SHIFT);
	const uint32_t bits = ones((unsigned int)fld_get(action, STE_FIELD_LENGTH));
	const char *why = field_check(dword, shift);
	struct header_change change;
	uint32_t old;

	if (!why && fld_get(action, STE_ACTION_ID) == PRM_STE_ACTION_COPY)
		why = field_check(fld_get(action, STE_FIELD_SOURCE_DWORD),
				  fld_get(action, STE_FIELD_SOURCE_SHIFT));
	if (why)
		return why;
	if (ste_field_in_frame(dword) && !edit_begin(edit))
		return no_memory;
	change = edit_change(edit);
	old = ste_field_get(&change, dword) >> (shift - PRM_STE_SHIFT);
	ste_field_set(&change, dword, bits << (shift - PRM_STE_SHIFT),
		      field_value(&change, action, old) << (shift - PRM_STE_SHIFT));
	return NULL;
}

/* Removes bytes at a header. Leaves a frame that lacks the header as it is. */
static const char *act_remove_by_size(struct edit *edit, const uint8_t *action)
{
	const size_t offset = PRM_STE_WORD * fld_get(action, STE_REMOVE_OFFSET);
	const size_t size = PRM_STE_WORD * fld_get(action, STE_REMOVE_SIZE);
	size_t at;

	edit_end(edit);
	if (!anchor_find(edit_frame(edit), fld_get(action, STE_HEADER_START), &at))
		return NULL;
	return edit_splice(edit, at + offset, size, action, 0);
}

static const char *act_remove_to_header(struct edit *edit, const uint8_t *action)
{
	size_t from, to;

	edit_end(edit);
	if (!anchor_find(edit_frame(edit), fld_get(action, STE_HEADER_START), &from) ||
	    !anchor_find(edit_frame(edit), fld_get(action, STE_REMOVE_END), &to) || to < from)
		return "removes up to a header that the frame lacks";
	return edit_splice(edit, from, to - from, action, 0);
}

static const char *act_insert(struct edit *edit, const uint8_t *action, const uint8_t *data,
			      size_t size)
{
	const size_t offset = PRM_STE_WORD * fld_get(action, STE_INSERT_OFFSET);
	size_t at;

	edit_end(edit);
	if (!anchor_find(edit_frame(edit), fld_get(action, STE_HEADER_START), &at))
		return "inserts at a header that the frame lacks";
	return edit_splice(edit, at + offset, 0, data, size);
}

static const char *act_insert_inline(struct edit *edit, const uint8_t *action)
{
	return act_insert(edit, action, action + FLD_BYTE(STE_INSERT_INLINE_DATA), 4);
}

/* Inserts the headers of a packet reformat object. Software leaves the lengths in a tunnel's
 * headers open, so this fills in the lengths that fit the frame. */
static const char *act_insert_pointer(struct edit *edit, const uint8_t *action)
{
	const struct packet_reformat *reformat =
		res_get(&edit->walk->hca->eth->packet_reformats,
			(uint32_t)fld_get(action, STE_INSERT_POINTER_ID));
	const uint64_t attributes = fld_get(action, STE_INSERT_ATTRIBUTES);
	struct frame *frame = edit_frame(edit);
	const char *why;

	if (!reformat || reformat->type == PRM_REFORMAT_L3_TUNNEL_TO_L2)
		return "inserts headers that are not there";
	if (PRM_STE_WORD * fld_get(action, STE_INSERT_SIZE) != reformat->size ||
	    attributes > PRM_STE_INSERT_TUNNEL)
		return "inserts headers of another size or kind";
	why = act_insert(edit, action, reformat->data, reformat->size);
	if (!why && attributes == PRM_STE_INSERT_TUNNEL) {
		packet_reformat_complete(reformat, (uint8_t *)(uintptr_t)frame->bytes, frame->len);
		frame_parse(frame, frame->bytes, frame->len);
	}
	return why;
}

/* Gives the value of a flow's object to a register C. A first hit gives the value before the
 * frame, so that entries which follow can tell the first frame from others. */
static const char *act_aso(struct edit *edit, const uint8_t *action)
{
	struct aso *aso =
		res_get(&edit->walk->hca->eth->asos, (uint32_t)fld_get(action, STE_ASO_OBJECT));
	const unsigned int reg = 2 * (unsigned int)fld_get(action, STE_ASO_REGISTER) + 1;

	if (fld_get(action, STE_ASO_TYPE) != PRM_STE_ASO_FIRST_HIT)
		return "an unknown type of ASO";
	if (!aso || aso->kind != ASO_OF_FIRST_HITS)
		return "an ASO object that is not there";
	fld_set(edit->walk->state->registers, FLOW_REGISTER_C(reg),
		aso_hit(aso, (unsigned int)fld_get(action, STE_ASO_FIRST_HIT_LINE),
			!fld_get(action, STE_ASO_FIRST_HIT_KEEP)));
	return NULL;
}

static const char *actions_run(struct edit *edit, const uint8_t *action, unsigned int words);

/* Executes a list of actions. Reads them one by one, as the list may cross pages and
 * ste_memory_read() may not. */
static const char *act_list(struct edit *edit, const uint8_t *action)
{
	const uint64_t count = fld_get(action, STE_LIST_COUNT);
	uint64_t addr = STE_MEMORY_CHANGE + fld_get(action, STE_LIST_POINTER) * PRM_STE_LIST_UNIT;
	uint8_t bytes[PRM_STE_LIST_ACTION];
	const char *why = NULL;

	if (edit->in_list)
		return "a list in a list";
	edit->in_list = true;
	for (uint64_t i = 0; !why && i < count; i++, addr += sizeof(bytes)) {
		if (!ste_memory_read(edit->walk->hca, addr, bytes, sizeof(bytes)))
			return "a list that is not in the memory for lists";
		ste_walk_spend(edit->walk, 1);
		why = actions_run(edit, bytes, PRM_STE_LIST_ACTION / 4);
	}
	edit->in_list = false;
	return why;
}

static const struct action {
	uint8_t words; /* 0: unknown */
	action_fn *run;
} actions[] = {
	[PRM_STE_ACTION_NOP] = { 1, act_nothing },
	[PRM_STE_ACTION_COPY] = { 2, act_field },
	[PRM_STE_ACTION_SET] = { 2, act_field },
	[PRM_STE_ACTION_ADD] = { 2, act_field },
	[PRM_STE_ACTION_REMOVE_BY_SIZE] = { 1, act_remove_by_size },
	[PRM_STE_ACTION_REMOVE_TO_HEADER] = { 1, act_remove_to_header },
	[PRM_STE_ACTION_INSERT_INLINE] = { 2, act_insert_inline },
	[PRM_STE_ACTION_INSERT_POINTER] = { 2, act_insert_pointer },
	[PRM_STE_ACTION_FLOW_TAG] = { 1, act_tag },
	[PRM_STE_ACTION_LIST] = { 1, act_list },
	[PRM_STE_ACTION_ASO] = { 2, act_aso },
};

static const char *actions_run(struct edit *edit, const uint8_t *action, unsigned int words)
{
	const char *why = NULL;

	while (!why && words) {
		const uint64_t id = fld_get(action, STE_ACTION_ID);
		const struct action *known = id < ARRAY_SIZE(actions) ? &actions[id] : NULL;

		if (!known || !known->words)
			return "an unknown action";
		if (known->words > words)
			return "an action that is cut off";
		why = known->run(edit, action);
		action += 4 * (size_t)known->words;
		words -= known->words;
	}
	return why;
}

static void frame_count(const struct ste_walk *walk, uint32_t number)
{
	struct flow_counter *counter = res_get(&walk->hca->eth->flow_counters, number);

	if (!counter)
		return;
	counter->packets++;
	counter->bytes += walk->arrival->frame.len;
}

const char *ste_act(struct ste_walk *walk, const uint8_t *entry)
{
	struct edit edit = { .walk = walk };
	unsigned int words;
	const uint8_t *action = ste_actions(entry, &words);
	const char *why;

	if (fld_get(entry, STE_COUNTER_ID))
		frame_count(walk, (uint32_t)fld_get(entry, STE_COUNTER_ID));
	why = actions_run(&edit, action, words);
	edit_end(&edit);
	if (!why && walk->arrival->frame.len < ETHERNET_SIZE)
		why = "leaves no Ethernet header";
	return why;
}
