/**
 * Uses of directives, queries and replies, as a host gives them to a plugin.
 */
import type { Block, Context, Query, Reply, Rr, Use } from '@portolan/plugin';

const word = (text: string) => ({ text, at: 'Corefile:1' });

/** @param line a directive with its arguments @param lines those of its block */
export function makeUse(line: string, ...lines: readonly string[]): Use {
  const [name = '', ...args] = line.split(' ');
  return { name: word(name), args: args.map(word), lines: lines.map((each) => each.split(' ').map(word)) };
}

/** The server block of `example.org`. */
export const BLOCK: Block = {
  zones: ['example.org.'],
  resolve: (path) => `/root/${path}`,
  readRecord() {
    throw new Error('not used');
  },
  readPattern: (text) => new RegExp(text),
};

/** @param client its address and transport */
export function makeQuery(
  name: string,
  type = 1,
  client: Query['client'] = { address: '192.0.2.1', transport: 'udp' },
): Query {
  const { signal } = new AbortController();
  const changed = (changes: Parameters<Query['with']>[0]) =>
    makeQuery(changes.name ?? name, changes.type ?? type, client);
  return { name, type, client, zone: 'example.org.', signal, with: changed };
}

/** The reply of the plugins behind. */
export function makeReply(
  rcode: number,
  records: readonly Rr[] = [],
  authorities: readonly Rr[] = [],
): Reply {
  return { kind: 'opaque', rcode, records, authorities };
}

/** A host that logs to a list and counts by the names of counters. */
export function makeContext(): Context & {
  readonly lines: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly changes: number;
} {
  const [lines, counts] = [[] as string[], new Map<string, number>()];
  const line = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  let changes = 0;
  const unused = () => {
    throw new Error('not used');
  };
  return {
    ...{ lines, counts, server: 'dns://:53', lookUp: unused, watch: unused, upstream: unused },
    log: { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') },
    counter: (name) => ({ add: () => void counts.set(name, (counts.get(name) ?? 0) + 1) }),
    changed() {
      changes += 1;
    },
    get changes() {
      return changes;
    },
  };
}
