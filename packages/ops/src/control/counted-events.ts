/**
 * Counts events without explaining them, which costs little. Reasons are found when somebody asks for the counts.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { RCODE } from '@portolan/dns/types.ts';
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import {
  AUTHORITATIVE,
  type QueryStreamSource,
  RCODE_MASK,
  type ReadEvent,
  readEvent,
} from './query-stream.ts';
import type { CountedQuery } from './top-counts.ts';

/** Questions whose parts are kept: names repeat. */
const MAX_KEPT = 2_048;
/** The cause of an answer without records, until its reason is looked for. */
export const NO_DATA = 'NODATA';

interface EventParts extends Pick<ReadEvent, 'namespace' | 'isSearched' | 'isOfCluster'> {
  readonly question: string;
  /** Of a name that does not exist. */
  readonly failure: string;
}

export class CountedEvents {
  /** Of names that do not exist, and of all others. */
  readonly #missing = new Map<string, EventParts>();
  readonly #others = new Map<string, EventParts>();
  readonly #clients = new Map<number, string>();
  readonly #domain: string;

  /** @param domain the apex of the cluster's zone */
  constructor(domain: string) {
    this.#domain = domain;
  }

  /**
   * @param isNamespace at the time of the event: namespaces come and go
   * @returns undefined for events without a question
   */
  read(event: QueryEvent, isNamespace: (label: string) => boolean): CountedQuery | undefined {
    if (event.question.length === 0) return undefined;
    const code = event.responseFlags & RCODE_MASK;
    const isMissing = code === RCODE.NXDOMAIN;
    const {
      question,
      namespace: label,
      isSearched,
      isOfCluster,
      failure,
    } = this.#readParts(event, isMissing);
    const namespace = label !== undefined && isNamespace(label) ? label : undefined;
    const rcode = rcodeName(code);
    const client = this.#formatClient(event.client);
    const source = toWatchedSource(event, isOfCluster);
    const counted = { rcode, source, question, client, namespace, isSearched };
    if (isMissing) return { ...counted, failure };
    if (code === RCODE.NOERROR && event.answers > 0) return { ...counted, failure: undefined };
    return { ...counted, failure: `${code === RCODE.NOERROR ? NO_DATA : rcode} ${question}` };
  }

  /** Names repeat, and reading one costs more than all else. */
  #readParts(event: QueryEvent, isMissing: boolean): EventParts {
    const { buffer, byteOffset, length } = event.question;
    const kept = isMissing ? this.#missing : this.#others;
    const key = Buffer.from(buffer, byteOffset, length).toString('latin1');
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= MAX_KEPT) kept.clear();
    const read = readEvent(event, this.#domain);
    const question = `${read?.key ?? ''} ${typeName(read?.typeNumber ?? 0)}`;
    const { namespace, isSearched = false, isOfCluster = false } = read ?? { namespace: undefined };
    const parts = { question, namespace, isSearched, isOfCluster, failure: `NXDOMAIN ${question}` };
    kept.set(key, parts);
    return parts;
  }

  #formatClient(client: Uint8Array): string {
    if (client.length !== 4) return formatAddress(client);
    const [first = 0, second = 0, third = 0, fourth = 0] = client;
    const number = (first << 24) | (second << 16) | (third << 8) | fourth;
    const known = this.#clients.get(number);
    if (known !== undefined) return known;
    if (this.#clients.size >= MAX_KEPT) this.#clients.clear();
    const text = formatAddress(client);
    this.#clients.set(number, text);
    return text;
  }
}

/** An expired answer looks like any other that is cached. */
function toWatchedSource({ source, responseFlags }: QueryEvent, isOfCluster: boolean): QueryStreamSource {
  if ((responseFlags & RCODE_MASK) === RCODE.REFUSED) return 'block';
  const isOwn = (responseFlags & AUTHORITATIVE) !== 0;
  if (isOwn && isOfCluster) return 'cluster';
  if (source === 'chain') return 'upstream';
  return isOwn ? 'local' : 'cache';
}
