"""The proxy between agents and their model providers: leases, forwarding, token usage."""
