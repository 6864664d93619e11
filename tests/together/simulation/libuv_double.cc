// This file replaces the part of libuv that the code in upgrader/shell uses: polls, one timer and
// idle handles. All of these work on the simulated machine. Ready descriptors are handled in random
// order. The timer is handled before the descriptors, as in libuv 1.44, or after them, as in libuv
// 1.45. The loop may be held up before it checks for ready descriptors.
#include <uv.h>

#include <algorithm>
#include <vector>

#include "tests/together/simulation/judge.h"
#include "tests/together/simulation/machine.h"

using upgrader::Duration;
using upgrader::Time;
using upgrader::simulation::the_judge;
using upgrader::simulation::the_machine;

namespace {

struct Handle {
  uv_handle_t* handle = nullptr;
  int fd = -1;
  int events = 0;
  Time due{0};
  bool active = false;
  uv_poll_cb on_poll = nullptr;
  uv_timer_cb on_timer = nullptr;
  uv_idle_cb on_idle = nullptr;
  uv_close_cb on_close = nullptr;  // called when the handle is closed; null before uv_close()
};

// The handles of the simulation's only loop.
std::vector<Handle> handles;
bool stopped = false;
Time loop_time{0};

template <class Kind>
Handle& of(Kind* handle) {
  auto* plain = reinterpret_cast<uv_handle_t*>(handle);
  const auto found = std::find_if(handles.begin(), handles.end(),
                                  [plain](const Handle& each) { return each.handle == plain; });
  if (found != handles.end()) return *found;
  handles.push_back({.handle = plain});
  return handles.back();
}

Handle* find(const uv_handle_t* handle) {
  for (Handle& each : handles) {
    if (each.handle == handle && each.on_close == nullptr) return &each;
  }
  return nullptr;
}

bool is_ready(const Handle& each) {
  if (!each.active || each.on_poll == nullptr) return false;
  return ((each.events & UV_READABLE) != 0 && the_machine->readable(each.fd)) ||
         ((each.events & UV_WRITABLE) != 0 && the_machine->writable(each.fd));
}

std::vector<uv_handle_t*> all_ready() {
  std::vector<uv_handle_t*> ready;
  for (const Handle& each : handles) {
    if (is_ready(each)) ready.push_back(each.handle);
  }
  return ready;
}

std::optional<Time> timer_due() {
  for (const Handle& each : handles) {
    if (each.active && each.on_timer != nullptr) return each.due;
  }
  return std::nullopt;
}

bool is_idle_wanted() {
  return std::any_of(handles.begin(), handles.end(),
                     [](const Handle& each) { return each.active && each.on_idle != nullptr; });
}

void run_timers() {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const bool is_due =
        handles[i].active && handles[i].on_timer != nullptr && handles[i].due <= loop_time;
    if (!is_due) continue;
    handles[i].active = false;
    the_judge->look_begins();
    handles[i].on_timer(reinterpret_cast<uv_timer_t*>(handles[i].handle));
  }
}

void run_idles() {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (handles[i].active && handles[i].on_idle != nullptr) {
      the_judge->turn_begins();
      handles[i].on_idle(reinterpret_cast<uv_idle_t*>(handles[i].handle));
    }
  }
}

// Lets time pass until a descriptor is ready or the timer runs out. Returns false if no descriptor
// will ever be ready and no timer is set.
bool wait_for_anything() {
  for (;;) {
    const std::optional<Time> due = timer_due();
    if (!all_ready().empty() || (due && *due <= the_machine->now())) return true;
    if (the_machine->step(the_machine->now())) continue;
    if (the_judge->at_rest(due)) continue;
    if (the_judge->over()) return false;
    const Time limit = due.value_or(Time::max());
    if (the_machine->step(limit)) continue;
    if (!due) return false;
    the_machine->pass_to(*due);
  }
}

void poll() {
  std::vector<uv_handle_t*> ready = all_ready();
  for (std::size_t left = ready.size(); left > 1; --left) {
    std::swap(ready[left - 1], ready[the_machine->random.below(left)]);
  }
  for (uv_handle_t* handle : ready) {
    const Handle* each = find(handle);
    if (each == nullptr || !each->active || stopped) continue;
    the_judge->turn_begins();
    const uv_poll_cb callback = each->on_poll;
    callback(reinterpret_cast<uv_poll_t*>(handle), 0, each->events);
  }
}

void run_closings() {
  for (;;) {
    const auto closing = std::find_if(handles.begin(), handles.end(),
                                      [](const Handle& each) { return each.on_close != nullptr; });
    if (closing == handles.end()) return;
    const Handle closed = *closing;
    handles.erase(closing);
    closed.on_close(closed.handle);
  }
}

bool is_alive() {
  return std::any_of(handles.begin(), handles.end(),
                     [](const Handle& each) { return each.active || each.on_close != nullptr; });
}

// Runs one turn of the loop. Returns false if the run is over, or if the loop would wait for ever.
bool turn() {
  const bool timers_last = the_machine->swarm.timers_last;
  uv_update_time(nullptr);
  if (!timers_last) run_timers();
  run_idles();
  if (!stopped) {
    if (!the_machine->calm && the_machine->random.chance(the_machine->swarm.hold_ups)) {
      the_machine->hold_up(Duration(the_machine->random.between(1, the_machine->swarm.hold_up_ms)));
    }
    if (!the_machine->calm && the_machine->random.chance(the_machine->swarm.freezes)) {
      const auto longest = the_machine->swarm.hold_up_ms;
      the_machine->pass_to(the_machine->now() + Duration(the_machine->random.between(1, longest)));
    }
    if (!is_idle_wanted() && !wait_for_anything()) return false;
    uv_update_time(nullptr);
    poll();
  }
  if (timers_last) run_timers();
  run_closings();
  the_judge->turn_ended();
  return true;
}

}  // namespace

extern "C" {

int uv_loop_init(uv_loop_t*) {
  handles.clear();
  stopped = false;
  return 0;
}

int uv_loop_close(uv_loop_t*) {
  return handles.empty() ? 0 : UV_EBUSY;
}

int uv_backend_fd(const uv_loop_t*) {
  // The upgrader passes this descriptor only to epoll_wait(). The simulation replaces that call,
  // too, so the number does not matter.
  return -1;
}

void uv_update_time(uv_loop_t*) {
  loop_time = the_machine->now();
}

uint64_t uv_hrtime() {
  if (the_machine == nullptr) return 0;
  the_machine->jostle();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(the_machine->now()).count());
}

int uv_is_active(const uv_handle_t* handle) {
  const Handle* const found = find(handle);
  return found != nullptr && found->active ? 1 : 0;
}

void uv_stop(uv_loop_t*) {
  stopped = true;
}

int uv_run(uv_loop_t*, uv_run_mode) {
  while (!stopped && is_alive()) {
    if (the_judge->over() || !turn()) break;
  }
  stopped = false;
  run_closings();
  return is_alive() && !the_judge->over() ? 1 : 0;
}

int uv_poll_init(uv_loop_t*, uv_poll_t* handle, int fd) {
  of(handle) = {.handle = reinterpret_cast<uv_handle_t*>(handle), .fd = fd};
  return 0;
}

int uv_poll_start(uv_poll_t* handle, int events, uv_poll_cb callback) {
  Handle& its = of(handle);
  its.events = events;
  its.on_poll = callback;
  its.active = true;
  return 0;
}

int uv_poll_stop(uv_poll_t* handle) {
  of(handle).active = false;
  return 0;
}

int uv_timer_init(uv_loop_t*, uv_timer_t* handle) {
  of(handle) = {.handle = reinterpret_cast<uv_handle_t*>(handle)};
  return 0;
}

int uv_timer_start(uv_timer_t* handle, uv_timer_cb callback, std::uint64_t delay, std::uint64_t) {
  the_judge->timer_set();
  Handle& its = of(handle);
  its.due = loop_time + Duration(delay);
  its.on_timer = callback;
  its.active = true;
  return 0;
}

int uv_timer_stop(uv_timer_t* handle) {
  the_judge->timer_set();
  of(handle).active = false;
  return 0;
}

int uv_idle_init(uv_loop_t*, uv_idle_t* handle) {
  of(handle) = {.handle = reinterpret_cast<uv_handle_t*>(handle)};
  return 0;
}

int uv_idle_start(uv_idle_t* handle, uv_idle_cb callback) {
  Handle& its = of(handle);
  if (its.active) return 0;
  its.on_idle = callback;
  its.active = true;
  return 0;
}

int uv_idle_stop(uv_idle_t* handle) {
  of(handle).active = false;
  return 0;
}

void uv_close(uv_handle_t* handle, uv_close_cb callback) {
  Handle& its = of(handle);
  its.active = false;
  its.on_close = callback;
}

}  // extern "C"
