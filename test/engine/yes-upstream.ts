/**
 * An upstream server that knows every name, with data that differs from all our sources: in virtual time, or on a port of loopback
 * for a Corefile.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import { type Message, type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { getQuestion } from '@portolan/testing/upstream/reply.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { onTestFinished } from 'vitest';

const TARGET = parseName('upstream.invalid.');
const TTL = 60;
/** Milliseconds of virtual time that a reply takes. */
const DELAY = 20;
const ADDRESS: RecordData = { kind: 'A', address: '203.0.113.1' };
const DATA: ReadonlyMap<number, RecordData> = new Map<number, RecordData>([
  [TYPE.A, ADDRESS],
  [TYPE.ANY, ADDRESS],
  [TYPE.AAAA, { kind: 'AAAA', address: '2001:db8:bad::1' }],
  [TYPE.PTR, { kind: 'PTR', target: TARGET }],
  [TYPE.NS, { kind: 'NS', target: TARGET }],
  [TYPE.MX, { kind: 'MX', preference: 1, exchange: TARGET }],
  [TYPE.SRV, { kind: 'SRV', priority: 1, weight: 1, port: 1, target: TARGET }],
  [TYPE.TXT, { kind: 'TXT', strings: [Buffer.from('upstream.invalid')] }],
]);

/** Whether a response holds what only such a server says. */
export const isUpstreams = ({ answers, additionals }: Message): boolean =>
  /203\.0\.113\.1|2001:db8:bad::1|upstream\.invalid/.test(
    [...answers, ...additionals]
      .map(({ data }) => (data.kind === 'TXT' ? String(data.strings) : JSON.stringify(data)))
      .join(' '),
  );

export class YesUpstream {
  /** How often each name was asked for. */
  readonly asked = new Map<NameKey, number>();
  /** Names that must not leave, in the order in which they did. */
  readonly leaked: string[] = [];
  isSilent = false;
  readonly #clock: Clock;
  readonly #isOurs: (name: NameKey) => boolean;

  /** @param isOurs of names that must not leave, at the moment */
  constructor(clock: Clock, isOurs: (name: NameKey) => boolean) {
    this.#clock = clock;
    this.#isOurs = isOurs;
  }

  /** The same server in virtual time. */
  makeVirtual(): VirtualUpstream {
    return new VirtualUpstream(this.#clock, ({ query, send, after }) => {
      const message = this.#answer(query);
      after(DELAY, () => {
        if (!this.isSilent) send(message);
      });
    });
  }

  /** Serves UDP and TCP at a port of loopback until the test ends. @returns the port */
  async listen(): Promise<number> {
    const upstream = await LoopbackUpstream.start(({ query, send }) => {
      const message = this.#answer(query);
      if (!this.isSilent) send(message);
    });
    onTestFinished(() => upstream.stop());
    return upstream.port;
  }

  #answer(query: Message): Message {
    const question = getQuestion(query);
    const name = toKey(question.name);
    this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
    if (this.#isOurs(name)) this.leaked.push(`${name} at ${this.#clock.monotonic() / 1000} s`);
    const data = DATA.get(question.type);
    const record = data && { name: question.name, class: question.class, ttl: TTL, data };
    const flags = {
      response: true,
      recursionAvailable: true,
      authoritative: false,
      authenticData: false,
      rcode: 0,
    };
    return {
      header: { ...query.header, ...flags },
      questions: query.questions,
      answers: record === undefined ? [] : [record],
      authorities: [],
      additionals: [],
      edns: query.edns && { ...query.edns, extendedRcode: 0, options: [] },
    };
  }
}
