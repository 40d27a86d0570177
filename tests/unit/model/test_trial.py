"""What a replay's output shows of the place where it ran."""

from __future__ import annotations

from tidegate.model.trial import FOLDER_MARK, TRIAL, Places, without_folder


def test_a_name_that_stands_for_a_place_is_another_text_than_the_place() -> None:
    places = Places(trial="/tmp/t1")
    assert places.hide("wrote /tmp/t1/a") == f"wrote {TRIAL}/a"
    assert places.hide(f"wrote {TRIAL}/a") != f"wrote {TRIAL}/a"


def test_of_an_output_only_the_last_line_about_the_folder_is_left_out() -> None:
    printed = f"{FOLDER_MARK}done\nall\n\n{FOLDER_MARK}/work\nan error"
    assert without_folder(printed) == f"{FOLDER_MARK}done\nall\n\nan error"
    assert without_folder("all\n") == "all\n"
