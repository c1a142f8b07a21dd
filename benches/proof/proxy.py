"""A way to Postgres that stalls, delays, or breaks all connections off."""

import asyncio
import threading


class Proxy:
    """Carries connections to a port of this machine, in a thread of its own."""

    def __init__(self, target):
        self.target, self.delay_s, self.writers = target, 0.0, set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.port = self.call(self.open())

    def call(self, work):
        """Runs something in the proxy's thread, and waits for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    async def open(self):
        """Listens."""
        self.flows = asyncio.Event()
        self.flows.set()
        self.server = await asyncio.start_server(self.connect, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def connect(self, reader, writer):
        """One connection, both ways."""
        try:
            onward, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        self.writers |= {writer, back}
        await asyncio.gather(self.carry(reader, back), self.carry(onward, writer))
        self.writers -= {writer, back}

    async def carry(self, reader, writer):
        """Hands on what comes, when it may."""
        try:
            while part := await reader.read(65536):
                await self.flows.wait()
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(part)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def stall(self):
        """Lets nothing through, and says so to nobody."""
        self.loop.call_soon_threadsafe(self.flows.clear)

    def flow(self):
        """Lets through what came meanwhile."""
        self.loop.call_soon_threadsafe(self.flows.set)

    def reset(self):
        """Breaks all connections off; others may begin."""
        self.call(self.abort())

    async def abort(self):
        """With RST, as a machine that went away and came back answers."""
        for writer in list(self.writers):
            writer.transport.abort()

    def close(self):
        """Ends it."""
        self.reset()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
