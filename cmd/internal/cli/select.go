package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/train"
)

// selectable are the flags of mars-train that --select chooses for: those that say how to
// train, and not what to write.
var selectable = func() []string {
	var t trainFlags
	t.register(&pflag.FlagSet{})
	return slices.Concat([]string{"method", "proportions", "beta", "schedule", "augment", "assume", "classifier", "arch"}, t.n.tuning.names, t.a.tuning.names)
}()

// maxCandidates bounds the combinations of --select.
const maxCandidates = 1_000

// defaultValue leaves a flag out.
const defaultValue = "default"

// settingsFlag lists values of flags: learning-rate=0.01,0.1;lambda=0.1,1. A comma may stand
// for the semicolon, and the flag may be repeated.
type settingsFlag struct{ items []listed }

type listed struct {
	flag   string
	values []string
}

func (s *settingsFlag) Type() string { return "FLAG=VALUE,…" }

func (s *settingsFlag) String() string {
	texts := make([]string, len(s.items))
	for i, item := range s.items {
		texts[i] = item.flag + "=" + strings.Join(item.values, ",")
	}
	return strings.Join(texts, ";")
}

func (s *settingsFlag) Set(text string) error {
	for _, part := range strings.Split(text, ";") {
		if err := s.add(part); err != nil {
			return err
		}
	}
	for _, item := range s.items {
		for i, v := range item.values {
			if slices.Contains(item.values[:i], v) {
				return fmt.Errorf("%s has the value %s twice", item.flag, v)
			}
		}
	}
	return nil
}

// add adds the flags of a part, which are apart by commas.
func (s *settingsFlag) add(part string) error {
	first := true
	for _, word := range strings.Split(part, ",") {
		word = strings.TrimSpace(word)
		name, value, named := strings.Cut(word, "=")
		switch {
		case word == "":
			return errors.New("an empty value: write FLAG=VALUE,VALUE, as in learning-rate=0.01,0.1;lambda=0.1,1")
		case named && (first || slices.Contains(selectable, name) || s.last() != "augment"):
			if err := s.begin(name); err != nil {
				return err
			}
			if word = value; value == "" {
				return fmt.Errorf("%s has an empty value", name)
			}
		case first:
			return fmt.Errorf("%q names no flag: write FLAG=VALUE,VALUE, as in learning-rate=0.01,0.1;lambda=0.1,1", word)
		}
		first = false
		item := &s.items[len(s.items)-1]
		item.values = append(item.values, word)
	}
	return nil
}

func (s *settingsFlag) last() string {
	if len(s.items) == 0 {
		return ""
	}
	return s.items[len(s.items)-1].flag
}

func (s *settingsFlag) begin(name string) error {
	if slices.ContainsFunc(s.items, func(i listed) bool { return i.flag == name }) {
		return fmt.Errorf("%s is listed twice: list all its values at once", name)
	}
	if !slices.Contains(selectable, name) {
		if near := spelling.Nearest(name, selectable); near != "" {
			return fmt.Errorf("%s cannot be selected: did you mean %s?", name, near)
		}
		return fmt.Errorf("%s cannot be selected: choose of %s", name, strings.Join(selectable, ", "))
	}
	s.items = append(s.items, listed{flag: name})
	return nil
}

// scoresFlag names scores.
type scoresFlag []string

func (s *scoresFlag) Type() string      { return strings.Join(validate.Names, "|") }
func (s *scoresFlag) String() string    { return strings.Join(*s, ",") }
func (s *scoresFlag) choices() []string { return validate.Names }

func (s *scoresFlag) Set(text string) error {
	names := strings.Split(text, ",")
	if err := train.CheckScores(names); err != nil {
		return err
	}
	*s = names
	return nil
}

// selectFlags have mars-train choose settings.
type selectFlags struct {
	settings settingsFlag
	scores   scoresFlag
}

func (s *selectFlags) register(f *pflag.FlagSet) {
	s.scores = scoresFlag{validate.Reversed}
	f.Var(&s.settings, "select", "choose among values of flags without labels of the target, as in learning-rate=0.01,0.1;lambda=0.1,1 (all combinations; the flag may be repeated; default leaves a flag out)")
	f.Var(&s.scores, "score", "what --select chooses by; of several, apart by commas, the first, and the others are told")
}

// check refuses flags that make no sense without or with --select.
func (s *selectFlags) check(cmd *cobra.Command) error {
	if s.settings.items == nil {
		return refuse(cmd, "there is no --select to choose for", []string{"score"})
	}
	for _, item := range s.settings.items {
		if cmd.Flags().Changed(item.flag) {
			return usagef("--select: %s is given and selected: leave one out", item.flag)
		}
	}
	return refuse(cmd, "--select trains more than once", []string{"checkpoint", "checkpoint-every", "resume"})
}

// choice is all combinations of the values, each checked as the flags are.
func (s *selectFlags) choice(cmd *cobra.Command) (train.Choice, error) {
	choice := train.Choice{Scores: s.scores}
	if flag := cmd.Flags().Lookup("metrics"); flag.Changed {
		choice.Report = flag.Value.String()
	}
	combinations := [][]train.Setting{nil}
	for _, item := range s.settings.items {
		var next [][]train.Setting
		for _, c := range combinations {
			for _, value := range item.values {
				next = append(next, append(slices.Clone(c), train.Setting{Flag: item.flag, Value: value}))
			}
		}
		if combinations = next; len(next) > maxCandidates {
			return choice, usagef("--select: there are more than %d combinations: list fewer values", maxCandidates)
		}
	}
	for _, settings := range combinations {
		c := train.Candidate{Settings: settings}
		var err error
		if c.Options, err = candidateOptions(cmd, settings); err != nil {
			return choice, usagef("--select: %s: %w", c, err)
		}
		choice.Candidates = append(choice.Candidates, c)
	}
	return choice, nil
}

// candidateOptions are those of the command's flags with the settings.
func candidateOptions(cmd *cobra.Command, settings []train.Setting) (o train.Options, err error) {
	var t trainFlags
	with := &cobra.Command{}
	f := with.Flags()
	t.register(f)
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if f.Lookup(flag.Name) != nil && flag.Name != "metrics" && err == nil {
			err = f.Set(flag.Name, flag.Value.String())
		}
	})
	for _, s := range settings {
		if s.Value != defaultValue && err == nil {
			err = f.Set(s.Flag, s.Value)
		}
	}
	if err != nil {
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, valueError(invalid))
		}
		return o, err
	}
	return t.options(with)
}
