// Tells tests where the source tree is, from which they read tables, pages or inputs. No other
// object depends on the place of the tree, so that several checkouts can share one compiler cache.
#pragma once

#include <string>

// Returns the absolute path of the source tree, without a slash at its end.
std::string source_directory();
