/**
 * A transport to a server of a test, over HTTPS unless its options say otherwise, and the queries that such a server reads.
 */
import { readFileSync } from 'node:fs';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { makeHttpsRequest } from '@portolan/kernel/forward/transport/https-request.ts';
import { writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import {
  HTTPS_PROTOCOLS,
  RequestTransport,
  type RequestTransportOptions,
} from '@portolan/kernel/forward/transport/request-transport.ts';
import { onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';

/** In those that have signed the certificates of the fixtures. */
export const TRUST = {
  certificates: { authorities: [readFileSync(tlsFixturePath('authority.crt'), 'utf8')] },
};

/** A transport to a server on loopback, closed when its test ends. */
export function connect(
  port: number,
  {
    method = 'POST',
    ...options
  }: Partial<RequestTransportOptions> & { readonly method?: 'GET' | 'POST' } = {},
): RequestTransport {
  const transport = new RequestTransport({
    place: { host: '127.0.0.1', port },
    tls: { serverName: undefined, trust: TRUST },
    protocols: HTTPS_PROTOCOLS,
    makeRequest: (host, octets) => makeHttpsRequest(method, host, octets),
    clock: systemClock,
    ...options,
  });
  onTestFinished(() => transport.close());
  return transport;
}

/** Asks for the address of a name. @returns the reply, or what failed */
export function ask(transport: RequestTransport, name = 'www.example.'): Promise<Message | string> {
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true };
  const question = { name: parseName(name), type: TYPE.A, class: CLASS.IN, ...flags };
  return new Promise((resolve) => {
    transport.ask(writeQuery(question, 1232), { replied: resolve, heard() {}, failed: resolve });
  });
}

/** The query of a request by GET or POST. */
export async function readQueryOctets(body: AsyncIterable<Uint8Array>, path: string): Promise<Uint8Array> {
  const inPath = new URL(path, 'https://server').searchParams.get('dns');
  if (inPath !== null) return Buffer.from(inPath, 'base64url');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
