/**
 * `local-name`: SkyDNS's `-local`. `local.dns.DOMAIN` has the records of another name, under its own.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { definePlugin } from '../../contract/define-plugin.ts';
import { toKey } from '../../wire/name.ts';
import type { AbsoluteName, NameKey } from '../../wire/types.ts';

export interface LocalNameOptions {
  readonly alias: NameKey;
  readonly name: NameKey;
}

export const localName = definePlugin({
  name: 'local-name',
  create: (options: LocalNameOptions) => ({ handler: createLocalNameHandler(options) }),
});

export function createLocalNameHandler({
  alias,
  name,
}: {
  readonly alias: NameKey;
  readonly name: NameKey;
}): Handler {
  return {
    name: 'local-name',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: (key) => key === alias,
      matches: () => [{ name: { kind: 'exact', name: alias }, types: 'all' }],
    },
    async handle(query, next) {
      if (query.key !== alias) return await next(query);
      const answer = await next(query.about({ ...query.question, name }));
      return renameOwners(answer, name, query.question.name);
    },
  };
}

function renameOwners(answer: Answer, from: NameKey, to: AbsoluteName): Answer {
  if (answer.kind !== 'records') return answer;
  const records = answer.records.map((record) =>
    toKey(record.name) === from ? { ...record, name: to } : record,
  );
  return { ...answer, records };
}
