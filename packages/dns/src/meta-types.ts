/**
 * Types that no record has: questions for them concern a server or a transaction (RFC 6895 section 3.1). Each gets the
 * error code from its RFC.
 */
import { RCODE, TYPE } from './types.ts';

const CODES: ReadonlyMap<number, number> = new Map([
  // They appear only in the additional section, never in questions (RFC 6891 section 6.1.1, RFC 8945 section 5.1).
  [TYPE.OPT, RCODE.FORMERR],
  [TYPE.TSIG, RCODE.FORMERR],
  // We do not transfer zones (RFC 5936 section 2.2.1, RFC 1995 section 2).
  [TYPE.AXFR, RCODE.REFUSED],
  [TYPE.IXFR, RCODE.REFUSED],
  // RFC 2930, and the mail types of RFC 1035.
  [TYPE.TKEY, RCODE.NOTIMP],
  [TYPE.MAILA, RCODE.NOTIMP],
  [TYPE.MAILB, RCODE.NOTIMP],
]);

export const META_TYPES: ReadonlySet<number> = new Set(CODES.keys());

/** The response code to a question for a type that no record has; `undefined` for all others, ANY among them. */
export function codeOfMetaType(type: number): number | undefined {
  return CODES.get(type);
}
