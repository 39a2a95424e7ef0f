/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inject.c - makes the Nth command, mapping or allocation fail.
 *
 * Commands fail in softhca, by a fault sent to its control socket. Mappings and allocations fail
 * here: the program's own mmap() and malloc() override libc's, also for the libraries that it
 * loads.
 *
 * Covers: softhca/fault.c, softhca/front/faults.c, softhca/front/control.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "faults.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR false
#else
#define OWN_ALLOCATOR true
#endif

static const char *const names[] = { "kernel command", "adapter command", "mapping", "allocation" };

/* Chances so far, and the one that fails; 0: none. */
static uint64_t maps, failing_map, allocations, failing_allocation;
static long blocks;
static int control = -1;

const char *fault_name(enum fault_kind kind)
{
	return names[kind];
}

/* Under valgrind the allocator is valgrind's, whatever the program defines, so it cannot be made to
 * fail. */
bool fault_is_offered(enum fault_kind kind)
{
	if (getenv("FAULTS_COMMANDS_ONLY"))
		return kind == FAULT_KERNEL || kind == FAULT_ADAPTER;
	return kind != FAULT_MEMORY || (OWN_ALLOCATOR && !getenv("FAULTS_NO_MEMORY"));
}

void fault_open(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("FAULTS_CONTROL");

	MUST(path && strlen(path) < sizeof(addr.sun_path));
	strcpy(addr.sun_path, path);
	control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	MUST(control >= 0);
	/* Binds to an address that the kernel chooses, for the answers. */
	MUST(!bind(control, (struct sockaddr *)&(struct sockaddr_un){ .sun_family = AF_UNIX },
		   sizeof(sa_family_t)));
	MUST(!connect(control, (struct sockaddr *)&addr, sizeof(addr)));
}

static void control_ask(const char *text, char *answer, size_t size)
{
	ssize_t len;

	MUST(send(control, text, strlen(text), 0) == (ssize_t)strlen(text));
	len = recv(control, answer, size - 1, 0);
	MUST(len > 0);
	answer[len] = 0;
}

static void ask_state(uint64_t state[3])
{
	char answer[128];

	control_ask("state", answer, sizeof(answer));
	MUST(sscanf(answer, "%" SCNu64 " %" SCNu64 " %" SCNu64, &state[0], &state[1], &state[2]) ==
	     3);
}

uint64_t fault_objects(void)
{
	uint64_t state[3];

	ask_state(state);
	return state[2];
}

long fault_blocks(void)
{
	return blocks;
}

uint64_t fault_count(enum fault_kind kind)
{
	uint64_t state[3];

	if (kind == FAULT_MAP)
		return maps;
	if (kind == FAULT_MEMORY)
		return allocations;
	ask_state(state);
	return state[kind == FAULT_ADAPTER];
}

void fault_arm_errno(uint64_t n, int err)
{
	char text[64], answer[128];

	snprintf(text, sizeof(text), "cmd:%" PRIu64 "=%d", n, err);
	control_ask(text, answer, sizeof(answer));
	MUST(!strcmp(answer, "ok"));
}

void fault_arm(enum fault_kind kind, uint64_t n)
{
	char text[64], answer[128];

	if (kind == FAULT_MAP) {
		failing_map = maps + n;
		return;
	}
	if (kind == FAULT_MEMORY) {
		failing_allocation = allocations + n;
		return;
	}
	if (kind == FAULT_KERNEL) {
		fault_arm_errno(n, FAULT_ERRNO);
		return;
	}
	snprintf(text, sizeof(text), "prm:%" PRIu64, n);
	control_ask(text, answer, sizeof(answer));
	MUST(!strcmp(answer, "ok"));
}

/* Makes a function of the program override libc's. */
#define BEFORE_LIBC __attribute__((visibility("default")))

/* ---- mappings: of any library, as lives load none ---- */

BEFORE_LIBC void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (++maps == failing_map) {
		errno = EAGAIN;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
}

#if OWN_ALLOCATOR
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static bool is_refused(void)
{
	if (++allocations != failing_allocation)
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *block)
{
	if (block)
		blocks++;
	return block;
}

BEFORE_LIBC void *malloc(size_t size)
{
	return is_refused() ? NULL : counted(__libc_malloc(size));
}

BEFORE_LIBC void *calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : counted(__libc_calloc(n, size));
}

BEFORE_LIBC void *realloc(void *old, size_t size)
{
	void *block;

	if (is_refused())
		return NULL;
	block = __libc_realloc(old, size);
	if (old && (block || !size))
		blocks--;
	return counted(block);
}

BEFORE_LIBC void *aligned_alloc(size_t alignment, size_t size)
{
	return is_refused() ? NULL : counted(__libc_memalign(alignment, size));
}

BEFORE_LIBC int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = is_refused() ? NULL : counted(__libc_memalign(alignment, size));
	return *block ? 0 : ENOMEM;
}

BEFORE_LIBC void free(void *block)
{
	if (block)
		blocks--;
	__libc_free(block);
}
#endif
