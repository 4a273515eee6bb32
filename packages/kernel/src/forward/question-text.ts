/**
 * A question as one flat string, for use as a `Map` key. It is shorter than an object, costs one allocation, and keeps
 * no other memory alive.
 *
 *     octets 0 to 3   type and class    octet 4   `DO` | `CD` << 1    octets 5 …   the name: lower case, uncompressed
 */
import type { Brand } from '@portolan/dns/brand.ts';
import { MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import type { CachedQuestion } from '../table/types.ts';

/** One character per octet. */
export type QuestionText = Brand<string, 'QuestionText'>;

const NAME = 5;
const DNSSEC_OK = 1;
const CHECKING_DISABLED = 2;

/** Scratch memory; its content is not kept between calls. */
const scratch = Buffer.alloc(NAME + MAX_NAME_OCTETS);

export function textOfQuestion({
  name,
  type,
  class: dnsClass,
  dnssecOk,
  checkingDisabled,
}: CachedQuestion): QuestionText {
  scratch.set(name, NAME);
  scratch.writeInt32BE((type << 16) | dnsClass, 0);
  scratch[NAME - 1] = (dnssecOk ? DNSSEC_OK : 0) | (checkingDisabled ? CHECKING_DISABLED : 0);
  return scratch.toString('latin1', 0, NAME + name.length) as QuestionText;
}
