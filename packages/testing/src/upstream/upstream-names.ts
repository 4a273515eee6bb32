/**
 * What an upstream double knows of names, to be changed while a test runs, and how it answers from that.
 */
import { toKey } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import { type Message, type NameKey, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { React } from './received-query.ts';
import { getQuestion } from './reply.ts';

export interface UpstreamName {
  readonly rcode: number;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
}

export class UpstreamNames {
  /** By lower-case name: its records, or how it is denied. What is not here is NXDOMAIN without SOA. */
  readonly known = new Map<NameKey, UpstreamName>();
  isSilent = false;
  /** Whether it says that it has validated its answers, to queries that ask for it. */
  validates = false;
  /** Whether it refuses questions without RD, as resolvers do that have no answer in their cache. */
  refusesNorec = false;
  /** Milliseconds that a reply takes. */
  delay = 0;

  readonly react: React = ({ query, send, after }) => {
    const reply = this.#answer(query);
    after(this.delay, () => {
      if (!this.isSilent) send(reply);
    });
  };

  #answer(query: Message): Message {
    const question = getQuestion(query);
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
