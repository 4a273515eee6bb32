/**
 * The types whose data is one name: CNAME, NS and PTR (RFC 1035 section 3.3), DNAME (RFC 6672).
 */
import type { Codec, DataOf } from './record-codec.ts';

type TargetData = DataOf<'CNAME'>;

function targetCodec(kind: TargetData['kind']): Codec<TargetData> {
  return {
    read: (from) => ({ kind, target: from.name() }),
    write(data, into) {
      // RFC 6672 section 2.5: the target of a DNAME must not be compressed.
      if (kind === 'DNAME') into.fullName(data.target);
      else into.name(data.target);
    },
    present: (data) => data.target,
  };
}

export const CNAME = targetCodec('CNAME');
export const DNAME = targetCodec('DNAME');
export const NS = targetCodec('NS');
export const PTR = targetCodec('PTR');
