/**
 * Probes whether a name server of the network answers, with the question for the name servers of the root: every resolver has them in its
 * cache.
 */
import { isAnsweredAt } from '@portolan/frontends/node-cache/network/local-probe.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';

/** One packet may be lost. */
const TRIES = 2;
const HEADER_OCTETS = 12;
const RECURSION_DESIRED = 0x01;
/** The root, type NS, class IN. */
const QUESTION = [0, 0, 2, 0, 1] as const;

/** Never rejects. */
export async function isNameserverAnswering(address: string, port: number, clock: Clock): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++)
    if (await isAnsweredAt(address, port, clock, rootQuery)) return true;
  return false;
}

function rootQuery(id: number): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS);
  header.writeUInt16BE(id, 0);
  header[2] = RECURSION_DESIRED;
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, Buffer.from(QUESTION)]);
}
