/**
 * Messages of dnstap over Unix sockets, TCP and TLS, as `dnstap-read` of BIND reads them.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { CONTROL, controlFrame } from '@portolan/plugins/dnstap/frame-stream.ts';
import { TapConnection } from '@portolan/plugins/dnstap/tap-connection.ts';
import { DnstapListener } from '@portolan/plugins/dnstap/tap-listener.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { Collector } from './collector.ts';

afterEach(endAllPrograms);
const run = promisify(execFile);

async function serve(corefile: string, port: number) {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', corefile);
  const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  return { program, conf, server: { address: '127.0.0.1', port } };
}

/** What `dnstap-read` prints: a line or, with `-y`, a document for each message. */
async function read(collector: Collector, ...flags: readonly string[]): Promise<string> {
  const folder = await makeTemporaryFolder();
  const file = join(folder.path, 'tap');
  await collector.save(file);
  return (await run('dnstap-read', [...flags, file])).stdout;
}

describeWithTool('dnstap-read', 'messages of dnstap', () => {
  it('over a Unix socket show queries and responses of clients and of upstream servers', async () => {
    const upstream = await LoopbackUpstream.start(({ query, send }) =>
      send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.1')] })),
    );
    onTestFinished(() => upstream.stop());
    const folder = await makeTemporaryFolder();
    const socket = join(folder.path, 'tap.sock');
    const collector = await Collector.start(socket);
    const port = await findFreePort();
    const { server, program } = await serve(
      `. {
  bind 127.0.0.1
  dnstap ${socket} full {
    identity me
    version 1.2.3
    extra "{name} {>id}"
  }
  cache
  forward . ${upstream.address}
}
`,
      port,
    );
    await ask(server, 'a.example.', 'A');
    await waitUntil('four messages', () => collector.frames.length === 4);
    // Answers of the cache, too.
    await ask(server, 'a.example.', 'A', { transport: 'tcp' });
    await ask(server, 'a.example.', 'A');
    await waitUntil('eight messages', () => collector.frames.length === 8);
    const lines = (await read(collector)).trim().split('\n');
    const kinds = lines.map((line) => / (\w\w) .* (UDP|TCP) /.exec(line)?.slice(1).join(' '));
    expect(kinds).toEqual(['CQ UDP', 'FQ UDP', 'FR UDP', 'CR UDP', 'CQ TCP', 'CR TCP', 'CQ UDP', 'CR UDP']);
    // The tool does not print it.
    expect(collector.frames[0]?.toString('latin1')).toMatch(/a\.example\. \d+/);
    expect(lines[0]).toMatch(/a\.example\/IN\/A$/);
    const documents = await read(collector, '-y');
    expect(documents).toContain('identity: me');
    expect(documents).toContain('version: 1.2.3');
    expect(documents).toContain('query_address: "127.0.0.1"');
    expect(documents).toContain(`response_port: ${upstream.port}`);
    expect(documents).toMatch(/opcode: QUERY/);
    expect(documents).toMatch(/ANSWER: 1/);
    program.signal('SIGTERM');
    await program.exit;
    expect(collector.controls).toEqual([CONTROL.READY, CONTROL.START, CONTROL.STOP]);
  });

  it('over TCP and TLS hold no DNS messages unless asked for, and answers that fail have no response', async () => {
    const tcp = await findFreePort();
    const tls = await findFreePort();
    const port = await findFreePort();
    const collectors = [await Collector.start(tcp), await Collector.start(tls, 'tls')];
    const { server } = await serve(
      `. {
  bind 127.0.0.1
  dnstap tcp://127.0.0.1:${tcp}
  dnstap tls://localhost:${tls} full {
    skipverify
  }
  whoami
  template IN TXT example {
    rcode SERVFAIL
  }
}
`,
      port,
    );
    await ask(server, 'a.example.', 'A');
    await ask(server, 'a.example.', 'TXT');
    await waitUntil('three messages each', () => collectors.every(({ frames }) => frames.length === 3));
    const [plain = '', full = ''] = await Promise.all(collectors.map((collector) => read(collector, '-y')));
    expect(plain.match(/type: CLIENT_\w+/g)).toEqual([
      'type: CLIENT_QUERY',
      'type: CLIENT_RESPONSE',
      'type: CLIENT_QUERY',
    ]);
    expect(plain).not.toContain('query_message');
    expect(full).toContain('query_message');
    expect(full).toContain('response_message');
  });
});

describe('a connection to a collector', () => {
  async function connectTo(where: string, maxQueued = 3) {
    const clock = new ManualClock();
    const log = new RecordingLog();
    const endpoint = { kind: 'unix', path: where } as const;
    const connection = new TapConnection({ endpoint, maxQueued, maxOctets: 1000 }, { clock, log });
    onTestFinished(() => connection.stop());
    connection.start();
    return { clock, connection, messages: () => log.records.map(({ message }) => message) };
  }

  const frame = (text: string) => Buffer.from(text);

  it('keeps messages while there is none, counts those beyond its bounds, and sends what it kept', async () => {
    const folder = await makeTemporaryFolder();
    const path = join(folder.path, 'tap.sock');
    const { clock, connection, messages } = await connectTo(path);
    await waitUntil('the failure', () => messages().length === 1);
    expect(messages()[0]).toMatch(/^plugin\/dnstap: No connection to dnstap endpoint: .*ENOENT/);
    for (const text of ['a', 'b', 'c', 'd', 'e']) connection.send(frame(text));
    const collector = await Collector.start(path);
    clock.advance(10_000);
    await waitUntil('the messages', () => collector.frames.length === 3);
    expect(collector.frames.map(String)).toEqual(['a', 'b', 'c']);
    expect(messages()[1]).toBe('plugin/dnstap: Dropped dnstap messages: 2');
  });

  it('is opened again after a loss', async () => {
    const folder = await makeTemporaryFolder();
    const path = join(folder.path, 'tap.sock');
    const first = await Collector.start(path);
    const { clock, connection } = await connectTo(path);
    connection.send(frame('a'));
    await waitUntil('the message', () => first.frames.length === 1);
    first.stop();
    const second = await Collector.start(path);
    // Small steps, since the handshake has a limit too.
    await waitUntil('the connection', () => second.controls.includes(CONTROL.START), {
      step: () => clock.advance(50),
    });
    connection.send(frame('b'));
    await waitUntil('the message', () => second.frames.length === 1);
    await connection.stop();
    expect(second.controls).toEqual([CONTROL.READY, CONTROL.START, CONTROL.STOP]);
  });

  it('is given up where the collector takes something else', async () => {
    const folder = await makeTemporaryFolder();
    const path = join(folder.path, 'tap.sock');
    const { createServer } = await import('node:net');
    const other = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => other.listen(path, resolve));
    onTestFinished(() => void other.close());
    const { messages } = await connectTo(path);
    await waitUntil('the failure', () => messages().length === 1);
    expect(messages()[0]).toContain('the collector does not take protobuf:dnstap.Dnstap');
  });
});

describe('a socket for collectors', () => {
  it('gives all of them all messages, over a changed Corefile too, and ends their streams', async () => {
    const folder = await makeTemporaryFolder();
    const socket = join(folder.path, 'tap.sock');
    const port = await findFreePort();
    const tapPort = await findFreePort();
    const corefile = (more: string) =>
      `. {\n bind 127.0.0.1\n dnstap listen ${socket} full\n dnstap listen tcp://127.0.0.1:${tapPort}\n whoami\n ${more}\n}\n`;
    const { server, program, conf } = await serve(corefile(''), port);
    const collectors = [await Collector.connect(socket), await Collector.connect(tapPort)];
    const started = ({ controls }: Collector) => controls.includes(CONTROL.START);
    await waitUntil('both streams', () => collectors.every(started));
    await ask(server, 'a.example.', 'A');
    await waitUntil('two messages each', () => collectors.every(({ frames }) => frames.length === 2));
    await writeFile(conf, corefile('# again'));
    program.signal('SIGUSR1');
    await waitUntil('the change', () => program.output.includes('Reloading complete'));
    await ask(server, 'b.example.', 'A');
    await waitUntil('four messages each', () => collectors.every(({ frames }) => frames.length === 4));
    expect(collectors[0]?.frames[2]?.length).toBeGreaterThan(collectors[1]?.frames[2]?.length ?? 0);
    program.signal('SIGTERM');
    expect(await program.exit).toEqual({ code: 0, signal: null });
    for (const { controls } of collectors)
      expect(controls).toEqual([CONTROL.READY, CONTROL.START, CONTROL.STOP]);
  });

  it('over TLS takes those with a certificate', async () => {
    const port = await findFreePort();
    const tapPort = await findFreePort();
    const certificate = tlsFixturePath('server.crt');
    const key = tlsFixturePath('server.key');
    const authority = tlsFixturePath('authority.crt');
    const { server } = await serve(
      `. {\n bind 127.0.0.1\n dnstap listen tls://127.0.0.1:${tapPort} {\n tls ${certificate} ${key} ${authority}\n }\n whoami\n}\n`,
      port,
    );
    const ca = readFileSync(authority);
    const own = {
      cert: readFileSync(tlsFixturePath('client.crt')),
      key: readFileSync(tlsFixturePath('client.key')),
    };
    const collector = await Collector.connect(tapPort, { ca, servername: 'localhost', ...own });
    const stranger = await Collector.connect(tapPort, { ca, servername: 'localhost' });
    await waitUntil('the stream', () => collector.controls.includes(CONTROL.START));
    await ask(server, 'a.example.', 'A');
    await waitUntil('two messages', () => collector.frames.length === 2);
    expect(stranger.controls).toEqual([]);
  });

  it('closes one that does not read, and one that takes something else', async () => {
    const log = new RecordingLog();
    const clock = new ManualClock();
    const endpoint = {
      kind: 'tcp',
      host: '127.0.0.1',
      port: await findFreePort(),
      skipsVerification: false,
    } as const;
    const maxOctets = 8 * 2 ** 20;
    const listener = new DnstapListener(
      { endpoint, listens: { certificate: undefined }, maxOctets },
      { clock, log },
    );
    await listener.start();
    onTestFinished(() => listener.stop());
    const connected = async (answer: Uint8Array): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port: endpoint.port });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'data');
      socket.write(answer);
      return socket;
    };
    const slow = await connected(controlFrame(CONTROL.ACCEPT));
    await once(slow, 'data');
    slow.pause();
    const said = (reason: string) => log.records.some(({ message }) => message.endsWith(reason));
    await waitUntil('the end of the slow one', () => said('it is too slow'), {
      step: () => listener.send(new Uint8Array(2 ** 20)),
    });
    await connected(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    await waitUntil('the end of the other one', () => said('it does not take protobuf:dnstap.Dnstap'));
    // One that says nothing.
    const silent = await connected(new Uint8Array());
    const closed = once(silent, 'close');
    clock.advance(4_000);
    await closed;
  });
});
