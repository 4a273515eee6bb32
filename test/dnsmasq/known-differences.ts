/**
 * Our intended differences from dnsmasq, with reasons. Each must occur; otherwise it is no longer a difference.
 */
import { type Heard, isSame, type Question } from './both.ts';

/** What was asked of both, and what they said. */
export interface Compared {
  readonly words: readonly string[];
  readonly question: Question;
  readonly real: Heard;
  readonly ours: Heard;
}

export interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  /** What dnsmasq would have said without the difference; nothing if this is not one of its kind. */
  explain(compared: Compared): Heard | undefined;
}

const has = (words: readonly string[], option: string) => words.some((word) => word.startsWith(option));
const hasTtls = ({ real, ours }: Compared) => !isSame(real, ours) && real.records.length > 0;
const withOurTtls = ({ real, ours }: Compared): Heard => ({ ...real, ttls: ours.ttls });

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    name: 'authority',
    reason:
      'dnsmasq repeats the AA bit of an authoritative upstream the first time, and not from its cache. A resolver is no ' +
      'authority for what it forwards (RFC 1034 section 4.3.1), so we never say that we are.',
    explain: ({ real, ours }) =>
      real.isAuthoritative && !ours.isAuthoritative ? { ...real, isAuthoritative: false } : undefined,
  },
  {
    name: 'first answers',
    reason:
      'dnsmasq tells the first client the TTL of the upstream and all others that of its cache. With us the first one is told ' +
      'what all others are, so that --min-cache-ttl and --max-cache-ttl hold for all.',
    explain: (compared) =>
      hasTtls(compared) && (has(compared.words, '--max-cache-ttl') || has(compared.words, '--min-cache-ttl'))
        ? withOurTtls(compared)
        : undefined,
  },
  {
    name: 'SOA of a denial',
    reason:
      'dnsmasq answers questions for SOA with what it has kept of a denial, whose TTL is that of denials. We ask the upstream.',
    explain: (compared) =>
      compared.question[1] === 'SOA' && hasTtls(compared) ? withOurTtls(compared) : undefined,
  },
  {
    name: 'aliases of nothing',
    reason:
      'Of an alias whose target does not exist dnsmasq tells the TTL of the alias. We keep alias and denial as one answer, ' +
      'which lasts as long as the shorter of them, and say so.',
    explain: (compared) =>
      compared.real.status === 'NXDOMAIN' && hasTtls(compared) ? withOurTtls(compared) : undefined,
  },
  {
    name: 'aliases in a circle',
    reason:
      'An upstream that tells aliases which lead back to one of themselves gives no address, and has denied none. A client would take ' +
      'the answer for a name without addresses, so it gets SERVFAIL.',
    explain: ({ question, real, ours }) =>
      question[0] === 'ring.example.test' && real.records.length > 0 && ours.status === 'SERVFAIL'
        ? ours
        : undefined,
  },
  {
    name: 'targets left out',
    reason:
      'An upstream that tells an alias without its target, as authoritative servers do, has not denied the target. dnsmasq ' +
      'takes it so, and answers NODATA for it for a while.',
    explain: ({ question, real, ours }) =>
      question[0] === 'host.other.test' && real.status === 'NOERROR' && real.records.length === 0
        ? { ...ours, isAuthoritative: real.isAuthoritative }
        : undefined,
  },
  {
    name: 'whole answers',
    reason:
      'What the upstream cuts we ask for by TCP if it is cached, so rules for replies see all of it. dnsmasq hands the cut answer on.',
    explain: ({ real, ours }) =>
      real.isCut && !ours.isCut ? { ...ours, isAuthoritative: real.isAuthoritative } : undefined,
  },
  {
    name: 'the last refusal',
    reason:
      'With --strict-order dnsmasq goes to the next server when one refuses, and is silent when there is none. We tell the ' +
      'client what the last one said.',
    explain: ({ words, real, ours }) =>
      has(words, '--strict-order') && real.status === 'no answer' && ours.status === 'REFUSED'
        ? ours
        : undefined,
  },
];

/** @returns the differences that explain it, none if there is nothing to explain; undefined if they do not */
export function explain(compared: Compared): readonly KnownDifference[] | undefined {
  const met: KnownDifference[] = [];
  let { real } = compared;
  for (const difference of KNOWN_DIFFERENCES) {
    if (isSame(real, compared.ours)) return met;
    const otherwise = difference.explain({ ...compared, real });
    if (otherwise === undefined) continue;
    met.push(difference);
    real = otherwise;
  }
  return isSame(real, compared.ours) ? met : undefined;
}
