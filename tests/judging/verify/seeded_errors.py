# The errors that `make seeded` injects into upgrader/core, all of different kinds. Each has a
# description, the original text, which must occur exactly once in all of upgrader/core, and the
# replacement.

ERRORS = [
    (
        "wrong order: the candidate is activated when the old agent has confirmed, not when it "
        "has been reaped",
        "  agent.state = stopped.state;\n",
        """  agent.state = stopped.state;
  if (state_.candidate && state_.candidate->ready) {
    state_.candidate->activated = true;
    send(*state_.candidate, agent_protocol::Activate{stopped.state, true});
  }
""",
    ),
    (
        "missing deadline: an upgrade waits for its confirmation without end",
        "  upgrade.deadline = deadline_after(now_, upgrade.terms.confirm_timeout);\n",
        "",
    ),
    (
        "missing permission: a held agent may ask for an upgrade",
        """  if (!agent.activated) return send_error(agent, "upgrade", \
"only the active agent may say it");\n""",
        "",
    ),
    (
        "missing answer: an upgrade that comes while another is under way hears nothing",
        "return answer_refusal(agent, upgrade.id, *busy);\n    }\n    begin_upgrade",
        "return;\n    }\n    begin_upgrade",
    ),
    (
        "wrong word: a candidate that failed is told as a failed stop",
        'fail_upgrade(Stage::start, reason, 0, ending);',
        'fail_upgrade(Stage::stop, reason, 0, ending);',
    ),
    (
        "overwritten cause: a second failure takes the place of the first",
        "if (upgrade.failure) return;\n    Failure failure =",
        "Failure failure =",
    ),
    (
        "lost data: the new agent does not get the old one's state",
        "activate = {state_.left_behind->state, state_.left_behind->clean, std::nullopt};",
        "activate = {std::nullopt, state_.left_behind->clean, std::nullopt};",
    ),
    (
        "inverted condition: on_unclean_stop means its opposite",
        "upgrade.terms.on_unclean_stop == UncleanStop::fall_back",
        "upgrade.terms.on_unclean_stop != UncleanStop::fall_back",
    ),
    (
        "stale state: a failed upgrade stays the one under way",
        "std::exchange(state_.upgrade, std::nullopt);\n    state_.last_failure",
        "state_.upgrade;\n    state_.last_failure",
    ),
    (
        "after the end: an upgrade is begun although the upgrader has been told to stop",
        '  if (shutting_down()) return "busy: the upgrader is stopping";\n',
        "",
    ),
    (
        "wrong program: what runs already is made durable, not what the link is to name",
        "ProveRelink{*state_.upgrade->program}",
        "ProveRelink{state_.upgrade->previous}",
    ),
    # ---- errors in the handling of an operator's requests
    (
        "missing refusal: an operator cancels an upgrade after the stop has been sent",
        'if (phase == Phase::preparing || phase == Phase::confirming) return "";',
        'return "";',
    ),
    (
        "missing refusal: an operator confirms what does not wait to be confirmed",
        'return at_the_gate ? "" : "it does not wait to be confirmed";',
        'return "";',
    ),
    (
        "wrong upgrade: an operator's word about another id is obeyed",
        "if (!state_.upgrade || state_.upgrade->id != request.upgrade.id) {",
        "if (!state_.upgrade) {",
    ),
    (
        "unasked word: the active agent hears of a gate that is an operator's",
        "  if (upgrade.origin == Origin::control) return;\n",
        "",
    ),
    (
        "missing answer: an operator whose upgrade is accepted hears nothing",
        '  answer_upgrade("");\n',
        "",
    ),
    # ---- errors in the handling of a standby (an agent of the old version, started at a trial)
    (
        "left over: the standby of an upgrade that is committed is not killed",
        "if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);\n  }",
        "}",
    ),
    (
        "missing reason: a standby that takes over is not told what failed",
        "if (agent.standby && !agent.knows_failure) {",
        "if (agent.standby && agent.knows_failure) {",
    ),
    (
        "wrong blame: a standby that fails ends the upgrader",
        "  if (agent.standby) return standby_lost(in_words(agent), reason);\n",
        "",
    ),
    # ---- errors in the start of the previous program at a boot
    (
        "endless way back: what has failed at boot in its turn is started once more",
        '  if (boot_failed) return end_with(exit_own_failure, "the way back has failed, too");\n',
        "",
    ),
    (
        "lost way back: the link of --previous is moved when the way back is committed",
        "Relink{*state_.upgrade->program, !state_.upgrade->boot}",
        "Relink{*state_.upgrade->program, true}",
    ),
    (
        "too early: an attempt counts as one that lasted as soon as its agent is active",
        "if (policy_.defaults.trial == Duration::zero()) return has_lasted();",
        "return has_lasted();",
    ),
    (
        "wrong count: what is committed is still counted as what had failed to last",
        "      forget_attempts();\n    }\n    state_.upgrade.reset();",
        "    }\n    state_.upgrade.reset();",
    ),
    (
        "wrong count: the end of a way back sets back how often AGENT's executable has failed",
        "    state_.start_is_judged = true;\n    log(LogLevel::warning,",
        "    log(LogLevel::warning,",
    ),
    (
        "wrong end: a way back on trial that does not say that it works is killed at once",
        "if (on_trial(agent)) return fail_upgrade(Stage::trial, reason);\n"
        "    restore_link_for_signal();",
        "restore_link_for_signal();",
    ),
]
