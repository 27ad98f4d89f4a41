package pipeline

import (
	"fmt"
	"os"
	"strconv"
)

// ParentVariable is the environment variable with the number of a file descriptor that a
// program inherits: the reading end of a pipe, often its standard input. Only the process
// that started the program holds the other end, and never writes to it. When that process
// ends, however it does, the pipe ends too, and the program with it.
const ParentVariable = "MARS_PARENT_FD"

// EndWithParent calls end when the process that started this one has ended, if it asked for
// that by ParentVariable. Programs that this one starts do not inherit the variable.
func EndWithParent(end func()) error {
	text, asked := os.LookupEnv(ParentVariable)
	if !asked {
		return nil
	}
	os.Unsetenv(ParentVariable)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return fmt.Errorf("%s=%s: want the number of an open file descriptor", ParentVariable, text)
	}
	pipe := os.Stdin
	if fd > 0 {
		pipe = os.NewFile(uintptr(fd), ParentVariable)
	}
	if _, err := pipe.Stat(); err != nil {
		return fmt.Errorf("%s=%s: is not an open file descriptor", ParentVariable, text)
	}
	go func() {
		for one := make([]byte, 1); ; {
			if _, err := pipe.Read(one); err != nil {
				end()
				return
			}
		}
	}()
	return nil
}
