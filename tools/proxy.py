"""A TCP proxy to a port, which can stall, delay and reset its connections."""

import asyncio
import threading


class Proxy:
    """A proxy on a free port, in a thread of its own."""

    def __init__(self, port, host="127.0.0.1"):
        self.target, self.delay_s, self.writers = (host, port), 0.0, set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.port = self.call(self.open())

    def call(self, work):
        """Runs a coroutine in the proxy's thread and waits for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    async def open(self):
        """Begins to listen; returns the port."""
        self.flows = asyncio.Event()
        self.flows.set()
        self.server = await asyncio.start_server(self.connect, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def connect(self, reader, writer):
        """Carries one connection, both ways."""
        try:
            onward, back = await asyncio.open_connection(*self.target)
        except OSError:
            writer.close()
            return
        self.writers |= {writer, back}
        await asyncio.gather(self.carry(reader, back, True), self.carry(onward, writer, False))
        self.writers -= {writer, back}

    async def carry(self, reader, writer, is_request):
        """Carries data in one direction."""
        try:
            while part := await reader.read(65536):
                self.note(is_request)
                await self.flows.wait()
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(part)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def note(self, is_request):
        """Notes that data of a client, or of the target, came."""

    def stall(self):
        """Holds all data back."""
        self.loop.call_soon_threadsafe(self.flows.clear)

    def flow(self):
        """Passes data on again."""
        self.loop.call_soon_threadsafe(self.flows.set)

    def reset(self):
        """Resets all connections; the proxy still accepts others."""
        self.call(self.abort())

    async def abort(self):
        """Resets all connections with RST, as a machine does that was away."""
        for writer in list(self.writers):
            writer.transport.abort()

    def close(self):
        """Resets all connections and ends the proxy."""
        self.reset()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
