/**
 * The end of the program: by signals, with another process on the same port, and the error if a port is in use.
 */
import { connect } from 'node:net';
import { encodeMessage } from '@portolan/dns/message.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort, makeQuery } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, look, runPortolan, type Serving, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const NAME = 'cart.shop.svc.cluster.local';

async function serveExample(flags: readonly string[] = [], port?: number): Promise<Serving> {
  const serving = await servePortolan(['--example', ...flags], port === undefined ? {} : { port });
  await serving.program.heard('cluster listed');
  return serving;
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('turns readiness off, serves on for the lameduck time, and ends well', async () => {
    const serving = await serveExample(['--lameduck', '700ms']);
    const began = performance.now();
    serving.program.signal(signal);
    await serving.program.heard('stopping');
    expect(await look(serving, '/readyz')).toEqual({ status: 503, text: 'shutting down\n' });
    expect((await look(serving, '/healthz')).status).toBe(200);
    expect(await askShort(serving, NAME, 'A')).toBe('10.96.20.10');
    expect(await askShort(serving, NAME, 'A', { transport: 'tcp' })).toBe('10.96.20.10');
    expect(await serving.program.exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeGreaterThan(700);
    expect(serving.program.log.at(-1)).toMatchObject({ message: 'stopped' });
  });

  it('ends at once the second time', async () => {
    const serving = await serveExample(['--lameduck', '1h']);
    serving.program.signal(signal);
    const { hint } = await serving.program.heard('stopping');
    expect(hint).toBe(signal === 'SIGINT' ? 'Press Ctrl-C again to end at once.' : undefined);
    serving.program.signal(signal);
    expect(await serving.program.exit).toEqual({ code: null, signal });
  });
});

it('a stop answers what a TCP client has asked, and closes the connection', async () => {
  const serving = await serveExample(['--lameduck', '0s']);
  const socket = connect(serving.port, serving.address);
  const query = Buffer.from(encodeMessage(makeQuery(NAME, 'A')));
  const framed = Buffer.concat([Buffer.from([0, query.length]), query]);
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.write(framed);
  await expect.poll(() => received).toBeGreaterThan(0);
  const ofOneAnswer = received;
  socket.write(Buffer.concat([framed, framed]));
  await expect.poll(() => received).toBe(3 * ofOneAnswer);
  serving.program.signal('SIGTERM');
  await closed;
  expect((await serving.program.exit).code).toBe(0);
});

describe('two on one port', () => {
  it('are refused: the second says who is in the way and how to join it', async () => {
    const first = await serveExample();
    const flags = [
      '--example',
      '--dns-bind-address=127.0.0.1',
      '--healthz-port=127.0.0.1:0',
      '--log-format=json',
    ];
    const second = runPortolan(['serve', ...flags, '--dns-port', String(first.port)]);
    expect((await second.exit).code).toBe(1);
    expect(second.log.at(-1)?.['reason']).toMatch(
      new RegExp(`^port in use: 127\\.0\\.0\\.1:${first.port} .*--takeover`),
    );
    expect(await askShort(first, NAME, 'A')).toBe('10.96.20.10');
  });

  it('are a takeover where the second asks for it: the first leaves, and no query goes unanswered', async () => {
    const first = await serveExample(['--takeover', '--lameduck', '300ms']);
    const second = await serveExample(['--takeover', '--ttl', '99'], first.port);
    first.program.signal('SIGTERM');
    let byTheSecond = 0;
    for (let ended = false; !ended || byTheSecond === 0; ended = first.program.ended !== undefined) {
      const { answers } = await ask(second, NAME, 'A', { deadline: 2_000 });
      expect(answers).toHaveLength(1);
      if (answers[0]?.ttl === 99) byTheSecond += 1;
    }
    expect(first.program.ended).toEqual({ code: 0, signal: null });
    expect((await ask(second, NAME, 'A')).answers[0]?.ttl).toBe(99);
    expect((await ask(second, NAME, 'A', { transport: 'tcp' })).answers[0]?.ttl).toBe(99);
  });

  it('may share the health port in turn', async () => {
    const port = await findFreePort();
    const health = ['--takeover', `--healthz-port=127.0.0.1:${port}`];
    const first = await serveExample([...health, '--lameduck=0s']);
    const second = await serveExample(health, first.port);
    await second.program.heard('HTTP port in use, waiting for it');
    first.program.signal('SIGTERM');
    await second.program.heard('HTTP port taken over');
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
});

/** Nothing listens on the port 9. */
const WAITING = [
  ['etcd', 'coredns', 'etcd {\nendpoint http://127.0.0.1:9\n}', 'etcd not followed'],
  ['etcd', 'skydns', '', 'etcd not followed'],
] as const;

it.each(WAITING)('a signal ends a start that waits for %s: %s', async (_, role, directive, sign) => {
  const port = String(await findFreePort());
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', `a.test {\nbind 127.0.0.1\n${directive}\n}\n`);
  const skyDns = [
    '-machines',
    'http://127.0.0.1:9',
    '-addr',
    `127.0.0.1:${port}`,
    '-nameservers',
    '127.0.0.1:9',
  ];
  const words = { coredns: ['-conf', conf, '-dns.port', port], skydns: skyDns };
  const program = runPortolan([role, ...words[role]]);
  await waitUntil(sign, () => (program.output + program.errors).includes(sign));
  const began = performance.now();
  program.signal('SIGTERM');
  expect((await program.exit).code).toBe(0);
  // The whole wait is 5 s, of which the sign takes up to 0.6.
  expect(performance.now() - began).toBeLessThan(3_500);
});
