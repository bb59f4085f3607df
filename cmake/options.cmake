# How our own code is compiled, as the one target `lockstep_options`: include root, warnings, processor and
# sanitizers.

add_library(lockstep_options INTERFACE)
target_include_directories(lockstep_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion)

# GCC 12 warns of its own library where there is nothing wrong: of std::string's operator+ (bug 105651) and of
# the AVX-512 intrinsics that xxHash uses (bug 105593).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lockstep_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-maybe-uninitialized)
endif()

if(LOCKSTEP_WERROR)
  target_compile_options(lockstep_options INTERFACE -Werror)
endif()

if(LOCKSTEP_NATIVE)
  target_compile_options(lockstep_options INTERFACE -march=native)
endif()

if(LOCKSTEP_SANITIZE)
  set(sanitize -fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(lockstep_options INTERFACE ${sanitize})
  target_link_options(lockstep_options INTERFACE ${sanitize})
endif()

if(LOCKSTEP_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LOCKSTEP_FUZZ needs clang: configure with the preset `fuzz`")
  endif()
  target_compile_options(lockstep_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# A memory system's translation unit can need 2 GB: no more of them at once than memory has room for.
cmake_host_system_information(RESULT memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR heavy_jobs "${memory_mb} / 2560")
if(heavy_jobs LESS 1)
  set(heavy_jobs 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS heavy=${heavy_jobs})
