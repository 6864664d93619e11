// Commits an error that a sanitizer must report. `make sanitize` runs this program to show that the
// sanitizers work. Usage: `faults KIND`. The error depends on the program's arguments, so that the
// compiler cannot see it.
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int one_behind(const char* text) {
  char* copy = ::strdup(text);
  const int behind = copy[std::strlen(text) + 1];
  std::free(copy);
  return behind;
}

int overflowed(int number) {
  return INT_MAX - 3 + number;
}

int volatile result = 0;
void* volatile lost = nullptr;

void leak() {
  lost = std::malloc(100);
  lost = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  ::close(STDERR_FILENO);
  const std::string kind = argv[1];
  if (kind == "overread") result = one_behind(argv[1]);
  if (kind == "overflow") result = overflowed(static_cast<int>(kind.size()));
  if (kind == "leak") leak();
  return 0;
}
