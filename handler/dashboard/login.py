"""How somebody comes in: a name for the audit, and the admin secret."""

import re
from typing import Final

from starlette.datastructures import Headers

from crontick.handler.dashboard.attempts import Attempts
from crontick.handler.dashboard.form import Form
from crontick.handler.dashboard.session import Session, Sessions, clear_cookie
from crontick.handler.dashboard.visit import Go, Page
from crontick.handler.problem import FORM_REFUSED, TOO_MANY_ATTEMPTS, Problem
from crontick.jobs.settings import Settings

_WANTED: Final = re.compile(r"[a-z][A-Za-z0-9/-]*(\?[A-Za-z0-9=&%._+*~:-]*)?")
_BY_AT_MOST: Final = 128


class Login:
    """Gives sessions to whoever knows the secret; it touches no database."""

    def __init__(self, settings: Settings) -> None:
        self._sessions = Sessions(settings.admin_secrets)
        self._attempts = Attempts()
        self.over = clear_cookie()

    def session(self, headers: Headers) -> Session | None:
        """That of somebody who is logged in."""
        found = self._sessions.read(headers)
        return found if found and found.by else None

    def visitor(self, headers: Headers, address: str) -> Session:
        """The session that a login form was made for; raises ``Problem``, also after too many wrong secrets."""
        if wait_seconds := self._attempts.wait_seconds(address):
            raise Problem(
                TOO_MANY_ATTEMPTS,
                f"wait {wait_seconds} seconds: CRONTICK_ADMIN_SECRET of the deployment is what is asked for",
                {"retry-after": str(wait_seconds)},
            )
        found = self._sessions.read(headers)
        if found is None:
            raise Problem(
                FORM_REFUSED,
                "the browser sent no cookie: it keeps one from https, or from this very machine alone;"
                " otherwise open the login again, and send it again",
            )
        return found

    def asked(self, headers: Headers, told: Form) -> tuple[Page, str | None]:
        """The form, and the cookie that it is made for."""
        found, cookie = self._sessions.read(headers), None
        if found is None:
            found, cookie = self._sessions.visitor()
        return _form(found, wanted(told.get("next"))), cookie

    def tried(self, visitor: Session, form: Form, address: str) -> tuple[Page | Go, str | None]:
        """In with a fresh session, or the form again."""
        by, next_ = form.get("by"), wanted(form.get("next"))
        if not by or len(by) > _BY_AT_MOST or not by.isprintable():
            return _form(visitor, next_, wrong=f"Say who you are, in 1 to {_BY_AT_MOST} characters.", status=422), None
        cookie = self._sessions.login(form.get("secret"), by)
        if cookie is None:
            self._attempts.failed(address)
            wrong = "That is not CRONTICK_ADMIN_SECRET of this deployment."
            return _form(visitor, next_, by=by, wrong=wrong, status=403), None
        return Go(next_), cookie


def wanted(path: str) -> str:
    """The page to go to after the login, or the first one: nothing but a path of ours gets through."""
    return path if _WANTED.fullmatch(path) and not path.startswith("log") else ""


def _form(session: Session, next_: str, *, by: str = "", wrong: str = "", status: int = 200) -> Page:
    return Page("login.html", {"token": session.token, "next": next_, "by": by, "wrong": wrong}, status)
