/**
 * Upstreams that lose, delay, truncate, refuse and lie: the answers for clients of dnsmasq and of Portolan.
 */
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithTool } from '../support/tools.ts';
import { type Both, endAllSides, type Heard, hear, runBoth, type Side } from './both.ts';

/** What a client of the C library does: asks again after a while, a few times. */
const TRIES = [1_000, 1_000, 2_000];

async function insist(side: Side, name: string, type: 'A' | 'TXT' = 'A'): Promise<Heard | undefined> {
  for (const deadline of TRIES) {
    const heard = await hear(side, [name, type], { deadline });
    if (heard.status !== 'no answer') return heard;
  }
  return undefined;
}

function readFirstLabel(query: Message): string {
  return query.questions[0]?.name.split('.')[0] ?? '';
}

/** Each first label is a way to behave. */
function behave(): React {
  const seen = new Map<string, number>();
  return ({ query, over, send }) => {
    const label = readFirstLabel(query);
    const times = (seen.get(label) ?? 0) + 1;
    seen.set(label, times);
    const rcode = (code: number) =>
      reply(query, { header: { ...replyMessage(query).header, rcode: code }, answers: [] });
    switch (label) {
      case 'lost':
        if (times > 1) send(reply(query));
        return;
      case 'late':
        setTimeout(() => send(reply(query)), 300);
        return;
      case 'cut':
        if (over === 'udp') send(cutReply(query));
        else send(reply(query, { answers: manyAddresses(query) }));
        return;
      case 'refused':
        send(rcode(RCODE.REFUSED));
        return;
      case 'failed':
        send(rcode(RCODE.SERVFAIL));
        return;
      case 'wrongid':
        send(reply({ ...query, header: { ...query.header, id: query.header.id ^ 1 } }, forged(query)));
        send(reply(query));
        return;
      case 'wrongname':
        send(reply({ ...query, questions: [{ ...question(query), name: parseName('other.test.') }] }));
        send(reply(query));
        return;
      case 'extra':
        send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.1'), intruder()] }));
        return;
      case 'garbage':
        send(Uint8Array.of(1, 2, 3));
        send(reply(query));
        return;
      default:
        send(reply(query));
    }
  };
}

function question(query: Message) {
  return { type: 1, class: CLASS.IN, ...query.questions[0] };
}

function cutReply(query: Message): Uint8Array {
  return reply(query, { header: { ...replyMessage(query).header, truncated: true }, answers: [] });
}

function manyAddresses(query: Message): readonly ResourceRecord[] {
  return Array.from({ length: 3 }, (_, index) => makeAddressRecord(query, `192.0.2.${index + 1}`));
}

function forged(query: Message): Partial<Message> {
  return { answers: [makeAddressRecord(query, '203.0.113.66')] };
}

function intruder(): ResourceRecord {
  const data = { kind: 'A', address: '203.0.113.66' } as const;
  return { name: parseName('victim.test.'), class: CLASS.IN, ttl: 60, data };
}

describeWithTool('dnsmasq', 'behind upstreams that misbehave', () => {
  let upstreams: readonly LoopbackUpstream[] = [];
  let both: Both;

  beforeAll(async () => {
    upstreams = await Promise.all([1, 2].map(() => LoopbackUpstream.start(behave())));
    const [first, second] = upstreams.map(({ port }) => port);
    const ports = { real: first ?? 0, ours: second ?? 0 };
    both = await runBoth(
      ['--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--server=127.0.0.1#SIDE'],
      ports,
    );
  });
  afterAll(async () => {
    await both.stop();
    await endAllSides();
    for (const upstream of upstreams) await upstream.stop();
  });

  it.each(['fine', 'lost', 'late', 'refused', 'failed', 'wrongid', 'wrongname', 'extra', 'garbage'])(
    '%s: both say the same',
    async (label) => {
      const [real, ours] = await Promise.all(
        [both.real, both.ours].map((side) => insist(side, `${label}.test`)),
      );
      expect(ours?.status).toBe(real?.status);
      // What has no place in the answer dnsmasq hands on; we drop it.
      const expected = real?.records.filter((record) => !record.startsWith('victim.'));
      expect(ours?.records).toEqual(expected);
    },
  );

  it('never believes a forger', async () => {
    for (const label of ['wrongid', 'wrongname', 'extra'])
      expect((await insist(both.ours, `${label}.again.test`))?.records.join()).not.toContain('203.0.113.66');
    expect((await insist(both.ours, 'victim.test'))?.records).toEqual(['victim.test. 0 in a 192.0.2.1']);
  });

  it('asks by TCP for what was cut, where dnsmasq leaves that to the client', async () => {
    const [real, ours] = await Promise.all(
      [both.real, both.ours].map((side) => hear(side, ['cut.test', 'A'])),
    );
    expect(real?.isCut).toBe(true);
    expect(ours?.records).toHaveLength(3);
    const byTcp = await Promise.all(
      [both.real, both.ours].map((side) => hear(side, ['cut.more.test', 'A'], { transport: 'tcp' })),
    );
    expect(byTcp.map(({ records }) => records.length)).toEqual([3, 3]);
  });
});
