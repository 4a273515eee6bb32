/**
 * Answers questions about local names, from hosts files and options.
 *
 * The table answers nearly all such questions. It leaves the rest to the chain: questions about all types at once, about types
 * for which an alias is the whole answer, and questions whose answer depends on the client.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRange } from '@portolan/dns/address-range.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { LocalNames } from '@portolan/sources/local/local-names.ts';

export interface KnownNamesOptions {
  /** Holds the names in the table. */
  readonly publication: PublicationId;
  /** The current names. */
  readonly names: () => LocalNames;
  /** The networks of this machine's interfaces; called only if answers depend on them. */
  readonly networks: () => readonly AddressRange[];
}

export function createKnownNamesHandler({ publication, names, networks }: KnownNamesOptions): Handler {
  const handle: Handler['handle'] = (query, next) => {
    const known = names();
    const { type } = query.question;
    const answer = known.answer(query.key, type);
    if (answer === undefined) return next(query);
    const hasChoice = (type === TYPE.A || type === TYPE.ANY) && known.isLocalised(query.key);
    const records = hasChoice ? chooseForClient(query, answer.records, networks()) : answer.records;
    return present(query, records, answer.additionals);
  };
  return {
    name: 'hosts',
    role: 'publisher',
    publication,
    answers: 'unchanged',
    questions: {
      includes: (name) => names().has(encodeName(name)),
      matches: () => [{ name: { kind: 'any' }, types: 'all' }],
    },
    handle,
  };
}

/** Repeats the name as it was asked for, capitals included. */
function present(
  query: Query,
  known: readonly ResourceRecord[],
  additionals: readonly ResourceRecord[],
): Answer {
  const { name } = query.question;
  const records = known.map((record) => (record.name === query.key ? { ...record, name } : record));
  return { kind: 'records', records, additionals, authoritative: true };
}

/**
 * The addresses in the client's network if the name has such addresses; else all of them.
 *
 * dnsmasq uses the network in which the question arrived. This is the client's own network if it is directly connected.
 */
function chooseForClient(
  query: Query,
  records: readonly ResourceRecord[],
  networks: readonly AddressRange[],
): readonly ResourceRecord[] {
  const client = parseAddress(query.dependOnClient().address);
  const near = networks.filter((each) => client !== undefined && matchRange(each)(client));
  const [closest] = near.toSorted((one, other) => other.prefix - one.prefix);
  if (closest === undefined) return records;
  const isInNetwork = matchRange(closest);
  const isNear = ({ data }: ResourceRecord) => {
    const octets = data.kind === 'A' ? parseAddress(data.address) : undefined;
    return octets !== undefined && isInNetwork(octets);
  };
  if (!records.some(isNear)) return records;
  return records.filter((record) => record.data.kind !== 'A' || isNear(record));
}
