package agentprotocol

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func startingSession() *sessionState {
	s := &sessionState{}
	mustSay(s, "hello", "")
	return s
}

func heldSession(role string, features ...string) *sessionState {
	s := startingSession()
	s.hear(Welcome{Generation: 1, Role: role, Features: features})
	mustSay(s, "ready", "")
	return s
}

func activeSession(role string, features ...string) *sessionState {
	s := heldSession(role, features...)
	s.hear(Activate{Clean: true})
	return s
}

func mustSay(s *sessionState, word, id string) []action {
	actions, err := s.say(word, id)
	if err != nil {
		panic(err)
	}
	return actions
}

func expect(t *testing.T, got, wanted []action) {
	t.Helper()
	if len(got) != len(wanted) || (len(got) > 0 && !reflect.DeepEqual(got, wanted)) {
		t.Errorf("got %#v, wanted %#v", got, wanted)
	}
}

func expectRefused(t *testing.T, s *sessionState, word, id, why string) {
	t.Helper()
	before := *s
	_, err := s.say(word, id)
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: got %v, wanted %q", word, err, why)
	}
	if *s != before {
		t.Errorf("%s was refused and changed the session", word)
	}
}

func TestAHeldAgentExitsAtOnceAtTheEndOfInputAndAtSigterm(t *testing.T) {
	expect(t, heldSession("first").inputEnded(), []action{exitAtOnce{1}})
	expect(t, heldSession("first").terminated(), []action{exitAtOnce{143}})
}

func TestAnActiveAgentIsToldToStopOnceWhoeverAsks(t *testing.T) {
	s := activeSession("first")
	expect(t, s.terminated(), []action{deliver{Stop{Reason: "signal"}}})
	expect(t, s.hear(Stop{Reason: "shutdown"}), nil)
	expect(t, s.inputEnded(), nil)
}

func TestAStopThatCrossesOurOwnStoppedIsAnsweredWithIt(t *testing.T) {
	s := activeSession("first")
	s.terminated()
	expect(t, mustSay(s, "stopped", ""), nil)
	expect(t, s.hear(Stop{Reason: "upgrade", ID: "u", Generation: 2}), []action{sendStopped{}})
}

func TestAStopForAnUpgradeThatWasCancelledIsVoid(t *testing.T) {
	s := activeSession("first")
	mustSay(s, "upgrade", "u")
	s.hear(Accepted{ID: "u", Generation: 2})
	mustSay(s, "cancel", "u")
	expect(t, s.hear(Stop{Reason: "upgrade", ID: "u", Generation: 2}), nil)
	if s.life != active {
		t.Error("it stops for an upgrade that it has cancelled")
	}
}

func TestWorkCanBeTakenBackWhenTheCandidateIsLost(t *testing.T) {
	s := activeSession("first")
	s.hear(Stop{Reason: "upgrade", ID: "u", Generation: 2})
	lost := CandidateLost{ID: "u", Reason: "it died"}
	expect(t, s.hear(lost), []action{deliver{lost}})
	expect(t, mustSay(s, "cancel", "u"), []action{sendThis{}})
	failed := UpgradeFailed{Failure{ID: "u", Stage: "start", Reason: "it died"}}
	expect(t, s.hear(failed), []action{deliver{failed}})
	expect(t, mustSay(s, "upgrade", "next"), []action{sendThis{}})
}

func TestTheGateIsOpenedOnce(t *testing.T) {
	s := activeSession("first")
	mustSay(s, "upgrade", "u")
	expectRefused(t, s, "confirm", "u", "it has not been accepted")
	s.hear(Accepted{ID: "u", Generation: 2})
	expectRefused(t, s, "confirm", "u", "its candidate is not ready")
	s.hear(CandidateReady{ID: "u", Generation: 2})
	mustSay(s, "confirm", "u")
	expectRefused(t, s, "confirm", "u", "it has been confirmed")
}

func TestOnlyACandidateIsOnTrial(t *testing.T) {
	s := activeSession("candidate")
	expectRefused(t, s, "upgrade", "u", "on trial")
	expect(t, mustSay(s, "healthy", ""), []action{sendThis{}})
	s.hear(Committed{ID: "v", Generation: 2})
	expectRefused(t, s, "healthy", "", "not on trial")
	expectRefused(t, activeSession("fallback"), "unfit", "", "not on trial")
}

func TestAFallbackAtBootIsOnTrial(t *testing.T) {
	s := &sessionState{}
	mustSay(s, "hello", "")
	s.hear(Welcome{Generation: 2, Role: "fallback", Failure: &Failure{ID: "boot"}})
	mustSay(s, "ready", "")
	s.hear(Activate{Trial: time.Second, Commit: "healthy"})
	expectRefused(t, s, "upgrade", "u", "on trial")
	expect(t, mustSay(s, "healthy", ""), []action{sendThis{}})
	committed := Committed{ID: "boot", Generation: 2}
	expect(t, s.hear(committed), []action{deliver{committed}})
}

func TestWithReadinessHealthyIsSaidInEveryRoleAndExtendUntilThen(t *testing.T) {
	for _, role := range []string{"first", "candidate", "fallback"} {
		s := heldSession(role, "other", "readiness")
		expectRefused(t, s, "healthy", "", "has said ready")
		expectRefused(t, s, "extend", "", "has said ready")
		s.hear(Activate{})
		expect(t, mustSay(s, "extend", ""), []action{sendThis{}})
		expect(t, mustSay(s, "healthy", ""), []action{sendThis{}})
		expectRefused(t, s, "extend", "", "this agent is active")
		s.hear(Committed{ID: "v", Generation: 2})
		expect(t, mustSay(s, "healthy", ""), []action{sendThis{}})
		s.hear(Stop{Reason: "shutdown"})
		expect(t, mustSay(s, "extend", ""), []action{sendThis{}})
	}
}

func TestAFeatureThatTheUpgraderDoesNotHaveAllowsNothing(t *testing.T) {
	for _, s := range []*sessionState{activeSession("first"), activeSession("first", "other")} {
		expectRefused(t, s, "healthy", "", "not on trial")
		expectRefused(t, s, "extend", "", "this agent is active")
	}
}

func TestAnAgentThatHasSaidUnfitIsNotHealthyWhateverItsFeatures(t *testing.T) {
	s := activeSession("candidate", "readiness")
	mustSay(s, "unfit", "")
	expectRefused(t, s, "healthy", "", "this agent has said unfit")
}

func TestWhatMayNotBeSaidChangesNothing(t *testing.T) {
	for _, word := range []string{"ready", "stopped", "healthy", "heartbeat", "extend", "upgrade",
		"cancel", "confirm"} {
		expectRefused(t, heldSession("first"), word, "", "held")
	}
}

func TestMessagesThatDoNotFitAreToldToNobody(t *testing.T) {
	s := heldSession("first")
	for _, event := range []Event{Stop{Reason: "upgrade"}, Accepted{ID: "u"}, Committed{ID: "u"},
		CandidateLost{ID: "u"}, CandidateReady{ID: "u"},
		UpgradeFailed{Failure{ID: "u"}}} {
		expect(t, s.hear(event), nil)
	}
	s.hear(Activate{})
	expect(t, s.hear(Activate{}), nil)
	expect(t, s.hear(Welcome{Role: "first"}), nil)
}

func TestTheSameStoryWithoutAnUpgrader(t *testing.T) {
	s := &sessionState{alone: true}
	expect(t, mustSay(s, "hello", ""), nil)
	expect(t, mustSay(s, "ready", ""), []action{deliver{Activate{}}})
	for _, word := range []string{"heartbeat", "healthy", "status", "extend", "cancel"} {
		expect(t, mustSay(s, word, "u"), nil)
	}
	expectRefused(t, s, "upgrade", "u", "there is no upgrader")
	expect(t, s.inputEnded(), nil)
	expect(t, s.terminated(), []action{deliver{Stop{Reason: "signal"}}})
	expect(t, mustSay(s, "stopped", ""), nil)
}
