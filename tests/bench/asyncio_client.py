"""A load client of the usual kind: one asyncio task per stream, one process, a clock read per event.

    asyncio_client.py [--aiohttp] URL CONCURRENCY SECONDS INPUT OUTPUT

Prints the streams' times and the CPU share as JSON, with the keys of load_client.c. The exchange is that
of serving benchmarks in Python: with --aiohttp the way they do it (vLLM, SGLang), else with asyncio's own
streams, which do less work per chunk and flatter such a client.
"""
import asyncio
import contextlib
import json
import statistics
import sys
import time
import urllib.parse


class Load:
    def __init__(self, url, concurrency, seconds, length, tokens):
        self.url = urllib.parse.urlsplit(url)
        self.concurrency, self.seconds, self.length, self.tokens = concurrency, seconds, length, tokens
        self.samples, self.ended, self.begin, self.until = [], 0, None, None

    def body(self, number):
        prompt = [(number * 7919 + i * 104729) % 32000 for i in range(self.length)]
        return json.dumps({'model': 'stand-in', 'stream': True, 'stream_options': {'include_usage': True},
                           'max_tokens': self.tokens, 'prompt': prompt})

    @contextlib.asynccontextmanager
    async def connected(self):
        reader, writer = await asyncio.open_connection(self.url.hostname, self.url.port)
        yield lambda body: self.chunks(reader, writer, body)
        writer.close()

    async def chunks(self, reader, writer, body):
        """The parts of an answer as they come."""
        writer.write((f'POST {self.url.path}/completions HTTP/1.1\r\nHost: {self.url.netloc}\r\n'
                      f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}').encode())
        await reader.readuntil(b'\r\n\r\n')
        while size := int(await reader.readline(), 16):
            yield await reader.readexactly(size + 2)
        await reader.readexactly(2)

    async def one(self, chunks, number):
        """Times of the beginning, the first and the last text, and the tokens."""
        body = self.body(number)
        begin = time.perf_counter()
        first = last = tokens = None
        async for part in chunks(body):
            for event in part.decode().strip().split('\n\n'):
                data = event.removeprefix('data: ')
                if data in ('', '[DONE]'):
                    continue
                chunk = json.loads(data)
                now = time.perf_counter()
                if chunk['choices'] and chunk['choices'][0]['text']:
                    first, last = first or now, now
                if chunk.get('usage'):
                    tokens = chunk['usage']['completion_tokens']
        return begin, first, last, tokens

    async def lane(self, number):
        async with self.connected() as chunks:
            while self.until is None or time.perf_counter() < self.until:
                sample = await self.one(chunks, number)
                number += self.concurrency
                self.ended += 1
                now = time.perf_counter()
                if self.until and now <= self.until:
                    self.samples.append(sample)
                elif self.until is None and self.ended >= self.concurrency:
                    self.begin, self.until = now, now + self.seconds
                    self.cpu = time.process_time()

    async def run(self):
        await asyncio.gather(*(self.lane(number) for number in range(self.concurrency)))


class Aiohttp(Load):
    """One session with a connection for each stream; lines as aiohttp returns them."""

    async def run(self):
        import aiohttp  # not installed on every machine
        limits = {'connector': aiohttp.TCPConnector(limit=0), 'timeout': aiohttp.ClientTimeout(total=None)}
        async with aiohttp.ClientSession(**limits) as self.session:
            await super().run()

    @contextlib.asynccontextmanager
    async def connected(self):
        yield self.lines

    async def lines(self, body):
        async with self.session.post(f'{self.url.geturl()}/completions', data=body,
                                     headers={'Content-Type': 'application/json'}) as answer:
            async for line in answer.content:
                yield line


def told(values):
    values = sorted(values)
    return {'mean_s': statistics.fmean(values), 'p50_s': values[len(values) // 2],
            'p99_s': values[len(values) * 99 // 100]}


def main():
    words = sys.argv[1:]
    kind = Aiohttp if words[0] == '--aiohttp' else Load
    url, *numbers = words[1:] if kind is Aiohttp else words
    load = kind(url, *(int(number) for number in numbers))
    begin, cpu = time.perf_counter(), time.process_time()
    asyncio.run(load.run())
    share = (time.process_time() - cpu) / (time.perf_counter() - begin)
    print(json.dumps({'ttft': told([first - began for began, first, _, _ in load.samples]),
                      'tpot': told([(last - first) / (tokens - 1) for _, first, last, tokens in load.samples]),
                      'completed': len(load.samples), 'client_cpu_share': share}))


if __name__ == '__main__':
    main()
