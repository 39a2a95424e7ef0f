/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proof.c - checks whether a guest has the layouts that our tables describe, by what its file says
 * of itself: the version nodes and commands that it imports, and which of its segments are code.
 *
 * An operation that ends in a command of the library is of no use without that command, and a
 * command is imported for an operation. In a table with one slot more or fewer, the operations
 * behind that slot have other neighbours, and the two no longer agree.
 */
#include "guest.h"

#include <elf.h>
#include <link.h>

/* The file that an address lies in, as the dynamic linker has loaded it */
struct object {
	uintptr_t base;
	const ElfW(Phdr) * headers;
	size_t count;
};

struct search {
	const void *address;
	struct object found;
};

/* Returns whether ADDRESS lies in a loaded segment that has FLAGS. */
static bool lies_in(const struct object *object, const void *address, uint32_t flags)
{
	for (size_t i = 0; i < object->count; i++) {
		const ElfW(Phdr) *header = &object->headers[i];

		if (header->p_type == PT_LOAD && (header->p_flags & flags) == flags &&
		    (uintptr_t)address - object->base - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	const struct object object = { info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum };

	(void)size;
	if (!lies_in(&object, search->address, 0))
		return 0;
	search->found = object;
	return 1;
}

/* Returns the file that ADDRESS lies in. One without headers stands for none. */
static struct object object_of(const void *address)
{
	struct search search = { .address = address };

	dl_iterate_phdr(look_at, &search);
	return search.found;
}

/* Returns the value of the dynamic section's entry TAG, or 0. */
static uintptr_t value_of(const struct object *object, ElfW(Sxword) tag)
{
	for (size_t i = 0; i < object->count; i++) {
		const ElfW(Dyn) * entry;

		if (object->headers[i].p_type != PT_DYNAMIC)
			continue;
		entry = (const void *)(object->base + object->headers[i].p_vaddr);
		for (; entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == tag)
				return entry->d_un.d_val;
	}
	return 0;
}

/* Returns the address that the entry TAG has, or NULL if that is not in the file. The dynamic
 * linker adds the base to some entries, and leaves others as they are in the file. The base of a
 * file that was linked for a higher address is negative. */
static const void *address_of(const struct object *object, ElfW(Sxword) tag)
{
	const uintptr_t value = value_of(object, tag);
	const void *const there = (const void *)value;
	const void *const moved = (const void *)(object->base + value);

	if (!value)
		return NULL;
	if (lies_in(object, there, PF_R))
		return there;
	return lies_in(object, moved, PF_R) ? moved : NULL;
}

/* Returns whether one of SIZE bytes of relocations names a function ibv_cmd_NAME, or, unless
 * IS_EXACT, one that begins so. */
static bool names_command(const struct object *object, const ElfW(Rela) * relocations, size_t size,
			  const char *name, bool is_exact)
{
	static const char prefix[] = "ibv_cmd_";
	const ElfW(Sym) *symbols = address_of(object, DT_SYMTAB);
	const char *names = address_of(object, DT_STRTAB);

	if (!relocations || !symbols || !names)
		return false;
	for (size_t i = 0; i < size / sizeof(*relocations); i++) {
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(relocations[i].r_info)];
		const char *imported = names + symbol->st_name;

		if (symbol->st_shndx != SHN_UNDEF || strncmp(imported, prefix, strlen(prefix)) != 0)
			continue;
		imported += strlen(prefix);
		if (!strncmp(imported, name, strlen(name)) &&
		    (!is_exact || !imported[strlen(name)]))
			return true;
	}
	return false;
}

static bool imports(const struct object *object, const char *name, bool is_exact)
{
	return names_command(object, address_of(object, DT_RELA), value_of(object, DT_RELASZ), name,
			     is_exact) ||
	       names_command(object, address_of(object, DT_JMPREL), value_of(object, DT_PLTRELSZ),
			     name, is_exact);
}

const char *guest_other_node(const struct host_device_ops *ops)
{
	static const char prefix[] = "IBVERBS_PRIVATE_";
	const struct object object = object_of(ops);
	const char *names = address_of(&object, DT_STRTAB);
	const char *need = address_of(&object, DT_VERNEED);
	const size_t files = names && need ? value_of(&object, DT_VERNEEDNUM) : 0;

	for (size_t i = 0; i < files; i++) {
		const ElfW(Verneed) *file = (const void *)need;
		const char *at = need + file->vn_aux;

		for (size_t j = 0; j < file->vn_cnt; j++) {
			const ElfW(Vernaux) *version = (const void *)at;
			const char *name = names + version->vna_name;

			if (!strncmp(name, prefix, strlen(prefix)) && strcmp(name, GUEST_NODE) != 0)
				return name;
			at += version->vna_next;
		}
		need += file->vn_next;
	}
	return NULL;
}

const char *guest_no_function(const struct host_device_ops *ops)
{
	const struct object object = object_of(ops);
	const struct {
		const char *name;
		void (*function)(void);
	} functions[] = {
#define FUNCTION(name) { #name, (void (*)(void))ops->name }
		FUNCTION(alloc_context),
		FUNCTION(import_context),
		FUNCTION(alloc_device),
		FUNCTION(uninit_device),
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (functions[i].function &&
		    !lies_in(&object, (const void *)(uintptr_t)functions[i].function, PF_X))
			return functions[i].name;
	return lies_in(&object, ops->match_table, PF_R) ? NULL : "match_table";
}

/* An operation, by its slot in the guest's table. A provider may leave one that IS_OPTIONAL to
 * adapters that have it, and imports its command for these. */
struct operation {
	const char *name;
	size_t slot;
	bool is_optional;
};
#define OPERATION(op) .name = #op, .slot = offsetof(struct host_context_ops, op) / sizeof(void *)

/* Every provider has these. */
static const struct operation needed[] = {
	{ OPERATION(alloc_pd) },     { OPERATION(create_cq) },       { OPERATION(create_qp) },
	{ OPERATION(dealloc_pd) },   { OPERATION(dereg_mr) },        { OPERATION(destroy_cq) },
	{ OPERATION(free_context) }, { OPERATION(poll_cq) },         { OPERATION(post_recv) },
	{ OPERATION(post_send) },    { OPERATION(query_device_ex) }, { OPERATION(query_port) },
	{ OPERATION(reg_mr) },       { OPERATION(req_notify_cq) },
};

/* No provider has these without a command of the same name, or with "_ex" behind it. */
static const struct operation commanded[] = {
	{ OPERATION(advise_mr) },
	{ OPERATION(alloc_dm) },
	{ OPERATION(alloc_mw) },
	{ OPERATION(alloc_pd) },
	{ OPERATION(attach_mcast) },
	{ OPERATION(close_xrcd), .is_optional = true },
	{ OPERATION(create_counters) },
	{ OPERATION(create_cq) },
	{ OPERATION(create_flow) },
	{ OPERATION(create_flow_action_esp) },
	{ OPERATION(create_qp) },
	{ OPERATION(create_qp_ex), .is_optional = true },
	{ OPERATION(create_rwq_ind_table) },
	{ OPERATION(create_srq), .is_optional = true },
	{ OPERATION(create_srq_ex), .is_optional = true },
	{ OPERATION(create_wq) },
	{ OPERATION(dealloc_mw) },
	{ OPERATION(dealloc_pd) },
	{ OPERATION(dereg_mr) },
	{ OPERATION(destroy_counters) },
	{ OPERATION(destroy_cq) },
	{ OPERATION(destroy_flow) },
	{ OPERATION(destroy_flow_action) },
	{ OPERATION(destroy_qp) },
	{ OPERATION(destroy_rwq_ind_table) },
	{ OPERATION(destroy_srq), .is_optional = true },
	{ OPERATION(destroy_wq) },
	{ OPERATION(detach_mcast) },
	{ OPERATION(free_dm) },
	{ OPERATION(modify_cq) },
	{ OPERATION(modify_flow_action_esp) },
	{ OPERATION(modify_srq), .is_optional = true },
	{ OPERATION(open_qp) },
	{ OPERATION(open_xrcd), .is_optional = true },
	{ OPERATION(query_port) },
	{ OPERATION(query_qp) },
	{ OPERATION(query_srq), .is_optional = true },
	{ OPERATION(read_counters) },
	{ OPERATION(reg_dm_mr) },
	{ OPERATION(reg_dmabuf_mr) },
	{ OPERATION(reg_mr) },
	{ OPERATION(rereg_mr) },
	{ OPERATION(resize_cq) },
#if HOST_NUMBER >= 65
	{ OPERATION(alloc_dmah) },
	{ OPERATION(create_comp_cntr) },
	{ OPERATION(destroy_comp_cntr) },
	{ OPERATION(inc_comp_cntr) },
	{ OPERATION(inc_err_comp_cntr) },
	{ OPERATION(reg_mr_ex) },
	{ OPERATION(set_comp_cntr) },
	{ OPERATION(set_err_comp_cntr) },
#endif
};

#define TABLE_SLOTS (sizeof(struct host_context_ops) / sizeof(void *))

bool guest_same_file(const struct host_device_ops *a, const struct host_device_ops *b)
{
	const struct object object = object_of(a);

	return lies_in(&object, b, 0);
}

/* Checks operations against the commands that the guest imports. If its file has registered OTHERS,
 * a command may be for these. */
static struct guest_fault disagreement(const struct object *object, void *const *slots, bool others)
{
	for (size_t i = 0; i < ARRAY_SIZE(commanded); i++) {
		const char *name = commanded[i].name;
		const bool is_there = slots[commanded[i].slot];

		if (is_there && !imports(object, name, false))
			return (struct guest_fault){ "an operation without its command", name };
		if (!is_there && !others && !commanded[i].is_optional &&
		    imports(object, name, true))
			return (struct guest_fault){ "a command without its operation", name };
	}
	return (struct guest_fault){ 0 };
}

/* Returns whether CODE is a function: of the guest, or a command of the library. */
static bool is_function(const void *code)
{
	const struct object object = object_of(code);

	return lies_in(&object, code, PF_X);
}

struct guest_fault guest_unproved(const struct guest_driver *guest,
				  const struct host_context_ops *table)
{
	const struct object object = object_of(guest->ops);
	void *slots[TABLE_SLOTS];

	memcpy(slots, table, sizeof(slots));
	for (size_t i = 0; i < TABLE_SLOTS; i++)
		if (slots[i] && !is_function(slots[i]))
			return (struct guest_fault){ "data in the place of", "an operation" };
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!slots[needed[i].slot])
			return (struct guest_fault){ "no", needed[i].name };
	if (!table->set_ece != !table->query_ece)
		return (struct guest_fault){ "only one of query_ece and", "set_ece" };
	return disagreement(&object, slots, guest->has_others);
}
