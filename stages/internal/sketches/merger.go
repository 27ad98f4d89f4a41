package sketches

import "sync"

// mergedAtOnce is how many sketches a Merger keeps before it makes one of them.
const mergedAtOnce = 4

// A Merger merges sketches as they come, so that memory does not grow with their number.
// The zero value is usable, by several goroutines.
type Merger struct {
	mu       sync.Mutex
	sketches []*Sketch
	names    []string
}

// Add adds a sketch, with the name of its input for errors.
func (m *Merger) Add(s *Sketch, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sketches, m.names = append(m.sketches, s), append(m.names, name)
	if len(m.sketches) < mergedAtOnce {
		return nil
	}
	_, err := m.merge()
	return err
}

// LoadAll reads sketches and merges them as they come.
func LoadAll(paths []string) (*Sketch, error) {
	var all Merger
	for _, path := range paths {
		s, err := Load(path)
		if err == nil {
			err = all.Add(s, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return all.Sketch()
}

// Sketch returns what Merge returns of all that were added.
func (m *Merger) Sketch() (*Sketch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.merge()
}

func (m *Merger) merge() (*Sketch, error) {
	one, err := Merge(m.sketches, m.names)
	if err != nil {
		return nil, err
	}
	clear(m.sketches)
	m.sketches, m.names = append(m.sketches[:0], one), m.names[:1]
	return one, nil
}
