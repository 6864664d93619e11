// This file knows the path of the source tree, from which tests read tables, pages or inputs. No
// other object file depends on that path, so several checkouts of the project can share one
// compiler cache.
#pragma once

#include <string>

// Returns the absolute path of the source tree, without a slash at its end.
std::string source_directory();
