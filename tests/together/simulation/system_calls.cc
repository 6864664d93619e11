// This file connects the real code in upgrader/shell with the simulated machine. The linker's
// --wrap replaces the few system calls of loop.cc, agents.cc and channel.cc. This file also has its
// own versions of the classes and functions of process.h, program.h, relink.h, lock.h and
// control_directory.h.
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstring>

#include "base/lock.h"
#include "base/process.h"
#include "base/program.h"
#include "tests/together/simulation/agent_double.h"
#include "tests/together/simulation/judge.h"
#include "tests/together/simulation/machine.h"
#include "upgrader/shell/control_directory.h"
#include "upgrader/shell/relink.h"

using upgrader::simulation::Descriptor;
using upgrader::simulation::Pipe;
using upgrader::simulation::Process;
using upgrader::simulation::the_judge;
using upgrader::simulation::the_machine;

namespace {

bool is_ours(int fd) {
  return the_machine != nullptr && fd >= upgrader::simulation::Machine::first_fd;
}

ssize_t fails_with(int error) {
  errno = error;
  return -1;
}

ssize_t read_signal(void* buffer, std::size_t size) {
  if (size < sizeof(signalfd_siginfo)) return fails_with(EINVAL);
  const int signal = the_machine->take_signal();
  if (signal == 0) return fails_with(EAGAIN);
  signalfd_siginfo told{};
  told.ssi_signo = static_cast<std::uint32_t>(signal);
  std::memcpy(buffer, &told, sizeof told);
  the_judge->signal_taken(signal);
  return sizeof told;
}

ssize_t read_control(void* buffer, std::size_t size) {
  auto* bytes = static_cast<char*>(buffer);
  const std::optional<std::size_t> count = the_machine->operators.pipe.read(bytes, size);
  if (!count) return fails_with(EAGAIN);
  the_judge->control_read({bytes, *count});
  return static_cast<ssize_t>(*count);
}

}  // namespace

// ---- system calls

extern "C" {

ssize_t __real_read(int fd, void* buffer, size_t size);
ssize_t __real_write(int fd, const void* buffer, size_t size);
int __real_close(int fd);
int __real_clock_gettime(clockid_t clock, timespec* time);

ssize_t __wrap_read(int fd, void* buffer, size_t size) {
  if (!is_ours(fd)) return __real_read(fd, buffer, size);
  const Descriptor* descriptor = the_machine->at(fd);
  if (descriptor == nullptr) return fails_with(EBADF);
  if (descriptor->what == Descriptor::What::signals) return read_signal(buffer, size);
  the_machine->jostle();
  if (descriptor->what == Descriptor::What::control) return read_control(buffer, size);
  Pipe& pipe = descriptor->process->output;
  if (pipe.bytes.empty()) return pipe.writer ? fails_with(EAGAIN) : 0;
  if (the_machine->swarm.interrupts > 0 &&
      the_machine->random.chance(the_machine->swarm.interrupts)) {
    return fails_with(EINTR);
  }
  // Reads as many bytes as the caller asks for, or all bytes of the pipe if the pipe has fewer.
  const std::size_t count = std::min(size, pipe.bytes.size());
  the_judge->bytes_read(*descriptor->process, count);
  std::memcpy(buffer, pipe.bytes.data(), count);
  pipe.bytes.erase(0, count);
  return static_cast<ssize_t>(count);
}

ssize_t __wrap_write(int fd, const void* buffer, size_t size) {
  if (!is_ours(fd)) return __real_write(fd, buffer, size);
  const Descriptor* descriptor = the_machine->at(fd);
  if (descriptor == nullptr) return fails_with(EBADF);
  the_machine->jostle();
  Pipe& pipe = descriptor->process->input;
  if (!pipe.reader) return fails_with(EPIPE);
  // As on Linux, a write of up to PIPE_BUF bytes is made completely or not at all. A longer write
  // may be made partly.
  const std::size_t room = pipe.capacity - std::min(pipe.capacity, pipe.bytes.size());
  if (room < std::min<std::size_t>(size, PIPE_BUF)) return fails_with(EAGAIN);
  std::size_t count = std::min(size, room);
  if (size > PIPE_BUF && the_machine->random.chance(the_machine->swarm.splits)) {
    count = PIPE_BUF + the_machine->random.below(count - PIPE_BUF + 1);
  }
  pipe.bytes.append(static_cast<const char*>(buffer), count);
  the_judge->bytes_written(*descriptor->process, {static_cast<const char*>(buffer), count});
  descriptor->process->agent->wake();
  return static_cast<ssize_t>(count);
}

int __wrap_close(int fd) {
  if (!is_ours(fd)) return __real_close(fd);
  if (the_machine->close(fd)) return 0;
  the_judge->broken("a descriptor is closed twice");
  errno = EBADF;
  return -1;
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  int* held = va_arg(rest, int*);
  va_end(rest);
  const Descriptor* descriptor = is_ours(fd) ? the_machine->at(fd) : nullptr;
  if (descriptor == nullptr || request != FIONREAD) return static_cast<int>(fails_with(EBADF));
  *held = static_cast<int>(descriptor->process->output.bytes.size());
  return 0;
}

int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  if (the_machine == nullptr) return __real_clock_gettime(clock, time);
  the_machine->jostle();
  const auto now = the_machine->now().count();
  time->tv_sec = now / 1000;
  time->tv_nsec = now % 1000 * 1'000'000;
  return 0;
}

// Sends a message to init. The code in upgrader/shell sends to no other socket.
ssize_t __wrap_sendto(int, const void* bytes, size_t size, int, const sockaddr*, socklen_t) {
  if (the_machine->init_is_full()) return fails_with(EAGAIN);
  the_judge->init_told({static_cast<const char*>(bytes), size});
  return static_cast<ssize_t>(size);
}

// The upgrader's loop calls epoll_wait() only once, to find out whether the kernel permits this
// call. All waiting is done in libuv_double.cc.
int __wrap_epoll_wait(int, epoll_event*, int, int) {
  return 0;
}

int __wrap_signalfd(int, const sigset_t*, int) {
  return the_machine->open({Descriptor::What::signals, nullptr});
}

}  // extern "C"

namespace upgrader {

using simulation::World;

// ---- the functions that process.h declares

std::variant<Started, StartFailed> start_process(const Program& program, const ChildSetting&) {
  the_judge->check_start();
  const World outcome = the_judge->next_outcome(World::spawn);
  if (outcome == World::spawn_refused) return StartFailed{.error = EIO, .exec_failed = true};
  if (outcome == World::spawn_fails) return StartFailed{EIO};
  Process* process = the_machine->start(program.path);
  return Started{process->pid, OwnedFd(the_machine->open({Descriptor::What::input, process})),
                 OwnedFd(the_machine->open({Descriptor::What::output, process}))};
}

std::optional<Ending> try_reap(pid_t pid) {
  the_machine->jostle();
  Process* process = the_machine->find(pid);
  if (process == nullptr || process->life == Process::Life::reaped) {
    the_judge->broken("S6: a process that is not there is reaped");
    return Ending{};
  }
  if (process->life == Process::Life::running) return std::nullopt;
  process->life = Process::Life::reaped;
  return process->ending;
}

std::optional<pid_t> ended_child() {
  for (const auto& process : the_machine->processes()) {
    if (process->life == Process::Life::zombie) return process->pid;
  }
  return std::nullopt;
}

int send_signal(pid_t pid, int signal_number) {
  Process* process = the_machine->find(pid);
  if (process == nullptr || process->life == Process::Life::reaped) {
    the_judge->broken("S6: a signal goes to a process that has been reaped");
    return ESRCH;
  }
  the_judge->signal_sent(*process, signal_number);
  if (process->life != Process::Life::running) return 0;
  // In a guided run (guide.h), only the guide ends processes.
  if (the_machine->swarm.guided && !the_machine->calm) return 0;
  if (signal_number == SIGKILL) {
    const bool late =
        !the_machine->calm && the_machine->random.chance(the_machine->swarm.late_kills);
    process->kill(late ? Duration(the_machine->random.between(1, 25'000)) : Duration(0));
  } else {
    process->agent->signalled(signal_number);
  }
  return 0;
}

// ---- the functions that program.h declares

namespace {

Program program_at(const std::string& path, std::string name, std::vector<std::string> args) {
  Program program{.name = std::move(name), .args = std::move(args), .path = path};
  program.descriptor.reset(the_machine->open({Descriptor::What::program, nullptr}));
  program.kind = ExecutableKind::elf;
  return program;
}

}  // namespace

agent_protocol::Result<Program> check_program(const std::string& path, std::string name,
                                              std::vector<std::string> args) {
  if (the_judge->next_outcome(World::check) == World::check_fails) {
    return Refusal{"cannot be looked at", EIO};
  }
  return program_at(path, std::move(name), std::move(args));
}

// Checks AGENT on the simulated machine. At the upgrader's start the program always exists, since
// otherwise the run would be over immediately.
agent_protocol::Result<Program> check_agent(const std::string& agent,
                                            std::vector<std::string> args) {
  if (the_judge->started()) return check_program(agent, agent, std::move(args));
  return program_at(agent, agent, std::move(args));
}

agent_protocol::Result<std::string> find_in_path(std::string_view name, const char*) {
  return std::string(name);
}

bool can_start_again(const Program&) {
  return the_judge->next_outcome(World::way_back) != World::no_way_back;
}

// ---- the class Link (relink.h)

agent_protocol::Result<Link> Link::open(const std::string&, const std::optional<std::string>&) {
  Link link;
  link.committed_ = "first";
  return link;
}

// Simulates the syncs of the program: lets as much time pass as syncs may take.
int Link::prove(const Program&, const BeforeSync& before_sync) const {
  for (int syncs = 0; syncs < 3; ++syncs) {
    before_sync();
    the_machine->jostle();
  }
  return the_judge->next_outcome(World::proof) == World::proof_fails ? EIO : 0;
}

bool Link::is_read_only() const {
  return false;
}

int Link::previous_stays() const {
  return 0;
}

int Link::prove_previous() const {
  return 0;
}

int Link::commit(const Program&, const BeforeSync& before_sync, bool) {
  before_sync();
  the_machine->jostle();
  return the_judge->next_outcome(World::relink) == World::relink_fails ? EIO : 0;
}

int Link::restore(const BeforeSync& before_sync) const {
  before_sync();
  if (!the_judge->awaits_link_back()) return 0;
  return the_judge->next_outcome(World::link_back) == World::link_stays ? EIO : 0;
}

// ---- the class ControlDirectory (control_directory.h)
//
// No other upgrader uses the simulated directory, so it can always be opened and locked.

std::string ControlDirectory::open(std::string path) {
  path_ = std::move(path);
  return "";
}

int ControlDirectory::lock() {
  return 0;
}

int ControlDirectory::keep_last() const {
  return 0;
}

int ControlDirectory::replace_status(std::string_view text) const {
  the_machine->jostle();
  const bool full =
      !the_machine->calm && the_machine->random.chance(the_machine->swarm.status_failures);
  the_judge->status_written(text, !full);
  return full ? ENOSPC : 0;
}

int ControlDirectory::make_fifo() const {
  the_machine->operators.pipe.make();
  return 0;
}

OwnedFd ControlDirectory::open_fifo() const {
  if (!the_machine->calm && the_machine->random.chance(the_machine->swarm.fifo_failures)) {
    errno = EMFILE;
    return {};
  }
  return OwnedFd(the_machine->open({Descriptor::What::control, nullptr}));
}

void ControlDirectory::remove_fifo() const {
  the_machine->operators.pipe.remove();
}

bool ControlDirectory::is_in_memory() const {
  return true;
}

// ---- the class Lock (lock.h)
//
// At the beginning of a run another process may hold the lock. `lock_free_at`, one of the run's
// random settings (swarm.h), is the time at which that process releases the lock.

Lock::Lock(std::string path, int number) : path_(std::move(path)), number_(number) {}

int Lock::try_lock() {
  const bool free = the_machine->now() >= the_machine->swarm.lock_free_at;
  return free || the_machine->calm || the_machine->lock_is_free ? 0 : EWOULDBLOCK;
}

void Lock::write_holder() {}

std::string Lock::refusal_in_words(int error) {
  return std::to_string(error);
}

std::string Lock::holder_in_words() const {
  return "another holds it";
}

}  // namespace upgrader
