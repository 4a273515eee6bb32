/**
 * SOA (RFC 1035 section 3.3.13).
 */
import type { Codec, DataOf } from './record-codec.ts';

export const SOA: Codec<DataOf<'SOA'>> = {
  read: (from) => ({
    kind: 'SOA',
    primary: from.name(),
    mailbox: from.name(),
    serial: from.uint32(),
    refresh: from.uint32(),
    retry: from.uint32(),
    expire: from.uint32(),
    minimum: from.uint32(),
  }),
  write(data, into) {
    into.name(data.primary);
    into.name(data.mailbox);
    into.uint32(data.serial);
    into.uint32(data.refresh);
    into.uint32(data.retry);
    into.uint32(data.expire);
    into.uint32(data.minimum);
  },
  present: (data) =>
    `${data.primary} ${data.mailbox} ${data.serial} ${data.refresh} ${data.retry} ${data.expire} ${data.minimum}`,
};
