/**
 * A Corefile with the answers of readers and of its chain, to compare them.
 */
import { EXTENDED_ERROR, isExtendedError } from '@portolan/dns/extended-error.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import type { Message } from '@portolan/dns/types.ts';
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { query } from '@portolan/kernel/table/testing/table-answers.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import { onTestFinished } from 'vitest';
import '../support/load-all-plugins.ts';

const AT = 8192;
export const CLIENT = { address: '192.0.2.77', port: 5353 };
export const SERVER = 'dns://:53';

export class ReaderSubject {
  readonly engine: Engine;
  readonly #clock: Clock;
  #isStopped = false;

  /** @param settings a Corefile, or the plan of another front end */
  constructor(
    settings: string | EnginePlan,
    clock: Clock = systemClock,
    restored = NOTHING_RESTORED,
    readers = 0,
  ) {
    this.#clock = clock;
    const plan = typeof settings === 'string' ? compilePlan(settings) : settings;
    this.engine = new Engine(
      { ...plan, restored },
      {
        readers,
        version: 'test',
        clock,
        log: silentLog,
      },
    );
    onTestFinished(() => this.stop());
  }

  stop(): void {
    if (!this.#isStopped) this.engine.stop();
    this.#isStopped = true;
  }

  /** @returns nothing where the chain is to answer */
  askTable(
    packet: Uint8Array,
    group = this.engine.getListenerGroupNumber(SERVER),
    transport: ClientTransport = 'udp',
    client = CLIENT,
  ): Message | undefined {
    const octets = new Uint8Array(AT + 32);
    octets.set(packet);
    octets.set(encodeSocketAddress(client), AT);
    this.engine.reader.setTime(this.#clock.monotonic());
    const end = this.engine.reader.answer(octets, 0, packet.length, 4096, transport, group, AT);
    return end === VERDICT.ASK ? undefined : decodeMessage(octets.slice(0, end));
  }

  async askChain(
    packet: Uint8Array,
    transport: ClientTransport = 'udp',
    client = CLIENT,
    server = SERVER,
  ): Promise<Message | undefined> {
    const handle = this.engine.serverBlocks.findQueryHandler(server);
    const response = await handle?.(packet, { ...client, transport });
    return response && decodeMessage(response);
  }
}

/** EDNS options as clients send them: COOKIE, a client subnet, NSID, TCP keepalive, EXPIRE, padding, and one that nobody knows. */
export const EDNS_OPTIONS = [
  { code: 10, data: Buffer.from('0102030405060708', 'hex') },
  { code: 8, data: Buffer.from('00011800c00002', 'hex') },
  { code: 3, data: Buffer.alloc(0) },
  { code: 11, data: Buffer.alloc(0) },
  { code: 9, data: Buffer.alloc(0) },
  { code: 12, data: Buffer.alloc(40) },
  { code: 65_001, data: Buffer.from('own') },
] as const;
type EdnsOptions = readonly { readonly code: number; readonly data: Buffer }[];

/** Changes of a query: the OPT record that it has. @param size in octets; undefined: it has none */
export function withOpt(size: number | undefined, options: EdnsOptions = [], flags = 0) {
  // The type of dns-packet asks for what it does not need.
  return size === undefined
    ? {}
    : { additionals: [{ type: 'OPT', name: '.', udpPayloadSize: size, flags, options } as never] };
}

export const makePacket = (name: string, type: string, changes: Parameters<typeof query>[2] = {}) => {
  const { packet, length } = query(name, type, changes);
  return packet.slice(0, length);
};

/** All that must be the same: sets of addresses may begin anywhere. */
export const toComparableMessage = ({
  header,
  questions,
  answers,
  authorities,
  additionals,
  edns,
}: Message) => ({
  header: { ...header, id: 0 },
  questions,
  // A cache keeps the letters of the question that it asked.
  answers: answers.map((record) => JSON.stringify(record).toLowerCase()).sort(),
  authorities: authorities.map((record) => JSON.stringify(record).toLowerCase()),
  additionals: additionals.map((record) => JSON.stringify(record).toLowerCase()).sort(),
  edns,
});

/** TTLs left out: names of the table keep theirs, and the cache of the chain counts them down. */
export const withoutTtls = (content: ReturnType<typeof toComparableMessage>) =>
  JSON.parse(JSON.stringify(content).replace(/\\"ttl\\":\d+/g, '')) as ReturnType<typeof toComparableMessage>;

/** TTLs and staleness left out: the cache of the chain may serve names of the table past their end. */
export function withoutAge(content: ReturnType<typeof toComparableMessage>): unknown {
  const { edns } = content;
  const options = edns?.options.filter(
    (option) => !isExtendedError(option) || option.data[1] !== EXTENDED_ERROR.STALE_ANSWER,
  );
  return withoutTtls({ ...content, edns: edns && { ...edns, options: options ?? [] } });
}
