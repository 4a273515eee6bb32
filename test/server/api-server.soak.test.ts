/**
 * The program with an API server: before the first list, while listing fails, and with a start from a snapshot.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kubeDnsRules } from '../api-server/access.ts';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { endAllPrograms, look, runPortolan, type Serving, servePortolan } from '../support/portolan.ts';

const cleanUps: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  await endAllPrograms();
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServerDouble> {
  const objects = [
    namespace('default'),
    service('web', '10.96.0.10'),
    service('db', 'None'),
    slice('db-1', 'db', '10.244.0.9'),
  ];
  const double = await ApiServerDouble.start({ objects, ...options });
  cleanUps.push(() => double.stop());
  return double;
}

const serve = (url: string, ...flags: readonly string[]) =>
  servePortolan(['--kube-master-url', url, ...flags]);
const a = (server: DnsServer, name: string) => askShort(server, `${name}.default.svc.cluster.local`, 'A');
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 20 });
const saysWhy = (serving: Serving, reason: RegExp) =>
  until(async () => {
    const { status, text } = await look(serving, '/readyz');
    expect(status).toBe(503);
    expect(text).toMatch(reason);
  });

describe('a cluster', () => {
  it('is served, and followed', async () => {
    const double = await startApiServer();
    const serving = await serve(double.url);
    await serving.program.heard('cluster listed');
    expect(await a(serving, 'web')).toBe('10.96.0.10');
    expect(await a(serving, 'db')).toBe('10.244.0.9');
    expect(await a(serving, 'none')).toBe('NXDOMAIN');
    expect(await look(serving, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
    double.put(service('new', '10.96.0.11'));
    await until(async () => expect(await a(serving, 'new')).toBe('10.96.0.11'));
    double.delete('Service', 'web', 'default');
    await until(async () => expect(await a(serving, 'web')).toBe('NXDOMAIN'));
    const { text } = await look(serving, '/metrics');
    expect(text).toMatch(/portolan_watch_state\{kind="services",state="watching"\} 1/);
    expect(text).toMatch(/portolan_data_age_seconds \d/);
    expect(text).toMatch(/portolan_objects\{kind="services"\} 2/);
  });

  it('gets an Event on a Service that cannot resolve, where it is to have them', async () => {
    const pay = service('pay', 'None');
    const spec = { type: 'ExternalName', externalName: '10.0.0.7' };
    const double = await startApiServer({ objects: [namespace('default'), { ...pay, spec }] });
    const serving = await serve(double.url, '--events');
    await serving.program.heard('cluster listed');
    const events = () => double.store.list('events').map(({ object }) => object);
    // The server checks itself every 15 seconds.
    await vi.waitFor(() => expect(events()).toHaveLength(1), { timeout: 60_000, interval: 100 });
    expect(events()[0]).toMatchObject({
      reason: 'external-name-target',
      type: 'Warning',
      regarding: { kind: 'Service', namespace: 'default', name: 'pay' },
      note: expect.stringContaining('10.0.0.7'),
    });
    await until(async () =>
      expect(serving.program.errors).toContain('"finding":"external-name-target","subject":"default/pay"'),
    );
  }, 90_000);

  it('stays ready and answers while its API server is away', async () => {
    const double = await startApiServer();
    const serving = await serve(double.url);
    await serving.program.heard('cluster listed');
    await double.stop();
    await until(async () => {
      const { text } = await look(serving, '/metrics');
      expect(text).toMatch(/portolan_watch_state\{kind="services",state="waiting"\} 1/);
    });
    expect(await a(serving, 'web')).toBe('10.96.0.10');
    expect(await a(serving, 'none')).toBe('NXDOMAIN');
    expect((await look(serving, '/readyz')).status).toBe(200);
  });

  it('is served in the dialect kube-dns under the rights of its old role alone', async () => {
    const double = await startApiServer({
      access: { rules: { admin: kubeDnsRules } },
      objects: [service('web', '10.96.0.10')],
    });
    const serving = await serve(double.url, '--dialect=kube-dns');
    await serving.program.heard('cluster listed');
    expect(await a(serving, 'web')).toBe('10.96.0.10');
    const kinds = new Set(double.requests.map(({ plural }) => plural));
    expect(kinds).toEqual(new Set(['services', 'endpointslices', 'endpoints']));
  });
});

describe('before the cluster is listed', () => {
  it('names in our zones are SERVFAIL, never a wrong no, and readiness says what is under way', async () => {
    const double = await startApiServer();
    double.faults.add({ plural: 'services', verb: 'list', fault: { kind: 'stall' } });
    const serving = await serve(double.url);
    await saysWhy(serving, /services: still listing/);
    expect(await a(serving, 'web')).toBe('SERVFAIL');
    expect(await a(serving, 'none')).toBe('SERVFAIL');
    expect(await askShort(serving, 'example.com', 'A')).toBe('REFUSED');
  });

  it('readiness tells no connection', async () => {
    const serving = await serve(`http://127.0.0.1:${await findFreePort()}`);
    await saysWhy(serving, /services: no connection: .*ECONNREFUSED/);
    expect(await look(serving, '/healthz')).toEqual({ status: 200, text: 'ok\n' });
  });

  it('readiness tells that we are not authenticated', async () => {
    const double = await startApiServer({ access: { tokens: { secret: 'somebody' } } });
    await saysWhy(await serve(double.url), /services: not authenticated: /);
  });

  it('readiness tells that we may not', async () => {
    const double = await startApiServer({ access: { rules: { admin: [] } } });
    await saysWhy(await serve(double.url), /services: forbidden: .*cannot (list|watch) resource/);
  });

  it('readiness waits for the ConfigMap too, while the server is too busy to give it', {
    timeout: 60_000,
  }, async () => {
    const double = await startApiServer();
    const fault = { kind: 'status', status: 429 } as const;
    double.faults.add({ plural: 'configmaps', times: 1_000, fault });
    // Other tests may have the ports that a ConfigMap opens by default.
    const ports = ['--sidecar-port=none', '--prometheus-port=none'];
    const serving = await serve(double.url, '--config-map=kube-dns', ...ports);
    await serving.program.heard('cluster listed');
    await saysWhy(serving, /configmaps: not read yet/);
    expect(await a(serving, 'web')).toBe('10.96.0.10');
    double.faults.clear();
    // It waits twice as long after each refusal.
    await vi.waitFor(async () => expect((await look(serving, '/readyz')).status).toBe(200), 40_000);
  });

  it('an initial sync that takes too long is an error, and no end', async () => {
    const double = await startApiServer();
    double.faults.add({ plural: 'services', verb: 'list', times: 1, fault: { kind: 'status', status: 500 } });
    const serving = await serve(double.url, '--initial-sync-timeout', '10ms');
    const complaint = await serving.program.heard('initial sync timed out; serving cached state');
    expect(complaint).toMatchObject({ level: 'error', after: '10ms' });
    await serving.program.heard('cluster listed');
    expect(await a(serving, 'web')).toBe('10.96.0.10');
    expect((await look(serving, '/readyz')).status).toBe(200);
  });
});

describe('a takeover', () => {
  it('opens its sockets when the cluster is listed, and not before', async () => {
    const double = await startApiServer();
    double.faults.add({ plural: 'services', verb: 'list', times: 1, fault: { kind: 'status', status: 500 } });
    const serving = await serve(double.url, '--takeover');
    const messages = serving.program.log.map(({ message }) => message);
    expect(messages.indexOf('cluster listed')).toBeGreaterThan(-1);
    expect(messages.indexOf('cluster listed')).toBeLessThan(messages.indexOf('serving TCP'));
    expect(await a(serving, 'web')).toBe('10.96.0.10');
  });

  it('does not join a process that knows more', async () => {
    const double = await startApiServer();
    const before = await serve(double.url);
    const port = String(before.port);
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const flags = [
      '--dns-port',
      port,
      '--healthz-port',
      '127.0.0.1:0',
      '--upstream=none',
      '--log-format=json',
    ];
    const bound = ['--dns-bind-address', before.address, '--kube-master-url', url];
    const next = runPortolan(['serve', ...flags, ...bound, '--takeover', '--initial-sync-timeout', '100ms']);
    await next.heard('sockets not opened');
    for (let turn = 0; turn < 20; turn += 1) expect(await a(before, 'web')).toBe('10.96.0.10');
    before.program.signal('SIGTERM');
    await next.heard('serving');
  });

  it('opens them at the end of the initial sync where no other serves', async () => {
    const serving = await serve(
      `http://127.0.0.1:${await findFreePort()}`,
      '--takeover',
      '--initial-sync-timeout',
      '300ms',
    );
    expect(await a(serving, 'web')).toBe('SERVFAIL');
    expect((await look(serving, '/readyz')).status).toBe(503);
  });
});

describe('a snapshot', () => {
  let file: string;
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-'));
    file = join(folder, 'snapshot');
    cleanUps.push(() => rmSync(folder, { recursive: true }));
  });

  async function recordSnapshot(): Promise<ApiServerDouble> {
    const double = await startApiServer();
    const serving = await serve(double.url, '--snapshot', file, '--lameduck=0s');
    await serving.program.heard('cluster listed');
    serving.program.signal('SIGTERM');
    expect((await serving.program.exit).code).toBe(0);
    return double;
  }

  it('is what is answered while there is no API server; all else is SERVFAIL, and readiness is off', async () => {
    const double = await recordSnapshot();
    await double.stop();
    const serving = await serve(double.url, '--snapshot', file);
    expect(await a(serving, 'web')).toBe('10.96.0.10');
    expect(await a(serving, 'db')).toBe('10.244.0.9');
    expect(await a(serving, 'none')).toBe('SERVFAIL');
    await saysWhy(serving, /no connection/);
    await double.restart([namespace('default'), service('other', '10.96.0.12')]);
    await serving.program.heard('cluster listed', 20_000);
    expect(await a(serving, 'web')).toBe('NXDOMAIN');
    expect(await a(serving, 'other')).toBe('10.96.0.12');
  });

  it.each([
    [
      'damaged',
      (octets: Buffer) => octets.fill('_', octets.indexOf('web'), octets.indexOf('web') + 1),
      /checksum/,
    ],
    ['cut off', (octets: Buffer) => octets.subarray(0, -20), /its end is missing/],
    ['of another cluster', (octets: Buffer) => octets, /another cluster/],
  ])('that is %s is reported and not used', async (kind, change, reason) => {
    const double = await recordSnapshot();
    await double.stop();
    writeFileSync(file, change(readFileSync(file)));
    const url = kind === 'of another cluster' ? `http://127.0.0.1:${await findFreePort()}` : double.url;
    const serving = await serve(url, '--snapshot', file);
    const ignored = await serving.program.heard('snapshot ignored');
    expect(ignored).toMatchObject({ level: 'warn', file, reason: expect.stringMatching(reason) });
    expect(await a(serving, 'web')).toBe('SERVFAIL');
    expect((await look(serving, '/metrics')).text).toContain('portolan_snapshot_errors_total 1');
  });

  it('that cannot be written is reported, and hurts nothing else', async () => {
    const double = await startApiServer();
    const serving = await serve(double.url, '--snapshot', '/proc/portolan/snapshot', '--lameduck=0s');
    await serving.program.heard('cluster listed');
    serving.program.signal('SIGTERM');
    expect((await serving.program.exit).code).toBe(0);
    expect((await serving.program.heard('snapshot not written'))['reason']).toMatch(
      /\/proc\/portolan\/snapshot/,
    );
  });
});

it('finds the cluster of a kubeconfig file, and says which', async () => {
  const double = await startApiServer();
  const folder = mkdtempSync(join(tmpdir(), 'portolan-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'double', user: 'me' } }],
    clusters: [{ name: 'double', cluster: { server: double.url } }],
    users: [{ name: 'me', user: {} }],
  };
  writeFileSync(file, JSON.stringify(config));
  const serving = await servePortolan([], { environment: { KUBECONFIG: file } });
  await serving.program.heard('cluster listed');
  expect(await a(serving, 'web')).toBe('10.96.0.10');
  const wrong = runPortolan([
    'serve',
    '--kubecfg-file',
    file,
    '--context',
    'there',
    '--log-format=json',
    '--healthz-port=127.0.0.1:0',
  ]);
  expect((await wrong.exit).code).toBe(1);
  expect(wrong.log.at(-1)?.['reason']).toMatch(/there/);
});
