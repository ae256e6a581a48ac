package accel

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Auto stands for whichever devices can run: each job goes to the one that should be done with it first.
const Auto = "auto"

// A Numbered device is one of several of its kind, the first unless another is asked for.
type Numbered interface {
	Device
	// Number returns the i-th of them, from 0 on. Whether it exists, its Probe says.
	Number(i int) Device
}

// Pick returns the device called name: cuda, or cuda:1 for the second. Where name is "auto" or empty, it returns all
// that can run as one; see Auto.
func Pick(all []Device, name string) (Device, error) {
	if name == Auto || name == "" {
		return pickAuto(all)
	}
	kind, number, numbered := strings.Cut(name, ":")
	var names []string
	for _, d := range all {
		names = append(names, d.Name())
		if d.Name() != kind {
			continue
		}
		if numbered {
			var err error
			if d, err = numberOf(d, number); err != nil {
				return nil, err
			}
		}
		if err := d.Probe(); err != nil {
			return nil, fmt.Errorf("accel: %w: %s: %w", ErrUnavailable, d.Name(), err)
		}
		return d, nil
	}
	return nil, fmt.Errorf("accel: %w: there is no device %q; this build has %v and auto", ErrUnavailable, name, names)
}

// numberOf returns the device of a kind that has a number.
func numberOf(d Device, number string) (Device, error) {
	many, ok := d.(Numbered)
	i, err := strconv.ParseUint(number, 10, 15)
	if !ok {
		return nil, fmt.Errorf("accel: %w: there is one device %s; ask for it without a number", ErrUnavailable, d.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("accel: %w: %q is no number of a device; write %s:0 for the first", ErrUnavailable, number, d.Name())
	}
	return many.Number(int(i)), nil
}

// pickAuto returns all devices that can run.
func pickAuto(all []Device) (Device, error) {
	var can auto
	var why []error
	for _, d := range all {
		if err := d.Probe(); err != nil {
			why = append(why, fmt.Errorf("%s: %w", d.Name(), err))
			continue
		}
		can = append(can, d)
	}
	switch len(can) {
	case 0:
		return nil, fmt.Errorf("accel: %w: %w", ErrUnavailable, errors.Join(why...))
	case 1:
		return can[0], nil
	}
	return can, nil
}
