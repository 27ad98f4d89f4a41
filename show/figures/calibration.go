package figures

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/stages/eval"
)

// checkSurvey returns an error about a survey that cannot be drawn.
func checkSurvey(s *eval.Survey) error {
	if s == nil || len(s.Bins) == 0 {
		return errors.New("holds no confidences: its rows had no column of probabilities")
	}
	for _, b := range s.Bins {
		if !(b.From >= 0 && b.From < b.To && b.To <= 1) || b.Rows < 0 || b.Rows > 0 && b.Confidence == nil {
			return errors.New("holds confidences that are damaged: run the command that made it again")
		}
	}
	return nil
}

// Calibration draws how often labels of a confidence are right.
func Calibration(s *eval.Survey) (*Figure, error) {
	if err := checkSurvey(s); err != nil {
		return nil, err
	}
	if s.Error == nil {
		return nil, errors.New("holds no truth, so how often labels are right is not known: read labels with --truth")
	}
	f := &Figure{Kind: "calibration", Title: "Confidence and accuracy", width: 330, narrow: true,
		Text:  fmt.Sprintf("Labels of each confidence, and the share of them that is right (reliability curve). On the dashed line confidence is what it says; above it labels are better than they say. The mean distance to the line is %s (expected calibration error).", share(*s.Error)),
		Table: surveyTable(s)}
	f.layout = high(320, func(c draw.Canvas) {
		p := newPlot()
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.X.Tick.Marker, p.Y.Tick.Marker = percentTicks{}, percentTicks{}
		p.X.Label.Text, p.Y.Label.Text = "confidence", "share of right labels"
		p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
			a, b := at(&c, p, 0, 0), at(&c, p, 1, 1)
			c.StrokeLine2(draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{4, 3}}, a.X, a.Y, b.X, b.Y)
			var line []vg.Point
			rows := 0
			for _, b := range s.Bins {
				rows = max(rows, b.Rows)
			}
			for _, b := range s.Bins {
				if b.Accuracy == nil {
					continue
				}
				point := at(&c, p, *b.Confidence, *b.Accuracy)
				line = append(line, point)
				c.DrawGlyph(draw.GlyphStyle{Color: blue, Radius: vg.Length(2.5 + 4*math.Sqrt(float64(b.Rows)/float64(rows))), Shape: draw.CircleGlyph{}}, point)
			}
			c.StrokeLines(lineOf(blue, 1.5), line)
		}))
		p.Draw(c)
	})
	return f, nil
}

// Confidence draws how many labels have which confidence.
func Confidence(s *eval.Survey) (*Figure, error) {
	if err := checkSurvey(s); err != nil {
		return nil, err
	}
	rows, most := 0, 0
	for _, b := range s.Bins {
		rows, most = rows+b.Rows, max(most, b.Rows)
	}
	f := &Figure{Kind: "confidence", Title: "How sure the labels are", width: usualWidth, narrow: true,
		Text:  fmt.Sprintf("How many of %s labels have which confidence, the posterior of their class.", whole(rows)),
		Table: surveyTable(s)}
	f.layout = high(220, func(c draw.Canvas) {
		p := newPlot()
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1.12*float64(max(most, 1))
		p.X.Tick.Marker, p.X.Label.Text, p.Y.Label.Text = percentTicks{}, "confidence", "rows"
		p.Y.Tick.Marker = wholeTicks{}
		p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
			for _, b := range s.Bins {
				low, high := at(&c, p, b.From, 0), at(&c, p, b.To, float64(b.Rows))
				fillBox(c, vg.Point{X: low.X + 1, Y: low.Y}, vg.Point{X: high.X - 1, Y: high.Y}, blue)
				// On a telephone long numbers would run into one another: the table has them.
				if style := pen(text.XCenter, text.YBottom, ink); b.Rows > 0 && style.Width(whole(b.Rows)) <= high.X-low.X {
					c.FillText(style, vg.Point{X: (low.X + high.X) / 2, Y: high.Y + 2}, whole(b.Rows))
				}
			}
		}))
		p.Draw(c)
	})
	return f, nil
}

// wholeTicks are a few ticks of counts.
type wholeTicks struct{}

func (wholeTicks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(max(high, 1))))
	for _, part := range []float64{0.2, 0.5, 1} {
		if high/(step*part) <= 5 {
			step *= part
			break
		}
	}
	step = max(math.Round(step), 1)
	var ticks []plot.Tick
	for v := 0.0; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: whole(int(v))})
	}
	return ticks
}

func surveyTable(s *eval.Survey) Table {
	t := Table{Head: []string{"confidence", "rows", "mean confidence", "right"}}
	for _, b := range s.Bins {
		row := []string{fmt.Sprintf("%s to %s", percent(b.From, 1), percent(b.To, 1)), whole(b.Rows), "", ""}
		if b.Confidence != nil {
			row[2] = share(*b.Confidence)
		}
		if b.Accuracy != nil {
			row[3] = share(*b.Accuracy)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Doubts are the labels that are most in doubt, as a table.
func Doubts(s *eval.Survey) Table {
	t := Table{Head: []string{"id", "label", "confidence"}}
	rivals := len(s.Doubtful) > 0 && s.Doubtful[0].Next != ""
	if rivals {
		t.Head = append(t.Head, "or else")
	}
	if s.Error != nil {
		t.Head = append(t.Head, "truth")
	}
	for _, r := range s.Doubtful {
		row := []string{r.ID, r.Label, share(r.Confidence)}
		if rivals {
			row = append(row, r.Next)
		}
		if s.Error != nil {
			row = append(row, r.Truth)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
