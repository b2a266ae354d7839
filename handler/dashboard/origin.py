"""Whether a form was sent by a page of ours."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers


def is_ours(headers: Headers, public_url: str | None) -> bool:
    """True for a request that a page of the same origin sent.

    ``Referrer-Policy: no-referrer`` makes browsers say ``Origin: null``, and they still say ``Sec-Fetch-Site``.
    """
    origin, site = headers.get("origin", "null"), headers.get("sec-fetch-site")
    if site not in (None, "same-origin"):
        return False
    if origin == "null":
        return site == "same-origin"
    told = urlsplit(origin)
    public = urlsplit(public_url or "")
    return told.netloc == headers.get("host") or (told.scheme, told.netloc) == (public.scheme, public.netloc)
