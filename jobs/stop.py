"""How somebody outside asks a running tick to claim no more."""


class Stop:
    """Asked once and never taken back; a tick looks before each claim and ends with ``stop_reason`` shutdown.

    Safe to ask from a signal handler and from any thread.
    """

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = False

    def ask(self) -> None:
        """Have the tick end early; asking again changes nothing."""
        self.asked = True
