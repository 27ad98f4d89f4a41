// Command fitgate makes the tasks by which the weights of the assumptions are learnt, and
// fits these weights.
package main

import (
	"fmt"
	"os"
)

const usage = `usage:
  fitgate simulate FROM TO FOLDER   write the simulated tasks of the seeds FROM to TO-1 as FOLDER/sim-SEED.task,
                                    and their names, kinds and families as FOLDER/tasks.csv
  fitgate study SIGNS FOLDER...     append the signs and the truth of the tasks of folders to SIGNS, a JSON line a task,
                                    but for those that it has
  fitgate fit GATE|- SIGNS...       fit a gate to files of signs (.jsonl or .jsonl.gz), write it, or not, and print how
                                    good gates are from which families were left out
  fitgate judge GATE SIGNS...       print how good a gate is on files of signs that it was not fitted to
  fitgate check GATE SIGNS...       fail if a gate is not what the signs give
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fitgate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no sub-command\n%s", usage)
	}
	switch command, rest := args[0], args[1:]; command {
	case "simulate":
		return simulate(rest)
	case "study":
		return study(rest)
	case "fit":
		return fit(rest)
	case "judge":
		return judgeBy(rest)
	case "check":
		return check(rest)
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	default:
		return fmt.Errorf("%s: no such sub-command\n%s", command, usage)
	}
}
