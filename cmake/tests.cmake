# One executable; the same tests natively and, as WebAssembly, under Node.

file(GLOB test_sources CONFIGURE_DEPENDS tests/cpp/*.cpp tests/regression/*.cpp)
if(SOFTLOOKUP_SANITIZE) # which has its own operator new
  list(REMOVE_ITEM test_sources "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/heap_test.cpp")
endif()
add_executable(softlookup_tests ${test_sources})
# The core is what is optimised; optimising its tests as well would only take minutes.
target_compile_options(softlookup_tests PRIVATE -O0 $<$<BOOL:${EMSCRIPTEN}>:-fno-lto>)
# With the core's objects linked first, the functions of its headers are the sanitized ones in the tests as well.
if(SOFTLOOKUP_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL Linux)
  target_link_options(
    softlookup_tests
    BEFORE
    PRIVATE
    LINKER:--whole-archive
    $<TARGET_FILE:softlookup_core>
    LINKER:--no-whole-archive
  )
endif()
target_include_directories(softlookup_tests PRIVATE tests/cpp)
target_compile_definitions(
  softlookup_tests PRIVATE SOFTLOOKUP_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests/golden"
)
target_link_libraries(
  softlookup_tests PRIVATE softlookup_core softlookup_warnings softlookup_json softlookup_catch2
)
# Parsed once instead of for every file.
target_precompile_headers(
  softlookup_tests PRIVATE <xtensor/xarray.hpp> <xtensor/xtensor.hpp> <xtensor/xview.hpp> tests/cpp/catch.hpp
)
set_source_files_properties(tests/cpp/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # asks for more of Catch2
if(EMSCRIPTEN)
  target_link_libraries(softlookup_tests PRIVATE softlookup_wasm_tests)
  set_target_properties(softlookup_tests PROPERTIES SUFFIX .cjs) # package.json makes .js an ES module
endif()

add_test(NAME softlookup_tests COMMAND softlookup_tests)
