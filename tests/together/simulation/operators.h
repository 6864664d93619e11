// The FIFO of the control directory as the kernel keeps it, and the simulated operators who write
// to this FIFO. The operators write good requests, requests whose names or ids were used before,
// malformed requests, lines that are not requests, and incomplete lines. They also record the
// meaning of each line for the judge (judge.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "tests/together/simulation/random.h"
#include "upgrader/wire/control_request.h"

namespace upgrader::simulation {

class Machine;

// A line that an operator has written, and its correct meaning. The upgrader must pass each
// well-formed line to its supervisor, with two exceptions: a request of the same name has already
// been answered, or the id of the requested upgrade is already known.
struct Asked {
  std::string name;
  std::string type;
  bool well_formed = false;
  upgrader::Deed deed = upgrader::Deed::shutdown;
  std::string id;  // the id of an upgrade; "" if the upgrader is to choose one
};

class ControlPipe {
 public:
  // ---- the upgrader's side; `fd` is the number of its descriptor
  void make() { exists_ = true; }
  void remove() { exists_ = false; }
  void opened(int fd);
  void closed(int fd);
  [[nodiscard]] bool readable(int fd) const;
  // Reads at most `size` bytes. Returns 0 at the end of the file, and no value if there are no
  // bytes yet.
  [[nodiscard]] std::optional<std::size_t> read(char* buffer, std::size_t size);

  // ---- the operators' side

  // Returns false if nobody reads the FIFO, or if it does not exist.
  [[nodiscard]] bool open_to_write();
  void close_to_write();
  // Writes the whole text, or nothing if the text does not fit into the FIFO.
  void write(const std::string& text);
  [[nodiscard]] bool is_open() const { return exists_ && !readers_.empty(); }

 private:
  static constexpr std::size_t capacity = 65'536;

  bool exists_ = false;
  std::string bytes_;
  // A number for each descriptor that reads the FIFO: the value of came_ (how many writers have
  // come so far) when the descriptor was opened, minus 1 if a writer had the FIFO open then. If
  // came_ differs from this number, and no writer has the FIFO open now, the reader sees the end of
  // the file.
  std::map<int, std::uint64_t> readers_;
  std::uint64_t came_ = 0;
  int writers_ = 0;
};

class Operators {
 public:
  explicit Operators(Machine& machine) : machine_(machine) {}

  // Plans the visit of an operator, who comes at `at`, writes `lines` lines, and then keeps the
  // FIFO open for `stays`.
  void expect(Time at, int lines, Duration stays);
  [[nodiscard]] std::optional<Time> next() const;
  // Lets each operator act whose planned time has come.
  void act();
  // Ends all visits: operators who have the FIFO open close it, and no more operators come.
  void go_home();

  // Lets an operator come, confirm the upgrade `id`, and leave. Without this operator, an upgrade
  // that waits to be confirmed would wait for ever at the end of a run. Returns false if the
  // upgrader has not opened the control directory's FIFO for reading.
  [[nodiscard]] bool confirm(const std::string& id);

  // Returns the meaning of a whole line, or null if the line is not a request.
  [[nodiscard]] const Asked* meaning_of(const std::string& line) const;

  ControlPipe pipe;

 private:
  struct Visit {
    Time at;
    int lines = 0;      // lines that the operator still has to write; at 0 the visit ends
    Duration stays{0};  // how long the operator stays after the last line
    bool began = false;
  };

  void write_one();
  std::string line_of_any_kind();
  std::string request(const std::string& type, Asked asked, const std::string& members);
  std::string good_request();
  std::string upgrade(const std::string& name);
  std::string malformed_request();
  std::string no_request();
  std::string name();
  std::string id();

  Machine& machine_;
  std::vector<Visit> visits_;
  // The meanings of all lines that operators have ever written.
  std::map<std::string, Asked> meanings_;
  std::vector<std::string> written_;
  int names_ = 0;
};

}  // namespace upgrader::simulation
