"""Unsigned calls are S3's, whatever their path: a bucket may hold the documents of an issuer of tokens.

"OpenID Connect Discovery 1.0", section 4. moto takes every path that ends in /.well-known/openid-configuration or
/.well-known/jwks.json for a user pool of Cognito's, of which the local cloud has none.
"""

from moto.moto_server.werkzeug_app import DomainDispatcherApplication


def install() -> None:
    """Leaves such paths to the bucket that the host or the path names."""
    DomainDispatcherApplication.get_service_from_unsigned_path = staticmethod(lambda _: (None, None))
