/**
 * What a server sends to a collector by OTLP: findings, changes of its readiness and configuration, queries as logs, and slow or failed
 * queries as traces. It starts only where a collector is named.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { RCODE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { BatchExporter, type ExportEvents } from '@portolan/kernel/base/export/batch-exporter.ts';
import { postTo } from '@portolan/kernel/base/export/http-post.ts';
import {
  type Attributes,
  encodeOtlp,
  type OtlpRecord,
  type OtlpSignal,
  type RecordsOf,
} from '@portolan/kernel/base/export/otlp-message.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import type { Server } from '@portolan/server/server.ts';
import type { OtlpSettings } from '@portolan/server/settings/otlp/otlp-settings.ts';
import { createExplainer } from './control-verbs.ts';
import { ALL_EVENTS, QueryStream, type WatchedQuery } from './query-stream.ts';
import { inParts, WaitingEvents } from './waiting-events.ts';

export interface TelemetryOptions {
  readonly settings: OtlpSettings;
  readonly server: Server;
  /** The command of the server. */
  readonly role: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds between two looks at findings and states. */
const INTERVAL = 5_000;
const BOUNDS = { waiting: 2_048, batch: 512, linger: 1_000 } as const;
const RCODE_MASK = 0x0f;

export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #logs: BatchExporter<RecordsOf['logs']> | undefined;
  readonly #traces: BatchExporter<RecordsOf['traces']> | undefined;
  readonly #stopping = new AbortController();
  readonly #findings = new Map<string, Finding>();
  #readiness = '';
  #rejected = '';
  #timer: Timer | undefined;
  #following: Promise<void> = Promise.resolve();

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#logs = makeExporter('logs', options);
    this.#traces = makeExporter('traces', options);
  }

  start(): void {
    const { settings, log } = this.#options;
    const { logs, traces } = settings.endpoints;
    log.info('otlp: exporting', { logs: logs?.href, traces: traces?.href, queries: settings.queries });
    this.#look();
    this.#following = this.#followQueries();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#stopping.abort();
    await this.#following;
    await Promise.all([this.#logs?.stop(), this.#traces?.stop()]);
  }

  /** Tells what has changed since the last look. */
  #look(): void {
    this.#lookAtFindings();
    const { server, clock } = this.#options;
    const state = server.readiness();
    const readiness = state.ready ? 'ready' : `not ready: ${state.reason}`;
    if (readiness !== this.#readiness)
      this.#tell(state.ready ? 'INFO' : 'WARN', 'portolan.readiness', readiness);
    this.#readiness = readiness;
    const rejected = server.rejected.join('; ');
    if (rejected !== this.#rejected && rejected !== '')
      this.#tell('ERROR', 'portolan.configuration.rejected', rejected);
    else if (rejected !== this.#rejected)
      this.#tell('INFO', 'portolan.configuration.accepted', 'configuration in force');
    this.#rejected = rejected;
    this.#timer = clock.after(INTERVAL, () => this.#look());
  }

  #lookAtFindings(): void {
    const found = this.#options.server.findings.current();
    const now = new Map(found.map((finding) => [`${finding.kind} ${finding.subject}`, finding]));
    for (const [key, { kind, subject, sentence }] of now)
      if (!this.#findings.has(key))
        this.#tell('WARN', 'portolan.finding', sentence, { finding: kind, subject });
    for (const [key, { kind, subject }] of this.#findings)
      if (!now.has(key))
        this.#tell('INFO', 'portolan.finding.ended', `finding ended: ${kind}`, { finding: kind, subject });
    this.#findings.clear();
    for (const [key, finding] of now) this.#findings.set(key, finding);
  }

  #tell(severity: OtlpRecord['severity'], event: string, body: string, attributes: Attributes = {}): void {
    this.#logs?.add({ time: this.#options.clock.now(), severity, event, body, attributes });
  }

  async #followQueries(): Promise<void> {
    const { server, settings, clock } = this.#options;
    const wantsLogs = this.#logs !== undefined && settings.queries !== 'none';
    if (!wantsLogs && this.#traces === undefined) return;
    const isLogged = (event: QueryEvent) => wantsLogs && (settings.queries === 'all' || hasFailed(event));
    const isTraced = (event: QueryEvent) =>
      this.#traces !== undefined && (hasFailed(event) || event.sent - event.received >= settings.slow);
    const waiting = new WaitingEvents((listener) => server.tap.follow(listener), this.#stopping.signal, {
      isWanted: (event) => isLogged(event) || isTraced(event),
    });
    const explainer = createExplainer({ server, clock });
    const queries = new QueryStream(explainer, ALL_EVENTS, clock);
    try {
      for await (const { events, lost } of waiting.batches()) {
        (this.#logs ?? this.#traces)?.drop(lost);
        const { domain } = explainer;
        for await (const event of inParts(events)) {
          const query = await queries.describe(event, domain);
          if (query === undefined) continue;
          if (isLogged(event)) this.#logs?.add(toLogRecord(query, hasFailed(event)));
          if (isTraced(event)) this.#traces?.add(toSpan(query, hasFailed(event)));
        }
      }
    } finally {
      waiting.end();
    }
  }
}

function makeExporter<Signal extends OtlpSignal>(
  signal: Signal,
  { settings, server, role, clock, log }: TelemetryOptions,
): BatchExporter<RecordsOf[Signal]> | undefined {
  const endpoint = settings.endpoints[signal];
  if (endpoint === undefined) return undefined;
  const resource = {
    'service.version': server.version,
    'service.instance.id': hostname(),
    'host.name': hostname(),
    'portolan.role': role,
    ...settings.resource,
  };
  const origin = { resource, version: server.version };
  return new BatchExporter({
    bounds: BOUNDS,
    encode: (records) => encodeOtlp(signal, records, origin),
    post: postTo(endpoint, settings),
    events: logExport({ signal, endpoint: endpoint.href }, log),
    clock,
  });
}

/** One line when the collector begins to fail, and one when it takes records again. */
export function logExport(
  place: { readonly signal: OtlpSignal; readonly endpoint: string },
  log: Log,
): ExportEvents {
  let isFailing = false;
  return {
    sent(_, dropped) {
      if (isFailing) log.info('otlp: exporting again', { ...place, dropped });
      else if (dropped > 0) log.warn('otlp: records dropped, there were too many', { ...place, dropped });
      isFailing = false;
    },
    failed(reason) {
      if (!isFailing) log.warn('otlp: cannot export', { ...place, reason });
      isFailing = true;
    },
  };
}

/** A name that does not exist is an answer. */
function hasFailed({ responseFlags }: QueryEvent): boolean {
  const rcode = responseFlags & RCODE_MASK;
  return rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN;
}

function toLogRecord(query: WatchedQuery, isFailure: boolean): OtlpRecord {
  return {
    time: Date.parse(query.time),
    severity: isFailure ? 'WARN' : 'INFO',
    event: 'portolan.query',
    body: `${query.type} ${query.name} ${query.rcode}`,
    attributes: { ...toAttributes(query), 'dns.duration_ms': query.milliseconds },
  };
}

function toSpan(query: WatchedQuery, isFailure: boolean) {
  const start = Date.parse(query.time);
  return {
    name: `DNS ${query.type}`,
    start,
    end: start + query.milliseconds,
    failure: isFailure ? (query.reason ?? query.rcode) : undefined,
    attributes: toAttributes(query),
    traceId: randomBytes(16),
    spanId: randomBytes(8),
  };
}

/** OpenTelemetry's names where it has them. */
function toAttributes(query: WatchedQuery): Attributes {
  return {
    'dns.question.name': query.name,
    'dns.question.type': query.type,
    'dns.response_code': query.rcode,
    'client.address': query.client,
    'network.transport': query.transport,
    'portolan.source': query.source,
    'portolan.reason': query.reason,
    'k8s.namespace.name': query.namespace,
  };
}
