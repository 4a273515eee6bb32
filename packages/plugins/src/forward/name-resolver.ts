/**
 * Resolves names as every query is resolved: for upstream servers that are given by name.
 */
import { CLASS, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import { createInternalQuery } from '@portolan/kernel/chain/internal-query.ts';
import type { ResolveName } from '@portolan/kernel/forward/named-servers.ts';

const PLAIN = { dnssecOk: false, checkingDisabled: false };

/** @param chain all handlers, once they exist */
export function createNameResolver(chain: () => Chain): ResolveName {
  return async (name) => {
    const records: ResourceRecord[] = [];
    for (const type of [TYPE.A, TYPE.AAAA])
      records.push(
        ...listRecords(await chain()(createInternalQuery({ name, type, class: CLASS.IN }, PLAIN))),
      );
    const addresses = records.flatMap(({ data }) => ('address' in data ? [data.address] : []));
    const ttl = addresses.length === 0 ? 0 : Math.min(...records.map((record) => record.ttl));
    return { addresses, ttl };
  };
}

function listRecords(answer: Answer): readonly ResourceRecord[] {
  if (answer.kind === 'records') return answer.records;
  return answer.kind === 'forwarded' ? answer.answers : [];
}
