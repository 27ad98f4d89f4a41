package adapt

// SetEpochs changes the number of epochs and moves what happens at an epoch of
// the schedule (the start of alignment, of the decay and of the average) in
// proportion.
func (c *Config) SetEpochs(n int) {
	if c.Epochs > 0 {
		for _, at := range []*int{&c.StartAlign, &c.DecayFrom, &c.AverageFrom} {
			*at = *at * n / c.Epochs
		}
	}
	c.Epochs = n
}
