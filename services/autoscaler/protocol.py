"""The protocol's messages and service, made from protocol.proto when this is imported."""

import sys
from pathlib import Path
from typing import Any

import grpc

ROOT = str(Path(__file__).parents[2])
FILE = "services/autoscaler/protocol.proto"

# gRPC looks for the file below the folders of sys.path, where an editable install has put none.
if ROOT not in sys.path:
    sys.path.append(ROOT)
messages: Any
services: Any
messages, services = grpc.protos_and_services(FILE)
