/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address_space.h - the address space of a process, by a handle that is opened once.
 *
 * A process id may belong to another process as soon as its owner has ended, and exec() keeps it.
 * /proc/PID/mem and /proc/PID/maps stay with the address space that existed when they were opened,
 * and read nothing once it is gone. Linux: proc_mem_open(). Decision: docs/adr/0045.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_ADDRESS_SPACE_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct address_space {
	int bytes, maps; /* descriptors of /proc/TID/mem and /proc/PID/maps */
};

/* Opens the address space of thread TID of process PID. Returns 0 or a positive errno. */
int space_open(pid_t pid, pid_t tid, struct address_space *space);
void space_close(struct address_space *space);
bool space_is_there(const struct address_space *space);

/* Copy LEN bytes at ADDR. Private mappings can be copied even if the process has removed its access
 * rights since it registered the memory. Linux refuses writes to shared mappings that are read-only
 * by now. Return 0, ESRCH if the address space is gone, or EFAULT. */
int space_read(const struct address_space *space, uint64_t addr, void *buf, size_t len);
int space_write(const struct address_space *space, uint64_t addr, const void *buf, size_t len);

/* Checks that LEN bytes at ADDR are mapped and readable, and writable if WRITABLE. Returns 0 or
 * EFAULT. */
int space_check_range(const struct address_space *space, uint64_t addr, uint64_t len,
		      bool writable);

#endif
