#pragma once

// The one place that names where Catch2 lies.
#include <catch2/catch.hpp>
