"""The model proxy: agents get its address and a lease in place of the provider and the key."""
