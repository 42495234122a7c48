# One executable; the same tests natively and, as WebAssembly, under Node.

file(GLOB test_sources CONFIGURE_DEPENDS tests/cpp/*.cpp tests/regression/*.cpp)
add_executable(softlookup_tests ${test_sources})
# The core is what is optimised; optimising its tests as well would only take minutes.
target_compile_options(softlookup_tests PRIVATE -O0 $<$<BOOL:${EMSCRIPTEN}>:-fno-lto>)
# Nor are sanitizers worth it for Catch2 itself.
set_source_files_properties(tests/cpp/main.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
target_include_directories(softlookup_tests PRIVATE tests/cpp)
target_compile_definitions(
  softlookup_tests PRIVATE SOFTLOOKUP_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests/golden"
)
target_link_libraries(
  softlookup_tests PRIVATE softlookup_core softlookup_warnings softlookup_json softlookup_catch2
)
if(EMSCRIPTEN)
  target_link_libraries(softlookup_tests PRIVATE softlookup_wasm_tests)
  set_target_properties(softlookup_tests PROPERTIES SUFFIX .cjs) # package.json makes .js an ES module
endif()

add_test(NAME softlookup_tests COMMAND softlookup_tests)
