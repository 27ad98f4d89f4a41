package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"mars.dev/mars/stages/export"
)

// exportCommand writes a trained model for other programs.
func exportCommand() *cobra.Command {
	c := &common{name: "mars-export"}
	var o export.Options
	cmd := &cobra.Command{
		Use:   "export [flags] MODEL",
		Short: "Write a trained model for ONNX Runtime or PyTorch",
		Long: `MODEL is a file that mars label, mars train or mars embed saved. What is written gives the
posteriors of mars predict, to less than 0.00001.

--to onnx writes one file, which ONNX Runtime and others run, in any language; mars predict takes
it too. The input is features (the model's columns as they are in the table), image (pixels as
the column features of a stream has them) or embedding; for a table with text or dates it is one
input a column. Outputs are probability, label, prediction (the number of the label), confidence
and, where the model has them, typicality and embedding.

--to torch writes a Python program, and the model's numbers beside it in a file of that name
that ends in .safetensors.`,
		Example: `  mars export model.safetensors -o model.onnx
  mars export model.safetensors --to torch -o model.py
  mars export model.onnx --to torch -o model.py`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	o.To = export.Formats[0]
	f.Var(oneOf{&o.To, export.Formats}, "to", "what to write: an ONNX model, or a program for PyTorch (default: torch for a name that ends in .py, otherwise onnx)")
	f.StringVarP(&o.Output, "output", "o", "", "write to this file (required)")
	f.BoolVar(&o.Prepared, "prepared", false, "leave out how columns are prepared: the input is the column features of a stream of mars featurize")
	c.logFlags(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		program := filepath.Ext(o.Output) == ".py"
		if program && !cmd.Flags().Changed("to") {
			o.To = "torch"
		}
		switch {
		case o.Output == "" || o.Output == "-":
			return usagef("say which file to write: -o FILE")
		case o.To == "onnx" && program:
			return usagef("--output %s: an ONNX model is no Python program: name it .onnx, or say --to torch", o.Output)
		case o.To == "torch" && !program:
			return usagef("--output %s: the name of a program for PyTorch ends in .py: name it so", o.Output)
		}
		o.Model, o.Version = args[0], Version()
		env, done := c.env(cmd)
		defer done()
		o.Log = env.Logger()
		return guarded(func() error { return export.Write(cmd.Context(), o) })
	}
	return newCommand(cmd)
}
