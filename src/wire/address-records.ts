/**
 * A (RFC 1035 section 3.4.1) and AAAA (RFC 3596 section 2.2).
 */
import { formatAddress, parseAddress } from './address.ts';
import { type Codec, type DataOf, RecordDataError } from './record-codec.ts';

function addressCodec(kind: 'A' | 'AAAA', octets: number): Codec<DataOf<'A' | 'AAAA'>> {
  return {
    read: (from) => ({ kind, address: formatAddress(from.bytes(octets)) }),
    write(data, into) {
      const address = parseAddress(data.address);
      if (address?.length !== octets)
        throw new RecordDataError(kind, 'not an address of its kind', data.address);
      into.bytes(address);
    },
    present: (data) => data.address,
  };
}

export const A = addressCodec('A', 4);
export const AAAA = addressCodec('AAAA', 16);
