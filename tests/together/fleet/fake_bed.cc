// Makes the store for the tests of store_contract.cc: the fake store in memory.
#include "tests/together/fleet/fake_store.h"
#include "tests/together/fleet/store_bed.h"

namespace fleet::test {
namespace {

class FakeBed : public StoreBed {
 public:
  Store& store() override { return store_; }
  Store& other() override { return other_; }
  Timers& timers() override { return time_; }
  void turn() override {
    if (!time_.run_next()) time_.post(std::chrono::milliseconds(1), [] {});
  }
  void compact(Revision revision) override { cell_.compact(revision); }
  void swallow_answers() override { store_.set_faults({.lost_answers = 1'000}); }
  void break_connections() override { store_.set_faults({}); }
  void cut(Cut how) override { store_.set_reachable(how == Cut::none); }

 private:
  VirtualTime time_;
  FakeCell cell_{time_};
  FakeStore store_{time_, cell_, 1};
  FakeStore other_{time_, cell_, 2};
};

}  // namespace

std::unique_ptr<StoreBed> make_bed() {
  return std::make_unique<FakeBed>();
}

}  // namespace fleet::test
