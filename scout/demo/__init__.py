"""The bundled demo shop: a small department store of ours on loopback, with its truth known."""
