/**
 * Zone transfers with Knot DNS and dig as peers.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { runKnot } from '../dnsmasq/knot.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { serials } from './serials.ts';

afterEach(endAllPrograms);
const run = promisify(execFile);

const zone = (serial: number, hosts: number): string =>
  [
    `@ 60 IN SOA ns host ${serial} 7200 3600 1209600 60`,
    '@ 60 IN NS ns',
    'ns 60 IN A 192.0.2.53',
    'sub 60 IN NS ns.sub',
    'ns.sub 60 IN A 192.0.2.54',
    ...Array.from({ length: hosts }, (_, host) => `h${host} 60 IN A 10.0.${host >> 8}.${host & 255}`),
    '',
  ].join('\n');

async function serve(directives: string, text: string) {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const file = await folder.write('db.example', text);
  const corefile = `example {\n bind 127.0.0.1\n file ${file} {\n reload 1s\n }\n ${directives}\n}\n`;
  const conf = await folder.write('Corefile', corefile);
  const start = () => runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
  return { folder, file, port, start };
}

/** The records that dig gets, in the order of the answer. */
async function transferByDig(port: number, ...flags: readonly string[]): Promise<readonly string[]> {
  const args = ['@127.0.0.1', '-p', String(port), '+noall', '+answer', '+nocomments', '+time=30', '+tries=1'];
  const { stdout } = await run('dig', [...args, ...flags], { maxBuffer: 64 * 2 ** 20 });
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
    .map((line) => line.replaceAll(/\s+/g, ' '));
}

describeWithTool('dig', 'a transfer', () => {
  it('of a large zone takes several messages, with the SOA record first and last', async () => {
    const HOSTS = 5_000;
    const { port, start } = await serve('transfer {\n to *\n }', zone(7, HOSTS));
    const program = start();
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const records = await transferByDig(port, 'example', 'AXFR');
    expect(records).toHaveLength(HOSTS + 4 + 2);
    expect(records[0]).toMatch(/^example\. 60 IN SOA ns\.example\. host\.example\. 7 /);
    expect(records.at(-1)).toBe(records[0]);
    expect(new Set(records).size).toBe(records.length - 1);
    expect(records).toContain('ns.sub.example. 60 IN A 192.0.2.54');
    expect(program.output).toContain(
      `[INFO] plugin/transfer: Outgoing transfer of ${HOSTS + 6} records of zone "example." to 127.0.0.1 for 7 SOA serial`,
    );
    // Others are answered meanwhile, and afterwards.
    const several = await Promise.all([
      transferByDig(port, 'example', 'AXFR'),
      transferByDig(port, 'example', 'AXFR'),
      ask({ address: '127.0.0.1', port }, 'h1.example.', 'A'),
    ]);
    expect(several[0]).toEqual(records);
    expect(several[1]).toEqual(records);
    expect(several[2].answers.map(presentRecord)).toEqual(['h1.example. 60 IN A 10.0.0.1']);
  });

  it('of changes is the SOA record for the same serial, and else the whole zone', async () => {
    const { port, start } = await serve('transfer {\n to *\n }', zone(7, 2));
    const program = start();
    await waitUntil('the banner', () => program.output.includes('linux/'));
    expect(await transferByDig(port, '+tcp', 'example', 'IXFR=7')).toHaveLength(1);
    expect(await transferByDig(port, '+tcp', 'example', 'IXFR=6')).toHaveLength(8);
  });

  it('is refused over UDP, to others, and of zones that are not here', async () => {
    const { port, start } = await serve('transfer {\n to 192.0.2.1\n }', zone(7, 2));
    const program = start();
    await waitUntil('the banner', () => program.output.includes('linux/'));
    expect(await transferByDig(port, 'example', 'AXFR')).toEqual([]);
    const server = { address: '127.0.0.1', port };
    expect((await ask(server, 'example.', 'AXFR')).header.rcode).toBe(5);
    expect((await ask(server, 'example.', 'AXFR', { transport: 'tcp' })).header.rcode).toBe(5);
    expect((await ask(server, 'h1.example.', 'A')).header.rcode).toBe(0);
  });
});

describeWithTool('knotd', 'Knot as the secondary server', () => {
  it('is notified, and gets the zone and its next version', async () => {
    const knotPort = await findFreePort();
    const { port, start, file } = await serve(`transfer {\n to 127.0.0.1:${knotPort}\n }`, zone(7, 1000));
    await runKnot({ 'example.': '' }, onTestFinished, { peer: { kind: 'primary', port }, port: knotPort });
    const untilSerial = serials(knotPort, 'example.');
    const knot = { address: '127.0.0.1', port: knotPort };
    // Knot runs before there is a primary server, and retries only after minutes: the NOTIFY wakes it.
    await untilSerial(0);
    const program = start();
    await waitUntil('the banner', () => program.output.includes('linux/'));
    await untilSerial(7);
    expect((await ask(knot, 'h999.example.', 'A')).answers.map(presentRecord)).toEqual([
      'h999.example. 60 IN A 10.0.3.231',
    ]);
    await writeFile(file, zone(8, 1001));
    await untilSerial(8);
    expect((await ask(knot, 'h1000.example.', 'A')).answers).toHaveLength(1);
    expect(program.output).not.toContain('was not accepted');
  });

  it('is notified of changes of a cluster', async () => {
    const service = (name: string, clusterIP: string): KubernetesObject => ({
      kind: 'Service',
      metadata: { name, namespace: 'shop' },
      spec: { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80 }] },
    });
    const namespace = { kind: 'Namespace', metadata: { name: 'shop' } };
    const double = await ApiServerDouble.start({ objects: [namespace, service('cart', '10.96.0.10')] });
    onTestFinished(() => double.stop());
    const port = await findFreePort();
    const knotPort = await findFreePort();
    await runKnot({ 'cluster.local.': '' }, onTestFinished, {
      peer: { kind: 'primary', port },
      port: knotPort,
    });
    const folder = await makeTemporaryFolder();
    const conf = await folder.write(
      'Corefile',
      `cluster.local {\n bind 127.0.0.1\n kubernetes {\n endpoint ${double.url}\n }\n transfer {\n to 127.0.0.1:${knotPort}\n }\n}\n`,
    );
    const untilSerial = serials(knotPort, 'cluster.local.');
    // Knot knows that its primary server is away before it gets a NOTIFY.
    await untilSerial(0);
    const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
    const first = await untilSerial((serial) => serial > 0);
    const knot = { address: '127.0.0.1', port: knotPort };
    const addresses = async (name: string) =>
      (await ask(knot, `${name}.shop.svc.cluster.local.`, 'A')).answers.map(presentRecord);
    expect(await addresses('cart')).toEqual(['cart.shop.svc.cluster.local. 5 IN A 10.96.0.10']);
    double.put(service('desk', '10.96.0.11'));
    await untilSerial((serial) => serial > first);
    expect(await addresses('desk')).toEqual(['desk.shop.svc.cluster.local. 5 IN A 10.96.0.11']);
    expect(program.output).not.toContain('was not accepted');
  });
});

describeWithTool('knotd', 'Knot as the primary server', () => {
  it('gives the zone, and its changes after a NOTIFY', async () => {
    const port = await findFreePort();
    const metricsPort = await findFreePort();
    const knot = await runKnot({ 'example.': zone(7, 1000) }, onTestFinished, {
      peer: { kind: 'secondary', port },
    });
    const folder = await makeTemporaryFolder();
    const corefile = (more: string) =>
      `example {\n bind 127.0.0.1\n secondary {\n transfer from 127.0.0.1:${knot.port}\n }\n transfer {\n to *\n }\n ${more}\n}\n`;
    const conf = await folder.write('Corefile', corefile(`prometheus 127.0.0.1:${metricsPort}`));
    const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
    const untilSaid = (line: string) => waitUntil(line, () => program.output.includes(line));
    await untilSaid(`[INFO] plugin/file: Transferred: example. from 127.0.0.1:${knot.port}`);
    const server = { address: '127.0.0.1', port };
    const serial = async () => {
      const data = (await ask(server, 'example.', 'SOA')).answers[0]?.data;
      return data?.kind === 'SOA' ? data.serial : undefined;
    };
    expect(await serial()).toBe(7);
    expect((await ask(server, 'h999.example.', 'A')).answers.map(presentRecord)).toEqual([
      'h999.example. 60 IN A 10.0.3.231',
    ]);
    expect((await ask(server, 'nosuch.example.', 'A')).header).toMatchObject({
      rcode: 3,
      authoritative: true,
    });

    const { length } = program.output;
    await knot.change('example.', zone(8, 900));
    await waitUntil('the change', () => program.output.slice(length).includes('Transferred: example.'));
    expect(program.output).toContain('plugin/file: Notify from 127.0.0.1 for example.: checking transfer');
    expect(await serial()).toBe(8);
    expect((await ask(server, 'h999.example.', 'A')).header.rcode).toBe(3);
    // What we pass on is what Knot has.
    const ours = await transferByDig(port, 'example', 'AXFR');
    expect(ours.toSorted()).toEqual((await transferByDig(knot.port, 'example', 'AXFR')).toSorted());

    // A change of the Corefile keeps the zone, also while the primary server is away.
    await knot.stop();
    await writeFile(conf, corefile('whoami'));
    program.signal('SIGUSR1');
    await untilSaid('Reloading complete');
    expect(await serial()).toBe(8);
  });
});
