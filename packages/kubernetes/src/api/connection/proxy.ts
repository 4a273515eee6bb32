/**
 * Proxies between us and the API server, chosen from the environment by the rules of Go's HTTP client, which kubectl
 * and every other Kubernetes client obey.
 */
import type { Agent, AgentOptions } from 'node:http';
import { isIP } from 'node:net';
import { holdsAddress, parseAddressRange } from '@portolan/dns/address-range.ts';
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';

/** @returns the proxy's address as written; undefined for a direct connection */
export function chooseProxy(server: URL, environment: Environment): string | undefined {
  const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = read(environment, variable);
  if (proxy === undefined || isLoopback(server.hostname)) return undefined;
  return isExempt(server, read(environment, 'NO_PROXY') ?? '') ? undefined : proxy;
}

/** @returns undefined if it is not the address of a supported proxy */
export function readProxyAddress(text: string): URL | undefined {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(withScheme)) return undefined;
  const url = new URL(withScheme);
  return ['http:', 'https:', 'socks5:', 'socks5h:'].includes(url.protocol) ? url : undefined;
}

/** Loads the proxy code on demand, since few clusters need it: SOCKS takes 13 MB of memory, HTTP 4 MB. */
export async function makeProxyAgent(proxy: URL, options: AgentOptions): Promise<Agent> {
  if (!proxy.protocol.startsWith('socks')) {
    const { HttpsProxyAgent } = await import('https-proxy-agent');
    return new HttpsProxyAgent(proxy, options);
  }
  const { SocksProxyAgent } = await import('socks-proxy-agent');
  // As in Go: the proxy resolves the name with both schemes.
  const address = new URL(proxy.href.replace(/^socks5:/, 'socks5h:'));
  return new SocksProxyAgent(address, options);
}

function read(environment: Environment, variable: string): string | undefined {
  const value = readVariable(environment, variable) ?? readVariable(environment, variable.toLowerCase());
  return value === '' ? undefined : value;
}

/** Terms of NO_PROXY: `*`, an address, a network, a domain (with its subdomains), each with an optional port. */
function isExempt(server: URL, noProxy: string): boolean {
  const host = bareHost(server.hostname).toLowerCase();
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  const settings = noProxy.split(',').map((term) => term.trim().toLowerCase());
  return settings.some((term) => term !== '' && (term === '*' || matches(term, host, port)));
}

function matches(term: string, host: string, port: string): boolean {
  if (term.includes('/')) return isInNetwork(host, term);
  const { name, wanted } = splitPort(term);
  if (wanted !== undefined && wanted !== port) return false;
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  const domain = name.startsWith('*.') ? name.slice(1) : name;
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function splitPort(term: string): { readonly name: string; readonly wanted: string | undefined } {
  const parts = isIP(term) === 6 ? undefined : /^(?<name>.*?):(?<port>\d+)$/.exec(term)?.groups;
  return { name: bareHost(parts?.['name'] ?? term), wanted: parts?.['port'] };
}

function isInNetwork(host: string, network: string): boolean {
  const range = parseAddressRange(network);
  return range !== undefined && holdsAddress(range, host);
}

function isLoopback(hostname: string): boolean {
  const host = bareHost(hostname);
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
