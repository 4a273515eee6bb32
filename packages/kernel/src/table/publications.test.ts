import { describe, expect, it } from 'vitest';
import { TableReader } from './reader.ts';
import { addressNode, cachedAddress, node, query, settings, showAll, wire } from './testing/table-answers.ts';
import { type AskRule, DEFAULT_PUBLICATION, DEFAULT_VIEW, VERDICT, type ViewSettings } from './types.ts';
import { TableWriter } from './writer.ts';

const NOW = 1_800_000_000_000;
const PLAIN: ViewSettings = {
  publications: [DEFAULT_PUBLICATION],
  askRules: [],
  recursionAvailable: false,
  rotatesAddresses: true,
};

function makeTable() {
  const table = new TableWriter({ readers: 1, reservation: 2 ** 22, cacheOctets: 2 ** 16 });
  const reader = new TableReader(table.memory, 0);
  reader.setTime(NOW);
  /** The address in the answer, or the table's other verdict. */
  const ask = (name: string, view = DEFAULT_VIEW, type = 'A'): string => {
    const { packet, length } = query(name, type);
    // A listener group for each view.
    table.showViews(Array.from({ length: view + 1 }, () => showAll(view)));
    const end = reader.answer(packet, 0, length, packet.length, 'udp', view);
    if (end === VERDICT.ASK) return 'ask';
    const rcode = (packet[3] ?? 0) & 15;
    if (rcode !== 0) return `rcode ${rcode}`;
    return packet[7] === 0 ? 'nodata' : packet.subarray(end - 4, end).join('.');
  };
  return { table, ask };
}

const finish = (steps: Iterator<void, void>): number => {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
};

describe('publications', () => {
  it('hold a name each, and are looked up in the order of the view', () => {
    const { table, ask } = makeTable();
    const cluster = table.defineZone(settings('cluster.local'));
    const hosts = table.definePublication();
    const hostsZone = table.defineZone(settings('.', { missing: 'next' }), hosts);
    table.put(node('cluster.local', cluster));
    table.put(addressNode('web.cluster.local', cluster, ['10.0.0.1']));
    table.put(addressNode('web.cluster.local', hostsZone, ['10.9.9.9']));
    table.changeView(DEFAULT_VIEW, { ...PLAIN, publications: [hosts, DEFAULT_PUBLICATION] });
    const other = table.defineView(PLAIN);
    expect([ask('web.cluster.local'), ask('web.cluster.local', other)]).toEqual(['10.9.9.9', '10.0.0.1']);
    expect(ask('x.web.cluster.local')).toBe('rcode 3');
    table.remove(wire('web.cluster.local'), hostsZone);
    expect(ask('web.cluster.local')).toBe('10.0.0.1');
    expect(table.find(wire('web.cluster.local'), hostsZone)).toBeUndefined();
  });

  it('leave types to the next one where a node says so', () => {
    const { table, ask } = makeTable();
    const cluster = table.defineZone(settings('.'));
    const hosts = table.definePublication();
    const hostsZone = table.defineZone(settings('.', { missing: 'next' }), hosts);
    table.put({ ...node('web', hostsZone), otherTypes: 'next' });
    table.changeView(DEFAULT_VIEW, { ...PLAIN, publications: [hosts, DEFAULT_PUBLICATION] });
    expect(ask('web')).toBe('ask');
    table.put(addressNode('web', cluster, ['10.0.0.1']));
    expect([ask('web'), ask('web', DEFAULT_VIEW, 'AAAA')]).toEqual(['10.0.0.1', 'nodata']);
  });

  it('go with all their nodes, in steps, and not while a view shows them', () => {
    const { table, ask } = makeTable();
    const hosts = table.definePublication();
    const zone = table.defineZone(settings('.', { missing: 'next' }), hosts);
    for (let index = 0; index < 6000; index++) table.put(addressNode(`n${index}`, zone, ['10.0.0.1']));
    const view = table.defineView({ ...PLAIN, publications: [hosts] });
    expect(() => table.dropPublication(hosts).next()).toThrow(/still shown by view/);
    expect(ask('n7', view)).toBe('10.0.0.1');
    table.changeView(view, { ...PLAIN, publications: [] });
    expect(finish(table.dropPublication(hosts))).toBeGreaterThan(1);
    expect(table.statistics()).toMatchObject({ nodes: 0, nodeOctets: 0 });
    expect(() => table.defineZone(settings('.'), hosts)).toThrow(RangeError);
  });

  it('and zones have no small limit', () => {
    const { table, ask } = makeTable();
    const zones = Array.from({ length: 300 }, (_, index) => {
      const publication = index % 3 === 0 ? table.definePublication() : DEFAULT_PUBLICATION;
      const zone = table.defineZone(settings(`z${index}`), publication);
      table.put(node(`z${index}`, zone));
      return publication;
    });
    table.changeView(DEFAULT_VIEW, { ...PLAIN, publications: [...new Set(zones)] });
    expect(zones.map((_, index) => ask(`x.z${index}`)).every((said) => said === 'rcode 3')).toBe(true);
    expect(ask('x.z300')).toBe('ask');
  });
});

describe('views', () => {
  it('cache answers apart, and forget them when asked to', () => {
    const { table, ask } = makeTable();
    const other = table.defineView(PLAIN);
    table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), NOW);
    table.cache(cachedAddress('www.example.com', '192.0.2.2', 60), NOW, other);
    expect([ask('www.example.com'), ask('www.example.com', other)]).toEqual(['192.0.2.1', '192.0.2.2']);
    expect([...table.cachedEntries()].map(({ view }) => view).toSorted()).toEqual([DEFAULT_VIEW, other]);
    for (const view of [DEFAULT_VIEW, other])
      expect(table.scanCached(0, 10, () => true, view).found.map((entry) => entry.view)).toEqual([view]);
    table.changeView(DEFAULT_VIEW, { ...PLAIN, recursionAvailable: true });
    expect(ask('www.example.com')).toBe('192.0.2.1');
    table.changeView(DEFAULT_VIEW, PLAIN, false);
    expect([ask('www.example.com'), ask('www.example.com', other)]).toEqual(['ask', '192.0.2.2']);
    table.removeView(other);
    expect([...table.cachedEntries()]).toEqual([]);
  });

  it('give addresses as they are stored where they do not rotate them', () => {
    const { table, ask } = makeTable();
    const zone = table.defineZone(settings('.'));
    table.put(addressNode('web', zone, ['10.0.0.1', '10.0.0.2', '10.0.0.3']));
    table.changeView(DEFAULT_VIEW, { ...PLAIN, rotatesAddresses: false });
    expect(new Set(Array.from({ length: 50 }, () => ask('web')))).toEqual(new Set(['10.0.0.3']));
  });

  it('ask the chain by name and type, before any node, unless an answer is cached', () => {
    const { table, ask } = makeTable();
    const zone = table.defineZone(settings('example'));
    for (const name of ['example', 'a.example', 'b.a.example', 'c.example'])
      table.put(addressNode(name, zone, ['10.0.0.1']));
    const askRules: AskRule[] = [
      { name: { kind: 'suffix', name: wire('a.example') }, types: 'all' },
      { name: { kind: 'exact', name: wire('example') }, types: new Set([1]) },
      { name: { kind: 'any' }, types: new Set([28]) },
    ];
    table.changeView(DEFAULT_VIEW, { ...PLAIN, askRules });
    const said = ['a.example', 'b.a.example', 'c.example', 'example', 'x.example'].map((name) => ask(name));
    expect(said).toEqual(['ask', 'ask', '10.0.0.1', 'ask', 'rcode 3']);
    expect([ask('c.example', DEFAULT_VIEW, 'AAAA'), ask('c.example', DEFAULT_VIEW, 'MX')]).toEqual([
      'ask',
      'nodata',
    ]);
    table.cache(cachedAddress('b.a.example', '192.0.2.1', 60), NOW);
    expect(ask('b.a.example')).toBe('192.0.2.1');
  });
});
