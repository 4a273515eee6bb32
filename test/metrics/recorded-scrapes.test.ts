/**
 * A scrape of each role, as recorded: order, help texts, labels and blank lines are those that scrapers and people know. Values, ports and
 * versions are left out; `npx vitest run test/metrics --update` records them again.
 */

import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { parsePrometheusText } from '@portolan/kernel/base/testing/prometheus-text.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { configMap, FLAGS, nodes, scalable } from '../autoscaler/world.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const HOST = '127.0.0.1';

/** Sends every query back as its reply: no such name, at once. */
async function startUpstream(): Promise<string> {
  const upstream = await LoopbackUpstream.start(({ octets, send }) => {
    octets.set([0x81, 0x83], 2);
    send(octets);
  });
  onTestFinished(() => upstream.stop());
  return upstream.address;
}

/** Until the port is open. */
async function scrape(program: Program, url: string): Promise<string> {
  let text = '';
  await waitUntil(url, async () => {
    if (program.ended !== undefined) throw new Error(`ended: ${program.output}${program.errors}`);
    text = await fetch(url).then(
      async (response) => (response.ok ? await response.text() : ''),
      () => '',
    );
    return text !== '';
  });
  return text;
}

async function untilBanner(program: Program): Promise<void> {
  await waitUntil('the banner', () => program.output.includes('linux/'));
}

/** Leaves out what differs from run to run and from machine to machine. Lines that are equal then are one. */
function withoutValues(text: string): string {
  parsePrometheusText(text);
  const lines = text.split('\n').map((line) =>
    line.startsWith('#')
      ? line
      : line
          .replace(/ \S+$/, ' VALUE')
          .replaceAll(/(version|revision|node|value|hostsfile|machine)="[^"]*"/g, '$1="…"')
          .replaceAll(/127\.0\.0\.1:\d+|:\d{4,5}\b/g, (place) => place.replace(/\d+$/, 'PORT'))
          .replace(/^(portolan_code_caches)\{.*\}/, '$1{…}'),
  );
  return lines.filter((line, at) => line === '' || line !== lines[at - 1]).join('\n');
}

/** Two questions that are forwarded, the second of which is in the cache. */
async function askTwice(port: number): Promise<void> {
  await ask({ address: HOST, port }, 'nowhere.test', 'A');
  await ask({ address: HOST, port }, 'nowhere.test', 'A');
}

async function expectRecorded(text: string, name: string): Promise<void> {
  await expect(withoutValues(text)).toMatchFileSnapshot(`recorded-scrapes/${name}.txt`);
}

/** Starts `serve` or `kube-dns`, and asks it. */
async function runServer(command: string, environment: Readonly<Record<string, string>>): Promise<Program> {
  const port = await findFreePort();
  const flags = [`--dns-bind-address=${HOST}`, `--dns-port=${port}`, `--healthz-port=${HOST}:0`];
  const program = runPortolan(
    [command, ...flags, '--example', '--log-format=json', `--upstream=${await startUpstream()}`],
    { environment },
  );
  await program.heard('serving');
  await program.heard('cluster listed');
  await askTwice(port);
  return program;
}

describe('the scrape of a role is as recorded', () => {
  it('serve', async () => {
    const program = await runServer('serve', {});
    const { health } = await program.heard('serving');
    await expectRecorded(await scrape(program, `${health}/metrics`), 'serve');
  });

  it('kube-dns, with the metrics of SkyDNS', async () => {
    const program = await runServer('kube-dns', { PROMETHEUS_PORT: `${HOST}:0` });
    const { metrics } = await program.heard('serving');
    await expectRecorded(await scrape(program, `${metrics}/metrics`), 'kube-dns');
  });

  itWithTool('etcd', 'skydns', async () => {
    const port = await findFreePort();
    const metrics = await findFreePort();
    const { first } = await startEtcd();
    const program = runPortolan(
      [
        'skydns',
        '-etcd3',
        '-machines',
        first.url,
        '-addr',
        `${HOST}:${port}`,
        '-domain',
        'skydns.test.',
        '-nameservers',
        await startUpstream(),
      ],
      { environment: { PROMETHEUS_PORT: String(metrics) } },
    );
    await program.heard('ready for queries');
    await askTwice(port);
    await expectRecorded(await scrape(program, `http://${HOST}:${metrics}/metrics`), 'skydns');
  });

  it.each([
    [[], 'coredns'],
    [['-metrics-compat=1.6'], 'coredns-1.6'],
    [['-metrics-compat=1.10'], 'coredns-1.10'],
  ])('coredns %s', async (flags, name) => {
    const port = await findFreePort();
    const metrics = await findFreePort();
    const folder = await makeTemporaryFolder();
    await folder.write('hosts', '192.0.2.1 host.test\n');
    const text = `.:${port} {
      bind ${HOST}
      prometheus ${HOST}:${metrics}
      health ${HOST}:${await findFreePort()}
      errors
      acl {
        block net 192.0.2.0/24
      }
      autopath off.test ${await folder.write('resolv.conf', 'search a.test b.test\n')}
      dns64
      template IN A template.test {
        answer "{{ .Name }} 60 IN A 192.0.2.7"
      }
      hosts ${folder.path}/hosts {
        fallthrough
      }
      reload
      cache 30
      forward . ${await startUpstream()}
    }`;
    const program = runPortolan(['coredns', '-conf', await folder.write('Corefile', text), ...flags]);
    const url = `http://${HOST}:${metrics}/metrics`;
    await untilBanner(program);
    for (const asked of ['host.test', 'template.test']) await ask({ address: HOST, port }, asked, 'A');
    await askTwice(port);
    await expectRecorded(await scrape(program, url), name);
  });

  it('node-cache, of its set-up', async () => {
    const metrics = await findFreePort();
    const folder = await makeTemporaryFolder();
    const text = `.:${await findFreePort()} {\n bind ${HOST}\n whoami\n}\n`;
    const program = runPortolan([
      'node-cache',
      '-conf',
      await folder.write('Corefile', text),
      '-localip',
      HOST,
      '-setupinterface=false',
      '-setupiptables=false',
      `-metrics-listen-address=${HOST}:${metrics}`,
    ]);
    // The port opens before it serves.
    await untilBanner(program);
    await expectRecorded(await scrape(program, `http://${HOST}:${metrics}/metrics`), 'node-cache');
  });

  it('sidecar', async () => {
    const nowhere = await findFreePort();
    const program = runPortolan([
      'sidecar',
      '--v=2',
      '-logtostderr',
      `--prometheus-addr=${HOST}`,
      '--prometheus-port=0',
      `--probe=dnsmasq,${HOST}:${nowhere},known.test,1,A`,
      `--dnsmasq-port=${nowhere}`,
    ]);
    const { port } = await program.heard('started');
    await expectRecorded(await scrape(program, `http://${HOST}:${port}/metrics`), 'sidecar');
  });

  it('autoscaler', async () => {
    const objects = [...nodes(5), scalable('coredns', 1)];
    const api = await ApiServerDouble.start({ objects, watchList: true });
    onTestFinished(() => api.stop());
    api.put(configMap({ linear: '{"nodesPerReplica":2}' }));
    const program = runPortolan([
      'autoscaler',
      '--healthz-port=0',
      '--logtostderr=true',
      '--v=2',
      ...FLAGS,
      `--kube-master-url=${api.url}`,
      '--poll-period-seconds=1',
    ]);
    const { port } = await program.heard('started');
    await program.heard('scaled');
    // The line is written before the poll is over, and the metrics of the poll come after it.
    let text = '';
    while (!text.includes('last_poll_success'))
      text = await scrape(program, `http://${HOST}:${port}/metrics`);
    await expectRecorded(text, 'autoscaler');
  });
});
