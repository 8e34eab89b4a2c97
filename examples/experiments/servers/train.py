"""A parameter server keeps one number, and every worker moves it a step towards its own target.

Who is who stands in TF_CONFIG, as TensorFlow has it.
"""

import json
import os
import socket
import time

CONFIG = json.loads(os.environ["TF_CONFIG"])
TASK = CONFIG["task"]
STEPS, RATE, PATIENCE_SECONDS = 40, 0.2, 60.0


def serve(port: int) -> None:
    """For ever: the run ends with its workers."""
    value = 0.0
    with socket.create_server(("", port)) as server:
        while True:
            line, _ = server.accept()
            with line:
                value += float(line.makefile().readline())
                line.sendall(f"{value}\n".encode())


def push(host: str, port: int, gradient: float) -> float:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with socket.create_connection((host, port), timeout=PATIENCE_SECONDS) as line:
                line.sendall(f"{gradient}\n".encode())
                return float(line.makefile().readline())
        except ConnectionError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.2)


host, _, port = CONFIG["cluster"]["ps"][0].partition(":")
if TASK["type"] == "ps":
    serve(int(port))
value = push(host, int(port), 0.0)
for _ in range(STEPS):
    value = push(host, int(port), RATE * (1.0 - value))
print(f"worker {TASK['index']} ends at {value:.2f}", flush=True)
