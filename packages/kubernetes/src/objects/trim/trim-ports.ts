/**
 * Ports, which have the same form in Services, EndpointSlices and Endpoints.
 */
import type { Protocol, ServicePort } from '../objects.ts';
import { asList, asRecord, asText } from './fields.ts';

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

/** Leaves out ports without a number (a slice for all ports) or with another protocol: they have no SRV record. */
export function trimPorts(value: unknown): readonly ServicePort[] {
  return asList(value).flatMap((item) => {
    const port = asRecord(item);
    const number = port?.['port'];
    const name = asText(port?.['name']) ?? '';
    const wanted = asText(port?.['protocol']) ?? 'TCP';
    const protocol = PROTOCOLS.find((known) => known === wanted);
    return protocol !== undefined && isPortNumber(number) ? [{ name, protocol, port: number }] : [];
  });
}

function isPortNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}
