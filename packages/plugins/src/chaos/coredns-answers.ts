/**
 * The names of class CHAOS as CoreDNS answers them. Source: plugin/chaos of CoreDNS 1.14.7.
 */
import { type ChaosAnswers, type ChaosRecords, cutString } from './chaos.ts';
import type { CoreDnsIdentity } from './options.ts';

export interface DefaultIdentity {
  readonly hostName: string;
  /** Used if the options have no version. Likewise for the authors. */
  readonly version: string;
  readonly authors: readonly string[];
}

export function answerAsCoreDns(options: CoreDnsIdentity, defaults: DefaultIdentity): ChaosAnswers {
  const { version = defaults.version, authors = defaults.authors } = options;
  return {
    constants: new Map<string, ChaosRecords>([
      ['version.bind.', toRecords([version])],
      ['version.server.', toRecords([version])],
      ['authors.bind.', toRecords(authors)],
      ['hostname.bind.', toRecords([defaults.hostName])],
      ['id.server.', toRecords([defaults.hostName])],
    ]),
    ttl: 0,
    counts: new Map(),
    answersAny: false,
    authoritative: false,
    further: 'next',
  };
}

/** One record for each text. */
function toRecords(texts: readonly string[]): ChaosRecords {
  return texts.map((text) => cutString(parseText(text)));
}

/** Reads text as in a zone file: `\\DDD` is an octet, `\\X` is X, and a backslash at the end is ignored. */
function parseText(text: string): Uint8Array {
  const pieces = text.match(/\\\d{3}|\\.?|[^\\]+/gs) ?? [];
  return Buffer.concat(
    pieces.map((piece) => {
      if (!piece.startsWith('\\')) return Buffer.from(piece);
      const isOctet = piece.length === 4;
      return isOctet ? Buffer.of(Number(piece.slice(1)) & 0xff) : Buffer.from(piece.slice(1));
    }),
  );
}
