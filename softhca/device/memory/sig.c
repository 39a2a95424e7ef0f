/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig.c - computes and checks the signatures of blocks. See sig.h.
 *
 * Positions are offsets in the data without signatures, as memory and wire share these. A message
 * is processed from the start of the block that it begins in, since a guard covers the whole block;
 * the block's earlier bytes are read back from memory. PRM: Signature, BSF
 */
#include "softhca/device/memory/sig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/memory/psv.h"
#include "util/bits.h"

static uint32_t sig_bytes(const struct sig_domain *domain)
{
	switch (domain->guard) {
	case GUARD_NONE:
		return 0;
	case GUARD_CRC32:
	case GUARD_CRC32C:
		return 4;
	default:
		return 8;
	}
}

static uint32_t signed_block_size(const struct sig_domain *domain)
{
	return domain->block + sig_bytes(domain);
}

static uint64_t place_of(const struct sig_domain *domain, uint64_t data)
{
	if (!domain->guard)
		return data;
	return data / domain->block * signed_block_size(domain) + data % domain->block;
}

/* Converts a place on one side, counted with signatures, to an offset in the data without
 * signatures. A place within a signature becomes the end of the signature's block. */
static uint64_t data_at(const struct sig_domain *domain, uint64_t place)
{
	if (!domain->guard)
		return place;
	return place / signed_block_size(domain) * domain->block +
	       min_of(place % signed_block_size(domain), (uint64_t)domain->block);
}

/* Returns how many bytes of the signature that contains PLACE are before PLACE. */
static uint32_t sig_before(const struct sig_domain *domain, uint64_t place)
{
	uint64_t inside = domain->guard ? place % signed_block_size(domain) : 0;

	return inside > domain->block ? (uint32_t)(inside - domain->block) : 0;
}

static bool is_in_signature(const struct sig_domain *domain, uint64_t place)
{
	return domain->guard && place % signed_block_size(domain) >= domain->block;
}

static uint64_t block_start(const struct sig_domain *domain, uint64_t data)
{
	return domain->guard ? data - data % domain->block : data;
}

static uint64_t to_block_end(const struct sig_domain *domain, uint64_t data)
{
	return domain->guard ? domain->block - data % domain->block : UINT64_MAX;
}

/* Returns the length of the key's data without signatures. A last block without its complete
 * signature does not count, as it could not be checked. */
static uint64_t data_length(const struct mkey *mkey)
{
	const struct sig_domain *mem = &mkey->sig.mem;

	if (is_in_signature(mem, mkey->len))
		return mkey->len / signed_block_size(mem) * mem->block;
	return data_at(mem, mkey->len);
}

uint64_t sig_wire_length(const struct mkey *mkey)
{
	return place_of(&mkey->sig.wire, data_length(mkey));
}

/* The data that a message covers: processing begins at WALK, the message at FROM; both end at TO.
 * SIG_HAD: if the message begins within a signature, how many bytes of that came earlier. */
struct span {
	uint64_t walk, from, to;
	uint32_t sig_had;
};

static struct span span_of(const struct sig *sig, uint64_t wire, uint64_t len)
{
	struct span span = {
		.from = data_at(&sig->wire, wire),
		.to = data_at(&sig->wire, wire + len),
		.sig_had = sig_before(&sig->wire, wire),
	};
	uint64_t inside = is_in_signature(&sig->wire, wire)
				  ? span.from - 1
				  : span.from; /* the block that the signature belongs to */

	span.walk = min_of(block_start(&sig->wire, inside), block_start(&sig->mem, inside));
	return span;
}

void sig_memory(const struct mkey *mkey, uint64_t wire, uint64_t len, uint64_t *start,
		uint64_t *end)
{
	const struct sig *sig = &mkey->sig;
	struct span span = span_of(sig, wire, len);

	*start = place_of(&sig->mem, span.walk);
	*end = place_of(&sig->mem, span.to);
}

struct lane {
	const struct sig_domain *domain;
	struct psv *psv;
	bool on_wire;
	bool whole; /* processed from the block's start, so its guard is known */
	uint64_t state;
};

static uint64_t guard_start(const struct lane *lane)
{
	switch (lane->domain->guard) {
	case GUARD_CRC64:
		return lane->psv->start;
	case GUARD_CRC32:
	case GUARD_CRC32C:
		return lane->psv->start >> 32;
	default:
		return lane->psv->start >> 48;
	}
}

/* Reports if the key's BSF and its PSV have different start values. Separate work requests set
 * these. */
static void check_start(struct hca *hca, const struct lane *lane)
{
	if (lane->psv->start != lane->domain->start)
		strict_report(hca->config.strict, hca->config.trace, "psv.start",
			      "PSV 0x%06x starts from 0x%016llx, and the key's format for the %s "
			      "from 0x%016llx",
			      lane->psv->n, (unsigned long long)lane->psv->start,
			      lane->on_wire ? "wire" : "memory",
			      (unsigned long long)lane->domain->start);
}

static int lane_open(struct hca *hca, const struct pd *pd, const struct sig_domain *domain,
		     bool on_wire, uint64_t walk, struct lane *lane)
{
	*lane = (struct lane){ .domain = domain, .on_wire = on_wire };
	if (!domain->guard)
		return 0;
	lane->psv = res_get(&hca->psvs, domain->psv);
	if (!lane->psv || !lane->psv->set || lane->psv->pd != pd)
		return EFAULT;
	check_start(hca, lane);
	lane->whole = walk % domain->block == 0;
	lane->state = guard_start(lane);
	return 0;
}

static void lane_add(struct lane *lane, const uint8_t *bytes, size_t len, uint64_t data)
{
	if (lane->domain->guard)
		lane->state = guard_add(lane->domain->guard, lane->state, bytes, len,
					data % lane->domain->block);
}

static bool is_dif(enum guard guard)
{
	return guard == GUARD_DIF_CRC || guard == GUARD_DIF_CSUM;
}

/* Returns the signature of the block that ends at DATA, first byte highest. */
static uint64_t lane_signature(const struct lane *lane, uint64_t data)
{
	const struct sig_domain *domain = lane->domain;
	uint64_t guard = guard_finish(domain->guard, lane->state);
	uint32_t ref = (uint32_t)lane->psv->start;

	if (domain->guard == GUARD_CRC64)
		return guard;
	if (!is_dif(domain->guard))
		return guard << 32;
	if (domain->ref_counts)
		ref += (uint32_t)(data / domain->block - 1);
	return guard << 48 | (lane->psv->start & 0xffff00000000) | ref;
}

static void lane_next_block(struct lane *lane)
{
	lane->whole = true;
	lane->state = guard_start(lane);
}

static uint64_t mask_of(uint8_t bytes)
{
	uint64_t mask = 0;

	for (int i = 0; i < 8; i++)
		if (bytes >> i & 1)
			mask |= UINT64_C(0xff) << 8 * i;
	return mask;
}

static bool is_escaped(const struct sig_domain *domain, uint64_t signature)
{
	bool app = (signature >> 32 & 0xffff) == 0xffff, ref = (uint32_t)signature == 0xffffffff;

	return is_dif(domain->guard) &&
	       ((domain->escape_app && app) || (domain->escape_app_ref && app && ref));
}

/* The adapter expects what the block's signature says, although the data may be right. */
static void note_error(struct hca *hca, struct mkey *mkey, const struct lane *lane,
		       uint64_t expected, uint64_t actual, uint64_t differ, uint64_t data)
{
	static const struct {
		int kind;
		int shift;
		uint64_t mask;
	} parts[] = {
		{ SIG_BAD_GUARD, 48, 0xffff },
		{ SIG_BAD_APP, 32, 0xffff },
		{ SIG_BAD_REF, 0, 0xffffffff },
	};
	const struct sig_domain *domain = lane->domain;
	struct sig_error *error = &mkey->sig_state.error;
	size_t i = 0;

	lane->psv->failed = true;
	if (mkey->sig_count.happened == mkey->sig_count.expected)
		return;
	mkey->sig_count.happened = mkey->sig_count.expected;
	*error = (struct sig_error){ .on_wire = lane->on_wire,
				     .guard = domain->guard,
				     .offset = (data / domain->block - 1) *
					       signed_block_size(domain) };
	if (!mkey->sig_state.unreported)
		LIST_INSERT_HEAD(&hca->sig_failed, mkey, in_sig_failed);
	mkey->sig_state.unreported = true;
	if (is_dif(domain->guard)) {
		while (!(differ >> parts[i].shift & parts[i].mask))
			i++;
		error->kind = parts[i].kind;
		error->expected = expected >> parts[i].shift & parts[i].mask;
		error->actual = actual >> parts[i].shift & parts[i].mask;
		return;
	}
	error->kind = SIG_BAD_GUARD;
	error->expected = domain->guard == GUARD_CRC64 ? expected : expected >> 32;
	error->actual = domain->guard == GUARD_CRC64 ? actual : actual >> 32;
}

/* Checks CAME, the signature of the block that ends at DATA. After an error nothing is checked
 * until software sets the PSV again. */
static void lane_check(struct hca *hca, struct mkey *mkey, struct lane *lane, uint64_t came,
		       uint64_t data)
{
	uint64_t mask = mask_of(mkey->sig.check), computed = lane_signature(lane, data);
	uint64_t differ = (came ^ computed) & mask;

	if (is_dif(lane->domain->guard))
		differ &= ~((uint64_t)(uint16_t)~lane->domain->app_mask << 32);
	if (!lane->whole || lane->psv->failed || is_escaped(lane->domain, came))
		return;
	if (sig_bytes(lane->domain) < SIG_BYTES_MAX)
		differ &= UINT64_C(0xffffffff) << 32;
	if (differ)
		note_error(hca, mkey, lane, came, computed, differ, data);
}

static uint64_t take_bytes(const uint8_t *bytes, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << (56 - 8 * i);
	return value;
}

static void put_bytes(uint8_t *bytes, uint64_t value, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		bytes[i - from] = (uint8_t)(value >> (56 - 8 * i));
}

/* Returns the signature to send. Bytes that sig.copy selects are copied from CAME, the other side's
 * signature; the others are computed. */
static uint64_t signature_outgoing(const struct mkey *mkey, const struct lane *lane, uint64_t data,
				   uint64_t came)
{
	uint64_t copy = mask_of(mkey->sig.copy);

	return (lane_signature(lane, data) & ~copy) | (came & copy);
}

static bool is_damaged(struct hca *hca, const struct mkey *mkey, uint64_t len, uint64_t *bit)
{
	return mkey->sig.on && len && fault_flip(hca->config.fault, len * 8, bit);
}

static void bit_flip(uint8_t *bytes, uint64_t bit)
{
	bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static void bytes_damage(struct hca *hca, const struct mkey *mkey, uint8_t *bytes, uint64_t len)
{
	uint64_t bit;

	if (is_damaged(hca, mkey, len, &bit))
		bit_flip(bytes, bit);
}

struct walk {
	struct hca *hca;
	struct mkey *mkey;
	struct lane mem, wire;
	uint64_t data, to;
	uint64_t came;
};

static int walk_open(struct hca *hca, struct mkey *mkey, const struct span *span, struct walk *walk)
{
	int ret;

	*walk = (struct walk){ .hca = hca, .mkey = mkey, .data = span->walk, .to = span->to };
	ret = lane_open(hca, mkey->pd, &mkey->sig.mem, false, span->walk, &walk->mem);
	return ret ? ret : lane_open(hca, mkey->pd, &mkey->sig.wire, true, span->walk, &walk->wire);
}

static uint64_t run_length(const struct walk *walk, uint64_t limit)
{
	uint64_t run = min_of(to_block_end(walk->mem.domain, walk->data),
			      to_block_end(walk->wire.domain, walk->data));

	return min_of(run, limit - walk->data);
}

static bool at_block_end(const struct lane *lane, uint64_t data)
{
	return lane->domain->guard && data % lane->domain->block == 0;
}

/* The part of the wire side that a message carries. */
struct window {
	uint64_t at, end;
	uint8_t *bytes;
};

static void window_put(const struct window *window, uint64_t at, const uint8_t *bytes, uint64_t len)
{
	uint64_t from = max_of(at, window->at), to = min_of(at + len, window->end);

	if (from < to)
		memcpy(window->bytes + (from - window->at), bytes + (from - at), to - from);
}

static void walk_out(struct walk *walk, const uint8_t *image, uint64_t image_at,
		     const struct window *window)
{
	const struct sig_domain *mem = walk->mem.domain, *wire = walk->wire.domain;
	uint8_t signature[SIG_BYTES_MAX];

	while (walk->data < walk->to) {
		const uint8_t *from = image + (place_of(mem, walk->data) - image_at);
		uint64_t run = run_length(walk, walk->to);

		lane_add(&walk->mem, from, run, walk->data);
		lane_add(&walk->wire, from, run, walk->data);
		window_put(window, place_of(wire, walk->data), from, run);
		walk->data += run;
		if (at_block_end(&walk->mem, walk->data)) {
			walk->came = take_bytes(from + run, sig_bytes(mem));
			lane_check(walk->hca, walk->mkey, &walk->mem, walk->came, walk->data);
			lane_next_block(&walk->mem);
		}
		if (at_block_end(&walk->wire, walk->data)) {
			put_bytes(
				signature,
				signature_outgoing(walk->mkey, &walk->wire, walk->data, walk->came),
				0, sig_bytes(wire));
			window_put(window, place_of(wire, walk->data) - sig_bytes(wire), signature,
				   sig_bytes(wire));
			lane_next_block(&walk->wire);
		}
	}
}

static int pieces_move(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
		       uint64_t len)
{
	struct dma_batch batch;
	int ret;

	if (write)
		dma_begin_write(&batch, hca, bytes);
	else
		dma_begin_read(&batch, hca, bytes);
	ret = mkey_dma_pieces(&batch, mkey, mkey->start + at, len);
	return ret ? ret : dma_finish(&batch);
}

static int memory_move(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
		       uint64_t len)
{
	if (mkey->crypt.on && !mkey->crypt.on_wire)
		return crypt_move(hca, mkey, write, at, bytes, len, mkey->len, pieces_move);
	return pieces_move(hca, mkey, write, at, bytes, len);
}

static int wire_read(struct hca *hca, struct mkey *mkey, uint64_t wire, uint8_t *bytes,
		     uint64_t len)
{
	const struct window window = { wire, wire + len, bytes };
	struct span span = span_of(&mkey->sig, wire, len);
	bool is_signed = mkey->sig.mem.guard;
	uint64_t start, end, from;
	struct walk walk;
	uint8_t *image;
	int ret;

	ret = walk_open(hca, mkey, &span, &walk);
	if (ret)
		return ret;
	sig_memory(mkey, wire, len, &start, &end);
	image = malloc(end - start + 1);
	if (!image)
		return ENOMEM;
	ret = memory_move(hca, mkey, false, start, image, end - start);
	from = place_of(&mkey->sig.mem, span.from);
	if (!ret && is_signed)
		bytes_damage(hca, mkey, image + (from - start), end - from);
	if (!ret)
		walk_out(&walk, image, start, &window);
	if (!ret && !is_signed)
		bytes_damage(hca, mkey, bytes, len);
	free(image);
	return ret;
}

/* Adds the earlier bytes of a block, read back from memory, to both guards. WITHIN: the message
 * begins within the signature, so the block stays open at LIMIT. */
static void walk_again(struct walk *walk, const uint8_t *image, uint64_t image_at, uint64_t limit,
		       bool within)
{
	while (walk->data < limit) {
		const uint8_t *from = image + (place_of(walk->mem.domain, walk->data) - image_at);
		uint64_t run = run_length(walk, limit);

		lane_add(&walk->mem, from, run, walk->data);
		lane_add(&walk->wire, from, run, walk->data);
		walk->data += run;
		if (walk->data == limit && within)
			return;
		if (at_block_end(&walk->mem, walk->data))
			lane_next_block(&walk->mem);
		if (at_block_end(&walk->wire, walk->data))
			lane_next_block(&walk->wire);
	}
}

/* New contents of memory that a message produces. */
struct image {
	uint8_t *bytes;
	uint64_t at;     /* place in memory of the first byte */
	uint64_t filled; /* place up to which it is filled */
};

static void end_memory_block(struct walk *walk, struct image *image)
{
	const struct sig_domain *mem = walk->mem.domain;
	uint64_t end = place_of(mem, walk->data);

	put_bytes(image->bytes + (end - sig_bytes(mem) - image->at),
		  signature_outgoing(walk->mkey, &walk->mem, walk->data, walk->came), 0,
		  sig_bytes(mem));
	image->filled = end;
	lane_next_block(&walk->mem);
}

/* Takes the message's part of the signature of the block that ends at walk->data. Ends the block on
 * the memory side only when the signature is complete, because memory's signature may be a copy of
 * it. */
static void take_signature(struct walk *walk, struct window *in, struct image *image)
{
	struct sig_state *state = &walk->mkey->sig_state;
	uint32_t size = sig_bytes(walk->wire.domain), had = sig_before(walk->wire.domain, in->at);
	uint32_t part = (uint32_t)min_of(in->end - in->at, (uint64_t)(size - had));

	memcpy(state->part + had, in->bytes, part);
	in->bytes += part;
	in->at += part;
	state->wire_at = in->at;
	if (had + part < size)
		return;
	walk->came = take_bytes(state->part, size);
	lane_check(walk->hca, walk->mkey, &walk->wire, walk->came, walk->data);
	lane_next_block(&walk->wire);
	if (at_block_end(&walk->mem, walk->data))
		end_memory_block(walk, image);
}

static void take_data(struct walk *walk, struct window *in, struct image *image)
{
	uint64_t run = run_length(walk, walk->to), at = place_of(walk->mem.domain, walk->data);
	uint8_t *to = image->bytes + (at - image->at);

	memcpy(to, in->bytes, run);
	in->bytes += run;
	in->at += run;
	lane_add(&walk->mem, to, run, walk->data);
	lane_add(&walk->wire, to, run, walk->data);
	walk->data += run;
	image->filled = at + run;
	if (at_block_end(&walk->mem, walk->data) && !at_block_end(&walk->wire, walk->data))
		end_memory_block(walk, image);
}

static int wire_write(struct hca *hca, struct mkey *mkey, uint64_t wire, uint8_t *bytes,
		      uint64_t len)
{
	const struct sig *sig = &mkey->sig;
	struct window in = { wire, wire + len, bytes };
	struct span span = span_of(sig, wire, len);
	bool within = is_in_signature(&sig->wire, wire);
	struct image image = { 0 };
	uint64_t end, from;
	struct walk walk;
	int ret = walk_open(hca, mkey, &span, &walk);

	if (ret)
		return ret;
	if (span.sig_had && mkey->sig_state.wire_at != wire)
		/* another transfer brought the signature's first bytes, so they are unknown here */
		return EFAULT;
	sig_memory(mkey, wire, len, &image.at, &end);
	image.bytes = calloc(1, end - image.at + 1);
	if (!image.bytes)
		return ENOMEM;
	from = place_of(&sig->mem, span.from);
	if (within && sig->mem.guard && span.from % sig->mem.block == 0)
		from -= sig_bytes(&sig->mem);
	image.filled = from;
	ret = memory_move(hca, mkey, false, image.at, image.bytes, from - image.at);
	if (!ret)
		walk_again(&walk, image.bytes, image.at, span.from, within);
	while (!ret && in.at < in.end) {
		if (is_in_signature(&sig->wire, in.at))
			take_signature(&walk, &in, &image);
		else
			take_data(&walk, &in, &image);
	}
	if (!ret && !sig->wire.guard)
		bytes_damage(hca, mkey, image.bytes + (from - image.at), image.filled - from);
	if (!ret && image.filled > from)
		ret = memory_move(hca, mkey, true, from, image.bytes + (from - image.at),
				  image.filled - from);
	free(image.bytes);
	return ret;
}

/* Writes a copy of BYTES in which BIT is flipped, because the sender owns BYTES and may retransmit
 * them. */
static int write_damaged(struct hca *hca, struct mkey *mkey, uint64_t wire, const uint8_t *bytes,
			 uint64_t len, uint64_t bit)
{
	uint8_t *copy = malloc(len);
	int ret;

	if (!copy)
		return ENOMEM;
	memcpy(copy, bytes, len);
	bit_flip(copy, bit);
	ret = wire_write(hca, mkey, wire, copy, len);
	free(copy);
	return ret;
}

static int wire_move(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
		     uint64_t len)
{
	uint64_t bit;

	if (!write)
		return wire_read(hca, mkey, at, bytes, len);
	if (mkey->sig.wire.guard && is_damaged(hca, mkey, len, &bit))
		return write_damaged(hca, mkey, at, bytes, len, bit);
	return wire_write(hca, mkey, at, bytes, len);
}

int sig_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t wire, uint64_t len)
{
	uint64_t at = wire - mkey->start;
	int ret = dma_finish(batch);

	if (ret)
		return ret;
	if (mkey->crypt.on && mkey->crypt.on_wire)
		ret = crypt_move(batch->hca, mkey, batch->write, at, batch->buf, len,
				 sig_wire_length(mkey), wire_move);
	else
		ret = wire_move(batch->hca, mkey, batch->write, at, batch->buf, len);
	batch->buf += len;
	return ret;
}

void sig_forget(struct mkey *mkey)
{
	if (mkey->sig_state.unreported)
		LIST_REMOVE(mkey, in_sig_failed);
	mkey->sig_state = (struct sig_state){ 0 };
}
