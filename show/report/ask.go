package report

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"strings"

	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/ask"
)

// Asked is what there is to see of rows that a person is to label: the table, and the pictures in
// its order, where picture says in which file that of a row is; nil: there are none.
func Asked(s *ask.Sheet, table *ask.Table, picture func(id string) string) *Part {
	p := &Part{Title: "Rows to label", Lead: sentence(s.Line()), Judged: string(s.Judgement)}
	if s.Verdict != "" {
		p.Lead, p.Answer = s.Verdict, p.Lead
	}
	if picture == nil {
		head, rows := table.Text()
		p.Tables = append(p.Tables, Table{Title: "In order", Table: figures.Table{Head: head, Rows: rows}})
		return p
	}
	for _, row := range s.Rows {
		p.Pictures = append(p.Pictures, Picture{picture(row.ID), fmt.Sprintf("%d: %s", row.Order, row.ID)})
	}
	return p
}

// held is a picture as part of a page.
type held struct {
	URL  template.URL
	Text string
}

// hold reads the files of pictures.
func hold(pictures []Picture) (all []held, err error) {
	for _, p := range pictures {
		data, err := os.ReadFile(p.Path)
		if err != nil {
			return nil, err
		}
		url := "data:" + kindOf(data) + ";base64," + base64.StdEncoding.EncodeToString(data)
		all = append(all, held{template.URL(url), p.Text})
	}
	return all, nil
}

// kindOf is the type of a picture that a browser shows, by its first bytes.
func kindOf(data []byte) string {
	for head, kind := range map[string]string{"\x89PNG": "image/png", "\xff\xd8": "image/jpeg", "GIF8": "image/gif", "BM": "image/bmp", "RIFF": "image/webp"} {
		if strings.HasPrefix(string(data[:min(len(data), 8)]), head) {
			return kind
		}
	}
	return "image/tiff"
}
