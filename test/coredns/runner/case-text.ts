/**
 * The text of a case and of its results: placeholders for ports, paths and addresses of this machine.
 */
import { execFileSync } from 'node:child_process';
import { hostname, networkInterfaces } from 'node:os';
import { maskSerials } from '@portolan/ops/compare/judge.ts';
import type { CasePorts } from './case-ports.ts';

export interface CasePlaces {
  readonly folder: string;
  readonly ports: CasePorts;
  readonly kubeconfig: string;
  /** The ports of clients so far. */
  readonly clientPorts: ReadonlySet<number>;
}

const PLACEHOLDER = /\{(PORT[23]?|HEALTH|READY|METRICS|HTTP|UP[1-6](?:PORT)?|DIR|KUBECONFIG)\}/g;
const SERIAL_TOLERANCE_SECONDS = 3 * 86_400;

/** Puts the real ports and paths into a text. */
export function fill(text: string | number, { folder, ports, kubeconfig }: CasePlaces): string {
  return String(text).replace(PLACEHOLDER, (_, name: string) => {
    if (name === 'DIR') return folder;
    if (name === 'KUBECONFIG') return kubeconfig;
    const port = ports.get(name);
    if (port === undefined) return String(ports.get(name.slice(0, -'PORT'.length)));
    return name.startsWith('UP') ? `127.0.0.1:${port}` : String(port);
  });
}

/** Takes ports, paths, addresses and times of this machine out of a text. */
export function clean(text: string, { folder, ports, kubeconfig, clientPorts }: CasePlaces): string {
  const names = new Map([...ports].map(([name, port]) => [String(port), name]));
  const portName = (port: string): string => {
    const name = names.get(port);
    if (name !== undefined) return `{${name}${name.startsWith('UP') ? 'PORT' : ''}}`;
    return clientPorts.has(Number(port)) ? '{SPORT}' : port;
  };
  const cleaned = text
    .replaceAll(folder, '{DIR}')
    .replaceAll(kubeconfig, '{KUBECONFIG}')
    .replace(/127\.0\.0\.1:(\d{5})\b/g, (whole, port: string) => {
      const name = names.get(port);
      return name?.startsWith('UP') === true ? `{${name}}` : whole;
    })
    .replace(/(?<![\d.])\d{5}(?![\d.]*\d)/g, portName)
    .replace(/((?:127\.\d+\.\d+\.\d+|\[::1\]):)(3[2-9]\d{3}|[45]\d{4}|6[0-5]\d{3})\b/g, '$1*')
    .replace(HOST_ADDRESS, '$1{HOSTIP}')
    .replace(/\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/g, '*')
    .replace(/^CoreDNS-\d\S*$/, 'CoreDNS-*')
    .replace(/^(\w+\/)\w+, .*$/, '$1*')
    .replace(/HINFO \d+\.\d+\./g, 'HINFO *.*.')
    .replace(HOST_NAME, '{HOSTNAME}')
    .replace(/\b\d+\.\d{3,}s\b/g, '*s');
  return maskSerials(cleaned, isNow);
}

function isNow(serial: number): boolean {
  return Math.abs(serial - Date.now() / 1000) < SERIAL_TOLERANCE_SECONDS;
}

/** The name server of a cluster has the addresses of this machine. */
const HOST_ADDRESS = new RegExp(
  `^(ns1?\\.(?:dns|ns)\\.\\S+ \\d+ IN A+ )(?:${ownAddresses().map(quote).join('|') || '(?!)'})$`,
);
const HOST_NAME = new RegExp(`(?<![\\w.-])${quote(hostname())}(?![\\w-])`, 'g');

function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.filter(({ internal }) => !internal).map(({ address }) => address);
}

function quote(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A value with all texts in it cleaned. */
export function cleanValue<Value>(value: Value, places: CasePlaces): Value {
  if (typeof value === 'string') return clean(value, places) as Value;
  if (Array.isArray(value)) return value.map((each: unknown) => cleanValue(each, places)) as Value;
  if (value === null || typeof value !== 'object') return value;
  // A value of the same form.
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, cleanValue(each, places)]),
  ) as Value;
}

/** Makes `cert.pem` and `key.pem` for localhost and dns.test. */
export function makeCertificate(folder: string): { readonly certificate: string; readonly key: string } {
  const certificate = `${folder}/cert.pem`;
  const key = `${folder}/key.pem`;
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      key,
      '-out',
      certificate,
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost,DNS:dns.test,IP:127.0.0.1',
    ],
    { stdio: 'ignore' },
  );
  return { certificate, key };
}
