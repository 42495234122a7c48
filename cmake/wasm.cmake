# Every flag that only WebAssembly wants, compile and link, each with its reason.

# The stack: xtensor keeps data on the heap, so 1 MB is ample; newer releases default to 64 KB, which is not.
# Emscripten 3.1.25 renamed the setting.
if(EMSCRIPTEN_VERSION VERSION_LESS 3.1.25)
  set(stack_size -sTOTAL_STACK=1MB)
else()
  set(stack_size -sSTACK_SIZE=1MB)
endif()

set(compile_and_link
    -msimd128 # 128-bit SIMD: four floats an instruction
    -mbulk-memory # memory filled and copied by one instruction
    -fwasm-exceptions # C++ exceptions without a trip through JavaScript at every call
    $<$<CONFIG:Release>:-flto> # drops what no caller reaches, across files
)
target_compile_options(softlookup_compile INTERFACE ${compile_and_link})
target_link_options(softlookup_compile INTERFACE ${compile_and_link} ${stack_size} -sALLOW_MEMORY_GROWTH)

if(CMAKE_BUILD_TYPE STREQUAL Debug)
  target_link_options(
    softlookup_compile
    INTERFACE
    -sASSERTIONS=2 # the runtime checks itself
    -sSTACK_OVERFLOW_CHECK=2 # every function checks the stack
  )
endif()

# The module of the package. The package reads or fetches the binary itself and hands it over through
# instantiateWasm, so that one glue serves every environment.
add_library(softlookup_wasm_module INTERFACE)
target_link_options(
  softlookup_wasm_module
  INTERFACE
  $<$<CONFIG:Release>:-Oz> # at -O3 the linker inlines what was compiled for size
  -sMODULARIZE # a factory, so that a page may hold several instances
  -sEXPORT_ES6 # as an ES module
  -sENVIRONMENT=web # no code for Node, which is broken in ES modules of 3.1.6
  -sDYNAMIC_EXECUTION=0 # no eval, no new Function: a strict Content-Security-Policy allows it
  -sFILESYSTEM=0 # there are no files
  -sTEXTDECODER=2 # every engine with SIMD has one
  -sMALLOC=emmalloc # the smaller allocator
  -sINCOMING_MODULE_JS_API=instantiateWasm # the only thing that the package passes in
)

# Embind registers every type that C++ knows, each with JavaScript of its own. In a release where its library is these
# types and no more (newer ones keep other things there), bindings/builtin_types.cpp takes their place.
if(EMSCRIPTEN_VERSION VERSION_LESS 3.1.7)
  target_compile_definitions(softlookup_wasm_module INTERFACE SOFTLOOKUP_BUILTIN_TYPES)
  foreach(library embind emval)
    target_link_options(
      softlookup_wasm_module INTERFACE "SHELL:--js-library ${EMSCRIPTEN_ROOT_PATH}/src/embind/${library}.js"
    )
  endforeach()
else()
  target_link_options(softlookup_wasm_module INTERFACE --bind)
endif()

# The download counts: -Oz, with small functions inlined all the same (3.1.6 inlines nothing there, not even what is
# smaller than a call), -Os for what a small call goes through, and -O2 for the loops over numbers. (Of two levels on one
# line 3.1.6 heeds the second.)
file(GLOB sources RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS src/*.cpp bindings/*.cpp)
set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Oz;-finline-functions>")
set_source_files_properties(
  src/attention_checks.cpp src/flash.cpp src/panels.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os;-finline-functions>"
)
set_source_files_properties(src/kernel.cpp PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)

# The tests: a program for Node that reads the golden files.
add_library(softlookup_wasm_tests INTERFACE)
target_link_options(
  softlookup_wasm_tests
  INTERFACE
  -sENVIRONMENT=node
  -sNODERAWFS # the golden files by their real path
  -sEXIT_RUNTIME # main's result becomes the exit code
  -sSTACK_OVERFLOW_CHECK=2 # every function checks the stack
  $<$<CONFIG:Release>:-O1> # at -O3 the linker optimises the tests too, which takes minutes
  -sWASM_ASYNC_COMPILATION=0 # else 3.1.6 calls fetch, which exists since Node 18 but reads no file
)

# Debian's Emscripten keeps acorn, which its optimiser needs, where another Node than Debian's does not look.
if(NOT EXISTS "${EMSCRIPTEN_ROOT_PATH}/node_modules/acorn" AND EXISTS /usr/share/nodejs/acorn)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
endif()
