package export

func (m *source) writeTorch(o Options) error { return nil }
