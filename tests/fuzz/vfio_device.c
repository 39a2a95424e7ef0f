/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_device.c - see vfio_device.h.
 */
#include <endian.h>
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/init_seg.h"
#include "providers/mlx5/vfio/files.h"
#include "tests/fuzz/vfio_device.h"
#include "tests/fuzz/vfio_seams.h"
#include "util/bits.h"

#undef ioctl
#undef mmap
#undef munmap
#undef madvise
#undef nanosleep
#undef clock_gettime

enum {
	PAGE = 4096,
	BAR_PAGES = 8,
	MAPPINGS = 256,
	BLOCKS = 256,
	MOST_BYTES = 4 << 20, /* of memory for the adapter, as with RLIMIT_MEMLOCK */
	ENTRIES = 32,
	RINGS = 4,
	GIVEN = 64,
	LONGEST = 4096, /* part of a command that the adapter looks at */
};

struct vfio_shown vfio_shown;

static struct {
	struct source *source;
	uint8_t *bar;
	bool is_master;
	bool is_moving;
	unsigned int calm; /* log2 of how seldom it does what is wrong */
	uint64_t now_ns;
	struct {
		uint64_t iova, size;
		uint8_t *memory;
	} mapping[MAPPINGS];
	struct {
		uint8_t *memory;
		size_t length;
	} block[BLOCKS];
	uint64_t bytes;  /* in blocks */
	uint32_t silent; /* a bit for each entry whose answer was held back */
	struct {
		uint64_t iova;
		uint32_t log_size, pi;
	} ring[RINGS];
	unsigned int num_rings;
	uint64_t given[GIVEN]; /* addresses of pages */
	unsigned int num_given;
} it;

/* ---- choices ---- */

static uint32_t below(uint32_t n)
{
	return pick(it.source, n);
}

static bool rarely(uint32_t n)
{
	return once_in(it.source, n);
}

/* As rarely(), for what may end the adapter's life. Some adapters do so less often than others, so
 * that some live long. */
static bool wrongly(uint32_t n)
{
	return rarely(n << it.calm);
}

/* ---- memory ---- */

/* Returns the memory behind LENGTH bytes at a bus address, or NULL: the IOMMU refuses. */
static uint8_t *memory_at(uint64_t iova, uint64_t length)
{
	if (!it.is_master)
		return NULL;
	for (unsigned int i = 0; i < MAPPINGS; i++) {
		const uint64_t offset = iova - it.mapping[i].iova;

		if (it.mapping[i].memory && offset < it.mapping[i].size &&
		    length <= it.mapping[i].size - offset)
			return it.mapping[i].memory + offset;
	}
	return NULL;
}

static void random_fill(uint8_t *memory, size_t length)
{
	const uint8_t byte = take8(it.source), step = take8(it.source);

	for (size_t i = 0; i < length; i++)
		memory[i] = (uint8_t)(byte + i * step);
}

/* Writes some bytes to any memory that is mapped. */
static void scribble_memory(void)
{
	const unsigned int number = below(MAPPINGS);
	unsigned int i = 0, last = 0;

	for (unsigned int found = 0; i < MAPPINGS && found <= number % 8; i++)
		if (it.mapping[i].memory) {
			last = i;
			found++;
		}
	if (it.mapping[last].memory) {
		const uint64_t size = it.mapping[last].size;
		const uint64_t at = rarely(2) ? below((uint32_t)size) : below(256) % size;
		const uint64_t length = 1 + below(64);

		random_fill(it.mapping[last].memory + at, min_of(length, size - at));
		vfio_shown.writes++;
	}
}

/* ---- registers ---- */

static void register_set(uint32_t field, uint32_t value)
{
	fld_set(it.bar, field, value);
}

static void scribble_register(void)
{
	static const uint16_t offsets[] = { 0x0,   0x4,   0x10,  0x14,  0x18,  0x1fc,
					    0x1fc, 0x238, 0x23c, 0xff8, 0xffc, 0x1010 };
	const uint32_t offset = offsets[below(ARRAY_SIZE(offsets))];
	const uint32_t value = htobe32(rarely(3) ? take_edge(it.source) : take32(it.source));

	memcpy(it.bar + offset, &value, sizeof(value));
	vfio_shown.writes++;
}

static void segment_make(void)
{
	memset(it.bar, 0, (size_t)BAR_PAGES * PAGE);
	register_set(INIT_SEG_CMDIF_REV, PRM_CMDIF_REV);
	register_set(INIT_SEG_LOG_CMDQ_SIZE, 5);
	register_set(INIT_SEG_LOG_CMDQ_STRIDE, 6);
	if (wrongly(4))
		it.bar[0x17] = take8(it.source); /* size and stride of the queue */
	while (wrongly(4))
		scribble_register();
	vfio_shown.segments++;
}

/* ---- commands ---- */

static uint8_t *entry_of(uint32_t index)
{
	uint32_t high, low;

	memcpy(&high, it.bar + 0x10, sizeof(high));
	memcpy(&low, it.bar + 0x14, sizeof(low));
	return memory_at((uint64_t)be32toh(high) << 32 | (be32toh(low) & ~(uint32_t)(PAGE - 1)) |
				 index << fld_get(it.bar, INIT_SEG_LOG_CMDQ_STRIDE),
			 PRM_CMDQ_ENTRY_SIZE);
}

/* Copies the command, or its first LONGEST bytes, from the entry and its mailboxes. */
static void command_gather(const uint8_t *entry, uint8_t in[LONGEST])
{
	const uint64_t length = min_of(fld_get(entry, CMDQ_INPUT_LENGTH), (uint64_t)LONGEST);
	uint64_t next = fld_get(entry, CMDQ_INPUT_MAILBOX);

	memset(in, 0, LONGEST);
	memcpy(in, entry + 16, PRM_CMDQ_INLINE);
	for (uint64_t done = PRM_CMDQ_INLINE; done < length; done += PRM_CMDQ_BLOCK_DATA) {
		const uint8_t *block = memory_at(next, PRM_CMDQ_BLOCK_SIZE);

		if (!block)
			return;
		memcpy(in + done, block, min_of(length - done, (uint64_t)PRM_CMDQ_BLOCK_DATA));
		next = fld_get(block, CMDQ_BLOCK_NEXT);
	}
}

static void note_ring(const uint8_t *in)
{
	const unsigned int n = it.num_rings++ % RINGS;

	it.ring[n].iova = fld_get64(fld_at(in, CREATE_EQ_IN_PAS), 0);
	it.ring[n].log_size = (uint32_t)fld_get(fld_at(in, CREATE_EQ_IN_EQC), EQC_LOG_EQ_SIZE);
	it.ring[n].pi = 0;
}

static void note_pages(const uint8_t *in)
{
	const uint64_t count = fld_get(in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES);

	for (uint64_t i = 0; i < min_of(count, (uint64_t)GIVEN); i++)
		it.given[it.num_given++ % GIVEN] =
			fld_get64(fld_at(in, MANAGE_PAGES_IN_PAS), (uint32_t)i * 8);
}

/* Returns pages to the library: those that it gave, the same ones twice, or others. */
static void answer_pages(const uint8_t *entry, uint8_t *out, uint64_t count)
{
	uint8_t *pas = memory_at(fld_get(entry, CMDQ_OUTPUT_MAILBOX), PRM_CMDQ_BLOCK_DATA);

	if (rarely(8))
		count = take_edge(it.source);
	fld_set(out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES, count);
	for (uint32_t i = 0; pas && i < min_of(count, (uint64_t)PRM_CMDQ_BLOCK_DATA / 8); i++) {
		uint64_t page = it.num_given ? it.given[--it.num_given % GIVEN] : 0;

		if (rarely(8))
			page += take_edge(it.source);
		fld_set64(pas, i * 8, page);
	}
}

/* Fills the first 16 bytes of an answer, mostly as it should be. */
static void answer_fill(const uint8_t *entry, const uint8_t *in, uint8_t *out)
{
	const uint32_t mod = (uint32_t)fld_get(in, CMD_IN_OP_MOD);
	uint8_t *block = memory_at(fld_get(entry, CMDQ_OUTPUT_MAILBOX), PRM_CMDQ_BLOCK_SIZE);

	memset(out, 0, PRM_CMDQ_INLINE);
	if (block)
		random_fill(block, rarely(8) ? PRM_CMDQ_BLOCK_SIZE : PRM_CMDQ_BLOCK_DATA);
	switch (fld_get(in, CMD_IN_OPCODE)) {
	case PRM_OP_QUERY_ISSI:
		if (block)
			memset(block, 0xff, PRM_CMDQ_BLOCK_DATA);
		break;
	case PRM_OP_QUERY_PAGES:
		fld_set(out, QUERY_PAGES_OUT_NUM_PAGES,
			wrongly(8) ? take_edge(it.source) : below(8));
		break;
	case PRM_OP_MANAGE_PAGES:
		if (mod == PRM_PAGES_GIVE)
			note_pages(in);
		else if (mod == PRM_PAGES_TAKE)
			answer_pages(entry, out, fld_get(in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES));
		break;
	case PRM_OP_CREATE_EQ:
		note_ring(in);
		/* fall through */
	default:
		fld_set(out, FLD(0x8, 31, 0), wrongly(8) ? take_edge(it.source) : below(BAR_PAGES));
	}
}

static void answer_command(uint32_t index)
{
	uint8_t *entry = entry_of(index), in[LONGEST], status = 0;

	if (!entry)
		return;
	command_gather(entry, in);
	answer_fill(entry, in, entry + 32);
	if (wrongly(8))
		entry[32] = take8(it.source); /* the command's status */
	if (wrongly(16))
		status = take8(it.source); /* of delivery */
	if (wrongly(16))
		random_fill(entry, PRM_CMDQ_ENTRY_SIZE - 1);
	__atomic_store_n(&entry[PRM_CMDQ_ENTRY_SIZE - 1], status & 0xfe, __ATOMIC_RELEASE);
	vfio_shown.answers++;
}

static void doorbell_rung(uint32_t mask)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		if (!(mask >> i & 1))
			continue;
		if (wrongly(32))
			it.silent |= 1u << i;
		else
			answer_command(i);
	}
}

/* Answers what it held back: perhaps long after the library has given up. */
static void answer_late(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (it.silent >> i & 1)
			answer_command(i);
	it.silent = 0;
}

/* ---- events ---- */

static void event_write(void)
{
	const unsigned int n =
		below(RINGS) % (it.num_rings ? min_of(it.num_rings, (unsigned int)RINGS) : 1);
	const uint32_t size = 1u << it.ring[n].log_size;
	const uint32_t pi = it.ring[n].pi++;
	uint8_t *entry;

	if (!it.num_rings)
		return;
	entry = memory_at(it.ring[n].iova + (uint64_t)(pi & (size - 1)) * PRM_EQE_SIZE,
			  PRM_EQE_SIZE);
	if (!entry)
		return;
	if (rarely(8))
		random_fill(entry, PRM_EQE_SIZE);
	fld_set(entry, EQE_TYPE,
		rarely(8) ? take8(it.source)
			  : (rarely(4) ? PRM_EVENT_PORT_CHANGE : PRM_EVENT_PAGE_REQUEST));
	fld_set(entry, EQE_PAGE_REQUEST_FUNC_ID, rarely(8) ? take32(it.source) & 0xffff : 0);
	fld_set(entry, EQE_PAGE_REQUEST_NUM_PAGES,
		rarely(8) ? take_edge(it.source) : below(16) - 8u);
	fld_set(entry, EQE_OWNER, (pi >> it.ring[n].log_size & 1) ^ (rarely(16) ? 1 : 0));
	vfio_shown.events++;
}

static void events_write(void)
{
	const uint32_t count = rarely(32) ? below(600) : 1 + below(3);

	for (uint32_t i = 0; i < count; i++)
		event_write();
}

/* ---- seams ---- */

/* Lets the adapter do something, whenever the library gives it time. */
static void adapter_moves(void)
{
	if (it.is_moving || !it.source->left)
		return;
	it.is_moving = true;
	switch (below(128)) {
	case 1:
		scribble_memory();
		break;
	case 2:
		if (wrongly(1))
			scribble_register();
		break;
	case 3:
		answer_late();
		break;
	case 4:
	case 5:
	case 6:
		events_write();
		break;
	default:
		break;
	}
	it.is_moving = false;
}

__be32 seam_load(const void *reg)
{
	const uint32_t counter = (uint32_t)fld_get(it.bar, INIT_SEG_HEALTH_COUNTER);
	__be32 value;

	adapter_moves();
	register_set(INIT_SEG_HEALTH_COUNTER, counter + !rarely(256));
	memcpy(&value, reg, sizeof(value));
	/* a register need not say the same twice */
	if (wrongly(16))
		value = htobe32(below(2) ? take_edge(it.source) : take32(it.source));
	if ((const uint8_t *)reg == it.bar + 0x14 && wrongly(2))
		value = htobe32(take8(it.source)); /* size and stride of the queue */
	return value;
}

void seam_store(void *reg, __be32 value)
{
	uint32_t word = value;

	if ((uint8_t *)reg == it.bar + 0x14) /* the two sizes are read only */
		word = (value & htobe32(0xfffff000)) |
		       htobe32((uint32_t)fld_get(it.bar, FLD(0x14, 11, 0)));
	memcpy(reg, &word, sizeof(word));
	if ((uint8_t *)reg == it.bar + 0x18)
		doorbell_rung(be32toh(value));
	adapter_moves();
}

void seam_barrier(void)
{
	adapter_moves();
}

int seam_clock(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = (time_t)(it.now_ns / 1000000000);
	now->tv_nsec = (long)(it.now_ns % 1000000000);
	return 0;
}

/* Time passes much faster than the library asks for, so that each timeout is met. */
int seam_sleep(const struct timespec *time, struct timespec *left)
{
	enum { MS = 1000000, LONG_MS = 20000 };

	(void)left;
	it.now_ns += (uint64_t)time->tv_nsec;
	it.now_ns += it.source->left ? (uint64_t)MS << below(16) : (uint64_t)LONG_MS * MS;
	adapter_moves();
	return 0;
}

static int dma_map(const struct vfio_iommu_type1_dma_map *map)
{
	unsigned int i = 0;

	while (i < MAPPINGS && it.mapping[i].memory)
		i++;
	if (i == MAPPINGS || wrongly(32)) {
		errno = ENOSPC;
		return -1;
	}
	it.mapping[i].memory = (uint8_t *)(uintptr_t)map->vaddr;
	it.mapping[i].iova = map->iova;
	it.mapping[i].size = map->size;
	return 0;
}

static int dma_unmap(const struct vfio_iommu_type1_dma_unmap *unmap)
{
	for (unsigned int i = 0; i < MAPPINGS; i++)
		if (it.mapping[i].memory && it.mapping[i].iova == unmap->iova &&
		    it.mapping[i].size == unmap->size) {
			it.mapping[i].memory = NULL;
			return 0;
		}
	abort(); /* what was never mapped */
}

int seam_ioctl(int fd, unsigned long request, void *argument)
{
	(void)fd;
	switch (request) {
	case VFIO_IOMMU_MAP_DMA:
		return dma_map(argument);
	case VFIO_IOMMU_UNMAP_DMA:
		return dma_unmap(argument);
	case VFIO_DEVICE_GET_IRQ_INFO:
		((struct vfio_irq_info *)argument)->count = 1;
		return 0;
	default:
		return 0;
	}
}

void *seam_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	unsigned int i = 0;

	(void)addr;
	(void)prot;
	(void)flags;
	(void)fd;
	(void)offset;
	while (i < BLOCKS && it.block[i].memory)
		i++;
	if (i == BLOCKS || it.bytes + length > MOST_BYTES || wrongly(32))
		return MAP_FAILED;
	it.block[i].memory = aligned_alloc(PAGE, length);
	if (!it.block[i].memory)
		abort();
	memset(it.block[i].memory, 0, length);
	it.block[i].length = length;
	it.bytes += length;
	return it.block[i].memory;
}

int seam_munmap(void *addr, size_t length)
{
	for (unsigned int i = 0; i < MAPPINGS; i++) /* the adapter must not reach it any more */
		if (it.mapping[i].memory &&
		    it.mapping[i].memory - (uint8_t *)addr < (ptrdiff_t)length &&
		    (uint8_t *)addr - it.mapping[i].memory < (ptrdiff_t)it.mapping[i].size)
			abort();
	for (unsigned int i = 0; i < BLOCKS; i++)
		if (it.block[i].memory == addr && it.block[i].length == length) {
			it.bytes -= length;
			free(it.block[i].memory);
			it.block[i].memory = NULL;
			return 0;
		}
	abort();
}

int seam_madvise(void *addr, size_t length, int advice)
{
	(void)addr;
	(void)length;
	(void)advice;
	return 0;
}

/* ---- the files of VFIO ---- */

int mlx5_vfio_files_open(struct vfio_files *files, const char *pci_name)
{
	(void)pci_name;
	*files = (struct vfio_files){ .container = -1,
				      .group = -1,
				      .device = -1,
				      .bar = it.bar,
				      .bar_size = (uint64_t)BAR_PAGES * PAGE,
				      .vectors = 1 + below(4) };
	it.is_master = true;
	return 0;
}

int mlx5_vfio_files_reset(const struct vfio_files *files)
{
	(void)files;
	it.is_master = false;
	it.silent = 0;
	return 0;
}

/* The end of the container ends its mappings. */
void mlx5_vfio_files_close(struct vfio_files *files)
{
	(void)files;
	it.is_master = false;
	memset(it.mapping, 0, sizeof(it.mapping));
}

void vfio_device_begin(struct source *source)
{
	uint8_t *bar = it.bar ? it.bar : aligned_alloc(PAGE, (size_t)BAR_PAGES * PAGE);

	if (!bar)
		abort();
	memset(&it, 0, sizeof(it));
	it.source = source;
	it.bar = bar;
	it.calm = below(8);
	segment_make();
}

uint64_t vfio_device_end(void)
{
	const uint64_t bytes = it.bytes;

	for (unsigned int i = 0; i < BLOCKS; i++)
		free(it.block[i].memory);
	memset(it.block, 0, sizeof(it.block));
	return bytes;
}
