/**
 * A look: a query that is answered from what the server holds. It asks no upstream server, counts nothing and logs nothing, so that
 * an explanation follows the chain that serves, and changes nothing.
 *
 * Handlers that ask, count or store see it in `Query.look`, and note what they found or would do.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { HandlerParts } from '@portolan/plugin';

/** A handler that has seen the query, or one that it led to. */
export interface DryRunStep {
  /** Its name. */
  readonly handler: string;
  /** The name in the question. */
  readonly name: NameKey;
  readonly explainedBy: HandlerParts['explainedBy'];
  /** Whether it asks upstream servers. */
  readonly isForwarder: boolean;
}

type SeenHandler = Pick<HandlerParts, 'name' | 'explainedBy'> & { readonly role: string };

/** An answer of a cache. Times in seconds. */
export interface LookedUpEntry {
  readonly name: NameKey;
  readonly age: number;
  /** 0 or less: it has expired, and is served stale. */
  readonly left: number;
}

/** A name that would be asked of upstream servers. */
export interface OpenQuestion {
  readonly name: NameKey;
  /** In the order of the configuration; empty: `problem` says why. */
  readonly servers: readonly string[];
  readonly problem: string | undefined;
}

export class DryRun {
  /** Whether caches leave the query to the handlers behind them, so that it shows which servers are asked. */
  readonly passesCaches: boolean;
  readonly #steps: DryRunStep[] = [];
  #entry: LookedUpEntry | undefined;
  #open: OpenQuestion | undefined;
  #zone: string | undefined;

  /** @param passesCaches see the field */
  constructor(passesCaches = false) {
    this.passesCaches = passesCaches;
  }

  /** The handlers in the order in which they saw the query; the last one has answered it. */
  get steps(): readonly DryRunStep[] {
    return this.#steps;
  }

  /** The cached answer that the response is made from. */
  get entry(): LookedUpEntry | undefined {
    return this.#entry;
  }

  /** The question that the answer needs and no cache has; the response then means nothing. */
  get open(): OpenQuestion | undefined {
    return this.#open;
  }

  /** The zone of the server block that was chosen; undefined: none was. */
  get zone(): string | undefined {
    return this.#zone;
  }

  choseBlock(zone: string): void {
    this.#zone ??= zone;
  }

  passed({ name: handler, explainedBy, role }: SeenHandler, name: NameKey): void {
    this.#steps.push({ handler, name, explainedBy, isForwarder: role === 'forwarder' });
  }

  foundEntry(entry: LookedUpEntry): void {
    this.#entry = entry;
  }

  wouldAsk(question: OpenQuestion): void {
    this.#open = question;
  }
}
