"""A proxy through which Playwright can drive Firefox; run with Firefox and its arguments.

Playwright sends each new window a WebDriver BiDi command to emulate media features, which Firefox
153 ESR does not have, and gives up. The proxy replaces Firefox's error by an empty answer, and
forwards all else, and that command too once Firefox has it.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketClientConnection, WebSocketHandler, websocket_connect

LISTENS = "WebDriver BiDi listening on "
SESSION = "/session"
LONGEST_MESSAGE = 2**30  # a picture of a page is one message


class Between(WebSocketHandler):
    """Forwards messages from Playwright to Firefox and back."""

    def initialize(self, firefox: str) -> None:
        self.address = firefox

    async def open(self, *_: str) -> None:
        self.firefox: WebSocketClientConnection = await websocket_connect(
            self.address + SESSION, max_message_size=LONGEST_MESSAGE
        )
        self.answers = asyncio.create_task(self.hand_back())

    async def on_message(self, message: str | bytes) -> None:
        await self.firefox.write_message(message)

    async def hand_back(self) -> None:
        while (message := await self.firefox.read_message()) is not None:
            await self.write_message(with_emulation(message))
        self.close()

    def on_close(self) -> None:
        self.firefox.close()


def with_emulation(message: str) -> str:
    """Firefox's message, without an error about a missing emulation command."""
    if '"unknown command"' not in message:
        return message
    answer = json.loads(message)
    if answer.get("error") != "unknown command" or "emulation." not in answer["message"]:
        return message
    return json.dumps({"type": "success", "id": answer["id"], "result": {}})


async def run(firefox: list[str]) -> int:
    """Run Firefox, and print the address of the proxy for Playwright."""
    process = await asyncio.create_subprocess_exec(*firefox, stderr=PIPE)
    async for line in process.stderr:
        said = line.decode(errors="replace").rstrip()
        if said.startswith(LISTENS):
            [socket] = bind_sockets(0, "127.0.0.1")
            route = (SESSION, Between, {"firefox": said.removeprefix(LISTENS)})
            server = HTTPServer(Application([route], websocket_max_message_size=LONGEST_MESSAGE))
            server.add_socket(socket)
            said = f"{LISTENS}ws://127.0.0.1:{socket.getsockname()[1]}"
        print(said, file=sys.stderr, flush=True)  # noqa: T201 - Playwright reads it there
    return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1:])))
