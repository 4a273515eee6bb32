/**
 * Explains how a server block treats a question: which plugins may answer it, and whether reader threads can answer by themselves.
 *
 * It applies the rules that make the views of readers, so it says the same as they do.
 */
import { toKey } from '@portolan/dns/name.ts';
import type { NameKey, Question } from '@portolan/dns/types.ts';
import { TYPE } from '@portolan/dns/types.ts';
import type { Handler } from '../../chain/handler.ts';
import { covers, isWithinAny } from '../../chain/match.ts';
import { getViewName } from '../../plan/server-blocks-plan.ts';
import { namesNotForwarded } from './block-route.ts';
import {
  findReaderCache,
  hasReadNodes,
  mayDerive,
  RARE_TYPE_NUMBERS,
  type ViewedBlock,
} from './block-views.ts';

export interface ExplainedGroup {
  readonly server: string;
  /** Undefined: no block accepts the question, and it is refused. */
  readonly block: ExplainedBlock | undefined;
}

export interface ExplainedBlock {
  readonly zone: NameKey;
  /** The name of its view; empty: none. */
  readonly view: string;
  /** In the order in which they see the question. */
  readonly plugins: readonly ExplainedPlugin[];
  /** What reader threads do without the plugins; empty: nothing. */
  readonly readers: readonly ReaderPart[];
}

export interface ExplainedPlugin {
  readonly name: string;
  /** `cache`: it answers with what the plugins behind it have answered before. */
  readonly part: 'may answer' | 'stores answers' | 'may change answers' | 'passes on';
}

/**
 * `names`: answers from names in the table. `cache`: repeats answers of the plugin `cache`. `derived`: repeats answers that plugins
 * have made from the Corefile and the cluster. `forwards`: asks the servers of `forward`.
 */
export type ReaderPart = 'names' | 'cache' | 'derived' | 'forwards';

/**
 * @param zone by which the block was chosen
 * @param isChosenByReaders whether readers choose this block for the client by themselves
 */
export function explainQuestion(
  block: ViewedBlock,
  { name, type }: Question,
  zone: NameKey,
  isChosenByReaders: boolean,
): ExplainedBlock {
  const key = toKey(name);
  const plugins = block.handlers.map((handler) => ({ name: handler.name, part: toPart(handler, key, type) }));
  const readers = isChosenByReaders ? [...readerParts(block, zone, key, type)] : [];
  return { zone, view: getViewName(block.plan), plugins, readers };
}

function toPart({ role, questions, answers }: Handler, name: NameKey, type: number): ExplainedPlugin['part'] {
  if (role === 'cache') return 'stores answers';
  if (questions.includes(name, type)) return 'may answer';
  return answers === 'unchanged' ? 'passes on' : 'may change answers';
}

function* readerParts(block: ViewedBlock, zone: NameKey, name: NameKey, type: number): Iterable<ReaderPart> {
  const { handlers, rules } = block;
  const readsNodes = hasReadNodes(block);
  if (readsNodes && isPublished(handlers, name, type)) yield 'names';
  if (findReaderCache(block) !== undefined) yield 'cache';
  else if (mayDerive(handlers)) yield 'derived';
  if (!rules.readersForward || (type !== TYPE.A && type !== TYPE.AAAA)) return;
  const others = namesNotForwarded({ zone, handlers, readsNodes });
  if (others !== undefined && !isWithinAny(name, new Set(others))) yield 'forwards';
}

/** Whether the first plugin for the question publishes its names in the table. */
function isPublished(handlers: readonly Handler[], name: NameKey, type: number): boolean {
  if (RARE_TYPE_NUMBERS.has(type)) return false;
  for (const handler of handlers) {
    if (handler.role === 'cache' || !handler.questions.includes(name, type)) continue;
    const matches = [...handler.questions.matches()].filter((match) => covers(match, name, type));
    // Explanations are for clients that want no signatures.
    if (matches.every(({ ifMissing, dnssecOk }) => ifMissing === true || dnssecOk === true)) continue;
    return handler.role === 'publisher' && handler.unpublished?.includes(name, type) !== true;
  }
  return false;
}
