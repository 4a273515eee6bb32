/**
 * Ports, which have the same form in Services, EndpointSlices and Endpoints.
 */
import { parseSpokenHttp } from '../../names/spoken-http.ts';
import type { Protocol, ServicePort, SpokenHttp } from '../objects.ts';
import { asList, asRecord, asText, type JsonRecord } from './fields.ts';

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

/** Leaves out ports without a number (a slice for all ports) or with another protocol: they have no SRV record. */
export function trimPorts(value: unknown): readonly ServicePort[] {
  return trimEach(value, () => undefined);
}

/** The ports of a service, with what is spoken on them. @param alpn its annotation */
export function trimServicePorts(value: unknown, alpn: string | undefined): readonly ServicePort[] {
  return trimEach(value, (port) => parseSpokenHttp(asText(port['appProtocol']), alpn));
}

function trimEach(
  value: unknown,
  readSpoken: (port: JsonRecord) => SpokenHttp | undefined,
): readonly ServicePort[] {
  return asList(value).flatMap((item) => {
    const port = asRecord(item);
    const number = port?.['port'];
    const name = asText(port?.['name']) ?? '';
    const wanted = asText(port?.['protocol']) ?? 'TCP';
    const protocol = PROTOCOLS.find((known) => known === wanted);
    if (port === undefined || protocol === undefined || !isPortNumber(number)) return [];
    const spoken = readSpoken(port);
    return [{ name, protocol, port: number, ...(spoken !== undefined && { spoken }) }];
  });
}

function isPortNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}
