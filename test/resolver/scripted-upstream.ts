/**
 * An upstream server made of a clock and a list of records, without any network traffic.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { toKey } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import { type Message, type NameKey, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import type { Exchange, ExchangeEvents, Transport } from '@portolan/kernel/forward/transport/transport.ts';

export interface Knowledge {
  readonly rcode: number;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
}

export class ScriptedUpstream implements Transport {
  readonly dropped = { strange: 0, otherQuestion: 0, otherCase: 0 };
  /** By lower-case name: its records, or how it is denied. What is not here is NXDOMAIN without SOA. */
  readonly known = new Map<NameKey, Knowledge>();
  isSilent = false;
  /** Whether it says that it has validated its answers, to queries that ask for it. */
  validates = false;
  /** Whether it refuses questions without RD, as resolvers do that have no answer in their cache. */
  refusesNorec = false;
  /** Milliseconds that a reply takes. */
  delay = 0;
  asked = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ask({ octets }: QueryMessage, events: ExchangeEvents): Exchange {
    this.asked += 1;
    const query = decodeMessage(octets);
    const reply = this.#answer(query);
    const timer = this.#clock.after(this.delay, () => {
      if (!this.isSilent) events.replied(reply);
    });
    return { overdue() {}, cancel: () => timer.cancel() };
  }

  close(): void {}

  #answer(query: Message): Message {
    const [question] = query.questions;
    if (question === undefined) throw new Error('a query without a question');
    const answers: ResourceRecord[] = [];
    if (this.refusesNorec && !query.header.recursionDesired)
      return { ...query, header: { ...query.header, response: true, rcode: RCODE.REFUSED } };
    let at = toKey(question.name);
    let end = this.known.get(at);
    for (let steps = 0; steps < 20; steps += 1) {
      const alias = end?.answers.find(({ data }) => data.kind === 'CNAME');
      if (alias?.data.kind !== 'CNAME' || question.type === TYPE.CNAME) break;
      answers.push(alias);
      at = toKey(alias.data.target);
      end = this.known.get(at);
    }
    answers.push(...(end?.answers ?? []).filter(({ data }) => typeOfData(data) === question.type));
    const header = {
      ...query.header,
      response: true,
      recursionAvailable: true,
      authenticData: this.validates && query.header.authenticData,
      rcode: end?.rcode ?? RCODE.NXDOMAIN,
    };
    return { ...query, header, answers, authorities: end?.authorities ?? [], additionals: [] };
  }
}
