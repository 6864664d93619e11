// Acts as an operator at the control directory: writes requests, and reads status.json.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/together/integration/json.h"
#include "tests/together/integration/world.h"

namespace integration {

class Operator {
 public:
  explicit Operator(World& world) : world_(world) {}

  [[nodiscard]] std::string option() const { return "--control=" + world_.path("ctl"); }
  [[nodiscard]] std::string text() const { return world_.read("ctl/status.json"); }
  [[nodiscard]] Json status() const {
    const auto status = Json::parse(text());
    if (!status) world_.fail("status.json is no JSON: " + text(), Where::current());
    return *status;
  }
  [[nodiscard]] bool shows(const std::string& part) const {
    return text().find(part) != std::string::npos;
  }
  void wait_for(const std::string& part) const {
    world_.wait_until([&] { return shows(part); }, part);
  }
  void wait_for_phase(const std::string& phase) const { wait_for("\"phase\":\"" + phase + "\""); }

  // Opens the FIFO for writing, without waiting. Returns -1 if no upgrader reads requests.
  [[nodiscard]] int open_fifo() const {
    return ::open(world_.path("ctl/control").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  }
  // Writes the bytes with one call of write(), as upgrader(8) demands.
  void write(const std::string& bytes) const {
    world_.wait_until([&] { return std::filesystem::exists(world_.path("ctl/control")); },
                      "the FIFO");
    const int fd = open_fifo();
    if (fd < 0) world_.fail("nobody takes requests", Where::current());
    const bool whole =
        ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(fd);
    if (!whole) world_.fail("the FIFO does not take it", Where::current());
  }
  // Writes a request. `members` are its members besides `type` and `request`.
  void ask(const std::string& type, const std::string& name,
           const std::string& members = "") const {
    write(R"({"type":")" + type + R"(","request":")" + name + "\"" +
          (members.empty() ? "" : "," + members) + "}\n");
  }
  void expect_ok(const std::string& name, const std::string& type) const {
    wait_for(R"({"request":")" + name + R"(","type":")" + type + R"(","ok":true)");
  }
  void expect_refused(const std::string& name, const std::string& type) const {
    wait_for(R"({"request":")" + name + R"(","type":")" + type + R"(","ok":false)");
  }

 private:
  World& world_;
};

}  // namespace integration
