#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "value.hpp"

namespace softlookup::bindings {

// What an adapter answers, handed to JavaScript piece by piece (js/border.ts), which puts each on a
// stack. Arrays are copied out; JavaScript owns what it gets. What goes wrong there it tells its
// caller itself.

void give_nothing() noexcept;
void give(double number) noexcept;
void give_size(std::size_t size) noexcept;
void give(bool flag) noexcept;
void give(std::string_view text) noexcept;

/// A fresh typed array.
void give_array(const float* data, std::size_t count) noexcept;
void give_array(const std::uint8_t* data, std::size_t count) noexcept;

/// `out`, a Float32Array of the caller's, once it holds the data.
void give_into(const Value& out, const float* data, std::size_t count) noexcept;

/// An array of whole numbers.
void give_sizes(const std::size_t* sizes, std::size_t count) noexcept;

/// The last `count` that were given, as an array.
void give_list(std::size_t count) noexcept;

/// The last that were given, as an object: a name for each, with a space between two, in a literal
/// (it is read once). Where nothing was given, there is no property.
void give_object(const char* names) noexcept;

}  // namespace softlookup::bindings
