// Tests that read tables, pages or inputs of the tree find them by this. One object alone depends
// on the place of the tree, so that a compiler cache serves several checkouts.
#pragma once

#include <string>

// The absolute path of the top of the tree from which the tests were built, without a slash behind
// it.
std::string source_directory();
