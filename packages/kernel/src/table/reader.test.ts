import { extendedError, passedErrors } from '@portolan/dns/extended-error.ts';
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import { decode, type Packet } from 'dns-packet';
import { beforeEach, describe, expect, it } from 'vitest';
import { TableReader } from './reader.ts';

import {
  addressBody,
  addressNode,
  cachedAddress,
  node,
  query,
  settings,
  wire,
} from './testing/table-answers.ts';
import { DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS, type NameNode, VERDICT, type ZoneId } from './types.ts';
import { TableWriter } from './writer.ts';

let table: TableWriter;
let reader: TableReader;
let zone: ZoneId;

const OPT = (udpPayloadSize: number, flags = 0): Partial<Packet> => ({
  additionals: [
    { type: 'OPT', name: '.', udpPayloadSize, flags, ednsVersion: 0, extendedRcode: 0, options: [] } as never,
  ],
});

function verdict(
  name: string,
  type: string,
  changes: Partial<Packet> = {},
  transport: ClientTransport = 'udp',
): number {
  const { packet, length } = query(name, type, changes);
  return reader.answer(packet, 0, length, packet.length, transport);
}

function ask(name: string, type: string, changes: Partial<Packet> = {}, transport: ClientTransport = 'udp') {
  const { packet, length } = query(name, type, changes);
  const size = reader.answer(packet, 0, length, packet.length, transport);
  expect(size).toBeGreaterThan(0);
  const decoded = decode(Buffer.from(packet.subarray(0, size)));
  // dns-packet sets these fields, but its types do not have them.
  return { ...(decoded as typeof decoded & { rcode: string; flag_aa: boolean; flag_tc: boolean }), size };
}

const put = (...nodes: NameNode[]): void => {
  for (const each of nodes) table.put(each);
};

beforeEach(() => {
  table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, cacheOctets: 64 * 1024 });
  reader = new TableReader(table.memory, 0);
  reader.setTime(1_000_000);
  zone = table.defineZone(settings('cluster.local'));
  put(node('cluster.local', zone), node('svc.cluster.local', zone), node('shop.svc.cluster.local', zone));
});

describe('a name node', () => {
  it('answers a stored type with the client’s id, RD and capitals', () => {
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    const answer = ask('CaRt.shop.svc.Cluster.local', 'A');
    expect(answer).toMatchObject({ id: 4711, rcode: 'NOERROR', flag_aa: true, flag_tc: false });
    expect(answer.flags).toBe(0x500 /* AA, RD */);
    expect(answer.questions?.[0]?.name).toBe('CaRt.shop.svc.Cluster.local');
    expect(answer.answers).toMatchObject([
      { name: 'CaRt.shop.svc.Cluster.local', type: 'A', ttl: 30, data: '10.96.0.1' },
    ]);
  });

  it('says NODATA with the SOA for a type it does not have', () => {
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    const answer = ask('cart.shop.svc.cluster.local', 'AAAA');
    expect(answer).toMatchObject({ rcode: 'NOERROR', flag_aa: true, answers: [] });
    expect(answer.authorities).toMatchObject([
      {
        name: 'cluster.local',
        type: 'SOA',
        ttl: 30,
        data: { mname: 'ns.dns.cluster.local', rname: 'hostmaster.cluster.local', serial: 7, minimum: 30 },
      },
    ]);
  });

  it('says NXDOMAIN below a complete closest encloser, however deep', () => {
    for (const name of ['absent.shop', 'www.google.com.shop', 'absent', `${'a.'.repeat(60)}shop`]) {
      expect(ask(`${name}.svc.cluster.local`, 'A')).toMatchObject({ rcode: 'NXDOMAIN', flag_aa: true });
    }
    expect(ask('absent.cluster.local', 'A').authorities?.[0]?.name).toBe('cluster.local');
  });

  it('asks the chain at the depth that a node is marked for, and only there', () => {
    put(node('pod.cluster.local', zone, { below: { kind: 'ask', labels: 2 } }));
    expect(verdict('1-2-3-4.shop.pod.cluster.local', 'A')).toBe(VERDICT.ASK);
    expect(ask('shop.pod.cluster.local', 'A').rcode).toBe('NXDOMAIN');
    expect(ask('x.y.z.pod.cluster.local', 'A').rcode).toBe('NXDOMAIN');
    put(node('pod.cluster.local', zone, { below: { kind: 'ask', labels: 0 } }));
    expect(verdict('x.y.z.pod.cluster.local', 'A')).toBe(VERDICT.ASK);
  });

  it('asks the chain for other types where a node says so, and for names of no zone', () => {
    put(
      node('ext.shop.svc.cluster.local', zone, {
        otherTypes: 'ask',
        answers: new Map([[5, addressBody(['1.2.3.4'])]]),
      }),
    );
    expect(verdict('ext.shop.svc.cluster.local', 'A')).toBe(VERDICT.ASK);
    expect(verdict('www.example.com', 'A')).toBe(VERDICT.ASK);
    expect(verdict('local', 'A')).toBe(VERDICT.ASK);
    expect(verdict('.', 'NS')).toBe(VERDICT.ASK);
  });

  it('gives known answers and SERVFAIL for all else while the zone is not known', () => {
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    table.changeZone(zone, settings('cluster.local', { known: false }));
    expect(ask('cart.shop.svc.cluster.local', 'A').rcode).toBe('NOERROR');
    expect(ask('cart.shop.svc.cluster.local', 'AAAA')).toMatchObject({ rcode: 'SERVFAIL', authorities: [] });
    expect(ask('other.shop.svc.cluster.local', 'A').rcode).toBe('SERVFAIL');
    table.changeZone(zone, settings('cluster.local'));
    expect(ask('other.shop.svc.cluster.local', 'A').rcode).toBe('NXDOMAIN');
  });

  it('sends missing names with a label * to the chain where the zone has wildcards', () => {
    expect(ask('*.shop.svc.cluster.local', 'A').rcode).toBe('NXDOMAIN');
    table.changeZone(zone, settings('cluster.local', { askWildcards: true, authoritativeNxdomain: false }));
    expect(verdict('*.shop.svc.cluster.local', 'A')).toBe(VERDICT.ASK);
    expect(verdict('x.*.svc.cluster.local', 'A')).toBe(VERDICT.ASK);
    expect(ask('**.shop.svc.cluster.local', 'A')).toMatchObject({ rcode: 'NXDOMAIN', flag_aa: false });
  });

  const inClass = (dnsClass: 'CH' | 'HS', type = 'A'): Partial<Packet> => ({
    questions: [{ name: 'cluster.local', type: type as 'A', class: dnsClass }],
  });

  it('leaves meta types and other classes to the chain, unless the view has them refused', () => {
    expect(verdict('cluster.local', 'ANY')).toBe(VERDICT.ASK);
    expect(verdict('cluster.local', 'AXFR')).toBe(VERDICT.ASK);
    expect(verdict('cluster.local', 'A', inClass('CH'))).toBe(VERDICT.ASK);
    const view = { ...table.viewSettings(DEFAULT_VIEW), recursionAvailable: true };
    table.changeView(DEFAULT_VIEW, { ...view, otherQuestions: 'refused-but-chaos' });
    expect(ask('cluster.local', 'AXFR', OPT(4096))).toMatchObject({
      rcode: 'REFUSED',
      flags: 0x180 | 5,
      questions: [{ name: 'cluster.local', type: 'AXFR' }],
      additionals: [{ type: 'OPT' }],
    });
    expect(ask('cluster.local', 'TKEY').rcode).toBe('NOTIMP');
    expect(ask('cluster.local', 'A', inClass('HS')).rcode).toBe('REFUSED');
    expect(verdict('cluster.local', 'TXT', inClass('CH', 'TXT'))).toBe(VERDICT.ASK);
    table.changeView(DEFAULT_VIEW, { ...view, otherQuestions: 'refused' });
    expect(ask('cluster.local', 'TXT', inClass('CH', 'TXT')).rcode).toBe('REFUSED');
  });

  it('answers ANY as its zone says', () => {
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    table.changeZone(zone, settings('cluster.local', { any: 'minimal' }));
    expect(ask('cart.shop.svc.cluster.local', 'ANY', OPT(4096))).toMatchObject({
      flag_aa: true,
      answers: [
        { type: 'HINFO', name: 'cart.shop.svc.cluster.local', ttl: 8482, data: { cpu: 'RFC8482', os: '' } },
      ],
      additionals: [{ type: 'OPT' }],
    });
    expect(ask('absent.shop.svc.cluster.local', 'ANY').rcode).toBe('NXDOMAIN');
    table.changeZone(zone, settings('cluster.local', { any: 'refused' }));
    for (const name of ['cart.shop.svc.cluster.local', 'absent.shop.svc.cluster.local'])
      expect(ask(name, 'ANY')).toMatchObject({ rcode: 'REFUSED', answers: [] });
    expect(verdict('example.com', 'ANY')).toBe(VERDICT.ASK);
  });

  it('passes over records that are not OPT', () => {
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    const additionals: Packet['additionals'] = [{ type: 'A', name: 'x', data: '1.2.3.4' }];
    expect(ask('cart.shop.svc.cluster.local', 'A', { additionals })).toMatchObject({
      answers: [{ data: '10.96.0.1' }],
      additionals: [],
    });
    const withOpt = [...additionals, ...(OPT(4096, 0x8000).additionals ?? [])];
    expect(ask('cart.shop.svc.cluster.local', 'A', { additionals: withOpt })).toMatchObject({
      answers: [{ data: '10.96.0.1' }],
      additionals: [{ type: 'OPT', udpPayloadSize: 1232, flags: 0x8000 }],
    });
  });

  it('says FORMERR for octets behind the last record and BADVERS for another EDNS, each with OPT', () => {
    const { packet, length } = query('cluster.local', 'A', OPT(4096));
    const behind = reader.answer(packet, 0, length + 1, packet.length, 'udp');
    expect(decode(Buffer.from(packet.subarray(0, behind)))).toMatchObject({
      rcode: 'FORMERR',
      questions: [{ name: 'cluster.local' }],
      additionals: [{ type: 'OPT', udpPayloadSize: 1232 }],
    });
    const other = query('cluster.local', 'A', OPT(4096));
    // The version, after owner, type, class and the extended response code.
    other.packet[other.length - 11 + 6] = 1;
    const refused = reader.answer(other.packet, 0, other.length, other.packet.length, 'udp');
    expect(decode(Buffer.from(other.packet.subarray(0, refused)))).toMatchObject({
      rcode: 'NOERROR',
      additionals: [{ type: 'OPT', extendedRcode: 1, ednsVersion: 0 }],
    });
  });
});

describe('replacing and removing', () => {
  it('shows the new answer to the next query and keeps an equal node as it stands', () => {
    const first = table.put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    expect(table.put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']))).toBe(first);
    expect(table.put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.2']))).not.toBe(first);
    expect(ask('cart.shop.svc.cluster.local', 'A').answers).toMatchObject([{ data: '10.96.0.2' }]);
    expect(table.remove(wire('cart.shop.svc.cluster.local'))).toBe(true);
    expect(table.remove(wire('cart.shop.svc.cluster.local'))).toBe(false);
    expect(ask('cart.shop.svc.cluster.local', 'A').rcode).toBe('NXDOMAIN');
  });

  it('gives memory back, but not while a reader is in a batch', () => {
    const fill = (turn: number) =>
      put(addressNode('cart.shop.svc.cluster.local', zone, [`10.0.0.${turn % 250}`]));
    for (let turn = 0; turn < 2000; turn++) fill(turn);
    const before = table.statistics().touchedOctets;
    for (let turn = 0; turn < 20_000; turn++) fill(turn);
    expect(table.statistics().touchedOctets).toBe(before);
    reader.enter();
    for (let turn = 0; turn < 20_000; turn++) fill(turn);
    expect(table.statistics().touchedOctets).toBeGreaterThan(before);
    reader.leave();
    table.collect();
    table.collect();
    expect(table.statistics().awaitingReaders).toBe(0);
  });

  it('frees what a dead reader was looking at', () => {
    reader.enter();
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.0.0.1']));
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.0.0.2']));
    table.collect();
    expect(table.statistics().awaitingReaders).toBeGreaterThan(0);
    table.readerDied(0);
    table.collect();
    expect(table.statistics().awaitingReaders).toBe(0);
  });

  it('grows its index past thousands of names and keeps every one', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `s${index}.shop.svc.cluster.local`);
    for (const [index, name] of names.entries())
      put(addressNode(name, zone, [`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`]));
    for (const name of names) expect(verdict(name, 'A')).toBe(name.length + 2 + 16 + 16);
    for (const name of names.slice(0, 19_000)) table.remove(wire(name));
    for (const name of names.slice(19_000)) expect(verdict(name, 'A')).toBe(name.length + 2 + 16 + 16);
    expect(ask('s7.shop.svc.cluster.local', 'A').rcode).toBe('NXDOMAIN');
  });
});

describe('the shape of responses', () => {
  const addresses = Array.from({ length: 100 }, (_, index) => `10.1.0.${index}`);
  const data = (answer: ReturnType<typeof ask>) =>
    answer.answers?.map((each) => ('data' in each ? each.data : '')) ?? [];

  it('adds OPT only where the client sent it, with DO repeated', () => {
    put(addressNode('cart.shop.svc.cluster.local', zone, ['10.96.0.1']));
    expect(ask('cart.shop.svc.cluster.local', 'A').additionals).toEqual([]);
    const withOpt = ask('cart.shop.svc.cluster.local', 'A', OPT(4096, 0x8000));
    expect(withOpt.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, flags: 0x8000 }]);
    expect(ask('absent.shop.svc.cluster.local', 'A', OPT(4096)).additionals).toMatchObject([
      { type: 'OPT', flags: 0 },
    ]);
  });

  it('cuts at a record boundary with TC: 512 octets, the client’s size, ours', () => {
    put(addressNode('many.shop.svc.cluster.local', zone, addresses));
    const plain = ask('many.shop.svc.cluster.local', 'A');
    expect(plain).toMatchObject({ flag_tc: true });
    expect(plain.size).toBeLessThanOrEqual(512);
    expect(plain.answers).toHaveLength(Math.floor((512 - 45) / 16));
    expect(ask('many.shop.svc.cluster.local', 'A', OPT(700)).size).toBeLessThanOrEqual(700);
    expect(ask('many.shop.svc.cluster.local', 'A', OPT(100)).answers?.length).toBeGreaterThan(25);
    expect(ask('many.shop.svc.cluster.local', 'A', OPT(4096)).size).toBeGreaterThan(1200);
    expect(ask('many.shop.svc.cluster.local', 'A', OPT(4096)).size).toBeLessThanOrEqual(1232);
    const whole = ask('many.shop.svc.cluster.local', 'A', {}, 'tcp');
    expect(whole).toMatchObject({ flag_tc: false });
    expect(new Set(data(whole))).toEqual(new Set(addresses));
  });

  it('drops additional records without TC', () => {
    const body = addressBody(addresses.slice(0, 30));
    const split = { ...body, answerCount: 2, additionalCount: 28, rotation: undefined };
    put(node('srv.shop.svc.cluster.local', zone, { answers: new Map([[33, split]]) }));
    const { packet, length } = query('srv.shop.svc.cluster.local', 'SRV');
    const size = reader.answer(packet, 0, length, packet.length, 'udp');
    expect(size).toBeLessThanOrEqual(512);
    expect((packet[2] ?? 0) & 2).toBe(0);
    expect([packet[7], packet[11]]).toEqual([2, Math.floor((512 - length) / 16) - 2]);
  });

  it('cuts what TCP cannot carry without TC, and over time shows every address', () => {
    const most = Array.from({ length: 5000 }, (_, index) => `10.2.${index >> 8}.${index & 255}`);
    put(addressNode('huge.shop.svc.cluster.local', zone, most));
    const seen = new Set<unknown>();
    for (let turn = 0; turn < 40; turn++) {
      const answer = ask('huge.shop.svc.cluster.local', 'A', {}, 'tcp');
      expect(answer).toMatchObject({ flag_tc: false });
      expect(answer.size).toBeLessThanOrEqual(65_535);
      for (const each of data(answer)) seen.add(each);
    }
    expect(seen.size).toBe(5000);
  });

  it('rotates address sets: every address comes first at times, none is lost', () => {
    put(addressNode('few.shop.svc.cluster.local', zone, ['10.0.0.1', '10.0.0.2', '10.0.0.3']));
    const first = new Map<unknown, number>();
    for (let turn = 0; turn < 300; turn++) {
      const all = data(ask('few.shop.svc.cluster.local', 'A'));
      expect(new Set(all).size).toBe(3);
      first.set(all[0], (first.get(all[0]) ?? 0) + 1);
    }
    for (const count of first.values()) expect(count).toBeGreaterThan(50);
    expect(first.size).toBe(3);
  });
});

describe('cached answers', () => {
  const now = 1_000_000_000;
  beforeEach(() => reader.setTime(now));

  it('count their TTL down and end at their time', () => {
    expect(table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), now)).toBe(true);
    expect(ask('www.example.com', 'A')).toMatchObject({ flags: 0x180 /* RD, RA */, answers: [{ ttl: 60 }] });
    reader.setTime(now + 41_000);
    expect(ask('WWW.example.com', 'A').answers).toMatchObject([{ ttl: 19, data: '192.0.2.1' }]);
    reader.setTime(now + 60_000);
    expect(verdict('www.example.com', 'A')).toBe(VERDICT.ASK);
  });

  it('leave questions to the chain that a rule wants each time', () => {
    table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), now);
    table.cache(cachedAddress('www.example.org', '192.0.2.1', 60), now);
    const name = { kind: 'suffix', name: wire('example.com') } as const;
    const rule = { name, types: new Set([1]) };
    table.changeView(DEFAULT_VIEW, { ...DEFAULT_VIEW_SETTINGS, askRules: [rule] });
    expect(verdict('www.example.com', 'A')).not.toBe(VERDICT.ASK);
    table.changeView(DEFAULT_VIEW, { ...DEFAULT_VIEW_SETTINGS, askRules: [{ ...rule, always: true }] });
    expect(verdict('www.example.com', 'A')).toBe(VERDICT.ASK);
    expect(verdict('www.example.org', 'A')).not.toBe(VERDICT.ASK);
  });

  it('are kept apart by type, DO and CD', () => {
    table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), now);
    expect(verdict('www.example.com', 'AAAA')).toBe(VERDICT.ASK);
    expect(verdict('www.example.com', 'A', OPT(1232, 0x8000))).toBe(VERDICT.ASK);
    expect(verdict('www.example.com', 'A', { flags: 0x110 })).toBe(VERDICT.ASK);
    table.cache({ ...cachedAddress('www.example.com', '192.0.2.9', 60), dnssecOk: true }, now);
    expect(ask('www.example.com', 'A', OPT(1232, 0x8000)).answers).toMatchObject([{ data: '192.0.2.9' }]);
    expect(ask('www.example.com', 'A').answers).toMatchObject([{ data: '192.0.2.1' }]);
  });

  it('are replaced in place and dropped by domain', () => {
    table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), now);
    table.cache(cachedAddress('www.example.com', '192.0.2.2', 60), now);
    table.cache(cachedAddress('example.com', '192.0.2.3', 60), now);
    table.cache(cachedAddress('notexample.com', '192.0.2.4', 60), now);
    expect(ask('www.example.com', 'A').answers).toMatchObject([{ data: '192.0.2.2' }]);
    expect(table.statistics().cached).toBe(3);
    expect(table.dropCachedWithin(wire('example.com'))).toBe(2);
    expect(verdict('www.example.com', 'A')).toBe(VERDICT.ASK);
    expect(ask('notexample.com', 'A').answers).toHaveLength(1);
    expect(table.dropCachedWithin(wire('.'))).toBe(1);
    expect(table.statistics()).toMatchObject({ cached: 0, cachedOctets: 0 });
  });

  it('stay within their octets, and those in use outlive the others', () => {
    for (let index = 0; index < 20_000; index++) {
      table.cache(cachedAddress(`n${index}.example.com`, '192.0.2.1', 600), now);
      if (index % 50 === 0) table.cache(cachedAddress('hot.example.com', '192.0.2.7', 600), now);
      if (index % 10 === 0) expect(ask('hot.example.com', 'A').answers).toHaveLength(1);
    }
    const statistics = table.statistics();
    expect(statistics.cachedOctets).toBeLessThanOrEqual(64 * 1024);
    expect(statistics.cachedOctets).toBeGreaterThan(48 * 1024);
    expect(statistics.evictions).toBeGreaterThan(19_000);
    expect(statistics.insertions).toBe(20_400);
  });

  it('touch no more memory than they need, and stay though others are replaced again and again', () => {
    table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, cacheOctets: 32 * 2 ** 20 });
    reader = new TableReader(table.memory, 0);
    reader.setTime(now);
    const { touchedOctets } = table.statistics();
    for (let index = 0; index < 1000; index++)
      table.cache(cachedAddress(`cold${index}.example.com`, '192.0.2.1', 600), now);
    for (let turn = 0; turn < 60_000; turn++) {
      // A reader leaves its batch now and then.
      if (turn % 100 === 0) reader.enter();
      table.cache(cachedAddress(`hot${turn % 50}.example.com`, `192.0.2.${turn % 200}`, 600), now);
      if (turn % 100 === 50) reader.leave();
    }
    expect(table.statistics()).toMatchObject({ cached: 1050, evictions: 0, refusals: 0 });
    // It has stored some 7 MiB.
    expect(table.statistics().touchedOctets - touchedOctets).toBeLessThan(2 ** 20);
    for (let index = 0; index < 1000; index++)
      expect(ask(`cold${index}.example.com`, 'A').answers).toMatchObject([{ data: '192.0.2.1' }]);
    expect(ask('hot0.example.com', 'A').answers).toMatchObject([{ data: '192.0.2.150' }]);
  });

  it('have as much memory as the last limit says', () => {
    const fill = () => {
      for (let index = 0; index < 2000; index++)
        table.cache(cachedAddress(`n${index}.example.com`, '192.0.2.1', 600), now);
      return table.statistics().cachedOctets;
    };
    table.resizeCache(2 ** 18);
    expect(fill()).toBeGreaterThan(2 ** 17);
    expect(table.statistics().cached).toBe(2000);
    table.resizeCache(2 ** 16);
    expect(fill()).toBeLessThanOrEqual(2 ** 16);
    table.resizeCache(0);
    expect(table.cache(cachedAddress('n.example.com', '192.0.2.1', 600), now)).toBe(false);
  });

  it('keep a popular answer by its recency alone', () => {
    table.cache(cachedAddress('hot.example.com', '192.0.2.7', 600), now);
    for (let index = 0; index < 20_000; index++) {
      table.cache(cachedAddress(`n${index}.example.com`, '192.0.2.1', 600), now);
      if (index % 20 === 0) expect(verdict('hot.example.com', 'A')).toBeGreaterThan(0);
    }
  });

  it('are not kept for questions without RD', () => {
    table.cache(cachedAddress('hot.example.com', '192.0.2.7', 600), now);
    const asked = query('hot.example.com', 'A', { flags: 0 });
    expect(reader.answer(asked.packet, 0, asked.length, asked.packet.length, 'udp')).toBeGreaterThan(0);
    expect([...table.cachedEntries()].map(({ used }) => used)).toEqual([false]);
    expect(verdict('hot.example.com', 'A')).toBeGreaterThan(0);
    expect([...table.cachedEntries()].map(({ used }) => used)).toEqual([true]);
  });

  it('stay popular when the index is rebuilt', () => {
    table.cache(cachedAddress('hot.example.com', '192.0.2.7', 600), now);
    expect(verdict('hot.example.com', 'A')).toBeGreaterThan(0);
    const { indexSlots } = table.statistics();
    const answers = Array.from({ length: 6_000 }, (_, index) => `n${index}.shop.svc.cluster.local`);
    for (const name of answers) put(node(name, zone));
    expect(table.statistics().indexSlots).toBeGreaterThan(indexSlots);
    expect([...table.cachedEntries()].map(({ used }) => used)).toEqual([true]);
  });

  it('obey a limit of entries, and 0 caches nothing', () => {
    table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, cacheEntries: 10 });
    for (let index = 0; index < 100; index++)
      expect(table.cache(cachedAddress(`n${index}.example.com`, '192.0.2.1', 600), now)).toBe(true);
    expect(table.statistics()).toMatchObject({ cached: 10, evictions: 90 });
    table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, cacheEntries: 0 });
    expect(table.cache(cachedAddress('n.example.com', '192.0.2.1', 600), now)).toBe(false);
  });

  it('can be read back as they were put, expired or not', () => {
    const answer = cachedAddress('www.example.com', '192.0.2.1', 60);
    table.cache(answer, now);
    const expires = now / 1000 + 60;
    const entry = {
      ...answer,
      view: DEFAULT_VIEW,
      stored: now / 1000,
      expires,
      freshUntil: expires,
      used: false,
      storedAt: now,
    };
    expect(table.readCached(answer)).toEqual(entry);
    expect(table.readCached({ ...answer, dnssecOk: true })).toBeUndefined();
    expect(verdict('www.example.com', 'A')).toBeGreaterThan(0);
    expect([...table.cachedEntries()]).toEqual([{ ...entry, used: true }]);
  });

  it('remember when a stale one was fresh', () => {
    const freshUntil = now / 1000 - 100;
    const answer = { ...cachedAddress('www.example.com', '192.0.2.1', 5), freshUntil };
    table.cache(answer, now);
    expect(table.readCached(answer)).toMatchObject({ freshUntil, expires: now / 1000 + 5 });
    expect(verdict('www.example.com', 'A')).toBeGreaterThan(0);
  });

  it('have the extended errors of their upstream server, behind our own, as far as they fit', () => {
    const errors = passedErrors([extendedError(9, 'no DS'), extendedError(22)]);
    const shown = table.defineView({ ...DEFAULT_VIEW_SETTINGS, sendsExtendedErrors: true });
    const zones = [{ zone: wire(''), view: shown }];
    table.showViews([{ prefixes: [], others: { kind: 'views', zones } }]);
    const freshUntil = now / 1000 - 100;
    const answer = {
      ...cachedAddress('www.example.com', '192.0.2.1', 60),
      freshUntil,
      passedErrors: errors,
    };
    table.cache(answer, now, shown);
    expect(table.readCached(answer, shown)?.passedErrors).toEqual(Uint8Array.from(errors));
    const listOptions = (found: ReturnType<typeof ask>) =>
      found.additionals?.flatMap((record) => (record.type === 'OPT' ? record.options : []));
    const told = ask('www.example.com', 'A', OPT(1232));
    expect(listOptions(told)).toMatchObject([
      { code: 15, data: Buffer.of(0, 3) },
      { code: 15, data: Buffer.from('\0\x09no DS') },
      { code: 15, data: Buffer.of(0, 22) },
    ]);
    expect(told.answers).toMatchObject([{ data: '192.0.2.1' }]);
    const { packet, length } = query('www.example.com', 'A', OPT(1232));
    // There is room for our own, and for the first one.
    const size = reader.answer(packet, 0, length, told.size - 1, 'udp');
    const whole = decode(Buffer.from(packet.subarray(0, size)));
    expect(listOptions({ ...told, ...whole })).toHaveLength(2);
    expect(ask('www.example.com', 'A').additionals).toEqual([]);
  });

  it('can be dropped one by one', () => {
    const [one, other] = [
      cachedAddress('a.example.com', '192.0.2.1', 60),
      cachedAddress('b.example.com', '192.0.2.2', 60),
    ];
    table.cache(one, now);
    table.cache(other, now);
    expect([table.dropCached(one), table.dropCached(one)]).toEqual([true, false]);
    expect(verdict('a.example.com', 'A')).toBe(VERDICT.ASK);
    expect(verdict('b.example.com', 'A')).toBeGreaterThan(0);
    expect(table.statistics()).toMatchObject({ cached: 1 });
  });

  it('are looked through in parts, and only those that were used since they were stored', () => {
    for (let index = 0; index < 100; index++)
      table.cache(cachedAddress(`n${index}.example.com`, '192.0.2.1', 60 + index), now);
    for (let index = 0; index < 50; index++) verdict(`n${index}.example.com`, 'A');
    // Stored again, and not queried since.
    table.cache(cachedAddress('n7.example.com', '192.0.2.1', 67), now);
    const lifetimes: number[] = [];
    let calls = 0;
    for (let next = -1; next !== 0; calls++) {
      const part = table.scanCached(Math.max(next, 0), 30, (stored, expires) => expires - stored < 70);
      lifetimes.push(...part.found.map(({ lifetime }) => lifetime));
      next = part.next;
    }
    expect(lifetimes).toEqual([60, 61, 62, 63, 64, 65, 66, 68, 69]);
    expect(calls).toBe(4);
  });

  it('are refused, never written over, while a reader stays in its batch', () => {
    reader.enter();
    let stored = 0;
    for (let index = 0; index < 5000; index++) {
      if (table.cache(cachedAddress(`n${index}.example.com`, '192.0.2.1', 600), now)) stored++;
    }
    expect(stored).toBeLessThan(1000);
    reader.leave();
    expect(table.cache(cachedAddress('last.example.com', '192.0.2.1', 600), now)).toBe(true);
  });
});
