/**
 * A Corefile that changes while it is in use: endpoints, metrics and listeners.
 */

import { writeFile } from 'node:fs/promises';
import { frame } from '@portolan/dns/frames.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { TcpClient } from '../listen/tcp-client.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

async function serve(corefile: string, port: number) {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', corefile);
  const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const reload = async (text: string, line: RegExp) => {
    await writeFile(conf, text);
    const { length } = program.output;
    program.signal('SIGUSR1');
    await waitUntil(`${line}`, () => line.test(program.output.slice(length)));
  };
  return { program, reload };
}

async function get(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return `${response.status} ${await response.text()}`;
}

it('takes over a changed Corefile, and keeps what it can', async () => {
  const [port, other, health, metrics] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  const [server, second] = [port, other].map((each) => ({ address: '127.0.0.1', port: each }));
  if (server === undefined || second === undefined) throw new Error('no ports');
  const settings = `bind 127.0.0.1\nhealth 127.0.0.1:${health}\nready 127.0.0.1:${health}\nprometheus 127.0.0.1:${metrics}`;
  const { program, reload } = await serve(`a.test {\n${settings}\nwhoami\n}\n`, port);
  expect((await ask(server, 'a.test.', 'A')).header.rcode).toBe(0);
  expect(await get(health, '/health')).toBe('200 OK');
  expect(await get(health, '/ready')).toBe('200 OK');
  expect(await get(health, '/nosuch')).toBe('404 404 page not found\n');

  await reload(
    `b.test {\n${settings}\nwhoami\n}\nb.test:${other} {\nbind 127.0.0.1\nwhoami\n}\n`,
    /Reloading complete/,
  );
  expect((await ask(server, 'a.test.', 'A')).header.rcode).toBe(5);
  expect((await ask(second, 'b.test.', 'A', { transport: 'tcp' })).header.rcode).toBe(0);
  // Earlier counts are kept, not repeated.
  const text = await get(metrics, '/metrics');
  expect(text).toContain('zone="a.test.",view="",proto="udp",family="1",type="A"} 1');
  expect(text).toContain('coredns_plugin_enabled{server="dns://127.0.0.1');
  expect(text).not.toContain('zone="a.test.",view="",name="whoami"');

  await reload('b.test {\n  whoam\n}\n', /SIGUSR1: starting with listener file descriptors: .*'whoam'/);
  expect((await ask(second, 'b.test.', 'A')).header.rcode).toBe(0);
  expect(await get(health, '/health')).toBe('200 OK');
  expect(await get(health, '/ready')).toMatch(
    /^200 OK\nCorefile changed but reload failed: .*Unknown directive 'whoam'\n$/,
  );
  expect(await get(metrics, '/metrics')).toMatch(/^process_cpu_seconds_total \d/m);

  program.signal('SIGTERM');
  expect((await program.exit).code).toBe(0);
  expect(program.output).toContain('[INFO] SIGTERM: Shutting down servers then terminating\n');
});

it('limits the queries of a connection as the changed Corefile says', async () => {
  const port = await findFreePort();
  const withLimit = (limit: string) => `. {\nbind 127.0.0.1\n${limit}\nwhoami\n}\n`;
  const { program, reload } = await serve(withLimit(''), port);
  const countAnswers = async () => {
    const client = new TcpClient(port, '127.0.0.1');
    for (const id of [1, 2, 3]) client.send(frame(queryFor('a.test.', id)));
    client.socket.end();
    await waitUntil('the end', () => client.isEnded);
    return client.messages.length;
  };
  expect(await countAnswers()).toBe(3);
  await reload(withLimit('timeouts {\nmaxtcpqueries 2\n}'), /Reloading complete/);
  expect(await countAnswers()).toBe(2);
  await reload(withLimit(''), /Reloading complete/);
  expect(await countAnswers()).toBe(3);
  program.signal('SIGTERM');
  expect((await program.exit).code).toBe(0);
});

it('serves on for the lameduck time, while readiness is refused', async () => {
  const port = await findFreePort();
  const health = await findFreePort();
  const ready = await findFreePort();
  const corefile = `. {\nbind 127.0.0.1\nhealth 127.0.0.1:${health} {\nlameduck 10m\n}\nready 127.0.0.1:${ready}\nwhoami\n}\n`;
  const { program } = await serve(corefile, port);
  expect(await get(ready, '/ready')).toBe('200 OK');
  program.signal('SIGINT');
  await waitUntil('lameduck', () =>
    program.output.includes('plugin/health: Going into lameduck mode for 10m0s'),
  );
  await expect.poll(() => get(ready, '/ready').catch(() => 'refused')).toBe('refused');
  expect(await get(health, '/health')).toBe('200 OK');
  expect((await ask({ address: '127.0.0.1', port }, 'a.', 'A')).header.rcode).toBe(0);
  program.signal('SIGINT');
  expect((await program.exit).code).toBe(2);
});

const LABEL = { 'kubernetes.io/metadata.name': 'blue' };

describe('a changed Corefile', () => {
  const corefile = (url: string, further: string, inCluster = '') =>
    `. {\nbind 127.0.0.1\nkubernetes cluster.local in-addr.arpa {\nendpoint ${url}\n${inCluster}}\n${further}}\n`;

  async function serveCluster() {
    const double = await ApiServerDouble.start({
      objects: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue', labels: LABEL } },
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'web', namespace: 'blue' },
          spec: { type: 'ClusterIP', clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'], ports: [] },
        },
      ],
    });
    onTestFinished(() => double.stop());
    const port = await findFreePort();
    const server = { address: '127.0.0.1', port };
    const { reload } = await serve(corefile(double.url, 'whoami\n'), port);
    const answersFor = async (name: string) =>
      (await ask(server, `${name}.blue.svc.cluster.local.`, 'A')).answers;
    const askAddresses = async (name: string) => (await answersFor(name)).map(({ data }) => data);
    const askTtls = async (name: string) => (await answersFor(name)).map(({ ttl }) => ttl);
    const lists = () => double.requests.filter(({ verb }) => verb === 'list' || verb === 'watch').length;
    await expect.poll(() => askAddresses('web')).toHaveLength(1);
    return { double, reload, askAddresses, askTtls, lists };
  }

  it('does not list a cluster again that it names as before, and goes on to follow it', async () => {
    const { double, reload, askAddresses, lists } = await serveCluster();
    const before = lists();
    for (const further of ['cache 30\n', 'whoami\nloadbalance\n', 'errors\n']) {
      await reload(corefile(double.url, further, 'fallthrough in-addr.arpa\n'), /Reloading complete/);
      expect(await askAddresses('web')).toEqual([{ kind: 'A', address: '10.96.0.9' }]);
    }
    expect(lists()).toBe(before);
    double.put({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'late', namespace: 'blue' },
      spec: { type: 'ClusterIP', clusterIP: '10.96.0.10', clusterIPs: ['10.96.0.10'], ports: [] },
    });
    await expect.poll(() => askAddresses('late')).toHaveLength(1);
  });

  it('answers by another ttl without a list', async () => {
    const { reload, double, lists, askTtls } = await serveCluster();
    const before = lists();
    expect(await askTtls('web')).toEqual([5]);
    await reload(corefile(double.url, 'whoami\n', 'ttl 77\n'), /Reloading complete/);
    expect(await askTtls('web')).toEqual([77]);
    expect(lists()).toBe(before);
  });

  it('that selects other objects lists them, and ends the watches of before', async () => {
    const { double, reload, askAddresses, lists } = await serveCluster();
    const before = lists();
    const watches = double.watches.size;
    await reload(corefile(double.url, 'whoami\n', 'labels app=none\n'), /Reloading complete/);
    expect(await askAddresses('web')).toEqual([]);
    expect(lists()).toBeGreaterThan(before);
    await expect.poll(() => double.watches.size).toBe(watches);
  });

  it('that is refused leaves the cluster as it was', async () => {
    const { double, reload, askAddresses, lists } = await serveCluster();
    const before = lists();
    await reload(
      corefile(double.url, 'file /nonexistent/zone a.test {\nreload 0\n}\n'),
      /with listener file/,
    );
    await reload(corefile(double.url, 'cache\n'), /Reloading complete/);
    expect(await askAddresses('web')).toHaveLength(1);
    expect(lists()).toBe(before);
  });
});
