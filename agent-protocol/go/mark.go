// The mark by which a process knows that it has been an agent. It is needed because Open removes
// the upgrader's variables from the environment: an agent that has executed its program again would
// find no upgrader, and activate itself beside the agent that is active. Processes that the agent
// starts inherit the mark, which names the agent's pid. They have other pids, so they are not taken
// for the agent.

package agentprotocol

import (
	"os"
	"strconv"
	"strings"
)

const markVariable = "LIBAGENT_PROTOCOL_PROCESS"

const unknownStart = "0"

// startOfProcess returns the 22nd field of /proc/self/stat, the time at which the process was
// started. It stays the same when the process executes another program.
func startOfProcess() string {
	text, _ := os.ReadFile("/proc/self/stat")
	line := string(text)
	// The program's name, in parentheses, may contain blanks, so fields are counted after it.
	fields := strings.Fields(line[strings.LastIndex(line, ")")+1:])
	if len(fields) <= 22-3 {
		return unknownStart
	}
	return fields[22-3]
}

func leaveMark() error {
	return os.Setenv(markVariable, strconv.Itoa(os.Getpid())+" "+startOfProcess())
}

func hasMark() bool {
	number, start, _ := strings.Cut(os.Getenv(markVariable), " ")
	own := startOfProcess()
	same := start == own || start == unknownStart || own == unknownStart
	return number == strconv.Itoa(os.Getpid()) && same
}
