/**
 * SVCB and HTTPS (RFC 9460).
 *
 * Parameters keep their order; clients interpret them.
 */
import { formatAddress } from './address.ts';
import { quote } from './character-string.ts';
import type { Codec, DataOf } from './record-codec.ts';

type ServiceBinding = DataOf<'SVCB'>;
export type ServiceParameter = ServiceBinding['parameters'][number];

function serviceBindingCodec(kind: ServiceBinding['kind']): Codec<ServiceBinding> {
  return {
    read(from) {
      const priority = from.uint16();
      const target = from.name();
      const parameters: ServiceParameter[] = [];
      while (from.remaining > 0) parameters.push({ key: from.uint16(), value: from.bytes(from.uint16()) });
      return { kind, priority, target, parameters };
    },
    write(data, into) {
      into.uint16(data.priority);
      into.fullName(data.target);
      for (const { key, value } of data.parameters) {
        into.uint16(key);
        into.uint16(value.length);
        into.bytes(value);
      }
    },
    present: (data) => [data.priority, data.target, ...data.parameters.map(presentParameter)].join(' '),
  };
}

export const SVCB = serviceBindingCodec('SVCB');
export const HTTPS = serviceBindingCodec('HTTPS');

/** IANA, Service Parameter Keys: RFC 9460, RFC 9461, RFC 9540 and draft-ietf-tls-key-share-prediction. */
export const SERVICE_PARAMETER_KEYS: readonly string[] = [
  'mandatory',
  'alpn',
  'no-default-alpn',
  'port',
  'ipv4hint',
  'ech',
  'ipv6hint',
  'dohpath',
  'ohttp',
  'tls-supported-groups',
];

function presentParameter({ key, value }: ServiceParameter): string {
  const name = nameServiceParameter(key);
  const text = valueText(name, value);
  if (text !== undefined) return `${name}=${text}`;
  // A value that its key does not have is octets: a list of groups has at least one, and `ohttp` has no value.
  const isFlag = name === 'ohttp' && value.length === 0;
  const shown = VALUES_BY_NUMBER.has(name) && !isFlag ? `key${key}` : name;
  return value.length === 0 ? shown : `${shown}=${quote(value)}`;
}

const VALUES_BY_NUMBER: ReadonlySet<string> = new Set(['ohttp', 'tls-supported-groups']);

export function nameServiceParameter(key: number): string {
  return SERVICE_PARAMETER_KEYS[key] ?? `key${key}`;
}

/** Keys whose values `valueText` presents whenever they fit. */
const PRESENTABLE_KEYS: ReadonlySet<string> = new Set(['mandatory', 'alpn', 'port', 'ipv4hint', 'ipv6hint']);

/** Whether a value has the form of its key (RFC 9460 section 7); values of keys that we do not know have. */
export function fitsServiceParameter({ key, value }: ServiceParameter): boolean {
  const name = nameServiceParameter(key);
  if (name === 'no-default-alpn') return value.length === 0;
  return !PRESENTABLE_KEYS.has(name) || valueText(name, value) !== undefined;
}

/** The value in its key's format; undefined if it does not fit, so that it is printed as an unknown one. */
function valueText(name: string, value: Uint8Array): string | undefined {
  switch (name) {
    case 'mandatory':
      return splitEvery(2, value)
        ?.map((key) => nameServiceParameter(readUint16(key)))
        .join(',');
    case 'alpn':
      return presentProtocols(value);
    case 'port':
      return value.length === 2 ? String(readUint16(value)) : undefined;
    case 'tls-supported-groups':
      return splitEvery(2, value)?.map(readUint16).join(',');
    case 'ipv4hint':
      return splitEvery(4, value)?.map(formatAddress).join(',');
    case 'ipv6hint':
      return splitEvery(16, value)?.map(formatAddress).join(',');
    case 'ech':
      return value.length > 0 ? Buffer.from(value).toString('base64') : undefined;
    default:
      return undefined;
  }
}

function splitEvery(size: number, value: Uint8Array): Uint8Array[] | undefined {
  if (value.length === 0 || value.length % size !== 0) return undefined;
  return Array.from({ length: value.length / size }, (_, index) =>
    value.subarray(index * size, index * size + size),
  );
}

function readUint16(octets: Uint8Array): number {
  return ((octets[0] ?? 0) << 8) | (octets[1] ?? 0);
}

/** A list of character strings, with commas and backslashes inside them escaped twice (RFC 9460 appendix A.1). */
function presentProtocols(value: Uint8Array): string | undefined {
  const list: number[] = [];
  for (let at = 0; at < value.length; ) {
    const length = value[at] ?? 0;
    if (length === 0 || at + length >= value.length) return undefined;
    if (at > 0) list.push(0x2c);
    for (const octet of value.subarray(at + 1, at + 1 + length)) {
      if (octet === 0x2c || octet === 0x5c) list.push(0x5c);
      list.push(octet);
    }
    at += length + 1;
  }
  return list.length === 0 ? undefined : quote(Uint8Array.from(list));
}
