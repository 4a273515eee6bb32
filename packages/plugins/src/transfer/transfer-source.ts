/**
 * Plugins that have whole zones, for transfers.
 */
import type { NameKey, ResourceRecord } from '@portolan/dns/types.ts';

/** A zone as it is now; it does not change. */
export interface TransferableZone {
  readonly soa: ResourceRecord | undefined;
  readonly serial: number | undefined;
  /** All records but the SOA record. */
  records(): Iterable<ResourceRecord>;
}

export interface TransferSource {
  /** The origins of its zones now. */
  origins(): Iterable<NameKey>;
  /** Undefined: it has no zone with exactly this origin for the client. @param client its address */
  zoneAt(origin: NameKey, client: string): TransferableZone | undefined;
}
