"""Of all the engine says about a failure, the part that helps."""

import re

from pulumi.automation import CommandError, ConcurrentUpdateError

from landbridge.errors import LandbridgeError
from landbridge.places import Place
from local import client

from . import locks
from .stack_report import Problem, StackReport, of_urn, short

# What the engine adds to every failure, and says no more than that there was one.
ECHOES = re.compile(
    r"^(update failed|preview failed|destroy failed|resource registration failed|refresh failed"
    r"|an unhandled error occurred: program exited with non-zero exit code: \d+)$",
    re.I,
)
TRACEBACK = re.compile(r"^Program failed with an unhandled exception:|^Traceback \(most recent call last\)", re.M)
LEAD = re.compile(r"^(creating|updating|deleting|reading|refreshing|replacing) urn:\S+: ")
PROTECTED = re.compile(r'resource "(urn:\S+)" cannot be deleted\s+because it is protected')
# What is said by those whose partner has gone; the local cloud's last breath takes up to so many seconds.
PARTNER_GONE = re.compile(r"\bEOF\b|connection (was )?(refused|reset|closed|error)|could not connect|transport", re.I)
SHUTDOWN_SECONDS = 5.0


def worth_telling(report: StackReport, error: Exception, place: Place) -> list[Problem]:
    """The problems to show: of policies, else of resources, else of the program, else of the command."""
    if isinstance(error, locks.LockedError):
        return [Problem("", "", locked(report.stack, error.lock, place))]
    if isinstance(error, LandbridgeError):
        return [Problem("", "", str(error))]
    if ended := cloud_ended(report, error, place):
        return [Problem("", "", ended)]
    if isinstance(error, ConcurrentUpdateError):
        return [Problem("", "", locked(report.stack, locks.holder_in(str(error)), place))]
    if report.violations:
        return distinct(report.violations)
    if text := protected(report, place):
        return [Problem("", "", text)]
    problems = [without_own_name(p) for p in report.problems if not ECHOES.match(p.message)]
    of_resources = [p for p in problems if p.name]
    if of_resources or problems:
        return distinct(of_resources or problems)
    if isinstance(error, CommandError):
        return [Problem("", "", last_error(str(error)))]
    return [Problem("", "", str(error))]


def protected(report: StackReport, place: Place) -> str:
    """That a change would take away what is protected, and how to have it all the same; empty if none would."""
    urns = dict.fromkeys(urn for problem in report.problems for urn in PROTECTED.findall(problem.message))
    if not urns:
        return ""
    names = [of_urn(urn) for urn in urns]
    which = ", ".join(f"{short(type_)} {name}" for type_, name in names)
    return (
        f"what stands can't become what fleet.yaml says now: {which} would be deleted, with what is on it or in it. "
        f"If that is meant, let it go first: `landbridge destroy{place.options} {report.stack} --ignore-protect`, then "
        f"`landbridge up{place.options} {report.stack}`"
    )


def cloud_ended(report: StackReport, error: Exception, place: Place) -> str | None:
    """That the local cloud ended meanwhile, why, and what to do; None while it lives. All else follows from that."""
    if place.cloud is None:
        return None
    gone = any(PARTNER_GONE.search(text) for text in (str(error), *(problem.message for problem in report.problems)))
    if not client.gone(place.cloud, SHUTDOWN_SECONDS if gone else 0.0):
        return None
    why = client.last_words(place.cloud.home, place.cloud.life) or "left no word (`landbridge local logs`)"
    return (
        f"the local cloud is gone meanwhile: it {why}. It keeps what stands in it. "
        "To start it again and go on where this run stopped: `landbridge up --local`"
    )


def without_own_name(problem: Problem) -> Problem:
    """The problem in plain words, without the resource's own name in front of them once more."""
    return problem._replace(message=plain(problem.message).removeprefix(f"{problem.type} {problem.name}: "))


def distinct(problems: list[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))


def plain(message: str) -> str:
    """Without the engine's lead and its list of causes; of a traceback only its last line."""
    if TRACEBACK.search(message):
        message = message.strip().splitlines()[-1].strip()
    message = LEAD.sub("", message)
    causes = re.match(r"1 error occurred:\s*\* (.*)", message, re.S)
    return LEAD.sub("", (causes.group(1) if causes else message).strip())


def last_error(text: str) -> str:
    """The error in what the command printed: its last line that is one, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror: ", line)]
    last = (errors or lines or ["Pulumi ended without a word"])[-1]
    return re.sub(r"^.*?\berror: ", "", last)


def locked(stack: str, lock: locks.Lock | None, place: Place) -> str:
    """Who holds the stack and what to do about it."""
    holder = f"by another run: {lock}" if lock else "by another run"
    cancel = f"pulumi cancel {place.full_name(stack)}"
    if place.world == "local":
        cancel = f"landbridge local exec{place.fleet_option} -- pulumi cancel --stack {stack}"
    return f"is being updated {holder}. Wait for it to end; if that run is gone for good: `{cancel}`"
