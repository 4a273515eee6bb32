/**
 * Keys of etcd with words that are special in JavaScript, and keys that are not records, among good ones: in each role that reads
 * keys, while it runs and at its start.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { PROPERTY_NAMES } from '@portolan/kernel/base/testing/property-names.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { type EtcdCluster, startEtcd } from './etcd-server.ts';

afterEach(endAllPrograms);

interface Reading {
  readonly program: Program;
  readonly ask: (name: string) => Promise<string>;
  readonly metrics: () => Promise<string>;
}

const ROLES = { coredns: startCoreDns, skydns: startSkyDns } as const;

async function startCoreDns(etcd: EtcdCluster): Promise<Reading> {
  const port = await findFreePort();
  const metricsPort = await findFreePort();
  const conf = join((await makeTemporaryFolder()).path, 'Corefile');
  await writeFile(
    conf,
    `skydns.test:${port} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metricsPort}\n etcd {\n  path /skydns\n  endpoint ${etcd.first.url}\n }\n}\n`,
  );
  return makeReading(runPortolan(['coredns', '-conf', conf]), port, metricsPort);
}

async function startSkyDns(etcd: EtcdCluster): Promise<Reading> {
  const port = await findFreePort();
  const metricsPort = await findFreePort();
  const program = runPortolan(
    [
      'skydns',
      '-etcd3',
      '-machines',
      etcd.first.url,
      '-addr',
      `127.0.0.1:${port}`,
      '-domain',
      'skydns.test.',
      '-nameservers',
      '127.0.0.1:9',
      '-stubzones',
    ],
    { environment: { PROMETHEUS_PORT: String(metricsPort) } },
  );
  return makeReading(program, port, metricsPort);
}

function makeReading(program: Program, port: number, metricsPort: number): Reading {
  return {
    program,
    ask: (name) =>
      askShort({ address: '127.0.0.1', port }, `${name}.skydns.test.`, 'A').catch(() => 'no answer'),
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
  };
}

const toEtcdKey = (name: string) => Buffer.from(`/skydns/test/skydns/${name}`);

function makeWriter(etcd: EtcdCluster) {
  const client = new EtcdClient(etcd.settings, systemClock);
  onTestFinished(() => client.close());
  const transact = (operation: Parameters<EtcdClient['transact']>[0]['operations'][number]) =>
    client.transact({ conditions: [], operations: [operation] });
  return {
    put: (name: string, value: string) =>
      transact({ kind: 'put', key: toEtcdKey(name), value: Buffer.from(value) }),
    putConfig: (value: string) =>
      transact({ kind: 'put', key: Buffer.from('/skydns/config'), value: Buffer.from(value) }),
    remove: (name: string) => transact({ kind: 'delete', key: toEtcdKey(name) }),
  };
}

/** One key whose value has all words as fields, one for each word as the name, one that is no record. */
async function putForeignWords(put: (name: string, value: string) => Promise<unknown>): Promise<void> {
  const fields = PROPERTY_NAMES.map((word) => `${JSON.stringify(word)}:1`).join();
  await put('fields', `{"host":"10.0.0.2",${fields}}`);
  for (const word of PROPERTY_NAMES) await put(`words/${word}`, `{"host":"10.0.0.3"}`);
  await put('bad/a', 'no record');
  await put('bad/b', '{"host":"10.0.0.4"}');
}

/** How often a key is named in what the program has said. */
const countNamed = ({ program }: Reading, key: Buffer) =>
  (program.output + program.errors).split(String(key)).length - 1;

const rejected = /portolan_rejected_items_total\{source="etcd",reason="malformed"\} (\d+)/;
const countRejected = async ({ metrics }: Reading) => Number(rejected.exec(await metrics())?.[1]);

async function expectServed(reading: Reading, put: (name: string, value: string) => Promise<unknown>) {
  const { ask } = reading;
  await expect.poll(() => ask('fields'), { timeout: 10_000 }).toBe('10.0.0.2');
  await expect.poll(() => ask('constructor.words')).toBe('10.0.0.3');
  expect(await ask('good')).toBe('10.0.0.1');
  await expect.poll(() => countRejected(reading)).toBe(1);
  expect(countNamed(reading, toEtcdKey('bad/a'))).toBe(1);
  // What comes after them is followed.
  await put('later', '{"host":"10.0.0.5"}');
  await expect.poll(() => ask('later')).toBe('10.0.0.5');
}

describeWithTool('etcd', 'words of JavaScript in keys and values of etcd', () => {
  it.each(['coredns', 'skydns'] as const)(
    'stop nothing, in %s: they are served, and what is no record is counted and named once',
    async (role) => {
      const etcd = await startEtcd();
      const { put, remove } = makeWriter(etcd);
      await put('good', '{"host":"10.0.0.1"}');
      const running = await ROLES[role](etcd);
      await expect.poll(() => running.ask('good'), { timeout: 20_000 }).toBe('10.0.0.1');
      await putForeignWords(put);
      await expectServed(running, put);
      await remove('later');
      const fresh = await ROLES[role](etcd);
      await expect.poll(() => fresh.ask('good'), { timeout: 20_000 }).toBe('10.0.0.1');
      await expectServed(fresh, put);
      // Where one bad value hides its name, its removal shows the others.
      await remove('bad/a');
      for (const each of [running, fresh]) {
        await expect.poll(() => each.ask('bad')).toBe('10.0.0.4');
        expect(await each.metrics()).toMatch(/portolan_etcd_keys\{[^}]*state="bad"\} 0/);
      }
    },
    60_000,
  );

  it('are ignored in the configuration of SkyDNS, and so are stub zones with malformed servers', async () => {
    const etcd = await startEtcd();
    const { put, putConfig } = makeWriter(etcd);
    await put('good', '{"host":"10.0.0.1"}');
    await put('dns/stub/ext.example/x', '{"host":"127.0.0.1","port":99999}');
    const fields = PROPERTY_NAMES.map((word) => `${JSON.stringify(word)}:1`).join();
    await putConfig(`{${fields}}`);
    const running = await startSkyDns(etcd);
    await expect.poll(() => running.ask('good'), { timeout: 20_000 }).toBe('10.0.0.1');
    await expect.poll(() => countRejected(running)).toBe(1);
    expect(countNamed(running, Buffer.from('not a port: 99999'))).toBe(1);
    await put('later', '{"host":"10.0.0.5"}');
    await expect.poll(() => running.ask('later')).toBe('10.0.0.5');
  }, 60_000);
});
