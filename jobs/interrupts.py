"""A Ctrl-C, told from a ``KeyboardInterrupt`` that somebody's code raised itself."""

import signal

__all__ = ["is_ctrl_c"]


def is_ctrl_c(error: BaseException) -> bool:
    """Whether a signal to this process raised it: that must end the process, anything else only its own job.

    Python's own handler is C, and raises between two instructions of whatever runs; ``asyncio.run`` has a handler in
    Python, which cancels the main task at the first Ctrl-C and raises at the second. So a signal's exception begins in
    that handler, or at an instruction that raises nothing itself; what begins at a ``raise`` elsewhere is somebody's
    own. uvicorn's handler raises nothing: it tells its server to end.
    """
    trace = error.__traceback__
    if not isinstance(error, KeyboardInterrupt) or trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    from opcode import opmap

    if code.co_code[trace.tb_lasti] != opmap["RAISE_VARARGS"]:
        return True
    handler = signal.getsignal(signal.SIGINT)
    handler = getattr(handler, "func", handler)
    return getattr(handler, "__code__", None) is code
