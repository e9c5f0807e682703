"""Learn: known offers and their pages give the rules by which a shop is read."""
