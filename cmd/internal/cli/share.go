package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio/atomicfile"
)

// Share are the files that go with the programs, by their paths in a folder share: pages of
// the manual and completions of the shells.
func Share() (map[string][]byte, error) {
	all := map[string][]byte{}
	for name, page := range manPages() {
		all["man/man1/"+name] = page
	}
	for _, name := range append(Programs(), "mars") {
		for shell, path := range map[string]string{
			"bash": "bash-completion/completions/" + name,
			"zsh":  "zsh/site-functions/_" + name,
			"fish": "fish/vendor_completions.d/" + name + ".fish",
		} {
			var script bytes.Buffer
			if err := writeCompletion(Program(name), shell, &script); err != nil {
				return nil, err
			}
			all[path] = script.Bytes()
		}
	}
	return all, nil
}

// Completion is the completion script of mars for a shell.
func Completion(shell string) ([]byte, error) {
	var script bytes.Buffer
	err := writeCompletion(Mars(), shell, &script)
	return script.Bytes(), err
}

// shareCommand is "mars share FOLDER".
func shareCommand() *cobra.Command {
	list := false
	cmd := newCommand(&cobra.Command{
		Use:   "share [flags] FOLDER",
		Short: "Write pages of the manual and shell completions into a folder",
		Long: `Writes the pages of the manual and the completions for bash, zsh and fish to where man and the
shells look for them under FOLDER, such as ~/.local/share, for those who have only the program.`,
		Example: `  mars share ~/.local/share
  mars share --list /usr/local/share`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := Share()
			if err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				path := filepath.Join(args[0], filepath.FromSlash(name))
				if list {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
				} else if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
					err = atomicfile.WriteFile(path, files[name])
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	})
	cmd.Flags().BoolVar(&list, "list", false, "print which files these are, and write none")
	cmd.PreRunE = nil // its argument is no file that is read
	return cmd
}
