package cli

import "github.com/spf13/cobra"

// uiCommand serves pages, which a page does not.
func uiCommand() *cobra.Command { return &cobra.Command{Use: "ui"} }
