/**
 * The properties in the block of a `forward`.
 */
import type { DirectiveContext, Draft } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import {
  isAddress,
  parseGoDuration,
  parseInteger,
  parseUnsigned,
  splitAddress,
} from '@portolan/corefile/directive/go-values.ts';
import { parseExactRcode } from '@portolan/corefile/directive/type-names.ts';
import { parseZone, parseZones } from '@portolan/corefile/keys/zone-name.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import type { ForwardDirective } from './directive.ts';
import { readTlsFiles } from './read-tls-files.ts';

const DURATION_REMEDY = 'Give a duration such as 10s.';
const POLICIES: readonly ForwardDirective['policy'][] = ['random', 'round_robin', 'sequential'];

export function readForwardProperties(
  cursor: DirectiveCursor,
  context: DirectiveContext,
  draft: Draft<ForwardDirective>,
): void {
  cursor.properties({
    ...connectionProperties(cursor, context, draft),
    ...healthProperties(cursor, draft),
    ...routeProperties(cursor, draft),
  });
}

function connectionProperties(
  cursor: DirectiveCursor,
  context: DirectiveContext,
  draft: Draft<ForwardDirective>,
): Readonly<Record<string, () => void>> {
  return {
    force_tcp: () => {
      requireNothing(cursor);
      draft.forceTcp = true;
    },
    prefer_udp: () => {
      requireNothing(cursor);
      draft.preferUdp = true;
    },
    expire: () => {
      draft.expire = readDuration(cursor, 'expire');
    },
    max_age: () => {
      draft.maxAge = readDuration(cursor, 'max_age');
    },
    max_idle_conns: () => {
      draft.maxIdleConnections = readCount(cursor, 'max_idle_conns');
    },
    read_timeout: () => {
      draft.readTimeout = readReadTimeout(cursor);
    },
    tls: () => {
      draft.tls = { ...draft.tls, ...readTlsFiles(cursor, context) };
    },
    tls_servername: () => {
      draft.tls = { ...draft.tls, serverName: cursor.requiredArgument() };
    },
    doh_method: () => {
      draft.dohMethod = readDohMethod(cursor);
    },
    source_address: () => {
      const address = cursor.requiredArgument();
      if (!isAddress(address))
        throw cursor.error(`invalid IP address: ${address}`, 'Give an address of this machine.');
      draft.sourceAddress = address;
    },
    resolver: () => {
      draft.resolvers = readResolvers(cursor);
    },
  };
}

function healthProperties(
  cursor: DirectiveCursor,
  draft: Draft<ForwardDirective>,
): Readonly<Record<string, () => void>> {
  const readUnsigned = () =>
    cursor.bare(parseUnsigned(cursor.requiredArgument(), 10, 32), 'Give a whole number from 0.');
  return {
    max_fails: () => {
      draft.maxFails = readUnsigned();
    },
    max_connect_attempts: () => {
      draft.maxConnectAttempts = readUnsigned();
    },
    health_check: () => {
      draft.healthCheck = readHealthCheck(cursor, draft);
    },
    failfast_all_unhealthy_upstreams: () => {
      requireNothing(cursor);
      draft.failsFast = true;
    },
  };
}

function routeProperties(
  cursor: DirectiveCursor,
  draft: Draft<ForwardDirective>,
): Readonly<Record<string, () => void>> {
  return {
    except: () => {
      const words = cursor.remainingArguments();
      if (words.length === 0) throw cursor.argumentError('Name the zones that are not forwarded.');
      draft.except = [...draft.except, ...parseZones(words)];
    },
    policy: () => {
      draft.policy = readPolicy(cursor);
    },
    max_concurrent: () => {
      draft.maxConcurrent = readCount(cursor, 'max_concurrent');
    },
    next: () => {
      draft.nextRcodes = [...draft.nextRcodes, ...readRcodes(cursor)];
    },
    next_on_nodata: () => {
      requireNothing(cursor);
      draft.nextOnNoData = true;
    },
    failover: () => {
      const rcodes = readRcodes(cursor);
      if (rcodes.includes(0))
        throw cursor.bareError('NoError cannot be used in failover', 'Name only response codes of failures.');
      draft.failoverRcodes = [...draft.failoverRcodes, ...rcodes];
    },
  };
}

function requireNothing(cursor: DirectiveCursor): void {
  if (cursor.argument() !== undefined)
    throw cursor.argumentError('Take what stands behind the property out.');
}

function readDuration(cursor: DirectiveCursor, name: string): number {
  const duration = cursor.bare(parseGoDuration(cursor.requiredArgument()), DURATION_REMEDY);
  if (duration < 0)
    throw cursor.bareError(`${name} can't be negative: ${formatGoDuration(duration)}`, DURATION_REMEDY);
  return duration;
}

function readReadTimeout(cursor: DirectiveCursor): number {
  const duration = cursor.bare(parseGoDuration(cursor.requiredArgument()), DURATION_REMEDY);
  if (duration <= 0)
    throw cursor.bareError(`read_timeout must be positive: ${formatGoDuration(duration)}`, DURATION_REMEDY);
  return duration;
}

function readCount(cursor: DirectiveCursor, name: string): number {
  const remedy = 'Give a whole number, 0 for no limit.';
  const count = cursor.bare(parseInteger(cursor.requiredArgument()), remedy);
  if (count < 0) throw cursor.bareError(`${name} can't be negative: ${count}`, remedy);
  return count;
}

function readDohMethod(cursor: DirectiveCursor): ForwardDirective['dohMethod'] {
  const method = cursor.requiredArgument();
  if (method === 'POST' || method === 'GET') return method;
  throw cursor.bareError('doh_method must be either POST or GET', 'Give one of the two.');
}

function readResolvers(cursor: DirectiveCursor): readonly string[] {
  const words = cursor.remainingArguments();
  if (words.length === 0)
    throw cursor.argumentError('Name the servers that resolve the names behind forward.');
  for (const word of words) {
    const split = splitAddress(word);
    if (!isAddress(split.kind === 'good' ? split.value.host : word))
      throw cursor.bareError(
        `resolver must be an IP address or IP:port: ${JSON.stringify(word)}`,
        'Give addresses: names cannot be resolved here.',
      );
  }
  return words;
}

function readHealthCheck(
  cursor: DirectiveCursor,
  draft: Draft<ForwardDirective>,
): ForwardDirective['healthCheck'] {
  const interval = cursor.bare(parseGoDuration(cursor.requiredArgument()), DURATION_REMEDY);
  if (interval < 0)
    throw cursor.bareError(
      // CoreDNS shows nanoseconds here.
      `health_check can't be negative: ${Math.round(interval * 1e6)}`,
      DURATION_REMEDY,
    );
  let { recursionDesired } = draft.healthCheck;
  let domain = ROOT;
  for (let word = cursor.argument(); word !== undefined; word = cursor.argument())
    if (word === 'no_rec') recursionDesired = false;
    else if (word === 'domain') {
      const name = cursor.requiredArgument();
      const zone = parseZone(name);
      if (zone === undefined)
        throw cursor.bareError(
          `health_check: invalid domain name ${name}`,
          'Give a name that the server answers.',
        );
      domain = zone;
    } else throw cursor.bareError(`health_check: unknown option ${word}`, 'Known here: no_rec, domain NAME.');
  return { interval, recursionDesired, domain };
}

function readPolicy(cursor: DirectiveCursor): ForwardDirective['policy'] {
  const word = cursor.requiredArgument();
  const policy = POLICIES.find((known) => known === word);
  if (policy === undefined)
    throw cursor.error(`unknown policy '${word}'`, `Known are ${POLICIES.join(', ')}.`);
  return policy;
}

function readRcodes(cursor: DirectiveCursor): readonly number[] {
  const words = cursor.remainingArguments();
  const remedy = 'Name response codes, as in SERVFAIL or NXDOMAIN.';
  if (words.length === 0) throw cursor.argumentError(remedy);
  return words.map((word) => {
    const rcode = parseExactRcode(word.toUpperCase());
    if (rcode === undefined) throw cursor.bareError(`${word} is not a valid rcode`, remedy);
    return rcode;
  });
}
