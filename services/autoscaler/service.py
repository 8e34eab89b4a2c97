"""The external provider's protocol: each call is answered from memory, and only changes ask a cloud."""

import math
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from . import metrics, provider_ids
from .cloud import CloudError
from .group import Machine, NotPossibleError, Refused
from .node import encoded
from .protocol import messages, services
from .region import Caller
from .scaling import Scaling

# cloudprovider.InstanceErrorClass.
OUT_OF_RESOURCES, OTHER = 1, 99
STATES = {"running": "instanceRunning", "starting": "instanceCreating", "ending": "instanceDeleting"}
# More than the autoscaler's changes side by side: those that wait for a region must not keep it from its answers.
THREADS = 48
# What a call may fail with → what the autoscaler is told.
STATUS: dict[type[Exception], grpc.StatusCode] = {
    KeyError: grpc.StatusCode.NOT_FOUND,
    NotPossibleError: grpc.StatusCode.FAILED_PRECONDITION,
    CloudError: grpc.StatusCode.UNAVAILABLE,
}
NOTHING = messages.Nothing()
# Whose id is empty, as the autoscaler wants it.
NO_GROUP = messages.NodeGroupForNodeResponse(nodeGroup=messages.NodeGroup())


class Service(services.CloudProviderServicer):  # type: ignore[misc]
    """Of one cluster. Raises ValueError for a template that can't be told."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        # Each group's last answer, which is asked for in each pass and costs a millisecond for 150 machines.
        self.machines: dict[str, tuple[object, Any]] = {}
        # Each group as its nodes' answer in this pass: it is asked for once a node, and limits look at all groups.
        self.owners: dict[str, Any] = {}
        self.templates = {one.name: encoded(one.template) for one in scaling.settings.groups}

    def Refresh(self, _: Any, __: Any) -> Any:  # noqa: N802
        self.scaling.refresh()
        self.owners = {}
        return NOTHING

    def Cleanup(self, _: Any, __: Any) -> Any:  # noqa: N802
        return NOTHING

    def GPULabel(self, _: Any, __: Any) -> Any:  # noqa: N802
        """None: a node with such a label and without GPUs would hold up the whole autoscaler (kubernetes/autoscaler
        issue 10301). Ours have a start-up taint instead.
        """
        return messages.GPULabelResponse()

    def GetAvailableGPUTypes(self, _: Any, __: Any) -> Any:  # noqa: N802
        return NOTHING

    def NodeGroups(self, _: Any, __: Any) -> Any:  # noqa: N802
        return messages.NodeGroupsResponse(nodeGroups=self._groups(sorted(self.scaling.groups)))

    def NodeGroupForNode(self, request: Any, _: Any) -> Any:  # noqa: N802
        """Of a node of a site, or of another cloud: none. The autoscaler keeps each answer until its next pass."""
        machine = provider_ids.instance(request.node.providerID)
        name = self.scaling.owner(machine) if machine else None
        if name is None:
            return NO_GROUP
        owners = self.owners
        if name not in owners:
            (found,) = self._groups([name]) or [messages.NodeGroup()]
            owners[name] = messages.NodeGroupForNodeResponse(nodeGroup=found)
        return owners[name]

    def _groups(self, names: Collection[str]) -> list[Any]:
        """Without those that have gone meanwhile."""
        known, found = self.scaling.groups, []
        for name, most in self.scaling.most(names).items():
            if one := known.get(name):
                about = f"{name}: {len(one.live)} live, {one.owed} owed, {len(one.refused)} refused"
                found.append(messages.NodeGroup(id=name, minSize=one.least, maxSize=most, debug=about))
        return found

    def NodeGroupTargetSize(self, request: Any, _: Any) -> Any:  # noqa: N802
        return messages.TargetSizeResponse(targetSize=self.scaling.group(request.id).target)

    def NodeGroupNodes(self, request: Any, _: Any) -> Any:  # noqa: N802
        one = self.scaling.group(request.id)
        known = self.machines.get(one.name)
        if known is None or known[0] != (one.machines, one.refused):
            instances = [
                *(_machine(machine) for machine in one.machines),
                *(_refused(refused) for refused in one.refused),
            ]
            known = self.machines[one.name] = ((one.machines, one.refused), messages.NodesResponse(instances=instances))
        return known[1]

    def NodeGroupTemplateNodeInfo(self, request: Any, _: Any) -> Any:  # noqa: N802
        template = self.templates[request.id]
        return messages.TemplateResponse(nodeInfo=messages.Node.FromString(template), nodeBytes=template)

    def NodeGroupIncreaseSize(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.scaling.grow(request.id, request.delta, caller(context))
        return NOTHING

    def NodeGroupDecreaseTargetSize(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.scaling.shrink(request.id, -request.delta, caller(context))
        return NOTHING

    def NodeGroupDeleteNodes(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.scaling.delete(request.id, _ids(request.nodes), caller(context))
        return NOTHING


def caller(context: Any) -> Caller:
    left = context.time_remaining()
    return Caller(math.inf if left is None else time.monotonic() + left, context.is_active)


def _ids(nodes: Iterable[Any]) -> list[str]:
    """Of machines, as their cloud calls them, and of placeholders."""
    return [provider_ids.instance(node.providerID) or node.providerID for node in nodes]


def _machine(machine: Machine) -> Any:
    state = messages.InstanceStatus(instanceState=STATES[machine.state])
    return messages.Instance(id=machine.provider, status=state)


def _refused(one: Refused) -> Any:
    error_info = messages.InstanceErrorInfo(
        errorCode=one.kind.code,
        errorMessage=one.sentence,
        instanceErrorClass=OUT_OF_RESOURCES if one.kind.elsewhere else OTHER,
    )
    return messages.Instance(
        id=one.id, status=messages.InstanceStatus(instanceState="instanceCreating", errorInfo=error_info)
    )


class Judged(grpc.ServerInterceptor):  # type: ignore[misc]
    """Times each call, and tells the autoscaler what its mistakes and the clouds' were, in a line."""

    def intercept_service(self, go_on: Callable[[Any], Any], details: Any) -> Any:
        handler, name = go_on(details), details.method.rpartition("/")[2]
        if handler is None:
            return None

        def answer(request: Any, context: Any) -> Any:
            began = time.perf_counter()
            try:
                return handler.unary_unary(request, context)
            except tuple(STATUS) as error:
                why = f"no group {error}" if isinstance(error, KeyError) else str(error)
                context.abort(STATUS[type(error)], why)
            finally:
                metrics.rpc_seconds.labels(name).observe(time.perf_counter() - began)

        return grpc.unary_unary_rpc_method_handler(answer, handler.request_deserializer, handler.response_serializer)


def serve(service: Service, address: str, credentials: Any) -> Any:
    """A running server. Raises OSError where the address is not to be had."""
    server = grpc.server(ThreadPoolExecutor(THREADS, "rpc"), interceptors=(Judged(),))
    services.add_CloudProviderServicer_to_server(service, server)
    try:
        bound = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise OSError(f"{address}: {error}") from None
    if not bound:
        raise OSError(f"{address}: somebody else listens there")
    server.start()
    return server
