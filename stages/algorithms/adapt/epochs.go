package adapt

// SetEpochs changes the number of epochs, and in proportion the warm-up and the first epochs
// of the alignment, of the decay and of the average. iw-wd estimates often enough still.
func (c *Config) SetEpochs(n int) {
	if c.Epochs > 0 {
		for _, at := range []*int{&c.StartAlign, &c.DecayFrom, &c.AverageFrom} {
			*at = *at * n / c.Epochs
		}
		c.WarmUp *= float64(n) / float64(c.Epochs)
	}
	c.Epochs = n
	c.estimateOften()
}
