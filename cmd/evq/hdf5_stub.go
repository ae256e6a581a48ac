//go:build !(hdf5 && cgo)

package main

// hdf5Built says whether this build reads and writes HDF5.
const hdf5Built = false
