/**
 * Handlers that a block is put together with, beside those of `handlers/`.
 */
import { type Chain, composeChain, type Handler } from '../chain/handler.ts';
import { ALL_QUESTIONS, type Questions } from '../chain/match.ts';
import { CLASS, type Question, TYPE } from '../wire/types.ts';

/** Sends these questions past the handlers in between, to those of `behind`. */
export function createBypass(name: string, questions: Questions, behind: readonly Handler[]): Handler {
  const chain = composeChain(behind);
  return {
    name,
    role: 'other',
    answers: 'unchanged',
    questions,
    handle: (query, next) =>
      questions.includes(query.key, query.question.type) ? chain(query) : next(query),
  };
}

/** The end of a block: the cache, and behind it the upstream servers. */
export function createForwardHandler(answer: Chain): Handler {
  return {
    name: 'forward',
    role: 'forwarder',
    answers: 'unchanged',
    questions: ALL_QUESTIONS,
    handle: (query) => {
      // What it finds is kept by its own cache.
      query.forbidStoring();
      return answer(query);
    },
  };
}

/** Drops our own probes: a server that we asked has sent them back. */
export function createLoopHandler(isOwnProbe: (question: Question) => boolean): Handler {
  return {
    name: 'loop',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: (name, type) => type === TYPE.TXT && isOwnProbe({ name, type, class: CLASS.IN }),
      // Probes ask for random names below stub zones and the root: none of them is ever published.
      matches: () => [],
    },
    handle: (query, next) => (isOwnProbe(query.question) ? { kind: 'drop' } : next(query)),
  };
}
