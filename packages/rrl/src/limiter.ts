/**
 * Decides which requests and responses are within the rates of their client's network.
 */
import { type Answer, type Query, toWhole } from '@portolan/plugin';
import { AccountTable, type Debit } from './account-table.ts';
import { prefixOf } from './client-prefix.ts';
import type { ResponseKind, RrlOptions } from './options.ts';

const RCODE_NXDOMAIN = 3;

/** A reply of the plugins behind, as it counts. */
interface Response {
  readonly kind: ResponseKind;
  /** All responses of a kind with the same name and type are alike; empty: whatever it is. */
  readonly name: string;
  readonly type: string;
}

export class Limiter {
  readonly #options: RrlOptions;
  readonly #table: AccountTable;

  /** @param now milliseconds that only grow */
  constructor(options: RrlOptions, now: () => number) {
    const { window, slipRatio, maxTableSize } = options;
    this.#options = options;
    this.#table = new AccountTable({ window, slipRatio, maxSize: Math.max(1, maxTableSize), now });
  }

  request({ sender }: Query): Debit {
    const { requestInterval, prefixLengths } = this.#options;
    if (requestInterval === 0) return 'within';
    return this.#table.debit(prefixOf(sender.address, prefixLengths), requestInterval);
  }

  /** Clients over TCP have shown that they are where they say, so they are not limited. */
  response(query: Query, answer: Answer): Debit {
    const { address, transport } = query.sender;
    if (transport !== 'udp' || answer.kind === 'drop') return 'within';
    const { intervals, prefixLengths } = this.#options;
    const { kind, type, name } = describe(query, answer);
    const interval = intervals[kind];
    if (interval === 0) return 'within';
    const prefix = prefixOf(address, prefixLengths);
    return this.#table.debit(`${prefix}/${kind}/${type}/${name}`, interval);
  }
}

/** What is alike is as in BIND: denials of one zone, all errors, and otherwise the question. */
function describe({ question, key }: Query, answer: Exclude<Answer, { kind: 'drop' }>): Response {
  const { rcode, answers, authorities } = toWhole(answer);
  const [first] = authorities;
  const zone = first?.name.toLowerCase() ?? '';
  const type = String(question.type);
  if (answers.length > 0) return { kind: 'response', type, name: key };
  if (rcode === RCODE_NXDOMAIN) return { kind: 'nxdomain', type: '', name: zone };
  if (rcode !== 0) return { kind: 'error', type: '', name: '' };
  if (first?.data.kind === 'NS') return { kind: 'referral', type, name: zone };
  return { kind: 'nodata', type: '', name: key };
}
