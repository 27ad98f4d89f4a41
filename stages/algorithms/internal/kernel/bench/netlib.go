//go:build netlib

package main

import clibrary "gonum.org/v1/netlib/blas/netlib"

func init() { netlib = clibrary.Implementation{} }
