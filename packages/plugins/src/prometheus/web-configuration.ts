/**
 * Reads a web configuration file of Prometheus's exporter toolkit: the certificate of the port with the metrics.
 */
import { dirname, isAbsolute, join } from 'node:path';
import type { ClientAuthentication, TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import { parse } from 'yaml';

const AUTHENTICATIONS: ReadonlyMap<string, ClientAuthentication> = new Map([
  ['NoClientCert', 'nocert'],
  ['RequestClientCert', 'request'],
  ['RequireAnyClientCert', 'require'],
  ['VerifyClientCertIfGiven', 'verify_if_given'],
  ['RequireAndVerifyClientCert', 'require_and_verify'],
]);

/** OpenSSL chooses among what the toolkit lets through, or HTTP/2 is left out, which scrapers do without. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'min_version',
  'max_version',
  'cipher_suites',
  'prefer_server_cipher_suites',
  'curve_preferences',
]);

type YamlFields = ReadonlyMap<string, unknown>;

/** Undefined: the file asks for no TLS. @param path of the file, from which paths in it begin @throws Error with the reason */
export function readWebConfiguration(text: string, path: string): TlsOptions | undefined {
  const {
    tls_server_config: tls,
    http_server_config: _http,
    ...others
  } = Object.fromEntries(toFields(parse(text) ?? {}, 'the file'));
  const [unknown] = Object.keys(others);
  // Without it, the metrics would be open to more people than the file says.
  if (unknown !== undefined) throw new Error(`${path}: ${unknown} is not built into Portolan`);
  if (tls === undefined || tls === null) return undefined;
  return readTls(toFields(tls, 'tls_server_config'), path);
}

function readTls(fields: YamlFields, path: string): TlsOptions {
  const left = new Map(fields);
  const take = (name: string): string | undefined => {
    const value = left.get(name);
    left.delete(name);
    if (value !== undefined && typeof value !== 'string') throw new Error(`${path}: ${name} is not a text`);
    return value === '' ? undefined : value;
  };
  const file = (name: string): string | undefined => {
    const found = take(name);
    return found === undefined || isAbsolute(found) ? found : join(dirname(path), found);
  };
  const certificate = file('cert_file');
  const key = file('key_file');
  const authorities = file('client_ca_file');
  const authentication = take('client_auth_type') ?? 'NoClientCert';
  const clientAuthentication = AUTHENTICATIONS.get(authentication);
  const unknown = [...left.keys()].find((name) => !WITHOUT_EFFECT.has(name));
  if (unknown !== undefined) throw new Error(`${path}: ${unknown} is not built into Portolan`);
  if (certificate === undefined) throw new Error(`${path}: missing cert_file`);
  if (key === undefined) throw new Error(`${path}: missing key_file`);
  if (clientAuthentication === undefined) throw new Error(`${path}: Invalid ClientAuth: ${authentication}`);
  if (authorities !== undefined && clientAuthentication === 'nocert')
    throw new Error(`${path}: Client CA's have been configured without a Client Auth Policy`);
  return { certificate, key, authorities, clientAuthentication, keyLog: undefined };
}

function toFields(value: unknown, what: string): YamlFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} is not a mapping`);
  return new Map(Object.entries(value));
}
