/**
 * Closes connections of HTTP/2 in the turn of a request, or shortly after it, many times: for `closed-with-requests.test.ts`, which runs
 * it as a process.
 */
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { makeGrpcRequest } from '@portolan/kernel/forward/transport/grpc-request.ts';
import { writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import { GRPC_PROTOCOLS, RequestTransport } from '@portolan/kernel/forward/transport/request-transport.ts';

const ROUNDS = 200;
const HOST = '127.0.0.1';

/** A server that answers each call with an empty message. */
const server = createServer();
server.on('session', (session) => session.on('error', () => {}));
server.on('stream', (stream) => {
  stream.on('error', () => {});
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
});
server.listen(0, HOST);
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // It listens on a port.

async function askEtcd() {
  const endpoints = [{ secure: false, host: HOST, port, text: `http://${HOST}:${port}` }];
  const client = new EtcdClient({ endpoints }, systemClock);
  const ask = () => client.range({ key: Buffer.from('/a') }).catch(() => {});
  await ask();
  return { ask, close: () => client.close() };
}

async function askByGrpc() {
  const transport = new RequestTransport({
    place: { host: HOST, port },
    tls: undefined,
    protocols: GRPC_PROTOCOLS,
    makeRequest: makeGrpcRequest,
    clock: systemClock,
  });
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true };
  const query = writeQuery({ name: parseName('a.example.'), type: TYPE.A, class: CLASS.IN, ...flags }, 1232);
  const ask = () =>
    new Promise((resolve) => transport.ask(query, { replied: resolve, heard() {}, failed: resolve }));
  await ask();
  return { ask, close: () => transport.close() };
}

for (let round = 0; round < ROUNDS; round += 1)
  for (const open of [askEtcd, askByGrpc]) {
    const { ask, close } = await open();
    const last = ask();
    for (let turn = 0; turn < round % 5; turn += 1) await Promise.resolve();
    close();
    await last;
  }
process.exit(0);
