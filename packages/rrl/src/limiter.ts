/**
 * Decides which requests and responses are within the rates of their client's network.
 */
import type { Query, Reply } from '@portolan/plugin';
import { AccountTable, type Debit } from './account-table.ts';
import { prefixOf } from './client-prefix.ts';
import type { ResponseKind, RrlOptions } from './options.ts';

const TYPE_NS = 2;
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

  request({ client }: Query): Debit {
    const { requestInterval, prefixLengths } = this.#options;
    if (requestInterval === 0) return 'within';
    return this.#table.debit(prefixOf(client.address, prefixLengths), requestInterval);
  }

  /** Clients over TCP have shown that they are where they say, so they are not limited. */
  response(query: Query, reply: Reply): Debit {
    if (query.client.transport !== 'udp' || reply.kind === 'drop') return 'within';
    const { intervals, prefixLengths } = this.#options;
    const { kind, type, name } = describe(query, reply);
    const interval = intervals[kind];
    if (interval === 0) return 'within';
    const prefix = prefixOf(query.client.address, prefixLengths);
    return this.#table.debit(`${prefix}/${kind}/${type}/${name}`, interval);
  }
}

/** What is alike is as in BIND: denials of one zone, all errors, and otherwise the question. */
function describe({ name, type }: Query, reply: Reply): Response {
  const { rcode = 0, records = [], authorities = [] } = reply.kind === 'opaque' ? reply : {};
  const [first] = authorities;
  const zone = first?.name.toLowerCase() ?? '';
  if (records.length > 0) return { kind: 'response', type: String(type), name: name.toLowerCase() };
  if (rcode === RCODE_NXDOMAIN) return { kind: 'nxdomain', type: '', name: zone };
  if (rcode !== 0) return { kind: 'error', type: '', name: '' };
  if (first?.type === TYPE_NS) return { kind: 'referral', type: String(type), name: zone };
  return { kind: 'nodata', type: '', name: name.toLowerCase() };
}
