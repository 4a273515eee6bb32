/**
 * The control socket and `explain`: the same requests for every kind of server, by default and by path; and without a server.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { formatSocketName, runToEnd, serveCorefile } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const EXAMPLE = 'examples/cluster';

describe('serve', () => {
  it('answers on its default socket, and explains from the objects that it serves', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const socket = formatSocketName(serving.program, 'serve');
    const status = await runToEnd('control', `--socket=${socket}`, '--output=json', 'status');
    expect(JSON.parse(status.text)).toMatchObject({ role: 'serve', ready: true, logs: { level: 'info' } });
    const explain = (...words: readonly string[]) => runToEnd('explain', `--socket=${socket}`, ...words);
    const found = await explain('cart.shop', '--from=web/');
    expect(found.code).toBe(0);
    expect(found.text).toMatch(/^resolves to 10\./);
    const missing = await explain('catr.shop');
    expect(missing.code).toBe(1);
    expect(missing.text).toMatch(/^does not resolve: there is no service "catr" in namespace shop\n/);
    expect(missing.text).toContain('near        cart.shop');
    const json = await explain('cart', '--from=web/', '--output=json');
    expect(JSON.parse(json.text)).toMatchObject({
      apiVersion: 'portolan/v1alpha1',
      verdict: { outcome: 'fails' },
      client: { namespace: 'web', search: ['web.svc.cluster.local', 'svc.cluster.local', 'cluster.local'] },
    });
    expect((await explain('a..b')).code).toBe(2);
  });

  it('says until when a name existed, and which names appeared or disappeared', async () => {
    const { path } = await makeTemporaryFolder();
    const put = (name: string) => {
      const metadata = { name, namespace: 'shop' };
      const spec = { clusterIP: '10.96.0.7', ports: [{ port: 80 }] };
      writeFileSync(
        join(path, `${name}.json`),
        JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata, spec }),
      );
    };
    put('cart');
    put('db');
    const serving = await servePortolan([`--manifests=${path}`, '--upstream=none']);
    await serving.program.heard('cluster listed');
    const socket = `--socket=${formatSocketName(serving.program, 'serve')}`;
    const json = async (...words: readonly string[]) =>
      (await runToEnd(...words, socket, '--output=json')).text;
    const digest = async () => {
      const { zones } = JSON.parse(await json('control', 'status')) as { zones: { digest: string }[] };
      return zones[0]?.digest;
    };
    const before = await digest();
    rmSync(join(path, 'cart.json'));
    const isGone =
      /^does not resolve: there is no service "cart" in namespace shop; it existed until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/;
    await expect
      .poll(async () => (await runToEnd('explain', socket, 'cart.shop')).text, { timeout: 20_000 })
      .toMatch(isGone);
    const [change] = (await json('control', 'changes')).split('\n');
    expect(JSON.parse(change ?? '')).toMatchObject({ name: 'cart.shop', change: 'went' });
    const { at } = JSON.parse(change ?? '') as { at: string };
    const reasons = (JSON.parse(await json('explain', 'cart.shop')) as { steps: { reason?: unknown }[] })
      .steps;
    expect(reasons.map(({ reason }) => reason)).toContainEqual(
      expect.objectContaining({ kind: 'no-such-service', existedUntil: at }),
    );
    const names = JSON.parse(await json('control', 'names')) as Record<string, unknown>;
    expect(names).toMatchObject({ services: 1, digest: await digest(), former: [{ digest: before }] });
  });

  it('counts, logs and stores nothing when it is looked at', async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    await serving.program.heard('cluster listed');
    const socket = formatSocketName(serving.program, 'serve');
    const read = async () => {
      const { text } = await runToEnd('control', `--socket=${socket}`, '--output=json', 'status');
      const { queries, cache } = JSON.parse(text) as { queries: number; cache: unknown };
      return { queries, cache };
    };
    const before = await read();
    for (const name of ['cart.shop', 'github.com', 'nothing.shop'])
      await runToEnd('explain', `--socket=${socket}`, name);
    expect(await read()).toEqual(before);
    await ask(serving, 'cart.shop.svc.cluster.local', 'A');
    expect((await read()).queries).toBe(before.queries + 1);
  });

  it('has no socket with --control-socket=none', async () => {
    const serving = await servePortolan(['--example', '--upstream=none', '--control-socket=none']);
    const { code, errors } = await runToEnd(
      'control',
      `--socket=${formatSocketName(serving.program, 'serve')}`,
      'status',
    );
    expect([code, errors]).toEqual([3, expect.stringContaining('no server found')]);
    expect(errors).not.toContain('\0');
  });
});

describe('coredns', () => {
  it('answers the same requests, by its blocks and plugins', async () => {
    const { program, port } = await serveCorefile(
      '  hosts {\n    192.0.2.1 a.example.org\n    fallthrough\n  }\n  acl example.net {\n    block\n  }\n  cache\n  forward example.com 127.0.0.1:1',
    );
    const socket = formatSocketName(program, 'coredns');
    const explain = (...words: readonly string[]) => runToEnd('explain', `--socket=${socket}`, ...words);
    expect((await explain('a.example.org.', 'A')).text).toMatch(/^resolves to 192\.0\.2\.1/);
    expect((await explain('b.example.net.')).text).toMatch(/^does not resolve: plugin acl refuses the query/);
    const open = await explain('www.example.com.');
    expect([open.code, open.text]).toEqual([3, expect.stringContaining('would be asked of 127.0.0.1:1')]);
    const asked = await explain('www.example.com.', '--ask');
    expect([asked.code, asked.text]).toEqual([1, expect.stringMatching(/^does not resolve/)]);
    const off = await runToEnd('control', `--socket=${socket}`, 'upstream', '127.0.0.1:1', 'off');
    expect(off.text).toContain('127.0.0.1:1 is off');
    expect((await explain('www.example.com.')).text).toContain('the name is not forwarded');
    expect(
      (await runToEnd('control', `--socket=${socket}`, 'upstream', '192.0.2.9:53', 'off')).errors,
    ).toContain('upstream: unknown: "192.0.2.9:53"');
    expect((await runToEnd('control', `--socket=${socket}`, 'log-level', 'debug')).text).toContain(
      'log level  debug',
    );
    await ask({ address: '127.0.0.1', port }, 'a.example.org', 'A');
  });

  it('shows and drops cached answers', async () => {
    const upstream = await serveCorefile('  hosts {\n    192.0.2.7 www.example.com\n  }');
    const { program, port } = await serveCorefile(`  cache\n  forward . 127.0.0.1:${upstream.port}`);
    const socket = formatSocketName(program, 'coredns');
    await ask({ address: '127.0.0.1', port }, 'www.example.com', 'A');
    const dump = () =>
      runToEnd('control', `--socket=${socket}`, '--output=json', 'cache', 'dump', 'example.com');
    await expect.poll(async () => (await dump()).text).toContain('192.0.2.7');
    const explained = await runToEnd('explain', `--socket=${socket}`, 'www.example.com.', 'A');
    expect(explained.text).toMatch(/^resolves to 192\.0\.2\.7\n[\s\S]*cache \(\d+ s old, \d+ s left\)/);
    await runToEnd('control', `--socket=${socket}`, 'cache', 'flush', 'example.com');
    expect((await dump()).text).toBe('');
  });
});

describe('every other server', () => {
  const readStatus = async (program: Program, role: string) => {
    const socket = formatSocketName(program, role);
    const read = () => runToEnd('control', `--socket=${socket}`, '--output=json', 'status');
    await expect.poll(async () => (await read()).code, { timeout: 20_000 }).toBe(0);
    return JSON.parse((await read()).text) as { role: string; ready: boolean };
  };

  it('has the socket too: kube-dns, dnsmasq, skydns', async () => {
    const port = await findFreePort();
    const local = [`--dns-port=${port}`, '--dns-bind-address=127.0.0.1', '--healthz-port=127.0.0.1:0'];
    const kubeDns = runPortolan(['kube-dns', ...local, `--manifests=${EXAMPLE}`]);
    expect(await readStatus(kubeDns, 'kube-dns')).toMatchObject({ role: 'kube-dns' });
    const options = [
      '-k',
      '--conf-file=/dev/null',
      '--no-resolv',
      '--pid-file=',
      '--listen-address=127.0.0.1',
    ];
    const dnsmasq = runPortolan(['dnsmasq', ...options, `--port=${await findFreePort()}`, '--user=']);
    expect(await readStatus(dnsmasq, 'dnsmasq')).toMatchObject({ role: 'dnsmasq', ready: true });
    const skydns = runPortolan([
      'skydns',
      '-machines=http://127.0.0.1:1',
      `-addr=127.0.0.1:${await findFreePort()}`,
    ]);
    expect(await readStatus(skydns, 'skydns')).toMatchObject({ role: 'skydns', ready: false });
  }, 60_000);
});

describe('without a server', () => {
  it('explains what manifests would answer, with a Corefile or without', async () => {
    const { path } = await makeTemporaryFolder();
    const corefile = join(path, 'Corefile');
    writeFileSync(
      corefile,
      '.:53 {\n  kubernetes cluster.local in-addr.arpa\n  template IN A blocked.test {\n    rcode NXDOMAIN\n  }\n}\n',
    );
    expect((await runToEnd('explain', 'cart.shop', `--manifests=${EXAMPLE}`)).code).toBe(0);
    const found = await runToEnd('explain', 'cart.shop', `--manifests=${EXAMPLE}`, `--corefile=${corefile}`);
    expect([found.code, found.text]).toEqual([0, expect.stringMatching(/^resolves to 10\./)]);
    const missing = await runToEnd(
      'explain',
      'cart.shopp',
      `--manifests=${EXAMPLE}`,
      `--corefile=${corefile}`,
    );
    expect([missing.code, missing.text]).toEqual([
      1,
      expect.stringContaining('there is no namespace "shopp"'),
    ]);
    const blocked = await runToEnd(
      'explain',
      'blocked.test.',
      'A',
      `--corefile=${corefile}`,
      `--manifests=${EXAMPLE}`,
    );
    expect(blocked.text).toMatch(/^does not resolve: plugin template answers for the name/);
    writeFileSync(corefile, '.:53 {\n  forwrad . 192.0.2.1\n}\n');
    const faulty = await runToEnd('explain', 'cart.shop', `--corefile=${corefile}`);
    expect([faulty.code, faulty.errors]).toEqual([3, expect.stringContaining('forwrad')]);
  }, 30_000);

  it('finds endpoints that are not ready and selectors in the evidence', async () => {
    const { path } = await makeTemporaryFolder();
    const named = (name: string, labels = {}) => ({ name, namespace: 'shop', labels });
    const headless = (name: string, selector: object) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: named(name),
      spec: { clusterIP: 'None', selector, ports: [{ port: 80, name: 'http' }] },
    });
    const objects = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      headless('db', { app: 'db' }),
      headless('lost', { app: 'losst' }),
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: named('db-0', { app: 'db' }),
        status: { podIP: '10.1.0.7' },
      },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        addressType: 'IPv4',
        metadata: named('db-1', { 'kubernetes.io/service-name': 'db' }),
        endpoints: [
          { addresses: ['10.1.0.7'], conditions: { ready: false }, targetRef: { kind: 'Pod', name: 'db-0' } },
        ],
        ports: [{ port: 80, name: 'http' }],
      },
    ];
    writeFileSync(join(path, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const explain = async (name: string) => (await runToEnd('explain', name, `--manifests=${path}`)).text;
    expect(await explain('db.shop')).toMatch(
      /^does not resolve: service shop\/db has 1 endpoint that is not ready: db-0 \(10\.1\.0\.7\)/,
    );
    expect(await explain('lost.shop')).toMatch(
      /^does not resolve: the selector app=losst of service shop\/lost matches no pod/,
    );
    const serving = await servePortolan([`--manifests=${path}`, '--upstream=none']);
    await serving.program.heard('cluster listed');
    const socket = formatSocketName(serving.program, 'serve');
    const kept = await runToEnd('explain', 'db.shop', `--socket=${socket}`);
    expect(kept.text).toMatch(/service shop\/db has 1 endpoint that is not ready: 10\.1\.0\.7/);
    const seeing = await runToEnd(
      'explain',
      'db.shop',
      `--socket=${socket}`,
      `--evidence=${join(path, 'all.json')}`,
    );
    expect(seeing.text).toContain('has 1 endpoint that is not ready: db-0');
  }, 30_000);
});
