/**
 * Types that locate services: MX (RFC 1035 section 3.3.9), SRV (RFC 2782), NAPTR (RFC 3403 section 4).
 */
import { quote } from './character-string.ts';
import type { Codec, DataOf } from './record-codec.ts';

export const MX: Codec<DataOf<'MX'>> = {
  read: (from) => ({ kind: 'MX', preference: from.uint16(), exchange: from.name() }),
  write(data, into) {
    into.uint16(data.preference);
    into.name(data.exchange);
  },
  present: (data) => `${data.preference} ${data.exchange}`,
};

export const SRV: Codec<DataOf<'SRV'>> = {
  read: (from) => ({
    kind: 'SRV',
    priority: from.uint16(),
    weight: from.uint16(),
    port: from.uint16(),
    target: from.name(),
  }),
  write(data, into) {
    into.uint16(data.priority);
    into.uint16(data.weight);
    into.uint16(data.port);
    into.fullName(data.target);
  },
  present: (data) => `${data.priority} ${data.weight} ${data.port} ${data.target}`,
};

export const NAPTR: Codec<DataOf<'NAPTR'>> = {
  read: (from) => ({
    kind: 'NAPTR',
    order: from.uint16(),
    preference: from.uint16(),
    flags: from.characterString(),
    services: from.characterString(),
    regexp: from.characterString(),
    replacement: from.name(),
  }),
  write(data, into) {
    into.uint16(data.order);
    into.uint16(data.preference);
    into.characterString(data.flags);
    into.characterString(data.services);
    into.characterString(data.regexp);
    into.fullName(data.replacement);
  },
  present: (data) =>
    `${data.order} ${data.preference} ${quote(data.flags)} ${quote(data.services)} ${quote(data.regexp)} ${data.replacement}`,
};
