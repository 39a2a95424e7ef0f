# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rdmakit_bridge_tables(NUMBER FILE TABLE...) writes the header FILE: the structures that a libibverbs of the private number NUMBER
# shares with a provider, as the TABLEs have them, one per release. A table's name is NUMBER-RELEASE.tsv. Releases of one number
# differ in verbs_qp alone. A struct verbs_x becomes struct host_x, as this project has its own verbs_x.

# One member's declaration, from its name and its type without one.
function(bridge_member out name type)
	if(type MATCHES "^(.*)\\(\\*\\)(\\(.*)$")
		set(text "${CMAKE_MATCH_1}(*${name})${CMAKE_MATCH_2}")
	elseif(type MATCHES "^(.*)\\[([0-9]+)\\]$")
		set(text "${CMAKE_MATCH_1} ${name}[${CMAKE_MATCH_2}]")
	else()
		set(text "${type} ${name}")
	endif()
	string(REGEX REPLACE "struct (verbs_|list_)" "struct host_\\1" text "${text}")
	string(REPLACE "host_verbs_" "host_" text "${text}")
	string(REPLACE "atomic_int" "int" text "${text}")
	string(REPLACE "enum ibv_mr_type" "unsigned int" text "${text}")
	string(REPLACE "* (" "*(" text "${text}")
	string(REPLACE "* *" "**" text "${text}")
	string(REGEX REPLACE "\\* ([a-z_]+)$" "*\\1" text "${text}")
	set(${out} "${text}" PARENT_SCOPE)
endfunction()

# All structures of a table but verbs_qp, as C; and the offset of verbs_qp's comp_mask.
function(bridge_structures table out_text out_mask)
	set(text "")
	set(end "")
	set(close "")
	set(last_offset "")
	set(row "^([a-z_]+)\t([0-9=]+)\t([0-9]+)\t([^\t]*)\t(.*)$")
	file(STRINGS "${table}" lines REGEX "^verbs")
	foreach(line IN LISTS lines)
		if(NOT line MATCHES "${row}")
			message(FATAL_ERROR "${table}: not understood: ${line}")
		endif()
		set(struct "${CMAKE_MATCH_1}")
		set(offset "${CMAKE_MATCH_2}")
		set(size "${CMAKE_MATCH_3}")
		set(name "${CMAKE_MATCH_4}")
		set(type "${CMAKE_MATCH_5}")
		if(struct STREQUAL "verbs_qp")
			if(name STREQUAL "comp_mask")
				set(${out_mask} "${offset}" PARENT_SCOPE)
			endif()
			continue()
		endif()
		string(REGEX REPLACE "^verbs_" "host_" host "${struct}")
		if(offset STREQUAL "=")
			string(APPEND text "${end}struct ${host} {\n")
			set(end "};\nstatic_assert(sizeof(struct ${host}) == ${size}, \"${struct}\");\n")
			continue()
		endif()
		if(name MATCHES "^u\\.(.*)$") # a member of a union
			set(name "${CMAKE_MATCH_1}")
			bridge_member(member "${name}" "${type}")
			if(NOT offset STREQUAL last_offset)
				set(member "\tunion {\n\t\t${member}")
				set(close "\t};\n")
			else()
				set(member "\t\t${member}")
			endif()
		else()
			bridge_member(member "${name}" "${type}")
			set(member "${close}\t${member}")
			set(close "")
		endif()
		set(last_offset "${offset}")
		string(APPEND text "${member};\n")
		string(APPEND end "static_assert(offsetof(struct ${host}, ${name}) == ${offset}, \"${name}\");\n")
	endforeach()
	set(${out_text} "${text}${end}" PARENT_SCOPE)
endfunction()

function(rdmakit_bridge_tables number file)
	foreach(table IN LISTS ARGN)
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
		bridge_structures("${table}" text mask)
		if(DEFINED common AND NOT text STREQUAL common)
			message(FATAL_ERROR "${table}: another layout than that of the releases before")
		endif()
		set(common "${text}")
		list(APPEND masks ${mask})
		string(REGEX REPLACE "^.*-([0-9]+)[0-9.]*\\.tsv$" "\\1" release "${table}")
		list(APPEND releases ${release})
	endforeach()
	list(REMOVE_DUPLICATES masks)
	list(JOIN masks ", " masks)
	list(GET releases 0 first)
	list(GET releases -1 last)
	file(CONFIGURE OUTPUT "${file}" CONTENT "/* Written by bridge/Tables.cmake. */
#ifndef HOST_TABLES_H
#define HOST_TABLES_H

#define HOST_NUMBER ${number}
#define HOST_FIRST_RELEASE ${first}
#define HOST_LAST_RELEASE ${last}
#define HOST_QP_MASKS ${masks}

/* Structures that members point at. */
struct host_list_node {
	void *next, *prev;
};
struct host_device_ops;
struct host_sysfs_dev;
struct host_match_ent;
struct host_device;
struct host_context;
struct host_mr;

${common}
#endif
" @ONLY)
endfunction()
