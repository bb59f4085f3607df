# A system outside the tree, for projects that found the package Lockstep (docs/writing-a-protocol.md).

# lockstep_refuse(<file> <what> <remedy>): the end, in words that stand as they are.
function(lockstep_refuse file what remedy)
  message(FATAL_ERROR " ${file}: error: ${what}\n   ${remedy}")
endfunction()

# lockstep_check_system(<header>): what can be said before a compiler says it in its own way.
function(lockstep_check_system header)
  cmake_path(GET header STEM stem)
  if(NOT EXISTS "${header}" OR IS_DIRECTORY "${header}")
    lockstep_refuse("${header}" "there is no such header" "name a system's header, such as path/my.hpp")
  endif()
  if(header MATCHES "[][;\"\\\\]")
    lockstep_refuse("${header}" "no compiler finds a path with such characters in it" "rename it")
  endif()
  if(NOT stem MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    lockstep_refuse("${header}" "'${stem}' cannot be the name of a namespace, as a system's header has to be"
                    "rename the file: letters, digits and underscores")
  endif()
  if(stem IN_LIST LOCKSTEP_SYSTEM_NAMES)
    lockstep_refuse("${header}" "lockstep::${stem} is the namespace of a system that comes with Lockstep"
                    "rename the header, its namespace and its Info::name")
  endif()
  file(STRINGS "${header}" namespace REGEX "namespace +(lockstep *:: *)?${stem}([^A-Za-z0-9_:]|$)" LIMIT_COUNT 1)
  if(NOT namespace)
    lockstep_refuse("${header}" "there is no namespace lockstep::${stem} in it"
                    "a system's namespace has the name of its header")
  endif()
  file(STRINGS "${header}" info REGEX "struct +Info([^A-Za-z0-9_]|$)" LIMIT_COUNT 1)
  if(NOT info)
    lockstep_refuse("${header}" "there is no struct Info in it"
                    "a system says in lockstep::${stem}::Info what it is; spec/memory/sc.hpp has the smallest")
  endif()
endfunction()

# Objects of one unit of the executables, as optimized as the tree's own.
function(lockstep_unit name reading libraries)
  add_library(${name} OBJECT)
  target_link_libraries(${name} PRIVATE ${libraries})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${LOCKSTEP_OPTIMIZE_${reading}}>)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF JOB_POOL_COMPILE heavy)
  foreach(executable IN LISTS ARGN)
    target_sources(${executable} PRIVATE $<TARGET_OBJECTS:${name}>)
  endforeach()
endfunction()

# lockstep_add_system(<header> [TARGET <name>] [PROOFS <source>]): the executables <name>, `lockstep` unless said,
# <name>-prove and <name>-sim, that are the command with all systems that come with Lockstep, and with this one. <name> runs
# the other two for what they are named after. Called again it adds to the same executables. Proofs are a translation unit as in proofs/systems: <stem>.proofs.cpp beside the header, unless said, where there is
# one.
function(lockstep_add_system header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET;PROOFS" "")
  if(arg_UNPARSED_ARGUMENTS)
    lockstep_refuse("lockstep_add_system" "unexpected: ${arg_UNPARSED_ARGUMENTS}"
                    "say lockstep_add_system(my.hpp [TARGET name] [PROOFS lemmas.cpp])")
  endif()
  set(target "${arg_TARGET}")
  if(NOT target)
    set(target lockstep)
  endif()
  cmake_path(ABSOLUTE_PATH header NORMALIZE)
  lockstep_check_system("${header}")
  cmake_path(GET header STEM stem)

  set(LOCKSTEP_UNITS_DIR "${CMAKE_CURRENT_BINARY_DIR}/${target}.systems")
  if(NOT TARGET ${target})
    lockstep_built_from(built_from "${LOCKSTEP_DATA_DIR}")
    lockstep_add_command(${target} "${built_from}")
  endif()
  get_target_property(others ${target} LOCKSTEP_SYSTEMS)
  foreach(other IN LISTS others)
    cmake_path(GET other STEM other_stem)
    if(other_stem STREQUAL stem)
      lockstep_refuse("${header}" "lockstep::${stem} is the namespace of '${other}', too"
                      "rename one of the headers, its namespace and its Info::name")
    endif()
  endforeach()
  set_property(TARGET ${target} APPEND PROPERTY LOCKSTEP_SYSTEMS "${header}")

  foreach(kind IN LISTS LOCKSTEP_KINDS)
    set(executables ${target} ${target}-prove ${target}-sim)
    if(kind STREQUAL timed)
      set(executables ${target}-sim)
    endif()
    lockstep_unit(${target}.${stem}.${kind} ${kind} "Lockstep::core;Lockstep::refimpl" ${executables})
    lockstep_add_reading(${target}.${stem}.${kind} ${kind} "${header}")
  endforeach()

  set(proofs "${arg_PROOFS}")
  if(proofs)
    cmake_path(ABSOLUTE_PATH proofs NORMALIZE)
    if(NOT EXISTS "${proofs}")
      lockstep_refuse("${proofs}" "there is no such file of proofs" "leave PROOFS out, or write it")
    endif()
  else()
    cmake_path(GET header PARENT_PATH folder)
    file(GLOB proofs CONFIGURE_DEPENDS "${folder}/${stem}.proofs.cpp")
  endif()
  if(proofs)
    lockstep_unit(${target}.${stem}.proved proved Lockstep::proofs ${target}-prove)
    target_sources(${target}.${stem}.proved PRIVATE "${proofs}")
  endif()
endfunction()
