/**
 * `trace`: where the time of queries goes, as spans for a collector.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { Draft } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import {
  parseFloatingPoint,
  parseGoDuration,
  parseInteger,
  parseUnsigned,
} from '@portolan/corefile/directive/go-values.ts';
import { PLAN } from '@portolan/kernel/contract/services.ts';
import type { CollectorKind, TraceOptions } from './options.ts';

interface CollectorPlace {
  readonly address: string;
  readonly path: string;
}

const PLACES: Readonly<Record<CollectorKind, CollectorPlace>> = {
  zipkin: { address: 'localhost:9411', path: '/api/v2/spans' },
  datadog: { address: 'localhost:8126', path: '/v0.4/traces' },
  otlp: { address: 'localhost:4318', path: '/v1/traces' },
};
const KINDS = Object.keys(PLACES) as readonly CollectorKind[];

/** As in CoreDNS. */
const DEFAULT_BOUNDS = { waiting: 1000, batch: 100, linger: 1000 } as const;
/** A span takes about 1 kB. */
const MAX_SPANS = 100_000;

/** What Go takes. */
const BOOLEANS: ReadonlySet<string> = new Set('1 t T true TRUE True 0 f F false FALSE False'.split(' '));

const REMEDY = 'Write trace [TYPE] [ENDPOINT], as in trace zipkin localhost:9411.';

/** Source: plugin/trace of CoreDNS 1.14.7. */
export const trace = definePlugin({
  name: 'trace',
  hasSideEffects: true,
  syntax: [
    'trace [ENDPOINT] | zipkin|datadog|otlp ENDPOINT {',
    '    every NUMBER',
    '    service NAME',
    '    client_server [true|false]',
    '    datadog_analytics_rate [RATE]',
    '    zipkin_max_backlog_size SPANS',
    '    zipkin_max_batch_size SPANS',
    '    zipkin_max_batch_interval DURATION',
    '}',
  ],
  read(cursor): TraceOptions {
    const draft: Draft<TraceOptions> = {
      kind: 'zipkin',
      endpoint: '',
      every: 1,
      service: 'coredns',
      bounds: DEFAULT_BOUNDS,
    };
    cursor.eachUse(() => {
      readPlace(cursor, draft);
      readProperties(cursor, draft);
    });
    return draft;
  },
  load: async () => {
    const { TracePlugin } = await import('./trace.ts');
    return {
      create: (options: TraceOptions, context) => {
        const { version } = context.use(PLAN);
        return new TracePlugin(options, { ...context, version });
      },
    };
  },
});

function readPlace(cursor: DirectiveCursor, draft: Draft<TraceOptions>): void {
  const words = cursor.remainingArguments();
  if (words.length > 2) throw cursor.argumentError(REMEDY);
  const [first = '', second] = words;
  const word = second === undefined ? 'zipkin' : first.toLowerCase();
  const kind = KINDS.find((known) => known === word);
  if (kind === undefined)
    throw cursor.bareError(
      `tracing endpoint type '${word}' is not supported`,
      `Known types are ${KINDS.join(', ')}.`,
    );
  const meant = second === undefined ? KINDS.find((known) => known === first) : undefined;
  if (meant !== undefined)
    cursor.warn(
      `${first} is taken as the address of Zipkin. Write both words: trace ${first} ${PLACES[meant].address}.`,
    );
  draft.kind = kind;
  draft.endpoint = readEndpoint(cursor, second ?? first, PLACES[kind]);
}

/** What has no `http` in it is an address, as in CoreDNS. */
function readEndpoint(cursor: DirectiveCursor, text: string, { address, path }: CollectorPlace): string {
  const whole = text.includes('http') ? text : `http://${text === '' ? address : text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw cursor.ownError(
      `endpoint is no address and no http or https URL: ${JSON.stringify(text)}`,
      `Write HOST:PORT, as in ${address}, or a whole URL.`,
    );
  if (url.pathname === '/') url.pathname = path;
  return url.href;
}

function readProperties(cursor: DirectiveCursor, draft: Draft<TraceOptions>): void {
  cursor.properties({
    every: () => {
      const remedy = 'Write a whole number: 100 traces one of 100 queries.';
      draft.every = cursor.bare(parseUnsigned(readOne(cursor), 10, 32), remedy);
    },
    service: () => {
      draft.service = readOne(cursor);
    },
    client_server: () => readClientServer(cursor),
    datadog_analytics_rate: () => readRate(cursor),
    zipkin_max_backlog_size: () => {
      draft.bounds = { ...draft.bounds, waiting: readSpans(cursor) ?? DEFAULT_BOUNDS.waiting };
    },
    zipkin_max_batch_size: () => {
      draft.bounds = { ...draft.bounds, batch: readSpans(cursor) ?? DEFAULT_BOUNDS.batch };
    },
    zipkin_max_batch_interval: () => {
      const linger = cursor.bare(parseGoDuration(readOne(cursor)), 'Write a duration, as in 1s.');
      draft.bounds = { ...draft.bounds, linger: linger === 0 ? DEFAULT_BOUNDS.linger : Math.max(1, linger) };
    },
  });
}

function readOne(cursor: DirectiveCursor): string {
  const [text] = cursor.remainingBetween(1, 1);
  return text ?? '';
}

/** It has no effect: traces begin here. */
function readClientServer(cursor: DirectiveCursor): void {
  const [text] = cursor.remainingBetween(0, 1);
  if (text === undefined || BOOLEANS.has(text)) return;
  const fault = `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw cursor.bareError(fault, 'Write true or false, or nothing.');
}

/** It has no effect, as in CoreDNS. */
function readRate(cursor: DirectiveCursor): void {
  const [text] = cursor.remainingBetween(0, 1);
  if (text === undefined) return;
  const remedy = 'Write a rate from 0 to 1.';
  const rate = cursor.bare(parseFloatingPoint(text), remedy);
  if (rate >= 0 && rate <= 1) return;
  throw cursor.bareError(
    `datadog analytics rate must be between 0 and 1, '${rate.toFixed(6)}' is not supported`,
    remedy,
  );
}

/** Undefined: the default, as in CoreDNS. */
function readSpans(cursor: DirectiveCursor): number | undefined {
  const remedy = `Write a number of spans from 1 to ${MAX_SPANS}.`;
  const spans = cursor.bare(parseInteger(readOne(cursor)), remedy);
  if (spans < 0) throw cursor.ownError(`number of spans is negative: ${spans}`, remedy);
  if (spans > MAX_SPANS) cursor.warn(`${spans} spans are too many: ${MAX_SPANS} are taken.`);
  return spans === 0 ? undefined : Math.min(spans, MAX_SPANS);
}
