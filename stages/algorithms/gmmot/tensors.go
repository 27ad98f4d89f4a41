package gmmot

import (
	"errors"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Tensors is the model for programs that evaluate it: "means" (K×1×d), "whiten" (K×d×d) and
// "constants" (K) are those of mixture.Density, and "member" (K×C) is 1 where a component is of
// a class. The files hold float32, so that each of the first three is the sum of two tensors,
// of which the second is called "means.rest" and so on.
func (m *Model) Tensors() (safetensors.File, error) {
	k, d, classes := m.Mixture.K(), m.Width(), len(m.Classes)
	f := safetensors.File{Metadata: map[string]string{adapt.KeyMethod: Method}}
	err := errors.Join(f.PutJSON(adapt.KeyClasses, m.Classes), f.PutJSON(adapt.KeyProportions, m.Proportions), f.PutJSON(adapt.KeyPrior, m.prior()))
	m.Use.Put(f.Metadata)
	density := m.assigner.Density()
	var means, whiten []float64
	for i := range k {
		means, whiten = append(means, density.Means[i]...), append(whiten, density.Whiten[i]...)
	}
	putBoth(&f, "constants", density.Constants, k)
	putBoth(&f, "means", means, k, 1, d)
	putBoth(&f, "whiten", whiten, k, d, d)
	member := make([]float32, k*classes)
	for i, c := range m.ClassOf {
		member[i*classes+int(c)] = 1
	}
	f.Put("member", member, k, classes)
	return f, err
}

// putBoth adds values as two tensors.
func putBoth(f *safetensors.File, name string, values []float64, shape ...int) {
	high, rest := make([]float32, len(values)), make([]float32, len(values))
	for i, v := range values {
		high[i] = float32(v)
		rest[i] = float32(v - float64(high[i]))
	}
	f.Put(name, high, shape...)
	f.Put(name+".rest", rest, shape...)
}
