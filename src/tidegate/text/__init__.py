"""Text made safe, shortened, and matched within limits."""
