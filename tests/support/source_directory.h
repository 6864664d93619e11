// Tells tests where the source tree is, in which they read tables, pages or inputs. Only this
// object depends on the place of the tree, so that one compiler cache serves several checkouts.
#pragma once

#include <string>

// Returns the absolute path of the source tree, without a slash at its end.
std::string source_directory();
