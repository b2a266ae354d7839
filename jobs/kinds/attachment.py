"""What a payload says of an attachment."""

import re
from typing import Final
from urllib.parse import quote

import msgspec

from crontick.jobs.kinds.addresses import AddressError, one_line

__all__ = ["Attachment"]

_NAME: Final = r"[^/\\]{1,100}"
_ENCODED_CHARACTERS: Final = 700
"""Of a name: it stands on one line of a header, and servers take 998 bytes a line."""
_CONTENT_TYPE: Final = r"(?=.{1,100}\Z)(application|audio|font|image|text|video)/[a-z0-9!#$&^_.+-]+"


class Attachment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """``file``, in the folder ``[email] attachments``, or ``url``, which is fetched at each attempt.

    ``name`` is what the reader saves it as: of a file by default its own, and a URL needs one.
    """

    file: str | None = None
    url: str | None = None
    name: str | None = None
    content_type: str | None = None

    def __post_init__(self) -> None:
        if (self.file is None) == (self.url is None):
            raise ValueError("an attachment has either file or url")
        if not re.fullmatch(_NAME, self.shown):
            raise ValueError("an attachment has a name of 1 to 100 characters, without / and \\")
        if self.content_type is not None and not re.fullmatch(_CONTENT_TYPE, self.content_type):
            raise ValueError("an attachment's content_type is a type and a subtype alone, such as application/pdf")
        if len(quote(self.shown)) > _ENCODED_CHARACTERS:
            raise ValueError("an attachment's name is too long: shorten it")
        try:
            one_line(self.shown)
        except AddressError as error:
            raise ValueError(f"an attachment's name {error}") from None

    @property
    def shown(self) -> str:
        """Its name, as the reader sees it."""
        return self.name if self.name is not None else (self.file or "").rpartition("/")[2]
