/**
 * Equal questions by two paths age alike: those that readers answer, and those that go to the handler chain, where the plugin `cache`
 * keeps answers. After a change of the cluster no way of asking shows the former state.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import type { Edns, Message } from '@portolan/dns/types.ts';
import { type AskOptions, exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { startClusterRole } from '../support/roles.ts';

afterEach(endAllPrograms);

const PLAIN: Edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] };
const withOption = (code: number, ...data: readonly number[]): Edns => ({
  ...PLAIN,
  options: [{ code, data: Uint8Array.from(data) }],
});

interface Way extends Pick<AskOptions, 'transport'> {
  readonly edns?: Edns;
  readonly flags?: Partial<Message['header']>;
}

const WAYS: Readonly<Record<string, Way>> = {
  plain: {},
  'with EDNS': { edns: PLAIN },
  'with a cookie': { edns: withOption(10, 1, 2, 3, 4, 5, 6, 7, 8) },
  'with NSID': { edns: withOption(3) },
  'with a client subnet': { edns: withOption(8, 0, 1, 24, 0, 192, 0, 2) },
  'with an unknown option': { edns: withOption(65_001, 1) },
  'with DO': { edns: { ...PLAIN, dnssecOk: true } },
  'with CD': { flags: { checkingDisabled: true } },
  'with AD': { flags: { authenticData: true } },
  'without RD': { flags: { recursionDesired: false } },
  'over TCP': { transport: 'tcp' },
  'over TCP with DO': { transport: 'tcp', edns: { ...PLAIN, dnssecOk: true } },
};

/** The address and the TTL that it answers with. */
async function askBy({ edns, flags, transport = 'udp' }: Way, server: DnsServer): Promise<string> {
  const query = makeQuery('web.default.svc.cluster.local', 'A');
  const asked = { ...query, header: { ...query.header, ...flags }, edns };
  const { answers } = decodeMessage(await exchange(server, asked, { transport }));
  return answers.map(({ data, ttl }) => (data.kind === 'A' ? `${data.address} ${ttl}` : data.kind)).join();
}

async function askByAll(server: DnsServer): Promise<Readonly<Record<string, string>>> {
  const found: [string, string][] = [];
  for (const [name, way] of Object.entries(WAYS)) found.push([name, await askBy(way, server)]);
  return Object.fromEntries(found);
}

const repeatForWays = (answer: string) => Object.fromEntries(Object.keys(WAYS).map((name) => [name, answer]));

it.each([
  ['serve', 30],
  ['kube-dns', 30],
  ['coredns', 5],
] as const)(
  '%s',
  async (role, ttl) => {
    const before = service('web', '10.96.0.10');
    const double = await ApiServerDouble.start({ objects: [namespace('default'), before] });
    onTestFinished(() => double.stop());
    const upstream = await LoopbackUpstream.start(() => {});
    onTestFinished(() => upstream.stop());
    const server = await startClusterRole(role, { upstream: upstream.port, api: double.url });
    const until = async (answer: string) =>
      await vi.waitFor(async () => expect(await askBy({}, server)).toBe(answer), {
        timeout: 30_000,
        interval: 20,
      });
    await until(`10.96.0.10 ${ttl}`);
    // The first time it may be stored, and the second time it may come from there.
    for (let turn = 0; turn < 2; turn += 1)
      expect(await askByAll(server)).toEqual(repeatForWays(`10.96.0.10 ${ttl}`));
    double.put(service('web', '10.96.0.11'));
    await until(`10.96.0.11 ${ttl}`);
    expect(await askByAll(server)).toEqual(repeatForWays(`10.96.0.11 ${ttl}`));
  },
  60_000,
);
