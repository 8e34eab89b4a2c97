"""AWS's default where an account has no value of its own, by the answers that Service Quotas documents."""

import boto3
from botocore.stub import Stubber

from landbridge.quotas.aws import Defaults

ASKED = {"ServiceCode": "ec2", "QuotaCode": "L-417A185B"}


def test_a_quota_that_nobody_has_changed_is_aws_s_default() -> None:
    client = boto3.client("service-quotas", "us-west-2", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stub:
        stub.add_client_error("get_service_quota", "NoSuchResourceException", "none", 400, expected_params=ASKED)
        stub.add_response("get_aws_default_service_quota", {"Quota": {**ASKED, "Value": 64.0}}, ASKED)
        assert Defaults(client).get_service_quota(**ASKED)["Quota"]["Value"] == 64.0
        stub.assert_no_pending_responses()
