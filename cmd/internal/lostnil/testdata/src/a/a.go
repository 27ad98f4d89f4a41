package a

import (
	"errors"
	"fmt"
)

func f() (int, error) { return 0, errors.New("f") }

func lost() (int, error) {
	if _, err := f(); err != nil {
		return 0, nil // want "err is not nil, and nil is returned"
	}
	return f()
}

func withDefer() error {
	defer fmt.Println()
	_, err := f()
	if err != nil || lost == nil {
		return nil // want "err is not nil, and nil is returned"
	}
	return func() error {
		if err != nil {
			return nil // want "err is not nil, and nil is returned"
		}
		return err
	}()
}

func told() (*int, error) {
	if _, err := f(); err != nil {
		fmt.Println(err)
		return nil, nil
	}
	if _, err := f(); err != nil {
		return nil, err
	}
	if _, err := f(); err != nil {
		//lint:ignore lostnil it is meant
		return nil, nil
	}
	if _, err := f(); err == nil {
		return nil, nil
	}
	return nil, nil
}

func noError() *int {
	if _, err := f(); err != nil {
		return nil
	}
	return new(int)
}
