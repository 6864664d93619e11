#include "tests/support/source_directory.h"

std::string source_directory() {
  return SOURCE_DIRECTORY;
}
