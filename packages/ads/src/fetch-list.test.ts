import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { fetchList } from './fetch-list.ts';

const NEVER = new AbortController().signal;

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`;
}

it('gives the text, also behind a redirect and in pieces', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/list') response.writeHead(302, { location: '/moved' }).end();
    else response.write('ads.example\nbü', () => response.end('cher.example\n'));
  });
  expect(await fetchList(url, NEVER)).toBe('ads.example\nbücher.example\n');
});

it.each<[string, RequestListener, string]>([
  ['of a failure', (_request, response) => void response.writeHead(503).end('sorry'), 'status 503'],
  [
    'that is too long',
    (_request, response) => void response.end('x'.repeat(2_000)),
    'longer than 1000 octets',
  ],
  ['that never ends', (_request, response) => void response.write('x'), 'not here within 0.2 s'],
  ['that never begins', () => {}, 'not here within 0.2 s'],
])('gives no text %s', async (_what, listener, message) => {
  const url = await serve(listener);
  await expect(fetchList(url, NEVER, { maxTime: 200, maxOctets: 1_000 })).rejects.toThrow(message);
});

it('says why there is no server, and ends with its plugin', async () => {
  await expect(fetchList('http://127.0.0.1:1/', NEVER)).rejects.toThrow(/ECONNREFUSED|bad port/);
  const ending = new AbortController();
  const url = await serve(() => ending.abort());
  await expect(fetchList(url, ending.signal)).rejects.toThrow('aborted');
});
