package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// pictures is a program "pictures folder n look [least most]" that writes n PNG files of bars,
// upright, level or crossed, of 20×20 pixels, or with sides between those given. The look
// "light" is light bars on dark, in a folder for each class; "dark" is dark bars on grey, all
// in one folder, with the class in the name and half of them upright. It prints a table of
// their paths, classes and widths.
func pictures() {
	folder, dark := os.Args[1], os.Args[3] == "dark"
	n, err := strconv.Atoi(os.Args[2])
	rng := rand.New(rand.NewPCG(uint64(n), 5))
	sides := func() (height, width int) { return 20, 20 }
	if len(os.Args) > 5 {
		least, errLeast := strconv.Atoi(os.Args[4])
		most, errMost := strconv.Atoi(os.Args[5])
		err = errors.Join(err, errLeast, errMost)
		sides = func() (height, width int) { return least + rng.IntN(most-least+1), least + rng.IntN(most-least+1) }
	}
	fmt.Println("path,class,width")
	for i := range n {
		class := []string{"upright", "level", "crossed"}[i%3]
		name := filepath.Join(folder, class, fmt.Sprintf("%03d.png", i))
		if dark {
			class = []string{"upright", "upright", "level", "crossed"}[i%4]
			name = filepath.Join(folder, fmt.Sprintf("%03d-%s.png", i, class))
		}
		if err == nil {
			height, width := sides()
			err = writeBars(name, class, dark, height, width, rng)
			fmt.Printf("%s,%s,%d\n", filepath.ToSlash(name), class, width)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeBars(name, class string, dark bool, height, width int, rng *rand.Rand) error {
	const side = 20 // of the picture before it is scaled
	across, down := 6+rng.IntN(6), 6+rng.IntN(6)
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for k := range height * width {
		x, y := k%width*side/width, k/width*side/height
		upright := class != "level" && (x == across || x == across+1) && y > 1 && y < side-2
		level := class != "upright" && (y == down || y == down+1) && x > 1 && x < side-2
		value := uint8(rng.IntN(25))
		if upright || level {
			value += 200
		}
		if dark {
			value = 180 - value/3
		}
		picture.SetGray(k%width, k/width, color.Gray{Y: value})
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
