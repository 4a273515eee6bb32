import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import { DEFAULT_FORWARD_PLAN } from '@portolan/kernel/forward/forward-plan.ts';
import { writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { EVENT_MODE } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { observeHandlers } from '@portolan/server/chain-observer.ts';
import { completeLine } from '@portolan/server/observe/query-events/dnsmasq-lines.ts';
import { QueryLogConsumer } from '@portolan/server/observe/query-events/query-log-consumer.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { describe, expect, it } from 'vitest';
import { DnsmasqQueryLog } from './query-log.ts';
import { reportQueries } from './upstream-query-log.ts';

const CLIENT: Client = { address: '192.0.2.5', port: 4242, transport: 'udp' };

function makeResponse(query: Message, changes: Partial<Message> = {}): Message {
  return { ...query, header: { ...query.header, response: true }, ...changes };
}

const address = (name: string, text: string): ResourceRecord => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl: 60,
  data: { kind: 'A', address: text },
});

/** The log, with the rings that it is written from. */
function makeQueryLog(extent: 'plain' | 'extra') {
  const queryLog = new DnsmasqQueryLog({ extent, findHostsFile: () => undefined });
  const rings = new QueryEventRings(0);
  rings.setMode(EVENT_MODE.RESPONSES);
  queryLog.start((line, query) => rings.main.note(line, query));
  const said: string[] = [];
  const consumer = new QueryLogConsumer({
    sources: rings.all.map((memory) => ({ memory, lines: queryLog.lines })),
    settings: undefined,
    write: () => {},
    say: (lines) =>
      said.push(...lines.flatMap((line) => completeLine(line, queryLog.findHostsFile).split('\n'))),
    now: () => 0,
    random: () => 0,
  });
  const finish = (): readonly string[] => {
    consumer.finish();
    return said;
  };
  return { queryLog, rings, finish };
}

describe('--log-queries', () => {
  const query = makeQuery('www.example.', 'A');
  const target = parseName('www.example.');

  async function collectLines(
    known: Message | undefined,
    extent: 'plain' | 'extra' = 'plain',
    slow?: Message,
  ) {
    const { queryLog, rings, finish } = makeQueryLog(extent);
    const connect = reportQueries(
      () => ({
        ask: () => ({ overdue() {}, cancel() {} }),
        dropped: { strange: 0, otherQuestion: 0, otherCase: 0 },
        close() {},
      }),
      queryLog,
    );
    const handleQuery = async () => {
      const question = { name: target, type: TYPE.A, class: CLASS.IN };
      const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true };
      const transport = connect(
        parseUpstream('192.0.2.53'),
        '192.0.2.53',
        DEFAULT_FORWARD_PLAN,
        new ManualClock(),
      );
      transport.ask(writeQuery({ ...question, ...flags }, 1232), { replied() {}, heard() {}, failed() {} });
      return slow === undefined ? undefined : encodeMessage(slow);
    };
    const octets = encodeMessage(query);
    if (known === undefined) await observeHandlers(handleQuery, queryLog.observe, () => true)(octets, CLIENT);
    else
      rings.main.add(octets, encodeMessage(known), CLIENT, {
        received: rings.main.now(),
        source: 'table',
        transport: 'udp',
      });
    return finish();
  }

  it('tells what comes from the cache', async () => {
    const known = makeResponse(query, {
      answers: [
        { ...address('www.example.', ''), data: { kind: 'CNAME', target: parseName('w.example.') } },
        address('w.example.', '192.0.2.1'),
      ],
    });
    expect(await collectLines(known)).toEqual([
      'query[A] www.example from 192.0.2.5',
      'cached www.example is <CNAME>',
      'cached w.example is 192.0.2.1',
    ]);
  });

  it('tells what we know ourselves, with a number where it is asked for', async () => {
    const known = makeResponse(query, { answers: [address('www.example.', '192.0.2.1')] });
    const ours = { ...known, header: { ...known.header, authoritative: true } };
    expect(await collectLines(ours, 'extra')).toEqual([
      '1 192.0.2.5/4242 query[A] www.example from 192.0.2.5',
      '1 192.0.2.5/4242 config www.example is 192.0.2.1',
    ]);
  });

  it.each([
    [{}, 'reply www.example is NODATA-IPv4'],
    [{ rcode: RCODE.NXDOMAIN }, 'reply www.example is NXDOMAIN'],
    [{ rcode: RCODE.SERVFAIL }, 'reply error is SERVFAIL'],
  ])('tells whom it asks, and what they say: %j', async (header, line) => {
    const slow = makeResponse(query);
    expect(
      await collectLines(undefined, 'plain', { ...slow, header: { ...slow.header, ...header } }),
    ).toEqual(['query[A] www.example from 192.0.2.5', 'forwarded www.example to 192.0.2.53#53', line]);
  });

  it('shows texts and pointers of others', async () => {
    const data = { kind: 'TXT', strings: [Buffer.from('one'), Buffer.from('two')] } as const;
    const pointer = { kind: 'PTR', target } as const;
    const slow = makeResponse(query, {
      answers: [
        { ...address('t.example.', ''), data },
        { ...address('1.2.0.192.in-addr.arpa.', ''), data: pointer },
      ],
    });
    expect((await collectLines(undefined, 'plain', slow)).slice(2)).toEqual([
      'reply t.example is one',
      'reply t.example is two',
      'reply 192.0.2.1 is www.example',
    ]);
  });

  it('tells what readers answered by themselves, in the order of time', async () => {
    const { queryLog, rings, finish } = makeQueryLog('extra');
    const known = encodeMessage(makeResponse(query, { answers: [address('www.example.', '192.0.2.1')] }));
    const octets = encodeMessage(query);
    const later = { received: rings.main.now() + 60_000, source: 'table', transport: 'udp' } as const;
    rings.main.add(octets, known, { ...CLIENT, port: 2 }, later);
    rings.main.add(octets, known, { ...CLIENT, port: 1 }, { ...later, received: 1 });
    // Events of the chain are ignored here, because `observe` logs the handlers' answers.
    rings.main.add(octets, known, CLIENT, { ...later, source: 'chain' });
    const handleQuery = observeHandlers(
      async () => known,
      queryLog.observe,
      () => true,
    );
    expect(await handleQuery(octets, CLIENT)).toBe(known);
    expect(finish()).toEqual([
      '1 192.0.2.5/1 query[A] www.example from 192.0.2.5',
      '1 192.0.2.5/1 cached www.example is 192.0.2.1',
      '2 192.0.2.5/4242 query[A] www.example from 192.0.2.5',
      '2 192.0.2.5/4242 reply www.example is 192.0.2.1',
      '3 192.0.2.5/2 query[A] www.example from 192.0.2.5',
      '3 192.0.2.5/2 cached www.example is 192.0.2.1',
    ]);
  });

  it('says nothing of clients that get no answer', async () => {
    const { queryLog, finish } = makeQueryLog('plain');
    const handleQuery = observeHandlers(
      async () => encodeMessage(query),
      queryLog.observe,
      () => false,
    );
    expect(await handleQuery(encodeMessage(query), CLIENT)).toBeUndefined();
    expect(finish()).toEqual([]);
  });

  it('says nothing of what is no query', async () => {
    const { queryLog, finish } = makeQueryLog('plain');
    const handleQuery = observeHandlers(
      async () => undefined,
      queryLog.observe,
      () => true,
    );
    expect(await handleQuery(Uint8Array.of(1, 2, 3), CLIENT)).toBeUndefined();
    expect(finish()).toEqual([]);
  });
});
