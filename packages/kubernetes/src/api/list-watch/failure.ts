/**
 * Failures between this program and an API server, as values: the kind decides the reaction, the words are for people.
 */
import { asList, asRecord, asText } from '../../objects/trim/fields.ts';

export type WaitingKind =
  | 'unreachable'
  | 'network'
  | 'authentication'
  | 'permission'
  | 'server'
  | 'missing-kind';

export type Failure =
  | {
      readonly kind: WaitingKind;
      readonly words: string;
      /** Milliseconds that the server asked to wait. */
      readonly retryAfter?: number | undefined;
    }
  /** All must be listed again. */
  | {
      readonly kind: 'expired';
      readonly words: string;
      /** `too-old`: the server no longer has the changes after our version. `doubtful`: the objects held may be wrong. */
      readonly why: 'too-old' | 'doubtful';
      /**
       * Continues a list whose version is gone, at the latest version: what follows is newer than the pages before. From the
       * answer 410 to a continue token.
       */
      readonly continueToken?: string | undefined;
    }
  /** The server does not know `sendInitialEvents`. */
  | { readonly kind: 'no-watch-list'; readonly words: string }
  /** A bug in this program: the objects held may be wrong. */
  | { readonly kind: 'unexpected'; readonly words: string; readonly error: unknown }
  | { readonly kind: 'stopped'; readonly words: string };

/** Carries a failure to the loop of its watch, which catches it. */
export class ListWatchError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.words);
    this.name = 'ListWatchError';
    this.failure = failure;
  }
}

/** Characters of a server's message that are kept, for logs and readiness. */
const MAX_WORDS = 300;

/**
 * @param status of the answer, or the code of an in-stream Status
 * @param body the parsed Status object, or the text of another answer. Any other value is tolerated
 * @param now milliseconds since the epoch, for a `Retry-After` that is a date
 */
export function toFailure(status: number, body: unknown, retryAfter: unknown, now: number): Failure {
  const record = asRecord(body);
  const message = asText(record?.['message']) ?? asText(body)?.trim() ?? '';
  const words = `${status} ${message}`.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_WORDS);
  if (status === 401) return { kind: 'authentication', words };
  if (status === 403) return { kind: 'permission', words };
  if (status === 404) return { kind: 'missing-kind', words };
  if (status === 410) {
    const token = asText(asRecord(record?.['metadata'])?.['continue']);
    return { kind: 'expired', why: 'too-old', words, continueToken: token === '' ? undefined : token };
  }
  if (isTooLarge(record)) return { kind: 'expired', why: 'doubtful', words };
  return { kind: 'server', words, retryAfter: readRetryAfter(retryAfter, now) };
}

/** Whether the server is behind the requested version, for instance after a restore from a backup. */
function isTooLarge(status: unknown): boolean {
  const causes = asList(asRecord(asRecord(status)?.['details'])?.['causes']);
  return causes.some((cause) => asRecord(cause)?.['reason'] === 'ResourceVersionTooLarge');
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function readRetryAfter(header: unknown, now: number): number | undefined {
  const text = asText(header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
