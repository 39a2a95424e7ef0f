# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# With RDMAKIT_TESTS_CHECKED_ONLY the compiler checks the C sources of the directory that includes this, and of those below it, and
# makes empty files of them: programs of tests and benchmarks link with each other, so they all are empty then.
if(RDMAKIT_TESTS_CHECKED_ONLY)
	set(CMAKE_C_COMPILE_OBJECT "<CMAKE_C_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE>" "<CMAKE_COMMAND> -E touch <OBJECT>")
	foreach(product LINK_EXECUTABLE CREATE_SHARED_LIBRARY CREATE_SHARED_MODULE ARCHIVE_CREATE)
		set(CMAKE_C_${product} "<CMAKE_COMMAND> -E touch <TARGET>")
	endforeach()
	set(CMAKE_C_ARCHIVE_APPEND "")
	set(CMAKE_C_ARCHIVE_FINISH "")
endif()
