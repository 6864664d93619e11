// Leaves and finds the mark by which a process recognizes that it has been an agent. Open removes
// the upgrader's variables from the environment. Without the mark, an agent that executes its
// program again would find no upgrader, and activate itself although another agent may be active.
// The mark is an environment variable with this process's pid and start time. Child processes
// inherit it, but have other pids, so they are not taken for the agent.

package agentprotocol

import (
	"os"
	"strconv"
	"strings"
)

const markVariable = "LIBAGENT_PROTOCOL_PROCESS"

const unknownStart = "0"

// startOfProcess returns the 22nd field of /proc/self/stat, the time at which the process was
// started. This time stays the same when the process executes a new program.
func startOfProcess() string {
	text, _ := os.ReadFile("/proc/self/stat")
	line := string(text)
	// The second field is the program's name in parentheses, which may contain blanks. So fields are
	// counted after the name.
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
