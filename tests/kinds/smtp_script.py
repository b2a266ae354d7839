"""A mail server on loopback that says what it is told, line for line, whatever it hears."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

SILENCE = ""


@dataclass(slots=True)
class Scripted:
    """Answers each line with the next reply, whatever was said; silence after the last one."""

    replies: Sequence[str]
    port: int = 0
    conversations: int = 0
    heard: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.conversations += 1
        try:
            for reply in self.replies:
                if reply == SILENCE:
                    await reader.read()
                    break
                writer.write(reply.encode() + b"\r\n")
                await writer.drain()
                while line := await reader.readline():
                    self.heard.append(line.decode().rstrip())
                    if not reply.startswith("354") or self.heard[-1] == ".":
                        break
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def scripted(*replies: str) -> AsyncIterator[Scripted]:
    made = Scripted(replies)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
