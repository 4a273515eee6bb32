import { parseAddress } from '@portolan/dns/address.ts';
import { fitsServiceParameter } from '@portolan/dns/service-binding-records.ts';
import type { RecordData } from '@portolan/dns/types.ts';
import { type Message, TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAppProtocol } from '../names/app-protocol.ts';
import type { EndpointsObject, ServiceObject, ServicePort } from '../objects/objects.ts';
import { AskableCluster, question } from '../plugins/kubernetes/testing/askable-cluster.ts';
import { ADDRESSES } from '../testing/arbitrary-objects.ts';

const NAME = 'web.blue.svc.cluster.local.';
const NUMBERS = [53, 80, 443, 8080, 8443];

const appProtocol = fc
  .tuple(
    fc.constantFrom(
      undefined,
      'https',
      'https',
      'https',
      'https',
      'HTTPS',
      'kubernetes.io/wss',
      'http',
      'kubernetes.io/h2c',
      'kubernetes.io/ws',
      'mysql',
    ),
    fc.constantFrom(undefined, 'h2', 'h2,h3', 'h3, h2', 'h3', 'none', 'http/1.1', ''),
  )
  .map(([text, alpn]) => parseAppProtocol(text, alpn));
const port: fc.Arbitrary<ServicePort> = fc
  .record({
    name: fc.constantFrom('', 'web', 'https', 'quic'),
    protocol: fc.constantFrom('TCP', 'TCP', 'TCP', 'UDP', 'SCTP'),
    port: fc.constantFrom(...NUMBERS, 443, 443, 8443, 8443),
    appProtocol,
  })
  .map(({ appProtocol: said, ...rest }) => ({ ...rest, ...(said !== undefined && { appProtocol: said }) }));
const ports = fc.array(port, { minLength: 1, maxLength: 3 });
const address = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('clusterIPs'),
      addresses: fc.array(fc.constantFrom(...ADDRESSES), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('headless') }) },
  fc.record({ kind: fc.constant('externalName'), name: fc.constantFrom('www.example.com', '192.0.2.7') }),
);
const setting = fc.record({
  address,
  ports,
  ends: fc.array(
    fc.record({ address: fc.constantFrom(...ADDRESSES), ports: fc.option(ports, { nil: undefined }) }),
    { maxLength: 3 },
  ),
  target: fc.constantFrom(undefined, undefined, undefined, 'www.example.com'),
  filtered: fc.constantFrom([], [], [], [TYPE.A], [TYPE.AAAA], [TYPE.HTTPS]),
  isOn: fc.constantFrom(true, true, true, true, false),
});

type Binding = Extract<RecordData, { kind: 'HTTPS' | 'SVCB' }>;

const bindingsIn = ({ answers }: Message): readonly Binding[] =>
  answers.flatMap(({ data }) => (data.kind === 'HTTPS' || data.kind === 'SVCB' ? [data] : []));

function addressesIn({ answers }: Message): readonly string[] {
  const found = answers.flatMap(({ data }) => ('address' in data ? (parseAddress(data.address) ?? []) : []));
  return found.map((octets) => Buffer.from(octets).toString('hex')).sort();
}

const findValue = ({ parameters }: Binding, key: number): Buffer | undefined => {
  const value = parameters.find((parameter) => parameter.key === key)?.value;
  return value === undefined ? undefined : Buffer.from(value);
};

function splitHints(binding: Binding, key: number, octets: number): readonly string[] {
  const text = findValue(binding, key)?.toString('hex') ?? '';
  return (text.match(new RegExp(`.{${octets * 2}}`, 'g')) ?? []).toSorted();
}

describe.each(['coredns', 'kube-dns'] as const)('%s: HTTPS records of random services', (dialect) => {
  it('are given for ports with TLS only, with the addresses that A and AAAA give, alike by readers and chain', async () => {
    let records = 0;
    let above = 0;
    let byReaders = 0;
    await fc.assert(
      fc.asyncProperty(setting, async ({ address: own, ports: list, ends, target, filtered, isOn }) => {
        const service: ServiceObject = {
          kind: 'Service',
          namespace: 'blue',
          name: 'web',
          address: own,
          ports: list,
        };
        const slices = ends.map(({ address: end, ports: of = list }, index): EndpointsObject => {
          const targets = target === undefined || index > 0 ? [] : [{ target, hostname: undefined }];
          const group = { addresses: [{ address: end, hostname: undefined }], ports: of, targets };
          return {
            kind: 'Endpoints',
            namespace: 'blue',
            name: `web-${index}`,
            service: 'web',
            groups: [group],
          };
        });
        const filteredTypes = new Set<number>(filtered);
        const cluster = new AskableCluster(dialect, { hasHttpsRecords: isOn, filteredTypes });
        cluster.list([service, ...slices]);
        const ask = async (name: string, type: number): Promise<Message> => {
          const byChain = await cluster.askChain(question(name, type));
          const byTable = cluster.askTable(question(name, type));
          if (byTable !== undefined) {
            byReaders += bindingsIn(byTable).length;
            expect({ ...byTable, answers: byTable.answers.toSorted(byText) }, `${name} ${type}`).toEqual({
              ...byChain,
              answers: byChain.answers.toSorted(byText),
            });
          }
          return byChain;
        };
        const hints = async (binding: Binding) => {
          const found = [...splitHints(binding, 4, 4), ...splitHints(binding, 6, 16)].toSorted();
          const ipv4 = await ask(NAME, TYPE.A);
          const ipv6 = await ask(NAME, TYPE.AAAA);
          const all = [...addressesIn(ipv4), ...addressesIn(ipv6)].toSorted();
          expect(found).toEqual(own.kind === 'clusterIPs' ? all : []);
        };
        const mayUse = (number: number) => {
          const tcp = list.filter((each) => each.protocol === 'TCP' && each.port === number);
          expect(tcp.length).toBeGreaterThan(0);
          for (const each of tcp) expect(each.appProtocol?.kind).toBe('https');
        };
        const check = async (binding: Binding, number: number) => {
          records += 1;
          expect(isOn).toBe(true);
          expect(binding.priority).toBe(1);
          expect(binding.parameters.every(fitsServiceParameter)).toBe(true);
          const keys = binding.parameters.map(({ key }) => key);
          expect(keys).toEqual(keys.toSorted((one, other) => one - other));
          mayUse(number);
          if (findValue(binding, 1)?.includes('h3') === true)
            expect(list).toContainEqual(expect.objectContaining({ protocol: 'UDP', port: number }));
          // Slices may give the same endpoint some of its ports each.
          for (const end of own.kind === 'headless' ? ends : [])
            expect(
              ends.flatMap((each) => (each.address === end.address ? (each.ports ?? list) : [])),
            ).toContainEqual(expect.objectContaining({ protocol: 'TCP', port: number }));
          await hints(binding);
        };
        expect(own.kind === 'externalName' ? bindingsIn(await ask(NAME, TYPE.HTTPS)) : []).toEqual([]);
        for (const binding of bindingsIn(await ask(NAME, TYPE.HTTPS))) {
          above += 1;
          expect(binding.target).toBe('.');
          const plain = list.filter((each) => each.protocol === 'TCP' && each.appProtocol?.kind !== 'https');
          expect(
            plain.filter(
              ({ port: number, appProtocol: said }) => number === 80 || number === 443 || said !== undefined,
            ),
          ).toEqual([]);
          await check(binding, findValue(binding, 3)?.readUInt16BE(0) ?? 443);
        }
        for (const number of NUMBERS)
          for (const binding of bindingsIn(await ask(`_${number}._https.${NAME}`, TYPE.HTTPS))) {
            expect(binding.target).toBe(NAME);
            expect(findValue(binding, 3)).toBeUndefined();
            await check(binding, number);
          }
        for (const name of [
          '_https.',
          '_0443._https.',
          '_x._https.',
          '443.https.',
          'https.',
          'x.',
          '_web._tcp.',
          'x._443._https.',
        ])
          for (const type of [TYPE.HTTPS, TYPE.SVCB, TYPE.A])
            expect(bindingsIn(await ask(`${name}${NAME}`, type))).toEqual([]);
        expect(bindingsIn(await ask(NAME, TYPE.SVCB))).toEqual([]);
        // RFC 8020: a name with a name below it exists.
        const below = await Promise.all(NUMBERS.map((number) => ask(`_${number}._https.${NAME}`, TYPE.A)));
        const exists = below.some(({ header }) => header.rcode === 0);
        expect((await ask(`_https.${NAME}`, TYPE.A)).header.rcode).toBe(exists ? 0 : 3);
      }),
      { numRuns: 200 },
    );
    expect(records).toBeGreaterThan(30);
    expect(above).toBeGreaterThan(10);
    expect(byReaders).toBeGreaterThan(records / 2);
  });
});

const byText = (one: object, other: object): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
