#include "fleet/agent/health_keeper.h"

#include <sstream>
#include <utility>

#include "fleet/model/agent/health_watch.h"

namespace fleet {
namespace {

// The time limit for one answer of a program or URL that reports measures, such as a number of
// errors.
constexpr std::chrono::milliseconds measure_longest{10'000};

void add_text(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
}

}  // namespace

std::optional<MeasureSource> parse_measure_source(std::string_view text) {
  constexpr std::string_view exec = "exec:";
  constexpr std::string_view http = "http:";
  if (text.starts_with(exec)) {
    std::istringstream words{std::string(text.substr(exec.size()))};
    MeasureSource source;
    for (std::string word; words >> word;)
      source.command.push_back(word);
    const bool is_good = !source.command.empty() && source.command[0].starts_with('/');
    return is_good ? std::optional(source) : std::nullopt;
  }
  if (!text.starts_with(http)) return std::nullopt;
  const std::string url(text.substr(http.size()));
  if (!url.starts_with("http://") && !url.starts_with("https://")) return std::nullopt;
  return MeasureSource{.url = url};
}

HealthKeeper::HealthKeeper(uv_loop_t& loop, NodeDesk& desk, std::string component,
                           std::vector<MeasureSource> sources)
    : loop_(loop),
      desk_(desk),
      component_(std::move(component)),
      sources_(std::move(sources)),
      watch_(desk.boot_id, desk.instance, !sources_.empty()),
      outside_(loop, "fleet-agent") {}

void HealthKeeper::look(const NodeLedger* ledger) {
  if (desk_.active == 0 || desk_.is_doubtful) return;
  const Ms now = desk_.timers.now().count();
  const std::string control = key_of(KeyKind::node_control, {desk_.node, component_});
  watch_.look(health_run_of(ledger, desk_.find<ControlWatch>(control)), now);
  if (!is_measuring_ && watch_.is_to_measure(now)) measure();
  const std::optional<NodeHealth>& report = watch_.report();
  if (!report || report->sequence == written_) return;
  written_ = report->sequence;
  desk_.records.want(key_of(KeyKind::node_health, {desk_.node, component_}), write_record(*report));
  desk_.records.look();
}

void HealthKeeper::measure() {
  is_measuring_ = true;
  waiting_ = sources_;
  output_.clear();
  trouble_.clear();
  ask_next();
}

// Asks the next source of measures. After the last one, passes all answers to HealthWatch.
void HealthKeeper::ask_next() {
  if (waiting_.empty()) {
    MeasureLines read = read_measures(output_);
    add_text(trouble_, read.trouble);
    is_measuring_ = false;
    return watch_.measured(std::move(read.measures), trouble_, desk_.timers.now().count());
  }
  const MeasureSource source = waiting_.front();
  waiting_.erase(waiting_.begin());
  if (!source.url.empty()) {
    return outside_.get(
        source.url, {.timeout_ms = measure_longest.count(), .bytes_max = measure_bytes_max},
        [this, source](const OutsideAnswer& answer) {
          const std::string why =
              answer.status == 0 ? answer.error : "status " + std::to_string(answer.status);
          take(answer.is_good() ? answer.body : "",
               answer.is_good() ? "" : source.url + ": " + why);
        });
  }
  HookRun::Settings settings{.path = source.command.front(),
                             .arguments = {source.command.begin() + 1, source.command.end()},
                             .environment = {"FLEET_COMPONENT=" + component_},
                             .longest = measure_longest};
  run_ = std::make_unique<HookRun>(
      loop_, desk_.timers, std::move(settings), [this, source](const HookRun::Result& result) {
        const bool is_good = result.status == 0;
        const std::string why = source.command.front() + ": exit status " +
                                std::to_string(result.status) +
                                (result.output.empty() ? "" : ": " + result.output);
        take(is_good ? result.text : "", is_good ? "" : why);
      });
}

void HealthKeeper::take(const std::string& output, const std::string& trouble) {
  output_ += output;
  if (!output.empty() && output.back() != '\n') output_ += '\n';
  add_text(trouble_, trouble);
  // The caller may be `run_`, which must not be destroyed during its own call. So a timer without
  // delay destroys it and asks the next source.
  soon_ = desk_.timers.after(std::chrono::milliseconds(0), [this] {
    run_ = nullptr;
    ask_next();
  });
}

}  // namespace fleet
