package duck

import (
	"context"
	"sync"
)

// Contexts keeps the context of what each connection is running, by the connection's number, for the functions that
// a query calls.
type Contexts struct{ m sync.Map }

// Set says which context a connection runs under.
func (c *Contexts) Set(ctx context.Context, connection uint64) { c.m.Store(connection, ctx) }

// Forget forgets a connection.
func (c *Contexts) Forget(connection uint64) { c.m.Delete(connection) }

func (c *Contexts) of(connection uint64) context.Context {
	if ctx, ok := c.m.Load(connection); ok {
		return ctx.(context.Context)
	}
	return context.Background()
}
