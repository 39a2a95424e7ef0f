/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mmio.c - access to device registers for CPUs that cannot do it with one ordinary instruction.
 */
#include <string.h>

#include "util/mmio.h"

#if !MMIO_STORES_64
#include <pthread.h>

#include "util/barrier.h"
#include "util/bits.h"

/* PRM: a host without stores of 8 bytes writes the half at the lower address first, and nothing
 * else may reach the register in between. Registers are at least 256 bytes apart. The address alone
 * selects a register's lock, so that threads need no other agreement. A child of fork() rings no
 * doorbell, as queues stay with the process that created them, so a lock that was held during
 * fork() does no harm. */
static pthread_mutex_t register_locks[16] = {
	[0 ... 15] = PTHREAD_MUTEX_INITIALIZER,
};

void verbs_mmio_store_halves(void *reg, __be64 value)
{
	pthread_mutex_t *lock = &register_locks[(uintptr_t)reg / 256 % ARRAY_SIZE(register_locks)];
	volatile uint32_t *to = reg;
	uint32_t halves[2];

	memcpy(halves, &value, sizeof(value));
	pthread_mutex_lock(lock);
	to[0] = halves[0];
	/* A write-combining buffer may reorder the halves. */
	wc_flush_barrier();
	to[1] = halves[1];
	wc_flush_barrier();
	pthread_mutex_unlock(lock);
}
#endif

#if MMIO_IS_APART
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Writes to a page without an adapter behind it, which is memory shared with another process. The
 * kernel refuses such a page with EINVAL or, without PCI, ENODEV or ENOSYS. */
static void memory_write(void *reg, const void *data, size_t length)
{
	volatile uint64_t *to = reg;

	if (length == sizeof(uint32_t)) {
		uint32_t value;

		memcpy(&value, data, sizeof(value));
		*(volatile uint32_t *)reg = value;
	}
	for (size_t i = 0; i < length / sizeof(*to); i++) {
		uint64_t value;

		memcpy(&value, (const uint8_t *)data + i * sizeof(value), sizeof(value));
		to[i] = value;
	}
}

/* Calls s390_pci_mmio_write(2), which stores up to 64 bytes within a page as one access. */
void verbs_mmio_write(void *reg, const void *data, size_t length)
{
	int before = errno;

	if (!syscall(SYS_s390_pci_mmio_write, (uintptr_t)reg, data, length))
		return;
	if (errno != EIO) /* EIO: the adapter is gone */
		memory_write(reg, data, length);
	errno = before;
}

/* Calls s390_pci_mmio_read(2), for a register of 4 bytes. */
void verbs_mmio_read(const void *reg, void *data, size_t length)
{
	int before = errno;

	if (!syscall(SYS_s390_pci_mmio_read, (uintptr_t)reg, data, length))
		return;
	if (errno == EIO) {
		memset(data, 0xff, length);
	} else {
		uint32_t value = *(const volatile uint32_t *)reg;

		memcpy(data, &value, length);
	}
	errno = before;
}
#endif
