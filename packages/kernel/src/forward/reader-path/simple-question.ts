/**
 * The questions that a reader may forward: address queries in the usual form, for names that only upstream servers know.
 */
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { MAX_QUERY } from './pending-queries.ts';
import type { ClientPackets, UnansweredQuestion } from './reader-host.ts';
import type { RunningRoute } from './running-route.ts';

/** In the third octet of a query: QR, the opcode and TC must be clear, RD set. AA has no meaning. */
const FLAGS = 0xfb;
const RECURSION_DESIRED = 0x01;

/** @param open the question of the packet */
export function isSimpleQuestion(
  packets: ClientPackets,
  index: number,
  { question, expired }: UnansweredQuestion,
  { route, exceptions }: RunningRoute,
): boolean {
  const { octets } = packets;
  const start = packets.startAt(index);
  // Single-label names may have other rules.
  if (packets.lengthAt(index) > MAX_QUERY || question.labels < Math.max(2, route.minLabels)) return false;
  if (((octets[start + 2] ?? 0) & FLAGS) !== RECURSION_DESIRED) return false;
  // There must be no answers and no authorities.
  for (let at = start + 6; at < start + 10; at++) if (octets[at] !== 0) return false;
  if (question.dnsClass !== CLASS.IN || (question.type !== TYPE.A && question.type !== TYPE.AAAA))
    return false;
  if (expired === 'rechecked' || expired === 'held' || (expired === 'recent' && route.servesStaleAtOnce))
    return false;
  return !exceptions.includes(question);
}
