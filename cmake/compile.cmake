# How everything is compiled, natively and for WebAssembly; what only WebAssembly wants is in wasm.cmake.

if(softlookup_xtensor_version VERSION_LESS 0.27)
  set(CMAKE_CXX_STANDARD 17)
else()
  set(CMAKE_CXX_STANDARD 20) # xtensor's own wish
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(softlookup_compile INTERFACE)
# a * b + c must round twice everywhere: a fused multiply-add on one machine would change bits.
target_compile_options(softlookup_compile INTERFACE -ffp-contract=off)
# xtensor checks ranks, shapes and indices.
target_compile_definitions(softlookup_compile INTERFACE $<$<CONFIG:Debug>:XTENSOR_ENABLE_ASSERT>)

if(SOFTLOOKUP_SANITIZE)
  set(softlookup_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(softlookup_compile INTERFACE ${softlookup_sanitizers})
endif()

add_library(softlookup_warnings INTERFACE)
if(SOFTLOOKUP_STRICT)
  target_compile_options(
    softlookup_warnings
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wconversion
              -Wshadow
              -Wnon-virtual-dtor
              -Wold-style-cast
              -Wcast-align
              -Woverloaded-virtual
              -Wimplicit-fallthrough
              -Werror
  )
endif()
