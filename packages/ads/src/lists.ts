/**
 * The lists of an instance: reads files and fetches from servers, again and again, and knows which names are blocked.
 */
import { readFile, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '@portolan/plugin';
import { MAX_LIST_OCTETS } from './fetch-list.ts';
import { readListLine } from './list-line.ts';
import { readStore, type StoredList, writeStore } from './list-store.ts';
import { ListedNames } from './listed-names.ts';
import type { AdsOptions, ListPlace, Rules } from './options.ts';

export interface ListsDependencies {
  readonly log: Log;
  /** Called when other names are blocked. */
  readonly changed: () => void;
  /** @throws an Error that says why there is no list */
  readonly fetchList: (url: string, signal: AbortSignal) => Promise<string>;
  /** Ends early with an error when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface List extends ListPlace {
  readonly isPermitting: boolean;
  readonly permitted: ListedNames;
  readonly blocked: ListedNames;
}

/** Milliseconds, as in the original: between two looks at files, and two tries of a server. */
const FILE_INTERVAL = 60_000;
const RETRY_INTERVAL = 60_000;
const TRIES = 5;
/** Between them, other work of the main thread has its turn. */
const LINES_PER_TURN = 500;
/** Characters: a longer one is no line of a list, and would keep the main thread. */
const MAX_LINE = 4_096;
/** Of one list: about 100 MB. */
const MAX_NAMES = 1_000_000;

export class Lists {
  readonly #options: AdsOptions;
  readonly #dependencies: ListsDependencies;
  readonly #ending = new AbortController();
  readonly #lists = new Map<string, List>();
  /** What files were like when they were read. */
  readonly #seen = new Map<string, string>();
  #stored = new Map<string, StoredList>();
  #work: readonly Promise<void>[] = [];

  constructor(options: AdsOptions, dependencies: ListsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Whether a name is blocked. @param name in lower case, without a dot at its end */
  blocks(name: string): boolean {
    const { blocked, permitted } = this.#options;
    return this.#has('blocked', blocked, name) && !this.#has('permitted', permitted, name);
  }

  #has(kind: 'blocked' | 'permitted', { names, patterns }: Rules, name: string): boolean {
    for (const list of this.#lists.values()) if (list[kind].has(name)) return true;
    return names.includes(name) || patterns.some((pattern) => pattern.test(name));
  }

  /** Reads the files and what was fetched before. Lists that must be fetched follow later: the server must not wait for others. */
  async start(): Promise<void> {
    const { blocked, permitted, store } = this.#options;
    const places = [
      ...blocked.lists.map((list) => ({ ...list, isPermitting: false })),
      ...permitted.lists.map((list) => ({ ...list, isPermitting: true })),
    ];
    if (store !== undefined) this.#stored = new Map(await readStore(store));
    for (const place of places) {
      this.#lists.set(toListKey(place), {
        ...place,
        permitted: new ListedNames(),
        blocked: new ListedNames(),
      });
      const text = this.#stored.get(place.place)?.text;
      if (place.kind === 'http' && text !== undefined) await this.#take(place, text);
    }
    const files = places.filter(({ kind }) => kind === 'file');
    await this.checkFiles();
    const servers = places.filter(({ kind }) => kind === 'http');
    this.#work = [
      ...(files.length > 0 ? [this.#whileRunning(() => this.#followFiles())] : []),
      ...servers.map((place) => this.#whileRunning(() => this.#followServer(place))),
    ];
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#work);
  }

  /** Reads files that have changed. */
  async checkFiles(): Promise<void> {
    for (const list of this.#lists.values()) if (list.kind === 'file') await this.#checkFile(list);
  }

  async #checkFile(list: List): Promise<void> {
    const { place } = list;
    try {
      const { mtimeMs, size, ino } = await stat(place);
      const state = `${mtimeMs} ${size} ${ino}`;
      if (this.#seen.get(place) === state) return;
      if (size > MAX_LIST_OCTETS) throw new Error(`longer than ${MAX_LIST_OCTETS} octets`);
      this.#seen.set(place, state);
      await this.#take(list, await readFile(place, 'utf8'));
    } catch (error) {
      const reason = describeError(error);
      // A file that stays away is one line.
      if (this.#seen.get(place) !== reason)
        this.#dependencies.log.warn(
          `plugin/ads: cannot read a list, its former names stay: ${place}: ${reason}`,
        );
      this.#seen.set(place, reason);
    }
  }

  async #followFiles(): Promise<void> {
    for (;;) {
      await this.#wait(FILE_INTERVAL);
      await this.checkFiles();
    }
  }

  async #followServer(list: Pick<List, 'place' | 'kind' | 'isPermitting'>): Promise<void> {
    const { fetchInterval } = this.#options;
    const fetchedAt = this.#stored.get(list.place)?.fetchedAt;
    // A clock that was set back must not keep an old list.
    const age = fetchedAt === undefined ? undefined : Math.max(0, this.#dependencies.now() - fetchedAt);
    if (age !== undefined && fetchInterval !== undefined && age < fetchInterval)
      await this.#wait(fetchInterval - age);
    for (;;) {
      await this.#fetch(list);
      if (fetchInterval === undefined) return;
      await this.#wait(fetchInterval);
    }
  }

  async #fetch(list: Pick<List, 'place' | 'kind' | 'isPermitting'>): Promise<void> {
    const { fetchList, log, now } = this.#dependencies;
    for (let attempt = 1; attempt <= TRIES; attempt += 1)
      try {
        const text = await fetchList(list.place, this.#ending.signal);
        await this.#take(list, text);
        this.#stored.set(list.place, {
          fetchedAt: now(),
          text: this.#options.store === undefined ? '' : text,
        });
        await this.#keep();
        return;
      } catch (error) {
        if (this.#ending.signal.aborted) return;
        log.warn(
          `plugin/ads: cannot fetch a list, attempt ${attempt} of ${TRIES}: ${list.place}: ${describeError(error)}`,
        );
        if (attempt < TRIES) await this.#wait(RETRY_INTERVAL);
      }
  }

  async #keep(): Promise<void> {
    const { store } = this.#options;
    if (store === undefined) return;
    try {
      await writeStore(store, this.#stored);
    } catch (error) {
      this.#dependencies.log.warn(`plugin/ads: cannot write list-store: ${store}: ${describeError(error)}`);
    }
  }

  /** Puts the names of a list in place of its former ones. */
  async #take(place: Pick<List, 'place' | 'kind' | 'isPermitting'>, text: string): Promise<void> {
    const { log, changed } = this.#dependencies;
    const list: List = { ...place, permitted: new ListedNames(), blocked: new ListedNames() };
    let number = 0;
    let isWhole = true;
    for (const line of splitLines(text)) {
      for (const { name, withNamesBelow, isPermitted } of readListLine(line))
        (list.isPermitting || isPermitted ? list.permitted : list.blocked).add(name, withNamesBelow);
      isWhole = list.permitted.size + list.blocked.size < MAX_NAMES;
      if (!isWhole) break;
      number += 1;
      if (number % LINES_PER_TURN === 0) await nextTurn();
    }
    if (this.#ending.signal.aborted) return;
    this.#lists.set(toListKey(list), list);
    if (!isWhole)
      log.warn(`plugin/ads: a list has more than ${MAX_NAMES} names, the rest is left out: ${list.place}`);
    log.info(
      `plugin/ads: list of ${list.blocked.size} blocked and ${list.permitted.size} permitted names: ${list.place}`,
    );
    changed();
  }

  async #whileRunning(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // The end interrupts all waiting.
      if (!this.#ending.signal.aborted)
        this.#dependencies.log.error(`plugin/ads: lists are not followed any more: ${describeError(error)}`);
    }
  }

  #wait(milliseconds: number): Promise<unknown> {
    return this.#dependencies.wait(milliseconds, this.#ending.signal);
  }
}

/** The same list may be given for both. */
function toListKey({ place, isPermitting }: Pick<List, 'place' | 'isPermitting'>): string {
  return `${isPermitting} ${place}`;
}

function* splitLines(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    if (end - start <= MAX_LINE) yield text.slice(start, end);
    start = end + 1;
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
