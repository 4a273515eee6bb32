/**
 * A source that goes wrong does not take the names away: in each role, with the API server, zone files, transfers and etcd as sources.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeMessage } from '@portolan/dns/message.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import { exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { formatSocketName, runToEnd, serveCorefile } from '../support/control.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { HOST, type RunningRole, startClusterRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const COUNT = 40;
const NO_UPSTREAM = 9;
const numbers = Array.from({ length: COUNT }, (_, index) => index);

interface Place {
  readonly address: string;
  readonly port: number;
}

/** The address in the answer, or its response code; with its extended errors. */
async function ask(place: Place, name: string): Promise<string> {
  const edns = { udpSize: DEFAULT_UDP_SIZE, version: 0, extendedRcode: 0, dnssecOk: false, options: [] };
  const query = { ...makeQuery(name, 'A'), edns };
  const { answers, header, edns: own } = decodeMessage(await exchange(place, query));
  const [address] = answers.flatMap(({ data }) => (data.kind === 'A' ? data.address : []));
  const codes = (own?.options ?? []).filter(({ code }) => code === 15).map(({ data }) => data[1]);
  return [address ?? rcodeName(header.rcode), ...codes].join(' ');
}

/** Asks until the answer is this one. A server that starts may not answer yet. @param until what may be answered until then */
async function untilAnswer(place: Place, name: string, answer: string, until = /^/): Promise<void> {
  const isAnswered = async () => {
    const now = await ask(place, name).catch(String);
    if (now !== answer) expect(now).toMatch(until);
    return now === answer;
  };
  await waitUntil(`${answer} for ${name}`, isAnswered, { deadline: 60_000 });
}

async function control(program: Program, role: string, ...words: readonly string[]): Promise<unknown> {
  const socket = `--socket=${formatSocketName(program, role)}`;
  const { text, errors } = await runToEnd('control', socket, '--output=json', ...words);
  expect(errors).toBe('');
  return JSON.parse(text.split('\n')[0] ?? '');
}

const makeAddress = (number: number) => `10.96.1.${number + 1}`;
const makeName = (number: number) => `s${number}.default.svc.cluster.local`;
const objects = (from: readonly number[]) => [
  namespace('default'),
  ...from.map((number) => service(`s${number}`, makeAddress(number))),
  ...from.map((number) => slice(`s${number}-1`, `s${number}`)),
];

/** How the API server goes wrong. */
const FAULTS: ReadonlyMap<string, (double: ApiServerDouble) => void> = new Map([
  [
    'an empty list',
    (double: ApiServerDouble) => {
      double.replaceStore([], 5_000);
      double.resetWatches();
      double.compact();
    },
  ],
  [
    'a list that is cut',
    (double: ApiServerDouble) => {
      double.replaceStore(objects([0]), 5_000);
      double.resetWatches();
      double.compact();
    },
  ],
  [
    'a backup whose resource versions go back',
    (double: ApiServerDouble) => {
      double.replaceStore(objects([0]), 10);
      double.resetWatches();
    },
  ],
]);

describe.each(['serve', 'kube-dns', 'coredns'] as const)('%s', (role) => {
  async function start(): Promise<{ readonly running: RunningRole; readonly double: ApiServerDouble }> {
    const double = await ApiServerDouble.start({ objects: objects(numbers) });
    onTestFinished(() => double.stop());
    const running = await startClusterRole(role, { upstream: NO_UPSTREAM, api: double.url });
    await untilAnswer(running, makeName(COUNT - 1), makeAddress(COUNT - 1));
    return { running, double };
  }

  it.each([...FAULTS.keys()])('answers on after %s, and says so', async (fault) => {
    const { running, double } = await start();
    FAULTS.get(fault)?.(double);
    await untilAnswer(running, makeName(7), `${makeAddress(7)} 3`);
    // Nobody has got a denial, and what the API server has is not stale. Names are marked a part at a time.
    const untilNow = async (number: number, answer: string) =>
      await untilAnswer(running, makeName(number), answer, /^10\./);
    for (const number of numbers.slice(1)) await untilNow(number, `${makeAddress(number)} 3`);
    if (fault !== 'an empty list') await untilNow(0, makeAddress(0));
    const doctor = JSON.stringify(await control(running.program, role, 'doctor', 'watch=0s'));
    expect(doctor).toMatch(/"kind":"names-lost".*"subject":"services of cluster.local."/);
    expect(doctor).toContain('portolan control accept');
    expect(await control(running.program, role, 'accept')).toMatchObject({
      sources: expect.arrayContaining([{ source: 'services of cluster.local.', names: expect.any(Number) }]),
    });
    await untilAnswer(running, makeName(7), 'NXDOMAIN');
  });

  it('takes single deletions at once, and the names again that come back', async () => {
    const { running, double } = await start();
    double.delete('Service', 's3', 'default');
    await untilAnswer(running, makeName(3), 'NXDOMAIN');
    double.replaceStore([], 5_000);
    double.resetWatches();
    double.compact();
    await untilAnswer(running, makeName(7), `${makeAddress(7)} 3`);
    double.put(service('s7', makeAddress(8)));
    await untilAnswer(running, makeName(7), makeAddress(8));
    expect(await ask(running, makeName(3))).toBe('NXDOMAIN');
  });

  it('keeps all names when it may not list any more', async () => {
    const { running, double } = await start();
    double.access = { rules: {} };
    const { length } = double.requests;
    double.resetWatches();
    await waitUntil('a refusal', () => double.requests.slice(length).some(({ status }) => status === 403));
    expect(await ask(running, makeName(7))).toBe(makeAddress(7));
  });
});

const zoneText = (serial: number, from: readonly number[]) =>
  [
    '$TTL 60',
    `@ IN SOA ns hostmaster ${serial} 1 1 100 60`,
    ...from.map((number) => `h${number} IN A ${makeAddress(number)}`),
    '',
  ].join('\n');

describe('coredns', () => {
  it.each(['file', 'auto'])('answers on after a zone of %s is cut', async (plugin) => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'db.zone.test');
    writeFileSync(file, zoneText(1, numbers));
    const lines =
      plugin === 'file'
        ? `file ${file} {\n reload 100ms\n }`
        : `auto {\n directory ${path} db\\.(.*) {1}\n reload 100ms\n }`;
    const { program, port } = await serveCorefile(` errors\n ${lines}`, 'zone.test');
    const place = { address: HOST, port };
    expect(await ask(place, 'h7.zone.test')).toBe(makeAddress(7));
    writeFileSync(file, zoneText(2, numbers.slice(1)));
    await untilAnswer(place, 'h0.zone.test', 'NXDOMAIN');
    writeFileSync(file, zoneText(3, []));
    await untilAnswer(place, 'h7.zone.test', `${makeAddress(7)} 3`);
    expect(await ask(place, 'h0.zone.test')).toBe('NXDOMAIN');
    expect(await control(program, 'coredns', 'accept')).toMatchObject({ removed: COUNT - 1 });
    await untilAnswer(place, 'h7.zone.test', 'NXDOMAIN');
  });

  it.each(['cut short by the connection', 'short and whole'])(
    'answers on after a transfer %s',
    async (how) => {
      const state = { serial: 1, isCut: false };
      const name = parseName('ns.zone.test.');
      const times = { refresh: 1, retry: 1, expire: 1000, minimum: 60 };
      const soa = () =>
        record('zone.test.', { kind: 'SOA', primary: name, mailbox: name, serial: state.serial, ...times });
      const hosts = numbers.map((number) =>
        record(`h${number}.zone.test.`, { kind: 'A', address: makeAddress(number) }),
      );
      const primary = await LoopbackUpstream.start(({ query, send, connection }) => {
        const type = query.questions[0]?.type;
        if (type === TYPE.SOA) return send(reply(query, { answers: [soa()] }));
        if (type !== TYPE.AXFR)
          return send(reply(query, { header: { ...query.header, response: true, rcode: 4 } }));
        if (!state.isCut) return send(reply(query, { answers: [soa(), ...hosts, soa()] }));
        if (how === 'short and whole') return send(reply(query, { answers: [soa(), soa()] }));
        send(reply(query, { answers: [soa(), ...hosts.slice(0, 1)] }));
        connection?.end();
      });
      onTestFinished(() => primary.stop());
      const lines = ` errors\n secondary {\n transfer from ${HOST}:${primary.port}\n }`;
      const { port } = await serveCorefile(lines, 'zone.test');
      const place = { address: HOST, port };
      await untilAnswer(place, 'h7.zone.test', makeAddress(7));
      state.isCut = true;
      state.serial = 2;
      const { length } = primary.queries;
      await waitUntil('a transfer', () =>
        primary.queries.slice(length).some(({ query }) => query.questions[0]?.type === TYPE.AXFR),
      );
      if (how === 'short and whole') await untilAnswer(place, 'h7.zone.test', `${makeAddress(7)} 3`);
      else expect(await ask(place, 'h7.zone.test')).toBe(makeAddress(7));
    },
  );

  it.each(['sudden_loss off', 'sudden_loss names=100'])('empties the answers with %s', async (feature) => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'db');
    writeFileSync(file, zoneText(1, numbers));
    const lines = ` errors\n portolan {\n ${feature}\n }\n file ${file} {\n reload 100ms\n }`;
    const { port } = await serveCorefile(lines, 'zone.test');
    const place = { address: HOST, port };
    expect(await ask(place, 'h7.zone.test')).toBe(makeAddress(7));
    writeFileSync(file, zoneText(2, []));
    await untilAnswer(place, 'h7.zone.test', 'NXDOMAIN');
  });
});

itWithTool('etcd', 'skydns answers on after etcd is emptied', async () => {
  const etcd = await startEtcd();
  for (const number of numbers)
    await etcd.control('put', `/skydns/test/h${number}`, JSON.stringify({ host: makeAddress(number) }));
  const port = await findFreePort();
  const program = runPortolan([
    'skydns',
    '-etcd3',
    '-machines',
    etcd.first.url,
    '-addr',
    `${HOST}:${port}`,
    '-domain',
    'test.',
    '-nameservers',
    `${HOST}:${NO_UPSTREAM}`,
  ]);
  const place = { address: HOST, port };
  await untilAnswer(place, 'h7.test', makeAddress(7));
  await etcd.control('del', '--prefix', '/skydns/');
  await waitUntil('the loss', () => /lost many names at once/.test(`${program.errors}${program.output}`));
  for (const number of numbers) expect(await ask(place, `h${number}.test`)).toBe(makeAddress(number));
  expect(await control(program, 'skydns', 'accept')).toMatchObject({ removed: COUNT });
  await untilAnswer(place, 'h7.test', 'NXDOMAIN');
});
