package agentprotocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of agent-protocol(7), in bytes of UTF-8.
const (
	lineBytesMax         = 65536
	versionBytesMax      = 128
	featuresMax          = 16
	featureBytesMax      = 32
	reasonBytesMax       = 1024
	statusBytesMax       = 256
	stateBytesMax        = 32768
	stateEscapedBytesMax = 65000
	executableBytesMax   = 4095
	argsMax              = 1024
	idBytesMax           = 64
	aboutBytesMax        = 64
	nestingMax           = 32
	protocolMax          = 2147483647
	integerMax           = 9007199254740991 // the largest integer that every JSON reader reads exactly
	timeMax              = 24 * time.Hour
	protocolVersion      = 1
)

// ---- writing messages

// appendQuoted appends the text as a JSON string. Only the quote, the backslash and control
// characters are escaped, each in its shortest form.
func appendQuoted(line []byte, text string) []byte {
	const hex = "0123456789abcdef"
	line = append(line, '"')
	for i := 0; i < len(text); i++ {
		c := text[i]
		if short := strings.IndexByte("\"\\\b\f\n\r\t", c); short >= 0 {
			line = append(line, '\\', "\"\\bfnrt"[short])
		} else if c < 0x20 {
			line = append(line, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			line = append(line, c)
		}
	}
	return append(line, '"')
}

// writer builds the line of one message. If a member cannot be sent, end() returns an error for the
// first such member.
type writer struct {
	line []byte
	err  error
}

func newWriter(kind string) *writer {
	return &writer{line: appendQuoted([]byte(`{"type":`), kind)}
}

func (w *writer) name(name string) {
	w.line = append(appendQuoted(append(w.line, ','), name), ':')
}

func (w *writer) text(name, value string, bytesMax int) {
	if w.err == nil {
		w.err = checkText(name, value, bytesMax)
	}
	w.name(name)
	w.line = appendQuoted(w.line, value)
}

func (w *writer) optionalText(name string, value string, bytesMax int) {
	if value != "" {
		w.text(name, value, bytesMax)
	}
}

// texts writes a list of at most `most` texts. `one` is the name for one of them in an error.
func (w *writer) texts(name, one string, values []string, most, bytesMax int) {
	if w.err == nil && len(values) > most {
		w.err = fmt.Errorf("%s are %d: %d can be sent", name, len(values), most)
	}
	w.name(name)
	w.line = append(w.line, '[')
	for i, value := range values {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		if w.err == nil {
			w.err = checkText(one, value, bytesMax)
		}
		w.line = appendQuoted(w.line, value)
	}
	w.line = append(w.line, ']')
}

func (w *writer) id(value string) {
	if w.err == nil {
		w.err = checkID(value)
	}
	w.text("id", value, idBytesMax)
}

// milliseconds writes a time in milliseconds. Writes nothing if the time is nil. The time must be
// between `least` and a day.
func (w *writer) milliseconds(name string, value *time.Duration, least time.Duration) {
	if value == nil {
		return
	}
	if w.err == nil && (*value < least || *value > timeMax) {
		w.err = fmt.Errorf("%s is %v: %v to %v can be sent", name, *value, least, timeMax)
	}
	w.name(name)
	w.line = strconv.AppendInt(w.line, value.Milliseconds(), 10)
}

// end returns the finished line, or an error if the message cannot be sent. May be called more than
// once.
func (w *writer) end() ([]byte, error) {
	line := append(append([]byte(nil), w.line...), '}', '\n')
	if w.err == nil && len(line) > lineBytesMax {
		return nil, fmt.Errorf("the message has %d bytes: %d can be sent", len(line), lineBytesMax)
	}
	return line, w.err
}

func checkText(name, value string, bytesMax int) error {
	switch {
	case len(value) > bytesMax:
		return fmt.Errorf("%s has %d bytes: %d can be sent", name, len(value), bytesMax)
	case strings.IndexByte(value, 0) >= 0:
		return fmt.Errorf("%s holds U+0000", name)
	case !utf8.ValidString(value):
		return fmt.Errorf("%s is no UTF-8", name)
	}
	return nil
}

func checkID(id string) error {
	if id == "" {
		return errors.New("id is empty")
	}
	for i := 0; i < len(id); i++ {
		if id[i] < ' ' || id[i] > '~' {
			return errors.New("id has bytes that are not printable ASCII")
		}
	}
	return nil
}

// fit cuts a text for people to at most bytesMax bytes, and never inside a character.
func fit(text string, bytesMax int) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "?"), "\uFFFD")
	for len(text) > bytesMax {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// ---- reading messages

var errMalformed = errors.New("malformed")

// members holds the members of one JSON object. A name that occurs twice has the value `null`,
// which no member accepts.
type members map[string]json.RawMessage

func readMembers(line []byte) (members, error) {
	if !utf8.Valid(line) {
		return nil, errMalformed
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	open, err := decoder.Token()
	if err != nil || open != json.Delim('{') {
		return nil, errMalformed
	}
	all := members{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, errMalformed
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return nil, errMalformed
		}
		if _, twice := all[name.(string)]; twice {
			value = json.RawMessage("null")
		}
		all[name.(string)] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errMalformed
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errMalformed
	}
	return all, nil
}

// reader reads the members of an object. `bad` becomes true if a member is invalid or missing.
type reader struct {
	all members
	bad bool
}

func (r *reader) fail() { r.bad = true }

// find returns the member with this name, or nil if it is absent. If a required member is absent,
// find records an error.
func (r *reader) find(name string, required bool) json.RawMessage {
	value, there := r.all[name]
	if !there && required {
		r.fail()
	}
	if there && string(value) == "null" {
		r.fail()
		return nil
	}
	return value
}

// check records an error if the text is too long, or contains a character that messages must not
// contain.
func (r *reader) check(text string, bytesMax int) {
	if checkText("a member", text, bytesMax) != nil {
		r.fail()
	}
}

// textOf returns the text of a JSON value, or nil if the value is not a text.
func (r *reader) textOf(value json.RawMessage) *string {
	var text string
	// json.Unmarshal turns a lone surrogate into U+FFFD, so the text would be changed without an
	// error.
	if value[0] != '"' || json.Unmarshal(value, &text) != nil || hasLoneSurrogate(value) {
		r.fail()
		return nil
	}
	return &text
}

func (r *reader) optionalText(name string, bytesMax int, required bool) *string {
	value := r.find(name, required)
	if value == nil {
		return nil
	}
	text := r.textOf(value)
	if text != nil {
		r.check(*text, bytesMax)
	}
	return text
}

func (r *reader) text(name string, bytesMax int, required bool) string {
	if text := r.optionalText(name, bytesMax, required); text != nil {
		return *text
	}
	return ""
}

func (r *reader) id(required bool) string {
	text := r.optionalText("id", idBytesMax, required)
	if text == nil {
		return ""
	}
	if checkID(*text) != nil {
		r.fail()
	}
	return *text
}

func (r *reader) state() *string {
	state := r.optionalText("state", stateBytesMax, false)
	if state != nil && len(appendQuoted(nil, *state))-2 > stateEscapedBytesMax {
		r.fail()
	}
	return state
}

func (r *reader) features() []string {
	var values []json.RawMessage
	value := r.find("features", true)
	if value == nil || json.Unmarshal(value, &values) != nil || len(values) > featuresMax {
		r.fail()
		return nil
	}
	var names []string
	for _, value := range values {
		if name := r.textOf(value); name != nil {
			r.check(*name, featureBytesMax)
			names = append(names, *name)
		}
	}
	return names
}

func (r *reader) optionalInteger(name string, least, most int64, required bool) *int64 {
	value := r.find(name, required)
	if value == nil {
		return nil
	}
	number, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || number < least || number > most {
		r.fail()
		return nil
	}
	return &number
}

func (r *reader) integer(name string, most int64, required bool) int64 {
	if number := r.optionalInteger(name, 1, most, required); number != nil {
		return *number
	}
	return 0
}

func (r *reader) generation(required bool) int64 {
	return r.integer("generation", integerMax, required)
}

// milliseconds returns a time. A time that is too long for a Duration becomes the longest Duration.
func (r *reader) milliseconds(name string, required bool) time.Duration {
	number := r.integer(name, integerMax, required)
	if number > int64(math.MaxInt64/time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(number) * time.Millisecond
}

func (r *reader) truth(name string) bool {
	switch string(r.find(name, true)) {
	case "true":
		return true
	case "false":
	default:
		r.fail()
	}
	return false
}

func (r *reader) oneOf(name string, allowed ...string) string {
	text := r.text(name, lineBytesMax, true)
	for _, word := range allowed {
		if text == word {
			return text
		}
	}
	r.fail()
	return ""
}

// optionalOneOf returns "" for a word that only a later upgrader knows, as if the member were
// absent.
func (r *reader) optionalOneOf(name string, allowed ...string) string {
	text := r.text(name, lineBytesMax, false)
	for _, word := range allowed {
		if text == word {
			return text
		}
	}
	return ""
}

// failure reads a failure. Its stage may be one that only a later upgrader knows.
func (r *reader) failure() Failure {
	return Failure{
		ID:         r.id(true),
		Stage:      r.text("stage", lineBytesMax, true),
		Reason:     r.text("reason", reasonBytesMax, true),
		Version:    r.text("version", versionBytesMax, false),
		Errno:      r.text("errno", lineBytesMax, false),
		ExitStatus: r.optionalInteger("exit_status", -integerMax, integerMax, false),
		Signal:     r.optionalInteger("signal", -integerMax, integerMax, false),
	}
}

// pastFailure reads the member `failure`, which tells a fallback which upgrade has failed. The
// member is in `welcome`, or in `activate` if the upgrade failed after the `welcome`.
func (r *reader) pastFailure() *Failure {
	value := r.find("failure", false)
	if value == nil {
		return nil
	}
	inner, err := readMembers(value)
	nested := reader{all: inner, bad: err != nil}
	failure := nested.failure()
	r.bad = r.bad || nested.bad
	return &failure
}

func (r *reader) welcome() Welcome {
	return Welcome{
		Protocol:        r.integer("protocol", protocolMax, true),
		Features:        r.features(),
		Generation:      r.generation(true),
		Role:            r.oneOf("role", "first", "candidate", "fallback"),
		PreviousVersion: r.text("previous_version", versionBytesMax, false),
		Failure:         r.pastFailure(),
		Watchdog:        r.milliseconds("watchdog_ms", false),
	}
}

func (r *reader) stop() Stop {
	reason := r.oneOf("reason", "upgrade", "rollback", "shutdown")
	isUpgrade := reason == "upgrade"
	return Stop{
		Reason:     reason,
		Deadline:   r.milliseconds("deadline_ms", true),
		ID:         r.id(isUpgrade),
		Generation: r.generation(isUpgrade),
	}
}

// nestsTooDeep returns true if the arrays and objects in a line of JSON are nested deeper than
// nestingMax.
func nestsTooDeep(line []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++ // skip the character after the backslash
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > nestingMax {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// hasLoneSurrogate returns true if a JSON string, still with its escapes, has a surrogate that is
// not half of a pair.
func hasLoneSurrogate(spelt []byte) bool {
	unit := func(at int) (uint64, bool) {
		if at+6 > len(spelt) || spelt[at] != '\\' || spelt[at+1] != 'u' {
			return 0, false
		}
		number, err := strconv.ParseUint(string(spelt[at+2:at+6]), 16, 16)
		return number, err == nil
	}
	for i := 0; i < len(spelt); i++ {
		if spelt[i] != '\\' {
			continue
		}
		number, escaped := unit(i)
		i++ // skip the character after the backslash
		if !escaped || number < 0xD800 || number > 0xDFFF {
			continue
		}
		low, follows := unit(i + 5)
		if number > 0xDBFF || !follows || low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 10
	}
	return false
}

// decode returns the event for a line from the upgrader, without its newline, or nil if agents must
// ignore the line by agent-protocol(7).
func decode(line []byte) Event {
	if len(line) >= lineBytesMax || nestsTooDeep(line) {
		return nil
	}
	all, err := readMembers(line)
	if err != nil {
		return nil
	}
	r := reader{all: all}
	var event Event
	switch r.text("type", lineBytesMax, true) {
	case "welcome":
		event = r.welcome()
	case "activate":
		event = Activate{
			Clean:   r.truth("clean"),
			State:   r.state(),
			Failure: r.pastFailure(),
			Trial:   r.milliseconds("trial_ms", false),
			Commit:  r.optionalOneOf("commit", "survive", "healthy"),
		}
	case "stop":
		event = r.stop()
	case "accepted":
		event = Accepted{ID: r.id(true), Generation: r.generation(true)}
	case "candidate_ready":
		event = CandidateReady{
			ID:         r.id(true),
			Generation: r.generation(true),
			Version:    r.text("version", versionBytesMax, false),
		}
	case "candidate_lost":
		event = CandidateLost{ID: r.id(true), Reason: r.text("reason", lineBytesMax, true)}
	case "upgrade_failed":
		event = UpgradeFailed{Failure: r.failure()}
	case "committed":
		event = Committed{ID: r.id(true), Generation: r.generation(true)}
	case "error":
		event = Error{
			About:  r.text("about", aboutBytesMax, false),
			Reason: r.text("reason", reasonBytesMax, true),
		}
	}
	if r.bad {
		return nil
	}
	return event
}
