/**
 * Names that are known without asking anybody, in the answer table: the difference between what stands there and what is
 * known now, name by name, so that no reader ever misses a name that is in both.
 */

import type { Log } from '../ground/log.ts';
import type { LocalNames } from '../sources/local/local-names.ts';
import { TableFullError } from '../table/arena.ts';
import type { ZoneId } from '../table/types.ts';
import type { TableWriter } from '../table/writer.ts';
import { encodeName, parseName, ROOT } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import { compileNode } from '../zone/compile.ts';
import { termsOf, type Zone } from '../zone/zone.ts';

/** Names that are published at a stretch: less than a millisecond. */
const STRETCH = 100;

/** Never seen: what is missing here is for others to answer. */
const ZONE: Zone = {
  apex: ROOT,
  soa: {
    ...{ kind: 'SOA', serial: 1, refresh: 7200, retry: 1800, expire: 86_400, minimum: 0 },
    ...{ primary: parseName('local.'), mailbox: parseName('local.') },
  },
  negativeTtl: 0,
  authoritativeNxdomain: false,
};

export class LocalPublication {
  readonly #table: TableWriter;
  readonly #log: Log;
  readonly #zone: ZoneId;

  /** @param recursionAvailable whether answers carry the RA bit */
  constructor(table: TableWriter, recursionAvailable: boolean, log: Log) {
    this.#table = table;
    this.#log = log;
    const state = { known: true, recursionAvailable, askWildcards: false };
    this.#zone = table.defineZone(termsOf(ZONE, state));
  }

  /**
   * Publishes what is different. It may be left alone for a while wherever it yields.
   *
   * @returns the names that are
   */
  *replace(before: LocalNames, after: LocalNames): Generator<void, readonly NameKey[]> {
    const changed: NameKey[] = [];
    let count = 0;
    for (const name of after.names()) {
      const result = this.#put(name, before, after);
      if (result === 'full') break;
      if (result === 'changed') changed.push(name);
      count += 1;
      if (count % STRETCH === 0) yield;
    }
    for (const name of before.names()) {
      count += 1;
      if (count % STRETCH === 0) yield;
      if (after.has(name)) continue;
      this.#table.remove(encodeName(name));
      changed.push(name);
    }
    this.#table.collect();
    return changed;
  }

  #put(name: NameKey, before: LocalNames, after: LocalNames): 'same' | 'changed' | 'full' {
    const digest = after.digest(name);
    if (digest !== '' && before.has(name) && before.digest(name) === digest) return 'same';
    const wireName = encodeName(name);
    const standing = this.#table.find(wireName);
    try {
      const now = this.#table.put(compileNode(after.node(name), this.#zone));
      return now === standing ? 'same' : 'changed';
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#log.error('local names not published, the answer table is full', { first: name });
      return 'full';
    }
  }
}
