/**
 * The one contract between the handlers of a server block and the answer table: what a handler does, and for which questions.
 *
 * Ask rules, the packet path and the order of look-ups are derived from it, and from nothing else.
 */
import type { UniformCaching } from '../forward/caching/answer-form.ts';
import type { Forwarder } from '../forward/forwarder.ts';
import type { FillConsumer } from '../forward/reader-path/fill-ring.ts';
import type { PublicationId, ViewId } from '../table/types.ts';
import { type NameKey, TYPE } from '../wire/types.ts';
import type { Answer } from './answer.ts';
import type { HandlerCount } from './handler-counts.ts';
import type { Questions } from './match.ts';
import type { Query, QuerySite } from './query.ts';

/** Asks the handlers behind this one: the same query, or one that it leads to. */
export type Next = (query: Query) => Answer | Promise<Answer>;

/** All handlers of a block as one. */
export type Chain = (query: Query) => Answer | Promise<Answer>;

/**
 * What a handler does to the answers of those behind it, for questions outside its `questions`: nothing, or what readers do as
 * well (`modifiers`), or to answers of the chain that no reader gives (`chain`).
 */
export type AnswerEffect = 'unchanged' | 'modifiers' | 'chain';

interface HandlerParts {
  /** As in a Corefile where it is a plugin there; for logs and metrics. */
  readonly name: string;
  /** What it may answer, change or refuse. For all other questions it calls `next` with the very query. */
  readonly questions: Questions;
  readonly answers: AnswerEffect;
  /** What it counts of each query that it passes on, its question being none of `questions`. Default: nothing. */
  readonly passing?: readonly HandlerCount[];
  handle(query: Query, next: Next): Answer | Promise<Answer>;
}

/** What a cache counts of queries that it answers: with records, and all others. */
export type HitCounts = Readonly<Record<'success' | 'denial', readonly HandlerCount[]>>;

/** How a cache keeps replies that readers have told their clients. */
export interface KeptReplies {
  readonly caching: UniformCaching;
  /** A view with its cache; undefined: it makes the entries itself. */
  readonly view: ViewId | undefined;
  /** Whether an expired answer may be served. */
  readonly servesStale: boolean;
  /** Names with all below them of which not all is kept. */
  readonly exceptions: readonly NameKey[];
  /** @param isEncoded whether the entry may be stored as the reader has made it */
  keep(reply: FillConsumer, site: QuerySite, isEncoded: boolean): void;
}

/** Servers that readers may ask by themselves. */
export interface DirectServers {
  readonly forwarder: Forwarder;
  /** Names with all below them that are for others. */
  readonly exceptions: readonly NameKey[];
  /** Counts a reply. @param server its address and port */
  countReply(server: string, rcode: number, milliseconds: number): void;
}

export type Handler = HandlerParts &
  (
    | {
        /** Its names are nodes of the table, so that its `questions` need no ask rules. */
        readonly role: 'publisher';
        readonly publication: PublicationId;
        /** Those of its `questions` that are not answered from its nodes, and do need ask rules. Default: none. */
        readonly unpublished?: Questions;
      }
    | {
        /** Keeps what the handlers behind it say, so that names that these publish need no ask rules for it. */
        readonly role: 'cache';
        /** The view whose cached answers are those that it keeps, for readers to give. */
        readonly view: ViewId;
        /** What it counts of queries that it answers, by the outcomes of its entries. What it keeps no answer for it passes on. */
        readonly hits: HitCounts;
        /** What readers do that forward questions for names of a zone; undefined: they may not. */
        forwardedIn(zone: NameKey): KeptReplies | undefined;
      }
    | {
        /** Asks upstream: what reaches it unchanged may be forwarded as a packet. */
        readonly role: 'forwarder';
        /** The servers for names of a zone, if readers may ask them. Default: they may not. */
        directFor?(zone: NameKey): DirectServers | undefined;
      }
    | { readonly role: 'other' }
  );

/**
 * @param handlers in order
 * @param end answers what none of them does; by default everything is refused
 */
export function composeChain(handlers: readonly Handler[], end: Chain = () => ({ kind: 'refused' })): Chain {
  return handlers.reduceRight<Chain>((next, handler) => (query) => handler.handle(query, next), end);
}

/**
 * Whether a question reaches the forwarder of the block as it was asked: no handler before it has anything to say.
 *
 * @param handlers in order
 */
export function reachesForwarder(
  handlers: readonly Handler[],
  ...[name, type]: Parameters<Questions['includes']>
): boolean {
  for (const { role, questions } of handlers) {
    if (questions.includes(name, type)) return role === 'forwarder';
  }
  return false;
}

/**
 * The names, with all below them, for which a handler before the forwarder may have something to say of questions for addresses. What
 * publishers say of any name is in the table: a name that has no node there is none of theirs.
 *
 * @param handlers in order
 * @param arePublished whether readers look at what publishers say
 * @returns undefined where it may be any name, or there is no forwarder
 */
export function addressesAnsweredBefore(
  handlers: readonly Handler[],
  arePublished = true,
): readonly NameKey[] | undefined {
  const names: NameKey[] = [];
  for (const { role, questions } of handlers) {
    if (role === 'forwarder') return names;
    // What it keeps is looked up before.
    if (role === 'cache') continue;
    for (const { name, types } of questions.matches()) {
      if (types !== 'all' && !ADDRESS_TYPES.some((type) => types.has(type))) continue;
      if (name.kind !== 'any') names.push(name.name);
      else if (role !== 'publisher' || !arePublished) return undefined;
    }
  }
  return undefined;
}

const ADDRESS_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA];
