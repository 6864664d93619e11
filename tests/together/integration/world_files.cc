// Makes and reads the files in the directory of a test. See world.h.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace integration {

std::string World::path(std::string_view name) const {
  return directory_ + "/" + std::string(name);
}

std::string World::install(std::string_view name) {
  std::filesystem::copy_file(puppet(), path(name));
  return path(name);
}

std::string World::install_script(std::string_view name) {
  return write(name, "#!" + puppet() + "\n");
}

std::string World::write(std::string_view name, std::string_view content, mode_t mode) {
  const int fd = open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  close(fd);
  return path(name);
}

std::string World::read(std::string_view name) const {
  return read_file(path(name));
}

}  // namespace integration
