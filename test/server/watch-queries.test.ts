/**
 * `tail`, `top` and `doctor` of running servers, with readers, the chain, UDP and TCP.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { requestControl } from '@portolan/server/observe/control/control-client.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { formatSocketName, runToEnd, serveCorefile } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

type Line = Readonly<Record<string, string | number | boolean | undefined>>;

/** Follows a server until the test ends. */
async function startTail(socket: string, ...words: readonly string[]) {
  const program = runPortolan(['tail', `--socket=${socket}`, '--output=json', ...words]);
  const lines = () =>
    program.output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line); // Our own format.
  return { program, lines };
}

/** Asks until the watcher, which starts in another process, has seen the question. */
async function askUntilSeen(server: DnsServer, name: string, seen: () => boolean): Promise<void> {
  await expect
    .poll(
      async () => {
        await ask(server, name, 'A');
        return seen();
      },
      { timeout: 20_000 },
    )
    .toBe(true);
}

const WAIT = { timeout: 20_000 };
const KNOWN = 'cart.shop.svc.cluster.local';

describe('the level debug', () => {
  it('of the log shows queries with their steps, until another level is set', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const socket = formatSocketName(serving.program, 'serve');
    const set = (level: string) => runToEnd('control', `--socket=${socket}`, 'log-level', level);
    const lines = () =>
      serving.program.errors.split('\n').filter((line) => line.includes('"message":"query"'));
    await ask(serving, KNOWN, 'A');
    expect((await set('debug')).code).toBe(0);
    await askUntilSeen(serving, KNOWN, () => lines().length > 0);
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      level: 'debug',
      name: `${KNOWN}.`,
      type: 'A',
      transport: 'udp',
      path: 'table',
      source: 'cluster',
      block: '.',
      plugins: expect.stringMatching(/^loop>.*>kubernetes$/),
      rcode: 'NOERROR',
      answers: 1,
      client: expect.stringMatching(/^127\.0\.0\.1#\d+$/),
      microseconds: expect.any(Number),
    });
    expect((await set('info')).code).toBe(0);
    const before = lines().length;
    await ask(serving, 'catr.shop.svc.cluster.local', 'A', { transport: 'tcp' });
    await set('info');
    expect(lines()).toHaveLength(before);
  });

  it('of a Corefile shows them on request, and not by the plugin debug', async () => {
    const upstream = await LoopbackUpstream.start(
      answerFromZone({ 'www.example. A': [makeAddress('192.0.2.1')] }),
    );
    onTestFinished(() => upstream.stop());
    const { program, port } = await serveCorefile(`  debug\n  cache\n  forward . ${upstream.address}`);
    const server = { address: '127.0.0.1', port };
    await ask(server, 'www.example', 'A');
    const set = await runToEnd(
      'control',
      `--socket=${formatSocketName(program, 'coredns')}`,
      'log-level',
      'debug',
    );
    expect(set.code).toBe(0);
    expect(program.output).not.toContain('query ');
    await askUntilSeen(server, 'www.example', () => program.output.includes('DEBUG] query '));
    expect(program.output).toMatch(
      /DEBUG\] query .* name=www\.example\. .*block=\. plugins=cache source=cache .*rcode=NOERROR/,
    );
  });
});

describe('tail', () => {
  it('shows what readers and the chain of serve answer, and why there is no answer', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const { lines } = await startTail(formatSocketName(serving.program, 'serve'));
    await askUntilSeen(serving, KNOWN, () => lines().length > 0);
    await ask(serving, 'catr.shop.svc.cluster.local', 'A', { transport: 'tcp' });
    await ask(serving, 'www.example.com', 'A');
    await expect.poll(() => lines().some(({ name }) => name === 'www.example.com.'), WAIT).toBe(true);
    const seen = lines().map(({ name, transport, rcode, source, reason, namespace }) =>
      [name, transport, rcode, source, reason, namespace].join(' '),
    );
    expect(seen).toContain(`${KNOWN}. udp NOERROR cluster  shop`);
    expect(seen).toContain('catr.shop.svc.cluster.local. tcp NXDOMAIN cluster no-such-service shop');
    expect(seen.some((line) => line.startsWith('www.example.com. udp REFUSED block not-forwarded'))).toBe(
      true,
    );
  });

  it('shows only what is selected', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const { lines } = await startTail(
      formatSocketName(serving.program, 'serve'),
      '--reason=no-such-service',
      '--namespace=shop',
    );
    await askUntilSeen(serving, 'catr.shop.svc.cluster.local', () => lines().length > 0);
    await ask(serving, KNOWN, 'A');
    await ask(serving, 'kubernetes.data.svc.cluster.local', 'A');
    const count = lines().length;
    await askUntilSeen(serving, 'catr.shop.svc.cluster.local', () => lines().length > count);
    expect(new Set(lines().map(({ name }) => name))).toEqual(new Set(['catr.shop.svc.cluster.local.']));
  });

  it('shows no more in a second than it is asked for, and counts the rest', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const socket = formatSocketName(serving.program, 'serve');
    const seen: Line[] = [];
    const abort = new AbortController();
    const over = (async () => {
      const request = { verb: 'tail', words: ['rate=2'] };
      for await (const data of requestControl(socket, request, abort.signal)) seen.push(data as Line); // Our own format.
    })();
    await askUntilSeen(serving, KNOWN, () => seen.length > 0);
    const lost = () => seen.reduce((sum, line) => sum + Number(line['lost'] ?? 0), 0);
    const askMany = () => Promise.all(Array.from({ length: 20 }, () => ask(serving, KNOWN, 'A')));
    await expect
      .poll(async () => {
        await askMany();
        return lost();
      }, WAIT)
      .toBeGreaterThan(10);
    abort.abort();
    await over;
  });

  it('works beside the query log, and leaves it whole', async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'queries.log');
    const serving = await servePortolan([
      '--example',
      '--upstream=none',
      `--query-log=${file}`,
      '--lameduck=0s',
    ]);
    await serving.program.heard('cluster listed');
    const { lines } = await startTail(formatSocketName(serving.program, 'serve'));
    await askUntilSeen(serving, KNOWN, () => lines().length > 0);
    for (let turn = 0; turn < 50; turn++) await ask(serving, `n${turn}.shop.svc.cluster.local`, 'A');
    await expect.poll(() => lines().filter(({ rcode }) => rcode === 'NXDOMAIN').length, WAIT).toBe(50);
    serving.program.signal('SIGTERM');
    await serving.program.exit;
    const { readFile } = await import('node:fs/promises');
    const logged = (await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('NXDOMAIN'));
    expect(logged).toHaveLength(50);
  });

  it('shows the queries of a Corefile, from the table, the cache and upstream servers', async () => {
    const upstream = await serveCorefile('  hosts {\n    192.0.2.7 www.example.com\n  }');
    const { program, port } = await serveCorefile(
      `  acl example.net {\n    block\n  }\n  cache\n  forward . 127.0.0.1:${upstream.port}`,
    );
    const server = { address: '127.0.0.1', port };
    const { lines } = await startTail(formatSocketName(program, 'coredns'));
    await askUntilSeen(server, 'a.example.net', () => lines().length > 0);
    await ask(server, 'www.example.com', 'A');
    const sources = () => lines().map(({ name, source, transport }) => [name, source, transport].join(' '));
    // The main thread stores what a reader has forwarded some time after the client has its answer.
    await expect
      .poll(async () => {
        await ask(server, 'www.example.com', 'A', { transport: 'tcp' });
        return sources();
      }, WAIT)
      .toContain('www.example.com. cache tcp');
    expect(sources()).toContain('a.example.net. block udp');
    expect(sources()).toContain('www.example.com. upstream udp');
  });
});

it('top counts what is asked, and the servers that are asked', async () => {
  const serving = await servePortolan(['--example', '--upstream=none']);
  await serving.program.heard('cluster listed');
  const socket = formatSocketName(serving.program, 'serve');
  const program = runPortolan(['top', `--socket=${socket}`, '--output=json', '--interval=500ms']);
  type Snapshot = { queries: number; names: { what: string }[]; failures: { what: string }[] };
  const snapshots = () =>
    program.output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Snapshot); // Our own format.
  await askUntilSeen(serving, 'catr.shop.svc.cluster.local', () =>
    snapshots().some(({ queries }) => queries > 0),
  );
  const [busy] = snapshots().filter(({ queries }) => queries > 0);
  expect(busy?.names[0]?.what).toBe('catr.shop.svc.cluster.local. A');
  expect(busy?.failures[0]?.what).toBe('no-such-service catr.shop.svc.cluster.local. A');
  const once = await runToEnd('top', `--socket=${socket}`, '--once', '--interval=100ms');
  expect([once.code, once.text]).toEqual([0, expect.stringContaining('queries/s')]);
});

it('top shows what was before somebody looked, where a Corefile keeps statistics', async () => {
  const { program, port } = await serveCorefile(
    '  hosts {\n    192.0.2.7 www.example.com\n  }\n  portolan {\n    stats\n  }',
  );
  const server = { address: '127.0.0.1', port };
  const socket = `--socket=${formatSocketName(program, 'coredns')}`;
  const table = async () => (await runToEnd('top', socket, '--once', '--interval=100ms')).text;
  // Counting may begin just after the first answer.
  await expect
    .poll(
      async () => {
        await ask(server, 'www.example.com', 'A');
        return await table();
      },
      { timeout: 20_000 },
    )
    .toMatch(/^the last .*\n(.*\n)*names\n +\d+ {2}www\.example\.com\. A\n/);
  const status = await runToEnd('control', socket, '--output=json', 'status');
  expect(JSON.parse(status.text)).toMatchObject({ statistics: { isKept: true, sampling: 1 } });
});

describe('doctor', () => {
  it('finds nothing in a healthy server, and says what it did not look at', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const { code, text } = await runToEnd(
      'doctor',
      `--socket=${formatSocketName(serving.program, 'serve')}`,
      '--watch=0s',
    );
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(
        /^not checked {2}network-policy: needs pods, policies$[\s\S]*do {2}Pass services, pods, policies by --evidence\.$/m,
      ),
    ]);
  });

  it('finds an ExternalName that is an address, which the metric and the readiness say too', async () => {
    const { path } = await makeTemporaryFolder();
    const metadata = { name: 'pay', namespace: 'shop' };
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { type: 'ExternalName', externalName: '10.0.0.7' },
    };
    writeFileSync(join(path, 'pay.json'), JSON.stringify(service));
    const serving = await servePortolan([`--manifests=${path}`, '--upstream=none']);
    await serving.program.heard('cluster listed');
    const { code, text } = await runToEnd(
      'doctor',
      `--socket=${formatSocketName(serving.program, 'serve')}`,
      '--watch=0s',
    );
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(
        /^PROBLEM {2}external-name-target +service shop\/pay is an ExternalName for 10\.0\.0\.7/,
      ),
    ]);
    const { health } = serving;
    const ready = await (await fetch(`${health}/readyz`)).text();
    expect(ready).toMatch(/^ok\nfinding=external-name-target service shop\/pay/);
    const metrics = await (await fetch(`${health}/metrics`)).text();
    expect(metrics).toContain('portolan_findings{finding="external-name-target",severity="problem"} 1');
  });

  it('checks the objects of the caller without a server, and ends with 3 without both', async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'objects.json');
    const metadata = { name: 'deny', namespace: 'shop' };
    const items = [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace: 'shop' }, spec: {} },
      { kind: 'NetworkPolicy', metadata, spec: { podSelector: {}, policyTypes: ['Egress'], egress: [] } },
    ];
    writeFileSync(file, JSON.stringify({ kind: 'List', items }));
    const checked = await runToEnd('doctor', '--socket=/nonexistent/control', `--evidence=${file}`);
    expect([checked.code, checked.text]).toEqual([1, expect.stringMatching(/^PROBLEM {2}network-policy/)]);
    expect((await runToEnd('doctor', '--socket=/nonexistent/control')).code).toBe(3);
  });
});
