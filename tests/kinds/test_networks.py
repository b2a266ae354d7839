"""Which addresses are public is ours to say, and does not change with Python's patch level."""

import pytest

from crontick.jobs.networks import is_private, is_public


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "172.15.255.254", "172.32.0.1", "100.63.255.254", "100.128.0.1", "192.167.255.254", "126.255.255.254",
     "2606:4700:4700::1111", "2001:200::1", "::ffff:8.8.8.8"],
)  # fmt: skip
def test_an_ordinary_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "127.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "::1", "fd00::1", "::ffff:10.0.0.1"],
)
def test_a_private_one_is_not_but_may_be_named(address: str) -> None:
    assert not is_public(address)
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.88.99.1", "198.18.0.1",
     "198.51.100.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
     "64:ff9b::7f00:1", "64:ff9b:1::a9fe:a9fe", "2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1", "3fff::1", "100::1",
     "::ffff:0:127.0.0.1", "::127.0.0.1", "fd00:ec2::254", "fd20:ce::254", "2606:4700::5efe:127.0.0.1",
     "2606:4700::200:5efe:10.0.0.1", "::ffff:169.254.169.254"],
)  # fmt: skip
def test_what_hides_another_address_and_what_nobody_has_services_in_is_neither(address: str) -> None:
    assert not is_public(address)
    assert not is_private(address)
