// Serves a counter on a TCP port: each connection gets the next number. No number is given twice.
//
// usage: hello-agent PORT FILE, where FILE holds the last number that was given. A number is on the
// disk before it is sent, so a crash or a power cut may skip a number, but repeats none.
package main

import (
	agentprotocol "agent-protocol"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func last(path string) (int, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// next writes the next number to the disk, and then returns the number.
func next(path string) (int, error) {
	number, err := last(path)
	if err != nil {
		return 0, err
	}
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_SYNC, 0o644)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err = fmt.Fprint(file, number+1); err == nil {
		err = os.Rename(path+".new", path)
	}
	directory, openErr := os.Open(filepath.Dir(path))
	if err != nil || openErr != nil {
		return 0, fmt.Errorf("%v, %v", err, openErr)
	}
	defer directory.Close()
	return number + 1, directory.Sync()
}

func serve(listener net.Listener, path string) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return // the listener is closed: this agent stops
		}
		if number, err := next(path); err == nil {
			fmt.Fprintln(connection, number)
		}
		connection.Close()
	}
}

func main() {
	agent, err := agentprotocol.Open("1.0")
	if err != nil || len(os.Args) != 3 {
		log.Fatal("usage: hello-agent PORT FILE ", err)
	}
	port, path := os.Args[1], os.Args[2]
	agent.AddCheck("counter", func() error { _, err := last(path); return err })
	if agent.Ready() != nil {
		os.Exit(1)
	}
	var listener net.Listener
	served := make(chan struct{})
	var beats <-chan time.Time // nil if no heartbeats are wanted
	for {
		var event agentprotocol.Event
		select {
		case <-beats:
			_ = agent.Heartbeat()
		case event = <-agent.Events():
		}
		switch event := event.(type) {
		case agentprotocol.Welcome:
			// A heartbeat that comes before the activation is refused, and is not sent.
			beats = time.Tick(event.Watchdog / 3)
		case agentprotocol.Activate:
			if listener, err = net.Listen("tcp", "127.0.0.1:"+port); err != nil {
				log.Fatal(err)
			}
			go func() { serve(listener, path); close(served) }()
		case agentprotocol.Stop:
			listener.Close()
			<-served // the open connection is finished first
			_ = agent.Stopped()
			return
		}
	}
}
