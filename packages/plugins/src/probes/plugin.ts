/**
 * `probes`: drops our own loop probes when a server that we asked sends them back.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { CLASS, type Question, TYPE } from '@portolan/dns/types.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import { Forward } from '../forward/forward.ts';

export const probes = definePlugin({
  name: 'probes',
  create: (_: undefined, { find }) => ({
    handler: createProbesHandler((question) => find(Forward)?.isOwnProbe(question) === true),
  }),
});

export function createProbesHandler(isOwnProbe: (question: Question) => boolean): Handler {
  return {
    name: 'loop',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: (name, type) => type === TYPE.TXT && isOwnProbe({ name, type, class: CLASS.IN }),
      // Probes ask for random names below stub zones and the root, which are never published.
      matches: () => NO_QUESTIONS.matches(),
    },
    handle: (query, next) => (isOwnProbe(query.question) ? { kind: 'drop' } : next(query)),
  };
}
