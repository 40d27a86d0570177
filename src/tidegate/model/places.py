"""Where a trial ran: the folders, and the user, that are others in every trial."""

from __future__ import annotations

import re

from tidegate.model.value import Value

# In a recorded session, these names stand for the folders and the user.
TRIAL, CHECKOUT, USER = "/tidegate-place/trial", "/tidegate-place/checkout", "tidegate-user"


class Places(Value):
    """The folders of one trial, and its user's number; '' if that is not known or not the trial's own."""

    trial: str = ""
    checkout: str = ""
    user: str = ""

    def hide(self, text: str) -> str:
        """Return the text with the names that stand for these places."""
        for place, name in ((self.trial, TRIAL), (self.checkout, CHECKOUT)):
            text = text.replace(place, name) if place else text
        return re.sub(rf"\b{self.user}\b", USER, text) if self.user else text

    def fill_in(self, text: str) -> str:
        """Return the text with these places instead of the names that stand for them."""
        for place, name in ((self.trial, TRIAL), (self.checkout, CHECKOUT), (self.user, USER)):
            text = text.replace(name, place) if place else text
        return text
