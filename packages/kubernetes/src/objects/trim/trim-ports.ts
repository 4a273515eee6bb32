/**
 * Ports, which have the same form in Services, EndpointSlices and Endpoints.
 */
import { parseAppProtocol } from '../../names/app-protocol.ts';
import type { AppProtocol, Protocol, ServicePort } from '../objects.ts';
import { asList, asRecord, asText, type JsonRecord } from './fields.ts';

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

/** Leaves out ports without a number (a slice for all ports) or with another protocol: they have no SRV record. */
export function trimPorts(value: unknown): readonly ServicePort[] {
  return trimEach(value, () => undefined);
}

/** The ports of a service, with their application protocols. @param alpn its annotation */
export function trimServicePorts(value: unknown, alpn: string | undefined): readonly ServicePort[] {
  return trimEach(value, (port) => parseAppProtocol(asText(port['appProtocol']), alpn));
}

function trimEach(
  value: unknown,
  readAppProtocol: (port: JsonRecord) => AppProtocol | undefined,
): readonly ServicePort[] {
  return asList(value).flatMap((item) => {
    const port = asRecord(item);
    const number = port?.['port'];
    const name = asText(port?.['name']) ?? '';
    const wanted = asText(port?.['protocol']) ?? 'TCP';
    const protocol = PROTOCOLS.find((known) => known === wanted);
    if (port === undefined || protocol === undefined || !isPortNumber(number)) return [];
    const appProtocol = readAppProtocol(port);
    return [{ name, protocol, port: number, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function isPortNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}
