/**
 * Names below a service that CoreDNS answers although they are in no specification: ports without underscores.
 * They are made when a client asks.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Below } from '@portolan/kernel/table/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { NodeFinder } from '../dialect.ts';

const ASK_FOR_PORTS: Below = { kind: 'ask', labels: 2 };

/** The meaning of a missing name below a service with this many ports. */
export function belowService(ports: number): Below {
  return ports > 0 ? ASK_FOR_PORTS : COMPLETE;
}

/** `port.protocol` below a service, either with its underscore or without. */
export function shortPortName(
  name: NameKey,
  labels: readonly string[],
  service: NameKey,
  findNode: NodeFinder,
): ZoneNode | undefined {
  const [port, protocol, ...more] = labels;
  if (port === undefined || protocol === undefined || more.length > 0) return undefined;
  // The names of HTTPS records have no short form.
  if (underscored(protocol) === '_https') return undefined;
  // A key for the lookup only.
  const node = findNode(`${underscored(port)}.${underscored(protocol)}.${service}` as NameKey);
  return node && { ...node, name };
}

const underscored = (label: string): string => (label.startsWith('_') ? label : `_${label}`);
