"""The bundled demo shop: a made-up department store on loopback with known missing offers."""
