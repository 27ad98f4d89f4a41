package check

// Labels are labels that a person gave some rows.
type Labels struct{}
