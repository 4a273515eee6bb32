/**
 * Proxies for tests: HTTP with CONNECT, and SOCKS5. Each records the requested targets.
 */
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';

export interface TestProxy {
  readonly port: number;
  /** Where it was asked to connect to, as `host:port`. */
  readonly targets: readonly string[];
  /** The credentials that it was shown. */
  readonly authorizations: readonly (string | undefined)[];
  stop(): Promise<void>;
}

export async function startHttpProxy(): Promise<TestProxy> {
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', (request, client: Socket) => {
    targets.push(request.url ?? '');
    authorizations.push(request.headers['proxy-authorization']);
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(client, onward, sockets);
    });
  });
  return { port: await listen(server), targets, authorizations, stop: () => stop(server, sockets) };
}

/** RFC 1928, without authentication, for IPv4 addresses and names. */
export async function startSocksProxy(): Promise<TestProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((client) => {
    client.once('data', () => {
      client.write(Uint8Array.of(5, 0));
      client.once('data', (request) => {
        const host =
          request[3] === 1
            ? request.subarray(4, 8).join('.')
            : request.subarray(5, 5 + (request[4] ?? 0)).toString();
        const port = request.readUInt16BE(request.length - 2);
        targets.push(`${host}:${port}`);
        const onward = connect(port, host === 'localhost' ? '127.0.0.1' : host, () => {
          client.write(Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
          join(client, onward, sockets);
        });
      });
    });
  });
  return { port: await listen(server), targets, authorizations: [], stop: () => stop(server, sockets) };
}

function join(one: Socket, other: Socket, sockets: Set<Socket>): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen');
  return address.port;
}

async function stop(server: Server, sockets: Set<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
}
