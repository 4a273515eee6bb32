/**
 * A client that waits until a server gives the expected answer over UDP, and then checks it over TCP.
 */
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import type { Message, ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { expect } from 'vitest';

/** A change must be seen within this time; in a real cluster others are at work too. */
const DEADLINE_MILLISECONDS = 15_000;
const PAUSE_MILLISECONDS = 5;

export class Resolver {
  readonly #server: DnsServer;

  constructor(server: DnsServer) {
    this.#server = server;
  }

  /** Waits for this answer, as `describeAnswer` tells it. */
  async expect(name: string, type: keyof typeof TYPE, expected: string): Promise<void> {
    const end = performance.now() + DEADLINE_MILLISECONDS;
    let answer = await ask(this.#server, name, type);
    while (describeAnswer(answer) !== expected && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
      answer = await ask(this.#server, name, type);
    }
    expect(describeAnswer(answer), `${name} ${type} by UDP`).toBe(expected);
    const byTcp = await ask(this.#server, name, type, { transport: 'tcp' });
    expect(describeAnswer(byTcp), `${name} ${type} by TCP`).toBe(expected);
  }

  /** What is said now. */
  async answer(name: string, type: keyof typeof TYPE, transport: 'udp' | 'tcp' = 'udp'): Promise<Message> {
    return ask(this.#server, name, type, { transport });
  }
}

/**
 * The answer in one line: its records sorted, those of other names than the one asked for with their names, then the
 * additional ones. An answer without records is its response code (or `NODATA`) and the zone whose SOA says so.
 *
 *     SRV 0 100 80 web.a.svc.cluster.local. + web.a.svc.cluster.local. A 10.96.0.1
 */
export function describeAnswer({ header, questions, answers, authorities, additionals }: Message): string {
  const asked = questions[0]?.name.toLowerCase() ?? '';
  const code = header.rcode === 0 ? 'NODATA' : rcodeName(header.rcode);
  const soa = authorities.find(({ data }) => data.kind === 'SOA')?.name;
  const cut = header.truncated ? 'cut: ' : '';
  if (answers.length === 0) return soa === undefined ? cut + code : `${code} ${soa}`;
  const lines = answers.map((record) => describeRecord(record, asked)).sort();
  if (additionals.length === 0) return cut + lines.join(', ');
  const more = additionals.map((record) => describeRecord(record, asked)).sort();
  return `${cut}${lines.join(', ')} + ${more.join(', ')}`;
}

function describeRecord(record: ResourceRecord, asked: string): string {
  const [, , , , ...data] = presentRecord(record).split(' ');
  const type = typeName(typeOfData(record.data));
  const owner = record.name.toLowerCase() === asked ? '' : `${record.name} `;
  return `${owner}${type} ${data.join(' ')}`;
}
