/**
 * Types made of text: TXT and HINFO (RFC 1035 sections 3.3.14 and 3.3.2), CAA (RFC 8659 section 4.1).
 */
import { quote } from './character-string.ts';
import { type Codec, type DataOf, RecordDataError } from './record-codec.ts';
import { WireError } from './wire-error.ts';

export const TXT: Codec<DataOf<'TXT'>> = {
  read(from) {
    const strings = [from.characterString()];
    while (from.remaining > 0) strings.push(from.characterString());
    return { kind: 'TXT', strings };
  },
  write(data, into) {
    if (data.strings.length === 0) throw new RecordDataError('TXT', 'at least one string is wanted', 'none');
    for (const string of data.strings) {
      if (string.length > 255)
        throw new RecordDataError('TXT', 'a string of more than 255 octets', quote(string).slice(0, 100));
      into.characterString(string);
    }
  },
  present: (data) => data.strings.map(quote).join(' '),
};

export const HINFO: Codec<DataOf<'HINFO'>> = {
  read: (from) => ({ kind: 'HINFO', cpu: from.characterString(), os: from.characterString() }),
  write(data, into) {
    into.characterString(data.cpu);
    into.characterString(data.os);
  },
  present: (data) => `${quote(data.cpu)} ${quote(data.os)}`,
};

export const CAA: Codec<DataOf<'CAA'>> = {
  read(from) {
    const flags = from.uint8();
    const tag = Buffer.from(from.characterString()).toString('latin1');
    if (tag === '') throw new WireError('CAA record without a tag', from.position);
    return { kind: 'CAA', flags, tag, value: from.rest() };
  },
  write(data, into) {
    into.uint8(data.flags);
    into.characterString(Buffer.from(data.tag, 'latin1'));
    into.bytes(data.value);
  },
  present: (data) => `${data.flags} ${data.tag} ${quote(data.value)}`,
};
