/**
 * Names that SkyDNS treats in another way before it looks into etcd: those below stub zones, which other servers answer, and
 * `local.dns.DOMAIN` (`-local`), which has the records of another name under its own.
 */
import { isWithin, toKey } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { joinQuestions, NO_QUESTIONS, namesWithin, type Questions } from '@portolan/kernel/chain/match.ts';
import type { SkyDnsEtcdOptions } from './options.ts';

/** @param zones of the handler */
export function withSkyDnsNames(
  handler: Extract<Handler, { role: 'publisher' }>,
  zones: readonly NameKey[],
  { exceptions, localName }: Pick<SkyDnsEtcdOptions, 'exceptions' | 'localName'>,
): Handler {
  const { unpublished = NO_QUESTIONS } = handler;
  const passed = namesWithin(new Set(exceptions));
  const local = localName === undefined ? NO_QUESTIONS : only(localName.alias);
  return {
    ...handler,
    unpublished: joinQuestions(unpublished, namesWithin(findCommonZones(exceptions, zones)), local),
    handle(query, next) {
      if (passed.includes(query.key, query.question.type)) return next(query);
      if (query.key !== localName?.alias) return handler.handle(query, next);
      const { name } = localName;
      const answer = handler.handle(query.about({ ...query.question, name }), next);
      return renameOwners(answer, name, query.question.name);
    },
  };
}

/** The largest zones whose names are within zones of both lists. */
function findCommonZones(some: readonly NameKey[], others: readonly NameKey[]): ReadonlySet<NameKey> {
  const below = (zones: readonly NameKey[], tops: readonly NameKey[]) =>
    zones.filter((zone) => tops.some((top) => isWithin(zone, top)));
  return new Set([...below(some, others), ...below(others, some)]);
}

function only(name: NameKey): Questions {
  return {
    includes: (key) => key === name,
    matches: () => [{ name: { kind: 'exact', name }, types: 'all' }],
  };
}

async function renameOwners(
  made: Answer | Promise<Answer>,
  from: NameKey,
  to: AbsoluteName,
): Promise<Answer> {
  const answer = await made;
  if (answer.kind !== 'records') return answer;
  const records = answer.records.map((record) =>
    toKey(record.name) === from ? { ...record, name: to } : record,
  );
  return { ...answer, records };
}
