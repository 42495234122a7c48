# The header-only packages. They usually lie in a system include directory, which must never enter a
# WebAssembly compile whole: the host's libc headers would come with it. So only the wanted folders are
# linked into the build tree, for native builds as well, that both see the same headers.

set(third_party_include "${PROJECT_BINARY_DIR}/third_party/include")

# softlookup_header_package(<name> <folder> [header]): finds the folder (that holds the header) and gives the
# target softlookup_<name>.
function(softlookup_header_package name folder)
  string(TOUPPER ${name} variable)
  set(variable SOFTLOOKUP_${variable}_INCLUDE_DIR)
  find_path(
    ${variable}
    NAMES ${folder}/${ARGN}
    HINTS ENV CONDA_PREFIX
    PATHS /usr/local /opt/homebrew /usr
    PATH_SUFFIXES include
    NO_CMAKE_FIND_ROOT_PATH # Emscripten's toolchain would look nowhere but in its sysroot
    DOC "Directory that holds ${folder}/"
  )
  if(NOT ${variable})
    message(FATAL_ERROR "${folder}/ headers not found; install them or set ${variable}")
  endif()

  set(link "${third_party_include}/${folder}")
  file(REMOVE_RECURSE "${link}")
  file(MAKE_DIRECTORY "${third_party_include}")
  file(CREATE_LINK "${${variable}}/${folder}" "${link}" RESULT failure SYMBOLIC)
  if(failure)
    file(COPY "${${variable}}/${folder}" DESTINATION "${third_party_include}")
  endif()

  add_library(softlookup_${name} INTERFACE)
  target_include_directories(softlookup_${name} SYSTEM INTERFACE "${third_party_include}")
endfunction()

softlookup_header_package(xtl xtl)
softlookup_header_package(xtensor xtensor)
target_link_libraries(softlookup_xtensor INTERFACE softlookup_xtl)

softlookup_header_package(hwy hwy highway.h)
add_library(softlookup_highway INTERFACE)
target_link_libraries(softlookup_highway INTERFACE softlookup_hwy)
# Chooses among the instruction sets of the machine; WebAssembly has one.
if(NOT EMSCRIPTEN)
  find_library(SOFTLOOKUP_HWY_LIBRARY hwy REQUIRED)
  target_link_libraries(softlookup_highway INTERFACE "${SOFTLOOKUP_HWY_LIBRARY}")
endif()

# xtensor 0.26 moved its headers into folders; under their old names they forward.
set(xtensor "${third_party_include}/xtensor")
file(GLOB moved_headers "${xtensor}/*/*.hpp")
foreach(header IN LISTS moved_headers)
  file(RELATIVE_PATH path "${third_party_include}" "${header}")
  get_filename_component(name "${header}" NAME)
  file(CONFIGURE OUTPUT third_party/forward/xtensor/${name} CONTENT "#include <${path}>\n")
endforeach()
if(moved_headers)
  target_include_directories(softlookup_xtensor SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/third_party/forward")
endif()

file(GLOB xtensor_config "${xtensor}/xtensor_config.hpp" "${xtensor}/core/xtensor_config.hpp")
file(STRINGS "${xtensor_config}" version_lines REGEX "define XTENSOR_VERSION_(MAJOR|MINOR|PATCH)")
string(REGEX MATCHALL "[0-9]+" softlookup_xtensor_version "${version_lines}")
list(JOIN softlookup_xtensor_version . softlookup_xtensor_version)

if(SOFTLOOKUP_TESTS)
  softlookup_header_package(json nlohmann)
  softlookup_header_package(catch2 catch2 catch.hpp) # not release 3
endif()
