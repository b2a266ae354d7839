"""Which addresses are public, by a list of our own: ``ipaddress``'s answer changes with Python's patch level."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

__all__ = ["is_private", "is_public"]

_SPECIAL_V4: Final = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this host: Linux connects to loopback
            "10.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT, Alibaba's metadata in it
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's metadata
            "169.254.0.0/16",  # link-local, most clouds' metadata
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments, Oracle's metadata in it
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
_GLOBAL_V6: Final = ip_network("2000::/3")
"""All that is allocated; NAT64, site-local, unique local, link-local and multicast lie outside."""
_SPECIAL_V6: Final = tuple(
    map(
        ip_network,
        (
            "2001::/23",  # Teredo (an IPv4 address hides inside), ORCHID, benchmarks
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: an IPv4 address hides inside
            "3fff::/20",  # documentation
        ),
    )
)
_PRIVATE: Final = tuple(
    map(
        ip_network,
        ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"),
    )
)
_METADATA: Final = tuple(
    map(ip_network, ("100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::/32"))
)  # those in networks that are otherwise private
_ISATAP: Final = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")


def is_public(address: str) -> bool:
    """Whether anybody on the Internet is meant to reach it. An IPv4-mapped address is what it maps."""
    found = _unmapped(address)
    if isinstance(found, IPv4Address):
        return not any(found in network for network in _SPECIAL_V4)
    return (
        found in _GLOBAL_V6
        and not any(found in network for network in _SPECIAL_V6)
        and found.packed[8:12] not in _ISATAP  # an IPv4 address hides inside
    )


def is_private(address: str) -> bool:
    """Whether it is of a network that an operator may have services in; a cloud's metadata never is."""
    found = _unmapped(address)
    return any(found in network for network in _PRIVATE) and not any(found in network for network in _METADATA)


def _unmapped(address: str) -> IPv4Address | IPv6Address:
    found = ip_address(address)
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
