/**
 * Asks a reader and the handler chain of one engine the same packets, and collects where their responses differ.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import { MutatedPackets } from './mutated-packets.ts';

const CLIENT = { address: '192.0.2.77', port: 5353 };
const MEMORY_OCTETS = 128 * 1024;
const AT = MEMORY_OCTETS - 32;

export interface Compared {
  readonly engine: Engine;
  /** The listener group: `dns://:53`. */
  readonly server: string;
  readonly transport: ClientTransport;
  readonly names: readonly string[];
}

export interface Difference {
  /** The query, in hexadecimal digits. */
  readonly query: string;
  readonly byReader: unknown;
  readonly byChain: unknown;
}

export interface Tally {
  /** How many responses came from the reader. */
  readonly answered: number;
  readonly differences: readonly Difference[];
}

/** @param count of packets */
export async function compare(compared: Compared, seed: number, count: number): Promise<Tally> {
  const packets = new MutatedPackets(seed, compared.names);
  const differences: Difference[] = [];
  let answered = 0;
  for (let left = count; left > 0; left -= 1) {
    const packet = packets.next();
    // Fills the caches of chain and reader: an answer from a cache differs from the one that it keeps.
    await askChain(compared, packet);
    const byChain = describeResponse(await askChain(compared, packet));
    const octets = askReader(compared, packet);
    if (octets === 'asked') continue;
    answered += 1;
    const byReader = describeResponse(octets);
    if (JSON.stringify(byReader) !== JSON.stringify(byChain))
      differences.push({ query: Buffer.from(packet).toString('hex'), byReader, byChain });
  }
  return { answered, differences };
}

function askReader(
  { engine, server, transport }: Compared,
  packet: Uint8Array,
): Uint8Array | 'asked' | undefined {
  const octets = new Uint8Array(MEMORY_OCTETS);
  octets.set(packet);
  octets.set(encodeSocketAddress(CLIENT), AT);
  engine.reader.enter();
  engine.reader.setTime(performance.now());
  const group = engine.getListenerGroupNumber(server);
  const capacity = transport === 'udp' ? 4096 : 65535;
  const end = engine.reader.answer(octets, 0, packet.length, capacity, transport, group, AT);
  engine.reader.leave();
  if (end === VERDICT.ASK) return 'asked';
  return end > 0 ? octets.slice(0, end) : undefined;
}

async function askChain(
  { engine, server, transport }: Compared,
  packet: Uint8Array,
): Promise<Uint8Array | undefined> {
  const client: Client = { ...CLIENT, transport };
  const response = await engine.serverBlocks.findQueryHandler(server)?.(packet.slice(), client);
  return response ?? undefined;
}

/** All that must be the same. Sets of addresses may begin anywhere, and what does not fit depends on where. */
export function describeResponse(octets: Uint8Array | undefined): unknown {
  if (octets === undefined) return 'no response';
  try {
    const { header, questions, answers, authorities, additionals, edns } = decodeMessage(octets);
    const text = (records: readonly object[]) =>
      records.map((record) => JSON.stringify({ ...record, ttl: 0 }).toLowerCase()).toSorted();
    const records = header.truncated ? [] : [text(answers), text(authorities), text(additionals)];
    return [header, questions, records, edns];
  } catch (error) {
    if (error instanceof WireError) return Buffer.from(octets).toString('hex');
    throw error;
  }
}
