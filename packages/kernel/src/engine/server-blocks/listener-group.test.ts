import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Edns, type Message, OPCODE, RCODE } from '@portolan/dns/types.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { describe, expect, it } from 'vitest';
import { RecordingLog } from '../../base/testing/recording-log.ts';
import type { Client, Query } from '../../chain/query.ts';
import { toCoreDnsForm } from '../../chain/response-form.ts';
import { SOA } from '../../chain/testing/queries.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import { ListenerGroup, type ListenerGroupOptions } from './listener-group.ts';

const CLIENT: Client = { address: '192.0.2.1', port: 4711, transport: 'udp' };
const TYPE_DS = 43;

/** A group whose zones answer with their own name as a CNAME of the question. */
function makeGroup(zones: readonly string[], options: Partial<ListenerGroupOptions> = {}) {
  const sites = zones.map((zone) => ({
    zone: toKey(parseName(zone)),
    view: '',
    accepts: () => true,
    chain: ({ question }: Query) =>
      ({
        kind: 'records',
        records: [
          {
            ...question,
            ttl: 1,
            data: { kind: 'CNAME' as const, target: parseName(zone === '.' ? 'chosen.' : `chosen.${zone}`) },
          },
        ],
        additionals: [],
        authoritative: true,
      }) as const,
  }));
  const log = new RecordingLog();
  return new ListenerGroup({
    server: 'dns://:53',
    sites,
    form: toCoreDnsForm('none'),
    servesOtherClasses: false,
    log,
    ...options,
  });
}

async function exchange(group: ListenerGroup, query: Message): Promise<Message> {
  const response = await group.handleQuery(encodeMessage(query), CLIENT);
  if (response === undefined) throw new Error('no response');
  return decodeMessage(response);
}

async function chosen(group: ListenerGroup, name: string, type = 1): Promise<string> {
  const query = makeQuery(name, 'A');
  const questions = [{ name: parseName(name), type, class: CLASS.IN }];
  const { answers, header } = await exchange(group, { ...query, questions });
  const data = answers[0]?.data;
  return data?.kind === 'CNAME' ? toKey(data.target).replace('chosen.', '') || '.' : `rcode ${header.rcode}`;
}

describe('the choice of a block', () => {
  it('takes the longest zone', async () => {
    const group = makeGroup(['org.', 'a.example.org.', 'example.org.']);
    expect(await chosen(group, 'x.A.Example.org.')).toBe('a.example.org.');
    expect(await chosen(group, 'b.example.org.')).toBe('example.org.');
    expect(await chosen(group, 'bexample.org.')).toBe('org.');
    expect(await chosen(group, 'net.')).toBe(`rcode ${RCODE.REFUSED}`);
  });

  it('sends DS to the shortest zone, and to the root only if there is no other', async () => {
    const group = makeGroup(['.', 'org.', 'example.org.']);
    expect(await chosen(group, 'sub.example.org.', TYPE_DS)).toBe('org.');
    expect(await chosen(group, 'net.', TYPE_DS)).toBe('.');
    expect(await chosen(makeGroup(['.', 'example.org.']), 'example.org.', TYPE_DS)).toBe('example.org.');
  });

  it('takes the first block that accepts, else one of the parent zone', async () => {
    const all = makeGroup(['example.org.', 'org.']);
    expect(await chosen(all, 'example.org.')).toBe('example.org.');
    const zones = ['example.org.', 'org.'];
    const sites = zones.map((zone) => ({
      zone: toKey(parseName(zone)),
      view: '',
      accepts: () => zone === 'org.',
      chain: () => ({ kind: 'notimp' }) as const,
    }));
    expect(await chosen(makeGroup([], { sites }), 'example.org.')).toBe(`rcode ${RCODE.NOTIMP}`);
  });

  it('refuses other classes, unless a block is there for them', async () => {
    const query = makeQuery('example.org.', 'TXT');
    const questions = query.questions.map((question) => ({ ...question, class: CLASS.CH }));
    const { header } = await exchange(makeGroup(['org.']), { ...query, questions });
    expect(header.rcode).toBe(RCODE.REFUSED);
    const open = makeGroup(['org.'], { servesOtherClasses: true });
    expect((await exchange(open, { ...query, questions })).header.rcode).toBe(RCODE.NOERROR);
  });
});

describe('the response', () => {
  const edns: Edns = {
    version: 0,
    udpSize: 1400,
    dnssecOk: true,
    extendedRcode: 0,
    options: [
      { code: 10, data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
      { code: 8, data: Uint8Array.of(0, 1, 0, 0) },
    ],
  };

  it("repeats the client's OPT record with the options that are known", async () => {
    const response = await exchange(makeGroup(['.']), { ...makeQuery('a.', 'A'), edns });
    expect(response.edns).toEqual({ ...edns, options: edns.options.slice(0, 1) });
    expect(response.header.recursionAvailable).toBe(false);
    expect((await exchange(makeGroup(['.']), makeQuery('a.', 'A'))).edns).toBeUndefined();
  });

  it('repeats the options that a handler speaks of, too', async () => {
    const chain = (query: Query) => {
      query.repeat({ optionCodes: new Set([8]) });
      return { kind: 'refused' } as const;
    };
    const group = makeGroup([], { sites: [{ zone: ROOT, chain, view: '', accepts: () => true }] });
    expect((await exchange(group, { ...makeQuery('a.', 'A'), edns })).edns).toEqual(edns);
  });

  it('is SERVFAIL when a handler throws', async () => {
    const log = new RecordingLog();
    const chain = () => {
      throw new Error('inside');
    };
    const sites = [{ zone: toKey(parseName('.')), view: '', accepts: () => true, chain }];
    const { header } = await exchange(makeGroup([], { sites, log }), makeQuery('a.', 'A'));
    expect(header.rcode).toBe(RCODE.SERVFAIL);
    expect(log.records).toMatchObject([{ level: 'error', message: 'internal error' }]);
  });
});

describe('a header that announces a question, and nothing behind it', () => {
  it('is answered SERVFAIL, and counts as outside all zones', async () => {
    const dropped: (readonly [string, number, number])[] = [];
    const onDropped: ListenerGroupOptions['onDropped'] = ({ site, type, rcode }, octets) =>
      dropped.push([`${site.server} ${site.zone} ${type} ${rcode}`, site.octets, octets]);
    const group = makeGroup(['.'], { onDropped });
    const header = Uint8Array.of(0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0);
    const response = await group.handleQuery(header, CLIENT);
    expect(response && decodeMessage(response)).toMatchObject({
      header: { id: 0x1234, rcode: RCODE.SERVFAIL },
      questions: [],
    });
    expect(dropped).toEqual([['dns://:53 dropped 0 2', 12, 12]]);
    // Without a question announced, it is malformed.
    const none = await group.handleQuery(
      header.map((octet, at) => (at === 5 ? 0 : octet)),
      CLIENT,
    );
    expect(none && decodeMessage(none).header.rcode).toBe(RCODE.FORMERR);
    expect(dropped).toHaveLength(1);
  });
});

describe('NOTIFY', () => {
  const notify = (name: string, answers: number): Message => {
    const query = makeQuery(name, 'SOA');
    const { header, questions } = query;
    const record = { name: parseName(name), class: CLASS.IN, ttl: 1, data: SOA.data };
    return {
      ...query,
      questions,
      header: { ...header, opcode: OPCODE.NOTIFY },
      answers: Array.from({ length: answers }, () => record),
    };
  };

  it('goes through the blocks like a query, with its SOA record', async () => {
    const seen: number[] = [];
    const chain = (query: Query) => {
      seen.push(query.answers.length);
      return { kind: 'servfail' } as const;
    };
    const sites = [{ zone: ROOT, view: '', accepts: () => true, chain }];
    const { header } = await exchange(makeGroup([], { sites }), notify('a.', 1));
    expect(header).toMatchObject({ opcode: OPCODE.NOTIFY, rcode: RCODE.SERVFAIL, recursionDesired: false });
    expect(seen).toEqual([1]);
  });

  it('with the flags of a server gets these', async () => {
    const chain = () => ({ ...EMPTY_ANSWER, recursionDesired: true });
    const sites = [{ zone: ROOT, view: '', accepts: () => true, chain }];
    expect((await exchange(makeGroup([], { sites }), notify('a.', 0))).header.recursionDesired).toBe(true);
  });

  it('that is malformed gets the response of a malformed query; other opcodes are not implemented', async () => {
    const { header } = await exchange(makeGroup(['.']), notify('a.', 2));
    expect(header).toMatchObject({ opcode: OPCODE.QUERY, rcode: RCODE.FORMERR });
    const update = notify('a.', 0);
    const changed = { ...update, header: { ...update.header, opcode: OPCODE.UPDATE } };
    expect((await exchange(makeGroup(['.']), changed)).header).toMatchObject({
      opcode: OPCODE.UPDATE,
      rcode: RCODE.NOTIMP,
    });
  });
});
