// Tells a test whether one of its checks has failed so far. A CHECK that fails does not end its
// test, so a test that prints its result must ask before it says that it has reached its goal.
#pragma once

namespace test_support {

// True if a check of the current test has failed. Set by catch_main.cc.
inline bool has_failed_check = false;

}  // namespace test_support
