package main

import (
	"context"
	"log/slog"
	"strings"
)

// levelAlways is above what any setting hides: summaries, where logs are JSON.
const levelAlways = slog.LevelInfo + 100

// newLogger makes the logger that --log-level, --log-format, -q, -v and EVQ_LOG ask for. EVQ_LOG is a list such
// as io=debug,engine=info: a level for each room, or one level for all.
func (a *app) newLogger() (*slog.Logger, error) {
	l := levels{rooms: map[string]slog.Level{}}
	_ = l.all.UnmarshalText([]byte(a.logLevel)) // the flag has checked it
	switch {
	case a.quiet:
		l.all = slog.LevelError
	case a.verbose > 1:
		l.all = slog.LevelDebug
	case a.verbose == 1:
		l.all = min(l.all, slog.LevelInfo)
	}
	if err := l.parse(a.env("EVQ_LOG")); err != nil {
		return nil, err
	}
	o := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, at slog.Attr) slog.Attr {
		switch {
		case len(groups) > 0:
		case at.Key == slog.TimeKey && a.logFormat != "json":
			return slog.Attr{}
		case at.Key == slog.LevelKey && at.Value.Any() == levelAlways:
			at.Value = slog.StringValue("INFO")
		}
		return at
	}}
	if a.logFormat == "json" {
		return slog.New(&roomHandler{slog.NewJSONHandler(a.screen, o), l, ""}), nil
	}
	return slog.New(&roomHandler{slog.NewTextHandler(a.screen, o), l, ""}), nil
}

// levels says from which level on each room's records are printed.
type levels struct {
	all   slog.Level
	rooms map[string]slog.Level
}

func (l *levels) parse(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		room, word, ok := strings.Cut(part, "=")
		if !ok {
			room, word = "", part
		}
		var level slog.Level
		if err := level.UnmarshalText([]byte(word)); err != nil {
			return usage("EVQ_LOG is a list such as io=debug,engine=info; %q is no level", word)
		}
		if ok {
			l.rooms[room] = level
		} else {
			l.all = level
		}
	}
	return nil
}

func (l *levels) of(room string) slog.Level {
	if v, ok := l.rooms[room]; ok {
		return v
	}
	return l.all
}

func (l *levels) least() slog.Level {
	least := l.all
	for _, v := range l.rooms {
		least = min(least, v)
	}
	return least
}

// A roomHandler drops records below the level of their room, which the attribute "room" names.
type roomHandler struct {
	slog.Handler
	levels levels
	room   string
}

// Enabled reports whether any room prints the level.
func (h *roomHandler) Enabled(_ context.Context, level slog.Level) bool {
	if h.room != "" {
		return level >= h.levels.of(h.room)
	}
	return level >= h.levels.least()
}

// Handle prints a record if its room does.
func (h *roomHandler) Handle(ctx context.Context, r slog.Record) error {
	room := h.room
	r.Attrs(func(at slog.Attr) bool {
		if at.Key == "room" {
			room = at.Value.String()
		}
		return true
	})
	if r.Level < h.levels.of(room) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the room in mind.
func (h *roomHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	room := h.room
	for _, at := range attrs {
		if at.Key == "room" {
			room = at.Value.String()
		}
	}
	return &roomHandler{h.Handler.WithAttrs(attrs), h.levels, room}
}

// WithGroup implements slog.Handler.
func (h *roomHandler) WithGroup(name string) slog.Handler {
	return &roomHandler{h.Handler.WithGroup(name), h.levels, h.room}
}
