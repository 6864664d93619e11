package agentprotocol

import (
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestOnlyWhatMustBeEscapedIsEscapedInTheShortestForm(t *testing.T) {
	got := string(appendQuoted(nil, "\"\\\n\t\x01\x7fü/<>&\u2028"))
	if wanted := "\"\\\"\\\\\\n\\t\\u0001\x7fü/<>&\u2028\""; got != wanted {
		t.Errorf("got %q, wanted %q", got, wanted)
	}
}

func TestWhatCannotBeSentIsRefusedAndNeverCutInSilence(t *testing.T) {
	refused := func(write func(*writer), why string) {
		t.Helper()
		w := newWriter("x")
		write(w)
		if _, err := w.end(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, wanted %q", err, why)
		}
	}
	refused(func(w *writer) { w.text("state", "a\x00b", stateBytesMax) }, "U+0000")
	refused(func(w *writer) { w.text("state", "\xff", stateBytesMax) }, "no UTF-8")
	refused(func(w *writer) { w.text("state", strings.Repeat("x", 32769), stateBytesMax) }, "32769")
	features := func(names ...string) func(*writer) {
		return func(w *writer) { w.texts("features", "a feature", names, featuresMax, featureBytesMax) }
	}
	refused(features(make([]string, 17)...), "features are 17: 16 can be sent")
	refused(features("x", strings.Repeat("x", 33)), "a feature has 33 bytes")
	refused(func(w *writer) { w.id("") }, "empty")
	refused(func(w *writer) { w.id("ü") }, "printable ASCII")
	refused(func(w *writer) { w.text("a", strings.Repeat("x", 65536), lineBytesMax) }, "message has")
	day := 25 * time.Hour
	refused(func(w *writer) { w.milliseconds("trial_ms", &day, 0) }, "24h")
}

func TestAnUpgradeMayAskForAFallbackThatStandsBy(t *testing.T) {
	upgrade := Upgrade{ID: "u", Executable: "/agent", Args: []string{"a", "b"}, Fallback: "warm"}
	line, err := upgrade.written().end()
	wanted := `{"type":"upgrade","id":"u","executable":"/agent","args":["a","b"],` +
		`"fallback":"warm"}` + "\n"
	if err != nil || string(line) != wanted {
		t.Errorf("got %q, %v", line, err)
	}
}

func TestTextsForPeopleAreCutBetweenTwoCharacters(t *testing.T) {
	if got := fit("aüü", 4); got != "aü" {
		t.Errorf("got %q", got)
	}
}

func TestAMessageWithMembersThatAreNotKnown(t *testing.T) {
	state := "ä😀"
	got := decode([]byte(` {"new":[1,{"x":null}],"new":2,"state":"\u00e4\ud83d\ude00",` +
		`"clean":true,"type":"activate"} `))
	if !reflect.DeepEqual(got, Activate{Clean: true, State: &state}) {
		t.Errorf("got %#v", got)
	}
}

func TestEveryMemberOfWelcome(t *testing.T) {
	got := decode([]byte(`{"type":"welcome","protocol":1,"features":["f"],"generation":3,` +
		`"role":"fallback","failure":{"id":"u","stage":"trial","reason":"r","signal":9},` +
		`"watchdog_ms":1500}`))
	welcome, fits := got.(Welcome)
	if !fits || welcome.Role != "fallback" || *welcome.Failure.Signal != 9 ||
		welcome.Watchdog != 1500*time.Millisecond || welcome.Features[0] != "f" {
		t.Errorf("got %#v", got)
	}
}

func TestAStandbyIsToldWhyItRunsWhenItIsActivated(t *testing.T) {
	welcomed := decode([]byte(`{"type":"welcome","protocol":1,"features":[],"generation":3,` +
		`"role":"fallback"}`))
	if welcome, fits := welcomed.(Welcome); !fits || welcome.Failure != nil {
		t.Errorf("got %#v", welcomed)
	}
	got := decode([]byte(`{"type":"activate","clean":false,"failure":{"id":"u","stage":"trial",` +
		`"reason":"r","exit_status":1,"version":"2"}}`))
	status := int64(1)
	failure := Failure{ID: "u", Stage: "trial", Reason: "r", Version: "2", ExitStatus: &status}
	if !reflect.DeepEqual(got, Activate{Failure: &failure}) {
		t.Errorf("got %#v", got)
	}
}

func TestAnAgentOnTrialIsToldHowLongAndWhatPassesIt(t *testing.T) {
	got := decode([]byte(`{"type":"activate","clean":true,"trial_ms":1500,"commit":"healthy"}`))
	wanted := Activate{Clean: true, Trial: 1500 * time.Millisecond, Commit: "healthy"}
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("got %#v", got)
	}
	got = decode([]byte(`{"type":"activate","clean":true,"trial_ms":1500,"commit":"later"}`))
	if !reflect.DeepEqual(got, Activate{Clean: true, Trial: 1500 * time.Millisecond}) {
		t.Errorf("got %#v", got)
	}
}

func TestWhatIsMalformedOrNoMessageIsIgnored(t *testing.T) {
	for _, line := range []string{
		``, `[]`, `{`, `{} {}`, `{"type":"new"}`, `{"type":"activate"}`,
		`{"type":"activate","clean":1}`, `{"type":"activate","clean":null}`,
		`{"type":"activate","clean":true,"clean":true}`,
		`{"type":"activate","type":"activate","clean":true}`,
		`{"type":"activate","Clean":true}`,
		`{"type":"activate","clean":true,"state":"\u0000"}`,
		`{"type":"activate","clean":true,"state":"\ud800"}`,
		`{"type":"activate","clean":true,"state":"\ud800\u0041"}`,
		`{"type":"activate","clean":true,"state":"\udc00"}`,
		"{\"type\":\"activate\",\"clean\":true,\"state\":\"\xff\"}",
		`{"type":"activate","clean":true,"failure":null}`,
		`{"type":"activate","clean":true,"trial_ms":"1"}`,
		`{"type":"activate","clean":true,"commit":null}`,
		`{"type":"activate","clean":true,"failure":{"id":"u","stage":"trial"}}`,
		`{"type":"committed","id":"u","generation":1.0}`,
		`{"type":"committed","id":"u","generation":1e3}`,
		`{"type":"committed","id":"u","generation":"1"}`,
		`{"type":"welcome","protocol":1,"generation":1,"role":"boss"}`,
		strings.Repeat("[", 60000),
	} {
		if got := decode([]byte(line)); got != nil {
			t.Errorf("%.60s: got %#v", line, got)
		}
	}
}

func TestLinesAreJudgedAsInAllOtherLanguages(t *testing.T) {
	path, there := os.LookupEnv("AGENT_LINES")
	if !there {
		t.Skip("a table of the project's own tests")
	}
	table, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		columns := strings.Split(row, " ")
		line, _ := hex.DecodeString(strings.Trim(columns[2], "-"))
		judged := "ignored"
		if event := decode(line); event != nil {
			judged = strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", event), "agentprotocol."))
		}
		if wanted := strings.ReplaceAll(columns[1], "_", ""); judged != wanted {
			t.Errorf("row %s: %s, and not %s", columns[0], judged, columns[1])
		}
	}
}
