"""The Jinja text of every report, kept at the top level so that it is easy to find and to change."""
