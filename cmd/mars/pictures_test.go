package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// pictures is a program "pictures folder n look" that writes n PNG files of 20×20 pixels of
// bars, upright, level or crossed. The look "light" is light bars on dark, in a folder for
// each class; "dark" is dark bars on grey, all in one folder, with the class in the name and
// half of them upright.
func pictures() {
	folder, dark := os.Args[1], os.Args[3] == "dark"
	n, err := strconv.Atoi(os.Args[2])
	rng := rand.New(rand.NewPCG(uint64(n), 5))
	for i := range n {
		class := []string{"upright", "level", "crossed"}[i%3]
		name := filepath.Join(folder, class, fmt.Sprintf("%03d.png", i))
		if dark {
			class = []string{"upright", "upright", "level", "crossed"}[i%4]
			name = filepath.Join(folder, fmt.Sprintf("%03d-%s.png", i, class))
		}
		if err == nil {
			err = writeBars(name, class, dark, rng)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeBars(name, class string, dark bool, rng *rand.Rand) error {
	const side = 20
	across, down := 6+rng.IntN(6), 6+rng.IntN(6)
	picture := image.NewGray(image.Rect(0, 0, side, side))
	for k := range side * side {
		x, y := k%side, k/side
		upright := class != "level" && (x == across || x == across+1) && y > 1 && y < side-2
		level := class != "upright" && (y == down || y == down+1) && x > 1 && x < side-2
		value := uint8(rng.IntN(25))
		if upright || level {
			value += 200
		}
		if dark {
			value = 180 - value/3
		}
		picture.SetGray(x, y, color.Gray{Y: value})
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return png.Encode(f, picture)
}
