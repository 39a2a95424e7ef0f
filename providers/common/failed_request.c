/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failed_request.c - see failed_request.h. Values that look byte-swapped or unset are named before
 * the general cure, because they are the likelier cause.
 */
#include "providers/common/failed_request.h"

#include <stdarg.h>
#include <stdio.h>

#include "prm/mlx5/cqe.h"

static void __attribute__((format(printf, 2, 3)))
text_add(struct failed_request *f, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(f->text + f->length, sizeof(f->text) - f->length, format, args);
	va_end(args);
	f->length += (size_t)n;
	if (f->length >= sizeof(f->text))
		f->length = sizeof(f->text) - 1;
}

void provider_failed_name(struct failed_request *f, const char *operation)
{
	text_add(f, "%s", operation);
}

void provider_failed_name_target(struct failed_request *f, uint64_t raddr, uint32_t rkey)
{
	f->has_target = true;
	f->raddr = raddr;
	f->rkey = rkey;
	text_add(f, ", remote address %#llx, rkey %#x", (unsigned long long)raddr, rkey);
}

void provider_failed_name_buffer(struct failed_request *f, uint64_t addr, uint32_t bytes,
				 uint32_t lkey)
{
	if (!bytes) {
		text_add(f, ", no buffer");
		return;
	}
	f->has_buffer = true;
	f->lkey = lkey;
	text_add(f, ", first buffer %#llx of %u bytes, lkey %#x", (unsigned long long)addr, bytes,
		 lkey);
}

void provider_failed_name_inline(struct failed_request *f, uint32_t bytes)
{
	text_add(f, ", %u inline bytes", bytes);
}

/* Returns whether KEY looks like OTHER with its bytes in reverse order. Keys that one adapter gives
 * out are close to each other, so a swapped key is far from OTHER and comes close when it is
 * swapped back. */
static bool key_is_swapped(uint32_t key, uint32_t other)
{
	const uint32_t near = 1 << 18;

	return key - other + near > 2 * near && __builtin_bswap32(key) - other + near <= 2 * near;
}

/* Returns whether ADDR is in the usual places of programs, heaps and mappings under Linux, on
 * x86-64 and arm64. */
static bool address_is_usual(uint64_t addr)
{
	const uint64_t top = addr >> 40;

	return top == 0x55 || top == 0x56 || top == 0x7e || top == 0x7f || top == 0xaa ||
	       top == 0xff;
}

/* Returns whether ADDR is probably byte-swapped. Addresses of programs have 48 bits, so an ADDR
 * whose upper bytes are 0 may be right. */
static bool address_is_swapped(uint64_t addr)
{
	return addr >> 48 && address_is_usual(__builtin_bswap64(addr));
}

static bool suspect_remote(const struct failed_request *f, char *why, size_t size)
{
	if (f->kind == REQUEST_ATOMIC && f->raddr & 7)
		snprintf(why, size, "; the remote address of an atomic must be a multiple of 8");
	else if (!f->raddr && !f->rkey)
		snprintf(why, size,
			 "; remote address and rkey are 0: put the peer's into the request");
	else if (address_is_swapped(f->raddr))
		snprintf(why, size,
			 "; the remote address looks byte-swapped, it may be 0x%llx: convert it "
			 "once on each side, with htobe64() and be64toh()",
			 (unsigned long long)__builtin_bswap64(f->raddr));
	else if (f->has_buffer && key_is_swapped(f->rkey, f->lkey))
		snprintf(why, size,
			 "; the rkey looks byte-swapped, it may be 0x%x: convert it once on each "
			 "side, with htonl() and ntohl()",
			 __builtin_bswap32(f->rkey));
	else
		return false;
	return true;
}

static bool suspect_local(const struct failed_request *f, char *why, size_t size)
{
	if (f->has_buffer && !f->lkey)
		snprintf(why, size, "; lkey is 0: set it to the lkey of the buffer's MR");
	else if (f->has_buffer && f->has_target && key_is_swapped(f->lkey, f->rkey))
		snprintf(why, size,
			 "; the lkey looks byte-swapped, it may be 0x%x: lkeys stay in the order "
			 "of the host",
			 __builtin_bswap32(f->lkey));
	else
		return false;
	return true;
}

void provider_failed_cure(const struct failed_request *f, uint8_t syndrome, char *why, size_t size)
{
	const bool is_remote = syndrome == SYND_REMOTE_ACCESS || syndrome == SYND_REMOTE_INVAL_REQ;
	const char *cure;

	*why = '\0';
	if (is_remote && f->has_target && suspect_remote(f, why, size))
		return;
	if (syndrome == SYND_LOCAL_PROT && suspect_local(f, why, size))
		return;
	cure = provider_syndrome_cure(syndrome, f->kind);
	if (cure)
		snprintf(why, size, "; %s", cure);
}

void provider_failed_report(const struct failed_request *f, const char *owner, uint32_t number,
			    uint8_t syndrome, uint8_t vendor, const char *cure)
{
	verbs_warn("%s 0x%x: the %s with wr_id %#llx (%s) failed: syndrome 0x%02x, %s; vendor "
		   "syndrome 0x%02x, %s%s",
		   owner, number, f->is_send ? "send request" : "receive",
		   (unsigned long long)f->wr_id, f->text, syndrome, provider_syndrome_str(syndrome),
		   vendor, provider_vendor_syndrome_str(vendor), cure);
}
