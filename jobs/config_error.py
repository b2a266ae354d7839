"""What is wrong with ``crontick.toml``; apart from what reads it, which a tick without one does not import."""


class ConfigError(Exception):
    """Every fault of the file at once, each with its line."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = tuple(sentences)
