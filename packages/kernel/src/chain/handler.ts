/**
 * The only contract between the handlers of a server block and the answer table: what a handler does, and for which questions.
 *
 * Ask rules, forwarding by readers and the order of look-ups are derived only from it.
 */
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import { type Message, type NameKey, type Question, TYPE } from '@portolan/dns/types.ts';
import type { HandlerParts as PluginHandlerParts } from '@portolan/plugin';
import type { Offer } from '../base/capability.ts';
import type { UniformCaching } from '../forward/caching/answer-form.ts';
import type { PublicationId, ViewId } from '../table/types.ts';
import type { Answer } from './answer.ts';
import type { HandlerCount } from './handler-counts.ts';
import type { Questions } from './match.ts';
import type { Query, TraceSpan } from './query.ts';

/** Asks the handlers behind this one: the same query, or one that it leads to. */
export type Next = (query: Query) => Answer | Promise<Answer>;

/** All handlers of a block as one. */
export type Chain = (query: Query) => Answer | Promise<Answer>;

/** What handlers of plugins say, and what only those of the engine's own parts need. */
interface HandlerParts extends PluginHandlerParts {
  /** How readers search for names that this handler searches for. Default: they leave them to it. */
  readonly search?: HandlerSearch | undefined;
  /** What it does to replies of upstream servers, for the forwarder behind it. Default: nothing. */
  readonly replies?: ReplyChanges;
  /** What only some ask for: `reader-forwarding.ts` has the keys. */
  readonly offers?: readonly Offer[];
  handle(query: Query, next: Next): Answer | Promise<Answer>;
}

/** Counts of queries that a cache answers: with records (`success`), and all others (`denial`). */
export type HitCounts = Readonly<Record<'success' | 'denial', readonly HandlerCount[]>>;

/** The least and the greatest TTL in seconds, of answers with records and of denials. */
export type AnswerTtlBounds = Pick<UniformCaching, 'success' | 'denial'>;

/** A handler that answers for names behind it that are missing, from the search lists of clients. */
export interface HandlerSearch {
  /** The publication with the lists, see `SearchLists`. */
  readonly lists: PublicationId;
  /** Counts of each answer with another name than that of the question. */
  readonly found: readonly HandlerCount[];
}

/** Changes of replies before they are judged and cached. */
export interface ReplyChanges {
  /** In this order. */
  readonly changes: readonly ((question: Question, message: Message) => Message)[];
  /** Whether `changes` leave replies with addresses, and denials of unknown names, as they are. */
  readonly leavesAddresses: boolean;
  /** Whether any name may be known here although upstream denies it. May change. */
  mayKnowNames(): boolean;
  /** Whether readers know all names that are known here. May change. */
  knowsItsNames(): boolean;
}

export type Handler = HandlerParts &
  (
    | {
        /** Its names are nodes of the table, so that its `questions` need no ask rules. */
        readonly role: 'publisher';
        readonly publication: PublicationId;
        /** Those that readers look up behind it. Default: none. */
        readonly further?: readonly PublicationId[];
        /** Those of its `questions` that its nodes do not answer, so that they need ask rules. Default: none. */
        readonly unpublished?: Questions;
        /** Whether some names within its questions that it does not know end with it, so that only it may deny them. Default: no. */
        readonly deniesUnknown?: boolean;
        /** Whether its nodes have the TTLs that answers have behind a cache with these bounds. Default: yes. */
        keepsTtls?(bounds: AnswerTtlBounds): boolean;
      }
    | {
        /** Stores answers of the handlers behind it, so that names that these publish need no ask rules for it. */
        readonly role: 'cache';
        /** The view with its entries, which readers send too. */
        readonly view: ViewId;
        /** Counts of queries that it answers, by the outcomes of its entries. It passes on all other queries. */
        readonly hits: HitCounts;
        /** The bounds of the TTLs of all answers that pass it; undefined: it leaves TTLs as they are. */
        readonly ttlBounds?: AnswerTtlBounds | undefined;
      }
    | {
        /** Asks upstream; readers may forward a query that reaches it unchanged. */
        readonly role: 'forwarder';
        /** An object that is the same for all names that go to the same servers; undefined: the name goes to none of them. */
        ruleFor?(name: NameKey): object | undefined;
      }
    | { readonly role: 'other' }
  );

/** The publications of handlers, in order. */
export function listPublications(handlers: readonly Handler[]): readonly PublicationId[] {
  return handlers.flatMap((handler) =>
    handler.role === 'publisher' ? [handler.publication, ...(handler.further ?? [])] : [],
  );
}

/** Whether a block with these handlers rotates the addresses of answers. */
export function rotateAddresses(handlers: readonly Handler[]): boolean {
  return handlers.some(({ rotates }) => rotates === true);
}

/**
 * @param handlers in order
 * @param end answers queries that all handlers pass on; default: refuses them
 */
export function composeChain(handlers: readonly Handler[], end: Chain = () => ({ kind: 'refused' })): Chain {
  return handlers.reduceRight<Chain>(
    (next, handler) => (query) => {
      const { look } = query;
      if (look === undefined) return handler.handle(query, next);
      if (handler.isObserver === true) return next(query);
      look.passed(handler, query.key);
      return handler.handle(query, next);
    },
    end,
  );
}

/** The chain of a block, whose handlers are noted in the queries that they see. It answers queries which all of them pass on. */
export function createBlockChain(handlers: readonly Handler[]): Chain {
  const last = handlers.at(-1)?.name;
  // A block without a handler refuses.
  const end: Answer =
    last === undefined
      ? { kind: 'refused', extendedError: EXTENDED_ERROR.NOT_AUTHORITATIVE }
      : { kind: 'servfail', reason: `plugin/${last}: no next plugin found` };
  return composeChain(
    handlers.map((handler, place) => noteHandler(handler, place === 0)),
    (query) => {
      query.noteHandler('');
      return end;
    },
  );
}

/**
 * Wraps a handler so that it notes its name in each query that it sees, and has a span in those that are traced. As in CoreDNS, the first
 * of a block has none: that of the query, or of who asks the block, begins where it does.
 */
function noteHandler(handler: Handler, isFirst: boolean): Handler {
  return {
    ...handler,
    handle(query, next) {
      query.noteHandler(handler.name);
      const { span } = query;
      return span === undefined || isFirst
        ? handler.handle(query, next)
        : handleInSpan(handler, query, next, span);
    },
  };
}

/** What the handler asks of those behind it is within its span, even if it asks several questions at once. */
async function handleInSpan(handler: Handler, query: Query, next: Next, outer: TraceSpan): Promise<Answer> {
  const span = outer.startChild(handler.name);
  query.span = span;
  try {
    return await handler.handle(query, (asked) => {
      asked.span = span;
      return next(asked);
    });
  } finally {
    span.end();
    query.span = outer;
  }
}

/**
 * The names for which a handler before the forwarder may answer or change questions for addresses, with all names below them.
 * Publishers for any name do not count: the table has a node for each of their names.
 *
 * @param handlers in order
 * @param arePublished whether readers look up names of publishers
 * @returns undefined if it may be any name, or the block has no forwarder
 */
export function addressesAnsweredBefore(
  handlers: readonly Handler[],
  arePublished = true,
): readonly NameKey[] | undefined {
  const names: NameKey[] = [];
  for (const { role, questions, flags } of handlers) {
    if (role === 'forwarder') return names;
    // Readers look up entries before they forward, and change flags themselves.
    if (role === 'cache' || flags !== undefined) continue;
    for (const { name, types, ednsOptions, maxLabels } of questions.matches()) {
      // Ask rules keep readers from queries with such options, and their routes from names with few labels.
      if (ednsOptions !== undefined || maxLabels !== undefined) continue;
      if (types !== 'all' && !ADDRESS_TYPES.some((type) => types.has(type))) continue;
      if (name.kind !== 'any') names.push(name.name);
      else if (role !== 'publisher' || !arePublished) return undefined;
    }
  }
  return undefined;
}

/** Names with fewer labels are for handlers before the forwarder. @param handlers in order */
export function minLabelsForwarded(handlers: readonly Handler[]): number {
  const forwarder = handlers.findIndex(({ role }) => role === 'forwarder');
  const before = forwarder < 0 ? handlers : handlers.slice(0, forwarder);
  const labels = before.flatMap(({ questions }) =>
    [...questions.matches()].flatMap(({ maxLabels }) => maxLabels ?? []),
  );
  return Math.max(0, ...labels) + 1;
}

const ADDRESS_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA];
