"""What a test says inside a job, ``pytest.fail`` or a failed assertion, is about the test."""

__all__ = ["Verdicts"]


class Verdicts:
    """Kept while the engine writes the attempt down, raised when it has done."""

    def __init__(self) -> None:
        self._first: BaseException | None = None

    def judge(self, error: BaseException) -> None:
        """Keep it if it is the test's."""
        if self._first is None and _of_the_test(error):
            self._first = error

    def tell(self) -> None:
        """Raise the first that was kept."""
        if self._first is not None:
            raise self._first


def _of_the_test(error: BaseException) -> bool:
    """Whether pytest raised it, or an assertion in a module whose assertions pytest explains, as it does the tests'.

    An assertion in the application fails its attempt, as in life.
    """
    if any(base.__module__ == "_pytest.outcomes" for base in type(error).__mro__):
        return True
    trace = error.__traceback__
    if not isinstance(error, AssertionError) or trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return "@pytest_ar" in trace.tb_frame.f_globals
