# Errors to be seeded in what decides, each of another kind: what it is, the text that is replaced,
# which must stand exactly once in all of upgrader/core, and what takes its place.

ERRORS = [
    (
        "wrong order: the candidate is activated when the old agent has confirmed, not when it "
        "has been reaped",
        """  agent.state = stopped.state;
  if (!agent.killed) agent.deadline""",
        """  agent.state = stopped.state;
  if (state_.candidate && state_.candidate->ready) {
    state_.candidate->activated = true;
    send(*state_.candidate, agent_protocol::Activate{stopped.state, true});
  }
  if (!agent.killed) agent.deadline""",
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
        """    answer_refusal(agent, upgrade.id, *busy);
    return;
  }
  begin_upgrade""",
        """    return;
  }
  begin_upgrade""",
    ),
    (
        "wrong word: a candidate that failed is told as a failed stop",
        'fail_upgrade(Stage::start, reason, "", ending);',
        'fail_upgrade(Stage::stop, reason, "", ending);',
    ),
    (
        "overwritten cause: a second failure takes the place of the first",
        "  if (upgrade.failure) return;\n  Failure failure =",
        "  Failure failure =",
    ),
    (
        "lost data: the new agent does not get the old one's state",
        "activate = {state_.legacy->state, state_.legacy->clean, std::nullopt};",
        "activate = {std::nullopt, state_.legacy->clean, std::nullopt};",
    ),
    (
        "inverted condition: on_unclean_stop means its opposite",
        "upgrade.terms.on_unclean_stop == UncleanStop::fall_back",
        "upgrade.terms.on_unclean_stop != UncleanStop::fall_back",
    ),
    (
        "stale state: a failed upgrade stays the one under way",
        "std::exchange(state_.upgrade, std::nullopt);\n  state_.last_failure",
        "state_.upgrade;\n  state_.last_failure",
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
]
