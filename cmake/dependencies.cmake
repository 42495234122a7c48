# The header-only packages. They usually lie in a system include directory, which must never enter a
# WebAssembly compile whole: the host's libc headers would come with it. So only the wanted folders are
# linked into the build tree, for native builds as well, that both see the same headers.

set(third_party_include "${PROJECT_BINARY_DIR}/third_party/include")

# softlookup_header_package(<name> <folder> <header>...): finds the folder by one of its headers and gives
# the target softlookup_<name>.
function(softlookup_header_package name folder)
  string(TOUPPER ${name} variable)
  set(variable SOFTLOOKUP_${variable}_INCLUDE_DIR)
  list(TRANSFORM ARGN PREPEND "${folder}/" OUTPUT_VARIABLE headers)
  find_path(
    ${variable}
    NAMES ${headers}
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

softlookup_header_package(xtl xtl xtl_config.hpp)
# xtensor 0.26 moved its headers into folders.
softlookup_header_package(xtensor xtensor xtensor_config.hpp core/xtensor_config.hpp)
target_link_libraries(softlookup_xtensor INTERFACE softlookup_xtl)

if(SOFTLOOKUP_TESTS)
  softlookup_header_package(json nlohmann json.hpp)
  softlookup_header_package(catch2 catch2 catch.hpp)
endif()
