/**
 * How plugins that serve zones answer, as far as restored deviations decide it: found once for each plugin, not for each query.
 */
import { MAX_MESSAGE_OCTETS, MAX_UDP_SIZE } from '@portolan/dns/response-size.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';

export interface ZoneAnswerRules {
  /** Octets of a response over UDP at most, whatever the client offers. */
  readonly maxUdpSize: number;
  /** Aliases that are followed for one question at most, behind the first. */
  readonly maxAliases: number;
  /** Whether each alias of a circle is there once; otherwise until they are too many, and DNAMEs fail. */
  readonly endsCircles: boolean;
  /** Whether an alias whose target lacks the type has the SOA record; otherwise the name servers of the zone. */
  readonly deniesBehindAliases: boolean;
  /** Whether the authority section behind an alias that leaves the zone is that of the other zone; otherwise that of this one. */
  readonly trustsOtherZones: boolean;
  /** Whether TC of an answer about a name elsewhere is passed on. */
  readonly passesTruncation: boolean;
  /** Whether service bindings without a target, and aliases of bindings, have additional records (RFC 9460). */
  readonly followsBindings: boolean;
}

const MAX_ALIASES = 16;
const MAX_ALIASES_OF_COREDNS = 8;

export function findZoneAnswerRules(restored: RestoredDeviations): ZoneAnswerRules {
  return {
    maxUdpSize: restored.has('udp-size-bound') ? MAX_MESSAGE_OCTETS : MAX_UDP_SIZE,
    maxAliases: restored.has('alias-chains') ? MAX_ALIASES_OF_COREDNS : MAX_ALIASES,
    endsCircles: !restored.has('alias-circles'),
    deniesBehindAliases: !restored.has('alias-to-nothing'),
    trustsOtherZones: !restored.has('alias-to-elsewhere'),
    passesTruncation: !restored.has('truncated-target'),
    followsBindings: !restored.has('service-bindings'),
  };
}
