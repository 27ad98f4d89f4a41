package train

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
)

// metrics writes the figures of each epoch as a row of an Arrow stream, and
// tells the user how training goes.
type metrics struct {
	env     stages.Env
	out     *arrowio.Writer // nil: not asked for
	schema  *arrow.Schema
	builder *array.RecordBuilder
}

// newMetrics begins the stream with the columns of EpochMetrics, one
// proportion a class.
func newMetrics(env stages.Env, path string, classes []string) (*metrics, error) {
	m := &metrics{env: env}
	if path == "" {
		return m, nil
	}
	f64 := arrow.PrimitiveTypes.Float64
	m.schema = arrowio.Meta{Classes: classes}.Apply(arrow.NewSchema([]arrow.Field{
		{Name: "epoch", Type: arrow.PrimitiveTypes.Int32},
		{Name: "class_loss", Type: f64},
		{Name: "source_accuracy", Type: f64},
		{Name: "critic_distance", Type: f64, Nullable: true},
		{Name: "gradient_penalty", Type: f64, Nullable: true},
		{Name: "learning_rate", Type: f64},
		{Name: "reestimated", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "proportions", Type: arrow.ListOf(f64), Nullable: true},
	}, nil))
	m.builder = array.NewRecordBuilder(memory.DefaultAllocator, m.schema)
	var err error
	if m.out, err = arrowio.Create(path, arrowio.WriteOptions{}); err != nil {
		return nil, err
	}
	return m, m.out.Begin(m.schema)
}

func (m *metrics) epoch(e adapt.EpochMetrics) error {
	m.env.Report("epochs", int64(e.Epoch+1), int64(e.Epochs))
	m.log(e)
	if m.out == nil {
		return nil
	}
	m.append(e)
	rec := m.builder.NewRecord()
	defer rec.Release()
	return m.out.Write(rec)
}

func (m *metrics) append(e adapt.EpochMetrics) {
	column := func(name string) array.Builder { return m.builder.Field(m.schema.FieldIndices(name)[0]) }
	float := func(name string, v float64, valid bool) {
		column(name).(*array.Float64Builder).AppendValues([]float64{v}, []bool{valid})
	}
	column("epoch").(*array.Int32Builder).Append(int32(e.Epoch))
	float("class_loss", e.ClassLoss, true)
	float("source_accuracy", e.SourceAccuracy, true)
	float("critic_distance", e.CriticDistance, e.Aligned)
	float("gradient_penalty", e.GradientPenalty, e.Aligned)
	float("learning_rate", e.LearningRate, true)
	column("reestimated").(*array.BooleanBuilder).Append(e.Reestimated)
	list := column("proportions").(*array.ListBuilder)
	list.Append(e.Proportions != nil)
	list.ValueBuilder().(*array.Float64Builder).AppendValues(e.Proportions, nil)
}

// log tells of every new estimate and of the last epoch.
func (m *metrics) log(e adapt.EpochMetrics) {
	last := e.Epoch+1 == e.Epochs
	if !e.Reestimated && !last {
		return
	}
	details := []any{"loss", fmt.Sprintf("%.4f", e.ClassLoss), "source accuracy", fmt.Sprintf("%.3f", e.SourceAccuracy)}
	if e.Labelled {
		details = append(details, "kept", fmt.Sprintf("%.3f", e.Kept), "p_T", spelling.Numbers(e.Proportions))
	}
	if e.Aligned {
		details = append(details, "critic distance", fmt.Sprintf("%.4f", e.CriticDistance), "p_T", spelling.Numbers(e.Proportions))
	}
	m.env.Logger().Info(fmt.Sprintf("epoch %d of %d", e.Epoch+1, e.Epochs), details...)
}

// close ends the stream; the error of training, if any, goes before its own. Of a training
// that has failed no file is left, and of one that has diverged there is: it shows how.
func (m *metrics) close(cause error) error {
	switch {
	case m.out == nil:
		return cause
	case cause == nil:
		return m.out.Close()
	case errors.As(cause, new(*adapt.DivergedError)):
		return errors.Join(cause, m.out.Close())
	}
	m.out.Fail(cause)
	return cause
}
