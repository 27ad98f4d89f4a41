package export

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/tables/encode"
)

// programs are the parts of the program for PyTorch.
//
//go:embed torch
var programs embed.FS

// parts are those of each kind of model, in order.
var parts = map[models.Kind][]string{
	models.KindNetworks: {"base", "layers", "networks"},
	models.KindHedge:    {"base", "layers", "hedge"},
	models.KindMixture:  {"base", "mixture"},
}

// writeTorch writes a program and, beside it, the safetensors file that it reads.
func (m *source) writeTorch(o Options) error {
	if err := m.checkTorch(); err != nil {
		return advised(o, err)
	}
	stem := strings.TrimSuffix(o.Output, ".py")
	content, err := m.tensors()
	if err != nil {
		return err
	}
	program, err := m.program(o, filepath.Base(stem)+".safetensors", content)
	if err != nil {
		return err
	}
	numbers, err := numbersFile(o, stem+".safetensors", content)
	if err != nil {
		return err
	}
	if numbers != nil {
		defer numbers.Close()
	}
	file, err := atomicfile.Create(o.Output)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(program); err != nil {
		return err
	}
	if numbers != nil {
		if err := numbers.Commit(); err != nil {
			return err
		}
	}
	if err := file.Commit(); err != nil {
		return err
	}
	o.Log.Info(fmt.Sprintf("%s: a program that reads %s beside it", o.Output, filepath.Base(stem)+".safetensors"))
	return nil
}

// numbersFile starts the safetensors file, which is complete when committed; nil if it is
// there already. Another file by that name is only replaced with the program that it belongs
// to: one that is killed in between leaves a program that refuses the file, by its hash.
func numbersFile(o Options, path string, content []byte) (*atomicfile.File, error) {
	there, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(there, content):
		return nil, nil
	case err == nil && !exists(o.Output):
		return nil, fmt.Errorf("%s: this is the name of the file for the model's numbers, and another file has it: name the program otherwise", path)
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	if _, err = file.Write(content); err != nil {
		file.Close()
	}
	return file, err
}

// tensors is the content of a safetensors file of the model.
func (m *source) tensors() ([]byte, error) {
	if m.Tensors == nil {
		return m.file.Content()
	}
	f, err := m.Tensors()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = safetensors.Write(&b, f)
	return b.Bytes(), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkTorch fails for rows whose preparation the program does not do.
func (m *source) checkTorch() error {
	p := m.preparation
	if p == nil || len(p.Inputs) == 0 {
		return nil
	}
	e := &encode.Encoder{}
	if err := json.Unmarshal(p.Inputs, e); err != nil {
		return err
	}
	if !e.Numeric() {
		return errors.New("its table has columns of text or dates, of which PyTorch knows nothing")
	}
	return nil
}

// program is the text of the program, which reads a file with some content.
func (m *source) program(o Options, file string, content []byte) (string, error) {
	name, err := json.Marshal(file) // which is a text of Python too
	if err != nil {
		return "", err
	}
	prepared := "False"
	if m.preparation == nil {
		prepared = "True"
	}
	text := fmt.Sprintf(`"""A model of MARS in PyTorch, as mars export %s wrote it.

    model = Model()           # reads the file beside this program, or Model(path)
    posteriors = model(x)     # a row a class of model.classes

x are %s. It needs the packages torch and safetensors.
"""

`, o.Version, m.rowsInWords())
	for _, part := range parts[m.file.Kind] {
		b, err := programs.ReadFile("torch/" + part + ".py")
		if err != nil {
			return "", err
		}
		text += string(b) + "\n\n"
		if part == "base" {
			text = strings.Replace(text, "\nLEAST =", fmt.Sprintf("\nFILE = %s\nSHA256 = \"%x\"  # of the file\nPREPARED = %s  # rows come as mars featurize prepares them\nLEAST =", name, sha256.Sum256(content), prepared), 1)
		}
	}
	return strings.TrimRight(text, "\n") + "\n", nil
}

// rowsInWords says what the model takes.
func (m *source) rowsInWords() string {
	switch {
	case m.isImages():
		return fmt.Sprintf("images, n×%d×%d×%d, as a stream of mars featurize has them in the column features", m.Shape[0], m.Shape[1], m.Shape[2])
	case m.Vectors != "":
		return fmt.Sprintf("embeddings of another model, n×%d", m.Width)
	case m.preparation == nil:
		return fmt.Sprintf("rows as a stream of mars featurize has them in the column features, n×%d", m.Width)
	}
	return "rows of the columns model.columns, as they are in the table"
}
