# A system is a header: the build makes its translation units, one for each value kind, so that what is explored is
# optimized and what only prints is not. They register themselves; nothing is edited to add one.
#
# Included by the tree and, installed beside LockstepConfig.cmake, by whoever builds systems against it.

set(LOCKSTEP_SYSTEMS_DIR "${CMAKE_CURRENT_LIST_DIR}/systems")
set(LOCKSTEP_BUILT_FROM_IN "${CMAKE_CURRENT_LIST_DIR}/built_from.cpp.in")
# `full` is Concrete where sizes are large.
set(LOCKSTEP_KINDS concrete full recorded timed)

# What is explored and what is simulated is hot; trees are not. Unrolling and cloning at -O3 doubles the time to compile
# these large templates and gains nothing measurable.
set(LOCKSTEP_OPTIMIZE_concrete -O2)
set(LOCKSTEP_OPTIMIZE_full -O2)
set(LOCKSTEP_OPTIMIZE_timed -O2)
set(LOCKSTEP_OPTIMIZE_recorded -O0)
# Solvers do the work: optimizing these large templates, and the explorer's view of their lemmas, gains little.
set(LOCKSTEP_OPTIMIZE_proved -O1)

# A memory system's translation unit can need 2 GB: no more of them at once than memory has room for.
cmake_host_system_information(RESULT memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR heavy_jobs "${memory_mb} / 2560")
if(heavy_jobs LESS 1)
  set(heavy_jobs 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS heavy=${heavy_jobs})

# lockstep_claims_of(<variable> <header>): the file of claims beside a header (spec/kernel/at_once.hpp), named as the
# header is, or nothing.
function(lockstep_claims_of variable header)
  cmake_path(REPLACE_EXTENSION header claims.hpp OUTPUT_VARIABLE claims)
  cmake_path(ABSOLUTE_PATH claims BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  if(NOT EXISTS "${file}")
    set(claims "")
  endif()
  set(${variable} "${claims}" PARENT_SCOPE)
endfunction()

# lockstep_add_reading(<target> <kind> <header>): adds to a target the unit that reads the header with one kind
# (cmake/systems/<kind>.cpp.in). The header, absolute or relative to an include folder, has a namespace
# lockstep::<stem> with a struct Info. LOCKSTEP_UNITS_DIR is where units are put.
function(lockstep_add_reading target kind header)
  cmake_path(GET header STEM LOCKSTEP_SYSTEM)
  set(LOCKSTEP_SYSTEM_HEADER "${header}")
  lockstep_claims_of(claims "${header}")
  set(LOCKSTEP_SYSTEM_FILE "${header}")
  set(LOCKSTEP_SYSTEM_CLAIMS NoClaims)
  if(claims)
    set(LOCKSTEP_SYSTEM_FILE "${claims}")
    set(LOCKSTEP_SYSTEM_CLAIMS "${LOCKSTEP_SYSTEM}::Claims")
  endif()
  set(source "${LOCKSTEP_UNITS_DIR}/${LOCKSTEP_SYSTEM}.${kind}.cpp")
  configure_file("${LOCKSTEP_SYSTEMS_DIR}/${kind}.cpp.in" "${source}" @ONLY)
  target_sources(${target} PRIVATE "${source}")
endfunction()

# lockstep_add_command(<target> [<source>...]): the four executables of the command (cli/command.hpp), with all systems
# that come with Lockstep: <target>, <target>-prove, <target>-sim and <target>-view. Who explores waits for none of the
# others.
set(LOCKSTEP_EXECUTABLES ";-prove;-sim;-view")
function(lockstep_add_command target)
  set(needs "commands;prove;sim;view")
  set(lists ";proved;timed;")
  foreach(suffix needed list IN ZIP_LISTS LOCKSTEP_EXECUTABLES needs lists)
    add_executable(${target}${suffix} ${ARGN})
    target_link_libraries(${target}${suffix} PRIVATE Lockstep::cli Lockstep::${needed} Lockstep::concrete
                                                     Lockstep::full Lockstep::recorded)
    if(list)
      target_link_libraries(${target}${suffix} PRIVATE Lockstep::${list})
    endif()
  endforeach()
endfunction()

# lockstep_built_from(<variable> <folder>): the unit that says where tests, models and machines lie
# (checker/support/home.hpp).
function(lockstep_built_from variable LOCKSTEP_DATA_DIR)
  set(source "${LOCKSTEP_UNITS_DIR}/built_from.cpp")
  configure_file("${LOCKSTEP_BUILT_FROM_IN}" "${source}" @ONLY)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()

# lockstep_system_headers(<variable> <folder>...): the headers below folders of the tree that have a struct Info,
# relative to its root.
function(lockstep_system_headers variable)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${folder}/*.hpp")
    foreach(header IN LISTS headers)
      file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" info REGEX "^struct Info([ :{]|$)" LIMIT_COUNT 1)
      if(info)
        list(APPEND found "${header}")
      endif()
    endforeach()
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()
